"""Values of answers that are not tables: what JSON can spell, told apart by type and compared exactly.

A value is None, a Boolean, a number (an `int`, or a `Decimal` where it is spelled with a point or an exponent), a text,
a list or an object. Two values are equal exactly when their canonical texts are: `1` is `1.0`, but neither `true` nor
`"1"`, and the order of an object's keys does not count.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Context, Decimal, localcontext
from itertools import accumulate
from math import isfinite
from typing import Any

from .errors import InputError, escape, quoted
from .strict_json import read_json

Value = Any

NULL, BOOLEAN, NUMBER, TEXT, LIST, OBJECT = "null", "boolean", "number", "text", "list", "object"
KINDS = (NULL, BOOLEAN, NUMBER, TEXT, LIST, OBJECT)
_ARTICLES = {NULL: "null", OBJECT: "an object"}

MOST_DEPTH = 100
# Of digits, and of the zeros that an exponent stands for: so much arithmetic is exact, and costs next to nothing.
MOST_DIGITS = 1_000
_EXACT = Context(prec=8 * MOST_DIGITS, Emax=99 * MOST_DIGITS, Emin=-99 * MOST_DIGITS)
_OUT_OF_RANGE = f"holds a number of more than {MOST_DIGITS} digits"
_SHOWN_CHARACTERS = 80


def read_answer(text: str) -> Value:
    """Return the value that a JSON text spells. Raises InputError, whose text is a predicate, when it spells none.

    It must be no deeper than MOST_DEPTH, have no key twice in an object, and no number of more than MOST_DIGITS digits,
    zeros of an exponent included.
    """
    if _depth(text) > MOST_DEPTH:
        raise InputError(f"is nested more than {MOST_DEPTH} deep")
    return read_json(text, read_number, MOST_DIGITS)


def read_number(text: str) -> Decimal:
    """Return the number that a text spells, which must be one. Raises InputError when it has more than MOST_DIGITS."""
    exponent = text.lower().partition("e")[2]
    # So large a one not every machine can hold.
    if len(exponent.lstrip("+-").lstrip("0")) > len(str(MOST_DIGITS)):
        raise InputError(_OUT_OF_RANGE)
    return check_range(Decimal(text))


def _depth(text: str) -> int:
    """Return how deep the brackets of a JSON text nest, which the parser of every Python takes otherwise amiss."""
    if text.count("[") + text.count("{") <= MOST_DEPTH:
        return 0
    outside = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]
    steps = {"[": 1, "{": 1, "]": -1, "}": -1}
    return max(accumulate(steps.get(character, 0) for part in outside for character in part), default=0)


def check_range(number: Decimal) -> Decimal:
    """Return a number of no more than MOST_DIGITS digits, zeros of its exponent included; else raise InputError."""
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int), "numbers are finite"
    if max(len(digits), -exponent, len(digits) + exponent) > MOST_DIGITS:
        raise InputError(_OUT_OF_RANGE)
    return number


def kind_of(value: Value) -> str:
    """Return which of KINDS a value is."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, (int, Decimal)):
        return NUMBER
    return TEXT if isinstance(value, str) else LIST if isinstance(value, list) else OBJECT


def named(kind: str) -> str:
    """Return a kind with its article."""
    return _ARTICLES.get(kind, f"a {kind}")


def canonical(value: Value) -> str:
    """Return the one text that is the same for equal values, and for these alone."""
    return "".join(canonical_pieces(value))


def canonical_pieces(value: Value) -> Iterator[str]:
    """Yield the canonical text of a value piece by piece, some for every value in it."""
    return _spelled(value, _canonical_number, is_sorted=True)


def _canonical_number(number: int | Decimal) -> str:
    """Return digits without zeros behind them, and an exponent."""
    if isinstance(number, Decimal):
        sign, parts, exponent = number.as_tuple()
        digits = "".join(map(str, parts)).lstrip("0")
        prefix = "-" if sign else ""
        assert isinstance(exponent, int), "numbers are finite"
    else:
        digits, exponent, prefix = str(abs(number)), 0, "-" if number < 0 else ""
    stripped = digits.rstrip("0")
    return f"{prefix}{stripped}e{exponent + len(digits) - len(stripped)}" if stripped else "0"


def _spelled(value: Value, number: Any, *, is_sorted: bool) -> Iterator[str]:
    """Yield the pieces of a value's JSON text."""
    if isinstance(value, list):
        yield "["
        for place, element in enumerate(value):
            yield ", " if place else ""
            yield from _spelled(element, number, is_sorted=is_sorted)
        yield "]"
    elif isinstance(value, dict):
        yield "{"
        for place, key in enumerate(sorted(value) if is_sorted else value):
            yield f"{', ' if place else ''}{json.dumps(key, ensure_ascii=False)}: "
            yield from _spelled(value[key], number, is_sorted=is_sorted)
        yield "}"
    elif kind_of(value) == NUMBER:
        yield number(value)
    else:
        yield json.dumps(value, ensure_ascii=False)


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


def from_plain(value: object, depth: int = MOST_DEPTH) -> Value:
    """Return what a plugin's function returned as a value; a float is the number that it is spelled as.

    Raises InputError, whose text is a predicate, when it holds anything that JSON cannot spell, or is too deep.
    """
    if depth == 0:
        raise InputError(f"is nested more than {MOST_DEPTH} deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int) and abs(value) < 10**MOST_DIGITS:
        return int(value)
    if isinstance(value, float) and isfinite(value):
        return Decimal(repr(float(value)))
    if isinstance(value, Decimal) and value.is_finite():
        return check_range(value)
    if isinstance(value, (list, tuple)):
        return [from_plain(part, depth - 1) for part in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {str(key): from_plain(part, depth - 1) for key, part in value.items()}
    raise InputError(f"is no value of JSON, but an object of type {escape(type(value).__name__)[:60]}")
