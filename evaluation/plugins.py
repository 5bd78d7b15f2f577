"""Summary evaluators: functions from the user's Python files, called with all tasks at once.

A plugin is code that runs with the caller's rights. What it prints goes to standard error; what it raises becomes an
error beside the others' results.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from .configs import TaskConfig
from .errors import EvaluationFatalError, quoted
from .files import FileSetDigest, read_author_file
from .results import TaskEvaluationResult
from .summary_evaluations import SummaryEvaluation, cut, read_results, shown, writable
from .tables import Table

REGISTRY = "SUMMARY_EVALUATORS"
# What a summary evaluator can ask for, by the name of its parameter.
PARAMETERS = ("inputs", "outputs", "reference_outputs", "runs", "examples")

_ROWS = "rows"
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
    """The summary evaluators of some plugin files in the order given, and the SHA-256 of the files."""

    evaluators: tuple[SummaryEvaluator, ...]
    sha256: str


def load_plugins(paths: Sequence[str | os.PathLike[str]], *, muted: bool = False) -> PluginSet:
    """Return the summary evaluators that the Python files define in `SUMMARY_EVALUATORS`.

    With `muted` what they print meanwhile is lost.
    Raises EvaluationFatalError, naming the file, when one is missing, cannot be run, defines none, or defines one that
    cannot be called with `PARAMETERS`.
    """
    digest = FileSetDigest()
    evaluators: list[SummaryEvaluator] = []
    for place, given in enumerate(paths):
        path = os.fspath(given)
        called = f"plugin {quoted(Path(path).name)}"
        data = read_author_file(path, called).data
        digest.add(Path(path).name, data)
        fault = redacted = None
        try:
            with _foreign_code(muted):
                evaluators += _registered(_run_plugin(data, path, f"evaluation_plugin_{place}"), path)
        except KeyboardInterrupt:
            raise
        except _PluginFaultError as error:
            fault = str(error)
        except BaseException as error:
            fault = f" {_raised(error, path)}"
            redacted = f"{called} raised an exception"
        if fault is not None:
            raise EvaluationFatalError(f"{called}{fault}", redacted)
    return PluginSet(tuple(evaluators), digest.hexdigest())


def evaluate_summary(
    plugins: PluginSet, tasks: Sequence[AnsweredTask], taken: Collection[str] = (), redact_gold: bool = False
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


class _PluginFaultError(Exception):
    """A plugin is not what it should be; the text follows the plugin's name in a message."""


@contextlib.contextmanager
def _foreign_code(muted: bool = False) -> Iterator[None]:
    """Run the user's code: what it prints goes to standard error or nowhere, and it cannot move the run's paths."""
    folder = os.getcwd()
    try:
        with _muted() if muted else contextlib.redirect_stdout(_StandardError()):
            yield
    finally:
        os.chdir(folder)


@contextlib.contextmanager
def _muted() -> Iterator[None]:
    """Let nothing out that is printed, also not by way of a stream that was taken hold of before."""
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.ExitStack() as stack:
        sink = stack.enter_context(open(os.devnull, "wb"))
        for descriptor in (1, 2):
            with contextlib.suppress(OSError):
                copy = os.dup(descriptor)
                stack.callback(os.close, copy)
                stack.callback(os.dup2, copy, descriptor)
                os.dup2(sink.fileno(), descriptor)
        # What is held back in a stream's buffer must go before the descriptor is back.
        for stream in (sys.stdout, sys.stderr):
            stack.callback(stream.flush)
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        yield


class _StandardError(io.TextIOBase):
    """Standard error for code that may close what it takes for its standard output."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)


def _run_plugin(data: bytes, path: str, name: str) -> ModuleType:
    module = ModuleType(name)
    module.__file__ = path
    # Data classes and the like look their module up.
    sys.modules[name] = module
    exec(compile(data, path, "exec", dont_inherit=True), vars(module))  # noqa: S102
    return module


def _registered(module: ModuleType, path: str) -> list[SummaryEvaluator]:
    if not hasattr(module, REGISTRY):
        raise _PluginFaultError(f": expected a dictionary {REGISTRY} of functions by name, got nothing")
    registry = getattr(module, REGISTRY)
    if not isinstance(registry, dict) or not registry:
        raise _PluginFaultError(
            f", {REGISTRY}: expected a dictionary of functions by name, "
            f"got {'an empty one' if registry == {} else shown(registry)}"
        )
    return [_evaluator(name, function, path) for name, function in registry.items()]


def _evaluator(name: object, function: object, path: str) -> SummaryEvaluator:
    """Return a function that can be called with some of `PARAMETERS`, by name, and needs no others."""
    if not isinstance(name, str) or not name.strip():
        raise _PluginFaultError(f", {REGISTRY}: expected names that are not blank, got {shown(name)}")
    called = f", {quoted(name)}"
    if not callable(function):
        raise _PluginFaultError(f"{called}: expected a function, got {shown(function)}")
    try:
        signature = _signature(function)
    except (TypeError, ValueError) as error:
        raise _PluginFaultError(f"{called}: its parameters cannot be found ({type(error).__name__})") from None
    named = [parameter for parameter in signature.parameters.values() if parameter.kind not in _SEVERAL]
    for parameter in named:
        if parameter.name not in PARAMETERS and parameter.default is inspect.Parameter.empty:
            raise _PluginFaultError(
                f"{called}: expected parameters among {', '.join(PARAMETERS)}, got {parameter.name}"
            )
    wanted = tuple(parameter.name for parameter in named if parameter.name in PARAMETERS)
    if not wanted:
        raise _PluginFaultError(
            f"{called}: expected at least one parameter among {', '.join(PARAMETERS)}, got none of them"
        )
    return SummaryEvaluator(writable(name), path, function, signature, wanted)


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    if sys.version_info >= (3, 14):
        # Annotations are evaluated only now, and need not be: what they name may be there for type checkers alone.
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.STRING)
    return inspect.signature(function)


def _evaluate(evaluator: SummaryEvaluator, tasks: Sequence[AnsweredTask], muted: bool) -> list[SummaryEvaluation]:
    try:
        with _foreign_code(muted):
            return read_results(_call(evaluator, tasks), evaluator.name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return [SummaryEvaluation(evaluator.name, error=_raised(error, evaluator.path))]


def _call(evaluator: SummaryEvaluator, tasks: Sequence[AnsweredTask]) -> object:
    """Call the function with lists of its own, so that it can spoil nobody else's; await what is to be awaited."""
    bound = evaluator.signature.bind_partial()
    lists = _lists(tasks)
    bound.arguments.update({name: lists[name] for name in evaluator.parameters})
    bound.apply_defaults()
    returned = evaluator.function(*bound.args, **bound.kwargs)
    return _await(returned) if inspect.isawaitable(returned) else returned


def _await(awaitable: Awaitable[object]) -> object:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    async def wait() -> object:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    # The host program (a notebook, say) has an event loop running in this thread.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, wait()).result()


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
    except KeyboardInterrupt:
        raise
    except BaseException:
        message = "its message cannot be shown"
    where = "" if line is None else f" in line {line}"
    return f"raised {cut(type(error).__name__)}{where}" + (f": {cut(message)}" if message else "")
