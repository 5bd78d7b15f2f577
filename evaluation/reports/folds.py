"""The folds over all tasks as reports show them: what a score is of, and the confusion matrix without empty margins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from ..classification import DatasetEvaluation
from ..errors import counted, quoted
from ..summary_evaluations import SummaryEvaluation
from .text import listed, score_text

# Of more classes the matrix is in the summary only.
SHOWN_CLASSES = 20


class Matrix(NamedTuple):
    """A confusion matrix: how often each column's label was predicted where each row's was expected."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def metric_text(evaluation: DatasetEvaluation) -> str:
    """Return what the score is, such as "macro f_score (beta 2) of 'intent'"."""
    evaluator = evaluation.evaluator
    beta = f" (beta {evaluator.beta})" if evaluator.type == "f_score" and evaluator.beta != 1 else ""
    of_class = f" of class {quoted(evaluator.positive_class)}" if evaluator.positive_class is not None else ""
    average = f"{evaluator.average} " if evaluator.average else ""
    return f"{average}{evaluator.type}{beta}{of_class} of {quoted(evaluator.source)}"


def evaluation_sentences(evaluation: DatasetEvaluation) -> Iterator[str]:
    """Yield what was scored and how well, and then what was left out or taken for granted, each with its tasks."""
    score = "" if evaluation.evaluator.type == "confusion_matrix" else f"{score_text(evaluation.score)}: "
    scored = f"{evaluation.n_scored} of {counted(evaluation.n_total, 'datapoint')} scored"
    yield f"{score}{metric_text(evaluation)}, {scored}."
    for what, found in (("Skipped", evaluation.skipped), ("No label, scored as a miss", evaluation.unlabelled)):
        for reason, task_ids in found.items():
            yield f"{what}: {reason} {listed(task_ids)}."


def matrix(evaluation: DatasetEvaluation) -> Matrix | None:
    """Return the matrix, with labels outside the classes and no label only where there are any.

    None where there are more classes than can be shown.
    """
    size = len(evaluation.classes)
    if size > SHOWN_CLASSES:
        return None
    names = (*evaluation.classes, "(other)", "(none)")
    cells = evaluation.counts.cells
    rows = [row for row in range(size + 1) if row < size or any(cells[row])]
    columns = [column for column in range(size + 2) if column < size or any(row[column] for row in cells)]
    return Matrix(
        tuple(names[row] for row in rows),
        tuple(names[column] for column in columns),
        tuple(tuple(cells[row][column] for column in columns) for row in rows),
    )


def result_text(evaluation: SummaryEvaluation) -> str:
    """Return a summary evaluator's score and value as JSON, or its error."""
    if evaluation.error is not None:
        return f"error: {evaluation.error}"
    results = (evaluation.score, evaluation.value)
    return "  ".join(json.dumps(result, ensure_ascii=False) for result in results if result is not None)
