"""Documents as JSON, above all the summary: the same document gives the same bytes on every Python."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..errors import escape
from ..summary import Summary

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def render(summary: Summary, *, with_tasks: bool = True) -> str:
    """Return the summary as JSON with a newline at the end, without its `tasks` if so asked."""
    document = summary.to_dict()
    if not with_tasks:
        for part in (document, *document.get("runs", ())):
            del part["tasks"]
    return spelled(document)


def spelled(document: Mapping[str, object]) -> str:
    """Return an object as JSON with a newline at the end.

    Every key is on a line of its own, and so is every element of a list of objects, such as a task.
    """
    return "{\n" + ",\n".join(f"  {_encode(key)}: {_value(value)}" for key, value in document.items()) + "\n}\n"


def _value(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"    {_encode(element)}" for element in value) + "\n  ]"
    return _encode(value)


def inert(text: str) -> str:
    """Return JSON with the characters escaped, as JSON does, that cannot be seen as themselves; line ends stay."""
    return "\n".join(escape(line, _json_escape) for line in text.split("\n"))


def _json_escape(code: int) -> str:
    return json.dumps(chr(code))[1:-1]
