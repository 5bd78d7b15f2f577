"""Call a function for many arguments in worker processes; a worker that dies costs no call but its own."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import TypeVar

_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")


def processor_count() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def can_start_workers() -> bool:
    """Return whether worker processes can be started here, and find this package."""
    try:
        with _pool(1) as pool:
            return pool.submit(_process_number).result() != _process_number()
    except (BrokenProcessPool, ImportError, NotImplementedError, OSError):
        return False


def map_in_workers(
    function: Callable[[_Argument], _Result], arguments: Iterable[tuple[int, _Argument]], workers: int
) -> Iterator[tuple[int, _Result | None]]:
    """Yield the number of each argument with the function's result, None where the worker died, as they come.

    No argument is taken before there is a worker for it. What the function raises is raised here. A worker that dies
    takes its whole pool with it, so every call that was under way is made again, with no other beside it; only where
    the worker dies again is the call given up.
    """
    waiting = iter(arguments)
    finished = False
    while not finished:
        taken: dict[int, _Argument] = {}
        running: dict[Future[_Result], int] = {}
        with _pool(workers) as pool:
            try:
                while not finished:
                    taken.update(islice(waiting, workers - len(running)))
                    for number in taken.keys() - running.values():
                        running[pool.submit(function, taken[number])] = number
                    finished = not running
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        result = future.result()
                        number = running.pop(future)
                        del taken[number]
                        yield number, result
            except BrokenProcessPool:
                pass
        for number, argument in taken.items():
            yield number, _call_alone(function, argument)


def _call_alone(function: Callable[[_Argument], _Result], argument: _Argument) -> _Result | None:
    try:
        with _pool(1) as pool:
            return pool.submit(function, argument).result()
    except BrokenProcessPool:
        return None


@contextlib.contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    # A worker that starts afresh looks for this package where its parent does; a host program may have it elsewhere.
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.append(root)
    try:
        with ProcessPoolExecutor(workers, initializer=_end_at_once_when_interrupted) as pool:
            yield pool
    finally:
        # The last of them: it may have been there before.
        del sys.path[-1 - sys.path[::-1].index(root)]


def _process_number() -> int:
    return os.getpid()


def _end_at_once_when_interrupted() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
