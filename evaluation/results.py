"""The waist: what was found for one task, and the summary of a suite, with their JSON form and its inverse.

Left of here nobody knows a rate; right of here nobody sees a CSV file. Only facts are stored; counts, rates and
intervals are computed from them when asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .errors import EvaluationError
from .metrics import Interval, wilson_interval

EVALUATOR = "Table Answer Evaluator"
METRIC = "task_accuracy"
SUMMARY_SCHEMA_VERSION = "1.0"

# In the order in which a task is checked; the first that applies is the task's.
ERROR_CODES = (
    "missing_prediction",
    "invalid_prediction_csv",
    "column_count_mismatch",
    "row_count_mismatch",
    "type_normalization_failed",
    "relation_mismatch",
    "mapping_search_exhausted",
)


@dataclass(frozen=True)
class TaskEvaluationResult:
    """The verdict on one task: passed with a column mapping, or failed with an error code and one sentence.

    `mapping[i]` is the prediction column of gold column i. `prediction_column_count` and `prediction_row_count` are 0
    where no prediction could be read. `error_code` is one of `ERROR_CODES`.
    """

    task_id: str
    order_sensitive: bool
    gold_column_count: int
    prediction_column_count: int
    gold_row_count: int
    prediction_row_count: int
    mapping: tuple[int, ...] | None = None
    error_code: str | None = None
    error: str | None = None

    @property
    def passed(self) -> bool:
        return self.error_code is None

    @property
    def score(self) -> int:
        """1 when passed, else 0."""
        return int(self.passed)

    @property
    def column_mapping(self) -> list[dict[str, int]] | None:
        """The mapping as a list of `{"gold_index", "prediction_index"}` in gold order; None for a failed task."""
        if self.mapping is None:
            return None
        return [{"gold_index": i, "prediction_index": j} for i, j in enumerate(self.mapping)]

    def to_dict(self) -> dict[str, Any]:
        """Return the task as it stands in the summary."""
        return {
            "task_id": self.task_id,
            "passed": self.passed,
            "score": self.score,
            "order_sensitive": self.order_sensitive,
            "gold_column_count": self.gold_column_count,
            "prediction_column_count": self.prediction_column_count,
            "gold_row_count": self.gold_row_count,
            "prediction_row_count": self.prediction_row_count,
            "column_mapping": self.column_mapping,
            "error_code": self.error_code,
            "error": self.error,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> TaskEvaluationResult:
        """Return the result that `to_dict` wrote. Raises KeyError or TypeError for anything else."""
        pairs = document["column_mapping"]
        return cls(
            task_id=document["task_id"],
            order_sensitive=document["order_sensitive"],
            gold_column_count=document["gold_column_count"],
            prediction_column_count=document["prediction_column_count"],
            gold_row_count=document["gold_row_count"],
            prediction_row_count=document["prediction_row_count"],
            mapping=None if pairs is None else tuple(pair["prediction_index"] for pair in pairs),
            error_code=document["error_code"],
            error=document["error"],
        )


@dataclass(frozen=True)
class Summary:
    """The evaluation of a suite: one result per task of the config set, in number order, and what identifies it.

    `evaluator_version` is that of the program that scored. The digests are SHA-256 over the config files, the gold
    files and the prediction files that could be read. There is at least one task.
    """

    evaluator_version: str
    config_schema_version: str
    config_set_sha256: str
    gold_set_sha256: str
    prediction_set_sha256: str
    unscored_prediction_tasks: tuple[str, ...]
    tasks: tuple[TaskEvaluationResult, ...]

    @property
    def task_count(self) -> int:
        return len(self.tasks)

    @property
    def passed_task_count(self) -> int:
        return sum(task.passed for task in self.tasks)

    @property
    def failed_task_count(self) -> int:
        return self.task_count - self.passed_task_count

    @property
    def task_accuracy(self) -> float:
        """Passed tasks / tasks in the config set, from 0 to 1."""
        return self.passed_task_count / self.task_count

    @property
    def accuracy_interval(self) -> Interval:
        """The 95 % interval of the accuracy, the tasks taken as a sample of those that could have been asked."""
        return wilson_interval(self.passed_task_count, self.task_count)

    @property
    def failure_counts(self) -> dict[str, int]:
        """Failed tasks per error code, in the order of the checks, without the codes that no task has."""
        counts = Counter(task.error_code for task in self.tasks)
        return {code: counts[code] for code in ERROR_CODES if counts[code]}

    def to_dict(self) -> dict[str, Any]:
        """Return the summary's JSON form, described by `schema/summary.schema.json`."""
        return {
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
            "accuracy_interval": asdict(self.accuracy_interval),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Summary:
        """Return the summary that `to_dict` wrote.

        Raises EvaluationError when `document` is not a summary of this schema version or contradicts itself.
        """
        try:
            if document["summary_schema_version"] != SUMMARY_SCHEMA_VERSION:
                raise EvaluationError(
                    f"expected summary schema version {SUMMARY_SCHEMA_VERSION}, "
                    f"got {document['summary_schema_version']!r}"
                )
            summary = cls(
                evaluator_version=document["evaluator_version"],
                config_schema_version=document["config_schema_version"],
                config_set_sha256=document["config_set_sha256"],
                gold_set_sha256=document["gold_set_sha256"],
                prediction_set_sha256=document["prediction_set_sha256"],
                unscored_prediction_tasks=tuple(document["unscored_prediction_tasks"]),
                tasks=tuple(TaskEvaluationResult.from_dict(task) for task in document["tasks"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise EvaluationError(f"not a summary ({type(error).__name__}: {error})") from None
        if not summary.tasks or summary.to_dict() != document:
            raise EvaluationError("not a summary: its counts or rates do not follow from its tasks")
        return summary
