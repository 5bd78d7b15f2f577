"""What a summary says beside its tasks as tables of raw text: its runs, and the score broken down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from ..breakdown import Breakdown, Group
from ..check_results import OUTCOMES, PASSED
from ..errors import counted, quoted
from ..runs import Repetition
from ..summary import Summary
from .folds import result_text
from .text import interval_bounds, percentage, score_text

_SHOWN_ROWS = 30
_SHOWN_RUNS = 8
_MISSING = "missing_prediction"


class View(NamedTuple):
    """A table of raw text, with a title and sentences below; the columns after the first are aligned to the right."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def views(summary: Summary) -> Iterator[View]:
    """Yield the tables of a summary: runs, pass@k, scores over runs, one per attribute and one of tags, and checks."""
    if summary.repetition is not None:
        yield from _run_views(summary.repetition, is_partial=summary.is_partial)
    breakdown = summary.breakdown
    if breakdown is not None:
        yield from _breakdown_views(breakdown)
    yield from _check_views(summary)


def _check_views(summary: Summary) -> Iterator[View]:
    """Yield how the checks of each task ended, over all runs, the tasks with most of them not passed first."""
    counts: dict[str, Counter[str]] = {}
    for task in summary.results:
        if task.checks:
            counts.setdefault(task.task_id, Counter()).update(check.outcome for check in task.checks)
    ordered = sorted(counts.items(), key=lambda item: item[1][PASSED] - item[1].total())
    rows = [(task_id, *(str(found[outcome]) for outcome in OUTCOMES)) for task_id, found in ordered]
    if rows:
        yield _cut(View("Checks by task", ("task", *OUTCOMES), rows))


def _run_views(repetition: Repetition, *, is_partial: bool) -> Iterator[View]:
    total = len(repetition.runs[0].tasks)
    runs = [
        (run.name, f"{run.passed_task_count}/{total}", percentage(run.passed_task_count, total))
        for run in repetition.runs
    ]
    error = repetition.accuracy_standard_error
    spread = "" if error is None else f", standard error {score_text(error)} (runs of a task as a cluster)"
    share = "all" if repetition.threshold == 1 else f"at least {repetition.threshold}"
    own = counted(len(repetition.thresholds), "task")
    notes = [
        f"A task passes where it did in {share} of its runs"
        + (f"; {own} with a share of their own" if repetition.thresholds else ""),
        *_silence(repetition),
        f"Mean accuracy over runs: {score_text(repetition.mean_accuracy)}{spread}",
        f"Unstable, as they passed in some runs only: {counted(len(repetition.unstable_tasks), 'task')}",
    ]
    # Of some tasks only, the rates are no estimate of anything.
    yield _cut(View("Runs", ("run", "passed", "accuracy"), runs, notes[:-2] if is_partial else notes))
    if is_partial:
        return
    rows = [(str(k), score_text(at_k), score_text(hat_k)) for k, at_k, hat_k in repetition.pass_rates_at_k()]
    yield _cut(View("Chance that one, and that all, of k runs pass", ("k", "pass@k", "pass^k"), rows))
    yield from _unstable_view(repetition)
    yield from _score_views(repetition)


def _unstable_view(repetition: Repetition) -> Iterator[View]:
    """Yield what the tasks failed with that passed in some runs only, the least stable first."""
    rows = []
    for place, case in enumerate(repetition.cases):
        if case.is_unstable:
            codes = Counter(run.tasks[place].error_code for run in repetition.runs if not run.tasks[place].passed)
            reasons = ", ".join(f"{code} {count}" for code, count in sorted(codes.items()))
            rows.append((case.pass_rate, (case.task_id, f"{case.passed_runs}/{case.run_count}", reasons)))
    if rows:
        ordered = sorted(rows, key=lambda row: abs(row[0] - Fraction(1, 2)))
        yield _cut(View("Unstable tasks", ("task", "passed", "failed with"), [cells for _, cells in ordered]))


def _silence(repetition: Repetition) -> Iterator[str]:
    """Yield which runs have no prediction at all: most likely their folders are something else."""
    silent = [run.name for run in repetition.runs if all(task.error_code == _MISSING for task in run.tasks)]
    if silent:
        names = ", ".join(map(quoted, silent[:_SHOWN_RUNS])) + (" and others" if len(silent) > _SHOWN_RUNS else "")
        yield f"No prediction at all in {counted(len(silent), 'run')}, so all tasks failed there: {names}"


def _score_views(repetition: Repetition) -> Iterator[View]:
    scores = repetition.scores
    if scores:
        rows = [
            (name, score_text(mean), *(score_text(run.scores.get(name)) for run in repetition.runs[:_SHOWN_RUNS]))
            for name, mean in scores.items()
        ]
        yield _cut(View("Scores over runs", ("evaluator", "mean", *_names(repetition)), rows))
    results: dict[str, dict[str, str]] = {}
    for run in repetition.runs:
        for evaluation in run.summary_evaluations:
            if evaluation.name not in scores:
                results.setdefault(evaluation.name, {})[run.name] = result_text(evaluation)
    if results:
        names = _names(repetition)
        rows = [(name, *(found.get(run, "") for run in names)) for name, found in results.items()]
        yield _cut(View("Results over runs", ("evaluator", *names), rows))


def _names(repetition: Repetition) -> list[str]:
    return [run.name for run in repetition.runs[:_SHOWN_RUNS]]


def _cut(view: View) -> View:
    """Return the view with no more rows than a person would read."""
    left = len(view.rows) - _SHOWN_ROWS
    if left <= 0:
        return view
    return view._replace(rows=view.rows[:_SHOWN_ROWS], notes=[f"and {counted(left, 'row')} more", *view.notes])


def _breakdown_views(breakdown: Breakdown) -> Iterator[View]:
    has_runs = breakdown.has_runs
    tables = [*((f"By {name}", name, groups) for name, groups in breakdown.attributes.items())]
    if breakdown.tags:
        tables.append(("By tag", "tag", breakdown.tags))
    for title, name, groups in tables:
        header: tuple[str, ...] = (name, "passed", "accuracy", "95 % interval")
        if has_runs:
            header = (*header, "runs passed", "of runs", "95 % interval")
        # The worst first: there is the most to win.
        ordered = sorted(groups, key=lambda group: group.passed / group.total)
        rows = [_row(group, has_runs) for group in ordered]
        yield _cut(View(title, header, rows))


def _row(group: Group, has_runs: bool) -> tuple[str, ...]:
    cells = (
        _value_text(group.value),
        f"{group.passed}/{group.total}",
        percentage(group.passed, group.total),
        interval_bounds(group.interval),
    )
    if not has_runs:
        return cells
    return (
        *cells,
        f"{group.passed_runs}/{group.run_count}",
        percentage(group.passed_runs, group.run_count),
        interval_bounds(group.runs_interval),
    )


def _value_text(value: str | float | bool | None) -> str:
    """Return a value as JSON spells it, but texts as they are, unless they look like something else."""
    if value is None:
        return "(none)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"' if value in ("true", "false", "(none)") or _is_number(value) else value
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
