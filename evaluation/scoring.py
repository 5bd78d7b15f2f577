"""One task, one prediction: one result."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .cells import Rule, first_unreadable
from .columns import TypedColumns
from .comparison import compare_tables
from .configs import AnyTaskConfig, ColumnSpec, TaskConfig
from .errors import (
    CellError,
    EvaluationFatalError,
    InputError,
    MappingBudgetError,
    counted,
    quoted,
)
from .files import FileContent, read_author_file
from .matching import is_matchable
from .results import LabelPair, TaskEvaluationResult
from .submissions import read_prediction
from .tables import DEFAULT_LIMITS, Table, TableLimits, parse_table
from .task_files import DEFAULT_OPTIONS, UNREADABLE, ScoringOptions, TaskFiles, fault_of, files_of

# What only failed tasks need is imported where they need it: starting is most of a small run's time.
if TYPE_CHECKING:
    from .checks import CheckFunctions
    from .findings import Diagnosis
    from .readings import GoldColumn, TextCounts


class Gold(NamedTuple):
    """A task's gold table, known to be valid, and its columns as their rules read them.

    `kinds[i]` is the place of column i's in `columns.rules`.
    """

    content: FileContent
    table: Table
    columns: TypedColumns
    kinds: Sequence[int]

    def values(self, column: int) -> Sequence[str | None]:
        """Return the canonical values of a column, row by row."""
        return self.columns.values(self.kinds[column], column) or []


@dataclass(frozen=True)
class ScoredTask:
    """A task's result beside the tables that it was found on; `prediction` is None where none could be read.

    `matches` is what the verdict found of single columns, as `Comparison.matches`; empty where it compared none.
    """

    config: TaskConfig
    gold: Gold
    prediction: Table | None
    result: TaskEvaluationResult
    matches: Sequence[Sequence[int]] = ()

    @cached_property
    def mapping(self) -> tuple[int | None, ...]:
        """Per gold column the prediction column taken for its: of a failed task, that of the nearest mapping."""
        if self.result.mapping is not None:
            return self.result.mapping
        if self.prediction is None:
            return (None,) * len(self.config.columns)
        from .nearest import nearest_mapping

        ordered = self.config.order_sensitive
        return nearest_mapping(
            self.gold_columns, self.prediction, ordered=ordered, matches=self.matches, counts=self.text_counts
        )

    @cached_property
    def text_counts(self) -> TextCounts:
        from .readings import TextCounts

        return TextCounts()

    @cached_property
    def gold_columns(self) -> list[GoldColumn]:
        from .readings import GoldColumn

        return [
            GoldColumn(spec.gold_name, spec.type, spec.rule, self.gold.table.columns[spec.gold_index])
            for spec in self.config.columns
        ]


def evaluate_task(
    *,
    config: AnyTaskConfig,
    prediction_path: str | os.PathLike[str],
    gold_path: str | os.PathLike[str] | None = None,
    functions: CheckFunctions | None = None,
) -> TaskEvaluationResult:
    """Return the result of one prediction file against one gold file, which a task of checks may do without.

    `functions` are those of plugins that checks may use. Raises EvaluationFatalError when the gold file is missing or
    invalid or the config makes no rule; whatever is wrong with the prediction is in the result.
    """
    name = quoted(Path(prediction_path).name)
    gold, gold_name = None, ""
    if config.gold_file is not None:
        if gold_path is None:
            raise EvaluationFatalError(f"task {quoted(config.task_id)} needs a gold file, got none")
        gold_name = quoted(Path(gold_path).name)
        gold = read_author_file(gold_path, f"gold file {gold_name}", DEFAULT_LIMITS.csv_bytes)
    files = files_of(config, gold, lambda: read_prediction(prediction_path, name, DEFAULT_LIMITS.csv_bytes))
    if isinstance(files, TaskFiles):
        return score_task(files, gold_name, name).result
    from .check_scoring import score_answer

    return score_answer(files, gold_name, name, functions=functions)


def score_task(files: TaskFiles, gold_name: str, name: str, options: ScoringOptions = DEFAULT_OPTIONS) -> ScoredTask:
    """Return the result of a prediction, called `name` in messages, against its gold file, called `gold_name`.

    Raises EvaluationFatalError when the gold file is no table that the config describes, or a gold label is too long.
    """
    config, label_sources = files.config, options.label_sources
    gold = _read_gold(config, files.gold, gold_name, options.limits)
    table, verdict = _verdict(files, gold, name, options)
    result = TaskEvaluationResult(
        task_id=config.task_id,
        order_sensitive=config.order_sensitive,
        gold_column_count=gold.table.column_count,
        prediction_column_count=table.column_count if table else 0,
        gold_row_count=gold.table.row_count,
        prediction_row_count=table.row_count if table else 0,
        mapping=verdict.mapping,
        error_code=verdict.error_code,
        error=verdict.error,
    )
    scored = ScoredTask(config, gold, table, result, verdict.matches)
    if options.diagnose and not result.passed and files.prediction is not None:
        result = replace(result, diagnosis=_diagnosis(scored, files.prediction.data, options))
        scored = replace(scored, result=result)
    if not label_sources or gold.table.row_count != 1:
        return scored
    pairs = tuple(_label_pair(scored, spec) for spec in config.columns if spec.gold_name in label_sources)
    return replace(scored, result=replace(result, labels=pairs))


def _diagnosis(scored: ScoredTask, data: bytes, options: ScoringOptions) -> Diagnosis:
    from .form_changes import FailedTask
    from .near_misses import diagnose

    task = FailedTask(
        scored.gold_columns,
        scored.gold.table,
        scored.config.order_sensitive,
        data,
        scored.prediction,
        options.limits,
        scored.mapping,
        scored.matches,
        scored.text_counts,
    )
    diagnosis = diagnose(task, name_columns=not options.redact_gold)
    return diagnosis.redacted() if options.redact_gold else diagnosis


def _read_gold(config: TaskConfig, content: FileContent, name: str, limits: TableLimits) -> Gold:
    """Return the gold table in a file called `name` in messages.

    Raises EvaluationFatalError when it is not a strict CSV table, not as wide as the config, or has a cell that its
    column's rule cannot read.
    """
    try:
        table = parse_table(content.data, limits)
    except InputError as error:
        raise EvaluationFatalError(f"gold file {name} {error}") from None
    if table.column_count != len(config.columns):
        raise EvaluationFatalError(
            f"gold file {name} has {counted(table.column_count, 'column')}, "
            f"expected {len(config.columns)} as in the config"
        )
    places: dict[Rule, int] = {}
    kinds = [places.setdefault(spec.rule, len(places)) for spec in config.columns]
    columns = TypedColumns(table.columns, list(places), ordered=config.order_sensitive)
    for spec, kind, texts in zip(config.columns, kinds, table.columns, strict=True):
        if not columns.is_readable(kind, spec.gold_index):
            raise EvaluationFatalError(
                *(
                    f"gold file {name}, column {_column(spec, redact)}: {first_unreadable(spec.rule, texts, redact)}"
                    for redact in (False, True)
                )
            )
    return Gold(content, table, columns, kinds)


def _label_pair(scored: ScoredTask, spec: ColumnSpec) -> LabelPair:
    """Return the gold cell of a one-row table and the prediction's cell in its place."""
    from .dataset_configs import MAX_LABEL_CHARACTERS

    (expected,) = scored.gold.values(spec.gold_index)
    if expected is not None and len(expected) > MAX_LABEL_CHARACTERS:
        raise EvaluationFatalError(
            *(
                f"gold file of {scored.config.task_id}, column {_column(spec, redact)}: expected a label of at most "
                f"{MAX_LABEL_CHARACTERS} characters, got {len(expected)}"
                for redact in (False, True)
            )
        )
    predicted, missing = _predicted_label(scored, spec)
    if predicted is not None and len(predicted) > MAX_LABEL_CHARACTERS:
        predicted = predicted[:MAX_LABEL_CHARACTERS] + "…"
    return LabelPair(spec.gold_name, expected, predicted, missing)


def _predicted_label(scored: ScoredTask, spec: ColumnSpec) -> tuple[str | None, str | None]:
    """Return the label, or why there is none."""
    table = scored.prediction
    if table is None:
        return None, scored.result.error_code
    if table.row_count != 1:
        return None, "several_rows" if table.row_count else "no_row"
    column = scored.mapping[spec.gold_index]
    if column is None:
        return None, "no_column"
    try:
        label = spec.rule.canonical(table.rows[0][column])
    except CellError:
        return None, "unreadable_cell"
    return label, "null_cell" if label is None else None


class _Verdict(NamedTuple):
    """A mapping, or an error code and a sentence; `matches` as in `ScoredTask`."""

    mapping: tuple[int, ...] | None
    error_code: str | None = None
    error: str | None = None
    matches: Sequence[Sequence[int]] = ()


def _verdict(files: TaskFiles, gold: Gold, name: str, options: ScoringOptions) -> tuple[Table | None, _Verdict]:
    """Return the prediction's table, None where there is none, and the verdict on it."""
    fault = fault_of(files, name)
    if fault is not None:
        return None, _Verdict(None, *fault)
    assert files.prediction is not None, "else it is missing"
    try:
        table = parse_table(files.prediction.data, options.limits)
    except InputError as error:
        return None, _Verdict(None, UNREADABLE, f"{name} {error}")
    return table, _compare_shapes(gold, table) or _compare_cells(files.config, gold, table, options.redact_gold)


def _compare_shapes(gold: Gold, prediction: Table) -> _Verdict | None:
    for code, noun, expected, got in (
        ("column_count_mismatch", "column", gold.table.column_count, prediction.column_count),
        ("row_count_mismatch", "data row", gold.table.row_count, prediction.row_count),
    ):
        if expected != got:
            return _Verdict(None, code, f"expected {counted(expected, noun)}, got {got}")
    return None


def _compare_cells(config: TaskConfig, gold: Gold, prediction: Table, redact: bool) -> _Verdict:
    """Compare two tables of equal shape."""
    columns = gold.columns.beside(prediction.columns)
    try:
        comparison = compare_tables(gold.table, gold.columns, gold.kinds, prediction, columns)
    except MappingBudgetError as error:
        return _Verdict(None, "mapping_search_exhausted", str(error))
    if comparison.mapping is not None:
        return _Verdict(comparison.mapping)
    places = range(prediction.column_count)
    readable = [[j for j in places if columns.is_readable(kind, j)] for kind in gold.kinds]
    if not is_matchable(readable):
        why = _why_unreadable(config, prediction, readable, redact)
        return _Verdict(None, "type_normalization_failed", why, comparison.matches)
    why = _why_unequal(config, comparison.matches, redact)
    return _Verdict(None, "relation_mismatch", why, comparison.matches)


def _why_unreadable(config: TaskConfig, prediction: Table, readable: Sequence[Sequence[int]], redact: bool) -> str:
    """Return why no mapping fits the types: the first gold column left without a partner, and what is in its place."""
    place = next(i for i in range(len(config.columns)) if not is_matchable(readable[: i + 1]))
    spec = config.columns[place]
    reason = (
        f"{'too few prediction columns are' if readable[place] else 'no prediction column is'} readable as gold column"
    )
    fault = first_unreadable(spec.rule, prediction.columns[place], redact)
    return f"{reason} {_column(spec, redact)}" + (f"; in prediction column {place}, {fault}" if fault else "")


def _why_unequal(config: TaskConfig, matches: Sequence[Sequence[int]], redact: bool) -> str:
    """Return why no mapping makes the tables equal: the first gold column whose values no prediction column holds."""
    order = " in the same order" if config.order_sensitive else ""
    for spec, candidates in zip(config.columns, matches, strict=True):
        if not candidates:
            return f"no prediction column holds the values of gold column {_column(spec, redact)}{order}"
    if not is_matchable(matches):
        return f"too few prediction columns hold the values of the gold columns{order}"
    return "every column's values are there, but not together in the same rows"


def _column(spec: ColumnSpec, redact: bool) -> str:
    return f"{spec.gold_index} ({spec.type})" if redact else f"{spec.gold_index} {quoted(spec.gold_name)} ({spec.type})"
