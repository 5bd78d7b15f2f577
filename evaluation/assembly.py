"""Summaries made of summaries: several runs as one, and the parts of a config set as the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from .classification import evaluate_dataset
from .configs import task_number_key
from .errors import EvaluationFatalError
from .files import digest_of_digests
from .metadata import Metadata
from .results import TaskEvaluationResult
from .runs import Repetition, Run
from .summary import Summary

if TYPE_CHECKING:
    from .classification import DatasetEvaluation
    from .dataset_configs import DatasetEvaluatorSet

_SHOWN_TASKS = 5
# What all parts must have in common, by the name that a message gives it.
_COMMON = {
    "config_set_sha256": "config digest",
    "config_schema_version": "config schema version",
    "evaluator_version": "evaluator version",
    "limits": "limits",
    "gold_redacted": "redaction of gold",
    "dataset_config_sha256": "digest of dataset evaluators",
    "plugin_set_sha256": "digest of plugins",
    "check_functions": "functions of plugins",
}


def combine_runs(summaries: Mapping[str, Summary], threshold: Fraction) -> Summary:
    """Return one summary of several runs, by name, over the same tasks; of a single run its own.

    A task passes where the share of runs in which it passed is `threshold` or more, or what its metadata say. Raises
    EvaluationFatalError when the runs were not scored against the same gold.
    """
    first = next(iter(summaries.values()))
    if len(summaries) == 1:
        return first
    if len({summary.gold_set_sha256 for summary in summaries.values()}) > 1:
        raise EvaluationFatalError("the gold files changed while the runs were scored")
    own = {} if first.metadata is None else first.metadata.thresholds
    runs = tuple(_as_run(name, summary) for name, summary in summaries.items())
    others = {key: value for key, value in own.items() if value != threshold}
    return _of_runs(first, Repetition(runs, threshold, others))


def _of_runs(summary: Summary, repetition: Repetition) -> Summary:
    """Return the summary with these runs."""
    return replace(
        summary,
        repetition=repetition,
        tasks=repetition.tasks,
        prediction_set_sha256=repetition.prediction_set_sha256,
        unscored_prediction_tasks=repetition.unscored_prediction_tasks,
        refused_members=repetition.refused_members,
        dataset_evaluations=(),
        summary_evaluations=(),
        prediction_sha256={},
    )


def merge_parts(parts: Mapping[str, Summary], evaluators: DatasetEvaluatorSet | None = None) -> Summary:
    """Return the summary of a whole config set, of which `parts`, by what to call them, have some tasks each.

    It is the summary of a run over all tasks, byte for byte. `evaluators` are the dataset evaluators of that run.
    Raises EvaluationFatalError when a part is of a whole set, of another set or scored otherwise, when tasks are in two
    parts or in none, or when the evaluators are not those that the parts were scored for.
    """
    # Whatever the order in which they are named, of what parts contradict each other in the same is taken.
    parts = dict(sorted(parts.items(), key=lambda part: task_number_key(part[1].tasks[0].task_id)))
    _check(parts)
    _check_tasks(parts)
    _check_diagnoses(parts)
    _check_evaluators(parts, evaluators)
    summaries = list(parts.values())
    first = summaries[0]
    gold = _joined([part.gold_sha256 for part in summaries])
    merged = replace(
        first,
        tasks=_in_order([task for part in summaries for task in part.tasks]),
        other_tasks=None,
        gold_set_sha256=None if first.gold_redacted else digest_of_digests(gold),
        gold_sha256={},
        metadata=_metadata(summaries),
    )
    if first.repetition is None:
        run = _merged_run("", [_as_run("", part) for part in summaries], evaluators)
        return replace(
            merged,
            prediction_set_sha256=run.prediction_set_sha256,
            unscored_prediction_tasks=run.unscored_prediction_tasks,
            refused_members=run.refused_members,
            dataset_evaluations=run.dataset_evaluations,
            prediction_sha256={},
        )
    repetitions = [part.repetition for part in summaries if part.repetition is not None]
    runs = tuple(
        _merged_run(run.name, [repetition.runs[place] for repetition in repetitions], evaluators)
        for place, run in enumerate(first.repetition.runs)
    )
    own = {key: value for repetition in repetitions for key, value in repetition.thresholds.items()}
    return _of_runs(merged, Repetition(runs, first.repetition.threshold, own))


def _check(parts: Mapping[str, Summary]) -> None:
    (first_name, first), *_ = parts.items()
    for name, part in parts.items():
        if part.other_tasks is None:
            raise EvaluationFatalError(f"{name} is no part: all tasks of its config set were scored")
        for key, called in _COMMON.items():
            if getattr(part, key) != getattr(first, key):
                raise EvaluationFatalError(f"{name} and {first_name} differ in their {called}")
        if _how_repeated(part) != _how_repeated(first):
            raise EvaluationFatalError(f"{name} and {first_name} differ in their runs or thresholds")
        if (part.metadata is None) != (first.metadata is None) or (
            part.metadata and first.metadata and part.metadata.left_out != first.metadata.left_out
        ):
            raise EvaluationFatalError(f"{name} and {first_name} differ in their metadata")


def _check_tasks(parts: Mapping[str, Summary]) -> None:
    (first_name, first), *_ = parts.items()
    expected = {task.task_id for task in first.tasks}.union(first.other_tasks or ())
    places: dict[str, str] = {}
    for name, part in parts.items():
        own = [task.task_id for task in part.tasks]
        if set(own).union(part.other_tasks or ()) != expected:
            raise EvaluationFatalError(f"{name} and {first_name} differ in the tasks of their config set")
        for task_id in own:
            if task_id in places:
                raise EvaluationFatalError(f"{task_id} is in both {places[task_id]} and {name}")
            places[task_id] = name
    missing = sorted(expected.difference(places), key=task_number_key)
    if missing:
        shown = ", ".join(missing[:_SHOWN_TASKS]) + (" and others" if len(missing) > _SHOWN_TASKS else "")
        raise EvaluationFatalError(f"no part has {shown} ({len(missing)} of {first.task_count} tasks)")


def _check_diagnoses(parts: Mapping[str, Summary]) -> None:
    told = {name: _is_diagnosed(part) for name, part in parts.items()}
    if {True, False} <= set(told.values()):
        without = next(name for name, is_diagnosed in told.items() if is_diagnosed is False)
        raise EvaluationFatalError(f"{without} was scored with --no-diagnosis, and others were not")


def _is_diagnosed(summary: Summary) -> bool | None:
    """Return whether failed tasks whose prediction was read have a diagnosis, None where there are none."""
    failed = [task for task in summary.results if not task.passed and task.prediction_column_count]
    return all(task.diagnosis is not None for task in failed) if failed else None


def _how_repeated(summary: Summary) -> tuple[object, ...]:
    repetition = summary.repetition
    return () if repetition is None else (repetition.threshold, [run.name for run in repetition.runs])


def _check_evaluators(parts: Mapping[str, Summary], evaluators: DatasetEvaluatorSet | None) -> None:
    name, first = next(iter(parts.items()))
    wanted = first.dataset_config_sha256
    if wanted is None:
        if evaluators is not None:
            raise EvaluationFatalError(f"{name} was scored without dataset evaluators, so it has no labels")
        return
    if first.gold_redacted:
        raise EvaluationFatalError(f"{name} has no labels, as gold is redacted, for the dataset evaluators to compare")
    if evaluators is None or evaluators.sha256 != wanted:
        got = "none" if evaluators is None else f"others, of digest {evaluators.sha256}"
        raise EvaluationFatalError(f"{name} was scored for dataset evaluators of digest {wanted}, got {got}")


def _as_run(name: str, summary: Summary) -> Run:
    return Run(
        name,
        summary.prediction_set_sha256,
        summary.unscored_prediction_tasks,
        summary.tasks,
        summary.refused_members,
        summary.dataset_evaluations,
        summary.summary_evaluations,
        summary.prediction_sha256,
    )


def _merged_run(name: str, parts: Sequence[Run], evaluators: DatasetEvaluatorSet | None) -> Run:
    tasks = _in_order([task for part in parts for task in part.tasks])
    unscored = {task_id for part in parts for task_id in part.unscored_prediction_tasks}
    refused = {name: reason for part in parts for name, reason in part.refused_members.items()}
    found: tuple[DatasetEvaluation, ...] = ()
    if evaluators is not None:
        found = tuple(evaluate_dataset(evaluator, tasks) for evaluator in evaluators.evaluators)
    return Run(
        name,
        digest_of_digests(_joined([part.prediction_sha256 for part in parts])),
        tuple(sorted(unscored, key=task_number_key)),
        tasks,
        refused,
        found,
    )


def _in_order(tasks: Sequence[TaskEvaluationResult]) -> tuple[TaskEvaluationResult, ...]:
    return tuple(sorted(tasks, key=lambda task: task_number_key(task.task_id)))


def _joined(digests: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the digests of all files, by task, in number order."""
    found = {task_id: digest for part in digests for task_id, digest in part.items()}
    return {task_id: found[task_id] for task_id in sorted(found, key=task_number_key)}


def _metadata(parts: Sequence[Summary]) -> Metadata | None:
    known = [part.metadata for part in parts if part.metadata is not None]
    if not known:
        return None
    tasks = {task_id: task for metadata in known for task_id, task in metadata.tasks.items()}
    return Metadata({key: tasks[key] for key in sorted(tasks, key=task_number_key)}, known[0].left_out)
