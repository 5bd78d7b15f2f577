"""Read one regular file whole, without following links where they are not trusted and without ever blocking."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Mapping
from typing import NamedTuple

from .errors import EvaluationFatalError, InputError, quoted

_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)

# Of descriptors, and of memory.
_LACK = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)

# No config or plugin is longer.
_MAX_AUTHOR_BYTES = 16 << 20


class FileContent(NamedTuple):
    """The bytes of a file, and its identity on this machine: two hard links to one file share it.

    None is the identity of what has none of its own, such as a part of another file.
    """

    data: bytes
    identity: tuple[int, int] | None


def is_same_file(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Return whether two paths lead to one file, by links too; of what does not exist, whether they are the same."""
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)


def kind_of(mode: int) -> str:
    """Return what a `st_mode` stands for, as a noun with its article; "a regular file" for one."""
    return next((noun for is_kind, noun in _KINDS if is_kind(mode)), "a regular file")


def open_regular_file(
    path: str | os.PathLike[str], *, follow_links: bool, folder: int | None = None
) -> tuple[int, os.stat_result]:
    """Return a descriptor of the regular file at `path`, in the open `folder` where there is one, and its status.

    The kind is checked on the open descriptor, so nothing can be swapped in between. Raises FileNotFoundError when
    nothing is there, InputError when it is not a regular file or cannot be opened, and EvaluationFatalError when the
    system has nothing left to open it with, which is no fault of the file.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if not follow_links:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except (OSError, ValueError) as error:
        refuse_lack(path, error)
        raise InputError(_refusal(path, folder, error)) from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise InputError(f"is {kind_of(status.st_mode)}, not a regular file")
    return descriptor, status


def refuse_lack(path: str | os.PathLike[str], error: OSError | ValueError) -> None:
    """Raise EvaluationFatalError when the error says that the system lacks descriptors or memory, not what is wrong."""
    if isinstance(error, OSError) and error.errno in _LACK:
        raise EvaluationFatalError(f"cannot open {quoted(os.fspath(path))}: {error.strerror}") from None


def read_file(
    path: str | os.PathLike[str], max_bytes: int, *, follow_links: bool, folder: int | None = None
) -> FileContent:
    """Return the content of the regular file at `path`.

    Raises FileNotFoundError and InputError as `open_regular_file` does, and InputError when it cannot be read or is
    longer than `max_bytes`.
    """
    descriptor, status = open_regular_file(path, follow_links=follow_links, folder=folder)
    try:
        data = _read_at_most(descriptor, max_bytes, status.st_size)
    except OSError as error:
        raise InputError(f"cannot be read ({_reason(error)})") from None
    finally:
        os.close(descriptor)
    return FileContent(data, (status.st_dev, status.st_ino))


def read_author_file(path: str | os.PathLike[str], called: object, max_bytes: int = _MAX_AUTHOR_BYTES) -> FileContent:
    """Return the content of a file that the benchmark stands on (a config, a gold file), which may be a link to it.

    Raises EvaluationFatalError, calling the file by the text of `called`, when it is missing or `read_file` refuses it.
    """
    try:
        return read_file(path, max_bytes, follow_links=True)
    except FileNotFoundError:
        raise EvaluationFatalError(f"{called} does not exist") from None
    except InputError as error:
        raise EvaluationFatalError(f"{called} {error}") from None


def _read_at_most(descriptor: int, max_bytes: int, expected_bytes: int) -> bytes:
    """Return all that can be read, whatever the size that the system tells."""
    chunks = []
    left = max_bytes + 1
    while left and (chunk := os.read(descriptor, min(left, expected_bytes + 1))):
        chunks.append(chunk)
        left -= len(chunk)
    if not left:
        raise InputError(f"is longer than {max_bytes} bytes")
    return b"".join(chunks)


def _refusal(path: str | os.PathLike[str], folder: int | None, error: OSError | ValueError) -> str:
    """Return why `path` could not be opened: its kind where that is the cause, else the system's reason."""
    try:
        kind = kind_of(os.stat(path, dir_fd=folder, follow_symlinks=False).st_mode)
    except (OSError, ValueError):
        kind = "a regular file"
    if kind != "a regular file":
        return f"is {kind}, not a regular file"
    return f"cannot be read ({_reason(error)})"


def _reason(error: OSError | ValueError) -> str:
    # The system's words vary between platforms; the name of the class does not.
    return type(error).__name__


def is_digest(text: str) -> bool:
    """Return whether a text is the hexadecimal form of a SHA-256."""
    return len(text) == 2 * hashlib.sha256().digest_size and set(text) <= set("0123456789abcdef")


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest_of_digests(files: Mapping[str, str]) -> str:
    """Return the SHA-256 over files in the order given: of each its name, NUL, its own digest, NUL."""
    digest = FileSetDigest()
    for name, sha256 in files.items():
        digest.add(name, sha256.encode("ascii"))
    return digest.hexdigest()


class FileSetDigest:
    """SHA-256 over files in the order given: of each its name in UTF-8, NUL, its bytes, NUL.

    A name that is not UTF-8 on the file system counts as the bytes that it has there.
    """

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, name: str, data: bytes) -> None:
        for part in (name.encode("utf-8", "surrogateescape"), b"\0", data, b"\0"):
            self._digest.update(part)

    def hexdigest(self) -> str:
        return self._digest.hexdigest()
