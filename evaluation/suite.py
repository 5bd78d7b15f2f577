"""Walk the roots, score every task of the config set, and sum up."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from . import __version__
from .configs import (
    CONFIG_SCHEMA_VERSION,
    DATASET_EVALUATORS_FOLDER,
    ConfigSet,
    TaskConfig,
    default_config_root,
    is_task_id,
    load_config_set,
    task_number_key,
)
from .errors import EvaluationFatalError, InputError, PredictionFormatError, quoted
from .files import FileSetDigest, read_author_file
from .results import TaskEvaluationResult
from .scoring import GOLD_FILE, UNREADABLE, TaskFiles, score_task
from .submissions import PREDICTION_FILE, PredictionDirectory
from .summary import Summary
from .tables import DEFAULT_LIMITS, Table, parse_table

# What only some runs need is imported where they need it: starting is most of a small run's time.
if TYPE_CHECKING:
    from .dataset_configs import DatasetEvaluatorSet
    from .plugins import PluginSet

Progress = Callable[[int, int], None]

MAX_JOBS = 256

# With fewer bytes of tables, and fewer tasks, most runs end within a second, and workers do not pay.
_LEAST_BYTES_FOR_WORKERS = 16 << 20
_LEAST_TASKS_FOR_WORKERS = 4000


def evaluate_suite(
    *,
    prediction_root: str | os.PathLike[str],
    gold_root: str | os.PathLike[str],
    config_root: str | os.PathLike[str] | None = None,
    dataset_evaluators: str | os.PathLike[str] | None = None,
    plugins: Sequence[str | os.PathLike[str]] = (),
    jobs: int = 1,
) -> dict[str, Any]:
    """Return the summary of a benchmark in its JSON form.

    Without `config_root` it is found as `default_config_root` says, and without `dataset_evaluators`, a file or a
    folder, as `find_dataset_evaluators` does. Tasks are scored in up to `jobs` processes, 1 to MAX_JOBS. Raises
    EvaluationFatalError when a root cannot be listed, or a config, a gold file or a plugin is missing or invalid, and
    ValueError when `jobs` is no such number.
    """
    submission = PredictionDirectory(prediction_root)
    config_set = load_config_set(default_config_root(gold_root) if config_root is None else config_root)
    evaluators = find_dataset_evaluators(config_set, dataset_evaluators)
    return score_suite(config_set, submission, gold_root, evaluators, find_plugins(plugins), jobs=jobs).to_dict()


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


def find_plugins(paths: Sequence[str | os.PathLike[str]]) -> PluginSet | None:
    """Return the plugins in these files, None where there are no files. Raises EvaluationFatalError as they do."""
    if not paths:
        return None
    from .plugins import load_plugins

    return load_plugins(paths)


def score_suite(
    config_set: ConfigSet,
    submission: PredictionDirectory,
    gold_root: str | os.PathLike[str],
    dataset_evaluators: DatasetEvaluatorSet | None = None,
    plugins: PluginSet | None = None,
    progress: Progress | None = None,
    jobs: int = 1,
) -> Summary:
    """Score the submission's prediction against `gold_root/task_N/gold.csv` for every config, then run the folds.

    `progress` is called with the tasks done and their total after each task. Tasks are scored in up to `jobs`
    processes, with the same summary whatever their number. Raises EvaluationFatalError when the gold root is no
    directory, a gold file is missing or invalid, or a dataset evaluator's classes have no gold label among them, and
    ValueError when `jobs` is no whole number from 1 to MAX_JOBS; a prediction can fail no task but its own.
    """
    if type(jobs) is not int or not 1 <= jobs <= MAX_JOBS:
        raise ValueError(f"jobs: expected a whole number from 1 to {MAX_JOBS}, got {jobs!r}")
    if not os.path.isdir(gold_root):
        raise EvaluationFatalError(f"the gold root {quoted(str(gold_root))} is not a directory")
    evaluators = dataset_evaluators.evaluators if dataset_evaluators else ()
    tasks = _Tasks(config_set, submission, os.fspath(gold_root))
    score = partial(
        _score, label_sources={evaluator.source for evaluator in evaluators}, with_tables=plugins is not None
    )
    digests = _Digests()
    try:
        with _without_garbage_collection():
            outcomes = tasks.in_workers(score, digests, jobs, progress) if jobs > 1 and tasks.are_many else None
            if outcomes is None:
                outcomes = tasks.in_turn(score, digests, progress)
    except EvaluationFatalError as error:
        # Gold that does not fit may well be sound, and the configs another benchmark's.
        raise EvaluationFatalError(f"{error}; the config set is {quoted(str(config_set.root))}") from None
    results = tuple(outcome.result for outcome in outcomes)
    return Summary(
        evaluator_version=__version__,
        config_schema_version=CONFIG_SCHEMA_VERSION,
        config_set_sha256=config_set.sha256,
        gold_set_sha256=digests.gold.hexdigest(),
        prediction_set_sha256=digests.predictions.hexdigest(),
        unscored_prediction_tasks=_unscored_tasks(config_set, submission),
        tasks=results,
        **_dataset_fold(dataset_evaluators, results),
        **_plugin_fold(plugins, config_set, outcomes, {evaluator.id for evaluator in evaluators}),
    )


class _Outcome(NamedTuple):
    """A task's result, and, where plugins are to see them, the column mapping taken for it and its two tables."""

    result: TaskEvaluationResult
    mapping: Sequence[int | None] | None = None
    tables: tuple[Table, Table | None] | None = None


class _Digests:
    """The digests of the gold files and of the predictions, which are to be added in the order of the config set."""

    def __init__(self) -> None:
        self.gold = FileSetDigest()
        self.predictions = FileSetDigest()

    def add(self, files: TaskFiles) -> None:
        self.gold.add(_gold_name(files.config), files.gold.data)
        if files.prediction is not None:
            self.predictions.add(_prediction_name(files.config), files.prediction.data)


_Score = Callable[[TaskFiles], "_Outcome | EvaluationFatalError"]


class _Tasks:
    """The tasks of a run, and the two ways to score them all."""

    def __init__(self, config_set: ConfigSet, submission: PredictionDirectory, gold_root: str) -> None:
        self._config_set = config_set
        self._submission = submission
        self._gold_root = gold_root

    def in_turn(self, score: _Score, digests: _Digests, progress: Progress | None) -> list[_Outcome]:
        """Return the outcome of every task, one scored after the other."""
        outcomes = []
        for config in self._config_set.configs:
            files = self._read(config)
            digests.add(files)
            outcomes.append(_checked(score(files)))
            if progress is not None:
                progress(len(outcomes), len(self._config_set.configs))
        return outcomes

    @property
    def are_many(self) -> bool:
        """Whether scoring them takes long enough for workers to pay."""
        configs = self._config_set.configs
        if len(configs) < 2:
            return False
        return len(configs) >= _LEAST_TASKS_FOR_WORKERS or sum(map(self._size, configs)) >= _LEAST_BYTES_FOR_WORKERS

    def in_workers(
        self, score: _Score, digests: _Digests, jobs: int, progress: Progress | None
    ) -> list[_Outcome] | None:
        """Return the outcome of every task, scored in up to `jobs` processes; None where none can be started."""
        try:
            from .workers import can_start_workers, map_in_workers
        except ImportError:
            return None
        configs = self._config_set.configs
        if not can_start_workers():
            return None
        outcomes: dict[int, _Outcome | EvaluationFatalError] = {}
        for i, config in enumerate(configs):
            try:
                digests.add(self._read(config))
            except EvaluationFatalError as error:
                # A task before this one may have a fault too, and then that is the one to tell.
                outcomes[i], configs = error, configs[:i]
                break
        # The largest task last would keep one worker busy while the others have nothing left to do.
        order = sorted(range(len(configs)), key=lambda i: -self._size(configs[i]))
        # Workers read the files themselves, and send no tables back: what is sent is small.
        numbers = zip(order, order, strict=True)
        for i, outcome in map_in_workers(partial(self.in_worker, score), numbers, max(1, min(jobs, len(configs)))):
            outcomes[i] = score(self._without_prediction(configs[i])) if outcome is None else outcome
            if progress is not None:
                progress(len(outcomes), len(configs))
        checked = [_checked(outcomes[i]) for i in sorted(outcomes)]
        return [self._with_tables(config, outcome) for config, outcome in zip(configs, checked, strict=True)]

    def in_worker(self, score: _Score, i: int) -> _Outcome | EvaluationFatalError:
        """Return the outcome of the task at place i without its tables, or what is wrong with its gold file."""
        try:
            return _checked(score(self._read(self._config_set.configs[i])))._replace(tables=None)
        except EvaluationFatalError as error:
            return error

    def _without_prediction(self, config: TaskConfig) -> TaskFiles:
        """Return the files of a task whose worker died; that there is no prediction to read is known all the same."""
        files = self._read(config)
        if files.prediction is None:
            return files
        fault = ("worker_died", "the process that scored it died, most likely because memory ran out")
        return files._replace(prediction=None, fault=fault)

    def _with_tables(self, config: TaskConfig, outcome: _Outcome) -> _Outcome:
        """Return the outcome with the tables that plugins are to see, read anew where a worker has read them."""
        if outcome.mapping is None or outcome.tables is not None:
            return outcome
        files = self._read(config)
        try:
            gold = parse_table(files.gold.data)
            is_table = outcome.result.prediction_column_count > 0
            prediction = parse_table(files.prediction.data) if files.prediction and is_table else None
        except InputError:
            raise EvaluationFatalError(f"the files of {config.task_id} changed while they were scored") from None
        return outcome._replace(tables=(gold, prediction))

    def _read(self, config: TaskConfig) -> TaskFiles:
        path = os.path.join(self._gold_root, config.task_id, GOLD_FILE)
        gold = read_author_file(path, f"gold file {_gold_name(config)}", DEFAULT_LIMITS.csv_bytes)
        try:
            return TaskFiles(config, gold, self._submission.read(config.task_id, DEFAULT_LIMITS.csv_bytes))
        except PredictionFormatError as error:
            return TaskFiles(config, gold, None, (UNREADABLE, str(error)))

    def _size(self, config: TaskConfig) -> int:
        """Return the bytes of the task's files, as far as that can be told."""
        size = self._submission.size(config.task_id)
        with contextlib.suppress(OSError):
            size += os.path.getsize(os.path.join(self._gold_root, config.task_id, GOLD_FILE))
        return size


def _score(files: TaskFiles, label_sources: Collection[str], with_tables: bool) -> _Outcome | EvaluationFatalError:
    """Return the outcome of a task, or what is wrong with its gold file."""
    try:
        scored = score_task(files, _gold_name(files.config), _prediction_name(files.config), label_sources)
    except EvaluationFatalError as error:
        return error
    if not with_tables:
        return _Outcome(scored.result)
    return _Outcome(scored.result, scored.mapping, (scored.gold.table, scored.prediction))


def _checked(outcome: _Outcome | EvaluationFatalError) -> _Outcome:
    if isinstance(outcome, EvaluationFatalError):
        raise outcome
    return outcome


def _gold_name(config: TaskConfig) -> str:
    return f"{config.task_id}/{GOLD_FILE}"


def _prediction_name(config: TaskConfig) -> str:
    return f"{config.task_id}/{PREDICTION_FILE}"


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Spare the collector the hundreds of thousands of rows of a table: no cycle holds them, so they need none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _unscored_tasks(config_set: ConfigSet, submission: PredictionDirectory) -> tuple[str, ...]:
    known = {config.task_id for config in config_set.configs}
    unscored = (name for name in submission.folders if is_task_id(name) and name not in known)
    return tuple(sorted(unscored, key=task_number_key))


def _dataset_fold(evaluators: DatasetEvaluatorSet | None, results: Sequence[TaskEvaluationResult]) -> dict[str, Any]:
    if evaluators is None:
        return {}
    from .classification import evaluate_dataset

    return {
        "dataset_config_sha256": evaluators.sha256,
        "dataset_evaluations": tuple(evaluate_dataset(evaluator, results) for evaluator in evaluators.evaluators),
    }


def _plugin_fold(
    plugins: PluginSet | None, config_set: ConfigSet, outcomes: Sequence[_Outcome], taken: Collection[str]
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
        "summary_evaluations": evaluate_summary(plugins, answered, taken),
    }
