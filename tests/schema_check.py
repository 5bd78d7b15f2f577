"""As much of JSON Schema (draft 2020-12) as the project's own schemas use; any other keyword is an error.

The standard library has no validator, and the tests need one: to show that the hand-written validation of configs and
the schema accept the same documents, and that what is written is what the schema describes.
"""

from __future__ import annotations

import json
import re
from typing import Any

from support import ROOT

_ANNOTATIONS = {"$schema", "$defs", "title", "description"}
_TYPES: dict[str, Any] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: (
        not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
    ),
}


def load_schema(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((ROOT / "schema" / name).read_text(encoding="utf-8"))
    return document


def accepts(schema: Any, value: Any, root: dict[str, Any] | None = None) -> bool:
    """Return whether `value` is valid under `schema`. Raises KeyError for a keyword that is not supported."""
    if isinstance(schema, bool):
        return schema
    whole = schema if root is None else root
    return all(
        _KEYWORDS[keyword](argument, value, schema, whole)
        for keyword, argument in schema.items()
        if keyword not in _ANNOTATIONS
    )


def _same(first: Any, second: Any) -> bool:
    return isinstance(first, bool) == isinstance(second, bool) and bool(first == second)


def _conditional(argument: Any, value: Any, schema: Any, root: dict[str, Any]) -> bool:
    return accepts(schema.get("then" if accepts(argument, value, root) else "else", True), value, root)


def _items(argument: Any, value: Any, schema: Any, root: dict[str, Any]) -> bool:
    return not isinstance(value, list) or all(
        accepts(argument, item, root) for item in value[len(schema.get("prefixItems", ())) :]
    )


def _additional(argument: Any, value: Any, schema: Any, root: dict[str, Any]) -> bool:
    return not isinstance(value, dict) or all(
        accepts(argument, item, root) for key, item in value.items() if key not in schema.get("properties", ())
    )


_KEYWORDS: dict[str, Any] = {
    "$ref": lambda a, v, s, r: accepts(r["$defs"][a.removeprefix("#/$defs/")], v, r),
    "type": lambda a, v, s, r: any(_TYPES[name](v) for name in ([a] if isinstance(a, str) else a)),
    "enum": lambda a, v, s, r: any(_same(option, v) for option in a),
    "const": lambda a, v, s, r: _same(a, v),
    "anyOf": lambda a, v, s, r: any(accepts(part, v, r) for part in a),
    "exclusiveMinimum": lambda a, v, s, r: not _TYPES["number"](v) or v > a,
    "minimum": lambda a, v, s, r: not _TYPES["number"](v) or v >= a,
    "maximum": lambda a, v, s, r: not _TYPES["number"](v) or v <= a,
    "maxLength": lambda a, v, s, r: not isinstance(v, str) or len(v) <= a,
    "pattern": lambda a, v, s, r: not isinstance(v, str) or re.search(a, v) is not None,
    "required": lambda a, v, s, r: not isinstance(v, dict) or all(key in v for key in a),
    "properties": lambda a, v, s, r: (
        not isinstance(v, dict) or all(accepts(part, v[key], r) for key, part in a.items() if key in v)
    ),
    "additionalProperties": _additional,
    "minProperties": lambda a, v, s, r: not isinstance(v, dict) or len(v) >= a,
    "minItems": lambda a, v, s, r: not isinstance(v, list) or len(v) >= a,
    "maxItems": lambda a, v, s, r: not isinstance(v, list) or len(v) <= a,
    "uniqueItems": lambda a, v, s, r: not isinstance(v, list) or len({json.dumps(item) for item in v}) == len(v),
    "prefixItems": lambda a, v, s, r: (
        not isinstance(v, list) or all(accepts(part, item, r) for part, item in zip(a, v))
    ),
    "items": _items,
    "if": _conditional,
    "then": lambda a, v, s, r: True,
    "else": lambda a, v, s, r: True,
}
