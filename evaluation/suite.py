"""Score a benchmark: all its tasks, then the folds over them, summed up."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import __version__
from .configs import (
    DATASET_EVALUATORS_FOLDER,
    METADATA_FOLDER,
    CheckTaskConfig,
    ConfigSet,
    default_config_root,
    is_task_id,
    load_config_set,
    task_number_key,
)
from .errors import EvaluationFatalError, quoted
from .files import digest_of_digests
from .results import TaskEvaluationResult
from .runner import Digests, Outcome, Progress, Runner
from .submissions import Submission, open_runs
from .summary import Summary
from .tables import DEFAULT_LIMITS, TableLimits
from .task_files import ScoringOptions

# What only some runs need is imported where they need it: starting is most of a small run's time.
if TYPE_CHECKING:
    from fractions import Fraction

    from .dataset_configs import DatasetEvaluatorSet
    from .metadata import Metadata
    from .plugins import PluginSet

MAX_JOBS = 256

_Path = str | os.PathLike[str]


def evaluate_suite(
    *,
    prediction_root: _Path | Sequence[_Path],
    gold_root: str | os.PathLike[str],
    config_root: str | os.PathLike[str] | None = None,
    dataset_evaluators: str | os.PathLike[str] | None = None,
    plugins: Sequence[str | os.PathLike[str]] = (),
    jobs: int = 1,
    limits: TableLimits = DEFAULT_LIMITS,
    redact_gold: bool = False,
    diagnose: bool = True,
    tasks: Collection[str] = (),
    threshold: Fraction | str = "1",
    metadata: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Return the summary of a benchmark in its JSON form.

    Several prediction roots are several runs, and a task passes where the share of runs in which it did is `threshold`
    or more. `metadata` is found by itself as `find_task_metadata` says. Without `config_root` it is found as
    `default_config_root` says, and without `dataset_evaluators`, a file or a folder, as `find_dataset_evaluators` does.
    Tasks are scored in up to `jobs` processes, 1 to MAX_JOBS. `limits`, `redact_gold`, `diagnose` and `tasks` are as
    `score_suite` says. Raises EvaluationFatalError when a root cannot be read, or a config, a gold file, metadata, a
    plugin or a task is missing or invalid, and ValueError for such `jobs` or `threshold`, or plugins with `tasks`.
    """
    from .exact import read_threshold

    share = read_threshold(str(threshold))
    roots = [prediction_root] if isinstance(prediction_root, (str, os.PathLike)) else list(prediction_root)
    if not roots or isinstance(tasks, str):
        raise ValueError("expected at least one prediction root, and a collection of tasks")
    plugin_set = find_plugins(plugins, muted=redact_gold)
    config_set = load_config_set(
        default_config_root(gold_root) if config_root is None else config_root,
        None if plugin_set is None else plugin_set.functions,
    )
    runs = open_runs(roots, config_set.prediction_files)
    evaluators = find_dataset_evaluators(config_set, dataset_evaluators)
    warn = (lambda sentence: None) if len(runs) == 1 else None
    known = find_task_metadata(config_set, gold_root, metadata, redact_gold=redact_gold, warn=warn)
    options = (jobs, limits, redact_gold, diagnose, tasks, known)

    def score(submission: Submission, progress: Progress | None) -> Summary:
        return score_suite(config_set, submission, gold_root, evaluators, plugin_set, progress, *options)

    return score_runs(runs, share, score).to_dict()


def score_runs(
    runs: Mapping[str, Submission],
    threshold: Fraction | None,
    score: Callable[[Submission, Progress | None], Summary],
    progress: Progress | None = None,
) -> Summary:
    """Return the summary of runs by name, each of which `score` scores; of a single run it is that run's own.

    Without a `threshold` a task must pass in all of them. `progress` is called as `score_suite` does, with the tasks of
    all runs. Raises as `score` and `combine_runs` do.
    """
    summaries = {
        name: score(submission, progress and _progress_of(place, len(runs), progress))
        for place, (name, submission) in enumerate(runs.items())
    }
    if len(summaries) == 1:
        return next(iter(summaries.values()))
    from fractions import Fraction

    from .assembly import combine_runs

    return combine_runs(summaries, Fraction(1) if threshold is None else threshold)


def _progress_of(place: int, runs: int, progress: Progress) -> Progress:
    return lambda done, total: progress(place * total + done, runs * total)


def find_task_metadata(
    config_set: ConfigSet,
    gold_root: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    redact_gold: bool = False,
    warn: Callable[[str], None] | None = None,
) -> Metadata | None:
    """Return what is said of tasks at `path`, or else in the folder `input` beside the gold root, where that is there.

    Where gold is redacted no more is taken of what was not named than thresholds: an answer may be among the rest.
    Raises EvaluationFatalError as `load_metadata` does; with `warn`, for one run, a fault of what was not named is told
    and nothing is taken, as no verdict hangs on it.
    """
    # Most benchmarks have none, and to look for it takes less than to import what reads it.
    if path is None and not os.path.isdir(os.path.join(gold_root, os.pardir, METADATA_FOLDER)):
        return None
    from .metadata import find_metadata, load_metadata

    if path is not None:
        return load_metadata(path, config_set.task_ids)
    try:
        found = find_metadata(gold_root, config_set.task_ids)
        metadata = None if found is None else load_metadata(found, config_set.task_ids)
    except EvaluationFatalError as error:
        if warn is None:
            raise
        warn(f"there is no breakdown, as {error.redacted if redact_gold else error}")
        return None
    if metadata is not None and redact_gold:
        return metadata.only_thresholds() if metadata.thresholds else None
    return metadata


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
    metadata: Metadata | None = None,
) -> Summary:
    """Score the submission's prediction against the gold file in `gold_root` for every config, then run the folds.

    `progress` is called with the tasks done and their total after each task. Tasks are scored in up to `jobs`
    processes, with the same summary whatever their number. `limits` hold for gold and predictions. With `redact_gold`
    the summary holds nothing that gold's cells and headers could be told by, and summary evaluators print nothing. With
    `diagnose` a failed task says what differs and what would make it pass. Where `tasks` are named only these are
    scored, and of dataset evaluators no more is done than to keep the labels. Raises EvaluationFatalError when the gold
    root is no directory, gold files are missing or invalid, or a dataset evaluator's classes have no gold label among
    them, and ValueError when `jobs` is no whole number from 1 to MAX_JOBS, or there are summary evaluators and `tasks`.
    """
    evaluates = bool(plugins and plugins.evaluators)
    _check(jobs, gold_root, is_partial_evaluation=bool(tasks) and evaluates)
    evaluators = dataset_evaluators.evaluators if dataset_evaluators else ()
    options = ScoringOptions(limits, {evaluator.source for evaluator in evaluators}, redact_gold, diagnose)
    digests = Digests()
    selected = config_set.only(tasks) if tasks else config_set
    runner = Runner(selected, submission, os.fspath(gold_root), options, evaluates)
    outcomes = runner.run(digests, jobs, progress)
    results = tuple(outcome.result for outcome in outcomes)
    return Summary(
        evaluator_version=__version__,
        config_schema_version=config_set.schema_version,
        config_set_sha256=config_set.sha256,
        gold_set_sha256=None if redact_gold else digest_of_digests(digests.gold),
        prediction_set_sha256=digest_of_digests(digests.predictions),
        unscored_prediction_tasks=_unscored_tasks(config_set, submission),
        tasks=tuple(replace(result, labels=()) for result in results) if redact_gold else results,
        limits=limits.changed(),
        refused_members=submission.refused,
        check_functions=_function_names(config_set, redact_gold),
        gold_redacted=redact_gold,
        metadata=metadata and metadata.only(selected.task_ids),
        **(_part_of(config_set, selected, digests, redact_gold) if tasks else {}),
        **_dataset_fold(dataset_evaluators, results, redact_gold, is_partial=bool(tasks)),
        **_plugin_fold(plugins, config_set, outcomes, {evaluator.id for evaluator in evaluators}, redact_gold),
    )


def _check(jobs: int, gold_root: str | os.PathLike[str], *, is_partial_evaluation: bool) -> None:
    if is_partial_evaluation:
        raise ValueError("tasks: summary evaluators of plugins need all tasks")
    if type(jobs) is not int or not 1 <= jobs <= MAX_JOBS:
        raise ValueError(f"jobs: expected a whole number from 1 to {MAX_JOBS}, got {jobs!r}")
    if not os.path.isdir(gold_root):
        raise EvaluationFatalError(f"the gold root {quoted(str(gold_root))} is not a directory")


def _unscored_tasks(config_set: ConfigSet, submission: Submission) -> tuple[str, ...]:
    known = {config.task_id for config in config_set.configs}
    unscored = (name for name in submission.folders if is_task_id(name) and name not in known)
    return tuple(sorted(unscored, key=task_number_key))


def _function_names(config_set: ConfigSet, redact_gold: bool) -> tuple[str, ...]:
    """Return the names of the plugins' functions that checks use; where gold is redacted, how many there are."""
    names = config_set.custom_names
    return tuple(sorted(f"function {number}" for number in range(1, len(names) + 1))) if redact_gold else names


def _part_of(config_set: ConfigSet, selected: ConfigSet, digests: Digests, redact_gold: bool) -> dict[str, Any]:
    """Return what the summary of some tasks has, to be merged with those of the others."""
    return {
        "other_tasks": tuple(key for key in config_set.task_ids if key not in selected.task_ids),
        "gold_sha256": {} if redact_gold else digests.gold,
        "prediction_sha256": digests.predictions,
    }


def _dataset_fold(
    evaluators: DatasetEvaluatorSet | None,
    results: Sequence[TaskEvaluationResult],
    redact_gold: bool,
    *,
    is_partial: bool,
) -> dict[str, Any]:
    if evaluators is None:
        return {}
    if is_partial:
        return {"dataset_config_sha256": evaluators.sha256}
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
    if not plugins.evaluators:
        return {"plugin_set_sha256": plugins.sha256}
    from .plugins import AnsweredChecks, AnsweredTask, AnyAnsweredTask, evaluate_summary

    answered: list[AnyAnsweredTask] = []
    for config, outcome in zip(config_set.configs, outcomes, strict=True):
        if isinstance(config, CheckTaskConfig):
            answered.append(AnsweredChecks(config, outcome.result, outcome.answer))
            continue
        assert outcome.tables is not None, "tables are kept where there are plugins"
        assert outcome.mapping is not None, "as are mappings"
        answered.append(AnsweredTask(config, outcome.result, *outcome.tables, outcome.mapping))
    return {
        "plugin_set_sha256": plugins.sha256,
        "summary_evaluations": evaluate_summary(plugins, answered, taken, redact_gold),
    }
