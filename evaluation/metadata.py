"""What authors say of tasks beside their configs: attributes and tags to break a score down by, and thresholds."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from .configs import METADATA_FOLDER, is_task_id
from .errors import EvaluationFatalError, InputError, quoted
from .exact import read_threshold
from .files import read_author_file
from .strict_json import JsonFile
from .tables import parse_table

_TASK_FILE = "task.json"
_MOST_BYTES = 16 << 20
# A longer text describes one task; it tells no kinds of tasks apart.
_MOST_CHARACTERS = 100
_TAG_SEPARATOR = ";"
# Of the keys of a task these are no attributes.
_TASK_ID, _TAGS, _THRESHOLD = "task_id", "tags", "threshold"

Scalar = str | int | float | bool


@dataclass(frozen=True)
class TaskMetadata:
    """What is said of one task; `threshold` is a pass rate of its own for repeated runs, above 0 and at most 1."""

    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    threshold: Fraction | None = None


@dataclass(frozen=True)
class Metadata:
    """What is said of tasks, by task id, and the attributes that are left out, with the reasons."""

    tasks: Mapping[str, TaskMetadata]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def only_thresholds(self) -> Metadata:
        """Return nothing but the thresholds."""
        own = self.thresholds
        return Metadata({key: TaskMetadata(threshold=threshold) for key, threshold in own.items()})

    def only(self, task_ids: Collection[str]) -> Metadata:
        """Return what is said of these tasks."""
        return Metadata({key: task for key, task in self.tasks.items() if key in task_ids}, self.left_out)

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata as they stand in the summary; a task has those keys that say something."""
        tasks = []
        for task_id, task in self.tasks.items():
            document: dict[str, Any] = {"task_id": task_id}
            if task.attributes:
                document["attributes"] = dict(task.attributes)
            if task.tags:
                document["tags"] = list(task.tags)
            if task.threshold is not None:
                document["threshold"] = str(task.threshold)
            tasks.append(document)
        return {"tasks": tasks, "left_out": dict(self.left_out)}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Metadata:
        """Return the metadata that `to_dict` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        return cls(
            {
                task["task_id"]: TaskMetadata(
                    task.get("attributes", {}),
                    tuple(task.get("tags", ())),
                    read_threshold(task["threshold"]) if "threshold" in task else None,
                )
                for task in document["tasks"]
            },
            document["left_out"],
        )

    def is_consistent(self, task_ids: Sequence[str]) -> bool:
        """Whether it is what the class promises, of some of these tasks; what was read from a file may be anything."""
        return list(self.tasks) == [key for key in task_ids if key in self.tasks] and all(
            list(task.tags) == sorted(set(task.tags)) and not set(task.attributes).intersection(self.left_out)
            for task in self.tasks.values()
        )

    @property
    def thresholds(self) -> dict[str, Fraction]:
        return {key: task.threshold for key, task in self.tasks.items() if task.threshold is not None}


def kind_of_value(value: Scalar) -> tuple[str, Scalar]:
    """Return the value so that equal ones of different types are told apart: 1 is 1.0, but neither true nor "1"."""
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__, value


def find_metadata(gold_root: str | os.PathLike[str], task_ids: Collection[str]) -> Path | None:
    """Return the folder `input` beside the gold root where it says something of one of the tasks, else None."""
    folder = Path(gold_root, os.pardir, METADATA_FOLDER)
    return folder if any(True for _ in _task_files(folder, task_ids)) else None


def load_metadata(path: str | os.PathLike[str], task_ids: Collection[str]) -> Metadata:
    """Return what a folder, a JSON file or a CSV file says of these tasks, the whole config set.

    A folder holds `task_N/task.json` or `task_N.json`, a JSON file an object by task id, a CSV file a row per task with
    a column `task_id` and tags separated by `;`, where an empty cell says nothing. Scalars become attributes, null says
    nothing, `tags` is a list of texts, and `threshold` a number or a text such as "2/3". Left out are attributes
    with other values, with a long text, with one value for all tasks, or with more values than half of the tasks.
    Raises EvaluationFatalError when the path or a file cannot be read or says something else.
    """
    # The name alone: where a file lies says nothing about the benchmark.
    name = os.path.basename(os.path.abspath(path))
    if os.path.isdir(path):
        records = {
            task_id: _record(JsonFile("metadata", label), file, task_id)
            for task_id, label, file in _task_files(Path(path), task_ids)
        }
    elif name.lower().endswith(".csv"):
        records = _csv_records(path, name)
    else:
        records = _json_records(path, name)
    known = [task_id for task_id in task_ids if task_id in records]
    if not known:
        raise EvaluationFatalError(f"metadata {quoted(name)} says nothing of any task of the config set")
    tasks, left_out = {}, dict[str, str]()
    for task_id in known:
        tasks[task_id] = _task(*records[task_id], left_out)
    left_out |= dict(_untelling(tasks, len(task_ids), left_out))
    return Metadata(
        {
            task_id: TaskMetadata(
                {key: value for key, value in task.attributes.items() if key not in left_out}, task.tags, task.threshold
            )
            for task_id, task in tasks.items()
        },
        dict(sorted(left_out.items())),
    )


# By task id: the file, where in it the record is, with a point behind, and the record.
_Records = dict[str, tuple[JsonFile, str, Mapping[str, Any]]]


def _task_files(folder: Path, task_ids: Collection[str]) -> Iterator[tuple[str, str, Path]]:
    """Yield the tasks that a folder says something of, with the file's name in it and its path."""
    for task_id in task_ids:
        names = [name for name in (f"{task_id}/{_TASK_FILE}", f"{task_id}.json") if os.path.lexists(folder / name)]
        if len(names) > 1:
            raise EvaluationFatalError(f"metadata {quoted(folder.name)} has both {names[0]} and {names[1]}")
        for name in names:
            yield task_id, name, folder / name


def _record(file: JsonFile, path: Path, task_id: str) -> tuple[JsonFile, str, Mapping[str, Any]]:
    value = file.parse(read_author_file(path, str(file), _MOST_BYTES).data, exact=True)
    if not isinstance(value, dict):
        file.refuse("", "an object", value)
    if value.get(_TASK_ID, task_id) != task_id:
        file.refuse(_TASK_ID, quoted(task_id), value[_TASK_ID])
    return file, "", value


def _json_records(path: str | os.PathLike[str], name: str) -> _Records:
    file = JsonFile("metadata", name)
    value = file.parse(read_author_file(path, str(file), _MOST_BYTES).data, exact=True)
    if not isinstance(value, dict):
        file.refuse("", "an object by task id", value)
    for key, record in value.items():
        if not is_task_id(key):
            file.refuse("", "task ids such as task_11 as keys", key)
        if not isinstance(record, dict):
            file.refuse(key, "an object", record)
        if record.get(_TASK_ID, key) != key:
            file.refuse(f"{key}.{_TASK_ID}", quoted(key), record[_TASK_ID])
    return {key: (file, f"{key}.", record) for key, record in value.items()}


def _csv_records(path: str | os.PathLike[str], name: str) -> _Records:
    file = JsonFile("metadata", name)
    try:
        table = parse_table(read_author_file(path, str(file), _MOST_BYTES).data)
    except InputError as error:
        raise EvaluationFatalError(f"{file} {error}") from None
    header = [cell.strip() for cell in table.header]
    if header.count(_TASK_ID) != 1 or len(set(header)) < len(header):
        raise EvaluationFatalError(f"{file}: expected columns of different names, one of them {_TASK_ID}")
    records: _Records = {}
    for number, row in enumerate(table.rows, start=1):
        record: dict[str, Any] = {key: text for key, text in zip(header, map(str.strip, row), strict=True) if text}
        task_id = record.get(_TASK_ID, "")
        if not is_task_id(task_id) or task_id in records:
            file.refuse(f"data row {number}", f"a task id in column {_TASK_ID} that no other row has", task_id)
        if _TAGS in record:
            record[_TAGS] = record[_TAGS].split(_TAG_SEPARATOR)
        records[task_id] = file, f"{task_id}.", record
    return records


def _task(file: JsonFile, where: str, record: Mapping[str, Any], left_out: dict[str, str]) -> TaskMetadata:
    """Return what a record says, and add the attributes that tell no kinds of tasks apart to those left out."""
    attributes: dict[str, Scalar] = {}
    for key, value in record.items():
        file.text(where.removesuffix("."), key)
        said = file.text(where + key, value).strip() if isinstance(value, str) else value
        if key in (_TASK_ID, _TAGS, _THRESHOLD) or said in (None, ""):
            continue
        if isinstance(said, (dict, list)):
            left_out[key] = "holds objects or lists"
        elif isinstance(said, str) and (len(said) > _MOST_CHARACTERS or len(said.splitlines()) > 1):
            left_out[key] = "holds long texts"
        else:
            attributes[key] = float(said) if isinstance(said, Decimal) else said
            if attributes[key] in (float("inf"), float("-inf")):
                file.refuse(where + key, "a number that a float can hold", value)
    return TaskMetadata(
        attributes,
        _tags(file, where + _TAGS, record.get(_TAGS)),
        _threshold(file, where + _THRESHOLD, record.get(_THRESHOLD)),
    )


def _tags(file: JsonFile, where: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        file.refuse(where, "a list of texts", value)
    tags = {file.text(f"{where}[{i}]", tag).strip() for i, tag in enumerate(value)}
    return tuple(sorted(tags.difference([""])))


def _threshold(file: JsonFile, where: str, value: object) -> Fraction | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
        file.refuse(where, 'a number or a text such as "2/3"', value)
    try:
        return read_threshold(str(value))
    except ValueError:
        file.refuse(where, "a number above 0 and at most 1", value)


def _untelling(tasks: Mapping[str, TaskMetadata], count: int, left_out: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the attributes with one value for all of `count` tasks, or nearly as many as there are tasks, and why."""
    names = sorted({key for task in tasks.values() for key in task.attributes}.difference(left_out))
    for name in names:
        values = [kind_of_value(task.attributes[name]) for task in tasks.values() if name in task.attributes]
        groups = len(set(values)) + (len(values) < count)
        if groups == 1:
            yield name, "has one value only"
        elif 2 * groups > count:
            yield name, f"has {groups} values for {count} tasks"
