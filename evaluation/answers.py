"""Values of answers that are not tables: what JSON can spell, told apart by type and compared exactly.

A value is None, a Boolean, a number (an `int`, or a `Decimal` where it is spelled with a point or an exponent), a text,
a list or an object. Two values are equal exactly when their canonical texts are: `1` is `1.0`, but neither `true` nor
`"1"`, and the order of an object's keys does not count.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Context, Decimal, localcontext
from itertools import accumulate
from math import isfinite
from typing import Any

from .errors import InputError, escape, quoted
from .strict_json import MOST_VALUE_DIGITS, read_json

Value = Any

NULL, BOOLEAN, NUMBER, TEXT, LIST, OBJECT = "null", "boolean", "number", "text", "list", "object"
KINDS = (NULL, BOOLEAN, NUMBER, TEXT, LIST, OBJECT)

MOST_DEPTH = 100
# Of digits, and of the zeros that an exponent stands for: so much arithmetic is exact, and costs next to nothing.
MOST_DIGITS = MOST_VALUE_DIGITS
_EXACT = Context(prec=8 * MOST_DIGITS, Emax=99 * MOST_DIGITS, Emin=-99 * MOST_DIGITS)
_OUT_OF_RANGE = f"holds a number of more than {MOST_DIGITS} digits"
# In what a plugin's function returns, or a config expects.
MOST_PLAIN_VALUES = 1_000_000
_TOO_LARGE = 10**MOST_DIGITS
# Whatever exponent it has, a shorter number is in range; and a longer exponent is out of it.
_SHORT_NUMBER, _LONG_EXPONENT = len("1e999"), 20
_SHOWN_CHARACTERS = 80
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


def read_answer(text: str) -> Value:
    """Return the value that a JSON text spells. Raises InputError, whose text is a predicate, when it spells none.

    It must be no deeper than MOST_DEPTH, have no key twice in an object, and no number of more than MOST_DIGITS digits,
    zeros of an exponent included.
    """
    if _depth(text) > MOST_DEPTH:
        raise InputError(f"is nested more than {MOST_DEPTH} deep")
    return read_json(text, read_number, MOST_DIGITS)


def read_number(text: str) -> Decimal:
    """Return the number that a text spells, which must be one. Raises InputError when it is out of range.

    It has at most MOST_DIGITS digits, the zeros that its exponent stands for included.
    """
    if len(text) > _SHORT_NUMBER:
        mantissa, _, exponent = text.lower().partition("e")
        whole, _, fraction = mantissa.lstrip("+-").partition(".")
        # So large an exponent not every machine can hold.
        shift = int(exponent or 0) if len(exponent) < _LONG_EXPONENT else _LONG_EXPONENT * MOST_DIGITS
        digits = len((whole + fraction).lstrip("0"))
        if not digits:
            return Decimal(0)
        if max(digits, len(fraction) - shift, digits - len(fraction) + shift) > MOST_DIGITS:
            raise InputError(_OUT_OF_RANGE)
    return Decimal(text)


def _depth(text: str) -> int:
    """Return how deep the brackets of a JSON text nest, which the parser of every Python takes otherwise amiss."""
    if text.count("[") + text.count("{") <= MOST_DEPTH:
        return 0
    outside = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]
    steps = {"[": 1, "{": 1, "]": -1, "}": -1}
    return max(accumulate(steps.get(character, 0) for part in outside for character in part), default=0)


def kind_of(value: Value) -> str:
    """Return which of KINDS a value is."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, (int, Decimal)):
        return NUMBER
    return TEXT if isinstance(value, str) else LIST if isinstance(value, list) else OBJECT


def canonical(value: Value) -> str:
    """Return the one text that is the same for equal values, and for these alone."""
    return "".join(canonical_pieces(value))


def canonical_pieces(value: Value) -> Iterator[str]:
    """Yield the canonical text of a value piece by piece, some for every value in it."""
    return _spelled(value, _canonical_number, is_sorted=True)


def _canonical_number(number: int | Decimal) -> str:
    """Return digits without zeros behind them, and an exponent."""
    mantissa, _, exponent = str(number).partition("E")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    stripped = digits.rstrip("0")
    shift = int(exponent or 0) - len(fraction) + len(digits) - len(stripped)
    return f"{'-' if number < 0 else ''}{stripped}e{shift}" if stripped else "0"


def _spelled(value: Value, number: Callable[[int | Decimal], str], *, is_sorted: bool) -> Iterator[str]:
    """Yield the pieces of a value's JSON text; each costs the same, however deep it lies."""
    stack = [(iter((("", value),)), "")]
    while stack:
        parts, closing = stack[-1]
        for prefix, part in parts:
            if isinstance(part, list):
                yield f"{prefix}["
                stack.append((_elements(part), "]"))
                break
            if isinstance(part, dict):
                yield f"{prefix}{{"
                stack.append((_entries(part, is_sorted=is_sorted), "}"))
                break
            yield prefix + (number(part) if kind_of(part) == NUMBER else _ENCODE(part))
        else:
            stack.pop()
            yield closing


def _elements(value: list[Value]) -> Iterator[tuple[str, Value]]:
    for place, element in enumerate(value):
        yield ", " if place else "", element


def _entries(value: dict[str, Value], *, is_sorted: bool) -> Iterator[tuple[str, Value]]:
    for place, key in enumerate(sorted(value) if is_sorted else value):
        yield f"{', ' if place else ''}{_ENCODE(key)}: ", value[key]


def shown(value: Value) -> str:
    """Return a value as JSON for a message: escaped, and cut to its first 80 characters where it is longer."""
    if isinstance(value, str):
        return quoted(value)
    text = ""
    for piece in _spelled(value, str, is_sorted=False):
        text += escape(piece[: _SHOWN_CHARACTERS + 1])
        if len(text) > _SHOWN_CHARACTERS:
            return f"{text[:_SHOWN_CHARACTERS]}…"
    return text


def total(numbers: list[int | Decimal]) -> int | Decimal:
    """Return the exact sum of numbers."""
    if all(isinstance(number, int) for number in numbers):
        return sum(numbers)
    with localcontext(_EXACT):
        return sum(numbers, Decimal(0))


def is_close(actual: int | Decimal, expected: int | Decimal, absolute: Decimal, relative: Decimal) -> bool:
    """Return whether |actual - expected| <= absolute, or <= relative * |expected|, exactly."""
    with localcontext(_EXACT):
        difference = abs(Decimal(actual) - expected)
        return difference <= absolute or difference <= relative * abs(Decimal(expected))


def plain(value: Value) -> Value:
    """Return a copy of a value with floats for numbers with a point, as plugins know them.

    Raises InputError when a number is too large for one.
    """
    if isinstance(value, list):
        return list(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, Decimal):
        number = float(value)
        if not isfinite(number):
            raise InputError("holds a number too large for a function of a plugin")
        return number
    return value


def from_plain(value: object) -> Value:
    """Return what a plugin's function returned, or a config holds, as a value; a float is the number that it spells.

    Raises InputError, whose text is a predicate, when it holds anything that JSON cannot spell, is too deep, or has
    more than MOST_PLAIN_VALUES values. Objects of subclasses are read as what they are to JSON, without their own
    methods.
    """
    return _PlainReader().read(value, MOST_DEPTH)


class _PlainReader:
    """Counts the values that it has read: what is in many places counts in each."""

    def __init__(self) -> None:
        self._left = MOST_PLAIN_VALUES

    def read(self, value: Any, depth: int) -> Value:
        self._left -= 1
        if depth == 0 or self._left < 0:
            much = f"more than {MOST_PLAIN_VALUES} values" if self._left < 0 else f"values more than {MOST_DEPTH} deep"
            raise InputError(f"holds {much}")
        # An object may say that it is of another class than it is.
        kind: type = type(value)
        if value is None or kind is bool:
            return value
        if issubclass(kind, str):
            return str.__str__(value)
        if issubclass(kind, int):
            number = int.__int__(value)
            if -_TOO_LARGE < number < _TOO_LARGE:
                return number
        elif issubclass(kind, (float, Decimal)):
            text = float.__repr__(value) if issubclass(kind, float) else Decimal.__str__(value)
            if text.strip("-")[0].isdigit():
                return read_number(text)
        elif issubclass(kind, (list, tuple)):
            elements = list.__iter__(value) if issubclass(kind, list) else tuple.__iter__(value)
            return [self.read(element, depth - 1) for element in elements]
        elif issubclass(kind, dict):
            return self._read_object(value, depth)
        raise InputError(f"is no value of JSON, but an object of type {escape(kind.__name__)[:60]}")

    def _read_object(self, value: dict[Any, Any], depth: int) -> Value:
        found = {}
        for key, part in dict.items(value):
            name = str.__str__(key) if issubclass(type(key), str) else None
            if name is None or name in found:
                raise InputError("is an object with keys that are no texts, or are twice the same")
            found[name] = self.read(part, depth - 1)
        return found
