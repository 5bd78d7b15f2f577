"""JSON files written by authors: parsed strictly, and every fault refused in one sentence that says where it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from .errors import EvaluationFatalError, escape, quoted

# No number that an author writes has more digits; longer ones would only cost time.
_MAX_INTEGER_DIGITS = 20
_NOTHING = object()


class JsonFile(NamedTuple):
    """A JSON file as messages call it: `noun` such as "config", and its `name`.

    `where` in every method is the place of a value in the file, such as `columns[0].type`, or "" for the whole. Every
    method raises EvaluationFatalError for what it does not accept.
    """

    noun: str
    name: str

    def parse(self, data: bytes, *, exact: bool = False) -> object:
        """Return the JSON value in `data`: UTF-8, no key twice in an object, no NaN, numbers of sane length.

        With `exact`, what is no whole number is a Decimal, not a float.
        """
        try:
            return (_decoder(_decimal()) if exact else _DECODER).decode(data.decode("utf-8"))
        except UnicodeDecodeError as error:
            reason = f"is not UTF-8 (byte {error.start})"
        except json.JSONDecodeError as error:
            reason = f"is not JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        except RecursionError:
            reason = "is nested too deeply"
        except _StrictJsonError as error:
            raise EvaluationFatalError(f"{self} {error}", f"{self} is not JSON as it is wanted here") from None
        raise EvaluationFatalError(f"{self} {reason}")

    def object_with(
        self, where: str, value: object, required: Sequence[str], optional: Sequence[str] = ()
    ) -> Mapping[str, Any]:
        """Return an object that has all the required keys and no others but the optional ones."""
        if not isinstance(value, dict):
            self.refuse(where, "an object", value)
        for key in value:
            if key not in required and key not in optional:
                self.refuse(where, f"only the keys {', '.join((*required, *optional))}", key)
        for key in required:
            if key not in value:
                self.refuse(f"{where}.{key}" if where else key, "a value, the key is required")
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
        came = "nothing" if got is _NOTHING else _shown(got)
        place = f", {escape(where)}" if where else ""
        raise EvaluationFatalError(
            f"{self}{place}: expected {expected}, got {came}", f"{self}{place}: expected another value than it has"
        )

    def __str__(self) -> str:
        return f"{self.noun} {quoted(self.name)}"


class _StrictJsonError(ValueError):
    """JSON that the standard parser would let pass."""


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _StrictJsonError(f"has the key {quoted(twice)} twice in one object")
    return result


def _no_constant(text: str) -> NoReturn:
    raise _StrictJsonError(f"holds {text}, which is not JSON")


def _short_integer(text: str) -> int:
    if len(text) > _MAX_INTEGER_DIGITS:
        raise _StrictJsonError(f"holds an integer of {len(text)} characters")
    return int(text)


def _decimal() -> Callable[[str], object]:
    # Few files need it, and starting is most of a small run's time.
    from decimal import Decimal, InvalidOperation

    def read(text: str) -> object:
        try:
            return Decimal(text)
        except InvalidOperation:
            raise _StrictJsonError(f"holds a number of too large an exponent, {quoted(text)}") from None

    return read


def _decoder(parse_float: Callable[[str], object] | None = None) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_unique_keys,
        parse_constant=_no_constant,
        parse_int=_short_integer,
        parse_float=parse_float,
    )


_DECODER = _decoder()


def _shown(value: object) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return json.dumps(value) if value is None or isinstance(value, (bool, int, float)) else quoted(str(value))[1:-1]
