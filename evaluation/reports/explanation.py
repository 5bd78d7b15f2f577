"""Why a task failed, in sentences and as rows to be set side by side: what every report says in its own form.

Texts are as long as a person reads, and still raw: control characters are escaped by whoever writes them down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from ..check_results import PASSED
from ..errors import REDACTED, counted, quoted
from ..findings import ColumnFinding, Diagnosis, RowDifference, RowFindings
from ..results import RUN_CODES, TaskEvaluationResult
from ..summary import Summary

# Near misses of these codes are about the table as a whole.
_OF_THE_WHOLE = ("delimiter", "encoding", "header_missing", "transposed")


def closest_first(summary: Summary) -> list[TaskEvaluationResult]:
    """Return the failed tasks, those nearest to passing first.

    Nearest are tasks that a known change would make pass, fewer changes before more; then the larger share of matched
    rows, or of passed checks, then of agreeing cells. Tasks without an answer of their own come last; ties are in
    number order.
    """
    return sorted((task for task in summary.tasks if not task.passed), key=_distance)


def _distance(task: TaskEvaluationResult) -> tuple[int, int, Fraction, Fraction]:
    diagnosis = task.diagnosis
    if task.error_code in RUN_CODES:
        right, checks = right_parts(task)
        return 1, 0, -Fraction(right, checks), Fraction(0)
    if diagnosis is None:
        return 2, 0, Fraction(0), Fraction(0)
    changes = sum(miss.group == 0 for miss in diagnosis.near_misses)
    rows = Fraction(0)
    if diagnosis.rows is not None:
        found = diagnosis.rows
        rows = Fraction(found.matched, max(1, found.matched + found.missing + found.unexpected))
    agreeing, cells = right_parts(task)
    return 0 if changes else 1, changes, -rows, -Fraction(agreeing, max(1, cells))


def right_parts(task: TaskEvaluationResult) -> tuple[int, int]:
    """Return how many cells agree under the nearest mapping, and of how many: those of the larger table.

    Of a task with checks return how many passed, and how many there are.
    """
    if task.checks:
        return sum(check.outcome == PASSED for check in task.checks), len(task.checks)
    columns = max(task.gold_column_count, task.prediction_column_count)
    rows = max(task.gold_row_count, task.prediction_row_count)
    found = task.diagnosis.columns if task.diagnosis else ()
    return sum(column.agreeing for column in found), columns * rows


def short_reason(task: TaskEvaluationResult) -> str:
    """Return why a task failed in one sentence part: its near miss, or the error and how much is right all the same."""
    diagnosis, error = task.diagnosis, task.error or ""
    if diagnosis is None or diagnosis.changes or diagnosis.rows is None:
        return diagnosis.changes[0] if diagnosis and diagnosis.changes else error
    rows = diagnosis.rows
    if not rows.matched:
        return error
    reason = f"{error}; {rows.matched} of {counted(task.gold_row_count, 'gold row')} matched"
    if rows.missing == rows.unexpected == 1 and rows.sample and rows.sample[0].differing:
        columns = [diagnosis.columns[i] for i in rows.sample[0].differing]
        names = ", ".join(f"{column.gold_index}{_name(column.gold_name)}" for column in columns[:3])
        more = ", …" if len(columns) > 3 else ""
        reason += (
            f"; row {rows.sample[0].prediction_row} differs in column{'s' if len(columns) > 1 else ''} {names}{more}"
        )
    return reason


def _name(name: str) -> str:
    """Return a name to be put after a number; what is redacted has none."""
    return "" if name == REDACTED else f" {quoted(name)}"


def _is_explained(diagnosis: Diagnosis) -> bool:
    """Return whether a near miss is about the whole table, so that rows and columns as they are say nothing."""
    return any(miss.group == 0 and miss.code in _OF_THE_WHOLE for miss in diagnosis.near_misses)


def finding_sentences(task: TaskEvaluationResult, most_columns: int = 16) -> Iterator[str]:
    """Yield how the rows compare, and then the columns that do not agree in full, at most so many one by one.

    Of a task with checks yield how each of them ended.
    """
    yield from check_sentences(task)
    diagnosis = task.diagnosis
    if diagnosis is None or diagnosis.rows is None or _is_explained(diagnosis):
        return
    if not diagnosis.complete:
        yield "not all cells were read, as the table is large: more may agree, match or be unreadable than is counted"
    yield _rows_sentence(task, diagnosis.rows)
    if diagnosis.rows.same_multiset:
        return
    columns = [
        column
        for column in diagnosis.columns
        if column.prediction_index is None or column.agreeing < task.gold_row_count or column.unreadable_count
    ]
    yield from (_column_sentence(task, column) for column in columns[:most_columns])
    if len(columns) > most_columns:
        yield f"not agreeing in full, too: {counted(len(columns) - most_columns, 'more column')}"
    partners = {column.prediction_index for column in diagnosis.columns}
    extra = (str(j) for j in range(task.prediction_column_count) if j not in partners)
    shown = list(islice(extra, most_columns + 1))
    if shown:
        listed = ", ".join([*shown[:most_columns], *(["…"] if len(shown) > most_columns else [])])
        yield f"prediction column{'s' if len(shown) > 1 else ''} {listed} without a partner in gold"


def check_sentences(task: TaskEvaluationResult) -> Iterator[str]:
    """Yield how each check of a task ended, and why where it did not pass."""
    for number, check in enumerate(task.checks, start=1):
        called = f"check {number}" + (f" {quoted(check.name)}" if check.name else "")
        yield f"{called}: {check.outcome}" + (f", {check.reason}" if check.reason else "")


def _rows_sentence(task: TaskEvaluationResult, rows: RowFindings) -> str:
    parts = [f"{rows.matched} of {counted(task.gold_row_count, 'gold row')} matched"]
    if rows.missing or rows.unexpected:
        parts.append(f"{rows.missing} missing, {rows.unexpected} unexpected")
    if rows.first_difference is not None:
        parts.append(f"the first difference is in row {rows.first_difference}")
        if rows.same_multiset:
            parts.append("the rows are the same in another order")
        elif rows.matched_in_any_order and rows.matched_in_any_order > rows.matched:
            parts.append(f"in any order, {rows.matched_in_any_order} would be matched")
    return "; ".join(parts)


def _column_sentence(task: TaskEvaluationResult, column: ColumnFinding) -> str:
    name = f"column {column.gold_index}{_name(column.gold_name)} ({column.type})"
    if column.prediction_index is None:
        return f"{name} has no partner in the prediction"
    partner = f"prediction column {column.prediction_index}{_name(column.prediction_name or '')}"
    sentence = f"{name} beside {partner}: {column.agreeing} of {counted(task.gold_row_count, 'cell')} agree"
    if column.unreadable_count:
        cells = ", ".join(f"row {cell.row} {quoted(cell.text)} {cell.reason}" for cell in column.unreadable)
        more = column.unreadable_count - len(column.unreadable)
        sentence += f"; {column.unreadable_count} unreadable: {cells}" + (f" and {more} more" if more > 0 else "")
    return sentence


class ComparedCell(NamedTuple):
    """A cell of gold and the prediction's cell in its place; None where there is none."""

    gold: str | None
    prediction: str | None
    differs: bool


class ComparedRow(NamedTuple):
    """A gold row and the prediction row beside it, numbered from 1; one of them may be None."""

    gold_row: int | None
    prediction_row: int | None
    cells: tuple[ComparedCell, ...]


class ComparedRows(NamedTuple):
    """Rows that differ, cut to some columns; `left_out` columns are not among them."""

    columns: tuple[ColumnFinding, ...]
    rows: tuple[ComparedRow, ...]
    left_out: int


def compared_rows(diagnosis: Diagnosis, most_columns: int) -> ComparedRows | None:
    """Return the rows that a diagnosis shows side by side, None where it shows none.

    Of more than `most_columns` columns only so many are shown, and those first that differ in some row.
    """
    rows = diagnosis.rows.sample if diagnosis.rows and not _is_explained(diagnosis) else ()
    if not rows:
        return None
    differing = {i for row in rows for i in row.differing}
    places = list(range(len(diagnosis.columns)))
    if len(places) > most_columns:
        places = sorted(places, key=lambda i: i not in differing)[:most_columns]
    return ComparedRows(
        tuple(diagnosis.columns[i] for i in places),
        tuple(ComparedRow(row.gold_row, row.prediction_row, _cells(row, places)) for row in rows),
        len(diagnosis.columns) - len(places),
    )


def _cells(row: RowDifference, places: Sequence[int]) -> tuple[ComparedCell, ...]:
    gold, prediction = row.gold_cells, row.prediction_cells
    found = []
    for i in places:
        one, other = (side[i] if side else None for side in (gold, prediction))
        # Beside a row of gold, a cell whose column has no partner is wrong, too.
        is_lacking = bool(gold and prediction) and other is None
        found.append(ComparedCell(one, other, i in row.differing or is_lacking))
    return tuple(found)


def row_lines(row: ComparedRow, show: Callable[[str], str]) -> Iterator[str]:
    """Yield the gold row and the prediction row, with ≠ before a cell that differs; `show` spells a cell."""
    if row.gold_row is not None:
        yield f"gold row {row.gold_row}: {', '.join(show(cell.gold or '') for cell in row.cells)}"
    if row.prediction_row is not None:
        cells = (
            ("≠ " if cell.differs else "") + ("(no column)" if cell.prediction is None else show(cell.prediction))
            for cell in row.cells
        )
        yield f"prediction row {row.prediction_row}: {', '.join(cells)}"


def columns_left_out(rows: ComparedRows) -> str | None:
    """Return a sentence on columns that are not shown, None where all are."""
    return f"{counted(rows.left_out, 'more column')} not shown" if rows.left_out else None
