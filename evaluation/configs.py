"""Task configs: JSON files, validated as strictly as `schema/task_config.schema.json`, and the set of them.

`read_task_config` and the schema accept the same documents; the only rules beyond them are that `task_id` equals the
file's stem, and that checks can be read and can fail. The config set is the task list and the denominator, and its
digest identifies a benchmark.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .cells import MAX_DIGITS, NUMBER_MODES, NUMBER_UNITS, RULES, NumberRule, Rule
from .errors import EvaluationFatalError, Faults, quoted
from .files import FileSetDigest, read_author_file
from .strict_json import MOST_VALUE_DIGITS, JsonFile

# What only tasks with checks need is imported where they need it: starting is most of a small run's time.
if TYPE_CHECKING:
    from .checks import Check, CheckFunctions

# The second one added checks.
CONFIG_SCHEMA_VERSIONS = ("1.0", "1.1")
GOLD_FILE = "gold.csv"
GOLD_ANSWER_FILE = "gold.json"
PREDICTION_FILE = "prediction.csv"
ANSWER_FILES = ("prediction.json", "prediction.txt", PREDICTION_FILE)
MAX_COLUMNS = 64
# In the config root, but no part of the config set.
DATASET_EVALUATORS_FOLDER = "dataset_evaluators"
# Beside the gold root, in the layout of releases.
METADATA_FOLDER = "input"

_TASK_ID = re.compile(r"task_(?:0|[1-9][0-9]*)")


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
            reason = f"expected one of {', '.join(RULES)} as type, got {self.type!r}"
        except ValueError as error:
            reason = str(error)
        raise EvaluationFatalError(f"column {self.gold_index} {quoted(self.gold_name)}: {reason}")


@dataclass(frozen=True)
class TaskConfig:
    """One task whose answer is a table: its id `task_N`, whether the order of rows counts, its columns in gold order.

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

    @property
    def prediction_file(self) -> str:
        return PREDICTION_FILE

    @property
    def gold_file(self) -> str:
        return GOLD_FILE


@dataclass(frozen=True)
class CheckTaskConfig:
    """One task whose answer is no table: its id `task_N`, the checks that must pass, and the file that is the answer.

    `prediction_file` is one of ANSWER_FILES. Raises EvaluationFatalError when there is no check, or it is another file.
    """

    task_id: str
    checks: Sequence[Check]
    prediction_file: str = ANSWER_FILES[0]

    def __post_init__(self) -> None:
        if not self.checks or self.prediction_file not in ANSWER_FILES:
            raise EvaluationFatalError(
                f"task {quoted(self.task_id)}: expected at least one check, and as prediction file one of "
                f"{', '.join(ANSWER_FILES)}, got {len(self.checks)} and {quoted(self.prediction_file)}"
            )

    @property
    def gold_file(self) -> str | None:
        """The file that expected values come from; None where none does."""
        return GOLD_ANSWER_FILE if any(check.gold_chain is not None for check in self.checks) else None

    def custom_names(self, functions: CheckFunctions) -> set[str]:
        """Return the names of the plugins' functions that its checks use."""
        return {name for check in self.checks for name in check.custom_names(functions)}


AnyTaskConfig = TaskConfig | CheckTaskConfig


class ConfigSet(NamedTuple):
    """The configs of a benchmark in number order, the SHA-256 of their files, and the latest schema version in them.

    `functions` are those of plugins that checks can use, None where there are none.
    """

    root: Path
    configs: tuple[AnyTaskConfig, ...]
    sha256: str
    schema_version: str = CONFIG_SCHEMA_VERSIONS[0]
    functions: CheckFunctions | None = None

    def only(self, task_ids: Collection[str]) -> ConfigSet:
        """Return the configs of these tasks, with the digest of the whole set.

        Raises EvaluationFatalError when one of them is not in the set.
        """
        unknown = sorted(set(task_ids).difference(self.task_ids))
        if unknown:
            raise EvaluationFatalError(f"{', '.join(map(quoted, unknown))}: no such task in the config set")
        return self._replace(configs=tuple(config for config in self.configs if config.task_id in task_ids))

    @property
    def task_ids(self) -> list[str]:
        return [config.task_id for config in self.configs]

    @property
    def prediction_files(self) -> frozenset[str]:
        """The names of the files that are predictions of some task."""
        return frozenset(config.prediction_file for config in self.configs)

    @property
    def custom_names(self) -> tuple[str, ...]:
        """The names of the plugins' functions that checks use, sorted."""
        if self.functions is None:
            return ()
        checked = (config for config in self.configs if isinstance(config, CheckTaskConfig))
        return tuple(sorted({name for config in checked for name in config.custom_names(self.functions)}))

    @property
    def label_sources(self) -> dict[str, tuple[Rule, ...]]:
        """The distinct rules by gold name, of the names that no task gives to two columns."""
        rules: dict[str, dict[Rule, None]] = {}
        ambiguous = set()
        for config in self.configs:
            if isinstance(config, CheckTaskConfig):
                continue
            names = Counter(spec.gold_name for spec in config.columns)
            ambiguous |= {name for name, count in names.items() if count > 1}
            for spec in config.columns:
                rules.setdefault(spec.gold_name, {})[spec.rule] = None
        return {name: tuple(found) for name, found in rules.items() if name not in ambiguous}


def is_task_id(name: str) -> bool:
    """Return whether `name` is `task_N` with a decimal N without leading zeros."""
    return _TASK_ID.fullmatch(name) is not None


def task_number_key(task_id: str) -> tuple[int, str]:
    """Return a sort key that puts task ids in number order; a number of any length costs no more than its text."""
    return len(task_id), task_id


def default_config_root(gold_root: str | os.PathLike[str]) -> Path:
    """Return the config root of the release layout next to `gold_root` where it exists, else the bundled example's."""
    release = Path(gold_root) / ".." / "evaluation" / "configs"
    return release.resolve() if os.path.isdir(release) else Path(__file__).resolve().parent.parent / "configs"


def load_config_set(config_root: str | os.PathLike[str], functions: CheckFunctions | None = None) -> ConfigSet:
    """Return the config set of every `task_*.json` directly in `config_root`, whose checks may use the functions.

    Raises EvaluationFatalError when the folder cannot be listed, holds no such file, or holds invalid ones, with the
    fault of each.
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
    faults = Faults()
    digest = FileSetDigest()
    configs = []
    for name in sorted(names, key=task_number_key):
        try:
            if not is_task_id(os.path.splitext(name)[0]):
                _file(name).refuse("", "a name task_N.json with N without leading zeros", name)
            data = _read_file(os.path.join(root, name), name)
            digest.add(name, data)
            configs.append(_read_config(data, name, functions))
        except EvaluationFatalError as error:
            faults.add(error)
    faults.raise_any()
    latest = max(version for version, _ in configs)
    return ConfigSet(root, tuple(config for _, config in configs), digest.hexdigest(), latest, functions)


def load_configs(config_root: str | os.PathLike[str], functions: CheckFunctions | None = None) -> list[AnyTaskConfig]:
    """Return the configs of a config root in number order. Raises EvaluationFatalError as `load_config_set` does."""
    return list(load_config_set(config_root, functions).configs)


def hash_config_set(config_root: str | os.PathLike[str], functions: CheckFunctions | None = None) -> str:
    """Return the digest of a config set, 64 hexadecimal digits. Raises as `load_config_set` does."""
    return load_config_set(config_root, functions).sha256


def load_task_config(path: str | os.PathLike[str], functions: CheckFunctions | None = None) -> AnyTaskConfig:
    """Return the task config in the file at `path`. Raises EvaluationFatalError when it is missing or invalid."""
    name = os.path.basename(path)
    return read_task_config(_read_file(path, name), name, functions)


def read_task_config(data: bytes, name: str, functions: CheckFunctions | None = None) -> AnyTaskConfig:
    """Return the task config that the bytes of the file called `name` spell, whose checks may use the functions.

    Raises EvaluationFatalError, naming the file and the place in it, when they are not a valid config or when
    `task_id` is not the file's stem.
    """
    return _read_config(data, name, functions)[1]


def _read_config(data: bytes, name: str, functions: CheckFunctions | None) -> tuple[str, AnyTaskConfig]:
    """Return the schema version of a config, and the config."""
    file = _file(name)
    document = file.parse(data, most_digits=MOST_VALUE_DIGITS)
    if isinstance(document, dict) and "checks" in document:
        # What is expected there is compared exactly, and may be as long as in an answer.
        return _read_check_config(file, file.parse(data, exact=True, most_digits=MOST_VALUE_DIGITS), functions)
    keys: Mapping[str, object] = document if isinstance(document, dict) else {}
    if keys.get("schema_version") == CONFIG_SCHEMA_VERSIONS[1] and {"columns", "order_sensitive"}.isdisjoint(keys):
        file.refuse_because("", "expected checks, or columns and order_sensitive, got none of them")
    document = file.object_with("", document, required=("schema_version", "task_id", "order_sensitive", "columns"))
    version = file.one_of("schema_version", document["schema_version"], CONFIG_SCHEMA_VERSIONS)
    task_id = _read_task_id(file, document["task_id"])
    order_sensitive = file.boolean("order_sensitive", document["order_sensitive"])
    columns = document["columns"]
    if not isinstance(columns, list) or not 1 <= len(columns) <= MAX_COLUMNS:
        file.refuse("columns", f"a list of 1 to {MAX_COLUMNS} columns", columns)
    specs = [_read_column(file, index, column) for index, column in enumerate(columns)]
    return version, TaskConfig(task_id, order_sensitive, tuple(specs))


def _read_check_config(file: JsonFile, value: object, functions: CheckFunctions | None) -> tuple[str, CheckTaskConfig]:
    from .check_configs import read_checks
    from .checks import NO_FUNCTIONS

    document = file.object_with(
        "", value, required=("schema_version", "task_id", "checks"), optional=("prediction_file",)
    )
    version = file.one_of("schema_version", document["schema_version"], CONFIG_SCHEMA_VERSIONS[1:])
    task_id = _read_task_id(file, document["task_id"])
    prediction_file = file.one_of("prediction_file", document.get("prediction_file", ANSWER_FILES[0]), ANSWER_FILES)
    checks = read_checks(file, document["checks"], NO_FUNCTIONS if functions is None else functions)
    return version, CheckTaskConfig(task_id, checks, prediction_file)


def _read_task_id(file: JsonFile, value: object) -> str:
    if not isinstance(value, str) or not is_task_id(value):
        file.refuse("task_id", "a string task_N with N without leading zeros", value)
    stem = os.path.splitext(file.name)[0]
    if value != stem:
        file.refuse("task_id", f"the file's own name {quoted(stem)}", value)
    return value


def _read_column(file: JsonFile, index: int, value: object) -> ColumnSpec:
    where = f"columns[{index}]"
    column = file.object_with(
        where,
        value,
        required=("gold_index", "gold_name", "type"),
        optional=("comparison", "unit", "allow_percent_sign"),
    )
    if file.integer(f"{where}.gold_index", column["gold_index"], 0, MAX_COLUMNS - 1) != index:
        file.refuse(f"{where}.gold_index", f"{index}, the column's position", column["gold_index"])
    gold_name = file.string(f"{where}.gold_name", column["gold_name"])
    column_type = file.one_of(f"{where}.type", column["type"], tuple(RULES))
    if column_type != "number":
        for key in ("comparison", "unit", "allow_percent_sign"):
            if key in column:
                file.refuse(f"{where}.{key}", f"no such key for type {column_type}", column[key])
        return ColumnSpec(index, gold_name, column_type)
    if "comparison" not in column:
        file.refuse(f"{where}.comparison", "a comparison, required for type number")
    mode, digits = _read_comparison(file, f"{where}.comparison", column["comparison"])
    unit = file.one_of(f"{where}.unit", column.get("unit", "plain"), NUMBER_UNITS)
    allow_percent_sign = file.boolean(f"{where}.allow_percent_sign", column.get("allow_percent_sign", False))
    return ColumnSpec(index, gold_name, column_type, mode, digits, allow_percent_sign, unit)


def _read_comparison(file: JsonFile, where: str, value: object) -> tuple[str, int | None]:
    comparison = file.object_with(where, value, required=("mode",), optional=("digits",))
    mode = file.one_of(f"{where}.mode", comparison["mode"], NUMBER_MODES)
    if mode == "integer":
        if "digits" in comparison:
            file.refuse(f"{where}.digits", "no such key for mode integer", comparison["digits"])
        return mode, None
    if "digits" not in comparison:
        file.refuse(f"{where}.digits", f"an integer from 0 to {MAX_DIGITS}, required for mode {mode}")
    return mode, file.integer(f"{where}.digits", comparison["digits"], 0, MAX_DIGITS)


def _read_file(path: str | os.PathLike[str], name: str) -> bytes:
    return read_author_file(path, _file(name)).data


def _file(name: str) -> JsonFile:
    return JsonFile("config", name)
