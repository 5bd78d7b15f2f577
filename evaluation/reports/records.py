"""The tasks one by one, for other programs: a CSV row or a JSON record each."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence

from ..check_results import OUTCOMES
from ..errors import escape
from ..results import TaskEvaluationResult
from ..summary import Summary
from .explanation import right_parts
from .summary_json import inert

_FACTS = (
    *("task_id", "passed", "score", "order_sensitive"),
    *("gold_column_count", "prediction_column_count", "gold_row_count", "prediction_row_count", "error_code", "error"),
)
_FINDINGS = (
    *("near_misses", "near_miss", "matched_rows", "missing_rows", "unexpected_rows", "agreeing_cells", "cells"),
)
_CHECKS = ("checks", *(f"{outcome}_checks" for outcome in OUTCOMES))
# A spreadsheet would take a text that begins so for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@")


def render_csv(summary: Summary) -> str:
    """Return a header and a row per task, in number order: what was found, and what of the diagnosis is countable.

    `near_misses` are the codes of the likeliest change, joined by semicolons, and `near_miss` says it in words. Where
    some task has checks, `checks` are their outcomes, joined alike. A cell is empty where there is nothing to tell; a
    text that a spreadsheet would run as a formula has an apostrophe before.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    runs = list(_runs(summary))
    has_checks = any(task.checks for task in summary.tasks)
    writer.writerow((*_FACTS, *_FINDINGS, *(_CHECKS if has_checks else ()), *(runs[0] if runs else ())))
    for place, task in enumerate(summary.tasks):
        document = task.to_dict()
        of_runs = runs[place].values() if runs else ()
        checks = _checks(task) if has_checks else ()
        values = (*(document[key] for key in _FACTS), *_findings(task), *checks, *of_runs)
        writer.writerow([cell(value) for value in values])
    return stream.getvalue()


def render_jsonl(summary: Summary) -> str:
    """Return a line per task, in number order: the task as it stands in the summary.

    Characters that cannot be seen as themselves are escaped as JSON does, so that they are still what they are.
    """
    runs = list(_runs(summary)) or [{}] * len(summary.tasks)
    documents = (task.to_dict() | of_runs for task, of_runs in zip(summary.tasks, runs, strict=True))
    lines = (json.dumps(document, ensure_ascii=False, allow_nan=False) for document in documents)
    return inert("".join(f"{line}\n" for line in lines))


def _runs(summary: Summary) -> Iterator[dict[str, object]]:
    """Yield, of several runs, that whose result stands for each task, and in how many of them it passed."""
    repetition = summary.repetition
    if repetition is not None:
        for case, place in zip(repetition.cases, repetition.shown, strict=True):
            name = repetition.runs[place].name
            yield {"run": name, "passed_runs": case.passed_runs, "run_count": case.run_count}


def _findings(task: TaskEvaluationResult) -> Sequence[object]:
    diagnosis = task.diagnosis
    if diagnosis is None:
        return [None] * len(_FINDINGS)
    codes = ";".join(miss.code for miss in diagnosis.near_misses if miss.group == 0)
    rows = diagnosis.rows
    counts = (rows.matched, rows.missing, rows.unexpected, *right_parts(task)) if rows else (None,) * 5
    return codes, next(iter(diagnosis.changes), None), *counts


def _checks(task: TaskEvaluationResult) -> Sequence[object]:
    if not task.checks:
        return [None] * len(_CHECKS)
    outcomes = [check.outcome for check in task.checks]
    return ";".join(outcomes), *map(outcomes.count, OUTCOMES)


def cell(value: object) -> str:
    """Return the text of a cell that a spreadsheet shows as it is: empty for None, escaped, and run as no formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = escape(str(value))
    return f"'{text}" if text.startswith(_FORMULA_STARTS) and isinstance(value, str) else text
