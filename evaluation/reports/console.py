"""The short result for a person at a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..classification import DatasetEvaluation
from ..dataset_configs import RATE_TYPES
from ..errors import escape, quoted
from ..results import TaskEvaluationResult
from ..summary import Summary
from ..summary_evaluations import SummaryEvaluation

_SHOWN_TASK_IDS = 5
_SHOWN_CLASSES = 20
_SHOWN_LABEL = 24
_SHOWN_DIGEST = 12
_BOLD, _RED, _GREEN, _YELLOW = "1", "31", "32", "33"


@dataclass(frozen=True)
class ConsoleStyle:
    """What to print: a line per failed task, a line per passed task, colour."""

    failed_tasks: bool = True
    passed_tasks: bool = False
    colour: bool = False

    def paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


def render(summary: Summary, style: ConsoleStyle, config_root: str, written_to: str | None) -> str:
    """Return the result in lines: accuracy, config set, failures by reason, unscored predictions, tasks, folds, output.

    `config_root` and `written_to` are shown as given; a `written_to` of None leaves its line out.
    """
    lines = [
        style.paint(_BOLD, _accuracy(summary)),
        f"Config set: {escape(config_root)} ({_count(summary.task_count, 'task')}, "
        f"SHA-256 {summary.config_set_sha256[:_SHOWN_DIGEST]}…)",
    ]
    if summary.failure_counts:
        lines.append("Failures by reason:")
        width = max(map(len, summary.failure_counts))
        lines += [f"  {code:<{width}}  {count}" for code, count in summary.failure_counts.items()]
    if summary.unscored_prediction_tasks:
        lines.append(style.paint(_YELLOW, _unscored(summary.unscored_prediction_tasks)))
    lines += _task_lines(summary, style)
    lines += _dataset_lines(summary.dataset_evaluations, style)
    lines += _summary_evaluation_lines(summary.summary_evaluations, style)
    if written_to is not None:
        lines.append(f"Summary written to {escape(written_to)}")
    return "\n".join(lines) + "\n"


def percentage(passed: int, total: int) -> str:
    """Return passed / total as a percentage with one decimal; 0.0 and 100.0 stand for none and all only."""
    tenths = (2000 * passed + total) // (2 * total)
    if 0 < passed < total:
        tenths = min(max(tenths, 1), 999)
    return f"{tenths // 10}.{tenths % 10} %"


def _accuracy(summary: Summary) -> str:
    passed, total, interval = summary.passed_task_count, summary.task_count, summary.accuracy_interval
    return (
        f"Task accuracy: {passed}/{total} = {percentage(passed, total)} "
        f"({100 * interval.level:.0f} % interval {100 * interval.low:.1f} % to {100 * interval.high:.1f} %)"
    )


def _unscored(task_ids: Sequence[str]) -> str:
    return f"Unscored predictions (not in the config set): {_task_ids(task_ids)}"


def _task_ids(task_ids: Sequence[str]) -> str:
    more = len(task_ids) - _SHOWN_TASK_IDS
    shown = ", ".join(task_ids[:_SHOWN_TASK_IDS]) + (f" and {more} more" if more > 0 else "")
    return f"{len(task_ids)} ({shown})"


def _task_lines(summary: Summary, style: ConsoleStyle) -> Iterator[str]:
    for task in summary.tasks:
        if task.passed and style.passed_tasks:
            yield f"{style.paint(_GREEN, 'passed')}  {task.task_id}  {_shape(task)}"
        if not task.passed and style.failed_tasks:
            yield f"{style.paint(_RED, 'failed')}  {task.task_id}  {task.error_code}: {escape(task.error or '')}"


def _shape(task: TaskEvaluationResult) -> str:
    order = "in order" if task.order_sensitive else "in any order"
    return f"{_count(task.gold_row_count, 'row')} {order}, {_count(task.gold_column_count, 'column')}"


def _dataset_lines(evaluations: Sequence[DatasetEvaluation], style: ConsoleStyle) -> Iterator[str]:
    """Yield per dataset evaluator its score, what it left out or took for granted, and each matrix once."""
    if evaluations:
        yield "Dataset evaluations:"
    shown: dict[object, str] = {}
    for evaluation in evaluations:
        evaluator = evaluation.evaluator
        score = "" if evaluator.type == "confusion_matrix" else f"  {score_text(evaluation.score)}"
        yield (
            f"  {style.paint(_BOLD, escape(evaluator.id) + score)}  {_metric(evaluation)}, "
            f"{evaluation.n_scored} of {_count(evaluation.n_total, 'datapoint')} scored"
        )
        yield from _reason_lines("skipped", evaluation.skipped)
        yield from _reason_lines("no label, scored as a miss", evaluation.unlabelled)
        yield from _undefined_lines(evaluation)
        matrix = (evaluation.classes, evaluation.counts)
        if matrix in shown:
            yield f"    the matrix is that of {escape(shown[matrix])}"
        else:
            shown[matrix] = evaluator.id
            yield from _matrix_lines(evaluation)


def _metric(evaluation: DatasetEvaluation) -> str:
    """Return what the score is, such as "macro f_score (beta 2) of 'intent'"."""
    evaluator = evaluation.evaluator
    beta = f" (beta {evaluator.beta})" if evaluator.type == "f_score" and evaluator.beta != 1 else ""
    of_class = f" of class {quoted(evaluator.positive_class)}" if evaluator.positive_class is not None else ""
    average = f"{evaluator.average} " if evaluator.average else ""
    return f"{average}{evaluator.type}{beta}{of_class} of {quoted(evaluator.source)}"


def score_text(score: Fraction | float | None) -> str:
    """Return a score with four decimals, "no score" for None; 0.0000 and ±1.0000 stand for exactly these only."""
    if score is None:
        return "no score"
    size = abs(Fraction(score))
    if 0 < size < 1:
        size = min(max(size, Fraction(1, 10000)), Fraction(9999, 10000))
    return f"{'-' if score < 0 else ''}{float(size):.4f}"


def _reason_lines(what: str, task_ids: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for reason, found in task_ids.items():
        yield f"    {what}: {reason} {_task_ids(found)}"


def _undefined_lines(evaluation: DatasetEvaluation) -> Iterator[str]:
    if evaluation.n_scored == 0:
        return
    undefined = evaluation.undefined
    for metric in RATE_TYPES:
        if metric == evaluation.evaluator.type and undefined[metric]:
            labels = ", ".join(quoted(label) for label in undefined[metric][:_SHOWN_CLASSES])
            more = len(undefined[metric]) - _SHOWN_CLASSES
            yield (
                f"    undefined, taken as {evaluation.evaluator.zero_division}: {metric} of {labels}"
                + (f" and {more} more" if more > 0 else "")
            )
    if undefined["score"]:
        yield f"    undefined, taken as {evaluation.evaluator.zero_division}: the score"


def _matrix_lines(evaluation: DatasetEvaluation) -> Iterator[str]:
    """Yield the confusion matrix as a table; labels outside the classes and no label only where there are any."""
    size = len(evaluation.classes)
    if size > _SHOWN_CLASSES:
        yield f"    the matrix of {size} classes is in the summary"
        return
    names = [*map(_short, evaluation.classes), "(other)", "(none)"]
    cells = evaluation.counts.cells
    rows = [row for row in range(size + 1) if row < size or any(cells[row])]
    columns = [column for column in range(size + 2) if column < size or any(row[column] for row in cells)]
    table = [
        ["expected \\ predicted", *(names[column] for column in columns)],
        *([names[row], *(str(cells[row][column]) for column in columns)] for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        first, *rest = (text.rjust(width) for text, width in zip(line, widths, strict=True))
        yield "    " + "  ".join([first, *rest])


def _short(label: str) -> str:
    shown = escape(label)
    return shown if len(shown) <= _SHOWN_LABEL else shown[: _SHOWN_LABEL - 1] + "…"


def _summary_evaluation_lines(evaluations: Sequence[SummaryEvaluation], style: ConsoleStyle) -> Iterator[str]:
    if evaluations:
        yield "Summary evaluations:"
    for evaluation in evaluations:
        name = escape(evaluation.name)
        if evaluation.error is not None:
            yield f"  {style.paint(_RED, name)}  error: {escape(evaluation.error)}"
            continue
        results = (evaluation.score, evaluation.value)
        shown = "  ".join(escape(json.dumps(result, ensure_ascii=False)) for result in results if result is not None)
        comment = "" if evaluation.comment is None else f"  {escape(evaluation.comment)}"
        yield f"  {style.paint(_BOLD, f'{name}  {shown}')}{comment}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
