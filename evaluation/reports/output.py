"""The writers of result files: whole or not at all, or at the end of what is there."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from ..errors import EvaluationFatalError, quoted
from ..files import kind_of


def check_output(path: Path) -> None:
    """Raise EvaluationFatalError when `write_atomically` could not write to `path`, before any work is done."""
    if not os.path.isdir(path.parent):
        raise EvaluationFatalError(f"cannot write {quoted(str(path))}: its folder does not exist")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise EvaluationFatalError(f"cannot write {quoted(str(path))}: its folder is not writable")
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
        raise EvaluationFatalError(f"cannot write {quoted(str(path))}: it is {kind_of(mode)}, not a regular file")


def check_named_output(path: Path) -> None:
    """Raise EvaluationFatalError as `check_output` does, and for a link, whatever it leads to: its target was meant."""
    if os.path.islink(path):
        raise EvaluationFatalError(f"cannot write {quoted(str(path))}: it is a symbolic link, name its target")
    check_output(path)


def write_atomically(path: Path, text: str) -> None:
    """Write `text` as UTF-8 to `path`: to a temporary file in the same folder, flushed, then renamed over it.

    Whatever happens in between, `path` holds either its old content or the new. A symbolic link at `path` is replaced,
    never followed. Raises EvaluationFatalError when the file cannot be written.
    """
    check_output(path)
    temporary = path.with_name(f".evaluation-{os.urandom(8).hex()}.tmp")
    try:
        try:
            with open(temporary, "x", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise _unwritable(path, error) from None


def append(path: Path, text: str) -> None:
    """Write `text` as UTF-8 to the end of the regular file at `path`, which need not exist, on a line of its own.

    Raises EvaluationFatalError when the file cannot be written.
    """
    check_output(path)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags, 0o666), "r+b") as stream:
            if stream.seek(0, os.SEEK_END):
                stream.seek(-1, os.SEEK_END)
                text = text if stream.read(1) == b"\n" else f"\n{text}"
            stream.write(text.encode("utf-8"))
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError | ValueError) -> EvaluationFatalError:
    reason = error.strerror if isinstance(error, OSError) else None
    return EvaluationFatalError(f"cannot write {quoted(str(path))}: {reason or error}")
