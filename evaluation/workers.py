"""Call a function for many arguments in worker processes; a worker that dies costs no call but its own.

A worker gets the function when it starts and then an argument at a time. Arguments and results should be small: a
message that does not fit a pipe can leave this process waiting for a worker that died in the middle of it.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import Any, TypeVar

# Windows cannot wait for more.
_MOST_WORKERS = 61

_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")

# What this process calls, where it is a worker.
_function: Callable[[Any], object] | None = None


def processor_count() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def can_start_workers() -> bool:
    """Return whether worker processes can be started here, and find this package."""
    if multiprocessing.current_process().daemon:
        # A daemon may have no children.
        return False
    try:
        with _pool(_process_number, 1) as pool:
            number: int = _submit(pool, None).result()
            return number != os.getpid()
    except (_NoWorkerError, BrokenProcessPool, ImportError, NotImplementedError, OSError):
        return False


def map_in_workers(
    function: Callable[[_Argument], _Result], arguments: Iterable[tuple[int, _Argument]], workers: int
) -> Iterator[tuple[int, _Result | None]]:
    """Yield the number of each argument with the function's result, None where the worker died, as they come.

    No argument is taken before there is a worker for it. What the function raises is raised here. A worker that dies
    takes its whole pool with it, so every call that was under way is made again, with no other beside it; only where
    the worker dies again is the call given up. Where the system has no process left, fewer workers do.
    """
    waiting = iter(arguments)
    finished = False
    while not finished:
        taken: dict[int, _Argument] = {}
        running: dict[Future[_Result], int] = {}
        try:
            with _pool(function, workers) as pool:
                while not finished:
                    taken.update(islice(waiting, workers - len(running)))
                    for number in taken.keys() - running.values():
                        running[_submit(pool, taken[number])] = number
                    finished = not running
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        result = future.result()
                        number = running.pop(future)
                        del taken[number]
                        yield number, result
        except BrokenProcessPool:
            for number, argument in taken.items():
                yield number, _call_alone(function, argument)
        except _NoWorkerError:
            waiting = chain(taken.items(), waiting)
            workers //= 2
            # The pool is in cycles, and what it holds may be what is lacking.
            gc.collect()
        if not workers:
            yield from ((number, function(argument)) for number, argument in waiting)
            return


def _call_alone(function: Callable[[_Argument], _Result], argument: _Argument) -> _Result | None:
    try:
        with _pool(function, 1) as pool:
            result: _Result = _submit(pool, argument).result()
            return result
    except (BrokenProcessPool, _NoWorkerError):
        return None


class _NoWorkerError(Exception):
    """The system has no process, memory or descriptor left for another worker."""


@contextlib.contextmanager
def _pool(function: Callable[[Any], object], workers: int) -> Iterator[ProcessPoolExecutor]:
    """Start no worker yet. Whatever is raised inside ends those that there are by then at once."""
    # A worker that starts afresh looks for this package where its parent does; a host program may have it elsewhere.
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.append(root)
    others = set(multiprocessing.active_children())
    pool = None
    try:
        with _lack_told():
            pool = ProcessPoolExecutor(min(workers, _MOST_WORKERS), initializer=_start, initargs=(function,))
        yield pool
    except BaseException:
        for worker in set(multiprocessing.active_children()) - others:
            worker.kill()
        raise
    finally:
        # The last of them: it may have been there before.
        del sys.path[-1 - sys.path[::-1].index(root)]
        if pool is not None:
            with contextlib.suppress(RuntimeError):
                # A pool that could not start its first worker cannot wait for its threads either.
                pool.shutdown()


def _submit(pool: ProcessPoolExecutor, argument: object) -> Future[Any]:
    """Have a worker called, which may start one. No interrupt comes in between: it would find a worker half made."""
    with _interrupts_held(), _lack_told():
        return pool.submit(_call, argument)


@contextlib.contextmanager
def _lack_told() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise _NoWorkerError from None


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(function: Callable[[Any], object]) -> None:
    """Make this process a worker for the function, which ends at once when it is interrupted or its parent is gone."""
    global _function
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(argument: Any) -> Any:
    assert _function is not None, "a worker is started with its function"
    return _function(argument)


def _process_number(_: object) -> int:
    return os.getpid()
