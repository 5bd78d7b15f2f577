"""Functions of plugins that checks use: as steps of chains, `f(value, *args)`, and as comparisons.

A comparison is `f(actual, expected, **op_args)` and returns a Boolean, or one with a reason. Both may be `async`. They
get values of their own, with a float for a number that has a point or an exponent. What they raise is an error of the
check, and never its answer.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Sequence
from types import ModuleType
from typing import Any, NamedTuple, NoReturn, TypeVar

from .answers import Value, from_plain, plain
from .chain_functions import FUNCTIONS, Context, Function
from .chain_syntax import Argument
from .check_comparisons import COMPARISONS, Comparison, Options, Verdict
from .checks import ALLOW_EMPTY, CheckFunctions
from .errors import InputError, StepError, quoted
from .foreign_code import PluginFaultError, call, foreign_code, raised, read_registry, read_signature
from .shapes import ANYTHING, EVERY_KIND
from .summary_evaluations import cut, shown, writable

STEP_REGISTRY = "EVAL_FUNCTIONS"
COMPARISON_REGISTRY = "COMPARE_FUNCTIONS"
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_.]{0,99}")
_MOST_ARGUMENTS = 20
# A call takes as long as so many steps of other kinds.
_CALL_STEPS = 100

_Read = TypeVar("_Read")


def check_functions(module: ModuleType, path: str, taken: CheckFunctions, *, muted: bool) -> CheckFunctions:
    """Return the functions for checks that the plugin at `path` registers; with `muted` what they print is lost.

    Raises PluginFaultError when one cannot be called as it is to be, or its name is a built-in's or among `taken`.
    """
    steps = {}
    for given, function in read_registry(module, STEP_REGISTRY).items():
        name, signature = read_signature(STEP_REGISTRY, given, function)
        _check_name(STEP_REGISTRY, name, FUNCTIONS, taken.steps)
        steps[name] = _step(_Caller(function, path, muted), name, signature)  # type: ignore[arg-type]
    comparisons = {}
    for given, function in read_registry(module, COMPARISON_REGISTRY).items():
        name, signature = read_signature(COMPARISON_REGISTRY, given, function)
        _check_name(COMPARISON_REGISTRY, name, COMPARISONS, taken.comparisons)
        comparisons[name] = _comparison(_Caller(function, path, muted), name, signature)  # type: ignore[arg-type]
    return CheckFunctions(steps, comparisons)


def declared_functions(names: Collection[str]) -> CheckFunctions:
    """Return functions of these names that take and give anything, for reading configs whose checks are not run."""

    def run(*_: object) -> NoReturn:
        raise StepError("is not defined here")

    function = Function(EVERY_KIND, lambda *_: ANYTHING, run, most=_MOST_ARGUMENTS)
    comparison = Comparison(EVERY_KIND, EVERY_KIND, lambda *_: True, run, lambda options: None)
    return CheckFunctions(dict.fromkeys(names, function), dict.fromkeys(names, comparison))


def _check_name(registry: str, name: str, built_in: Collection[str], taken: Collection[str]) -> None:
    if name in built_in:
        raise PluginFaultError(f", {registry}: {quoted(name)} is built in, so a plugin cannot define it")
    if not _NAME.fullmatch(name):
        raise PluginFaultError(f", {registry}: expected names of letters, digits, _ and dots, got {shown(name)}")
    if name in taken:
        raise PluginFaultError(f", {registry}: {quoted(name)} is defined by an earlier plugin, too")


class _Fault(NamedTuple):
    """Why a function gave nothing that can be used."""

    reason: str


class _UnusableError(Exception):
    """A function returned what it may not; the text follows "returned"."""


class _Caller:
    """Calls a function of the plugin at `path`."""

    def __init__(self, function: Callable[..., Any], path: str, muted: bool) -> None:
        self._function = function
        self._path = path
        self._muted = muted

    def __call__(
        self, values: list[Value], options: Options, context: Context, read: Callable[[object], _Read]
    ) -> _Read:
        """Return what `read` makes of what the function returns for copies of the values.

        Raises StepError with what either raises.
        """
        context.work.spend(_CALL_STEPS)
        try:
            arguments = list(map(plain, values))
            named = {name: plain(value) for name, value in options.items()}
        except InputError as error:
            raise StepError(str(error)) from None
        # What was returned or raised may have methods of its own, and a last word when it goes.
        with foreign_code(self._muted):
            found = self._attempt(arguments, named, read)
        if isinstance(found, _Fault):
            raise StepError(found.reason)
        return found

    def _attempt(
        self, arguments: list[object], named: dict[str, object], read: Callable[[object], _Read]
    ) -> _Read | _Fault:
        try:
            return read(call(self._function, *arguments, **named))
        except KeyboardInterrupt:
            raise
        except _UnusableError as error:
            return _Fault(f"returned {error}")
        except BaseException as error:
            return _Fault(raised(error, self._path))


def _read_value(returned: object) -> Value:
    try:
        return from_plain(returned)
    except InputError as error:
        raise _UnusableError(f"what {error}") from None


def _read_verdict(returned: object) -> Verdict:
    # What only says that it is a Boolean, or a text, is none.
    if type(returned) is bool:
        return Verdict(returned)
    if type(returned) is tuple and len(returned) == 2:
        holds, reason = returned
        if type(holds) is bool and type(reason) is str:
            return Verdict(holds, cut(writable(reason)))
    raise _UnusableError(f"{shown(returned)}, expected a Boolean, or a tuple of one and a text")


def _step(caller: _Caller, name: str, signature: inspect.Signature) -> Function:
    counts = [count for count in range(_MOST_ARGUMENTS + 1) if _binds(signature, [None] * (1 + count), {})]
    if not counts:
        raise PluginFaultError(f", {quoted(name)}: expected a function of a value and arguments, by position")

    def run(value: Value, arguments: Sequence[Argument], context: Context) -> Value:
        return caller([value, *(argument.value for argument in arguments)], {}, context, _read_value)

    return Function(EVERY_KIND, lambda *_: ANYTHING, run, counts[0], counts[-1])


def _comparison(caller: _Caller, name: str, signature: inspect.Signature) -> Comparison:
    def misused_options(options: Options) -> str | None:
        if _binds(signature, [None, None], options):
            return None
        needed = ", ".join(_needed_options(signature)) or "none"
        given = ", ".join(map(quoted, options)) or "(none)"
        return f"cannot be called with the options {given}; it needs {needed}"

    def compare(actual: Value, expected: Value, options: Options, context: Context) -> Verdict:
        return caller([actual, expected], options, context, _read_verdict)

    if ALLOW_EMPTY in signature.parameters:
        raise PluginFaultError(f", {quoted(name)}: {ALLOW_EMPTY} is an option of checks themselves, and never given")
    if not _binds(signature, [None, None], dict.fromkeys(_needed_options(signature))):
        raise PluginFaultError(f", {quoted(name)}: expected a function of two values and options by name")
    return Comparison(EVERY_KIND, EVERY_KIND, lambda *_: True, compare, misused_options)


def _binds(signature: inspect.Signature, arguments: list[None], options: Options) -> bool:
    try:
        signature.bind(*arguments, **options)
    except TypeError:
        return False
    return True


def _needed_options(signature: inspect.Signature) -> list[str]:
    """Return the parameters behind the two values that have no default and can be given by name."""
    return [
        parameter.name
        for parameter in list(signature.parameters.values())[2:]
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
