"""A leaderboard as one HTML page: readable without scripts, of which it has none, offline, on a phone, in print."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import escape
from ..leaderboard import Leaderboard, Row
from .html_page import drawn, page, scroll, table_head, text
from .leaderboard_table import TEXT_COLUMNS, number_cells, number_columns, remarks, title
from .text import interval_bounds

# The scale under which the intervals are drawn is the same in every row. On a phone a row is a card.
_STYLE = """
.board { width: 100%; }
.board td.number { white-space: nowrap; }
.board th[scope="row"] { min-width: 8rem; }
.board svg { height: 1.5rem; min-width: 9rem; }
.board .new td, .board .new th { border-top: 3px solid var(--faint); }
@media (max-width: 40rem) {
  .board, .board tbody, .board tr, .board th, .board td { display: block; }
  .board thead { display: none; }
  .board tr { margin-bottom: .75rem; border: 1px solid var(--line); border-radius: 6px; padding: .25rem; }
  .board tr.new { margin-top: 2rem; }
  .board td, .board th, .board .new td, .board .new th { border: 0; padding: .1rem .3rem; }
  .board td.number { display: flex; justify-content: space-between; gap: 1rem; white-space: normal; }
  .board td:empty { display: none; }
  .board td[data-label]::before { content: attr(data-label) " "; color: var(--faint); font-weight: 400; } }
@media print { .board svg { min-width: 6rem; } }
"""
_DRAWN = "interval, 0 to 100 %"


def render(board: Leaderboard) -> str:
    """Return the page: the title, the table with every interval drawn, and what a reader should know."""
    body = "".join(
        (
            f"<header>\n<h1>{text(title(board))}</h1>\n<dl>\n",
            *_digests(board),
            "</dl>\n</header>\n<main>\n",
            *_table(board),
            *(f"<p>{text(remark, len(remark))}.</p>\n" for remark in remarks(board)),
            "</main>\n",
        )
    )
    return page(title(board), body, more_style=_STYLE)


def _digests(board: Leaderboard) -> Iterator[str]:
    for name, digest in (("configs, SHA-256", board.config_set_sha256), ("gold, SHA-256", board.gold_set_sha256)):
        if digest is not None:
            yield f"<dt>{name}</dt><dd>{text(digest)}</dd>\n"


def _table(board: Leaderboard) -> Iterator[str]:
    yield from scroll("systems by accuracy", "board")
    yield table_head(*TEXT_COLUMNS, _DRAWN, *number_columns(board))
    group = 1
    for row in board.rows:
        yield _row(board, row, starts_group=row.group != group)
        group = row.group
    yield "</tbody></table></div>\n"


def _row(board: Leaderboard, row: Row, *, starts_group: bool) -> str:
    cells = "".join(
        f'<td class="number" data-label="{text(name)}">{text(cell)}</td>'
        for name, cell in zip(number_columns(board), number_cells(board, row), strict=True)
    )
    name = text(row.entry.name, len(escape(row.entry.name)))
    return (
        f'<tr class="{"new" if starts_group else "same"}"><td data-label="rank">{row.rank_text}</td>'
        f'<th scope="row">{name}</th><td>{_interval(row)}</td>{cells}</tr>\n'
    )


def _interval(row: Row) -> str:
    summary = row.entry.summary
    interval, accuracy = summary.accuracy_interval, summary.task_accuracy
    if interval is None or accuracy is None:
        return ""
    return drawn(interval, accuracy, f"{row.entry.name}: 95 % interval {interval_bounds(interval)}").strip()
