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
    return Interval("wilson", 0.95, *_wilson(successes / total, total))


def clustered_interval(successes: int, total: int, clusters: int, standard_error: float | None) -> Interval:
    """Return the 95 % Wilson score interval for `successes` out of `total` trials that are alike within clusters.

    It is that of as many independent trials as have the same standard error, p(1-p) / error^2, which are taken as no
    fewer than the clusters and no more than the trials (E. L. Korn and B. I. Graubard, Survey Methodology 24, 1998).
    Where the error is None or 0 for want of evidence, as when all or none succeed, they are as many as the clusters.
    Raises ValueError as `wilson_interval` does, or unless 0 < clusters <= total.
    """
    if not 0 < clusters <= total or not 0 <= successes <= total:
        raise ValueError(f"expected successes and clusters up to total, got {successes} and {clusters} of {total}")
    rate, size = successes / total, float(clusters)
    if standard_error and 0 < successes < total:
        size = min(max(size, rate * (1 - rate) / standard_error**2), float(total))
    return Interval("clustered_wilson", 0.95, *_wilson(rate, size))


def _wilson(rate: float, total: float) -> tuple[float, float]:
    z_squared = _NORMAL_QUANTILE_95**2
    scale = 1 + z_squared / total
    centre = (rate + z_squared / (2 * total)) / scale
    half = _NORMAL_QUANTILE_95 * sqrt(rate * (1 - rate) / total + z_squared / (4 * total**2)) / scale
    # At the ends the exact bound is 0 or 1; floating point would miss it by a hair.
    return 0.0 if rate == 0 else centre - half, 1.0 if rate == 1 else centre + half
