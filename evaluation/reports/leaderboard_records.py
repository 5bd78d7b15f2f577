"""A leaderboard for other programs: as JSON, and as CSV."""

from __future__ import annotations

import csv
import io

from ..leaderboard import Leaderboard, Row
from .records import cell
from .summary_json import inert, spelled

_COLUMNS = (
    *("rank", "tied", "name", "passed_task_count", "task_count", "task_accuracy", "interval_low", "interval_high"),
    *("run_count", "mean_accuracy", "accuracy_standard_error", "group", "group_leader_comparable"),
    *("gained_on_above", "lost_to_above", "p_value_above", "significant_above", "signature"),
)


def render_json(board: Leaderboard) -> str:
    """Return the leaderboard as JSON, an entry a line, with a newline at the end.

    Characters that cannot be seen as themselves are escaped as JSON does, so that they are still what they are.
    """
    return inert(spelled(board.to_dict()))


def render_csv(board: Leaderboard) -> str:
    """Return a header and a row per entry, in the order of the leaderboard.

    A cell is empty where there is nothing to tell: the p value of entries that are not comparable, the mean of a single
    run. A name that a spreadsheet would run as a formula has an apostrophe before.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in board.rows:
        writer.writerow(map(cell, _values(row)))
    return stream.getvalue()


def _values(row: Row) -> tuple[object, ...]:
    summary, above = row.entry.summary, row.above
    interval, repetition = summary.accuracy_interval, summary.repetition
    runs: tuple[object, ...] = (1, None, None)
    if repetition is not None:
        runs = (len(repetition.runs), float(repetition.mean_accuracy), repetition.accuracy_standard_error)
    return (
        *(row.rank, row.is_tied, row.entry.name),
        *(summary.passed_task_count, summary.task_count, summary.task_accuracy),
        *((interval.low, interval.high) if interval else (None, None)),
        *runs,
        *(row.group, None if row.leader is None else row.leader.is_comparable),
        *((None, None) if above is None else (above.gained, above.lost)),
        *((None, None) if above is None or not above.is_comparable else (above.p_value, above.is_significant)),
        summary.signature,
    )
