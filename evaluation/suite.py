"""Walk the roots, score every task of the config set, and sum up."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import __version__
from .configs import (
    CONFIG_SCHEMA_VERSION,
    ConfigSet,
    TaskConfig,
    default_config_root,
    is_task_id,
    load_config_set,
    task_number_key,
)
from .errors import EvaluationFatalError, quoted
from .files import FileContent, FileSetDigest
from .results import Summary, TaskEvaluationResult
from .scoring import GOLD_FILE, Gold, read_gold, score_task
from .submissions import PREDICTION_FILE, PredictionDirectory
from .tables import DEFAULT_LIMITS

Progress = Callable[[int, int], None]


def evaluate_suite(
    *,
    prediction_root: str | os.PathLike[str],
    gold_root: str | os.PathLike[str],
    config_root: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Return the summary of a benchmark in its JSON form.

    Without `config_root` it is found as `default_config_root` says. Raises EvaluationFatalError when a root cannot be
    listed, or a config or a gold file is missing or invalid.
    """
    config_set = load_config_set(default_config_root(gold_root) if config_root is None else config_root)
    return score_suite(config_set, PredictionDirectory(prediction_root), gold_root).to_dict()


def score_suite(
    config_set: ConfigSet,
    submission: PredictionDirectory,
    gold_root: str | os.PathLike[str],
    progress: Progress | None = None,
) -> Summary:
    """Score the submission's prediction against `gold_root/task_N/gold.csv` for every config of the set.

    `progress` is called with the tasks done and their total after each task. Raises EvaluationFatalError when
    the gold root is no directory or a gold file is missing or invalid; a prediction can fail no task but its own.
    """
    gold_root = Path(gold_root)
    if not gold_root.is_dir():
        raise EvaluationFatalError(f"the gold root {quoted(str(gold_root))} is not a directory")
    gold_digest, prediction_digest = FileSetDigest(), FileSetDigest()
    results = []
    for config in config_set.configs:
        gold = _read_gold(config, gold_root, config_set)
        gold_digest.add(f"{config.task_id}/{GOLD_FILE}", gold.content.data)
        results.append(_score(config, gold, submission, prediction_digest))
        if progress is not None:
            progress(len(results), len(config_set.configs))
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
    config: TaskConfig, gold: Gold, submission: PredictionDirectory, digest: FileSetDigest
) -> TaskEvaluationResult:
    name = f"{config.task_id}/{PREDICTION_FILE}"

    def read() -> FileContent | None:
        content = submission.read(config.task_id, DEFAULT_LIMITS.csv_bytes)
        if content is not None:
            digest.add(name, content.data)
        return content

    return score_task(config, gold, read, name)
