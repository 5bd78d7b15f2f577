"""JSON files written by authors: parsed strictly, and every fault refused in one sentence that says where it is."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from .errors import EvaluationFatalError, InputError, escape, quoted

# No number that an author writes has more digits; longer ones would only cost time.
_MAX_INTEGER_DIGITS = 20
# But those of values that are compared with what others write.
MOST_VALUE_DIGITS = 1_000
_NOTHING = object()
_BAD_ESCAPE = re.compile(r"\\[^\"\\/bfnrtu]")


class JsonFile(NamedTuple):
    """A JSON file as messages call it: `noun` such as "config", and its `name`.

    `where` in every method is the place of a value in the file, such as `columns[0].type`, or "" for the whole. Every
    method raises EvaluationFatalError for what it does not accept.
    """

    noun: str
    name: str

    def parse(self, data: bytes, *, exact: bool = False, most_digits: int = _MAX_INTEGER_DIGITS) -> object:
        """Return the JSON value in `data`: UTF-8, no key twice in an object, no NaN, no integer of more digits.

        With `exact`, what is no whole number is a Decimal, not a float.
        """
        try:
            return read_json(data.decode("utf-8"), _decimal if exact else float, most_digits)
        except UnicodeDecodeError as error:
            raise EvaluationFatalError(f"{self} is not UTF-8 (byte {error.start})") from None
        except _RepeatedKeyError as error:
            raise EvaluationFatalError(f"{self} {error}", f"{self} has a key twice in one object") from None
        except InputError as error:
            raise EvaluationFatalError(f"{self} {error}") from None

    def object_with(
        self, where: str, value: object, required: Sequence[str], optional: Sequence[str] = ()
    ) -> Mapping[str, Any]:
        """Return an object that has all the required keys and no others but the optional ones."""
        value = self.object_with_any(where, value)
        for key in value:
            if key not in required and key not in optional:
                self.refuse(where, f"only the keys {', '.join((*required, *optional))}", key)
        for key in required:
            if key not in value:
                self.refuse(f"{where}.{key}" if where else key, "a value, the key is required")
        return value

    def object_with_any(self, where: str, value: object) -> Mapping[str, Any]:
        """Return an object with whatever keys it has."""
        if not isinstance(value, dict):
            self.refuse(where, "an object", value)
        return value

    def string(self, where: str, value: object) -> str:
        """Return a string."""
        if not isinstance(value, str):
            self.refuse(where, "a string", value)
        return value

    def text(self, where: str, value: object) -> str:
        """Return a string that can be written as UTF-8: JSON can spell half a surrogate pair, no file can hold it."""
        text = self.string(where, value)
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            self.refuse(where, "a string without half a surrogate pair", text)
        return text

    def one_of(self, where: str, value: object, allowed: Sequence[str]) -> str:
        """Return one of the allowed strings."""
        if not isinstance(value, str) or value not in allowed:
            self.refuse(where, f"one of {', '.join(allowed)}" if len(allowed) > 1 else quoted(allowed[0]), value)
        return value

    def boolean(self, where: str, value: object) -> bool:
        """Return true or false."""
        if not isinstance(value, bool):
            self.refuse(where, "true or false", value)
        return value

    def integer(self, where: str, value: object, low: int, high: int) -> int:
        """Return an integer from `low` to `high`; like JSON Schema, take `2.0` for one, but no Boolean."""
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not whole or not low <= value <= high:  # type: ignore[operator]
            self.refuse(where, f"an integer from {low} to {high}", value)
        return int(value)  # type: ignore[call-overload, no-any-return]

    def refuse(self, where: str, expected: str, got: object = _NOTHING) -> NoReturn:
        """Raise EvaluationFatalError: the file and the place in it, what was expected, and what came."""
        self.refuse_because(where, f"expected {expected}, got {'nothing' if got is _NOTHING else _shown(got)}")

    def refuse_because(self, where: str, reason: str) -> NoReturn:
        """Raise EvaluationFatalError: the file and the place in it, and what is wrong there."""
        place = f"{self}, {escape(where)}" if where else str(self)
        raise EvaluationFatalError(f"{place}: {reason}", f"{place}: expected another value than it has")

    def __str__(self) -> str:
        return f"{self.noun} {quoted(self.name)}"


def read_json(
    text: str, parse_float: Callable[[str], object] = float, most_digits: int = _MAX_INTEGER_DIGITS
) -> object:
    """Return the JSON value that `text` spells: no key twice in an object, no NaN, no integer of more digits.

    `parse_float` reads what is no whole number. Raises InputError, whose text is a predicate and the same on every
    Python, when it is anything else.
    """

    def parse_int(digits: str) -> int:
        length = len(digits.lstrip("-"))
        if length > most_digits:
            raise InputError(f"holds an integer of {length} characters")
        return int(digits)

    decoder = json.JSONDecoder(
        object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_int=parse_int, parse_float=parse_float
    )
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        position = error.pos
        if error.msg.startswith("Illegal trailing comma"):
            # Older Pythons tell the place of what follows the comma.
            position += 1 + len(text[position + 1 :]) - len(text[position + 1 :].lstrip(" \t\n\r"))
        before = text[:position]
        line, column = before.count("\n") + 1, position - before.rfind("\n")
        reason = _syntax_fault(text, position, is_open=error.msg.startswith("Unterminated"))
        raise InputError(f"is not JSON (line {line}, column {column}: {reason})") from None
    except RecursionError:
        raise InputError("is nested too deeply") from None


def _syntax_fault(text: str, position: int, *, is_open: bool) -> str:
    """Return what is wrong at a place, in words of our own: the parser's differ between versions of Python."""
    if is_open:
        return "a text that does not end"
    if _BAD_ESCAPE.match(text, position):
        return "a backslash is written twice"
    return f"unexpected {quoted(text[position])}" if position < len(text) else "it ends too early"


def _decimal(text: str) -> object:
    # Few files need it, and starting is most of a small run's time.
    from decimal import Decimal, InvalidOperation

    try:
        return Decimal(text)
    except InvalidOperation:
        raise InputError(f"holds a number of too large an exponent, {quoted(text)}") from None


class _RepeatedKeyError(InputError):
    """The text has the key in it."""


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _RepeatedKeyError(f"has the key {quoted(twice)} twice in one object")
    return result


def _no_constant(text: str) -> NoReturn:
    raise InputError(f"holds {text}, which is not JSON")


def _shown(value: object) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return json.dumps(value) if value is None or isinstance(value, (bool, int, float)) else quoted(str(value))[1:-1]
