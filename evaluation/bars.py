"""The bars that a caller sets, and what of a summary is below them; rates of counts are compared as exact fractions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from .dataset_configs import DatasetEvaluatorSet
from .errors import EvaluationFatalError, quoted
from .exact import read_exact
from .plugins import PluginSet
from .summary import Summary

_NO_PERCENTAGE = "the unit is a fraction from 0 to 1, not a percentage, so 80 % is 0.8"


@dataclass(frozen=True)
class Bars:
    """The least accuracy that is enough, None for any, and the least scores of metrics by their id."""

    accuracy: Fraction | None = None
    metrics: tuple[tuple[str, Fraction], ...] = ()

    def check(self, evaluators: DatasetEvaluatorSet | None, plugins: PluginSet | None) -> None:
        """Raise EvaluationFatalError for a bar that no score could be held against.

        Where there are plugins the names that they will return are not known yet.
        """
        types = {evaluator.id: evaluator.type for evaluator in evaluators.evaluators} if evaluators else {}
        for metric_id, bar in self.metrics:
            called = f"--fail-under-metric {quoted(metric_id)}"
            if metric_id not in types:
                if plugins is None or not plugins.evaluators:
                    known = ", ".join(map(quoted, types)) or "none: there is no dataset evaluator and no plugin"
                    raise EvaluationFatalError(f"{called}: expected the id of a metric ({known})")
            elif types[metric_id] == "confusion_matrix":
                raise EvaluationFatalError(f"{called}: a confusion matrix has no score")
            elif bar > 1:
                raise EvaluationFatalError(f"{called}: {_NO_PERCENTAGE}; got {bar}")

    def faults(self, summary: Summary) -> list[str]:
        """Return a sentence for every bar whose metric the summary lacks, unless it is there as an error."""
        errors = {evaluation.name for evaluation in summary.plugin_results if evaluation.error is not None}
        labels = {evaluation.name for evaluation in summary.plugin_results} - errors
        scores = summary.scores
        known = ", ".join(map(quoted, scores)) or "there is none"
        return [
            f"--fail-under-metric {quoted(metric_id)}: expected the id of a metric that has a score ({known})"
            + (", got one that has a value only" if metric_id in labels else "")
            for metric_id, _ in self.metrics
            if metric_id not in scores and metric_id not in errors
        ]

    def shortfalls(self, summary: Summary) -> list[str]:
        """Return a sentence for everything below its bar. No evidence reaches no bar."""
        return [*self._accuracy_shortfall(summary), *self._metric_shortfalls(summary)]

    def _accuracy_shortfall(self, summary: Summary) -> Iterator[str]:
        passed, total = summary.passed_task_count, summary.task_count
        if self.accuracy is not None and Fraction(passed, total) < self.accuracy:
            yield f"accuracy {passed}/{total} is below --fail-under {self.accuracy}"

    def _metric_shortfalls(self, summary: Summary) -> Iterator[str]:
        scores = summary.scores
        for metric_id, bar in self.metrics:
            if metric_id not in scores:
                continue
            score = scores[metric_id]
            if score is None:
                where = "" if summary.repetition is None else " in some run"
                yield f"{quoted(metric_id)} has no score{where}, as nothing was scored: below --fail-under-metric {bar}"
            # A float stands for the number that was computed, so it is held against the float nearest to the bar.
            elif score < (float(bar) if isinstance(score, float) else bar):
                yield f"{quoted(metric_id)} {score} is below --fail-under-metric {bar}"


def read_accuracy_bar(text: str) -> Fraction:
    """Return the exact fraction from 0 to 1 that `text` spells. Raises ValueError with a sentence when it does not."""
    bar = read_exact(text)
    if bar is None or bar < 0:
        raise ValueError(f"expected a fraction from 0 to 1, such as 0.8 or 4/5, got {text!r}")
    if bar > 1:
        raise ValueError(f"{_NO_PERCENTAGE}; got {text!r}")
    return bar


def read_metric_bar(text: str) -> tuple[str, Fraction]:
    """Return the id and the exact number that `ID=X` spells. Raises ValueError with a sentence when it does not."""
    metric_id, _, number = text.rpartition("=")
    bar = read_exact(number)
    if not metric_id or bar is None:
        raise ValueError(f"expected ID=X with X a number such as 0.8 or 4/5, got {text!r}")
    return metric_id, bar
