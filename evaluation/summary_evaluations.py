"""What a summary evaluator may return, and the result that it becomes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from numbers import Integral, Real
from typing import Any

from .errors import REDACTED, escape

_RESULT_KEYS = ("key", "name", "score", "value", "comment")
# What other evaluation programs attach to a result, and this one has no use for.
_IGNORED_RESULT_KEYS = (
    *("correction", "evaluator_info", "extra", "feedback_config", "metadata", "source_run_id", "target_run_id"),
)
_ADDRESS = re.compile("0x[0-9a-fA-F]{6,}")
_SHOWN_CHARACTERS = 300


@dataclass(frozen=True)
class SummaryEvaluation:
    """One result of a summary evaluator: a score or a value (a label) or both, or else an error."""

    name: str
    score: float | bool | None = None
    value: str | float | bool | None = None
    comment: str | None = None
    error: str | None = None

    def redacted(self, name: str) -> SummaryEvaluation:
        """Return the result under another name and without what its function made of gold, but for a score."""
        value, error = (None if part is None else REDACTED for part in (self.value, self.error))
        return SummaryEvaluation(name, self.score, value, error=error)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as it stands in the summary: what it lacks is left out."""
        return {key: value for key, value in vars(self).items() if value is not None}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> SummaryEvaluation:
        """Return the result that `to_dict` wrote. Raises TypeError for anything else."""
        return cls(**document)


def read_results(returned: object, name: str) -> list[SummaryEvaluation]:
    """Return what the function registered as `name` returned as results, at least one.

    A number or a Boolean is a score, a string a value; a dictionary, or an object with a `key`, names its own; a list,
    or a dictionary of nothing but `results`, is several of these. Whatever else becomes an error. Raises what the
    objects' own methods raise.
    """
    if isinstance(returned, dict) and returned.keys() == {"results"}:
        returned = returned["results"]
    results = returned if isinstance(returned, list) else [returned]
    if not results:
        return [SummaryEvaluation(name, error="returned an empty list, so no result")]
    return [_read_result(result, name) for result in results]


def _read_result(returned: object, name: str) -> SummaryEvaluation:
    try:
        fields = _fields(returned)
        name = _read_name(fields, name)
        score, value, comment = (fields.get(key) for key in ("score", "value", "comment"))
        if score is None and value is None:
            raise _UnusableResultError("a score or a value", None)
        if comment is not None and not isinstance(comment, str):
            raise _UnusableResultError("a comment that is a string", comment)
        return SummaryEvaluation(
            name,
            score=None if score is None else _number(score),
            value=writable(value) if isinstance(value, str) else None if value is None else _number(value),
            comment=None if comment is None else writable(comment),
        )
    except _UnusableResultError as error:
        return SummaryEvaluation(name, error=str(error))


def _fields(returned: object) -> Mapping[str, Any]:
    """Return the result in the form of a dictionary."""
    if isinstance(returned, str):
        return {"value": returned}
    if isinstance(returned, dict):
        for key in returned:
            if key not in _RESULT_KEYS and key not in _IGNORED_RESULT_KEYS:
                raise _UnusableResultError(f"only the keys {', '.join(_RESULT_KEYS)}", key)
        return returned
    if isinstance(getattr(returned, "key", None), str):
        # The result objects of other evaluation programs have attributes of these names.
        return {key: getattr(returned, key, None) for key in _RESULT_KEYS}
    return {"score": returned}


def _read_name(fields: Mapping[str, Any], default: str) -> str:
    name = fields.get("key")
    if name is None:
        name = fields.get("name", default)
    if not isinstance(name, str) or not name.strip():
        raise _UnusableResultError("a name that is not blank", name)
    return writable(name)


class _UnusableResultError(Exception):
    """A function returned something that is no result."""

    def __init__(self, expected: str, got: object) -> None:
        super().__init__(f"returned an unusable result: expected {expected}, got {shown(got)}")


def _number(value: object) -> float:
    """Return a finite number as the built-in type that it is like; a Boolean stays one."""
    if isinstance(value, bool):
        return value
    try:
        if isinstance(value, (Real, Decimal)) and isfinite(value):
            return int(value) if isinstance(value, Integral) else float(value)
    except (OverflowError, ValueError):
        pass
    raise _UnusableResultError("a finite number, a Boolean or a text", value)


def shown(value: object) -> str:
    """Return a simple value as Python spells it, for a message, and the type of any other."""
    # The representation of anything else may be of any length, and may hold an address.
    if value is None or type(value) in (bool, float, str):
        return cut(repr(value))
    return f"an object of type {escape(type(value).__name__)}"


def cut(text: str) -> str:
    """Return a text for a message: escaped, of bounded length, and without addresses, which vary from run to run."""
    start = _ADDRESS.sub("0x…", text[: 2 * _SHOWN_CHARACTERS])
    return escape(start if len(start) <= _SHOWN_CHARACTERS else f"{start[:_SHOWN_CHARACTERS]}…")


def writable(text: str) -> str:
    """Return a text that can be written as UTF-8: lone surrogates become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
