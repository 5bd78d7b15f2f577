"""The failed tasks in full as plain Markdown: for a language model, or to be pasted into a chat window."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import escape
from ..results import TaskEvaluationResult
from ..summary import Summary
from .explanation import closest_first, columns_left_out, compared_rows, finding_sentences, row_lines
from .fitting import Piece, fitted
from .folds import evaluation_sentences, result_text
from .markdown import literal, plain
from .text import cut, headline, identity, interval_text, notices, run_notes, shape_text
from .views import views

_SHOWN_COLUMNS = 16
_SHOWN_CHARACTERS = 120
_SHOWN_SENTENCE = 1_000

# What is dropped last stands first.
_KINDS = {
    "headline": "headlines",
    "task": "failed tasks",
    "finding": "findings",
    "fold": "results over all tasks",
    "rows": "row lists",
    "passed": "passed tasks",
}


def render(summary: Summary, max_characters: int, *, with_passed: bool = False) -> str:
    """Return the summary in at most `max_characters` characters, the failed tasks farthest from passing first.

    Passed tasks are there only when asked for. Where the space is not enough, parts are dropped: first the passed
    tasks, then the lists of differing rows, the results over all tasks, the findings, and at last the failed tasks, of
    each those at the end before others. The headline, less than 1,000 characters, always stays.
    """

    def note(dropped: str) -> str:
        return f"\nLeft out for want of space: {dropped}.\n"

    return fitted(list(_pieces(summary, with_passed)), _KINDS, max_characters, note)


def _pieces(summary: Summary, with_passed: bool) -> Iterator[Piece]:
    reasons = ", ".join(f"{code} {count}" for code, count in summary.failure_counts.items())
    yield Piece(
        "headline",
        f"# {headline(summary)}\n\n{interval_text(summary)}. {plain(identity(summary))}.\n"
        + (f"Failures by reason: {reasons}.\n" if reasons else ""),
    )
    for view in views(summary):
        rows = (", ".join(map(span, row[:1])) + ": " + ", ".join(map(plain, row[1:])) for row in view.rows)
        lines = [f"{plain(view.title)} ({', '.join(map(span, view.header[1:]))}):", *(f"- {row}" for row in rows)]
        yield Piece("fold", "\n" + "\n".join([*lines, *map(plain, view.notes)]) + "\n")
    for text in notices(summary):
        yield Piece("fold", f"\n{plain(cut(text, _SHOWN_SENTENCE))}.\n")
    for evaluation in summary.dataset_evaluations:
        lines = [plain(cut(text, _SHOWN_SENTENCE)) for text in evaluation_sentences(evaluation)]
        yield Piece("fold", f"\n{span(evaluation.evaluator.id)}: " + "\n".join(lines) + "\n")
    for result in summary.summary_evaluations:
        comment = f" ({plain(result.comment)})" if result.comment else ""
        yield Piece("fold", f"\n{span(result.name)}: {plain(cut(result_text(result), _SHOWN_SENTENCE))}{comment}\n")
    runs = run_notes(summary)
    for task in reversed(closest_first(summary)):
        yield from _task(task, runs.get(task.task_id, ""))
    if with_passed:
        yield from _passed(summary)


def _task(task: TaskEvaluationResult, runs: str) -> Iterator[Piece]:
    lines = [f"\n## {plain(task.task_id)}: {plain((task.error_code or '') + runs)}\n"]
    lines.append(f"- error: {plain(cut(task.error or '', _SHOWN_SENTENCE))}")
    changes = task.diagnosis.changes if task.diagnosis else []
    lines += [f"- near miss: {plain(cut(change, _SHOWN_SENTENCE))}" for change in changes]
    yield Piece("task", "\n".join(lines) + "\n")
    findings = [f"- {plain(cut(sentence, _SHOWN_SENTENCE))}\n" for sentence in finding_sentences(task)]
    if findings:
        yield Piece("finding", "".join(findings))
    shown = compared_rows(task.diagnosis, _SHOWN_COLUMNS) if task.diagnosis else None
    if shown is not None:
        names = ", ".join(span(column.gold_name) for column in shown.columns)
        left_out = columns_left_out(shown)
        lines = [f"- rows that differ, where marked with ≠; columns {names}" + (f", {left_out}" if left_out else "")]
        for row in shown.rows:
            lines += (f"  - {line}" for line in row_lines(row, span))
        yield Piece("rows", "\n".join(lines) + "\n")


def _passed(summary: Summary) -> Iterator[Piece]:
    heading, runs = "\n## Passed\n\n", run_notes(summary)
    for task in summary.tasks:
        if task.passed:
            called = plain(task.task_id + runs.get(task.task_id, ""))
            yield Piece("passed", f"{heading}- {called}: {shape_text(task)}\n")
            heading = ""


def span(text: str) -> str:
    """Return `text` as a code span, (empty) for nothing; with a backtick in it as code of another kind."""
    if not text:
        return "(empty)"
    shown = cut(escape(text), _SHOWN_CHARACTERS)
    if "`" in shown or shown != shown.strip():
        return literal(text, _SHOWN_CHARACTERS)
    return f"`{shown}`"
