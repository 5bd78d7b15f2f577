"""The tasks one by one, for other programs: a CSV row or a JSON record each."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from ..errors import escape
from ..results import TaskEvaluationResult
from ..summary import Summary
from .explanation import agreeing_cells

_FACTS = (
    *("task_id", "passed", "score", "order_sensitive"),
    *("gold_column_count", "prediction_column_count", "gold_row_count", "prediction_row_count", "error_code", "error"),
)
_FINDINGS = (
    *("near_misses", "near_miss", "matched_rows", "missing_rows", "unexpected_rows", "agreeing_cells", "cells"),
)
# A spreadsheet would take a text that begins so for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@")


def render_csv(summary: Summary) -> str:
    """Return a header and a row per task, in number order: what was found, and what of the diagnosis is countable.

    `near_misses` are the codes of the likeliest change, joined by semicolons, and `near_miss` says it in words. A cell
    is empty where there is nothing to tell; a text that a spreadsheet would run as a formula has an apostrophe before.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow((*_FACTS, *_FINDINGS))
    for task in summary.tasks:
        document = task.to_dict()
        writer.writerow([cell(value) for value in (*(document[key] for key in _FACTS), *_findings(task))])
    return stream.getvalue()


def render_jsonl(summary: Summary) -> str:
    """Return a line per task, in number order: the task as it stands in the summary.

    Characters that cannot be seen as themselves are escaped as JSON does, so that they are still what they are.
    """
    lines = (json.dumps(task.to_dict(), ensure_ascii=False, allow_nan=False) for task in summary.tasks)
    return "".join(f"{escape(line, json_escape)}\n" for line in lines)


def json_escape(code: int) -> str:
    """Return a code point as JSON escapes it."""
    return json.dumps(chr(code))[1:-1]


def _findings(task: TaskEvaluationResult) -> Sequence[object]:
    diagnosis = task.diagnosis
    if diagnosis is None:
        return [None] * len(_FINDINGS)
    codes = ";".join(miss.code for miss in diagnosis.near_misses if miss.group == 0)
    rows = diagnosis.rows
    counts = (rows.matched, rows.missing, rows.unexpected, *agreeing_cells(task)) if rows else (None,) * 5
    return codes, next(iter(diagnosis.changes), None), *counts


def cell(value: object) -> str:
    """Return the text of a cell that a spreadsheet shows as it is: empty for None, escaped, and run as no formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = escape(str(value))
    return f"'{text}" if text.startswith(_FORMULA_STARTS) and isinstance(value, str) else text
