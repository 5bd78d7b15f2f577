"""Pure numbers: intervals, with their formulas and sources."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

# The 0.975 quantile of the standard normal distribution, for a two-sided interval of 95 %.
_NORMAL_QUANTILE_95 = 1.959963984540054


class Interval(NamedTuple):
    """A confidence interval at `level`, by the named method, low <= high.

    That of a proportion is within 0 and 1, that of a difference of two within -1 and 1.
    """

    method: str
    level: float
    low: float
    high: float


def wilson_interval(successes: int, total: int) -> Interval:
    """Return the 95 % Wilson score interval for `successes` out of `total` independent trials.

    With p = successes / total and z the normal quantile: centre (p + z^2/2n) / (1 + z^2/n), half width
    z * sqrt(p(1-p)/n + z^2/4n^2) / (1 + z^2/n) (E. B. Wilson, JASA 22, 1927). Raises ValueError unless
    0 <= successes <= total and total > 0.
    """
    if total <= 0 or not 0 <= successes <= total:
        raise ValueError(f"expected 0 <= successes <= total and a positive total, got {successes} of {total}")
    z_squared = _NORMAL_QUANTILE_95**2
    rate = successes / total
    scale = 1 + z_squared / total
    centre = (rate + z_squared / (2 * total)) / scale
    half = _NORMAL_QUANTILE_95 * sqrt(rate * (1 - rate) / total + z_squared / (4 * total**2)) / scale
    # At the ends the exact bound is 0 or 1; floating point would miss it by a hair.
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == total else centre + half
    return Interval("wilson", 0.95, low, high)
