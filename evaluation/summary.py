"""The summary of a suite: the tasks' results and the folds over them, with their JSON form and its inverse.

Only facts are stored; counts, rates and intervals are computed from them when asked for.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .configs import is_task_id, task_number_key
from .errors import EvaluationError, quoted
from .files import digest_of_digests, is_digest
from .metrics import Interval, wilson_interval
from .results import ERROR_CODES, TaskEvaluationResult
from .tables import TableLimits

# What only some summaries have is imported where they have it.
if TYPE_CHECKING:
    from fractions import Fraction

    from .breakdown import Breakdown
    from .classification import DatasetEvaluation
    from .metadata import Metadata
    from .runs import Repetition
    from .summary_evaluations import SummaryEvaluation

EVALUATOR = "Table Answer Evaluator"
METRIC = "task_accuracy"
SUMMARY_SCHEMA_VERSION = "1.0"
_VERSION = re.compile("[0-9A-Za-z.+-]{1,40}")
_SIGNATURE_DIGITS = 8
_LIMITS = TableLimits._field_defaults


@dataclass(frozen=True)
class Summary:
    """The evaluation of a suite: one result per task of the config set, in number order, and what identifies it.

    Where only some of the tasks were scored, `other_tasks` are those that were not, in number order, there is no
    accuracy, and `gold_sha256` and `prediction_sha256` are the digests of the files read, by task. Where there are
    several runs, `repetition` has them, and `tasks` the results that stand for its cases. `metadata` is what is said of
    tasks, None where nothing was read.

    `evaluator_version` is that of the program that scored. The digests are SHA-256 over the config files, and over the
    digests of the gold files and of the prediction files that could be read; with `gold_redacted` there is none of
    gold, as it would confirm a guess.
    `limits` are those that are not the default, `refused_members` those of a prediction archive that were refused, with
    reasons. There is at least one task. The dataset evaluators and the plugins have digests of their own, None where
    there are none; the results of both are in the order of the summary. `check_functions` are the functions of plugins
    that verdicts depend on, sorted.
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
    other_tasks: tuple[str, ...] | None = None
    gold_sha256: Mapping[str, str] = field(default_factory=dict)
    prediction_sha256: Mapping[str, str] = field(default_factory=dict)
    repetition: Repetition | None = None
    metadata: Metadata | None = None
    check_functions: tuple[str, ...] = ()

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
            if self.repetition.thresholds:
                parts["thresholds"] = self.repetition.thresholds_sha256[:_SIGNATURE_DIGITS]
        if self.check_functions and self.plugin_set_sha256 is not None:
            parts["plugins"] = self.plugin_set_sha256[:_SIGNATURE_DIGITS]
        if self.is_partial:
            parts["tasks"] = f"{len(self.tasks)}/{self.task_count}"
        return "|".join(f"{name}:{value}" for name, value in parts.items())

    @property
    def is_partial(self) -> bool:
        """Whether only some tasks of the config set were scored."""
        return self.other_tasks is not None

    @property
    def task_count(self) -> int:
        """The tasks of the config set, scored or not."""
        return len(self.tasks) + len(self.other_tasks or ())

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
    def results(self) -> Iterator[TaskEvaluationResult]:
        """The results of all tasks, of every run where there are several, run after run."""
        runs = [self.tasks] if self.repetition is None else [run.tasks for run in self.repetition.runs]
        return (task for tasks in runs for task in tasks)

    @property
    def scores(self) -> dict[str, Fraction | float | None]:
        """The score of every dataset evaluator and summary evaluator that can have one; None where nothing was scored.

        Over several runs it is the mean.
        """
        from .runs import scores_of

        if self.repetition is not None:
            return self.repetition.scores
        return scores_of(self.dataset_evaluations, self.summary_evaluations)

    @property
    def plugin_results(self) -> tuple[SummaryEvaluation, ...]:
        """What the plugins returned, over all runs."""
        if self.repetition is None:
            return self.summary_evaluations
        return tuple(evaluation for run in self.repetition.runs for evaluation in run.summary_evaluations)

    @cached_property
    def breakdown(self) -> Breakdown | None:
        """The score by what is said of tasks; None where nothing is, or only some tasks were scored."""
        if self.metadata is None or self.is_partial:
            return None
        from .breakdown import Outcome, break_down

        if self.repetition is None:
            outcomes = [Outcome(task.task_id, task.passed, int(task.passed), 1) for task in self.tasks]
        else:
            cases = self.repetition.cases
            outcomes = [Outcome(case.task_id, case.passed, case.passed_runs, case.run_count) for case in cases]
        return break_down(outcomes, self.metadata)

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
            "tasks": self._task_documents(),
            "summary_schema_version": SUMMARY_SCHEMA_VERSION,
            "gold_set_sha256": self.gold_set_sha256,
            "prediction_set_sha256": self.prediction_set_sha256,
            "failure_counts": self.failure_counts,
            "accuracy_interval": interval and interval._asdict(),
            "signature": self.signature,
        }
        return document | self._optional_parts()

    def _optional_parts(self) -> dict[str, Any]:
        document: dict[str, Any] = {}
        if self.other_tasks is not None:
            document |= {
                "partial": True,
                "other_tasks": list(self.other_tasks),
                "gold_sha256": dict(self.gold_sha256),
                "prediction_sha256": dict(self.prediction_sha256),
            }
        for key in ("limits", "refused_members"):
            if getattr(self, key):
                document[key] = dict(getattr(self, key))
        if self.gold_redacted:
            document["gold_redacted"] = True
        if self.check_functions:
            document["check_functions"] = list(self.check_functions)
        document |= self._fold_parts()
        if self.repetition is not None:
            document |= self.repetition.to_dict()
        for key in ("metadata", "breakdown"):
            if getattr(self, key) is not None:
                document[key] = getattr(self, key).to_dict()
        return document

    def _fold_parts(self) -> dict[str, Any]:
        document: dict[str, Any] = {}
        for digest, key in (
            ("dataset_config_sha256", "dataset_evaluations"),
            ("plugin_set_sha256", "summary_evaluations"),
        ):
            if getattr(self, digest) is None:
                continue
            document[digest] = getattr(self, digest)
            # Of some tasks only there are no results over all, of several runs each has its own, and a plugin may have
            # no functions for it.
            if getattr(self, key):
                document[key] = [evaluation.to_dict() for evaluation in getattr(self, key)]
        return document

    def _task_documents(self) -> list[dict[str, Any]]:
        documents = [task.to_dict() for task in self.tasks]
        if self.repetition is not None:
            for document, place in zip(documents, self.repetition.shown, strict=True):
                document["run"] = self.repetition.runs[place].name
        return documents

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Summary:
        """Return the summary that `to_dict` wrote.

        Raises EvaluationError when `document` is not a summary of this schema version or contradicts itself.
        """
        from .classification import DatasetEvaluation
        from .metadata import Metadata
        from .runs import Repetition
        from .summary_evaluations import SummaryEvaluation

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
                other_tasks=tuple(document["other_tasks"]) if "partial" in document else None,
                gold_sha256=document.get("gold_sha256", {}),
                prediction_sha256=document.get("prediction_sha256", {}),
                repetition=Repetition.from_dict(document) if "runs" in document else None,
                metadata=Metadata.from_dict(document["metadata"]) if "metadata" in document else None,
                check_functions=tuple(document.get("check_functions", ())),
            )
            fault = _fault_of_types(summary)
            if fault is not None:
                raise EvaluationError(f"not a summary: {quoted(fault)} is of another type")
            if not _is_consistent(summary) or _spelled(summary.to_dict()) != _spelled(document):
                raise EvaluationError("not a summary: its parts do not follow from each other")
        except KeyError as error:
            raise EvaluationError(f"not a summary: it has no {quoted(str(error.args[0]))}") from None
        except (IndexError, TypeError, ValueError, AttributeError, OverflowError, StopIteration):
            raise EvaluationError("not a summary: a part of it is of another kind") from None
        return summary


def _fault_of_types(summary: Summary) -> str | None:
    """Return what in a summary that was read from a file is not of its declared type, None where all is."""
    from .classification import DatasetEvaluation
    from .findings import Diagnosis
    from .metadata import Metadata
    from .runs import Repetition
    from .summary_evaluations import SummaryEvaluation
    from .typed import TypeChecker

    known = (DatasetEvaluation, Diagnosis, Metadata, Repetition, SummaryEvaluation)
    return TypeChecker({one.__name__: one for one in known}).fault(summary, Summary, "summary")


def _is_consistent(summary: Summary) -> bool:
    """Return whether there are tasks, in number order, and all is what the classes promise."""
    task_ids = [task.task_id for task in summary.tasks]
    others = summary.other_tasks or ()
    digests = (
        *(summary.config_set_sha256, summary.gold_set_sha256, summary.prediction_set_sha256),
        *(summary.dataset_config_sha256, summary.plugin_set_sha256),
    )
    return (
        bool(task_ids)
        and all(_are_in_order(ids) for ids in (task_ids, others, summary.unscored_prediction_tasks))
        and len({*task_ids, *others, *summary.unscored_prediction_tasks})
        == summary.task_count + len(summary.unscored_prediction_tasks)
        and all(digest is None or is_digest(digest) for digest in digests)
        and summary.gold_redacted == (summary.gold_set_sha256 is None)
        and all(map(_VERSION.fullmatch, (summary.evaluator_version, summary.config_schema_version)))
        and all(limit > 0 and limit != _LIMITS.get(name, limit) for name, limit in summary.limits.items())
        and all(task.is_consistent for task in summary.tasks)
        and (summary.metadata is None or summary.metadata.is_consistent(task_ids))
        and (summary.repetition is None or _is_repeated(summary, summary.repetition))
        and _are_digests_of_tasks(summary, task_ids)
        and (not summary.gold_redacted or all(map(_shows_no_gold, summary.results)))
        and not (summary.is_partial and summary.plugin_results)
        and list(summary.check_functions) == sorted(set(summary.check_functions))
        and not (summary.check_functions and summary.plugin_set_sha256 is None)
    )


def _are_in_order(task_ids: Sequence[str]) -> bool:
    keys = list(map(task_number_key, task_ids))
    return all(map(is_task_id, task_ids)) and all(one < other for one, other in pairwise(keys))


def _is_repeated(summary: Summary, repetition: Repetition) -> bool:
    """Return whether a summary says what its runs and its metadata say."""
    has_evaluators = summary.dataset_config_sha256 is not None and not summary.is_partial
    own = {} if summary.metadata is None else summary.metadata.thresholds
    return (
        repetition.is_consistent(has_evaluators=has_evaluators)
        and summary.tasks == repetition.tasks
        and summary.prediction_set_sha256 == repetition.prediction_set_sha256
        and summary.unscored_prediction_tasks == repetition.unscored_prediction_tasks
        and summary.refused_members == repetition.refused_members
        and not (summary.dataset_evaluations or summary.summary_evaluations or summary.prediction_sha256)
        and repetition.thresholds == {key: value for key, value in own.items() if value != repetition.threshold}
    )


def _are_digests_of_tasks(summary: Summary, task_ids: Sequence[str]) -> bool:
    """Return whether the digests of files are those of a part's tasks, and what the digests of sets are of."""
    runs = [summary] if summary.repetition is None else summary.repetition.runs
    if not summary.is_partial:
        return not (summary.gold_sha256 or summary.prediction_sha256 or any(run.prediction_sha256 for run in runs))
    sets = [(run.prediction_sha256, run.prediction_set_sha256) for run in runs]
    if summary.gold_set_sha256 is not None:
        sets.append((summary.gold_sha256, summary.gold_set_sha256))
    return (
        (not summary.gold_sha256 if summary.gold_redacted else _tables(summary) <= summary.gold_sha256.keys())
        and all(list(files) == [key for key in task_ids if key in files] for files, _ in sets)
        and all(map(is_digest, (digest for files, _ in sets for digest in files.values())))
        and all(digest_of_digests(files) == digest for files, digest in sets)
    )


def _tables(summary: Summary) -> set[str]:
    """Return the tasks whose answers are tables, each of which has gold."""
    return {task.task_id for task in summary.tasks if not task.checks}


def _shows_no_gold(task: TaskEvaluationResult) -> bool:
    is_redacted = task.diagnosis is None or task.diagnosis.redacted() == task.diagnosis
    return is_redacted and not task.labels and all(check.is_redacted for check in task.checks)


def _spelled(document: object) -> str:
    """Return JSON that tells apart what Python takes for equal, such as 1, 1.0 and true."""
    return json.dumps(document, sort_keys=True, allow_nan=False)
