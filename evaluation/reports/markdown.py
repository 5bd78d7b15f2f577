"""The summary as GitHub Markdown: for a step summary or a comment, where it is read as rendered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..classification import DatasetEvaluation
from ..errors import escape
from ..results import TaskEvaluationResult
from ..summary import Summary
from .explanation import closest_first, columns_left_out, compared_rows, finding_sentences
from .fitting import Piece, fitted
from .folds import evaluation_sentences, matrix, result_text
from .text import cut, headline, identity, interval_text, notices, run_notes
from .views import views

_SHOWN_COLUMNS = 8
_SHOWN_CHARACTERS = 60
_SHOWN_SENTENCE = 600
# Whatever is not one of these says itself inside backticks, in a cell of a table too.
_NOT_LITERAL = re.compile(r"[`|\\<>&]|^\s|\s$|\s\s|^$")
# An underscore inside a word is no markup.
_SPECIAL = re.compile(r"[\\`*{}\[\]<>|&~$@#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?<=:)//|(?<=www)\.")
_BLOCK = re.compile(r"^(?:[-+=]+|\d+[.)])(?=\s|$)")

# What is dropped last stands first.
_KINDS = {
    "headline": "headlines",
    "reasons": "tables of reasons",
    "task": "failed tasks",
    "view": "tables of runs and groups",
    "notice": "notices",
    "fold": "results over all tasks",
    "detail": "row tables",
}


def render(summary: Summary, max_bytes: int) -> str:
    """Return the summary as Markdown of at most `max_bytes` bytes of UTF-8, the failed tasks closest to passing first.

    Where that is not enough, parts are dropped: first the tables of differing rows, those of the tasks farthest from
    passing before others, then the results over all tasks, the notices, the tables of runs and of groups, the failed
    tasks and the reasons. The headline, less than 1,000 bytes, always stays.
    """

    def note(dropped: str) -> str:
        return f"\n_Left out for want of space: {dropped}._\n"

    return fitted(list(_pieces(summary)), _KINDS, max_bytes, note, lambda text: len(text.encode("utf-8")))


def _pieces(summary: Summary) -> Iterator[Piece]:
    yield Piece("headline", f"## {headline(summary)}\n\n{interval_text(summary)}. {plain(identity(summary))}.\n")
    reasons = summary.failure_counts.items()
    if reasons:
        yield Piece("reasons", "\n### Failures by reason\n\n" + table(("reason", "tasks"), reasons, numbers=1))
    for view in views(summary):
        rows = [(literal(first), *map(plain, others)) for first, *others in view.rows]
        header = tuple(map(plain, view.header))
        notes = "".join(f"\n{plain(note)}\n" for note in view.notes)
        yield Piece("view", f"\n### {plain(view.title)}\n\n{table(header, rows, numbers=len(header) - 1)}{notes}")
    for text in notices(summary):
        yield Piece("notice", f"\n{plain(text)}\n")
    for evaluation in summary.dataset_evaluations:
        yield Piece("fold", _dataset_evaluation(evaluation))
    if summary.summary_evaluations:
        rows = [
            (
                literal(evaluation.name),
                plain(cut(result_text(evaluation), _SHOWN_SENTENCE)),
                plain(evaluation.comment or ""),
            )
            for evaluation in summary.summary_evaluations
        ]
        yield Piece("fold", "\n### Summary evaluators\n\n" + table(("name", "result", "comment"), rows))
    heading = "\n### Failed tasks, closest to passing first\n"
    runs = run_notes(summary)
    for task in closest_first(summary):
        yield Piece("task", heading + _task(task, runs.get(task.task_id, "")))
        heading = ""
        details = _details(task)
        if details:
            yield Piece("detail", details)


def _dataset_evaluation(evaluation: DatasetEvaluation) -> str:
    lines = [f"\n### {literal(evaluation.evaluator.id)}\n", *map(plain, evaluation_sentences(evaluation))]
    shown = matrix(evaluation)
    if shown is None:
        return "\n".join(lines) + "\n"
    rows = [(literal(name), *counts) for name, counts in zip(shown.rows, shown.counts, strict=True)]
    header = ("expected \\ predicted", *map(literal, shown.columns))
    return "\n".join(lines) + "\n\n" + table(header, rows, numbers=len(shown.columns))


def _task(task: TaskEvaluationResult, runs: str) -> str:
    """Return a failed task's heading, what would make it pass, and why it failed."""
    lines = [f"\n#### {plain(task.task_id)}: {plain((task.error_code or '') + runs)}\n"]
    changes = task.diagnosis.changes if task.diagnosis else []
    lines += [f"- **near miss: {plain(cut(change, _SHOWN_SENTENCE))}**" for change in changes[:1]]
    lines += [f"- or: {plain(cut(change, _SHOWN_SENTENCE))}" for change in changes[1:]]
    lines.append(f"- {plain(cut(task.error or '', _SHOWN_SENTENCE))}")
    return "\n".join(lines) + "\n"


def _details(task: TaskEvaluationResult) -> str:
    """Return what was found, and the rows that differ, gold above the prediction."""
    sentences = [f"- {plain(cut(sentence, _SHOWN_SENTENCE))}" for sentence in finding_sentences(task, _SHOWN_COLUMNS)]
    lines = "\n".join(sentences) + "\n" if sentences else ""
    shown = compared_rows(task.diagnosis, _SHOWN_COLUMNS) if task.diagnosis else None
    if shown is None:
        return lines
    left_out = columns_left_out(shown)
    rows: list[tuple[str, ...]] = []
    for row in shown.rows:
        if row.gold_row is not None:
            rows.append((f"gold {row.gold_row}", *(_cell(cell.gold, cell.differs) for cell in row.cells)))
        if row.prediction_row is not None:
            cells = (_cell(cell.prediction, cell.differs) for cell in row.cells)
            rows.append((f"prediction {row.prediction_row}", *cells))
    header = ("row", *(literal(column.gold_name) for column in shown.columns))
    return lines + "\n" + table(header, rows) + (f"\n{left_out}\n" if left_out else "")


def _cell(text: str | None, differs: bool) -> str:
    """Return a cell of a row, marked where it differs."""
    shown = "(no column)" if text is None else literal(text) if text else "(empty)"
    return f"**≠** {shown}" if differs else shown


def table(header: Sequence[str], rows: Iterable[Sequence[object]], numbers: int = 0) -> str:
    """Return a table of cells that are Markdown; the last `numbers` columns are aligned to the right."""
    marks = ["---"] * (len(header) - numbers) + ["---:"] * numbers
    lines = [header, marks, *rows]
    return "".join(f"| {' | '.join(map(str, cells))} |\n" for cells in lines)


def literal(text: str, most: int = _SHOWN_CHARACTERS) -> str:
    """Return `text` as a piece of code that shows it as it is, cut to what a person compares by eye."""
    shown = cut(escape(text), most)
    if not _NOT_LITERAL.search(shown):
        return f"`{shown}`"
    return f"<code>{''.join(c if c.isalnum() else f'&#{ord(c)};' for c in shown)}</code>"


def plain(text: str) -> str:
    """Return `text` so that nothing in it is markup, a link, or the name of a user or an issue."""
    shown = _SPECIAL.sub(_inert, escape(text)).lstrip()
    # At the beginning of a line these would make a list, a heading or a line.
    return _BLOCK.sub(lambda match: "".join(f"&#{ord(character)};" for character in match.group()), shown)


def _inert(match: re.Match[str]) -> str:
    text = "".join(f"&#{ord(character)};" for character in match.group())
    # What is told apart from what follows is no mention.
    return f"<span>{text}</span>" if match.group() in "@#" else text
