"""A comparison as one HTML page: without scripts, offline, on a phone, in print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..summary_comparison import ChangedTask, Comparison, Pair
from .comparison_text import NO_TEST, findings, interval_text, notices, outcome, p_text, points, remarks
from .fitting import Piece, fitted
from .html_page import MOST_BYTES, page, scroll, size_of, table_head, text
from .text import percentage

# What is dropped last stands first; what is not dropped is the page itself.
_KINDS = {"page": "parts", "task": "changed tasks"}


def render(comparison: Comparison) -> str:
    """Return the page: a table of the pairs, and for each its numbers, its notices and the tasks gained and lost.

    Where it would be longer than 4.5 MB, changed tasks are left out, the last before others.
    """

    def note(dropped: str) -> str:
        return f"<p>Left out for want of space: {text(dropped)}.</p>\n"

    title = f"Comparison with {comparison.baseline_name}"
    return page(title, fitted(list(_pieces(comparison, title)), _KINDS, MOST_BYTES, note, size_of))


def _pieces(comparison: Comparison, title: str) -> Iterator[Piece]:
    sentences = "".join(f"<p>{text(sentence)}.</p>\n" for sentence in remarks(comparison))
    yield Piece("page", f"<header>\n<h1>{text(title)}</h1>\n{sentences}</header>\n")
    yield Piece("page", "".join(_overview(comparison)))
    for pair in comparison.pairs:
        listed = "".join(f"<li>{text(sentence)}</li>" for sentence in findings(pair))
        told = "".join(f"<p>{text(notice)}.</p>\n" for notice in notices(comparison, pair))
        yield Piece("page", f"<section>\n<h2>{text(pair.name)}</h2>\n<p>{text(outcome(pair))}</p>\n")
        yield Piece("page", f"<ul>{listed}</ul>\n{told}")
        yield from _changes("Gained: passed, and failed in the baseline", pair.gained)
        yield from _changes("Lost: failed, and passed in the baseline", pair.lost)
        yield Piece("page", "</section>\n")


def _overview(comparison: Comparison) -> Iterator[str]:
    yield f"<section>\n<h2>Overview</h2>\n{''.join(scroll('overview', ''))}"
    yield table_head("summary", "passed", "in the baseline", "points", "interval", "gained", "lost", "McNemar test")
    for pair in comparison.pairs:
        yield f'<tr><th scope="row">{text(pair.name)}</th>{"".join(map(_number, _numbers(pair)))}</tr>\n'
    yield "</tbody></table></div>\n</section>\n"


def _numbers(pair: Pair) -> Iterator[str]:
    for passed in (pair.passed, pair.baseline_passed):
        yield f"{passed} of {pair.task_count} ({percentage(passed, pair.task_count)})"
    yield points(pair.difference)
    yield "" if pair.interval is None else interval_text(pair.interval)
    yield from (str(len(pair.gained)), str(len(pair.lost)))
    yield NO_TEST if pair.p_value is None else p_text(pair.p_value)


def _number(cell: str) -> str:
    return f'<td class="number">{text(cell)}</td>'


def _changes(title: str, tasks: Sequence[ChangedTask]) -> Iterator[Piece]:
    if not tasks:
        return
    yield Piece(
        "page", f"<h3>{title}</h3>\n{''.join(scroll(title, ''))}{table_head('task', 'error code', 'why it failed')}"
    )
    for task in tasks:
        cells = "".join(f"<td>{text(cell)}</td>" for cell in (task.error_code, task.error))
        yield Piece("task", f'<tr><th scope="row">{text(task.task_id)}</th>{cells}</tr>\n')
    yield Piece("page", "</tbody></table></div>\n")
