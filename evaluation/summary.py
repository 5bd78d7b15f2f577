"""The summary of a suite: the tasks' results and the folds over them, with their JSON form and its inverse.

Only facts are stored; counts, rates and intervals are computed from them when asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .configs import is_task_id, task_number_key
from .errors import EvaluationError, quoted
from .metrics import Interval, wilson_interval
from .results import ERROR_CODES, TaskEvaluationResult
from .tables import TableLimits

# What only some summaries have is imported where they have it.
if TYPE_CHECKING:
    from fractions import Fraction

    from .classification import DatasetEvaluation
    from .runs import Repetition
    from .summary_evaluations import SummaryEvaluation

EVALUATOR = "Table Answer Evaluator"
METRIC = "task_accuracy"
SUMMARY_SCHEMA_VERSION = "1.0"
_DIGEST = re.compile("[0-9a-f]{64}")
_VERSION = re.compile("[0-9A-Za-z.+-]{1,40}")
_MOST_TASKS = 2**31
_SIGNATURE_DIGITS = 8


@dataclass(frozen=True)
class Summary:
    """The evaluation of a suite: one result per task of the config set, in number order, and what identifies it.

    Where only some of the tasks were scored, `full_task_count` is the number of all, and there is no accuracy.

    `evaluator_version` is that of the program that scored. The digests are SHA-256 over the config files, the gold
    files and the prediction files that could be read; with `gold_redacted` there is none of gold, as it would confirm a
    guess. `limits` are those that are not the default, `refused_members` those of a prediction archive that were
    refused, with reasons. There is at least one task. The dataset evaluators and the
    plugins have digests of their own, None where there are none; the results of both are in the order of the summary.
    """

    evaluator_version: str
    config_schema_version: str
    config_set_sha256: str
    gold_set_sha256: str | None
    prediction_set_sha256: str
    unscored_prediction_tasks: tuple[str, ...]
    tasks: tuple[TaskEvaluationResult, ...]
    limits: Mapping[str, int] = field(default_factory=dict)
    refused_members: Mapping[str, str] = field(default_factory=dict)
    gold_redacted: bool = False
    dataset_config_sha256: str | None = None
    dataset_evaluations: tuple[DatasetEvaluation, ...] = ()
    plugin_set_sha256: str | None = None
    summary_evaluations: tuple[SummaryEvaluation, ...] = ()
    full_task_count: int | None = None
    repetition: Repetition | None = None

    @property
    def signature(self) -> str:
        """What must be the same for two scores to be comparable, in one line."""
        gold = "redacted" if self.gold_set_sha256 is None else self.gold_set_sha256[:_SIGNATURE_DIGITS]
        parts = {
            "version": self.evaluator_version,
            "config": self.config_set_sha256[:_SIGNATURE_DIGITS],
            "gold": gold,
            **{f"max_{name}": str(limit) for name, limit in sorted(self.limits.items())},
            "runs": "1",
            "threshold": "1",
        }
        if self.repetition is not None:
            parts["runs"] = str(len(self.repetition.runs))
            parts["threshold"] = str(self.repetition.threshold)
        if self.is_partial:
            parts["tasks"] = f"{len(self.tasks)}/{self.task_count}"
        return "|".join(f"{name}:{value}" for name, value in parts.items())

    @property
    def is_partial(self) -> bool:
        """Whether only some tasks of the config set were scored."""
        return self.full_task_count is not None

    @property
    def task_count(self) -> int:
        """The tasks of the config set, scored or not."""
        return len(self.tasks) if self.full_task_count is None else self.full_task_count

    @property
    def passed_task_count(self) -> int:
        return sum(task.passed for task in self.tasks)

    @property
    def failed_task_count(self) -> int:
        return len(self.tasks) - self.passed_task_count

    @property
    def task_accuracy(self) -> float | None:
        """Passed tasks / tasks in the config set, from 0 to 1; None where only some were scored."""
        return None if self.is_partial else self.passed_task_count / self.task_count

    @property
    def accuracy_interval(self) -> Interval | None:
        """The 95 % interval of the accuracy, the tasks taken as a sample of those that could have been asked."""
        return None if self.is_partial else wilson_interval(self.passed_task_count, self.task_count)

    @property
    def failure_counts(self) -> dict[str, int]:
        """Failed tasks per error code, in the order of the checks, without the codes that no task has."""
        counts = Counter(task.error_code for task in self.tasks)
        return {code: counts[code] for code in ERROR_CODES if counts[code]}

    @property
    def scores(self) -> dict[str, Fraction | float | None]:
        """The score of every dataset evaluator and summary evaluator that can have one; None where nothing was scored.

        A summary evaluator's label or error is no score.
        """
        scores: dict[str, Fraction | float | None] = {
            evaluation.evaluator.id: evaluation.score
            for evaluation in self.dataset_evaluations
            if evaluation.evaluator.type != "confusion_matrix"
        }
        for evaluation in self.summary_evaluations:
            if evaluation.score is not None:
                scores[evaluation.name] = evaluation.score
        return scores

    def to_dict(self) -> dict[str, Any]:
        """Return the summary's JSON form, described by `schema/summary.schema.json`.

        What the run was not asked for is left out.
        """
        interval = self.accuracy_interval
        document = {
            "evaluator": EVALUATOR,
            "evaluator_version": self.evaluator_version,
            "config_schema_version": self.config_schema_version,
            "config_set_sha256": self.config_set_sha256,
            "metric": METRIC,
            "task_count": self.task_count,
            "passed_task_count": self.passed_task_count,
            "failed_task_count": self.failed_task_count,
            "task_accuracy": self.task_accuracy,
            "unscored_prediction_tasks": list(self.unscored_prediction_tasks),
            "tasks": [task.to_dict() for task in self.tasks],
            "summary_schema_version": SUMMARY_SCHEMA_VERSION,
            "gold_set_sha256": self.gold_set_sha256,
            "prediction_set_sha256": self.prediction_set_sha256,
            "failure_counts": self.failure_counts,
            "accuracy_interval": interval and interval._asdict(),
        }
        if self.is_partial:
            document["partial"] = True
        if self.limits:
            document["limits"] = dict(self.limits)
        if self.refused_members:
            document["refused_members"] = dict(self.refused_members)
        if self.gold_redacted:
            document["gold_redacted"] = True
        if self.dataset_config_sha256 is not None:
            document["dataset_config_sha256"] = self.dataset_config_sha256
            document["dataset_evaluations"] = [evaluation.to_dict() for evaluation in self.dataset_evaluations]
        if self.plugin_set_sha256 is not None:
            document["plugin_set_sha256"] = self.plugin_set_sha256
            document["summary_evaluations"] = [evaluation.to_dict() for evaluation in self.summary_evaluations]
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Summary:
        """Return the summary that `to_dict` wrote.

        Raises EvaluationError when `document` is not a summary of this schema version or contradicts itself.
        """
        from .classification import DatasetEvaluation
        from .findings import Diagnosis
        from .runs import Repetition
        from .summary_evaluations import SummaryEvaluation
        from .typed import TypeChecker

        try:
            if document["summary_schema_version"] != SUMMARY_SCHEMA_VERSION:
                got = quoted(str(document["summary_schema_version"]))
                raise EvaluationError(f"not a summary of schema version {SUMMARY_SCHEMA_VERSION}, but {got}")
            summary = cls(
                evaluator_version=document["evaluator_version"],
                config_schema_version=document["config_schema_version"],
                config_set_sha256=document["config_set_sha256"],
                gold_set_sha256=document["gold_set_sha256"],
                prediction_set_sha256=document["prediction_set_sha256"],
                unscored_prediction_tasks=tuple(document["unscored_prediction_tasks"]),
                tasks=tuple(TaskEvaluationResult.from_dict(task) for task in document["tasks"]),
                limits=document.get("limits", {}),
                refused_members=document.get("refused_members", {}),
                gold_redacted=document.get("gold_redacted", False),
                dataset_config_sha256=document.get("dataset_config_sha256"),
                dataset_evaluations=tuple(map(DatasetEvaluation.from_dict, document.get("dataset_evaluations", ()))),
                plugin_set_sha256=document.get("plugin_set_sha256"),
                summary_evaluations=tuple(map(SummaryEvaluation.from_dict, document.get("summary_evaluations", ()))),
                full_task_count=document["task_count"] if "partial" in document else None,
            )
            types = {
                "DatasetEvaluation": DatasetEvaluation,
                "Diagnosis": Diagnosis,
                "Repetition": Repetition,
                "SummaryEvaluation": SummaryEvaluation,
            }
            fault = TypeChecker(types).fault(summary, cls, "summary")
            if fault is not None:
                raise EvaluationError(f"not a summary: {quoted(fault)} is of another type")
            if not _is_consistent(summary) or summary.to_dict() != document:
                raise EvaluationError("not a summary: its parts do not follow from each other")
        except KeyError as error:
            raise EvaluationError(f"not a summary: it has no {quoted(str(error.args[0]))}") from None
        except (IndexError, TypeError, ValueError, AttributeError, OverflowError):
            raise EvaluationError("not a summary: a part of it is of another kind") from None
        return summary


def _is_consistent(summary: Summary) -> bool:
    """Return whether there are tasks, in number order, and all is what the classes promise."""
    task_ids = [task.task_id for task in summary.tasks]
    keys = list(map(task_number_key, task_ids))
    digests = (
        *(summary.config_set_sha256, summary.gold_set_sha256, summary.prediction_set_sha256),
        *(summary.dataset_config_sha256, summary.plugin_set_sha256),
    )
    return (
        bool(keys)
        and all(digest is None or _DIGEST.fullmatch(digest) for digest in digests)
        and _VERSION.fullmatch(summary.evaluator_version) is not None
        and set(summary.limits).issubset(TableLimits._fields)
        and all(map(is_task_id, summary.unscored_prediction_tasks))
        and len(keys) <= summary.task_count < _MOST_TASKS
        and all(map(is_task_id, task_ids))
        and all(one < other for one, other in pairwise(keys))
        and all(task.is_consistent for task in summary.tasks)
    )
