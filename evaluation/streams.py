"""Standard output and standard error as the commands use them: any character, closed, or read by someone who left."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from .errors import EvaluationFatalError

_PROGRESS_AFTER_SECONDS = 1.0


def prepare_streams() -> bool:
    """Make the standard streams take any character; what goes to a closed one is lost.

    Return whether standard output is open.
    """
    is_open = sys.stdout is not None
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    return is_open


@contextlib.contextmanager
def writing(stream: TextIO) -> Iterator[TextIO]:
    """Write to a standard stream and flush it; EvaluationFatalError when standard output fails.

    A reader that has left early is no failure: it has seen what it wanted. Nor is standard error, where no result goes.
    """
    try:
        yield stream
        stream.flush()
    except OSError as error:
        # What is left in the buffer would fail again, and loudly, when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            raise EvaluationFatalError(f"cannot write to standard output: {error.strerror}") from None


def wants_colour(stream: TextIO) -> bool:
    """Return whether a stream is a terminal whose user has not declined colour."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_text(text: str) -> None:
    """Print `text` as UTF-8 whatever the terminal's encoding: an escape that is not the format's would spoil it."""
    with writing(sys.stdout) as stream:
        buffer = getattr(stream, "buffer", None)
        if buffer is None:
            stream.write(text)
        else:
            buffer.write(text.encode("utf-8"))


class ProgressLine:
    """A line "12/50 tasks" that overwrites itself, on a terminal only and only once a second has passed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shows_from = time.monotonic() + _PROGRESS_AFTER_SECONDS
        self._shown = False

    def __enter__(self) -> Callable[[int, int], None] | None:
        return self._show if self._stream.isatty() else None

    def _show(self, done: int, total: int) -> None:
        if time.monotonic() >= self._shows_from:
            self._stream.write(f"\r{done}/{total} tasks")
            self._stream.flush()
            self._shown = True

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
