"""Summaries compared with a baseline, task by task: what changed, and whether chance alone could explain it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from .errors import EvaluationFatalError, quoted
from .estimators import mcnemar_p_value
from .metrics import Interval
from .paired import PermutationTest, newcombe_interval, permutation_test
from .summary import EVALUATOR, Summary

COMPARISON_SCHEMA_VERSION = "1.0"

# Why two summaries may not be compared, each with what a message says of the files that it is found in.
OBSTACLES = {
    "partial": "only some tasks were scored in {}",
    "config_set_sha256": "config_set_sha256 differs in {}",
    "gold_set_sha256": "gold_set_sha256 differs in {}",
    "gold_redacted": "gold_set_sha256 is unknown, as gold is redacted, in {}",
    "tasks": "the tasks differ, under one config_set_sha256, in {}",
}
# What may differ, and is told.
DIFFERENCES = ("evaluator_version", "limits", "runs", "threshold", "plugins")


class NamedSummary(NamedTuple):
    """A summary, and what its file is called."""

    name: str
    summary: Summary


@dataclass(frozen=True)
class ChangedTask:
    """A task that passed on one side only, and why it failed on the other."""

    task_id: str
    error_code: str
    error: str


@dataclass(frozen=True)
class PassRates:
    """The mean pass rates of the compared tasks over the runs of either side, and the test of their difference."""

    baseline_runs: int
    runs: int
    baseline_mean: Fraction
    mean: Fraction
    test: PermutationTest

    @property
    def difference(self) -> Fraction:
        """The mean pass rate less that of the baseline, from -1 to 1."""
        return self.mean - self.baseline_mean

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "baseline_runs": self.baseline_runs,
            "runs": self.runs,
            "baseline_mean": float(self.baseline_mean),
            "mean": float(self.mean),
            "difference": float(self.difference),
            "permutation_test": self.test._asdict(),
        }


@dataclass(frozen=True)
class Pair:
    """One summary compared with the baseline, over the tasks that both have, of which there is at least one.

    `forced_over` are the OBSTACLES that were passed over, `differs` the DIFFERENCES. `gold_unknown` says that gold is
    redacted in both, so that only configs were compared. `baseline_only` and `other_only` count the tasks that were
    left out. `gained` tasks passed here and failed in the baseline, `lost` tasks the other way round, both in number
    order; each has the reasons of the side that failed. `pass_rates` are there where a side has several runs.
    """

    name: str
    signature: str
    forced_over: tuple[str, ...]
    differs: tuple[str, ...]
    gold_unknown: bool
    baseline_only: int
    other_only: int
    both_passed: int
    both_failed: int
    gained: tuple[ChangedTask, ...]
    lost: tuple[ChangedTask, ...]
    pass_rates: PassRates | None

    @property
    def task_count(self) -> int:
        """The tasks that were compared."""
        return self.both_passed + self.both_failed + len(self.gained) + len(self.lost)

    @property
    def baseline_passed(self) -> int:
        """The compared tasks that passed in the baseline."""
        return self.both_passed + len(self.lost)

    @property
    def passed(self) -> int:
        """The compared tasks that passed here."""
        return self.both_passed + len(self.gained)

    @property
    def difference(self) -> Fraction:
        """The accuracy over the compared tasks less that of the baseline, from -1 to 1."""
        return Fraction(len(self.gained) - len(self.lost), self.task_count)

    @property
    def is_judged_alike(self) -> bool:
        """Whether tasks passed by the same rule: as many runs, the same share of them, and the same plugins."""
        return not {"runs", "threshold", "plugins"}.intersection(self.differs)

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the difference, the tasks taken as a sample of those that could have been asked.

        None where tasks were not judged alike: then the difference is one of rules, too.
        """
        if not self.is_judged_alike:
            return None
        return newcombe_interval(self.both_passed, len(self.gained), len(self.lost), self.both_failed)

    @property
    def p_value(self) -> float | None:
        """The two-sided p value of the exact McNemar test; None where tasks were not judged alike."""
        if not self.is_judged_alike:
            return None
        return mcnemar_p_value(len(self.gained), len(self.lost))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "name": self.name,
            "signature": self.signature,
            "forced_over": list(self.forced_over),
            "differs": list(self.differs),
            "gold_unknown": self.gold_unknown,
            "task_count": self.task_count,
            "baseline_only_task_count": self.baseline_only,
            "other_only_task_count": self.other_only,
            "baseline_passed_task_count": self.baseline_passed,
            "passed_task_count": self.passed,
            "accuracy_difference": float(self.difference),
            "difference_interval": self.interval and self.interval._asdict(),
            "mcnemar_p_value": self.p_value,
            "pass_rates": self.pass_rates and self.pass_rates.to_dict(),
            "gained": [asdict(task) for task in self.gained],
            "lost": [asdict(task) for task in self.lost],
        }


@dataclass(frozen=True)
class Comparison:
    """A baseline, and at least one summary compared with it; `forced` says whether obstacles were to be passed over."""

    baseline_name: str
    baseline_signature: str
    forced: bool
    pairs: tuple[Pair, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison's JSON form, described by `schema/comparison.schema.json`."""
        return {
            "evaluator": EVALUATOR,
            "comparison_schema_version": COMPARISON_SCHEMA_VERSION,
            "baseline": self.baseline_name,
            "baseline_signature": self.baseline_signature,
            "forced": self.forced,
            "pairs": [pair.to_dict() for pair in self.pairs],
        }


def compare_summaries(baseline: NamedSummary, others: Sequence[NamedSummary], *, forced: bool = False) -> Comparison:
    """Compare each of the others with the baseline.

    Raises EvaluationFatalError where two have no task in common, and, unless `forced`, where one of OBSTACLES stands
    between them.
    """
    if not forced:
        _refuse(baseline, others)
    pairs = tuple(_pair(baseline, other) for other in others)
    return Comparison(baseline.name, baseline.summary.signature, forced, pairs)


def _refuse(baseline: NamedSummary, others: Sequence[NamedSummary]) -> None:
    found: dict[str, list[str]] = {}
    for other in others:
        for obstacle in _obstacles(baseline.summary, other.summary):
            found.setdefault(obstacle, []).append(other.name)
    for obstacle, is_so in (
        ("partial", lambda summary: summary.is_partial),
        ("gold_redacted", lambda summary: summary.gold_set_sha256 is None),
    ):
        if obstacle in found:
            # Here the message names those of which it is so, on either side.
            found[obstacle] = [name for name, summary in (baseline, *others) if is_so(summary)]
    if found:
        reasons = (OBSTACLES[obstacle].format(_listed(found[obstacle])) for obstacle in OBSTACLES if obstacle in found)
        raise EvaluationFatalError(
            f"cannot compare with {quoted(baseline.name)}: {'; '.join(reasons)}; "
            "--force compares the tasks that both have"
        )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(map(quoted, names[:-1])), quoted(names[-1]))))


def _obstacles(baseline: Summary, other: Summary) -> Iterator[str]:
    """Yield what stands between two summaries; a digest of the gold of some tasks says nothing of that of others."""
    is_partial = baseline.is_partial or other.is_partial
    if is_partial:
        yield "partial"
    if baseline.config_set_sha256 != other.config_set_sha256:
        yield "config_set_sha256"
    gold = {baseline.gold_set_sha256, other.gold_set_sha256}
    if len(gold) > 1 and None in gold:
        yield "gold_redacted"
    elif len(gold) > 1 and not is_partial:
        yield "gold_set_sha256"
    same_tasks = [task.task_id for task in baseline.tasks] == [task.task_id for task in other.tasks]
    if baseline.config_set_sha256 == other.config_set_sha256 and not is_partial and not same_tasks:
        yield "tasks"


def _differences(baseline: Summary, other: Summary) -> Iterator[str]:
    if baseline.evaluator_version != other.evaluator_version:
        yield "evaluator_version"
    if dict(baseline.limits) != dict(other.limits):
        yield "limits"
    if _run_count(baseline) != _run_count(other):
        yield "runs"
    before, after = _thresholds(baseline), _thresholds(other)
    if any(before[task_id] != after[task_id] for task_id in before.keys() & after.keys()):
        yield "threshold"
    has_functions = bool(baseline.check_functions or other.check_functions)
    if has_functions and baseline.plugin_set_sha256 != other.plugin_set_sha256:
        yield "plugins"


def _run_count(summary: Summary) -> int:
    return 1 if summary.repetition is None else len(summary.repetition.runs)


def _thresholds(summary: Summary) -> dict[str, Fraction]:
    """Return the pass rate from which each task passes; of one run it is 1."""
    if summary.repetition is None:
        return {task.task_id: Fraction(1) for task in summary.tasks}
    return {case.task_id: case.threshold for case in summary.repetition.cases}


def _pair(baseline: NamedSummary, other: NamedSummary) -> Pair:
    before = {task.task_id: task for task in baseline.summary.tasks}
    common = [(before[task.task_id], task) for task in other.summary.tasks if task.task_id in before]
    if not common:
        raise EvaluationFatalError(
            f"cannot compare {quoted(other.name)} with {quoted(baseline.name)}: they have no task in common"
        )
    return Pair(
        name=other.name,
        signature=other.summary.signature,
        forced_over=tuple(_obstacles(baseline.summary, other.summary)),
        differs=tuple(_differences(baseline.summary, other.summary)),
        gold_unknown=baseline.summary.gold_set_sha256 is None and other.summary.gold_set_sha256 is None,
        baseline_only=len(before) - len(common),
        other_only=len(other.summary.tasks) - len(common),
        both_passed=sum(old.passed and new.passed for old, new in common),
        both_failed=sum(not old.passed and not new.passed for old, new in common),
        gained=tuple(
            ChangedTask(old.task_id, old.error_code or "", old.error or "")
            for old, new in common
            if new.passed and not old.passed
        ),
        lost=tuple(
            ChangedTask(new.task_id, new.error_code or "", new.error or "")
            for old, new in common
            if old.passed and not new.passed
        ),
        pass_rates=_pass_rates(baseline.summary, other.summary),
    )


def _pass_rates(baseline: Summary, other: Summary) -> PassRates | None:
    if baseline.repetition is None and other.repetition is None:
        return None
    before, after = _task_rates(baseline), _task_rates(other)
    common = [(before[task_id], rate) for task_id, rate in after.items() if task_id in before]
    return PassRates(
        baseline_runs=_run_count(baseline),
        runs=_run_count(other),
        baseline_mean=sum((old for old, _ in common), Fraction(0)) / len(common),
        mean=sum((new for _, new in common), Fraction(0)) / len(common),
        test=permutation_test([new - old for old, new in common]),
    )


def _task_rates(summary: Summary) -> dict[str, Fraction]:
    if summary.repetition is None:
        return {task.task_id: Fraction(task.passed) for task in summary.tasks}
    return {case.task_id: case.pass_rate for case in summary.repetition.cases}
