"""Task configs: JSON files, validated as strictly as `schema/task_config.schema.json`, and the set of them.

`read_task_config` and the schema accept the same documents; the only rule beyond them is that `task_id` equals the
file's stem. The config set is the task list and the denominator, and its digest identifies a benchmark.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from .cells import MAX_DIGITS, NUMBER_MODES, NUMBER_UNITS, RULES, NumberRule, Rule
from .errors import EvaluationFatalError, InputError, escape, quoted
from .files import FileSetDigest, read_file

CONFIG_SCHEMA_VERSION = "1.0"
MAX_COLUMNS = 64

_TASK_ID = re.compile(r"task_(?:0|[1-9][0-9]*)")
_MAX_CONFIG_BYTES = 16 << 20
# No number in a config has more digits; longer ones would only cost time.
_MAX_INTEGER_DIGITS = 20


@dataclass(frozen=True)
class ColumnSpec:
    """One gold column: its index and name in the gold file, and the rule that its cells are compared by.

    `type` is a key of `cells.RULES`. For "number", `comparison_mode` is one of `cells.NUMBER_MODES`,
    `comparison_digits` (0 to 30) goes with every mode but "integer", and `numeric_unit` is one of
    `cells.NUMBER_UNITS`; other types ignore these. `rule` raises EvaluationFatalError when they make no rule.
    """

    gold_index: int
    gold_name: str
    type: str
    comparison_mode: str | None = None
    comparison_digits: int | None = None
    allow_percent_sign: bool = False
    numeric_unit: str = "plain"

    @property
    def rule(self) -> Rule:
        """The rule that reads this column's cells; columns that are compared alike have equal rules."""
        try:
            if self.type == "number":
                return NumberRule(
                    self.comparison_mode, self.comparison_digits, self.allow_percent_sign, self.numeric_unit
                )
            return RULES[self.type]()
        except KeyError:
            reason = f"expected one of {_listed(RULES)} as type, got {self.type!r}"
        except ValueError as error:
            reason = str(error)
        raise EvaluationFatalError(f"column {self.gold_index} {quoted(self.gold_name)}: {reason}")


@dataclass(frozen=True)
class TaskConfig:
    """One task: its id `task_N`, whether the order of rows counts, and its columns in gold order.

    Raises EvaluationFatalError when there is no column or the columns' `gold_index` are not 0, 1, 2 and so on.
    """

    task_id: str
    order_sensitive: bool
    columns: Sequence[ColumnSpec]

    def __post_init__(self) -> None:
        indices = [column.gold_index for column in self.columns]
        if not indices or indices != list(range(len(indices))):
            raise EvaluationFatalError(
                f"task {quoted(self.task_id)}: expected columns 0, 1, 2 and so on, got {indices}"
            )


@dataclass(frozen=True)
class ConfigSet:
    """The configs of a benchmark in number order, and the SHA-256 of their files."""

    root: Path
    configs: tuple[TaskConfig, ...]
    sha256: str


def is_task_id(name: str) -> bool:
    """Return whether `name` is `task_N` with a decimal N without leading zeros."""
    return _TASK_ID.fullmatch(name) is not None


def task_number_key(task_id: str) -> tuple[int, str]:
    """Return a sort key that puts task ids in number order; a number of any length costs no more than its text."""
    return len(task_id), task_id


def default_config_root(gold_root: str | os.PathLike[str]) -> Path:
    """Return the config root of the release layout next to `gold_root` where it exists, else the bundled example's."""
    release = Path(gold_root) / ".." / "evaluation" / "configs"
    return release.resolve() if release.is_dir() else Path(__file__).resolve().parent.parent / "configs"


def load_config_set(config_root: str | os.PathLike[str]) -> ConfigSet:
    """Return the config set of every `task_*.json` directly in `config_root`.

    Raises EvaluationFatalError when the folder cannot be listed, holds no such file, or holds an invalid one.
    """
    root = Path(config_root)
    try:
        names = [name for name in os.listdir(root) if name.startswith("task_") and name.endswith(".json")]
    except (OSError, ValueError) as error:
        raise EvaluationFatalError(
            f"the config root {quoted(str(config_root))} cannot be listed ({type(error).__name__})"
        ) from None
    if not names:
        raise EvaluationFatalError(f"the config root {quoted(str(config_root))} holds no task_*.json")
    for name in sorted(names):
        if not is_task_id(Path(name).stem):
            _refuse(name, "", "a name task_N.json with N without leading zeros", name)
    digest = FileSetDigest()
    configs = []
    for name in sorted(names, key=task_number_key):
        data = _read_config_file(root / name)
        digest.add(name, data)
        configs.append(read_task_config(data, name))
    return ConfigSet(root, tuple(configs), digest.hexdigest())


def load_configs(config_root: str | os.PathLike[str]) -> list[TaskConfig]:
    """Return the configs of a config root in number order. Raises EvaluationFatalError as `load_config_set` does."""
    return list(load_config_set(config_root).configs)


def hash_config_set(config_root: str | os.PathLike[str]) -> str:
    """Return the digest of a config set, 64 hexadecimal digits. Raises as `load_config_set` does."""
    return load_config_set(config_root).sha256


def load_task_config(path: str | os.PathLike[str]) -> TaskConfig:
    """Return the task config in the file at `path`. Raises EvaluationFatalError when it is missing or invalid."""
    return read_task_config(_read_config_file(Path(path)), Path(path).name)


def read_task_config(data: bytes, name: str) -> TaskConfig:
    """Return the task config that the bytes of the file called `name` spell.

    Raises EvaluationFatalError, naming the file and the place in it, when they are not a valid config or when
    `task_id` is not the file's stem.
    """
    document = _object(
        name,
        "",
        _parse_json(data, name),
        required=("schema_version", "task_id", "order_sensitive", "columns"),
    )
    _one_of(name, "schema_version", document["schema_version"], (CONFIG_SCHEMA_VERSION,))
    task_id = document["task_id"]
    if not isinstance(task_id, str) or not is_task_id(task_id):
        _refuse(name, "task_id", "a string task_N with N without leading zeros", task_id)
    if task_id != Path(name).stem:
        _refuse(name, "task_id", f"the file's own name {quoted(Path(name).stem)}", task_id)
    order_sensitive = _boolean(name, "order_sensitive", document["order_sensitive"])
    columns = document["columns"]
    if not isinstance(columns, list) or not 1 <= len(columns) <= MAX_COLUMNS:
        _refuse(name, "columns", f"a list of 1 to {MAX_COLUMNS} columns", columns)
    specs = [_read_column(name, index, column) for index, column in enumerate(columns)]
    return TaskConfig(task_id, order_sensitive, tuple(specs))


def _read_column(name: str, index: int, value: object) -> ColumnSpec:
    where = f"columns[{index}]"
    column = _object(
        name,
        where,
        value,
        required=("gold_index", "gold_name", "type"),
        optional=("comparison", "unit", "allow_percent_sign"),
    )
    if _integer(name, f"{where}.gold_index", column["gold_index"], 0, MAX_COLUMNS - 1) != index:
        _refuse(name, f"{where}.gold_index", f"{index}, the column's position", column["gold_index"])
    gold_name = column["gold_name"]
    if not isinstance(gold_name, str):
        _refuse(name, f"{where}.gold_name", "a string", gold_name)
    column_type = _one_of(name, f"{where}.type", column["type"], tuple(RULES))
    if column_type != "number":
        for key in ("comparison", "unit", "allow_percent_sign"):
            if key in column:
                _refuse(name, f"{where}.{key}", f"no such key for type {column_type}", column[key])
        return ColumnSpec(index, gold_name, column_type)
    if "comparison" not in column:
        _refuse(name, f"{where}.comparison", "a comparison, required for type number")
    mode, digits = _read_comparison(name, f"{where}.comparison", column["comparison"])
    unit = _one_of(name, f"{where}.unit", column.get("unit", "plain"), NUMBER_UNITS)
    allow_percent_sign = _boolean(name, f"{where}.allow_percent_sign", column.get("allow_percent_sign", False))
    return ColumnSpec(index, gold_name, column_type, mode, digits, allow_percent_sign, unit)


def _read_comparison(name: str, where: str, value: object) -> tuple[str, int | None]:
    comparison = _object(name, where, value, required=("mode",), optional=("digits",))
    mode = _one_of(name, f"{where}.mode", comparison["mode"], NUMBER_MODES)
    if mode == "integer":
        if "digits" in comparison:
            _refuse(name, f"{where}.digits", "no such key for mode integer", comparison["digits"])
        return mode, None
    if "digits" not in comparison:
        _refuse(name, f"{where}.digits", f"an integer from 0 to {MAX_DIGITS}, required for mode {mode}")
    return mode, _integer(name, f"{where}.digits", comparison["digits"], 0, MAX_DIGITS)


def _read_config_file(path: Path) -> bytes:
    try:
        return read_file(path, _MAX_CONFIG_BYTES, follow_links=True).data
    except FileNotFoundError:
        raise EvaluationFatalError(f"config {quoted(path.name)} does not exist") from None
    except InputError as error:
        raise EvaluationFatalError(f"config {quoted(path.name)} {error}") from None


def _parse_json(data: bytes, name: str) -> object:
    """Return the JSON value in `data`: UTF-8, no key twice in an object, no NaN or infinity, numbers of sane length."""
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constant,
            parse_int=_short_integer,
        )
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8 (byte {error.start})"
    except json.JSONDecodeError as error:
        reason = f"is not JSON (line {error.lineno}, column {error.colno}: {error.msg})"
    except RecursionError:
        reason = "is nested too deeply"
    except _StrictJsonError as error:
        reason = str(error)
    raise EvaluationFatalError(f"config {quoted(name)} {reason}")


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


def _object(
    name: str, where: str, value: object, required: Sequence[str], optional: Sequence[str] = ()
) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        _refuse(name, where, "an object", value)
    for key in value:
        if key not in required and key not in optional:
            _refuse(name, where, f"only the keys {_listed((*required, *optional))}", key)
    for key in required:
        if key not in value:
            _refuse(name, f"{where}.{key}" if where else key, "a value, the key is required")
    return value


def _one_of(name: str, where: str, value: object, allowed: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        _refuse(name, where, f"one of {_listed(allowed)}" if len(allowed) > 1 else quoted(allowed[0]), value)
    return value


def _boolean(name: str, where: str, value: object) -> bool:
    if not isinstance(value, bool):
        _refuse(name, where, "true or false", value)
    return value


def _integer(name: str, where: str, value: object, low: int, high: int) -> int:
    """Return a JSON integer; like JSON Schema, take `2.0` for one, but no Boolean."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not low <= value <= high:  # type: ignore[operator]
        _refuse(name, where, f"an integer from {low} to {high}", value)
    return int(value)  # type: ignore[call-overload, no-any-return]


_NOTHING = object()


def _refuse(name: str, where: str, expected: str, got: object = _NOTHING) -> NoReturn:
    came = "nothing" if got is _NOTHING else _shown(got)
    place = f", {escape(where)}" if where else ""
    raise EvaluationFatalError(f"config {quoted(name)}{place}: expected {expected}, got {came}")


def _shown(value: object) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return json.dumps(value)


def _listed(names: Sequence[str] | Mapping[str, object]) -> str:
    return ", ".join(names)
