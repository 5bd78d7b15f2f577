"""How reports in plain text spell numbers, lists and colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fractions import Fraction

BOLD, RED, GREEN, YELLOW = "1", "31", "32", "33"

_SHOWN_TASK_IDS = 5


class ConsoleStyle(NamedTuple):
    """What to print: a line per failed task, a line per passed task, colour."""

    failed_tasks: bool = True
    passed_tasks: bool = False
    colour: bool = False

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
