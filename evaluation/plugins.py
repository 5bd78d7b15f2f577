"""Summary evaluators: functions from the user's Python files, called with all tasks at once.

A plugin is code that runs with the caller's rights. What it prints goes to standard error; what it raises becomes an
error beside the others' results.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from .check_plugins import COMPARISON_REGISTRY, STEP_REGISTRY, check_functions
from .checks import NO_FUNCTIONS, CheckFunctions
from .configs import CheckTaskConfig, TaskConfig
from .errors import EvaluationFatalError, quoted
from .files import FileSetDigest, read_author_file
from .foreign_code import PluginFaultError, call, foreign_code, raised, read_registry, read_signature, run_plugin
from .results import TaskEvaluationResult
from .summary_evaluations import SummaryEvaluation, read_results, writable
from .tables import Table

REGISTRY = "SUMMARY_EVALUATORS"
REGISTRIES = (REGISTRY, STEP_REGISTRY, COMPARISON_REGISTRY)
# What a summary evaluator can ask for, by the name of its parameter.
PARAMETERS = ("inputs", "outputs", "reference_outputs", "runs", "examples")

_ROWS = "rows"
_ANSWER = "answer"
_SEVERAL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class AnsweredTask:
    """A task with its tables; `mapping[i]` is the prediction column taken for gold column i, None where there is none.

    `prediction` is None where no table could be read.
    """

    config: TaskConfig
    result: TaskEvaluationResult
    gold: Table
    prediction: Table | None
    mapping: Sequence[int | None]

    @property
    def outputs(self) -> dict[str, Any]:
        return _outputs(_output_names(self.config), self.prediction, self.mapping)

    @property
    def example(self) -> Example:
        names = _output_names(self.config)
        gold = _outputs(names, self.gold, range(len(names)))
        return Example(**vars(self.config), outputs=gold)


@dataclass(frozen=True)
class AnsweredChecks:
    """A task whose answer is no table, with the text of the answer, None where there is none."""

    config: CheckTaskConfig
    result: TaskEvaluationResult
    answer: str | None

    @property
    def outputs(self) -> dict[str, Any]:
        return {_ANSWER: self.answer, _ROWS: []}

    @property
    def example(self) -> CheckExample:
        return CheckExample(**vars(self.config), outputs={_ROWS: []})


AnyAnsweredTask = AnsweredTask | AnsweredChecks


@dataclass(frozen=True)
class _Exchange:
    """What was asked in a task, and an answer to it: rows as texts by gold name, the first one and under `rows` all."""

    task_id: str
    inputs: dict[str, Any] = field(default_factory=dict, compare=False)
    outputs: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def id(self) -> str:
        return self.task_id


@dataclass(frozen=True)
class Run(_Exchange, TaskEvaluationResult):
    """A task's result with what was asked and what was answered, as elements of `runs`."""

    @property
    def reference_example_id(self) -> str:
        return self.task_id


@dataclass(frozen=True)
class Example(_Exchange, TaskConfig):
    """A task's config with what was asked and what gold answers, as elements of `examples`."""


@dataclass(frozen=True)
class CheckExample(_Exchange, CheckTaskConfig):
    """The same of a task whose answer is no table; gold answers nothing."""


@dataclass(frozen=True)
class SummaryEvaluator:
    """A function under the name that it is registered by, from the plugin file at `path`.

    `parameters` are those of `PARAMETERS` that it takes.
    """

    name: str
    path: str
    function: Callable[..., Any]
    signature: inspect.Signature
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class PluginSet:
    """What some plugin files define, in the order given: summary evaluators, and functions for checks.

    `sha256` is that of the files.
    """

    evaluators: tuple[SummaryEvaluator, ...]
    sha256: str
    functions: CheckFunctions = NO_FUNCTIONS


def load_plugins(paths: Sequence[str | os.PathLike[str]], *, muted: bool = False) -> PluginSet:
    """Return the functions that the Python files register under the names in `REGISTRIES`.

    With `muted` what they print meanwhile is lost.
    Raises EvaluationFatalError, naming the file, when one is missing, cannot be run, registers none, or one that cannot
    be called as it is to be.
    """
    digest = FileSetDigest()
    evaluators: list[SummaryEvaluator] = []
    functions = NO_FUNCTIONS
    for place, given in enumerate(paths):
        path = os.fspath(given)
        called = f"plugin {quoted(Path(path).name)}"
        data = read_author_file(path, called).data
        digest.add(Path(path).name, data)
        fault = redacted = None
        try:
            with foreign_code(muted):
                module = run_plugin(data, path, f"evaluation_plugin_{place}")
                if not any(hasattr(module, registry) for registry in REGISTRIES):
                    names = ", ".join(REGISTRIES)
                    raise PluginFaultError(
                        f": expected a dictionary of functions by name as one of {names}, got nothing"
                    )
                evaluators += _registered(module, path)
                more = check_functions(module, path, functions, muted=muted)
            functions = CheckFunctions({**functions.steps, **more.steps}, {**functions.comparisons, **more.comparisons})
        except KeyboardInterrupt:
            raise
        except PluginFaultError as error:
            fault = str(error)
        except BaseException as error:
            fault = f" {raised(error, path)}"
            redacted = f"{called} raised an exception"
        if fault is not None:
            raise EvaluationFatalError(f"{called}{fault}", redacted)
    return PluginSet(tuple(evaluators), digest.hexdigest(), functions)


def evaluate_summary(
    plugins: PluginSet, tasks: Sequence[AnyAnsweredTask], taken: Collection[str] = (), redact_gold: bool = False
) -> tuple[SummaryEvaluation, ...]:
    """Return the results of all summary evaluators, in the order of the plugins; every function has at least one.

    What a function raises, a result that cannot be used, and a name that is among `taken` or an earlier result's
    become errors. With `redact_gold` results go by their function's name, with their scores alone, and what is printed
    is lost.
    """
    names = set(taken)
    evaluations = []
    for evaluator in plugins.evaluators:
        for number, evaluation in enumerate(_evaluate(evaluator, tasks, muted=redact_gold), start=1):
            if redact_gold:
                name = evaluator.name if number == 1 else f"{evaluator.name} ({number})"
                evaluation = evaluation.redacted(name)
            if evaluation.name in names:
                evaluation = SummaryEvaluation(evaluation.name, error="the name is that of an earlier result")
            names.add(evaluation.name)
            evaluations.append(evaluation)
    return tuple(evaluations)


def _registered(module: ModuleType, path: str) -> list[SummaryEvaluator]:
    return [_evaluator(name, function, path) for name, function in read_registry(module, REGISTRY).items()]


def _evaluator(given: object, function: Any, path: str) -> SummaryEvaluator:
    """Return a function that can be called with some of `PARAMETERS`, by name, and needs no others."""
    name, signature = read_signature(REGISTRY, given, function)
    called = f", {quoted(name)}"
    named = [parameter for parameter in signature.parameters.values() if parameter.kind not in _SEVERAL]
    for parameter in named:
        if parameter.name not in PARAMETERS and parameter.default is inspect.Parameter.empty:
            raise PluginFaultError(f"{called}: expected parameters among {', '.join(PARAMETERS)}, got {parameter.name}")
    wanted = tuple(parameter.name for parameter in named if parameter.name in PARAMETERS)
    if not wanted:
        raise PluginFaultError(
            f"{called}: expected at least one parameter among {', '.join(PARAMETERS)}, got none of them"
        )
    return SummaryEvaluator(writable(name), path, function, signature, wanted)


def _evaluate(evaluator: SummaryEvaluator, tasks: Sequence[AnyAnsweredTask], muted: bool) -> list[SummaryEvaluation]:
    try:
        with foreign_code(muted):
            return read_results(_call(evaluator, tasks), evaluator.name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return [SummaryEvaluation(evaluator.name, error=raised(error, evaluator.path))]


def _call(evaluator: SummaryEvaluator, tasks: Sequence[AnyAnsweredTask]) -> object:
    """Call the function with lists of its own, so that it can spoil nobody else's; await what is to be awaited."""
    bound = evaluator.signature.bind_partial()
    lists = _lists(tasks)
    bound.arguments.update({name: lists[name] for name in evaluator.parameters})
    bound.apply_defaults()
    return call(evaluator.function, *bound.args, **bound.kwargs)


def _lists(tasks: Sequence[AnyAnsweredTask]) -> dict[str, list[Any]]:
    lists: dict[str, list[Any]] = {name: [] for name in PARAMETERS}
    for task in tasks:
        inputs, outputs, example = {"task_id": task.config.task_id}, task.outputs, task.example
        lists["inputs"].append(inputs)
        lists["outputs"].append(outputs)
        lists["reference_outputs"].append(example.outputs)
        lists["runs"].append(Run(**vars(task.result), inputs=inputs, outputs=outputs))
        lists["examples"].append(replace(example, inputs=inputs))
    return lists


def _output_names(config: TaskConfig) -> list[str]:
    """Return the gold names, made unique among themselves and against `rows` by a number behind the later ones."""
    names: list[str] = []
    for spec in config.columns:
        name, number = spec.gold_name, 1
        while name == _ROWS or name in names:
            number += 1
            name = f"{spec.gold_name} ({number})"
        names.append(name)
    return names


def _outputs(names: Sequence[str], table: Table | None, mapping: Sequence[int | None]) -> dict[str, Any]:
    """Return the first row as texts by name, None where there is no cell, and under `rows` all rows so."""
    rows = [
        {name: None if place is None else row[place] for name, place in zip(names, mapping, strict=True)}
        for row in (table.rows if table else ())
    ]
    first = rows[0] if rows else dict.fromkeys(names)
    return {**first, _ROWS: rows}
