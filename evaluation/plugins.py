"""Summary evaluators: functions from the user's Python files, called with all tasks at once.

A plugin is code that runs with the caller's rights. What it prints goes to standard error; what it raises becomes an
error beside the others' results.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from types import ModuleType
from typing import Any

from .configs import TaskConfig
from .errors import EvaluationFatalError, escape, quoted
from .files import FileSetDigest, read_author_file
from .results import TaskEvaluationResult
from .tables import Table

REGISTRY = "SUMMARY_EVALUATORS"
# What a summary evaluator can ask for, by the name of its parameter.
PARAMETERS = ("inputs", "outputs", "reference_outputs", "runs", "examples")

_ROWS = "rows"
_RESULT_KEYS = ("key", "name", "score", "value", "comment")
# What other evaluation programs attach to a result, and this one has no use for.
_IGNORED_RESULT_KEYS = (
    *("correction", "evaluator_info", "extra", "feedback_config", "metadata", "source_run_id", "target_run_id"),
)
_MAX_PLUGIN_BYTES = 16 << 20
_SHOWN_CHARACTERS = 300


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


@dataclass(frozen=True)
class Run(TaskEvaluationResult):
    """A task's result with what was asked and what was answered, as elements of `runs`."""

    inputs: dict[str, Any] = field(default_factory=dict, compare=False)
    outputs: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def id(self) -> str:
        return self.task_id

    @property
    def reference_example_id(self) -> str:
        return self.task_id


@dataclass(frozen=True)
class Example(TaskConfig):
    """A task's config with what was asked and what gold answers, as elements of `examples`."""

    inputs: dict[str, Any] = field(default_factory=dict, compare=False)
    outputs: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def id(self) -> str:
        return self.task_id


@dataclass(frozen=True)
class SummaryEvaluation:
    """One result of a summary evaluator: a score or a value (a label) or both, or else an error."""

    name: str
    score: float | None = None
    value: str | float | None = None
    comment: str | None = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as it stands in the summary: what it lacks is left out."""
        return {key: value for key, value in vars(self).items() if value is not None}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> SummaryEvaluation:
        """Return the result that `to_dict` wrote. Raises TypeError for anything else."""
        return cls(**document)


@dataclass(frozen=True)
class SummaryEvaluator:
    """A function under the name that it is registered by, from the plugin file at `path`."""

    name: str
    path: str
    function: Callable[..., Any]
    signature: inspect.Signature


@dataclass(frozen=True)
class PluginSet:
    """The summary evaluators of some plugin files in the order given, and the SHA-256 of the files."""

    evaluators: tuple[SummaryEvaluator, ...]
    sha256: str


def load_plugins(paths: Sequence[str | os.PathLike[str]]) -> PluginSet:
    """Return the summary evaluators that the Python files define in `SUMMARY_EVALUATORS`.

    Raises EvaluationFatalError, naming the file, when one is missing, cannot be run, defines none, or defines one that
    cannot be called with `PARAMETERS`.
    """
    digest = FileSetDigest()
    evaluators: list[SummaryEvaluator] = []
    for place, path in enumerate(paths):
        called = f"plugin {quoted(Path(path).name)}"
        data = read_author_file(path, _MAX_PLUGIN_BYTES, called).data
        digest.add(Path(path).name, data)
        module = _run_plugin(data, os.fspath(path), f"evaluation_plugin_{place}", called)
        evaluators += _registered(module, os.fspath(path), called)
    return PluginSet(tuple(evaluators), digest.hexdigest())


def evaluate_summary(
    plugins: PluginSet, tasks: Sequence[AnsweredTask], taken: Collection[str] = ()
) -> tuple[SummaryEvaluation, ...]:
    """Return the results of all summary evaluators, in the order of the plugins; every function has at least one.

    What a function raises, a result that cannot be used, and a name that is among `taken` or an earlier result's
    become errors.
    """
    names = set(taken)
    evaluations = []
    for evaluator in plugins.evaluators:
        for evaluation in _evaluate(evaluator, tasks):
            if evaluation.name in names:
                reason = "the name is that of an earlier result"
                evaluation = SummaryEvaluation(evaluation.name, error=reason)
            names.add(evaluation.name)
            evaluations.append(evaluation)
    return tuple(evaluations)


def _run_plugin(data: bytes, path: str, name: str, called: str) -> ModuleType:
    module = ModuleType(name)
    module.__file__ = path
    # Data classes and the like look their module up.
    sys.modules[name] = module
    try:
        with contextlib.redirect_stdout(sys.stderr):
            exec(compile(data, path, "exec", dont_inherit=True), vars(module))  # noqa: S102
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise EvaluationFatalError(f"{called} {_raised(error, path)}") from None
    return module


def _registered(module: ModuleType, path: str, called: str) -> Iterator[SummaryEvaluator]:
    registry = getattr(module, REGISTRY, None)
    if not isinstance(registry, dict):
        raise EvaluationFatalError(
            f"{called}: expected a dictionary {REGISTRY} of functions by name, got {_shown(registry)}"
        )
    if not registry:
        raise EvaluationFatalError(f"{called}, {REGISTRY}: expected at least one function, got none")
    for name, function in registry.items():
        if not isinstance(name, str) or not name.strip():
            raise EvaluationFatalError(f"{called}, {REGISTRY}: expected names that are not blank, got {_shown(name)}")
        yield SummaryEvaluator(name, path, function, _checked_signature(function, f"{called}, {quoted(name)}"))


def _checked_signature(function: object, called: str) -> inspect.Signature:
    """Return the signature of a function that can be called with some of `PARAMETERS`, by name."""
    allowed = ", ".join(PARAMETERS)
    if not callable(function):
        raise EvaluationFatalError(f"{called}: expected a function, got {type(function).__name__}")
    try:
        signature = _signature(function)
    except (TypeError, ValueError) as error:
        raise EvaluationFatalError(f"{called}: its parameters cannot be found ({type(error).__name__})") from None
    named = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    ]
    for parameter in named:
        if parameter.name not in PARAMETERS and parameter.default is inspect.Parameter.empty:
            raise EvaluationFatalError(f"{called}: expected parameters among {allowed}, got {parameter.name}")
    if not any(parameter.name in PARAMETERS for parameter in named):
        raise EvaluationFatalError(f"{called}: expected at least one parameter among {allowed}, got none of them")
    return signature


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    if sys.version_info >= (3, 14):
        # Annotations are evaluated only now, and need not be: what they name may be there for type checkers alone.
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.STRING)
    return inspect.signature(function)


def _evaluate(evaluator: SummaryEvaluator, tasks: Sequence[AnsweredTask]) -> list[SummaryEvaluation]:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            returned = _call(evaluator, tasks)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return [SummaryEvaluation(evaluator.name, error=_raised(error, evaluator.path))]
    if isinstance(returned, dict) and returned.keys() == {"results"}:
        returned = returned["results"]
    results = returned if isinstance(returned, list) else [returned]
    if not results:
        return [SummaryEvaluation(evaluator.name, error="returned an empty list, so no result")]
    return [_coerced(result, evaluator.name) for result in results]


def _call(evaluator: SummaryEvaluator, tasks: Sequence[AnsweredTask]) -> object:
    """Call the function with lists of its own, so that it can spoil nobody else's; await what is to be awaited."""
    bound = evaluator.signature.bind_partial()
    lists = _lists(tasks)
    bound.arguments.update({name: lists[name] for name in PARAMETERS if name in evaluator.signature.parameters})
    bound.apply_defaults()
    returned = evaluator.function(*bound.args, **bound.kwargs)
    if inspect.isawaitable(returned):
        import asyncio

        async def wait() -> object:
            return await returned

        return asyncio.run(wait())
    return returned


def _lists(tasks: Sequence[AnsweredTask]) -> dict[str, list[Any]]:
    lists: dict[str, list[Any]] = {name: [] for name in PARAMETERS}
    for task in tasks:
        names = _output_names(task.config)
        inputs = {"task_id": task.config.task_id}
        outputs = _outputs(names, task.prediction, task.mapping)
        reference_outputs = _outputs(names, task.gold, range(len(names)))
        lists["inputs"].append(inputs)
        lists["outputs"].append(outputs)
        lists["reference_outputs"].append(reference_outputs)
        lists["runs"].append(Run(**vars(task.result), inputs=inputs, outputs=outputs))
        lists["examples"].append(Example(**vars(task.config), inputs=inputs, outputs=reference_outputs))
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


def _coerced(returned: object, name: str) -> SummaryEvaluation:
    """Return what a function returned, or one element of the list that it returned, as a result."""
    if isinstance(returned, str):
        returned = {"value": returned}
    elif not isinstance(returned, dict):
        returned = {"score": returned}
    try:
        given = returned.get("key", returned.get("name"))
        if given is not None:
            if not isinstance(given, str) or not given.strip():
                raise _UnusableResultError("a name that is not blank", given)
            name = given
        for key in returned:
            if key not in _RESULT_KEYS and key not in _IGNORED_RESULT_KEYS:
                raise _UnusableResultError(f"only the keys {', '.join(_RESULT_KEYS)}", key)
        score, value, comment = (returned.get(key) for key in ("score", "value", "comment"))
        if score is None and value is None:
            raise _UnusableResultError("a score or a value", None)
        if comment is not None and not isinstance(comment, str):
            raise _UnusableResultError("a comment that is a string", comment)
        return SummaryEvaluation(
            _text(name),
            score=None if score is None else _number(score),
            value=_text(value) if isinstance(value, str) else None if value is None else _number(value),
            comment=None if comment is None else _text(comment),
        )
    except _UnusableResultError as error:
        return SummaryEvaluation(_text(name), error=str(error))


class _UnusableResultError(Exception):
    """A function returned something that is no result."""

    def __init__(self, expected: str, got: object) -> None:
        super().__init__(f"returned an unusable result: expected {expected}, got {_shown(got)}")


def _number(value: object) -> float:
    """Return a finite number as the built-in type that it is like; a Boolean stays one."""
    if isinstance(value, bool):
        return value
    try:
        if isinstance(value, (Real, Decimal)) and isfinite(value):
            return int(value) if isinstance(value, Integral) else float(value)
    except (OverflowError, ValueError):
        pass
    raise _UnusableResultError("a finite number, a Boolean or a text", value)


def _raised(error: BaseException, path: str) -> str:
    """Return what was raised and the last line of the plugin that it went through."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    try:
        message = str(error)
    except Exception:
        message = "its message cannot be shown"
    where = "" if line is None else f" in line {line}"
    return f"raised {type(error).__name__}{where}" + (f": {_cut(message)}" if message else "")


def _shown(value: object) -> str:
    # The representation of anything else may hold an address, which is another one in the next run.
    if value is None or isinstance(value, (bool, float, str)):
        return _cut(repr(value))
    return f"an object of type {type(value).__name__}"


def _cut(text: str) -> str:
    return escape(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…")


def _text(text: str) -> str:
    """Return a text that can be written as UTF-8: lone surrogates become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
