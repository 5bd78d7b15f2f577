"""Walk the roots, score every task of the config set, and sum up."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from . import __version__
from .classification import evaluate_dataset
from .configs import (
    CONFIG_SCHEMA_VERSION,
    ConfigSet,
    TaskConfig,
    default_config_root,
    is_task_id,
    load_config_set,
    task_number_key,
)
from .dataset_configs import DATASET_EVALUATORS_FOLDER, DatasetEvaluatorSet, load_dataset_evaluators
from .errors import EvaluationFatalError, quoted
from .files import FileContent, FileSetDigest
from .plugins import AnsweredTask, PluginSet, evaluate_summary, load_plugins
from .scoring import GOLD_FILE, Gold, ScoredTask, read_gold, score_task
from .submissions import PREDICTION_FILE, PredictionDirectory
from .summary import Summary
from .tables import DEFAULT_LIMITS

Progress = Callable[[int, int], None]


def evaluate_suite(
    *,
    prediction_root: str | os.PathLike[str],
    gold_root: str | os.PathLike[str],
    config_root: str | os.PathLike[str] | None = None,
    dataset_evaluators: str | os.PathLike[str] | None = None,
    plugins: Sequence[str | os.PathLike[str]] = (),
) -> dict[str, Any]:
    """Return the summary of a benchmark in its JSON form.

    Without `config_root` it is found as `default_config_root` says, and without `dataset_evaluators`, a file or a
    folder, as `find_dataset_evaluators` does. Raises EvaluationFatalError when a root cannot be listed, or a config,
    a gold file or a plugin is missing or invalid.
    """
    submission = PredictionDirectory(prediction_root)
    config_set = load_config_set(default_config_root(gold_root) if config_root is None else config_root)
    return score_suite(
        config_set,
        submission,
        gold_root,
        find_dataset_evaluators(config_set, dataset_evaluators),
        load_plugins(plugins) if plugins else None,
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
    return load_dataset_evaluators(folder if path is None else path, config_set.label_sources)


def score_suite(
    config_set: ConfigSet,
    submission: PredictionDirectory,
    gold_root: str | os.PathLike[str],
    dataset_evaluators: DatasetEvaluatorSet | None = None,
    plugins: PluginSet | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Score the submission's prediction against `gold_root/task_N/gold.csv` for every config, then run the folds.

    `progress` is called with the tasks done and their total after each task. Raises EvaluationFatalError when
    the gold root is no directory, a gold file is missing or invalid, or a dataset evaluator's classes have no gold
    label among them; a prediction can fail no task but its own.
    """
    gold_root = Path(gold_root)
    if not os.path.isdir(gold_root):
        raise EvaluationFatalError(f"the gold root {quoted(str(gold_root))} is not a directory")
    evaluators = dataset_evaluators.evaluators if dataset_evaluators else ()
    label_sources = {evaluator.source for evaluator in evaluators}
    gold_digest, prediction_digest = FileSetDigest(), FileSetDigest()
    results = []
    answered = []
    for config in config_set.configs:
        gold = _read_gold(config, gold_root, config_set)
        gold_digest.add(f"{config.task_id}/{GOLD_FILE}", gold.content.data)
        scored = _score(config, gold, submission, prediction_digest, label_sources)
        results.append(scored.result)
        if plugins is not None:
            answered.append(AnsweredTask(config, scored.result, gold.table, scored.prediction, scored.mapping))
        if progress is not None:
            progress(len(results), len(config_set.configs))
    ids = {evaluator.id for evaluator in evaluators}
    known = {config.task_id for config in config_set.configs}
    unscored = sorted(
        (name for name in submission.folders if is_task_id(name) and name not in known), key=task_number_key
    )
    return Summary(
        evaluator_version=__version__,
        config_schema_version=CONFIG_SCHEMA_VERSION,
        config_set_sha256=config_set.sha256,
        gold_set_sha256=gold_digest.hexdigest(),
        prediction_set_sha256=prediction_digest.hexdigest(),
        unscored_prediction_tasks=tuple(unscored),
        tasks=tuple(results),
        dataset_config_sha256=dataset_evaluators.sha256 if dataset_evaluators else None,
        dataset_evaluations=tuple(evaluate_dataset(evaluator, results) for evaluator in evaluators),
        plugin_set_sha256=plugins.sha256 if plugins else None,
        summary_evaluations=evaluate_summary(plugins, answered, taken=ids) if plugins else (),
    )


def _read_gold(config: TaskConfig, gold_root: Path, config_set: ConfigSet) -> Gold:
    try:
        return read_gold(config, gold_root / config.task_id / GOLD_FILE, f"{config.task_id}/{GOLD_FILE}")
    except EvaluationFatalError as error:
        # Gold that does not fit may well be sound, and the configs another benchmark's.
        raise EvaluationFatalError(
            f"{error}; the config set is {quoted(str(config_set.root))}, --config-root names another"
        ) from None


def _score(
    config: TaskConfig,
    gold: Gold,
    submission: PredictionDirectory,
    digest: FileSetDigest,
    label_sources: Collection[str],
) -> ScoredTask:
    name = f"{config.task_id}/{PREDICTION_FILE}"

    def read() -> FileContent | None:
        content = submission.read(config.task_id, DEFAULT_LIMITS.csv_bytes)
        if content is not None:
            digest.add(name, content.data)
        return content

    return score_task(config, gold, read, name, label_sources)
