"""How reports spell numbers, lists and colour, and what all of them say of a summary as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..check_results import outcome_counts
from ..errors import counted, quoted
from ..metrics import Interval
from ..results import TaskEvaluationResult
from ..summary import EVALUATOR, Summary

if TYPE_CHECKING:
    from fractions import Fraction

BOLD, RED, GREEN, YELLOW = "1", "31", "32", "33"

SHOWN_DIGEST = 12
_SHOWN_TASK_IDS = 5


class ConsoleStyle(NamedTuple):
    """What to print: a line per failed task, what was found of it below, a line per passed task, colour."""

    failed_tasks: bool = True
    passed_tasks: bool = False
    colour: bool = False
    findings: bool = False

    def paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


def percentage(passed: int, total: int) -> str:
    """Return passed / total as a percentage with one decimal; 0.0 and 100.0 stand for none and all only."""
    tenths = (2000 * passed + total) // (2 * total)
    if 0 < passed < total:
        tenths = min(max(tenths, 1), 999)
    return f"{tenths // 10}.{tenths % 10} %"


def score_text(score: Fraction | float | None) -> str:
    """Return a score with four decimals, "no score" for None; 0.0000 and ±1.0000 stand for exactly these only."""
    if score is None:
        return "no score"
    size = abs(float(score))
    if 0 < size < 1:
        size = min(max(size, 0.0001), 0.9999)
    return f"{'-' if score < 0 else ''}{size:.4f}"


def listed(task_ids: Sequence[str]) -> str:
    """Return how many task ids there are, and the first of them."""
    more = len(task_ids) - _SHOWN_TASK_IDS
    shown = ", ".join(task_ids[:_SHOWN_TASK_IDS]) + (f" and {more} more" if more > 0 else "")
    return f"{len(task_ids)} ({shown})"


def cut(text: str, most: int) -> str:
    """Return a text, without its end where it is longer than `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def headline(summary: Summary) -> str:
    """Return how many tasks passed; of some tasks only, that this is no score."""
    passed, total = summary.passed_task_count, summary.task_count
    if summary.is_partial:
        return f"Partial, no score: {len(summary.tasks)} of {counted(total, 'task')} scored, {passed} passed"
    return f"{passed} of {counted(total, 'task')} passed ({percentage(passed, total)})"


def interval_text(summary: Summary) -> str:
    """Return the interval of the accuracy."""
    interval = summary.accuracy_interval
    if interval is None:
        return "No interval, as only some tasks were scored"
    return f"{100 * interval.level:.0f} % interval {interval_bounds(interval)}"


def interval_bounds(interval: Interval) -> str:
    """Return the ends of an interval as percentages with one decimal."""
    return f"{100 * interval.low:.1f} % to {100 * interval.high:.1f} %"


def run_notes(summary: Summary) -> dict[str, str]:
    """Return in how many of its runs each task passed, in brackets, by task id; nothing for a single run.

    Of a task that failed it is also said which run is told of. This is raw text.
    """
    repetition, notes = summary.repetition, {}
    if repetition is not None:
        for case, place in zip(repetition.cases, repetition.shown, strict=True):
            told = "" if case.passed else f"; this is {quoted(repetition.runs[place].name)}"
            notes[case.task_id] = f" ({case.passed_runs} of {case.run_count} runs{told})"
    return notes


def shape_text(task: TaskEvaluationResult) -> str:
    """Return how large a task's gold table is, and whether the order of its rows counts; or else how many checks."""
    if task.checks:
        return counted(len(task.checks), "check")
    order = "in order" if task.order_sensitive else "in any order"
    return f"{counted(task.gold_row_count, 'row')} {order}, {counted(task.gold_column_count, 'column')}"


def identity(summary: Summary) -> str:
    """Return what was scored: the beginnings of the digests, and the version that scored."""
    digests = [
        f"{what} {digest[:SHOWN_DIGEST]}"
        for what, digest in (
            ("configs", summary.config_set_sha256),
            ("gold", summary.gold_set_sha256),
            ("predictions", summary.prediction_set_sha256),
        )
        if digest is not None
    ]
    return f"SHA-256 of {', '.join(digests)}; {EVALUATOR} {summary.evaluator_version}; signature {summary.signature}"


def notices(summary: Summary) -> Iterator[str]:
    """Yield what a reader should know beside the score: raw text, a sentence part each."""
    if summary.gold_redacted:
        yield "Gold is redacted: no cell, header or expected value is shown"
    if summary.breakdown is not None and summary.breakdown.left_out:
        left_out = ", ".join(f"{quoted(name)} {reason}" for name, reason in summary.breakdown.left_out.items())
        yield f"Left out of the breakdown: {left_out}"
    if summary.limits:
        limits = ", ".join(f"{name} {limit}" for name, limit in summary.limits.items())
        yield f"Limits that are not the default: {limits}"
    checks = [check for task in summary.results for check in task.checks]
    if checks:
        counts = ", ".join(f"{count} {outcome}" for outcome, count in outcome_counts(checks).items())
        runs = "" if summary.repetition is None else f" in {len(summary.repetition.runs)} runs"
        yield f"{counted(len(checks), 'check')} of answers that are no tables{runs}: {counts}"
    if summary.unscored_prediction_tasks and not summary.is_partial:
        shown = listed(summary.unscored_prediction_tasks)
        yield f"Unscored predictions (not in the config set): {shown}"
    if summary.refused_members:
        name, reason = next(iter(summary.refused_members.items()))
        more = len(summary.refused_members) - 1
        yield f"Refused in the archive: {quoted(name)} {reason}" + (f", and {more} more" if more else "")
