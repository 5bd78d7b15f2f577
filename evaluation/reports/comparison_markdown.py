"""A comparison as GitHub Markdown: for a step summary or a comment."""

from __future__ import annotations

from collections.abc import Iterator

from ..summary_comparison import Comparison, Pair
from .comparison_text import findings, notices, outcome, reason, remarks
from .fitting import Piece, fitted
from .markdown import literal, plain
from .text import cut

_SHOWN_SENTENCE = 600

# What is dropped last stands first.
_KINDS = {"headline": "headlines", "pair": "comparisons", "notice": "notices", "task": "changed tasks"}


def render(comparison: Comparison, max_bytes: int) -> str:
    """Return the comparison as Markdown of at most `max_bytes` bytes of UTF-8.

    Where that is not enough, changed tasks are dropped first, then notices and comparisons, of each the last before
    others. The headline, less than 1,000 bytes, always stays.
    """

    def note(dropped: str) -> str:
        return f"\n_Left out for want of space: {dropped}._\n"

    return fitted(list(_pieces(comparison)), _KINDS, max_bytes, note, lambda text: len(text.encode("utf-8")))


def _pieces(comparison: Comparison) -> Iterator[Piece]:
    yield Piece("headline", f"## Comparison with {literal(comparison.baseline_name)}\n")
    for pair in comparison.pairs:
        yield from _pair(comparison, pair)
    for text in remarks(comparison):
        yield Piece("notice", f"\n{plain(text)}.\n")


def _pair(comparison: Comparison, pair: Pair) -> Iterator[Piece]:
    lines = [f"\n### {literal(pair.name)}\n", f"**{plain(outcome(pair))}**\n"]
    lines += (f"- {plain(sentence)}" for sentence in findings(pair))
    yield Piece("pair", "\n".join(lines) + "\n")
    for text in notices(comparison, pair):
        yield Piece("notice", f"\n{plain(text)}.\n")
    for change, tasks in (("gained", pair.gained), ("lost", pair.lost)):
        heading = f"\n#### {change.capitalize()}\n\n"
        for task in tasks:
            yield Piece("task", f"{heading}- {task.task_id}: {plain(cut(reason(change, task), _SHOWN_SENTENCE))}\n")
            heading = ""
