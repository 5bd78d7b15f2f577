"""A prediction root, a directory or a zip archive, as a read-only map from task id and name to file.

Nothing outside the root is reachable through it.
"""

from __future__ import annotations

import contextlib
import os
import stat
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from .configs import PREDICTION_FILE, is_task_id
from .errors import EvaluationFatalError, InputError, PredictionFormatError, quoted
from .files import FileContent, kind_of, read_file, refuse_lack

# What only some runs need is imported where they need it: starting is most of a small run's time.
if TYPE_CHECKING:
    from .archives import Member

# A folder opened by its path can be looked into, whatever becomes of the path; not every system can do so.
_OPENS_FOLDERS = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY") and hasattr(os, "O_NOFOLLOW")


class Submission(Protocol):
    """What a prediction root can tell, wherever it lies; it can be sent to another process, and is small."""

    @property
    def folders(self) -> list[str]:
        """The names of the directories directly in the root, links left out, sorted as text."""

    @property
    def refused(self) -> Mapping[str, str]:
        """What in the root was refused whatever the task, by name: why, as a predicate."""

    def read(self, task_id: str, file: str, max_bytes: int) -> FileContent | None:
        """Return the task's file of this name, or None when there is none.

        Raises PredictionFormatError when it cannot be used as a file of at most `max_bytes`.
        """

    def size(self, task_id: str, file: str) -> int:
        """Return the bytes of the task's file of this name, as far as that can be told without opening it."""


_TABLES_ONLY = frozenset({PREDICTION_FILE})


def open_submission(root: str | os.PathLike[str], files: Collection[str] = _TABLES_ONLY) -> Submission:
    """Return the submission at `root`: a zip archive where that is a file, else a directory.

    `files` are the names that predictions have, by which they are found in an archive.
    Raises EvaluationFatalError when it is neither, or cannot be read.
    """
    try:
        mode = os.stat(root).st_mode
    except (OSError, ValueError):
        return PredictionDirectory(root)
    if stat.S_ISREG(mode):
        return PredictionArchive(root, files)
    if not stat.S_ISDIR(mode):
        raise EvaluationFatalError(
            f"the prediction root {quoted(os.fspath(root))} is {kind_of(mode)}, expected a folder or a zip archive"
        )
    return PredictionDirectory(root)


def find_runs(root: str | os.PathLike[str]) -> list[Path]:
    """Return the folders and zip archives in a folder of runs, in the order of their names; hidden ones are none.

    Raises EvaluationFatalError when it cannot be listed, holds none or a link, or is a prediction root itself.
    """
    called = f"the runs root {quoted(os.fspath(root))}"
    try:
        with os.scandir(root) as entries:
            found = sorted((entry for entry in entries if _may_be_run(entry)), key=lambda entry: entry.name)
    except (OSError, ValueError) as error:
        raise EvaluationFatalError(f"{called} cannot be listed ({type(error).__name__})") from None
    for entry in found:
        if entry.is_symlink():
            raise EvaluationFatalError(f"{called} holds {quoted(entry.name)}, which is a symbolic link")
        if is_task_id(entry.name):
            raise EvaluationFatalError(f"{called} holds {entry.name}: expected a folder or an archive per run")
    if not found:
        raise EvaluationFatalError(f"{called} holds no folder and no zip archive")
    return [Path(entry.path) for entry in found]


def _may_be_run(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith((".", "__")):
        return False
    return entry.is_dir() or (entry.is_file() and entry.name.lower().endswith(".zip"))


def open_runs(roots: Sequence[str | os.PathLike[str]], files: Collection[str] = _TABLES_ONLY) -> dict[str, Submission]:
    """Return the submissions at these roots, by what to call the runs: `run_1` and so on where names are alike.

    `files` are as for `open_submission`.
    A name is that of the folder or archive. Raises EvaluationFatalError as `open_submission` does, and for a root that
    is given twice: a run is no evidence for itself.
    """
    seen = set()
    for root in roots:
        # One that is not there is told of below.
        with contextlib.suppress(OSError, ValueError):
            status = os.stat(root)
            identity = status.st_dev, status.st_ino
            if identity in seen:
                raise EvaluationFatalError(f"the prediction root {quoted(os.fspath(root))} is given twice")
            seen.add(identity)
    names = [os.path.basename(os.path.abspath(root)).encode("utf-8", "replace").decode() for root in roots]
    if len({unicodedata.normalize("NFC", name).casefold() for name in names}) < len(names):
        names = [f"run_{number}" for number in range(1, len(names) + 1)]
    return {name: open_submission(root, files) for name, root in zip(names, roots, strict=True)}


def read_prediction(
    path: str | os.PathLike[str], name: str, max_bytes: int, folder: int | None = None
) -> FileContent | None:
    """Return the content of the prediction at `path`, in the open `folder` if any, or None when nothing is there.

    Raises PredictionFormatError, calling the file `name`, when it is a link or anything but a readable regular file of
    at most `max_bytes`.
    """
    try:
        return read_file(path, max_bytes, follow_links=False, folder=folder)
    except FileNotFoundError:
        return None
    except InputError as error:
        raise PredictionFormatError(f"{name} {error}") from None


class PredictionDirectory:
    """A directory of `task_N/prediction.csv` and the like. Raises EvaluationFatalError when it cannot be listed."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._root = os.fspath(root)
        try:
            with os.scandir(self._root) as entries:
                self._folders = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except (OSError, ValueError) as error:
            raise EvaluationFatalError(
                f"the prediction root {quoted(str(root))} cannot be listed ({type(error).__name__})"
            ) from None

    @property
    def folders(self) -> list[str]:
        return self._folders

    @property
    def refused(self) -> Mapping[str, str]:
        return {}

    def read(self, task_id: str, file: str, max_bytes: int) -> FileContent | None:
        """Return the task's file, or None when there is none. Raises PredictionFormatError as `read_prediction` does.

        A task directory that is a symbolic link is refused too: it would lead out of the root.
        """
        name = f"{task_id}/{file}"
        path = os.path.join(self._root, task_id)
        if not _OPENS_FOLDERS:
            if os.path.islink(path):
                raise PredictionFormatError(f"{task_id} is a symbolic link, not a directory")
            return read_prediction(os.path.join(path, file), name, max_bytes)
        with _open_folder(path, task_id) as folder:
            return None if folder is None else read_prediction(file, name, max_bytes, folder)

    def size(self, task_id: str, file: str) -> int:
        try:
            return os.lstat(os.path.join(self._root, task_id, file)).st_size
        except (OSError, ValueError):
            return 0


@contextlib.contextmanager
def _open_folder(path: str, name: str) -> Iterator[int | None]:
    """Open a folder to look into it, None where there is none. Raises PredictionFormatError when it cannot be."""
    # To search a folder takes another permission than to list it, and this asks for the first where it can.
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        refuse_lack(path, error)
        if os.path.islink(path):
            raise PredictionFormatError(f"{name} is a symbolic link, not a directory") from None
        if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise PredictionFormatError(f"{name} cannot be read ({type(error).__name__})") from None
        descriptor = None
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


class PredictionArchive:
    """A zip archive with `task_N/prediction.csv`, or others of `files`, at its top or in one folder that all share.

    A member that is refused is not there, but the task that it would have answered says why. Raises
    EvaluationFatalError when the archive is broken, beyond its limits, or has predictions in several folders.
    """

    def __init__(self, path: str | os.PathLike[str], files: Collection[str] = _TABLES_ONLY) -> None:
        from .archives import ZipArchive

        self._path = path
        self._files = frozenset(files)
        called = f"the prediction archive {quoted(os.fspath(path))}"
        try:
            self._archive = ZipArchive(path)
        except FileNotFoundError:
            raise EvaluationFatalError(f"{called} does not exist") from None
        except InputError as error:
            raise EvaluationFatalError(f"{called} {error}") from None
        # A member that is refused tells where predictions are only where no other does.
        usable = [member for member in self._archive.members if member.refusal is None]
        roots = _roots(usable, self._files) or _roots(self._archive.members, self._files)
        if len(roots) > 1:
            first, second, *_ = sorted(roots)
            raise EvaluationFatalError(
                f"{called} has predictions in several folders, such as {quoted(first)} and {quoted(second)}; "
                f"expected task_N/{min(self._files)} at its top or in one folder"
            )
        root = min(roots, default="")
        self._prefix = f"{root}/" if root else ""
        # Of several members for one path, one that can be used counts.
        ordered = sorted(self._archive.members, key=lambda member: member.refusal is None)
        self._members: dict[str, Member] = {member.path: member for member in ordered}

    def __reduce__(self) -> tuple[Callable[..., PredictionArchive], tuple[object, ...]]:
        return PredictionArchive, (self._path, self._files)

    @property
    def refused(self) -> Mapping[str, str]:
        return {
            member.name: member.refusal
            for member in sorted(self._archive.members)
            if member.refusal is not None and not member.is_directory
        }

    @property
    def folders(self) -> list[str]:
        found = set()
        for path, member in self._members.items():
            first, slash, _ = path.removeprefix(self._prefix).partition("/")
            if path.startswith(self._prefix) and (slash or member.is_directory):
                found.add(first)
        return sorted(found)

    def read(self, task_id: str, file: str, max_bytes: int) -> FileContent | None:
        name = f"{task_id}/{file}"
        link = self._members.get(f"{self._prefix}{task_id}")
        member = self._members.get(f"{self._prefix}{name}")
        if member is None:
            if link is not None and link.refusal is not None and not link.is_directory:
                raise PredictionFormatError(f"{task_id} {link.refusal}")
            return None
        try:
            if member.refusal is not None:
                raise InputError(member.refusal)
            return FileContent(self._archive.read(member.name, max_bytes), None)
        except InputError as error:
            raise PredictionFormatError(f"{name} {error}") from None

    def size(self, task_id: str, file: str) -> int:
        member = self._members.get(f"{self._prefix}{task_id}/{file}")
        return 0 if member is None else member.size


def _roots(members: Iterable[Member], files: Collection[str]) -> set[str]:
    """Return the folders nearest to the top that have predictions of tasks in them, "" for the top itself."""
    places = [parts for member in members if len(parts := member.path.split("/")) > 1 and parts[-1] in files]
    roots = [parts[:-2] for parts in places if is_task_id(parts[-2])]
    nearest = min(map(len, roots), default=0)
    return {"/".join(root) for root in roots if len(root) == nearest}
