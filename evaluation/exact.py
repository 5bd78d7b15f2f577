"""Numbers that people write, as exact fractions: no verdict hangs on how a float rounds."""

from __future__ import annotations

import re
from fractions import Fraction

# A decimal of so many digits is a fraction of twice as many at most.
_NUMBER = re.compile(r"-?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|[0-9]{1,41}/[0-9]{1,41}|\.[0-9]{1,20}|[0-9]{1,41})")


def read_exact(text: str) -> Fraction | None:
    """Return the number that a decimal or a fraction such as `2/3` spells, None where it spells none."""
    try:
        return Fraction(text) if _NUMBER.fullmatch(text) else None
    except ZeroDivisionError:
        return None


def read_threshold(text: str) -> Fraction:
    """Return the pass rate that `text` spells, above 0 and at most 1. Raises ValueError with a sentence otherwise."""
    threshold = read_exact(text)
    if threshold is None or not 0 < threshold <= 1:
        raise ValueError(f"expected a number above 0 and at most 1, spelled as 2/3 or 0.5, got {text[:60]!r}")
    return threshold
