"""The folds over all tasks for a person at a terminal: dataset evaluators and summary evaluators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..classification import DatasetEvaluation
from ..dataset_configs import RATE_TYPES
from ..errors import counted, escape, quoted
from ..summary import Summary
from ..summary_evaluations import SummaryEvaluation
from .folds import SHOWN_CLASSES, matrix, metric_text, result_text
from .text import BOLD, RED, ConsoleStyle, cut, listed, score_text

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
            f"  {style.paint(BOLD, escape(evaluator.id) + score)}  {metric_text(evaluation)}, "
            f"{evaluation.n_scored} of {counted(evaluation.n_total, 'datapoint')} scored"
        )
        yield from _reason_lines("skipped", evaluation.skipped)
        yield from _reason_lines("no label, scored as a miss", evaluation.unlabelled)
        yield from _undefined_lines(evaluation)
        counted_alike = (evaluation.classes, evaluation.counts)
        if counted_alike in shown:
            yield f"    the matrix is that of {escape(shown[counted_alike])}"
        else:
            shown[counted_alike] = evaluator.id
            yield from _matrix_lines(evaluation)


def _reason_lines(what: str, task_ids: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for reason, found in task_ids.items():
        yield f"    {what}: {reason} {listed(found)}"


def _undefined_lines(evaluation: DatasetEvaluation) -> Iterator[str]:
    if evaluation.n_scored == 0:
        return
    undefined = evaluation.undefined
    for metric in RATE_TYPES:
        if metric == evaluation.evaluator.type and undefined[metric]:
            labels = ", ".join(quoted(label) for label in undefined[metric][:SHOWN_CLASSES])
            more = len(undefined[metric]) - SHOWN_CLASSES
            yield (
                f"    undefined, taken as {evaluation.evaluator.zero_division}: {metric} of {labels}"
                + (f" and {more} more" if more > 0 else "")
            )
    if undefined["score"]:
        yield f"    undefined, taken as {evaluation.evaluator.zero_division}: the score"


def _matrix_lines(evaluation: DatasetEvaluation) -> Iterator[str]:
    """Yield the confusion matrix as a table; labels outside the classes and no label only where there are any."""
    shown = matrix(evaluation)
    if shown is None:
        yield f"    the matrix of {len(evaluation.classes)} classes is in the summary"
        return
    table = [
        ["expected \\ predicted", *map(_short, shown.columns)],
        *([_short(name), *map(str, counts)] for name, counts in zip(shown.rows, shown.counts, strict=True)),
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        first, *rest = (text.rjust(width) for text, width in zip(line, widths, strict=True))
        yield "    " + "  ".join([first, *rest])


def _short(label: str) -> str:
    return cut(escape(label), _SHOWN_LABEL)


def _summary_evaluation_lines(evaluations: Sequence[SummaryEvaluation], style: ConsoleStyle) -> Iterator[str]:
    if evaluations:
        yield "Summary evaluations:"
    for evaluation in evaluations:
        name = escape(evaluation.name)
        if evaluation.error is not None:
            yield f"  {style.paint(RED, name)}  {escape(result_text(evaluation))}"
            continue
        shown = escape(result_text(evaluation))
        comment = "" if evaluation.comment is None else f"  {escape(evaluation.comment)}"
        yield f"  {style.paint(BOLD, f'{name}  {shown}')}{comment}"
