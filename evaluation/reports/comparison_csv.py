"""The tasks that changed, for other programs: a CSV row each."""

from __future__ import annotations

import csv
import io

from ..summary_comparison import Comparison
from .records import cell

_HEADER = ("baseline", "summary", "task_id", "change", "error_code", "error")


def render(comparison: Comparison) -> str:
    """Return a header and a row per pair and changed task: of each pair the tasks gained, then those lost.

    `error_code` and `error` are those of the side that failed. A text that a spreadsheet would run as a formula has an
    apostrophe before.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_HEADER)
    for pair in comparison.pairs:
        for change, tasks in (("gained", pair.gained), ("lost", pair.lost)):
            for task in tasks:
                row = (comparison.baseline_name, pair.name, task.task_id, change, task.error_code, task.error)
                writer.writerow(map(cell, row))
    return stream.getvalue()
