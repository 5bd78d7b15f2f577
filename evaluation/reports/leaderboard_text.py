"""A leaderboard as text for a terminal, and as GitHub Markdown."""

from __future__ import annotations

from ..errors import escape
from ..leaderboard import Leaderboard
from .aligned import aligned
from .leaderboard_table import TEXT_COLUMNS, number_cells, number_columns, remarks, title
from .markdown import literal, plain, table


def render(board: Leaderboard) -> str:
    """Return the title, an aligned table, and what a reader should know."""
    lines = [(*TEXT_COLUMNS, *number_columns(board))]
    lines += [(row.rank_text, escape(row.entry.name), *number_cells(board, row)) for row in board.rows]
    shown = aligned(lines, len(TEXT_COLUMNS))
    notes = [f"{escape(remark)}." for remark in remarks(board)]
    return "\n".join((title(board), "", *shown, "", *notes)) + "\n"


def render_markdown(board: Leaderboard) -> str:
    """Return the leaderboard as GitHub Markdown: a heading, a table, and what a reader should know."""
    names = number_columns(board)
    rows = [
        (row.rank_text, literal(row.entry.name, len(escape(row.entry.name))), *map(plain, number_cells(board, row)))
        for row in board.rows
    ]
    notes = "".join(f"\n{plain(remark)}.\n" for remark in remarks(board))
    return f"## {title(board)}\n\n{table((*TEXT_COLUMNS, *names), rows, numbers=len(names))}{notes}"
