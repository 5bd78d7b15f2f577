"""A task's files as they were read, and how tasks are scored whichever they are."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from .configs import AnyTaskConfig, CheckTaskConfig, TaskConfig
from .errors import PredictionFormatError
from .files import FileContent
from .tables import DEFAULT_LIMITS, TableLimits

# The error codes of a prediction that is no table, and of one that should not be one and cannot be used as a file.
UNREADABLE = "invalid_prediction_csv"
UNREADABLE_ANSWER = "invalid_prediction"


class ScoringOptions(NamedTuple):
    """How tasks are scored, whichever they are.

    `limits` hold for gold and predictions. A result has a label pair for each column named in `label_sources`. With
    `redact_gold` no message quotes a cell or a header. A failed task is diagnosed unless `diagnose` is false.
    """

    limits: TableLimits = DEFAULT_LIMITS
    label_sources: Collection[str] = ()
    redact_gold: bool = False
    diagnose: bool = True


DEFAULT_OPTIONS = ScoringOptions()


class TaskFiles(NamedTuple):
    """A task's two files as they were read.

    `prediction` is None where there is none, or where it cannot be used, and then `fault` is the error code and one
    sentence on why.
    """

    config: TaskConfig
    gold: FileContent
    prediction: FileContent | None
    fault: tuple[str, str] | None = None


class AnswerFiles(NamedTuple):
    """The same of a task whose answer is no table; `gold` is None where no check needs it."""

    config: CheckTaskConfig
    gold: FileContent | None
    prediction: FileContent | None
    fault: tuple[str, str] | None = None


def fault_of(files: TaskFiles | AnswerFiles, name: str) -> tuple[str, str] | None:
    """Return an error code and a sentence where there is no prediction, called `name`, to read; None where there is."""
    if files.fault is not None:
        return files.fault
    if files.prediction is None:
        return "missing_prediction", f"{name} does not exist"
    if files.gold is not None and files.prediction.identity == files.gold.identity:
        return _unreadable(files.config), f"{name} is the gold file itself (a hard link)"
    return None


def _unreadable(config: AnyTaskConfig) -> str:
    return UNREADABLE if isinstance(config, TaskConfig) else UNREADABLE_ANSWER


def files_of(
    config: AnyTaskConfig, gold: FileContent | None, read: Callable[[], FileContent | None]
) -> TaskFiles | AnswerFiles:
    """Return a task's files, of which `read` reads the prediction; gold is None only where the task needs none."""
    prediction = fault = None
    try:
        prediction = read()
    except PredictionFormatError as error:
        fault = (_unreadable(config), str(error))
    if isinstance(config, CheckTaskConfig):
        return AnswerFiles(config, gold, prediction, fault)
    assert gold is not None, "a table is compared with another"
    return TaskFiles(config, gold, prediction, fault)
