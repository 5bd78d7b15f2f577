"""Score every task of a config set, one after the other or in worker processes."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .configs import AnyTaskConfig, CheckTaskConfig, ConfigSet
from .errors import EvaluationFatalError, Faults, InputError, quoted
from .files import digest_of, read_author_file
from .results import TaskEvaluationResult
from .scoring import ScoredTask, score_task
from .submissions import Submission
from .tables import Table, parse_table
from .task_files import AnswerFiles, ScoringOptions, TaskFiles, files_of

Progress = Callable[[int, int], None]

# With fewer bytes of tables most runs end within a second, and a smaller task costs less than to hand it to a worker.
_LEAST_BYTES_FOR_WORKERS = 16 << 20
_LEAST_BYTES_PER_TASK = 32 << 10
# Of a prediction, plugins see no more rows than gold has and so many.
MOST_EXTRA_ROWS = 1000
# Of an answer that is no table, so many characters.
MOST_ANSWER_CHARACTERS = 100_000


class Outcome(NamedTuple):
    """A task's result, and, where plugins are to see them, the column mapping taken for it and its two tables.

    In their place an answer that is no table has its text, None where there is none.
    """

    result: TaskEvaluationResult
    mapping: Sequence[int | None] | None = None
    tables: tuple[Table, Table | None] | None = None
    answer: str | None = None


class Digests:
    """The digests of the gold files and of the predictions that could be read, by task, in the order of the tasks."""

    def __init__(self) -> None:
        self.gold: dict[str, str] = {}
        self.predictions: dict[str, str] = {}

    def add(self, files: _Files) -> None:
        if isinstance(files, EvaluationFatalError):
            return
        if files.gold is not None:
            self.gold[files.config.task_id] = digest_of(files.gold.data)
        if files.prediction is not None:
            self.predictions[files.config.task_id] = digest_of(files.prediction.data)


# A fault of the gold file in the place of what it spoils.
_Files = TaskFiles | AnswerFiles | EvaluationFatalError
_Found = Outcome | EvaluationFatalError


class Runner:
    """The tasks of a config set with their gold and their predictions, and how they are to be scored.

    With `with_tables` the outcomes have the tables.
    """

    def __init__(
        self,
        config_set: ConfigSet,
        submission: Submission,
        gold_root: str,
        options: ScoringOptions,
        with_tables: bool = False,
    ) -> None:
        self._config_set = config_set
        self._submission = submission
        self._gold_root = gold_root
        self._options = options
        self._with_tables = with_tables

    def run(self, digests: Digests, jobs: int = 1, progress: Progress | None = None) -> list[Outcome]:
        """Return the outcome of every task in the order of the config set, scored in up to `jobs` processes.

        The files are added to `digests` in that order. `progress` is called with the tasks done and their total after
        each task. Raises EvaluationFatalError with every fault of a gold file.
        """
        found = None
        with _without_garbage_collection():
            if jobs > 1 and self._are_much:
                found = self._in_workers(digests, jobs, progress)
            if found is None:
                found = self._in_turn(digests, progress)
        faults = Faults()
        outcomes = []
        for outcome in found:
            if isinstance(outcome, EvaluationFatalError):
                faults.add(outcome)
            else:
                outcomes.append(outcome)
        # Gold that does not fit may well be sound, and the configs another benchmark's.
        faults.raise_any(f"the config set is {quoted(str(self._config_set.root))}")
        return outcomes

    def _in_turn(self, digests: Digests, progress: Progress | None) -> list[_Found]:
        found: list[_Found] = []
        sound = True
        for config in self._config_set.configs:
            files = self._read(config)
            digests.add(files)
            # Where some gold is at fault there will be no score, so only the rest of gold is still of interest.
            outcome = self._score(files if sound else _without_prediction(files))
            sound = sound and not isinstance(outcome, EvaluationFatalError)
            found.append(outcome)
            if progress is not None:
                progress(len(found), len(self._config_set.configs))
        return found

    @property
    def _are_much(self) -> bool:
        """Whether scoring the tasks takes long enough for workers to pay."""
        configs = self._config_set.configs
        least = max(_LEAST_BYTES_FOR_WORKERS, len(configs) * _LEAST_BYTES_PER_TASK)
        return len(configs) > 1 and sum(map(self._size, configs)) >= least

    def _in_workers(self, digests: Digests, jobs: int, progress: Progress | None) -> list[_Found] | None:
        """Return what was found for every task; None where no workers can be started."""
        try:
            from .workers import can_start_workers, map_in_workers
        except ImportError:
            return None
        configs = self._config_set.configs
        if not can_start_workers():
            return None
        for config in configs:
            digests.add(self._read(config))
        own = [i for i, config in enumerate(configs) if self._calls_plugins(config)]
        # The largest task last would keep one worker busy while the others have nothing left to do.
        order = sorted(set(range(len(configs))).difference(own), key=lambda i: (-self._size(configs[i]), i))
        found: dict[int, _Found] = {}
        # Workers read the files themselves, and send no tables back: what is sent is small.
        for i, outcome in map_in_workers(self.in_worker, zip(order, order, strict=True), min(jobs, len(configs))):
            found[i] = self._after_death(configs[i]) if outcome is None else outcome
            if progress is not None:
                progress(len(found), len(configs))
        for i in own:
            found[i] = self._score(self._read(configs[i]))
            if progress is not None:
                progress(len(found), len(configs))
        return [self._complete(config, found[i]) for i, config in enumerate(configs)]

    def _calls_plugins(self, config: AnyTaskConfig) -> bool:
        """Return whether a task needs functions of plugins, which are in this process alone, and may count calls."""
        functions = self._config_set.functions
        return functions is not None and isinstance(config, CheckTaskConfig) and bool(config.custom_names(functions))

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_config_set": self._config_set._replace(functions=None)}

    def in_worker(self, i: int) -> _Found:
        """Return what is found for the task at place i, without its tables."""
        outcome = self._score(self._read(self._config_set.configs[i]))
        return outcome if isinstance(outcome, EvaluationFatalError) else outcome._replace(tables=None, answer=None)

    def _after_death(self, config: AnyTaskConfig) -> _Found:
        """Return the outcome of a task whose worker died; that there is no prediction to read is known all the same."""
        files = self._read(config)
        if not isinstance(files, EvaluationFatalError) and files.prediction is not None:
            files = _given_up(files, "the process that scored it died, most likely because memory ran out")
        return self._score(files)

    def _complete(self, config: AnyTaskConfig, outcome: _Found) -> _Found:
        """Return the outcome with the tables that plugins are to see, read anew where a worker has read them."""
        if isinstance(outcome, EvaluationFatalError) or not self._with_tables or outcome.tables is not None:
            return outcome
        files = self._read(config)
        if isinstance(files, EvaluationFatalError):
            return files
        if isinstance(files, AnswerFiles):
            return outcome._replace(answer=_text(files))
        limits = self._options.limits
        try:
            gold = parse_table(files.gold.data, limits)
        except InputError as error:
            return EvaluationFatalError(f"gold file {_gold_name(config)} {error}")
        return outcome._replace(tables=(gold, self._same_prediction(files, gold, outcome.result)))

    def _same_prediction(self, files: TaskFiles, gold: Table, result: TaskEvaluationResult) -> Table | None:
        """Return the table that a worker has read; None where there was none, or is another one by now."""
        if files.prediction is None or not result.prediction_column_count:
            return None
        try:
            table = parse_table(files.prediction.data, self._options.limits)
        except InputError:
            return None
        shape = (result.prediction_column_count, result.prediction_row_count)
        return _first_rows(table, gold) if (table.column_count, table.row_count) == shape else None

    def _read(self, config: AnyTaskConfig) -> _Files:
        max_bytes = self._options.limits.csv_bytes
        gold = None
        try:
            if config.gold_file is not None:
                path = os.path.join(self._gold_root, config.task_id, config.gold_file)
                gold = read_author_file(path, f"gold file {_gold_name(config)}", max_bytes)
        except EvaluationFatalError as error:
            return error
        return files_of(config, gold, lambda: self._submission.read(config.task_id, config.prediction_file, max_bytes))

    def _score(self, files: _Files) -> _Found:
        """Return the outcome of a task, or what is wrong with its gold file."""
        if isinstance(files, EvaluationFatalError):
            return files
        try:
            if isinstance(files, AnswerFiles):
                return self._score_answer(files)
            scored = score_task(files, _gold_name(files.config), _prediction_name(files.config), self._options)
            mapping = scored.mapping if self._with_tables else ()
        except EvaluationFatalError as error:
            return error
        except MemoryError:
            if files.prediction is None:
                return EvaluationFatalError(f"memory ran out over the gold file {_gold_name(files.config)}")
            return self._score(_given_up(files, "memory ran out while it was scored"))
        if not self._with_tables:
            return Outcome(scored.result)
        return Outcome(scored.result, mapping, (scored.gold.table, _shown(scored)))

    def _score_answer(self, files: AnswerFiles) -> Outcome:
        from .check_scoring import score_answer

        config, functions = files.config, self._config_set.functions
        result = score_answer(files, _gold_name(config), _prediction_name(config), self._options, functions)
        if self._calls_plugins(config):
            from .foreign_code import foreign_code

            # What a plugin leaves behind may be in cycles, and hold on to the answer; and it may print when it goes.
            with foreign_code(self._options.redact_gold):
                gc.collect()
        return Outcome(result, answer=_text(files) if self._with_tables else None)

    def _size(self, config: AnyTaskConfig) -> int:
        """Return the bytes of the task's files, as far as that can be told."""
        size = self._submission.size(config.task_id, config.prediction_file)
        with contextlib.suppress(OSError):
            if config.gold_file is not None:
                size += os.path.getsize(os.path.join(self._gold_root, config.task_id, config.gold_file))
        return size


def _given_up(files: TaskFiles | AnswerFiles, reason: str) -> TaskFiles | AnswerFiles:
    """Return the files of a task that the machine could not score, whatever its prediction is."""
    return files._replace(prediction=None, fault=("worker_died", reason))


def _text(files: AnswerFiles) -> str | None:
    """Return the beginning of the answer as a text, whatever its bytes are."""
    if files.prediction is None:
        return None
    # No character takes more bytes, and what is cut off in the middle is not shown.
    beginning = files.prediction.data[: 4 * MOST_ANSWER_CHARACTERS]
    return beginning.decode("utf-8", "backslashreplace")[:MOST_ANSWER_CHARACTERS]


def _shown(scored: ScoredTask) -> Table | None:
    """Return of the prediction what plugins are to see, which is not much more than gold, whatever was predicted."""
    if scored.prediction is None:
        return None
    return _first_rows(scored.prediction, scored.gold.table)


def _first_rows(prediction: Table, gold: Table) -> Table:
    return Table(prediction.header, prediction.rows[: gold.row_count + MOST_EXTRA_ROWS])


def _without_prediction(files: _Files) -> _Files:
    return files if isinstance(files, EvaluationFatalError) else files._replace(prediction=None, fault=None)


def _gold_name(config: AnyTaskConfig) -> str:
    return f"{config.task_id}/{config.gold_file}"


def _prediction_name(config: AnyTaskConfig) -> str:
    return f"{config.task_id}/{config.prediction_file}"


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
