"""The short result for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import counted, escape, quoted
from ..results import TaskEvaluationResult
from ..summary import Summary
from .text import BOLD, GREEN, RED, YELLOW, ConsoleStyle, listed, percentage

_SHOWN_DIGEST = 12


def render(summary: Summary, style: ConsoleStyle, config_root: str, written_to: str | None) -> str:
    """Return the result in lines: accuracy, config set, failures by reason, unscored predictions, tasks, folds, output.

    `config_root` and `written_to` are shown as given; a `written_to` of None leaves its line out.
    """
    lines = [
        style.paint(BOLD, _accuracy(summary)),
        f"Config set: {escape(config_root)} ({counted(summary.task_count, 'task')}, "
        f"SHA-256 {summary.config_set_sha256[:_SHOWN_DIGEST]}…)",
    ]
    if summary.failure_counts:
        lines.append("Failures by reason:")
        width = max(map(len, summary.failure_counts))
        lines += [f"  {code:<{width}}  {count}" for code, count in summary.failure_counts.items()]
    if summary.unscored_prediction_tasks:
        shown = listed(summary.unscored_prediction_tasks)
        lines.append(style.paint(YELLOW, f"Unscored predictions (not in the config set): {shown}"))
    if summary.refused_members:
        name, reason = next(iter(summary.refused_members.items()))
        more = len(summary.refused_members) - 1
        shown = f"{quoted(name)} {escape(reason)}" + (f", and {more} more" if more else "")
        lines.append(style.paint(YELLOW, f"Refused in the archive: {shown}"))
    lines += _task_lines(summary, style)
    if summary.dataset_evaluations or summary.summary_evaluations:
        from .console_folds import fold_lines

        lines += fold_lines(summary, style)
    if written_to is not None:
        lines.append(f"Summary written to {escape(written_to)}")
    return "\n".join(lines) + "\n"


def _accuracy(summary: Summary) -> str:
    passed, total, interval = summary.passed_task_count, summary.task_count, summary.accuracy_interval
    return (
        f"Task accuracy: {passed}/{total} = {percentage(passed, total)} "
        f"({100 * interval.level:.0f} % interval {100 * interval.low:.1f} % to {100 * interval.high:.1f} %)"
    )


def _task_lines(summary: Summary, style: ConsoleStyle) -> Iterator[str]:
    for task in summary.tasks:
        if task.passed and style.passed_tasks:
            yield f"{style.paint(GREEN, 'passed')}  {task.task_id}  {_shape(task)}"
        if not task.passed and style.failed_tasks:
            near_miss = task.diagnosis.headline if task.diagnosis else None
            why = "; ".join(filter(None, (task.error, near_miss)))
            yield f"{style.paint(RED, 'failed')}  {task.task_id}  {task.error_code}: {escape(why)}"


def _shape(task: TaskEvaluationResult) -> str:
    order = "in order" if task.order_sensitive else "in any order"
    return f"{counted(task.gold_row_count, 'row')} {order}, {counted(task.gold_column_count, 'column')}"
