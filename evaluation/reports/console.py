"""The short result for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import counted, escape, quoted
from ..results import TaskEvaluationResult
from ..summary import Summary
from .text import (
    BOLD,
    GREEN,
    RED,
    SHOWN_DIGEST,
    YELLOW,
    ConsoleStyle,
    cut,
    headline,
    interval_text,
    notices,
    percentage,
    run_notes,
    shape_text,
)

# Of more columns those are shown that differ.
_SHOWN_COLUMNS = 16
_SHOWN_CELL = 60


def render(summary: Summary, style: ConsoleStyle, config_root: str, written_to: str | None) -> str:
    """Return the result in lines: accuracy, config set, failures by reason, unscored predictions, tasks, folds, output.

    `config_root` and `written_to` are shown as given; a `written_to` of None leaves its line out.
    """
    lines = [
        style.paint(BOLD, _accuracy(summary)),
        f"Config set: {escape(config_root)} ({counted(summary.task_count, 'task')}, "
        f"SHA-256 {summary.config_set_sha256[:SHOWN_DIGEST]}…)",
    ]
    if summary.failure_counts:
        lines.append("Failures by reason:")
        width = max(map(len, summary.failure_counts))
        lines += [f"  {code:<{width}}  {count}" for code, count in summary.failure_counts.items()]
    lines += [style.paint(YELLOW, escape(text)) for text in notices(summary)]
    lines += _task_lines(summary, style)
    if summary.repetition is not None or summary.metadata is not None:
        lines += _view_lines(summary)
    lines.append(f"Signature: {summary.signature}")
    if summary.dataset_evaluations or summary.summary_evaluations:
        from .console_folds import fold_lines

        lines += fold_lines(summary, style)
    if written_to is not None:
        lines.append(f"Summary written to {escape(written_to)}")
    return "\n".join(lines) + "\n"


def _accuracy(summary: Summary) -> str:
    if summary.is_partial:
        return headline(summary)
    passed, total = summary.passed_task_count, summary.task_count
    return f"Task accuracy: {passed}/{total} = {percentage(passed, total)} ({interval_text(summary)})"


def _view_lines(summary: Summary) -> Iterator[str]:
    """Yield the tables of runs and of the breakdown."""
    from .aligned import aligned
    from .views import views

    for view in views(summary):
        yield f"{escape(view.title)}:"
        rows = [[cut(escape(cell), _SHOWN_CELL) for cell in row] for row in (view.header, *view.rows)]
        yield from (f"  {line}" for line in aligned(rows))
        yield from (f"  {escape(note)}" for note in view.notes)


def _task_lines(summary: Summary, style: ConsoleStyle) -> Iterator[str]:
    notes = run_notes(summary)
    for task in summary.tasks:
        called = task.task_id + escape(notes.get(task.task_id, ""))
        if task.passed and style.passed_tasks:
            yield f"{style.paint(GREEN, 'passed')}  {called}  {shape_text(task)}"
        if not task.passed and style.failed_tasks:
            why = task.error or ""
            if task.diagnosis is not None:
                from .explanation import short_reason

                reason = short_reason(task)
                why = reason if reason.startswith(why) else f"{why}; {reason}"
            yield f"{style.paint(RED, 'failed')}  {called}  {task.error_code}: {escape(why)}"
            if style.findings:
                yield from (f"  {escape(sentence)}" for sentence in _findings(task))


def _findings(task: TaskEvaluationResult) -> Iterator[str]:
    """Yield what else is known of a failed task: other changes, checks, rows and columns, and rows that differ."""
    from .explanation import columns_left_out, compared_rows, finding_sentences, row_lines

    diagnosis = task.diagnosis
    yield from (f"or: {change}" for change in (diagnosis.changes[1:] if diagnosis else ()))
    yield from finding_sentences(task)
    shown = compared_rows(diagnosis, _SHOWN_COLUMNS) if diagnosis else None
    for row in shown.rows if shown else ():
        yield from row_lines(row, quoted)
    if shown and shown.left_out:
        yield columns_left_out(shown) or ""
