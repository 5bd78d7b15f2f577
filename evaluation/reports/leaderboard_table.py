"""What every leaderboard for people shows: the title, the columns with their cells, and the sentences around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import counted
from ..leaderboard import SIGNIFICANCE_LEVEL, Contest, Leaderboard, Row
from .text import interval_bounds, listed, percentage

# The first two; the others are numbers, aligned to the right.
TEXT_COLUMNS = ("rank", "name")
_RUN_COLUMNS = ("runs", "mean of runs", "standard error")
_NOT_COMPARABLE = "not comparable"
_SHOWN_LEAST_P = 0.0001


def title(board: Leaderboard) -> str:
    """Return how many systems there are, and over how many tasks."""
    return f"Leaderboard: {counted(len(board.rows), 'system')}, {counted(board.task_count, 'task')}"


def number_columns(board: Leaderboard) -> Sequence[str]:
    """Return the heads of the columns after the name; those of runs only where an entry has several."""
    runs = _RUN_COLUMNS if board.has_repetitions else ()
    return ("passed", "accuracy", "95 % interval", *runs, "group", "p, to above")


def number_cells(board: Leaderboard, row: Row) -> Sequence[str]:
    """Return the cells of a row under `number_columns`; where there is nothing to tell they are empty."""
    summary = row.entry.summary
    passed, total = summary.passed_task_count, summary.task_count
    runs = _run_cells(row) if board.has_repetitions else ()
    unsure = row.leader is not None and not row.leader.is_comparable
    return (
        f"{passed}/{total}",
        percentage(passed, total),
        "" if summary.accuracy_interval is None else interval_bounds(summary.accuracy_interval),
        *runs,
        f"{row.group}?" if unsure else str(row.group),
        "" if row.above is None else _p_text(row.above),
    )


def _run_cells(row: Row) -> Sequence[str]:
    repetition = row.entry.summary.repetition
    if repetition is None:
        return "1", "", ""
    mean, error = repetition.mean_accuracy, repetition.accuracy_standard_error
    shown = "not known" if error is None else f"{100 * error:.1f} %"
    return str(len(repetition.runs)), percentage(mean.numerator, mean.denominator), shown


def _p_text(contest: Contest) -> str:
    if contest.p_value is None:
        return _NOT_COMPARABLE
    shown = f"{contest.p_value:.4f}" if contest.p_value >= _SHOWN_LEAST_P else f"<{_SHOWN_LEAST_P}"
    return f"{shown}*" if contest.is_significant else shown


def remarks(board: Leaderboard) -> Iterator[str]:
    """Yield what a reader should know: raw text, a sentence part each."""
    if board.gold_set_sha256 is None:
        yield "Gold is redacted in every summary: that all were scored against the same gold is not known"
    signatures = board.signatures
    if len(signatures) == 1:
        yield f"Signature: {next(iter(signatures))}"
    else:
        yield (
            f"There are {len(signatures)} signatures, and entries whose signatures differ are not comparable: "
            "none of them is called significantly different from the other"
        )
        for signature, names in signatures.items():
            yield f"Signature {signature} of {listed(names)}"
    if any(row.leader is not None and not row.leader.is_comparable for row in board.rows):
        yield "An entry with a ? behind its group is not comparable with the first of it: nothing shows a difference"
    if len(board.rows) > 1:
        yield (
            "p is that of the exact McNemar test on the verdicts of the same tasks, against the entry above; * is "
            f"below {SIGNIFICANCE_LEVEL}. An entry begins a new group when it differs so from the first of the group "
            "above. Nothing is corrected for the number of comparisons"
        )
