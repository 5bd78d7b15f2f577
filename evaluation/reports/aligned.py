"""Tables for a terminal: cells side by side in columns, whatever characters they hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

_GAP = "  "
# Spelled out, not asked of the Unicode tables, so that a table has the same bytes on every Python. Two columns: CJK,
# Hangul, full-width forms and pictographs, as in M. Kuhn's wcwidth. None: combining marks of the common scripts.
_WIDE = re.compile(
    "[\u1100-\u115f\u231a\u231b\u2329\u232a\u23e9-\u23ec\u2705\u274c\u2753-\u2755\u2b50\u2e80-\u303e\u3041-\ua4cf"
    "\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\U0001f300-\U0001f64f"
    "\U0001f680-\U0001f6ff\U0001f900-\U0001faff\U00020000-\U0003fffd]"
)
_COMBINING = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0902\u093a\u093c"
    "\u0941-\u0948\u094d\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\u3099\u309a\ufe20-\ufe2f]"
)


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text without control characters takes."""
    return len(text) + len(_WIDE.findall(text)) - sum(2 if _WIDE.match(c) else 1 for c in _COMBINING.findall(text))


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Return a line per row, all of which have as many cells; columns after the first `left` are aligned to the right.

    Cells are texts without control characters.
    """
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for cells in rows:
        gaps = [" " * (width - display_width(cell)) for cell, width in zip(cells, widths, strict=True)]
        padded = [
            cell + gap if place < left else gap + cell
            for place, (cell, gap) in enumerate(zip(cells, gaps, strict=True))
        ]
        lines.append(_GAP.join(padded).rstrip())
    return lines
