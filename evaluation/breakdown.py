"""A score broken down by what tasks are like: per attribute value and per tag, with the headline's denominators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .estimators import clustered_standard_error
from .metadata import Metadata, Scalar, kind_of_value
from .metrics import Interval, clustered_interval, wilson_interval

_TYPES = ("bool", "number", "str")


@dataclass(frozen=True)
class Outcome:
    """What a task counts for: whether it passed, and over repeated runs in how many of them, of all."""

    task_id: str
    passed: bool
    passed_runs: int
    run_count: int


@dataclass(frozen=True)
class Group:
    """Tasks that have something in common: an attribute's value or a tag, None where they have none.

    A task that was not answered counts as one that failed. `interval` is of passed / total; that of the runs takes the
    runs of a task as a cluster.
    """

    value: Scalar | None
    passed: int
    total: int
    passed_runs: int
    run_count: int
    interval: Interval
    runs_interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """Return the group as it stands in the summary; its runs are left out where there is one per task."""
        document: dict[str, Any] = {"missing": True} if self.value is None else {"value": self.value}
        document |= {"passed": self.passed, "total": self.total, "rate": self.passed / self.total}
        document["interval"] = self.interval._asdict()
        if self.run_count > self.total:
            document["runs"] = {
                "passed": self.passed_runs,
                "total": self.run_count,
                "rate": self.passed_runs / self.run_count,
                "interval": self.runs_interval._asdict(),
            }
        return document


@dataclass(frozen=True)
class Breakdown:
    """Groups of tasks: per attribute, by name, those by its values; those by tags; and which attributes tell none."""

    attributes: Mapping[str, Sequence[Group]]
    tags: Sequence[Group]
    left_out: Mapping[str, str]

    @property
    def has_runs(self) -> bool:
        """Whether tasks were run several times."""
        return any(
            group.run_count > group.total for groups in (*self.attributes.values(), self.tags) for group in groups
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the breakdown as it stands in the summary."""
        return {
            "attributes": [
                {"name": name, "groups": [group.to_dict() for group in groups]}
                for name, groups in self.attributes.items()
            ],
            "tags": [group.to_dict() for group in self.tags],
            "left_out": dict(self.left_out),
        }


def break_down(outcomes: Sequence[Outcome], metadata: Metadata) -> Breakdown:
    """Return the breakdown of all tasks of a config set.

    The groups of an attribute are a partition of the tasks: Booleans, numbers and texts in their order, then the tasks
    without the attribute. A task counts under each of its tags, and apart where it has none.
    """
    names = sorted({name for task in metadata.tasks.values() for name in task.attributes})

    def attribute(name: str) -> Callable[[str], Sequence[Scalar]]:
        def values(task_id: str) -> Sequence[Scalar]:
            task = metadata.tasks.get(task_id)
            return () if task is None or name not in task.attributes else (task.attributes[name],)

        return values

    def tags(task_id: str) -> Sequence[Scalar]:
        task = metadata.tasks.get(task_id)
        return () if task is None else task.tags

    has_tags = any(task.tags for task in metadata.tasks.values())
    return Breakdown(
        {name: _groups(outcomes, attribute(name)) for name in names},
        _groups(outcomes, tags) if has_tags else (),
        metadata.left_out,
    )


def _groups(outcomes: Sequence[Outcome], values: Callable[[str], Sequence[Scalar]]) -> list[Group]:
    members: dict[tuple[str, Scalar] | None, list[Outcome]] = {}
    for outcome in outcomes:
        keys = [kind_of_value(value) for value in values(outcome.task_id)]
        for key in keys:
            members.setdefault(key, []).append(outcome)
        if not keys:
            members.setdefault(None, []).append(outcome)
    without = members.pop(None, None)
    keys = sorted((key for key in members if key is not None), key=lambda key: (_TYPES.index(key[0]), key[1]))
    groups = [_group(key[1], members[key]) for key in keys]
    return groups if without is None else [*groups, _group(None, without)]


def _group(value: Scalar | None, outcomes: Sequence[Outcome]) -> Group:
    passed, total = sum(outcome.passed for outcome in outcomes), len(outcomes)
    passed_runs, run_count = (
        sum(getattr(outcome, name) for outcome in outcomes) for name in ("passed_runs", "run_count")
    )
    return Group(
        value,
        passed,
        total,
        passed_runs,
        run_count,
        wilson_interval(passed, total),
        _runs_interval(outcomes, passed_runs, run_count),
    )


def _runs_interval(outcomes: Sequence[Outcome], passed: int, total: int) -> Interval:
    values, clusters = [], []
    for outcome in outcomes:
        values += [1] * outcome.passed_runs + [0] * (outcome.run_count - outcome.passed_runs)
        clusters += [outcome.task_id] * outcome.run_count
    return clustered_interval(passed, total, len(outcomes), clustered_standard_error(values, clusters))
