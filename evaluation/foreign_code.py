"""The user's own Python code, run with the caller's rights: kept from the run's output, its errors in a sentence."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from types import ModuleType
from typing import Any

from .errors import quoted
from .summary_evaluations import cut, shown


class PluginFaultError(Exception):
    """A plugin is not what it should be; the text follows the plugin's name in a message."""


@contextlib.contextmanager
def foreign_code(muted: bool = False) -> Iterator[None]:
    """Run the user's code: what it prints goes to standard error or nowhere, and it cannot move the run's paths."""
    folder = None
    with contextlib.suppress(OSError):
        folder = os.getcwd()
    try:
        with _muted() if muted else contextlib.redirect_stdout(_StandardError()):
            yield
    finally:
        # The code may have removed it.
        with contextlib.suppress(OSError):
            if folder is not None:
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


def run_plugin(data: bytes, path: str, name: str) -> ModuleType:
    """Return the module, of this name, that the bytes of the file at `path` make. Raises what they raise."""
    module = ModuleType(name)
    module.__file__ = path
    # Data classes and the like look their module up.
    sys.modules[name] = module
    exec(compile(data, path, "exec", dont_inherit=True), vars(module))  # noqa: S102
    return module


def read_registry(module: ModuleType, registry: str) -> dict[object, object]:
    """Return the functions that a plugin registers under this name; none where it has no such registry.

    Raises PluginFaultError when the registry is no dictionary, or an empty one.
    """
    found = getattr(module, registry, None)
    if found is None and not hasattr(module, registry):
        return {}
    if not isinstance(found, dict) or not found:
        got = "an empty one" if found == {} else shown(found)
        raise PluginFaultError(f", {registry}: expected a dictionary of functions by name, got {got}")
    return found


def read_signature(registry: str, name: object, function: object) -> tuple[str, inspect.Signature]:
    """Return the name and the signature of a registered function.

    Raises PluginFaultError when the name is blank, or it is no function, or one whose parameters cannot be found.
    """
    if not isinstance(name, str) or not name.strip():
        raise PluginFaultError(f", {registry}: expected names that are not blank, got {shown(name)}")
    called = f", {quoted(name)}"
    if not callable(function):
        raise PluginFaultError(f"{called}: expected a function, got {shown(function)}")
    try:
        return name, _signature_of(function)
    except (TypeError, ValueError) as error:
        raise PluginFaultError(f"{called}: its parameters cannot be found ({type(error).__name__})") from None


def _signature_of(function: Callable[..., Any]) -> inspect.Signature:
    if sys.version_info >= (3, 14):
        # Annotations are evaluated only now, and need not be: what they name may be there for type checkers alone.
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.STRING)
    return inspect.signature(function)


def call(function: Callable[..., Any], *arguments: object, **options: object) -> object:
    """Return what a function returns, once it has been awaited where it is to be."""
    returned = function(*arguments, **options)
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


def raised(error: BaseException, path: str) -> str:
    """Return what was raised and the last line of the plugin that it went through."""
    try:
        return _told(error, path)
    except KeyboardInterrupt:
        raise
    except BaseException:
        # An exception may have methods of its own, too.
        return "raised an exception that cannot be told"


def _told(error: BaseException, path: str) -> str:
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
