"""The summary as JSON: the same summary gives the same bytes on every Python."""

from __future__ import annotations

import json

from ..summary import Summary


def render(summary: Summary, *, with_tasks: bool = True) -> str:
    """Return the summary as indented JSON with a newline at the end, without its `tasks` if so asked."""
    document = summary.to_dict()
    if not with_tasks:
        del document["tasks"]
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
