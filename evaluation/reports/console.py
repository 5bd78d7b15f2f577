"""The short result for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import escape
from ..results import Summary, TaskEvaluationResult

_SHOWN_UNSCORED = 5
_SHOWN_DIGEST = 12
_BOLD, _RED, _GREEN, _YELLOW = "1", "31", "32", "33"


@dataclass(frozen=True)
class ConsoleStyle:
    """What to print: a line per failed task, a line per passed task, colour."""

    failed_tasks: bool = True
    passed_tasks: bool = False
    colour: bool = False

    def paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


def render(summary: Summary, style: ConsoleStyle, config_root: str, written_to: str | None) -> str:
    """Return the result in lines: accuracy, config set, failures by reason, unscored predictions, tasks, output.

    `config_root` and `written_to` are shown as given; a `written_to` of None leaves its line out.
    """
    lines = [
        style.paint(_BOLD, _accuracy(summary)),
        f"Config set: {escape(config_root)} ({_count(summary.task_count, 'task')}, "
        f"SHA-256 {summary.config_set_sha256[:_SHOWN_DIGEST]}…)",
    ]
    if summary.failure_counts:
        lines.append("Failures by reason:")
        width = max(map(len, summary.failure_counts))
        lines += [f"  {code:<{width}}  {count}" for code, count in summary.failure_counts.items()]
    if summary.unscored_prediction_tasks:
        lines.append(style.paint(_YELLOW, _unscored(summary.unscored_prediction_tasks)))
    lines += _task_lines(summary, style)
    if written_to is not None:
        lines.append(f"Summary written to {escape(written_to)}")
    return "\n".join(lines) + "\n"


def percentage(passed: int, total: int) -> str:
    """Return passed / total as a percentage with one decimal; 0.0 and 100.0 stand for none and all only."""
    tenths = (2000 * passed + total) // (2 * total)
    if 0 < passed < total:
        tenths = min(max(tenths, 1), 999)
    return f"{tenths // 10}.{tenths % 10} %"


def _accuracy(summary: Summary) -> str:
    passed, total, interval = summary.passed_task_count, summary.task_count, summary.accuracy_interval
    return (
        f"Task accuracy: {passed}/{total} = {percentage(passed, total)} "
        f"({100 * interval.level:.0f} % interval {100 * interval.low:.1f} % to {100 * interval.high:.1f} %)"
    )


def _unscored(task_ids: tuple[str, ...]) -> str:
    more = len(task_ids) - _SHOWN_UNSCORED
    shown = ", ".join(task_ids[:_SHOWN_UNSCORED]) + (f" and {more} more" if more > 0 else "")
    return f"Unscored predictions (not in the config set): {len(task_ids)} ({shown})"


def _task_lines(summary: Summary, style: ConsoleStyle) -> Iterator[str]:
    for task in summary.tasks:
        if task.passed and style.passed_tasks:
            yield f"{style.paint(_GREEN, 'passed')}  {task.task_id}  {_shape(task)}"
        if not task.passed and style.failed_tasks:
            yield f"{style.paint(_RED, 'failed')}  {task.task_id}  {task.error_code}: {escape(task.error or '')}"


def _shape(task: TaskEvaluationResult) -> str:
    order = "in order" if task.order_sensitive else "in any order"
    return f"{_count(task.gold_row_count, 'row')} {order}, {_count(task.gold_column_count, 'column')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
