"""The dataset-level pass: the label pairs of all tasks, counted per class, and the rates that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from .confusion import BinaryCounts, ConfusionCounts, weighted_mean
from .dataset_configs import AVERAGES, MAX_CLASSES, RATE_TYPES, DatasetEvaluator, evaluator_file
from .errors import REDACTED, quoted
from .metrics import Interval, wilson_interval
from .results import MISSING_LABEL_REASONS, LabelPair, TaskEvaluationResult

NULL_EXPECTED = "null_expected"
OUT_OF_VOCABULARY_EXPECTED = "out_of_vocabulary_expected"
OUT_OF_VOCABULARY_PREDICTED = "out_of_vocabulary_predicted"
# Why a datapoint is not scored, in the order in which it is looked at; the first that applies is its reason.
SKIP_REASONS = (NULL_EXPECTED, OUT_OF_VOCABULARY_EXPECTED, *MISSING_LABEL_REASONS, OUT_OF_VOCABULARY_PREDICTED)

_OPTIONS = (
    *("average", "positive_class", "beta", "case_sensitive", "zero_division"),
    *(OUT_OF_VOCABULARY_PREDICTED, OUT_OF_VOCABULARY_EXPECTED, "missing"),
)

# Per reason the ids of the tasks, in number order.
TaskIds = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class DatasetEvaluation:
    """What one evaluator found: how often each class was answered with each, and the datapoints left out.

    The evaluator's `classes` are those in force, in the order of `counts`. `skipped` are the datapoints that are not
    counted, by reason; `unlabelled` are those counted without a predicted label, by reason. Rates are exact fractions;
    one that would divide by zero is the evaluator's `zero_division`, and None where nothing was scored at all.
    """

    evaluator: DatasetEvaluator
    counts: ConfusionCounts
    skipped: TaskIds
    unlabelled: TaskIds

    @property
    def classes(self) -> tuple[str, ...]:
        return self.evaluator.classes or ()

    @property
    def n_scored(self) -> int:
        return self.counts.total

    @property
    def n_skipped(self) -> int:
        return sum(map(len, self.skipped.values()))

    @property
    def n_total(self) -> int:
        return self.n_scored + self.n_skipped

    @cached_property
    def class_counts(self) -> list[BinaryCounts]:
        """Per class its counts against the rest."""
        return [self.counts.of_class(k) for k in range(len(self.classes))]

    @property
    def score(self) -> Fraction | float | None:
        """The evaluator's one number; None for a confusion matrix, which has none, and where nothing was scored."""
        return None if self.evaluator.type == "confusion_matrix" else self._defined(self._score)

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of a score that is a proportion: accuracy, and micro or single-class precision or recall.

        None for every other score, and for a proportion of nothing.
        """
        metric, counts = self.evaluator.type, self._scored_counts
        if metric == "accuracy":
            successes, total = self.counts.correct, self.n_scored
        elif metric in ("precision", "recall") and counts is not None:
            successes, total = counts.tp, counts.tp + (counts.fp if metric == "precision" else counts.fn)
        else:
            return None
        return wilson_interval(successes, total) if total else None

    @property
    def undefined(self) -> dict[str, Any]:
        """What would divide by zero: classes per metric, metrics per average, and whether the score does.

        Everything does where nothing was scored.
        """
        classes = list(zip(self.classes, self.class_counts, strict=True))
        return {
            **{
                metric: [label for label, counts in classes if self._rate(counts, metric) is None]
                for metric in RATE_TYPES
            },
            **{
                average: [metric for metric in RATE_TYPES if self._average(average, metric) is None]
                for average in AVERAGES
            },
            "score": self.evaluator.type != "confusion_matrix" and self._score is None,
        }

    def redacted(self) -> DatasetEvaluation:
        """Return the same counts without gold's texts: the classes have numbers for names, and the source has none."""
        names = tuple(f"class {number}" for number in range(1, len(self.classes) + 1))
        positive = self.evaluator.positive_class
        if positive is not None:
            positive = names[self.classes.index(positive)]
        return replace(self, evaluator=replace(self.evaluator, source=REDACTED, classes=names, positive_class=positive))

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as it stands in the summary, described by `schema/summary.schema.json`."""
        evaluator, interval = self.evaluator, self.interval
        return {
            "id": evaluator.id,
            "type": evaluator.type,
            "source": evaluator.source,
            "score": _json_number(self.score),
            "interval": interval._asdict() if interval else None,
            **{name: getattr(evaluator, name) for name in _OPTIONS},
            "n_total": self.n_total,
            "n_scored": self.n_scored,
            "n_skipped": self.n_skipped,
            "skipped": {reason: list(task_ids) for reason, task_ids in self.skipped.items()},
            "unlabelled": {reason: list(task_ids) for reason, task_ids in self.unlabelled.items()},
            "classes": list(self.classes),
            "confusion_matrix": self._matrix(),
            "per_class": {
                label: {**asdict(counts), "support": counts.support, **self._rates(counts)}
                for label, counts in zip(self.classes, self.class_counts, strict=True)
            },
            **{
                average: {metric: _json_number(self._defined(self._average(average, metric))) for metric in RATE_TYPES}
                for average in AVERAGES
            },
            "undefined": self.undefined,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> DatasetEvaluation:
        """Return the evaluation that `to_dict` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        evaluator = DatasetEvaluator(
            classes=tuple(document["classes"]), **{name: document[name] for name in ("id", "type", "source", *_OPTIONS)}
        )
        matrix = document["confusion_matrix"]
        margins = zip(matrix["counts"], matrix["out_of_vocabulary_column"], matrix["missing_column"], strict=True)
        cells = [(*row, outside, missing) for row, outside, missing in margins]
        cells.append(
            (*matrix["out_of_vocabulary_row"], matrix["out_of_vocabulary_both"], matrix["out_of_vocabulary_missing"])
        )
        skipped, unlabelled = (
            {reason: tuple(task_ids) for reason, task_ids in document[key].items()} for key in ("skipped", "unlabelled")
        )
        return cls(evaluator, ConfusionCounts(tuple(cells)), skipped, unlabelled)

    def _matrix(self) -> dict[str, Any]:
        size = len(self.classes)
        rows, last = self.counts.cells[:size], self.counts.cells[size]
        return {
            "rows": "expected",
            "columns": "predicted",
            "labels": list(self.classes),
            "counts": [list(row[:size]) for row in rows],
            "out_of_vocabulary_row": list(last[:size]),
            "out_of_vocabulary_column": [row[size] for row in rows],
            "out_of_vocabulary_both": last[size],
            "missing_column": [row[size + 1] for row in rows],
            "out_of_vocabulary_missing": last[size + 1],
        }

    def _rates(self, counts: BinaryCounts) -> dict[str, float | None]:
        return {metric: _json_number(self._defined(self._rate(counts, metric))) for metric in RATE_TYPES}

    @property
    def _scored_counts(self) -> BinaryCounts | None:
        """The counts that the score is a rate of; None where it is a mean of several rates or no such rate."""
        if self.evaluator.positive_class is not None:
            return self.class_counts[self.classes.index(self.evaluator.positive_class)]
        return self.counts.pooled if self.evaluator.average == "micro" else None

    @property
    def _score(self) -> Fraction | float | None:
        metric, counts = self.evaluator.type, self._scored_counts
        if metric not in RATE_TYPES:
            # The other types are named as the counts name their rates.
            overall: Fraction | float | None = getattr(self.counts, metric)
            return overall
        return self._rate(counts, metric) if counts else self._average(self.evaluator.average, metric)

    def _rate(self, counts: BinaryCounts, metric: str) -> Fraction | None:
        if metric == "f_score":
            return counts.f_score(self.evaluator.exact_beta)
        return counts.precision if metric == "precision" else counts.recall

    def _average(self, average: str | None, metric: str) -> Fraction | None:
        """Return the plain mean over the classes (macro), that by support (weighted), or the pooled rate (micro)."""
        if average == "micro":
            return self._rate(self.counts.pooled, metric)
        if self.n_scored == 0:
            return None
        zero = Fraction(self.evaluator.zero_division)
        rates = [self._rate(counts, metric) for counts in self.class_counts]
        weights = [1 if average == "macro" else counts.support for counts in self.class_counts]
        return weighted_mean([zero if rate is None else rate for rate in rates], weights)

    def _defined(self, rate: Fraction | float | None) -> Fraction | float | None:
        if self.n_scored == 0:
            return None
        return Fraction(self.evaluator.zero_division) if rate is None else rate


def evaluate_dataset(evaluator: DatasetEvaluator, tasks: Sequence[TaskEvaluationResult]) -> DatasetEvaluation:
    """Count the label pairs that the tasks have for the evaluator's source.

    Raises EvaluationFatalError, naming the evaluator's file, when no gold label is among the classes.
    """
    pairs = [(task.task_id, pair) for task in tasks for pair in task.labels if pair.source == evaluator.source]
    evaluator = _with_classes(evaluator, [pair.expected for _, pair in pairs if pair.expected is not None])
    classes = evaluator.classes or ()
    size = len(classes)
    places = {evaluator.fold(label): place for place, label in enumerate(classes)}
    cells = [[0] * (size + 2) for _ in range(size + 1)]
    skipped: dict[str, list[str]] = {reason: [] for reason in SKIP_REASONS}
    unlabelled: dict[str, list[str]] = {reason: [] for reason in MISSING_LABEL_REASONS}
    for task_id, pair in pairs:
        row, column = (
            None if label is None else places.get(evaluator.fold(label), size)
            for label in (pair.expected, pair.predicted)
        )
        reason = _skip_reason(evaluator, pair, row == size, column == size)
        if reason is not None:
            skipped[reason].append(task_id)
            continue
        if pair.missing is not None:
            unlabelled[pair.missing].append(task_id)
        cells[row or 0][size + 1 if column is None else column] += 1
    return DatasetEvaluation(
        evaluator, ConfusionCounts(tuple(map(tuple, cells))), _without_empty(skipped), _without_empty(unlabelled)
    )


def _skip_reason(
    evaluator: DatasetEvaluator, pair: LabelPair, expected_outside: bool, predicted_outside: bool
) -> str | None:
    if pair.expected is None:
        return NULL_EXPECTED
    if expected_outside and evaluator.out_of_vocabulary_expected == "skip":
        return OUT_OF_VOCABULARY_EXPECTED
    if pair.missing is not None and evaluator.missing == "skip":
        return pair.missing
    if predicted_outside and evaluator.out_of_vocabulary_predicted == "skip":
        return OUT_OF_VOCABULARY_PREDICTED
    return None


def _with_classes(evaluator: DatasetEvaluator, expected: Sequence[str]) -> DatasetEvaluator:
    """Return the evaluator with its classes, and its positive class as one of them."""
    file = evaluator_file(evaluator.file)
    source = quoted(evaluator.source)
    if not expected:
        file.refuse("source", "a column of one-row gold tables with a value in one of them at least", evaluator.source)
    # Of labels that differ in case only, the first in order gives the class its name.
    found = {evaluator.fold(label): label for label in sorted(set(expected), reverse=True)}
    if evaluator.classes is None:
        if len(found) > MAX_CLASSES:
            file.refuse("source", f"at most {MAX_CLASSES} distinct labels", len(found))
        classes = tuple(sorted(found.values()))
    else:
        classes = evaluator.classes
        if found.keys().isdisjoint(map(evaluator.fold, classes)):
            known = quoted(min(found.values()))
            file.refuse("classes", f"a class that some gold cell of {source} has, such as {known}", list(classes))
    positive = evaluator.positive_class
    if positive is not None:
        positive = {evaluator.fold(label): label for label in classes}.get(evaluator.fold(positive))
        if positive is None:
            file.refuse("positive_class", f"one of the gold labels of {source}", evaluator.positive_class)
    return replace(evaluator, classes=classes, positive_class=positive)


def _without_empty(task_ids: Mapping[str, Sequence[str]]) -> TaskIds:
    return {reason: tuple(found) for reason, found in task_ids.items() if found}


def _json_number(rate: Fraction | float | None) -> float | None:
    return None if rate is None else float(rate)
