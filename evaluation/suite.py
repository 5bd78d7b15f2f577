"""Score a benchmark: all its tasks, then the folds over them, summed up."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import __version__
from .configs import (
    CONFIG_SCHEMA_VERSION,
    DATASET_EVALUATORS_FOLDER,
    ConfigSet,
    default_config_root,
    is_task_id,
    load_config_set,
    task_number_key,
)
from .errors import EvaluationFatalError, quoted
from .results import TaskEvaluationResult
from .runner import Digests, Outcome, Progress, Runner
from .scoring import ScoringOptions
from .submissions import Submission, open_submission
from .summary import Summary
from .tables import DEFAULT_LIMITS, TableLimits

# What only some runs need is imported where they need it: starting is most of a small run's time.
if TYPE_CHECKING:
    from .dataset_configs import DatasetEvaluatorSet
    from .plugins import PluginSet

MAX_JOBS = 256


def evaluate_suite(
    *,
    prediction_root: str | os.PathLike[str],
    gold_root: str | os.PathLike[str],
    config_root: str | os.PathLike[str] | None = None,
    dataset_evaluators: str | os.PathLike[str] | None = None,
    plugins: Sequence[str | os.PathLike[str]] = (),
    jobs: int = 1,
    limits: TableLimits = DEFAULT_LIMITS,
    redact_gold: bool = False,
    diagnose: bool = True,
    tasks: Collection[str] = (),
) -> dict[str, Any]:
    """Return the summary of a benchmark in its JSON form.

    Without `config_root` it is found as `default_config_root` says, and without `dataset_evaluators`, a file or a
    folder, as `find_dataset_evaluators` does. Tasks are scored in up to `jobs` processes, 1 to MAX_JOBS. `limits`,
    `redact_gold`, `diagnose` and `tasks` are as `score_suite` says. Raises EvaluationFatalError when a root cannot be
    read, a config, a gold file or a plugin is missing or invalid, or there is no task of a name in `tasks`, and
    ValueError when `jobs` is no such number, or dataset evaluators or plugins are given with `tasks`.
    """
    submission = open_submission(prediction_root)
    config_set = load_config_set(default_config_root(gold_root) if config_root is None else config_root)
    # Those that are found by themselves, not asked for, are left out where only some tasks are scored.
    is_folded = not tasks or dataset_evaluators is not None
    evaluators = find_dataset_evaluators(config_set, dataset_evaluators) if is_folded else None
    return score_suite(
        config_set,
        submission,
        gold_root,
        evaluators,
        find_plugins(plugins, muted=redact_gold),
        jobs=jobs,
        limits=limits,
        redact_gold=redact_gold,
        diagnose=diagnose,
        tasks=tasks,
    ).to_dict()


def find_dataset_evaluators(
    config_set: ConfigSet, path: str | os.PathLike[str] | None = None
) -> DatasetEvaluatorSet | None:
    """Return the dataset evaluators at `path` or else, where there is such a folder, beside the config set's files.

    Raises EvaluationFatalError as `load_dataset_evaluators` does.
    """
    folder = config_set.root / DATASET_EVALUATORS_FOLDER
    if path is None and not os.path.lexists(folder):
        return None
    from .dataset_configs import load_dataset_evaluators

    return load_dataset_evaluators(folder if path is None else path, config_set.label_sources)


def find_plugins(paths: Sequence[str | os.PathLike[str]], *, muted: bool = False) -> PluginSet | None:
    """Return the plugins in these files, None where there are no files; raise and mute as `load_plugins` does."""
    if not paths:
        return None
    from .plugins import load_plugins

    return load_plugins(paths, muted=muted)


def score_suite(
    config_set: ConfigSet,
    submission: Submission,
    gold_root: str | os.PathLike[str],
    dataset_evaluators: DatasetEvaluatorSet | None = None,
    plugins: PluginSet | None = None,
    progress: Progress | None = None,
    jobs: int = 1,
    limits: TableLimits = DEFAULT_LIMITS,
    redact_gold: bool = False,
    diagnose: bool = True,
    tasks: Collection[str] = (),
) -> Summary:
    """Score the submission's prediction against `gold_root/task_N/gold.csv` for every config, then run the folds.

    `progress` is called with the tasks done and their total after each task. Tasks are scored in up to `jobs`
    processes, with the same summary whatever their number. `limits` hold for gold and predictions. With `redact_gold`
    the summary holds nothing that gold's cells and headers could be told by, and summary evaluators print nothing. With
    `diagnose` a failed task says what differs and what would make it pass. Where `tasks` are named only these are
    scored, and the digests of gold and predictions are of their files.
    Raises EvaluationFatalError when the gold root is no directory, gold files are missing or invalid, or a dataset
    evaluator's classes have no gold label among them, and ValueError when `jobs` is no whole number from 1 to MAX_JOBS,
    or folds are asked for with `tasks`; a prediction can fail no task but its own.
    """
    if tasks and (dataset_evaluators or plugins):
        raise ValueError("tasks: dataset evaluators and plugins need all tasks")
    _check(jobs, gold_root)
    evaluators = dataset_evaluators.evaluators if dataset_evaluators else ()
    options = ScoringOptions(limits, {evaluator.source for evaluator in evaluators}, redact_gold, diagnose)
    digests = Digests()
    selected = config_set.only(tasks) if tasks else config_set
    runner = Runner(selected, submission, os.fspath(gold_root), options, plugins is not None)
    outcomes = runner.run(digests, jobs, progress)
    results = tuple(outcome.result for outcome in outcomes)
    return Summary(
        evaluator_version=__version__,
        config_schema_version=CONFIG_SCHEMA_VERSION,
        config_set_sha256=config_set.sha256,
        gold_set_sha256=None if redact_gold else digests.gold.hexdigest(),
        prediction_set_sha256=digests.predictions.hexdigest(),
        unscored_prediction_tasks=_unscored_tasks(config_set, submission),
        tasks=tuple(replace(result, labels=()) for result in results) if redact_gold else results,
        limits=limits.changed(),
        refused_members=submission.refused,
        gold_redacted=redact_gold,
        full_task_count=len(config_set.configs) if tasks else None,
        **_dataset_fold(dataset_evaluators, results, redact_gold),
        **_plugin_fold(plugins, config_set, outcomes, {evaluator.id for evaluator in evaluators}, redact_gold),
    )


def _check(jobs: int, gold_root: str | os.PathLike[str]) -> None:
    if type(jobs) is not int or not 1 <= jobs <= MAX_JOBS:
        raise ValueError(f"jobs: expected a whole number from 1 to {MAX_JOBS}, got {jobs!r}")
    if not os.path.isdir(gold_root):
        raise EvaluationFatalError(f"the gold root {quoted(str(gold_root))} is not a directory")


def _unscored_tasks(config_set: ConfigSet, submission: Submission) -> tuple[str, ...]:
    known = {config.task_id for config in config_set.configs}
    unscored = (name for name in submission.folders if is_task_id(name) and name not in known)
    return tuple(sorted(unscored, key=task_number_key))


def _dataset_fold(
    evaluators: DatasetEvaluatorSet | None, results: Sequence[TaskEvaluationResult], redact_gold: bool
) -> dict[str, Any]:
    if evaluators is None:
        return {}
    from .classification import evaluate_dataset

    evaluations = [evaluate_dataset(evaluator, results) for evaluator in evaluators.evaluators]
    return {
        "dataset_config_sha256": evaluators.sha256,
        "dataset_evaluations": tuple(
            evaluation.redacted() if redact_gold else evaluation for evaluation in evaluations
        ),
    }


def _plugin_fold(
    plugins: PluginSet | None,
    config_set: ConfigSet,
    outcomes: Sequence[Outcome],
    taken: Collection[str],
    redact_gold: bool,
) -> dict[str, Any]:
    if plugins is None:
        return {}
    from .plugins import AnsweredTask, evaluate_summary

    answered = []
    for config, outcome in zip(config_set.configs, outcomes, strict=True):
        assert outcome.tables is not None, "tables are kept where there are plugins"
        assert outcome.mapping is not None, "as are mappings"
        answered.append(AnsweredTask(config, outcome.result, *outcome.tables, outcome.mapping))
    return {
        "plugin_set_sha256": plugins.sha256,
        "summary_evaluations": evaluate_summary(plugins, answered, taken, redact_gold),
    }
