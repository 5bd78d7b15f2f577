"""The formats of a leaderboard that is written to a file."""

from __future__ import annotations

from collections.abc import Callable

from ..leaderboard import Leaderboard


def _markdown(board: Leaderboard) -> str:
    from .leaderboard_text import render_markdown

    return render_markdown(board)


def _html(board: Leaderboard) -> str:
    from .leaderboard_html import render

    return render(board)


def _csv(board: Leaderboard) -> str:
    from .leaderboard_records import render_csv

    return render_csv(board)


FORMATS: dict[str, Callable[[Leaderboard], str]] = {"html": _html, "csv": _csv, "md": _markdown}
