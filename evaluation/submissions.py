"""A prediction root as a read-only map from task id to file; nothing outside the root is reachable through it."""

from __future__ import annotations

import os

from .errors import EvaluationFatalError, InputError, PredictionFormatError, quoted
from .files import FileContent, read_file

PREDICTION_FILE = "prediction.csv"


def read_prediction(path: str | os.PathLike[str], name: str, max_bytes: int) -> FileContent | None:
    """Return the content of the prediction at `path`, or None when nothing is there.

    Raises PredictionFormatError, calling the file `name`, when it is a link or anything but a readable regular file of
    at most `max_bytes`.
    """
    try:
        return read_file(path, max_bytes, follow_links=False)
    except FileNotFoundError:
        return None
    except InputError as error:
        raise PredictionFormatError(f"{name} {error}") from None


class PredictionDirectory:
    """A directory of `task_N/prediction.csv`. Raises EvaluationFatalError when it cannot be listed."""

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
        """The names of the directories directly in the root, links left out, sorted as text."""
        return self._folders

    def read(self, task_id: str, max_bytes: int) -> FileContent | None:
        """Return the task's prediction, or None when there is none. Raises PredictionFormatError as `read_prediction`.

        A task directory that is a symbolic link is refused too: it would lead out of the root.
        """
        folder = os.path.join(self._root, task_id)
        if os.path.islink(folder):
            raise PredictionFormatError(f"{task_id} is a symbolic link, not a directory")
        return read_prediction(os.path.join(folder, PREDICTION_FILE), f"{task_id}/{PREDICTION_FILE}", max_bytes)

    def size(self, task_id: str) -> int:
        """Return the bytes of the task's prediction, as far as that can be told without opening it."""
        try:
            return os.lstat(os.path.join(self._root, task_id, PREDICTION_FILE)).st_size
        except (OSError, ValueError):
            return 0
