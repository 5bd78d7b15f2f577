"""The syntax of function chains: steps with arrows between them, such as `json -> get(routes) -> foreach -> len`.

An argument is a quoted text, in which a quote is written twice and everything else stands for itself; or else a number,
`true`, `false` or `null` as in JSON; or else a text as it is, without brackets, quotes, commas and arrows.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple, NoReturn

from .errors import escape

MOST_CHARACTERS = 10_000
MOST_STEPS = 64
_SPACE = re.compile(r"[ \t\r\n]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_ARROW = re.compile(r"->")
_QUOTED = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"")
_BARE = re.compile(r"(?:(?!->)[^,()\[\]{}'\"])+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,99})((?:\.[0-9]{1,100})?(?:[eE][+-]?[0-9]{1,2})?)")
# What is no number as in JSON, but looks like one.
_NUMBER_LIKE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
_SHOWN_AROUND = 60
_SHOWN_CHARACTERS = 100


class Argument(NamedTuple):
    """An argument: its value as in JSON, its text, and where it stands in the chain."""

    value: object
    text: str
    start: int
    end: int

    @property
    def whole_number(self) -> int | None:
        """The whole number that it is, without quotes; None where it is none."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else None


class Step(NamedTuple):
    """A step: the name of its function, its arguments, where the name stands in the chain, and all of it as written."""

    name: str
    arguments: tuple[Argument, ...]
    start: int
    end: int
    source: str

    @property
    def spelled(self) -> str:
        """The step as messages call it: as it is written, escaped, and cut where it is long."""
        text = escape(self.source)
        return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


class ChainFaultError(Exception):
    """A chain is not what it should be; `start` and `end` are the place in its text that the reason is about."""

    def __init__(self, reason: str, start: int, end: int) -> None:
        super().__init__(reason)
        self.start = start
        self.end = end

    def drawn(self, chain: str) -> str:
        """Return the chain on one line and a line that marks the place below; a long one is cut around it."""
        first, last = max(0, self.start - _SHOWN_AROUND), self.end + _SHOWN_AROUND
        before, marked, after = (
            "".join(map(escape, part))
            for part in (chain[first : self.start], chain[self.start : self.end], chain[self.end : last])
        )
        if first:
            before = f"…{before}"
        if last < len(chain):
            after = f"{after}…"
        return f"{before}{marked}{after}\n{' ' * len(before)}{'^' * max(1, len(marked))}"


def parse_chain(text: str) -> tuple[Step, ...]:
    """Return the steps of a chain, at least one. Raises ChainFaultError when `text` is none."""
    if len(text) > MOST_CHARACTERS:
        raise ChainFaultError(f"expected at most {MOST_CHARACTERS} characters", 0, 1)
    return _Reader(text).steps()


class _Reader:
    """Reads a chain from the left."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def steps(self) -> tuple[Step, ...]:
        found = [self._step()]
        while self._skip_space() < len(self._text):
            if not self._takes(_ARROW):
                self._refuse("expected an arrow -> or the end of the chain")
            found.append(self._step())
            if len(found) > MOST_STEPS:
                self._refuse(f"expected at most {MOST_STEPS} steps", found[-1].start, found[-1].end)
        return tuple(found)

    def _step(self) -> Step:
        start = self._skip_space()
        name = self._takes(_NAME)
        if name is None:
            self._refuse("expected the name of a function")
        end = self._at
        arguments = self._arguments()
        return Step(name[0], arguments, start, end, self._text[start : self._at])

    def _arguments(self) -> tuple[Argument, ...]:
        end = self._at
        opening = self._skip_space()
        if self._peek() != "(":
            self._at = end
            return ()
        self._at += 1
        found: list[Argument] = []
        self._skip_space()
        if self._peek() == ")":
            self._at += 1
            return ()
        while True:
            found.append(self._argument())
            self._skip_space()
            if self._peek() not in (",", ")"):
                if self._at >= len(self._text):
                    self._refuse("expected a closing bracket for this one", opening, opening + 1)
                self._refuse("expected a comma or a closing bracket; what holds others is to be quoted")
            self._at += 1
            if self._text[self._at - 1] == ")":
                return tuple(found)

    def _argument(self) -> Argument:
        start = self._skip_space()
        quoted = self._takes(_QUOTED)
        if quoted is not None:
            quote = quoted[0][0]
            text = quoted[0][1:-1].replace(quote * 2, quote)
            return Argument(text, text, start, self._at)
        if self._peek() in ("'", '"'):
            self._refuse("expected a closing quote for this one")
        bare = self._takes(_BARE)
        if bare is None:
            self._refuse("expected an argument; what holds brackets is to be quoted")
        text = bare[0].strip(" \t\r\n")
        if text in _PYTHON_WORDS:
            self._refuse(f"expected {_PYTHON_WORDS[text]}, or {text} in quotes", start, start + len(text))
        if _NUMBER_LIKE.fullmatch(text) and not _NUMBER.fullmatch(text):
            self._refuse("expected a number as in JSON and of up to 100 digits, or quotes", start, start + len(text))
        return Argument(_bare_value(text), text, start, start + len(text))

    def _skip_space(self) -> int:
        space = _SPACE.match(self._text, self._at)
        assert space is not None, "no space is space, too"
        self._at = space.end()
        return self._at

    def _takes(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _refuse(self, reason: str, start: int | None = None, end: int | None = None) -> NoReturn:
        place = self._at if start is None else start
        raise ChainFaultError(reason, place, place + 1 if end is None else end)


def _bare_value(text: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return Decimal(text) if number[1] else int(text)
