"""The summary as one HTML page: readable without scripts, offline, on a phone, in print."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterator

from ..classification import DatasetEvaluation
from ..errors import escape
from ..metrics import Interval
from ..results import RUN_CODES, TaskEvaluationResult
from ..summary import Summary
from .explanation import (
    ComparedCell,
    ComparedRow,
    ComparedRows,
    closest_first,
    columns_left_out,
    compared_rows,
    finding_sentences,
    right_parts,
    short_reason,
)
from .fitting import Piece, fitted
from .folds import evaluation_sentences, matrix, result_text
from .html_style import SCRIPT, STYLE
from .text import cut, headline, interval_text, notices, percentage, run_notes
from .views import views

MOST_BYTES = 4_500_000
_LEAST_BYTES = 500_000
_SHOWN_COLUMNS = 8
_SHOWN_CHARACTERS = 120
_SHOWN_SENTENCE = 400
_SHADES = 5

# What is dropped last stands first; what is not dropped is the page itself.
_KINDS = {"page": "parts", "task": "explanations", "rows": "row tables"}


def render(summary: Summary) -> str:
    """Return the page: the headline, reasons, results over all tasks, a table of the tasks, and why each failed.

    It stays below 5 MB where the rest is shorter than 4 MB, as it is for some thousand tasks: where more is needed, row
    tables of failed tasks are dropped first, then explanations, those of the tasks farthest from passing before others.
    """
    explained = list(_explanations(summary))

    def note(dropped: str) -> str:
        return f"<p>Left out for want of space: {text(dropped)}.</p>\n"

    body = "".join((*_header(summary), *_reasons(summary), *_views(summary), *_folds(summary), *_task_table(summary)))
    left = max(_LEAST_BYTES, MOST_BYTES - size_of(body))
    body += fitted(explained, _KINDS, left, note, size_of)
    return page(headline(summary), body, script=SCRIPT)


def page(title: str, body: str, *, more_style: str = "", script: str = "") -> str:
    """Return a whole page around a body of HTML: it loads nothing, and runs no script but the one given."""
    style = STYLE + more_style
    allowed = f"script-src '{_digest(script)}'; " if script else ""
    policy = f"default-src 'none'; style-src '{_digest(style)}'; {allowed}base-uri 'none'; form-action 'none'"
    end = f"<script>{script}</script>\n" if script else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}{end}</body>\n</html>\n"
    )


def size_of(source: str) -> int:
    """Return how many bytes a text is on a page."""
    return len(source.encode("utf-8"))


def _digest(source: str) -> str:
    """Return what the policy allows an inline style or script by."""
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode('utf-8')).digest()).decode('ascii')}"


def text(raw: str, most: int = _SHOWN_SENTENCE) -> str:
    """Return a text as HTML, cut when longer, with what could not be seen as itself escaped."""
    return html.escape(cut(escape(raw), most))


def _header(summary: Summary) -> Iterator[str]:
    yield f"<header>\n<h1>{text(headline(summary)).replace(' %', '&nbsp;%')}</h1>\n"
    if summary.accuracy_interval is not None and summary.task_accuracy is not None:
        yield drawn(summary.accuracy_interval, summary.task_accuracy, f"{headline(summary)}, {interval_text(summary)}")
    yield f'<p class="faint">{text(interval_text(summary))}</p>\n<dl>\n'
    for name, value in (
        ("configs, SHA-256", summary.config_set_sha256),
        ("gold, SHA-256", summary.gold_set_sha256),
        ("predictions, SHA-256", summary.prediction_set_sha256),
        ("evaluator", summary.evaluator_version),
        ("signature", summary.signature),
    ):
        if value is not None:
            yield f"<dt>{name}</dt><dd>{text(value)}</dd>\n"
    yield "</dl>\n"
    for notice in notices(summary):
        yield f"<p>{text(notice)}.</p>\n"
    yield "</header>\n"


def drawn(interval: Interval, rate: float, label: str) -> str:
    """Return a scale from 0 to 100 %, the interval, and the rate in it."""
    # The mark is 0.6 % wide, and stays on the scale.
    low, width, mark = (
        f"{100 * share:.1f}" for share in (interval.low, interval.high - interval.low, min(rate, 0.994))
    )
    return (
        f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{text(label)}">'
        f'<rect class="track" x="0" y="4" width="100" height="2"/><rect class="range" x="{low}" y="2" '
        f'width="{width}" height="6"/><rect class="point" x="{mark}" y="0" width=".6" height="10"/></svg>\n'
    )


def _reasons(summary: Summary) -> Iterator[str]:
    if not summary.failure_counts:
        return
    yield "<section>\n<h2>Failures by reason</h2>\n"
    total = len(summary.tasks)
    parts = [("passed", summary.passed_task_count), *summary.failure_counts.items()]
    start = 0.0
    bars = []
    for place, (_, count) in enumerate(parts):
        width = 100 * count / total
        kind = "passed" if place == 0 else "reason" if place % 2 else "reason odd"
        # A gap tells neighbours apart without their colours.
        bars.append(f'<rect class="{kind}" x="{start:.2f}" y="2" width="{max(width - 0.4, 0.1):.2f}" height="6"/>')
        start += width
    listed = ", ".join(f"{name} {count}" for name, count in parts)
    yield f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{text(listed)}">'
    yield f'{"".join(bars)}</svg>\n<ol class="key">\n'
    for name, count in parts:
        yield f"<li>{text(name)}: <b>{count}</b></li>\n"
    yield "</ol>\n</section>\n"


def _folds(summary: Summary) -> Iterator[str]:
    for evaluation in summary.dataset_evaluations:
        yield f"<section>\n<h2>{text(evaluation.evaluator.id)}</h2>\n"
        for sentence in evaluation_sentences(evaluation):
            yield f"<p>{text(sentence)}</p>\n"
        yield from _heat_map(evaluation)
        yield "</section>\n"
    if summary.summary_evaluations:
        yield "<section>\n<h2>Summary evaluators</h2>\n"
        yield from scroll("summary evaluators", "")
        yield table_head("name", "result", "comment")
        for result in summary.summary_evaluations:
            cells = (result.name, result_text(result), result.comment or "")
            yield f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in cells)}</tr>\n"
        yield "</tbody></table></div>\n</section>\n"


def _views(summary: Summary) -> Iterator[str]:
    for view in views(summary):
        yield f"<section>\n<h2>{text(view.title)}</h2>\n"
        yield from scroll(view.title, "view")
        yield table_head(*view.header)
        for first, *others in view.rows:
            cells = "".join(f'<td class="number">{text(cell)}</td>' for cell in others)
            yield f'<tr><th scope="row">{text(first)}</th>{cells}</tr>\n'
        yield "</tbody></table></div>\n"
        yield from (f"<p>{text(note)}.</p>\n" for note in view.notes)
        yield "</section>\n"


def table_head(*names: str) -> str:
    """Return the head of a table with these columns, of raw text, and the beginning of its body."""
    cells = "".join(f'<th scope="col">{text(name)}</th>' for name in names)
    return f"<thead><tr>{cells}</tr></thead>\n<tbody>\n"


def scroll(label: str, kind: str) -> Iterator[str]:
    """Yield the beginning of a table that scrolls by itself where it is too wide."""
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="{text(label)}"><table class="{kind}">\n'


def _heat_map(evaluation: DatasetEvaluation) -> Iterator[str]:
    shown = matrix(evaluation)
    if shown is None:
        yield f"<p>The matrix of {len(evaluation.classes)} classes is in the summary.</p>\n"
        return
    yield from scroll(f"confusion matrix of {evaluation.evaluator.id}", "")
    yield "<caption>Rows: expected. Columns: predicted. A stronger colour is a larger share of the row.</caption>\n"
    names = "".join(f'<th scope="col">{text(name, 40)}</th>' for name in shown.columns)
    yield f'<thead><tr><th scope="col">expected \\ predicted</th>{names}</tr></thead>\n<tbody>\n'
    for row, (name, counts) in enumerate(zip(shown.rows, shown.counts, strict=True)):
        cells = []
        for column, count in enumerate(counts):
            shade = -(-_SHADES * count // max(1, sum(counts)))
            diagonal = " diagonal" if row == column < len(evaluation.classes) else ""
            cells.append(f'<td class="number h{shade}{diagonal}">{count}</td>')
        yield f'<tr><th scope="row">{text(name, 40)}</th>{"".join(cells)}</tr>\n'
    yield "</tbody></table></div>\n"


def _task_table(summary: Summary) -> Iterator[str]:
    options = "".join(f'<option value="{text(code)}">{text(code)}</option>' for code in summary.failure_counts)
    yield (
        "<section>\n<h2>Tasks</h2>\n"
        '<form id="filter" hidden><label>Search <input type="search" name="words"></label>'
        '<label>State <select name="state"><option value="">all</option>'
        '<option value="passed">passed</option><option value="failed">failed</option>'
        f'{options}</select></label><output id="shown" aria-live="polite"></output></form>\n'
    )
    yield (
        '<table id="task-table"><thead><tr><th scope="col">task</th><th scope="col">state</th>'
        '<th scope="col">near miss, or why it failed</th>'
        '<th scope="col">cells or checks right</th></tr></thead>\n<tbody>\n'
    )
    runs = run_notes(summary)
    for number, task in enumerate(summary.tasks):
        yield _task_row(number, task, runs.get(task.task_id, ""))
    yield "</tbody></table>\n</section>\n"


def _task_row(number: int, task: TaskEvaluationResult, runs: str) -> str:
    name = text(task.task_id)
    state = "passed" if task.passed else task.error_code or ""
    why = "" if task.passed else short_reason(task)
    right, parts = right_parts(task)
    is_known = task.error_code in RUN_CODES or (task.diagnosis is not None and task.diagnosis.rows is not None)
    share = "100.0 %" if task.passed else percentage(right, parts) if is_known and parts else ""
    link = name if task.passed else f'<a href="#{name}">{name}</a>'
    return (
        f'<tr data-state="{text(state)}"><td data-key="{number}">{link}</td>'
        f'<td data-key="{text(state)}" class="{"pass" if task.passed else "fail"}">{text(state + runs)}</td>'
        f'<td data-key="{text(why, 40)}">{text(why)}</td>'
        f'<td data-key="{share.removesuffix(" %")}" class="number">{share}</td></tr>\n'
    )


def _explanations(summary: Summary) -> Iterator[Piece]:
    failed = closest_first(summary)
    if not failed:
        return
    # Every element is closed by the one after it, so that the tables at its end can be left out.
    yield Piece(
        "page",
        "<section>\n<h2>Failed tasks, closest to passing first</h2>\n"
        "<details><summary>How to read this</summary>\n<p>Columns are aligned by the nearest mapping: that with the "
        "most cells alike. Cells right are those that agree under it, of all that the larger table has; of an answer "
        "that is no table, checks right are those that passed. A cell with ≠ before it differs once both sides are "
        "read under the column's rule. What stands beside a coloured bar is a near miss, all that is wrong: once "
        "mended, the whole table passed.</p>\n",
    )
    for task in failed:
        yield Piece("task", f"</details>\n{''.join(_explanation(task))}")
        shown = compared_rows(task.diagnosis, _SHOWN_COLUMNS) if task.diagnosis else None
        if shown:
            yield Piece("rows", "".join(_rows(task, shown)))
    yield Piece("page", "</details>\n</section>\n")


def _explanation(task: TaskEvaluationResult) -> Iterator[str]:
    name, code = text(task.task_id), text(task.error_code or "")
    yield f'<details id="{name}"><summary>{name} <span>{code}</span></summary>\n'
    changes = task.diagnosis.changes if task.diagnosis else []
    for place, change in enumerate(changes):
        yield f"<p>or: {text(change)}</p>\n" if place else f'<p class="change">{text(change)}</p>\n'
    sentences = (task.error or "", *finding_sentences(task))
    yield f"<ul>{''.join(f'<li>{text(sentence)}</li>' for sentence in sentences)}</ul>\n"


def _rows(task: TaskEvaluationResult, shown: ComparedRows) -> Iterator[str]:
    """Yield gold and the prediction side by side: two cells per column, aligned by the nearest mapping."""
    yield from scroll(f"rows of {task.task_id} that differ", "cells")
    left_out = columns_left_out(shown)
    yield f"<caption>Rows that differ, gold beside the prediction{f'; {left_out}' if left_out else ''}</caption>\n"
    names = "".join(
        f'<th scope="colgroup" colspan="2">{text(column.gold_name, 60)} '
        f'<span class="faint">({text(column.type)})</span></th>'
        for column in shown.columns
    )
    partners = "".join(
        f'<th scope="col">gold</th><th scope="col" class="prediction">{_partner(column.prediction_name)}</th>'
        for column in shown.columns
    )
    yield f'<thead><tr><th rowspan="2" scope="col">row</th>{names}</tr><tr>{partners}</tr></thead>\n<tbody>\n'
    for row in shown.rows:
        cells = "".join(map(_pair, row.cells))
        yield f'<tr><th scope="row">{_numbers(row)}</th>{cells}</tr>\n'
    yield "</tbody></table></div>\n"


def _partner(name: str | None) -> str:
    return "no prediction column" if name is None else f"prediction, {text(name, 60) or 'no name'}"


def _numbers(row: ComparedRow) -> str:
    gold = "not in gold" if row.gold_row is None else f"gold {row.gold_row}"
    prediction = "missing" if row.prediction_row is None else f"prediction {row.prediction_row}"
    return f"{gold}, {prediction}"


def _pair(cell: ComparedCell) -> str:
    mark = " differs" if cell.differs else ""
    return f'<td class="gold{mark}">{_shown(cell.gold)}</td><td class="prediction{mark}">{_shown(cell.prediction)}</td>'


def _shown(raw: str | None) -> str:
    if raw is None:
        return '<span class="nothing">none</span>'
    return text(raw, _SHOWN_CHARACTERS) if raw else '<span class="nothing">empty</span>'
