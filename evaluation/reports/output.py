"""The one writer of result files: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from ..errors import EvaluationFatalError, quoted
from ..files import kind_of


def check_output(path: Path) -> None:
    """Raise EvaluationFatalError when `write_atomically` could not write to `path`, before any work is done.

    A symbolic link to a regular file or to nothing is replaced, never followed.
    """
    if not path.parent.is_dir():
        raise EvaluationFatalError(f"cannot write {quoted(str(path))}: its folder does not exist")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise EvaluationFatalError(f"cannot write {quoted(str(path))}: its folder is not writable")
    for status in (os.lstat, os.stat):
        try:
            mode = status(path).st_mode
        except (OSError, ValueError):
            continue
        if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
            raise EvaluationFatalError(f"cannot write {quoted(str(path))}: it is {kind_of(mode)}, not a regular file")


def write_atomically(path: Path, text: str) -> None:
    """Write `text` as UTF-8 to `path`: to a temporary file in the same folder, flushed, then renamed over it.

    Whatever happens in between, `path` holds either its old content or the new. Raises EvaluationFatalError when the
    file cannot be written.
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
        raise EvaluationFatalError(f"cannot write {quoted(str(path))}: {error.strerror or error}") from None
