"""Column rules: one frozen, hashable class per type, each a total function from a cell's text to its canonical value.

A canonical value is a `str`, or None for null; two cells of a column are equal exactly when their canonical values are.
Strings and nothing else, because the hash of a string is keyed anew in every process: nobody can write a file of
numbers whose hashes collide, as one can for `int` and `Decimal`. Every operation here is linear in the length of the
text, whatever the exponent, so a hostile cell costs no more than its bytes.

A new column type is one class and one row in `RULES`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import groupby
from math import fsum, isfinite
from sys import float_info
from typing import Protocol

from . import iso8601
from .errors import CellError, quoted

NUMBER_MODES = ("integer", "decimal_places", "significant_digits")
NUMBER_UNITS = ("plain", "percentage_points", "fraction")
MAX_DIGITS = 30

_NULL_TOKENS = frozenset({"", "null", "none", "nan", "nat", "<na>"})
_LONGEST_NULL_TOKEN = 4
_TRUE_TOKENS = frozenset({"1", "true", "yes", "y", "是"})
_FALSE_TOKENS = frozenset({"0", "false", "no", "n", "否"})

# Spellings that need no second look. Their values follow from a match alone, and a test holds them against the rules
# in full. Numbers: no zero in front, and short enough to be written without an exponent. Dates: the days that the month
# has, but for the 29th of February; times to the second.
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,19})(?:\.[0-9]{1,20})?")
_PLAIN_DATE = re.compile(
    "[1-9][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
)
_PLAIN_DATETIME = re.compile(f"(?:{_PLAIN_DATE.pattern})[ T](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]")

_NUMBER = re.compile(r"([+-]?)(?:(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?")
# Of stripped texts, every number and every null, and little else. No two parts of it can share a long run of spaces.
_LOOKS_LIKE_NUMBER = re.compile(rf"(?:(?:{_NUMBER.pattern})(?:\s*%)?|null|none|nan|nat|<na>)?", re.IGNORECASE)
# The range of a 64-bit `decimal`, which a 32-bit one does not reach: the verdict must not depend on the machine.
_MAX_ADJUSTED_EXPONENT = 10**18 - 1
_MIN_EXPONENT = -2 * 10**18 + 3
# Canonical numbers with at most this many zeros to add are written without an exponent, as a person would.
_PLAIN_ZEROS = 24

# A run of combining marks long enough to hurt lies within such a run: no character of the blocks left out (Latin,
# Greek, Han, Hangul syllables) is a mark or decomposes into marks alone.
_SHORT_RUN = 64
_MAYBE_MARKS = f"[^\x00-\u02ff\u0370-\u0482\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]{{{_SHORT_RUN + 1},}}"


class Rule(Protocol):
    """What a column type promises: `canonical` returns a value or raises `CellError`, for any text whatever."""

    def canonical(self, text: str) -> str | None:
        """Return the canonical value of a cell's raw text; None is null. Raises CellError when it is unreadable."""

    def reads_all(self, texts: Collection[str]) -> bool | None:
        """Return whether the rule can read all of these texts, where that is told faster than by reading; else None.

        False is the answer of every rule of the class.
        """

    def rough_sum(self, texts: Collection[str]) -> tuple[float, float] | None:
        """Return about the sum of the values of these texts, and how far at most it may be from that sum.

        A value is the number as it is compared, rounded. None where the texts are no numbers, or their sum cannot be
        told without reading them.
        """


class _RuleWithoutOptions:
    """A rule that is equal to every other of its class; it knows no quick test and no sum unless it says so."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def reads_all(self, texts: Collection[str]) -> bool | None:
        return None

    def rough_sum(self, texts: Collection[str]) -> tuple[float, float] | None:
        return None


class TextRule(_RuleWithoutOptions):
    """Text, compared after line ends, outer white space and Unicode composition (NFC) are made alike; empty is null."""

    def reads_all(self, texts: Collection[str]) -> bool | None:
        return True

    def canonical(self, text: str) -> str | None:
        if text.isascii():
            # No NFC needed, and a carriage return is the only thing left to look for.
            return (text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text).strip() or None
        return _composed(text.replace("\r\n", "\n").replace("\r", "\n").strip()) or None


@dataclass(frozen=True)
class NumberRule:
    """A decimal number of any magnitude, compared exactly or after rounding half away from zero.

    `mode` is one of `NUMBER_MODES`; `digits` (0 to 30) goes with all but "integer". `unit` is one of `NUMBER_UNITS`:
    a trailing percent sign, legal only with `allow_percent_sign`, divides by 100 under "fraction".
    The canonical value is the shortest plain notation, or digits and an exponent for the very large and very small.
    Raises ValueError when the parameters make no rule.
    """

    mode: str | None
    digits: int | None = None
    allow_percent_sign: bool = False
    unit: str = "plain"

    def __post_init__(self) -> None:
        if self.mode not in NUMBER_MODES:
            raise ValueError(f"expected one of {', '.join(NUMBER_MODES)} as comparison mode, got {self.mode!r}")
        if self.mode != "integer" and self.digits not in range(MAX_DIGITS + 1):
            raise ValueError(f"expected 0 to {MAX_DIGITS} comparison digits, got {self.digits!r}")
        if self.unit not in NUMBER_UNITS:
            raise ValueError(f"expected one of {', '.join(NUMBER_UNITS)} as unit, got {self.unit!r}")

    def reads_all(self, texts: Collection[str]) -> bool | None:
        # What `float` takes and has no other characters than these is a number here, too.
        characters = "-0123456789" if self.mode == "integer" else "-.0123456789"
        if not "".join(texts).strip(characters) and _takes_all(float, texts):
            return True
        # What does not look like one is none.
        return None if all(map(_LOOKS_LIKE_NUMBER.fullmatch, map(str.strip, texts))) else False

    def rough_sum(self, texts: Collection[str]) -> tuple[float, float] | None:
        try:
            numbers = list(map(float, texts))
            total = fsum(numbers)
            size = total if min(numbers, default=0) >= 0 else fsum(map(abs, numbers))
        except (ValueError, OverflowError):
            return None
        if not isfinite(size):
            return None
        # The nearest double is off by a part of 2^-53, or less than the least normal one; rounding moves a number by
        # half a unit at most.
        error = size * 2.0**-50 + len(numbers) * float_info.min
        if self.mode == "decimal_places":
            error += len(numbers) * 10.0 ** -(self.digits or 0)
        elif self.mode == "significant_digits":
            error += size * 10.0 ** (1 - (self.digits or 0))
        return total, error

    def canonical(self, text: str) -> str | None:
        if self.mode != "significant_digits" and _PLAIN_NUMBER.fullmatch(text):
            return self._plain_value(text)
        stripped = text.strip()
        if _is_null(stripped):
            return None
        shift = 0
        if stripped.endswith("%") and self.allow_percent_sign:
            stripped = stripped[:-1].rstrip()
            shift = -2 if self.unit == "fraction" else 0
        sign, digits, exponent = _read_number(stripped)
        if digits:
            exponent += shift
        if self.mode == "integer":
            if exponent < 0:
                raise CellError("is not an integer")
        else:
            kept = len(digits) + exponent if self.mode == "decimal_places" else 0
            digits, exponent = _rounded(digits, exponent, kept + (self.digits or 0))
        return _number_text(sign, digits, exponent)

    def _plain_value(self, text: str) -> str:
        """Return the canonical value of a plain number, unless it is to be rounded to significant digits."""
        kept = self.digits or 0
        point = text.find(".")
        if point < 0:
            return text if text != "-0" else "0"
        end = point + 1 + kept
        if self.mode == "integer" and text[end:].strip("0"):
            raise CellError("is not an integer")
        if text[end : end + 1] < "5":
            # The next digit, if there is one, does not round up.
            value = text[:end].rstrip("0").rstrip(".")
        else:
            sign = "-" if text[0] == "-" else ""
            digits = str(int(text[len(sign) : point] + text[point + 1 : end]) + 1).zfill(kept + 1)
            value = f"{sign}{digits[: len(digits) - kept]}.{digits[len(digits) - kept :]}".rstrip("0").rstrip(".")
        return value if value != "-0" else "0"


class DatetimeRule(_RuleWithoutOptions):
    """An ISO 8601 date-time: with an offset an instant, without one a local time, never equal to each other."""

    def reads_all(self, texts: Collection[str]) -> bool | None:
        return all(map(_PLAIN_DATETIME.fullmatch, set(texts))) or None

    def canonical(self, text: str) -> str | None:
        if _PLAIN_DATETIME.fullmatch(text):
            return text.replace(" ", "T")
        moment = _read_moment(text)
        if moment is None:
            return None
        return moment.isoformat() if moment.tzinfo is None else moment.isoformat()[:-6] + "Z"


class DateRule(_RuleWithoutOptions):
    """An ISO 8601 date, or a date-time that is midnight exactly once an offset is converted to UTC and dropped."""

    def reads_all(self, texts: Collection[str]) -> bool | None:
        return all(map(_PLAIN_DATE.fullmatch, set(texts))) or None

    def canonical(self, text: str) -> str | None:
        if _PLAIN_DATE.fullmatch(text):
            return text
        moment = _read_moment(text)
        if moment is None:
            return None
        if moment.hour or moment.minute or moment.second or moment.microsecond:
            raise CellError("is not midnight in UTC, so it is not a date")
        return moment.date().isoformat()


class BooleanRule(_RuleWithoutOptions):
    """A truth value: 1, true, yes, y, 是 or 0, false, no, n, 否, in any case."""

    def canonical(self, text: str) -> str | None:
        token = text.strip().casefold()
        if token in _TRUE_TOKENS:
            return "true"
        if token in _FALSE_TOKENS:
            return "false"
        if token in _NULL_TOKENS:
            return None
        raise CellError("is not a Boolean")


RULES: dict[str, Callable[..., Rule]] = {
    "text": TextRule,
    "number": NumberRule,
    "date": DateRule,
    "datetime": DatetimeRule,
    "boolean": BooleanRule,
}


def canonical_column(rule: Rule, texts: Sequence[str]) -> list[str | None]:
    """Return the canonical values of a column of texts. Raises CellError when a cell is unreadable."""
    distinct = set(texts)
    if 2 * len(distinct) > len(texts):
        return list(map(rule.canonical, texts))
    values = dict(zip(distinct, map(rule.canonical, distinct), strict=True))
    return list(map(values.__getitem__, texts))


def can_read(rule: Rule, texts: Collection[str]) -> bool:
    """Return whether the rule can read every text; that takes less than to find their canonical values."""
    known = rule.reads_all(texts)
    return _takes_all(rule.canonical, set(texts)) if known is None else known


def first_unreadable(rule: Rule, texts: Iterable[str], redact: bool = False) -> str | None:
    """Return a sentence part such as "row 3 'abc' is not a number" for the first unreadable cell, None without one.

    With `redact` it does not quote the cell.
    """
    for row, text in enumerate(texts, start=1):
        try:
            rule.canonical(text)
        except CellError as error:
            return f"row {row} {error}" if redact else f"row {row} {quoted(text)} {error}"
    return None


def _takes_all(read: Callable[[str], object], texts: Iterable[str]) -> bool:
    try:
        # A queue of length 0 keeps nothing: it only makes the function be called.
        deque(map(read, texts), maxlen=0)
    except (CellError, ValueError):
        return False
    return True


def _is_null(stripped: str) -> bool:
    return len(stripped) <= _LONGEST_NULL_TOKEN and stripped.casefold() in _NULL_TOKENS


def _read_number(text: str) -> tuple[str, str, int]:
    """Return sign, significant digits and exponent: the value is sign, digits times 10 to the exponent.

    The digits have no zero in front or behind; zero is no digits at all.
    """
    whole, _, fraction = text.partition(".")
    if text.isascii() and whole.isdigit() and (fraction.isdigit() or not fraction):
        # Most numbers are unsigned digits with a point or without: the pattern would read the same, more slowly.
        return "", *_significant(whole + fraction, -len(fraction))
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise CellError("is not a number")
    if not text.isascii():
        match = _NUMBER.fullmatch("".join(map(_ascii_digit, text)))
        assert match is not None, "the same pattern matches the same number in ASCII digits"
    sign, whole, fraction, bare_fraction, exponent_text = match.groups()
    fraction = fraction or bare_fraction or ""
    unscaled = ((whole or "").replace(",", "") + fraction).lstrip("0")
    exponent = _read_exponent(exponent_text) - len(fraction)
    if exponent < _MIN_EXPONENT or exponent + max(len(unscaled) - 1, 0) > _MAX_ADJUSTED_EXPONENT:
        raise CellError("has an exponent out of range")
    digits, exponent = _significant(unscaled, exponent)
    return "-" if sign == "-" else "", digits, exponent


def _significant(digits: str, exponent: int) -> tuple[str, int]:
    """Return the digits without zeros in front or behind, and the exponent that keeps their value."""
    stripped = digits.rstrip("0")
    return stripped.lstrip("0"), exponent + len(digits) - len(stripped) if stripped else 0


def _read_exponent(text: str | None) -> int:
    if text is None:
        return 0
    magnitude = text.lstrip("+-").lstrip("0")
    # The digits of a mantissa can make up for a few digits of exponent, never for a twentieth.
    if len(magnitude) > 19:
        raise CellError("has an exponent out of range")
    return -int(magnitude or 0) if text[0] == "-" else int(magnitude or 0)


def _ascii_digit(character: str) -> str:
    """Return a decimal digit of any script as its ASCII digit, any other character as itself."""
    value = unicodedata.decimal(character, None)
    return character if value is None else str(value)


def _rounded(digits: str, exponent: int, kept: int) -> tuple[str, int]:
    """Round half away from zero to the first `kept` digits; none or fewer leave 0 or the next power of ten."""
    dropped = len(digits) - kept
    if dropped <= 0:
        return digits, exponent
    if kept < 0:
        return "", 0
    head = digits[:kept]
    if digits[kept] >= "5":
        # Adding one turns the nines at the end into zeros, which canonical digits do not keep.
        stem = head.rstrip("9")
        rounded = stem[:-1] + chr(ord(stem[-1]) + 1) if stem else "1"
    else:
        rounded = stem = head.rstrip("0")
    return rounded, exponent + len(digits) - len(stem)


def _number_text(sign: str, digits: str, exponent: int) -> str:
    """Return the one canonical spelling of a number given without zeros in front or behind its digits."""
    if not digits:
        return "0"
    if 0 <= exponent <= _PLAIN_ZEROS:
        return sign + digits + "0" * exponent
    whole_digits = len(digits) + exponent
    if exponent < 0 < whole_digits:
        return f"{sign}{digits[:whole_digits]}.{digits[whole_digits:]}"
    if exponent < 0 and whole_digits >= -_PLAIN_ZEROS:
        return f"{sign}0.{'0' * -whole_digits}{digits}"
    return f"{sign}{digits}e{exponent}"


def _read_moment(text: str) -> datetime | None:
    """Return a local time without an offset or the instant in UTC; None for null."""
    stripped = text.strip()
    if _is_null(stripped):
        return None
    try:
        moment = iso8601.parse(stripped)
    except ValueError:
        raise CellError("is not an ISO 8601 date or time") from None
    if moment.tzinfo is None:
        return moment
    try:
        return moment.astimezone(timezone.utc)
    except OverflowError:
        raise CellError("is an instant outside the years 1 to 9999") from None


def _composed(text: str) -> str:
    """Return the Unicode composition (NFC) of `text` in linear time.

    `unicodedata.normalize` orders a run of combining marks by insertion, which is quadratic in the run. Ordering long
    runs beforehand, by a stable sort on the combining class of the decomposed text, is what the canonical ordering
    algorithm does (Unicode Standard, D109), so the composition is the same.
    """
    if len(text) > _SHORT_RUN and re.search(_MAYBE_MARKS, text):
        decomposed = "".join(unicodedata.normalize("NFD", character) for character in text)
        runs = groupby(decomposed, key=lambda character: unicodedata.combining(character) != 0)
        text = "".join("".join(sorted(run, key=unicodedata.combining) if is_marks else run) for is_marks, run in runs)
    return unicodedata.normalize("NFC", text)
