"""Systems that answered the same tasks, by accuracy: a fold over their summaries, with its JSON form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import PurePath
from typing import Any

from .errors import EvaluationFatalError, counted, quoted
from .estimators import mcnemar_p_value
from .summary import Summary

LEADERBOARD_SCHEMA_VERSION = "1.0"
# Of p values: below it a difference is called significant.
SIGNIFICANCE_LEVEL = 0.05
_SUMMARY_SUFFIX = ".evaluation_summary"
_SHOWN_DIGEST = 12


@dataclass(frozen=True)
class Entry:
    """A system: the name that it goes by, raw, and its summary, which is not partial."""

    name: str
    summary: Summary

    @property
    def accuracy(self) -> Fraction:
        """Passed tasks / tasks, from 0 to 1; of repeated runs, a task counts by its verdict over all of them."""
        return Fraction(self.summary.passed_task_count, self.summary.task_count)

    def to_dict(self) -> dict[str, Any]:
        """Return what the entry has of its own; `repetition` is null for a single run."""
        interval, repetition = self.summary.accuracy_interval, self.summary.repetition
        return {
            "name": self.name,
            "passed_task_count": self.summary.passed_task_count,
            "task_accuracy": self.summary.task_accuracy,
            "accuracy_interval": interval and interval._asdict(),
            "repetition": None
            if repetition is None
            else {
                "run_count": len(repetition.runs),
                "mean_accuracy": float(repetition.mean_accuracy),
                "accuracy_standard_error": repetition.accuracy_standard_error,
            },
            "signature": self.summary.signature,
        }


@dataclass(frozen=True)
class Contest:
    """An entry against another over the same tasks: how many tasks it alone passed, and how many the other alone.

    They are comparable when their signatures are the same.
    """

    gained: int
    lost: int
    is_comparable: bool

    @cached_property
    def p_value(self) -> float | None:
        """That of the exact McNemar test, from 0 to 1, not corrected; None where they are not comparable."""
        return mcnemar_p_value(self.gained, self.lost) if self.is_comparable else None

    @property
    def is_significant(self) -> bool:
        """Whether they differ significantly; what is not comparable never does."""
        return self.p_value is not None and self.p_value < SIGNIFICANCE_LEVEL

    def to_dict(self) -> dict[str, Any]:
        """Return the contest's JSON form; `significant` is null where there is no p value."""
        return {
            "gained": self.gained,
            "lost": self.lost,
            "comparable": self.is_comparable,
            "p_value": self.p_value,
            "significant": self.is_significant if self.is_comparable else None,
        }


@dataclass(frozen=True)
class Row:
    """An entry in its place.

    `rank` is 1 + the entries that are more accurate, so tied entries share one. `group` counts from 1. `above` is the
    contest with the entry above, None in the first row; `leader` that with the first of the group, None for itself.
    """

    rank: int
    is_tied: bool
    group: int
    entry: Entry
    above: Contest | None
    leader: Contest | None

    @property
    def rank_text(self) -> str:
        """The rank, with an equals sign where it is shared."""
        return f"{self.rank}=" if self.is_tied else str(self.rank)

    def to_dict(self) -> dict[str, Any]:
        """Return the row's JSON form."""
        return {
            "rank": self.rank,
            "tied": self.is_tied,
            **self.entry.to_dict(),
            "group": self.group,
            "against_group_leader": self.leader and self.leader.to_dict(),
            "against_above": self.above and self.above.to_dict(),
        }


@dataclass(frozen=True)
class Leaderboard:
    """At least one row, the most accurate first; all have one config set, and one set of gold where it is known."""

    rows: tuple[Row, ...]

    @property
    def task_count(self) -> int:
        return self.rows[0].entry.summary.task_count

    @property
    def config_set_sha256(self) -> str:
        return self.rows[0].entry.summary.config_set_sha256

    @property
    def gold_set_sha256(self) -> str | None:
        """The digest of gold, None where it is redacted in every summary."""
        return self.rows[0].entry.summary.gold_set_sha256

    @property
    def has_repetitions(self) -> bool:
        return any(row.entry.summary.repetition is not None for row in self.rows)

    @property
    def signatures(self) -> Mapping[str, Sequence[str]]:
        """The names of the entries by signature, in the order of the rows."""
        names: dict[str, list[str]] = {}
        for row in self.rows:
            names.setdefault(row.entry.summary.signature, []).append(row.entry.name)
        return names

    def to_dict(self) -> dict[str, Any]:
        """Return the leaderboard's JSON form, described by `schema/leaderboard.schema.json`."""
        return {
            "leaderboard_schema_version": LEADERBOARD_SCHEMA_VERSION,
            "config_set_sha256": self.config_set_sha256,
            "gold_set_sha256": self.gold_set_sha256,
            "task_count": self.task_count,
            "significance_level": SIGNIFICANCE_LEVEL,
            "entries": [row.to_dict() for row in self.rows],
        }


def make_leaderboard(entries: Sequence[Entry]) -> Leaderboard:
    """Return the leaderboard of at least one entry, all of one benchmark as `check_one_benchmark` has it.

    The order is by accuracy, compared exactly, then by name. Down the rows, an entry joins the group of the one above
    unless it differs significantly from the first of that group; then it is the first of a new one.
    """
    ordered = sorted(entries, key=lambda entry: (-entry.accuracy, entry.name))
    tied = Counter(entry.accuracy for entry in ordered)
    rows: list[Row] = []
    first, group, rank = ordered[0], 1, 1
    for place, entry in enumerate(ordered):
        above = leader = None
        if place:
            above = _contest(entry, ordered[place - 1])
            leader = _contest(entry, first)
            if entry.accuracy != ordered[place - 1].accuracy:
                rank = place + 1
            if leader.is_significant:
                first, leader, group = entry, None, group + 1
        rows.append(Row(rank, tied[entry.accuracy] > 1, group, entry, above, leader))
    return Leaderboard(tuple(rows))


def _contest(entry: Entry, other: Entry) -> Contest:
    pairs = Counter((one.passed, two.passed) for one, two in zip(entry.summary.tasks, other.summary.tasks, strict=True))
    is_comparable = entry.summary.signature == other.summary.signature
    return Contest(pairs[True, False], pairs[False, True], is_comparable)


def check_one_benchmark(files: Sequence[tuple[str, Summary]]) -> None:
    """Raise EvaluationFatalError when the summaries, each with its file's name, are not of the same tasks and gold.

    Each must be of all tasks and agree with the first. Gold that is redacted is not known to be the same as gold that
    is not; of gold that is redacted everywhere, the sizes of its tables must agree.
    """
    for name, summary in files:
        if summary.is_partial:
            some = f"{len(summary.tasks)} of {counted(summary.task_count, 'task')}"
            raise EvaluationFatalError(f"summary {quoted(name)} is partial ({some}), expected one of all tasks")
    first_name, first = files[0]
    for name, summary in files[1:]:
        both = f"{quoted(first_name)} and {quoted(name)}"
        digests = (first.gold_set_sha256, summary.gold_set_sha256)
        if first.config_set_sha256 != summary.config_set_sha256:
            raise EvaluationFatalError(
                f"summaries {both} are of different config sets: config_set_sha256 is "
                f"{_differing(first.config_set_sha256, summary.config_set_sha256)}"
            )
        if None in digests and digests != (None, None):
            redacted, shown = (first_name, name) if digests[0] is None else (name, first_name)
            raise EvaluationFatalError(
                f"gold is redacted in summary {quoted(redacted)} and not in {quoted(shown)}, "
                "so that it is not known whether gold_set_sha256 is the same"
            )
        if digests[0] is not None and digests[1] is not None and digests[0] != digests[1]:
            raise EvaluationFatalError(
                f"summaries {both} are of different gold: gold_set_sha256 is {_differing(digests[0], digests[1])}"
            )
        if _shapes(first) != _shapes(summary):
            raise EvaluationFatalError(
                f"summaries {both} are of different benchmarks: their tasks, or the sizes of their gold, differ "
                "though their digests do not"
            )


def _differing(first: str, second: str) -> str:
    # All of the digests where their beginnings are the same.
    shown = _SHOWN_DIGEST if first[:_SHOWN_DIGEST] != second[:_SHOWN_DIGEST] else len(first)
    return f"{first[:shown]} in the first and {second[:shown]} in the second"


def _shapes(summary: Summary) -> list[tuple[str, bool, int, int, int]]:
    return [
        (task.task_id, task.order_sensitive, task.gold_column_count, task.gold_row_count, len(task.checks))
        for task in summary.tasks
    ]


def entry_names(paths: Sequence[str]) -> list[str]:
    """Return a name for every one of some absolute paths, no two of which are the same: all names differ.

    A name is the stem of the file's name, also without `.evaluation_summary` at its end. Where stems are equal, as many
    folders stand before it, with slashes between, as tell it from the others. Where two files in one folder have one
    stem, the names of all files are whole.
    """
    files = [PurePath(path) for path in paths]
    stems = [file.stem.removesuffix(_SUMMARY_SUFFIX) or file.stem for file in files]
    if len({(file.parent, stem) for file, stem in zip(files, stems, strict=True)}) < len(files):
        stems = [file.name for file in files]
    # From the file upwards, without the root.
    ways = [
        (stem, *reversed(file.parent.relative_to(file.anchor).parts)) for file, stem in zip(files, stems, strict=True)
    ]
    counts = Counter(way[:length] for way in ways for length in range(1, len(way) + 1))
    names = []
    for way in ways:
        lengths = range(1, len(way) + 1)
        # A file in a folder above the others' has no part that they have not.
        length = next((length for length in lengths if counts[way[:length]] == 1), len(way))
        names.append("/".join(reversed(way[:length])))
    return names
