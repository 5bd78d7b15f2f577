"""Repeated runs of one system over the same tasks: a verdict per task, and how far the runs agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from .estimators import clustered_standard_error, pass_at_k, pass_hat_k
from .results import TaskEvaluationResult

# What only some runs have is imported where they have it.
if TYPE_CHECKING:
    from .classification import DatasetEvaluation
    from .summary_evaluations import SummaryEvaluation


@dataclass(frozen=True)
class Run:
    """One run: its name, its result for every task in the order of the summary, and what a summary of it would hold."""

    name: str
    prediction_set_sha256: str
    unscored_prediction_tasks: tuple[str, ...]
    tasks: tuple[TaskEvaluationResult, ...]
    refused_members: Mapping[str, str] = field(default_factory=dict)
    dataset_evaluations: tuple[DatasetEvaluation, ...] = ()
    summary_evaluations: tuple[SummaryEvaluation, ...] = ()

    @property
    def passed_task_count(self) -> int:
        return sum(task.passed for task in self.tasks)


@dataclass(frozen=True)
class Case:
    """A task over all runs: it passes where passed_runs / run_count >= threshold, compared exactly."""

    task_id: str
    passed_runs: int
    run_count: int
    threshold: Fraction

    @property
    def pass_rate(self) -> Fraction:
        return Fraction(self.passed_runs, self.run_count)

    @property
    def passed(self) -> bool:
        return self.pass_rate >= self.threshold

    @property
    def is_unstable(self) -> bool:
        """Whether some runs passed and some did not."""
        return 0 < self.passed_runs < self.run_count


@dataclass(frozen=True)
class Repetition:
    """Two runs or more, in their order, and the pass rate from which a task passes, with that of tasks of their own.

    A threshold is above 0 and at most 1. A run without a prediction for a task has failed it.
    """

    runs: tuple[Run, ...]
    threshold: Fraction = Fraction(1)
    thresholds: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def cases(self) -> list[Case]:
        """The tasks over all runs, in the order of the summary."""
        count = len(self.runs)
        return [
            Case(task.task_id, sum(run.tasks[i].passed for run in self.runs), count, self._threshold(task.task_id))
            for i, task in enumerate(self.runs[0].tasks)
        ]

    def _threshold(self, task_id: str) -> Fraction:
        return self.thresholds.get(task_id, self.threshold)

    @property
    def shown(self) -> list[int]:
        """The place, per task, of the first run that has the verdict of the case: its result stands for the task."""
        return [
            next(place for place, run in enumerate(self.runs) if run.tasks[i].passed == case.passed)
            for i, case in enumerate(self.cases)
        ]

    @property
    def tasks(self) -> tuple[TaskEvaluationResult, ...]:
        """The result that stands for each task."""
        return tuple(self.runs[place].tasks[i] for i, place in enumerate(self.shown))

    @property
    def mean_accuracy(self) -> Fraction:
        """The mean of the accuracies of the runs."""
        return Fraction(sum(run.passed_task_count for run in self.runs), len(self.runs) * len(self.runs[0].tasks))

    @property
    def accuracy_standard_error(self) -> float | None:
        """The standard error of the mean accuracy, the runs of a task as a cluster; None for one task alone."""
        outcomes = [(task.task_id, int(task.passed)) for run in self.runs for task in run.tasks]
        return clustered_standard_error([value for _, value in outcomes], [task_id for task_id, _ in outcomes])

    @property
    def unstable_tasks(self) -> list[str]:
        return [case.task_id for case in self.cases if case.is_unstable]

    def pass_rates_at_k(self) -> Iterator[tuple[int, Fraction, Fraction]]:
        """Yield k, pass@k and pass^k, each the mean over tasks, for every k from 1 to the number of runs."""
        counts = Counter(case.passed_runs for case in self.cases)
        total = counts.total()
        for k in range(1, len(self.runs) + 1):
            at_k, hat_k = (
                sum((count * estimate(len(self.runs), passed, k) for passed, count in counts.items()), Fraction(0))
                / total
                for estimate in (pass_at_k, pass_hat_k)
            )
            yield k, at_k, hat_k
