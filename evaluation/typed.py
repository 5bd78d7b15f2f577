"""Whether values read from JSON are of the types that their classes declare."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any, Union, get_args, get_origin, get_type_hints


class TypeChecker:
    """Finds values that are not of their declared types.

    `names` are the types that modules import for type checkers only, by name.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = dict(names)
        self._hints: dict[type, dict[str, Any]] = {}

    def fault(self, value: object, declared: Any, where: str) -> str | None:
        """Return where the value, called `where`, or a part of it is not of its declared type; None where all are.

        `declared` is a class, None, a union, a tuple of one element type, or a mapping; dataclasses are looked into. A
        Boolean is no number, a whole number is a float, too, and infinity is none.
        """
        origin = get_origin(declared)
        if origin in (Union, types.UnionType):
            faults = [self.fault(value, one, where) for one in get_args(declared)]
            # The alternative that fits on the outside is the one whose fault is worth telling.
            return None if None in faults else _first(fault for fault in faults if fault != where) or where
        if origin is tuple:
            if not isinstance(value, tuple):
                return where
            element = get_args(declared)[0]
            return _first(self.fault(part, element, f"{where}[{i}]") for i, part in enumerate(value))
        if origin is not None:
            key_type, part_type = get_args(declared)
            return self._fault_of_mapping(value, key_type, part_type, where)
        if is_dataclass(declared):
            return self._fault_of_record(value, declared, where)
        return None if _is_plain(value, declared) else where

    def _fault_of_mapping(self, value: object, key_type: Any, part_type: Any, where: str) -> str | None:
        if not isinstance(value, Mapping):
            return where
        keys = (self.fault(key, key_type, where) for key in value)
        return _first(keys) or _first(self.fault(part, part_type, f"{where}.{key}") for key, part in value.items())

    def _fault_of_record(self, value: object, declared: Any, where: str) -> str | None:
        if not isinstance(value, declared):
            return where
        if declared not in self._hints:
            self._hints[declared] = get_type_hints(declared, localns=self._names)
        hints = self._hints[declared]
        return _first(
            self.fault(getattr(value, field.name), hints[field.name], f"{where}.{field.name}")
            for field in fields(declared)
        )


def _is_plain(value: object, declared: Any) -> bool:
    if isinstance(value, bool):
        return declared is bool
    if declared is float:
        return isinstance(value, (int, float)) and isfinite(value)
    return isinstance(value, declared)


def _first(faults: Iterable[str | None]) -> str | None:
    return next((fault for fault in faults if fault is not None), None)
