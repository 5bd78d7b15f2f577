"""The exceptions, by whose fault it is and what it does to the run.

Three blast radii: `EvaluationFatalError` aborts the run, `PredictionFormatError` fails one task, `CellError` rules out
one candidate column. `StepError` and `AbsentError` decide one check of a task. `InputError` has no radius of its own:
it says that a file or a text cannot be used, and whoever asked for it knows whose it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

# The ranges are spelled out, not asked of the Unicode tables, so that a message has the same bytes on every Python:
# control characters, soft hyphen, invisible and bidirectional formatting, line separators, surrogates, private use,
# byte-order mark and interlinear marks, language tags, and the format marks of single scripts.
_UNSHOWABLE = (
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)
_SHOWN_CHARACTERS = 80

# What stands for a text that could tell what gold holds.
REDACTED = "(redacted)"
_SHOWN_FAULTS = 20


class EvaluationError(Exception):
    """Base of every error that this package raises on purpose; its text is one sentence for a person."""


class EvaluationFatalError(EvaluationError):
    """A config, a gold file, a root or an option is unusable: no score can be given (exit status 2).

    `redacted` is the text without what gold holds, where the text itself may show some of it.
    """

    def __init__(self, text: str, redacted: str | None = None) -> None:
        super().__init__(text)
        self.redacted = text if redacted is None else redacted

    def __reduce__(self) -> tuple[type[EvaluationFatalError], tuple[str, str]]:
        return type(self), (str(self), self.redacted)


class Faults:
    """The faults of a benchmark's files, found one by one and told together."""

    def __init__(self) -> None:
        self._errors: list[EvaluationFatalError] = []

    def add(self, error: EvaluationFatalError) -> None:
        self._errors.append(error)

    def raise_any(self, remark: str = "") -> None:
        """Raise one EvaluationFatalError where there are faults: the first twenty, and how many more there are.

        Several stand on lines of their own; `remark` is added once.
        """
        if self._errors:
            texts, redacted = map(str, self._errors), (error.redacted for error in self._errors)
            raise EvaluationFatalError(*(_told_together(list(some), remark) for some in (texts, redacted))) from None


class PredictionFormatError(EvaluationError):
    """A prediction cannot be read as a strict CSV table: its own task fails, nothing else does."""


class InputError(EvaluationError):
    """A file cannot be used; the text is a predicate such as "is a symbolic link", without the file's name."""


class CellError(EvaluationError):
    """A text is not a value of the column's type; the text is a predicate such as "is not a number"."""


class StepError(EvaluationError):
    """A step of a check cannot be run on what it got: the check is an error; the text is a predicate."""


class AbsentError(EvaluationError):
    """What a step of a check asks for is not in the answer: the check has failed; the text is a predicate."""


class MappingBudgetError(EvaluationError):
    """The column-mapping search met its work budget before it could decide."""


def escape(text: str, spell: Callable[[int], str] | None = None) -> str:
    """Return `text` with everything that a terminal or a reader could not see as itself written as an escape.

    `spell` says how a code point is written, by default as in Python.
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNSHOWABLE, lambda match: (spell or _escaped)(ord(match.group())), text)


def quoted(text: str) -> str:
    """Return `text` in single quotes for a message: escaped, and cut to its first 80 characters when longer."""
    if len(text) <= _SHOWN_CHARACTERS:
        return f"'{escape(text)}'"
    return f"'{escape(text[:_SHOWN_CHARACTERS])}…' ({len(text)} characters)"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _told_together(sentences: Sequence[str], remark: str) -> str:
    remark = f"; {remark}" if remark else ""
    if len(sentences) == 1:
        return sentences[0] + remark
    more = len(sentences) - _SHOWN_FAULTS
    lines = [
        f"{len(sentences)} faults{remark}:",
        *sentences[:_SHOWN_FAULTS],
        *([f"and {more} more"] if more > 0 else []),
    ]
    return "\n  ".join(lines)


def _escaped(code: int) -> str:
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
