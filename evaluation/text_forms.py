"""Whether a text can be what a chain gives, or a part of that, after the functions that the chain ends with."""

from __future__ import annotations

import sys
import unicodedata
from itertools import takewhile

from .answers import LIST, Value, shown
from .chain_functions import FUNCTIONS, Context
from .chains import Chain
from .tables import DEFAULT_LIMITS

# Functions that give a text one form; comparisons with a whole text, with elements of a list, with parts of a text.
_FORMS = ("text", "lower")
_OF_WHOLE_TEXTS = ("=", "!=")
_OF_ELEMENTS = ("in", "not_in")
_OF_PARTS = ("contain", "not_contain")
# What no function changes, and nothing composes with.
_EDGE = "|"


def form_fault(chain: Chain, op: str, value: Value) -> str | None:
    """Return what an expected value should be so that an answer can be, or have, the texts in it; None where it can."""
    forms = list(takewhile(_FORMS.__contains__, (step.name for step in reversed(chain.steps))))[::-1]
    texts: list[Value] = [value] if op in _OF_WHOLE_TEXTS else []
    edge = ""
    if op in _OF_ELEMENTS and isinstance(value, list):
        texts = value
    elif op in _OF_PARTS:
        if value == "" and LIST not in chain.shape.kinds:
            return "a text that is not empty, as that is in every text"
        # A part of a text may well have space around it.
        texts, edge = [value], _EDGE
    for text in texts:
        if isinstance(text, str):
            form = _formed(forms, f"{edge}{text}{edge}").removeprefix(edge).removesuffix(edge)
            if form != text:
                return f"what {' -> '.join(forms)} can give, such as {shown(form)}"
    return None


def _formed(forms: list[str], text: str) -> str:
    """Return a text as the functions leave it."""
    context = Context(DEFAULT_LIMITS._replace(cell_characters=sys.maxsize), sys.maxsize)
    form = text
    for name in forms:
        form = FUNCTIONS[name].run(form, (), context)
    if form != text and "lower" in forms and unicodedata.normalize("NFC", form) == unicodedata.normalize("NFC", text):
        # Small letters may compose where capital ones do not.
        return text
    return form
