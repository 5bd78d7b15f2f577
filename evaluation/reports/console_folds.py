"""The folds over all tasks for a person at a terminal: dataset evaluators and summary evaluators."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from ..classification import DatasetEvaluation
from ..dataset_configs import RATE_TYPES
from ..errors import counted, escape, quoted
from ..summary import Summary
from ..summary_evaluations import SummaryEvaluation
from .text import BOLD, RED, ConsoleStyle, listed, score_text

_SHOWN_CLASSES = 20
_SHOWN_LABEL = 24


def fold_lines(summary: Summary, style: ConsoleStyle) -> Iterator[str]:
    """Yield the lines on the dataset evaluators and on the summary evaluators."""
    yield from _dataset_lines(summary.dataset_evaluations, style)
    yield from _summary_evaluation_lines(summary.summary_evaluations, style)


def _dataset_lines(evaluations: Sequence[DatasetEvaluation], style: ConsoleStyle) -> Iterator[str]:
    """Yield per dataset evaluator its score, what it left out or took for granted, and each matrix once."""
    if evaluations:
        yield "Dataset evaluations:"
    shown: dict[object, str] = {}
    for evaluation in evaluations:
        evaluator = evaluation.evaluator
        score = "" if evaluator.type == "confusion_matrix" else f"  {score_text(evaluation.score)}"
        yield (
            f"  {style.paint(BOLD, escape(evaluator.id) + score)}  {_metric(evaluation)}, "
            f"{evaluation.n_scored} of {counted(evaluation.n_total, 'datapoint')} scored"
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


def _reason_lines(what: str, task_ids: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for reason, found in task_ids.items():
        yield f"    {what}: {reason} {listed(found)}"


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
            yield f"  {style.paint(RED, name)}  error: {escape(evaluation.error)}"
            continue
        results = (evaluation.score, evaluation.value)
        shown = "  ".join(escape(json.dumps(result, ensure_ascii=False)) for result in results if result is not None)
        comment = "" if evaluation.comment is None else f"  {escape(evaluation.comment)}"
        yield f"  {style.paint(BOLD, f'{name}  {shown}')}{comment}"
