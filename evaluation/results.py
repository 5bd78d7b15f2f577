"""The waist: what was found for one task, with its JSON form and its inverse.

Left of here nobody knows a rate; right of here nobody sees a CSV file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .check_results import PASSED, SKIPPED, CheckResult, error_code_of

# Most tasks have no diagnosis, and starting is most of a small run's time.
if TYPE_CHECKING:
    from .findings import Diagnosis

# In the order in which a task is checked; the first that applies is the task's.
ERROR_CODES = (
    "missing_prediction",
    "invalid_prediction_csv",
    "invalid_prediction",
    "column_count_mismatch",
    "row_count_mismatch",
    "type_normalization_failed",
    "relation_mismatch",
    "mapping_search_exhausted",
    "check_error",
    "check_failed",
    "worker_died",
)
# Of a task whose answer is no table: those for which some check was run, and those for which none was.
RUN_CODES = ("check_error", "check_failed")
_UNANSWERED_CODES = ("missing_prediction", "invalid_prediction", "worker_died")

# Why a datapoint has no predicted label: no table, not one row of it, no column of it in the source's place, or
# nothing in the cell.
MISSING_LABEL_REASONS = (
    "missing_prediction",
    "invalid_prediction_csv",
    "worker_died",
    "no_row",
    "several_rows",
    "no_column",
    "unreadable_cell",
    "null_cell",
)

# No table has as many columns or rows.
_MOST = 2**31


@dataclass(frozen=True)
class LabelPair:
    """A task as a datapoint: the canonical gold cell of the column named `source`, and the prediction's in its place.

    `expected` is None where the gold cell is null. `predicted` is None where there is no label, and then `missing` is
    one of `MISSING_LABEL_REASONS`. No label is longer than a class can be: a predicted one that was longer has been
    cut, and ends with a sign of omission.
    """

    source: str
    expected: str | None
    predicted: str | None
    missing: str | None = None


@dataclass(frozen=True)
class TaskEvaluationResult:
    """The verdict on one task: passed with a column mapping, or failed with an error code and one sentence.

    `mapping[i]` is the prediction column of gold column i. `prediction_column_count` and `prediction_row_count` are 0
    where no prediction could be read. `error_code` is one of `ERROR_CODES`. `labels` has a pair for every source of
    a dataset evaluator that the task has, in column order; it is empty unless gold has one row. `diagnosis` is None for
    a passed task, and for a failed one that has no prediction or was not diagnosed.
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
    labels: tuple[LabelPair, ...] = ()
    diagnosis: Diagnosis | None = None
    checks: tuple[CheckResult, ...] = ()

    @property
    def passed(self) -> bool:
        return self.error_code is None

    @property
    def is_consistent(self) -> bool:
        """Whether it is what the class promises; what was read from a file may be anything."""
        counts = (self.gold_column_count, self.prediction_column_count, self.gold_row_count, self.prediction_row_count)
        if not all(0 <= count < _MOST for count in counts):
            return False
        if self.checks:
            return not any(counts) and self._is_checked_consistently
        if self.passed:
            return self._is_passed_consistently
        known = self.error_code in ERROR_CODES and self.error is not None and self.mapping is None
        known = known and self.error_code not in ("invalid_prediction", *RUN_CODES) and self.gold_column_count > 0
        return known and (self.diagnosis is None or self.diagnosis.is_consistent(*counts))

    @property
    def _is_checked_consistently(self) -> bool:
        outcomes = {check.outcome for check in self.checks}
        if self.passed:
            agrees = outcomes == {PASSED}
        elif self.error_code in _UNANSWERED_CODES:
            agrees = outcomes == {SKIPPED}
        else:
            agrees = self.error_code == error_code_of(self.checks)
        is_told = (self.error is None) == self.passed and all(check.is_consistent for check in self.checks)
        is_table = self.order_sensitive or self.mapping is not None or self.labels or self.diagnosis is not None
        return agrees and is_told and not is_table

    @property
    def _is_passed_consistently(self) -> bool:
        places = self.mapping or ()
        return (
            (self.gold_column_count, self.gold_row_count) == (self.prediction_column_count, self.prediction_row_count)
            and sorted(places) == list(range(self.gold_column_count))
            and self.gold_column_count > 0
            and self.error is None
            and self.diagnosis is None
        )

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
        """Return the task as it stands in the summary; `labels`, `diagnosis` and `checks` are left out without any."""
        document = {
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
        if self.labels:
            document["labels"] = [asdict(pair) for pair in self.labels]
        if self.diagnosis is not None:
            document["diagnosis"] = self.diagnosis.to_dict()
        if self.checks:
            document["checks"] = [check.to_dict() for check in self.checks]
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> TaskEvaluationResult:
        """Return the result that `to_dict` wrote. Raises KeyError or TypeError for anything else."""
        pairs = document["column_mapping"]
        diagnosis = None
        if "diagnosis" in document:
            from .findings import Diagnosis

            diagnosis = Diagnosis.from_dict(document["diagnosis"])
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
            labels=tuple(LabelPair(**pair) for pair in document.get("labels", ())),
            diagnosis=diagnosis,
            checks=tuple(map(CheckResult.from_dict, document.get("checks", ()))),
        )
