"""Repeated runs of one system over the same tasks: a verdict per task, and how far the runs agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .configs import task_number_key
from .estimators import clustered_standard_error, pass_at_k, pass_hat_k
from .exact import read_threshold
from .files import digest_of_digests, is_digest
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
    prediction_sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed_task_count(self) -> int:
        return sum(task.passed for task in self.tasks)

    @property
    def accuracy(self) -> Fraction:
        return Fraction(self.passed_task_count, len(self.tasks))

    @property
    def scores(self) -> dict[str, Fraction | float | None]:
        return scores_of(self.dataset_evaluations, self.summary_evaluations)

    def to_dict(self) -> dict[str, Any]:
        """Return the run as it stands in the summary; what it was not asked for is left out."""
        document: dict[str, Any] = {
            "name": self.name,
            "prediction_set_sha256": self.prediction_set_sha256,
            "passed_task_count": self.passed_task_count,
            "accuracy": float(self.accuracy),
            "unscored_prediction_tasks": list(self.unscored_prediction_tasks),
            "tasks": [task.to_dict() for task in self.tasks],
        }
        for key, value in (("refused_members", self.refused_members), ("prediction_sha256", self.prediction_sha256)):
            if value:
                document[key] = dict(value)
        for key in ("dataset_evaluations", "summary_evaluations"):
            if getattr(self, key):
                document[key] = [evaluation.to_dict() for evaluation in getattr(self, key)]
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Run:
        """Return the run that `to_dict` wrote. Raises KeyError or TypeError for anything else."""
        from .classification import DatasetEvaluation
        from .summary_evaluations import SummaryEvaluation

        return cls(
            document["name"],
            document["prediction_set_sha256"],
            tuple(document["unscored_prediction_tasks"]),
            tuple(map(TaskEvaluationResult.from_dict, document["tasks"])),
            document.get("refused_members", {}),
            tuple(map(DatasetEvaluation.from_dict, document.get("dataset_evaluations", ()))),
            tuple(map(SummaryEvaluation.from_dict, document.get("summary_evaluations", ()))),
            document.get("prediction_sha256", {}),
        )


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

    def to_dict(self) -> dict[str, Any]:
        """Return the case as it stands in the summary."""
        return {
            "task_id": self.task_id,
            "passed": self.passed,
            "passed_runs": self.passed_runs,
            "run_count": self.run_count,
            "pass_rate": float(self.pass_rate),
            "threshold": str(self.threshold),
        }

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

    def to_dict(self) -> dict[str, Any]:
        """Return what the summary says of repeated runs: every run, every case, and how far the runs agree."""
        return {
            "threshold": str(self.threshold),
            "mean_accuracy": {"value": float(self.mean_accuracy), "standard_error": self.accuracy_standard_error},
            "pass_at_k": [
                {"k": k, "pass_at_k": float(at_k), "pass_hat_k": float(hat_k)}
                for k, at_k, hat_k in self.pass_rates_at_k()
            ],
            "unstable_tasks": self.unstable_tasks,
            "cases": [case.to_dict() for case in self.cases],
            "runs": [run.to_dict() for run in self.runs],
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Repetition:
        """Return what `to_dict` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        threshold = read_threshold(document["threshold"])
        own = {case["task_id"]: read_threshold(case["threshold"]) for case in document["cases"]}
        return cls(
            tuple(map(Run.from_dict, document["runs"])),
            threshold,
            {task_id: other for task_id, other in own.items() if other != threshold},
        )

    def is_consistent(self, *, has_evaluators: bool) -> bool:
        """Whether it is what the class promises; what was read from a file may be anything.

        `has_evaluators` says whether there are results of dataset evaluators.
        """
        task_ids = [task.task_id for task in self.runs[0].tasks]
        gold = list(map(_gold_facts, self.runs[0].tasks))
        evaluators = [evaluation.evaluator for evaluation in self.runs[0].dataset_evaluations]
        return (
            len(self.runs) > 1
            and len({run.name for run in self.runs} - {""}) == len(self.runs)
            and all([task.task_id for task in run.tasks] == task_ids for run in self.runs)
            and all(list(map(_gold_facts, run.tasks)) == gold for run in self.runs)
            and all(task.is_consistent for run in self.runs for task in run.tasks)
            and all(is_digest(run.prediction_set_sha256) for run in self.runs)
            and bool(evaluators) == has_evaluators
            and all([found.evaluator for found in run.dataset_evaluations] == evaluators for run in self.runs)
            and len({evaluator.id for evaluator in evaluators}) == len(evaluators)
        )

    @property
    def thresholds_sha256(self) -> str:
        """The digest of the thresholds that tasks have of their own, by task id."""
        return digest_of_digests({task_id: str(self.thresholds[task_id]) for task_id in sorted(self.thresholds)})

    @property
    def prediction_set_sha256(self) -> str:
        """The digest of the runs' names and digests."""
        return digest_of_digests({run.name: run.prediction_set_sha256 for run in self.runs})

    @property
    def unscored_prediction_tasks(self) -> tuple[str, ...]:
        """Those of all runs, in number order."""
        return tuple(sorted({name for run in self.runs for name in run.unscored_prediction_tasks}, key=task_number_key))

    @property
    def refused_members(self) -> dict[str, str]:
        """Those of all runs, by run and name."""
        return {f"{run.name}/{name}": reason for run in self.runs for name, reason in run.refused_members.items()}

    @property
    def scores(self) -> dict[str, Fraction | float | None]:
        """The mean over the runs of the score of every evaluator; None where a run has none."""
        found = [run.scores for run in self.runs]
        names = {name: None for scores in found for name in scores}
        return {name: _mean([scores.get(name) for scores in found]) for name in names}

    @cached_property
    def cases(self) -> list[Case]:
        """The tasks over all runs, in the order of the summary."""
        count = len(self.runs)
        return [
            Case(
                task.task_id,
                sum(run.tasks[i].passed for run in self.runs),
                count,
                self.thresholds.get(task.task_id, self.threshold),
            )
            for i, task in enumerate(self.runs[0].tasks)
        ]

    @cached_property
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


def _gold_facts(task: TaskEvaluationResult) -> tuple[object, ...]:
    checks = [(check.func, check.op, check.desc) for check in task.checks]
    return task.gold_row_count, task.gold_column_count, task.order_sensitive, checks


def scores_of(
    dataset_evaluations: Sequence[DatasetEvaluation], summary_evaluations: Sequence[SummaryEvaluation]
) -> dict[str, Fraction | float | None]:
    """Return the score of every evaluator that can have one, by name; None where nothing was scored.

    A summary evaluator's label or error is no score, nor has a confusion matrix one.
    """
    scores: dict[str, Fraction | float | None] = {
        evaluation.evaluator.id: evaluation.score
        for evaluation in dataset_evaluations
        if evaluation.evaluator.type != "confusion_matrix"
    }
    for evaluation in summary_evaluations:
        if evaluation.score is not None:
            scores[evaluation.name] = evaluation.score
    return scores


def _mean(scores: Sequence[Fraction | float | None]) -> Fraction | float | None:
    known = [Fraction(score) for score in scores if score is not None]
    if len(known) < len(scores):
        return None
    mean = sum(known, Fraction(0)) / len(known)
    return float(mean) if any(isinstance(score, float) for score in scores) else mean
