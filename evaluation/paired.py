"""Pure numbers over paired outcomes: the interval of a difference and a permutation test, with formulas and sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm, sqrt
from random import Random
from typing import NamedTuple

from .metrics import Interval, wilson_interval

RESAMPLES = 10_000
SEED = 1
# Counting exactly adds n numbers of n bits times the sum of the differences: half a second for a thousand tasks that
# differ, each in five runs.
_MOST_EXACT_BITS = 1 << 34


class PermutationTest(NamedTuple):
    """The two-sided p value of a permutation test: exact, or, with `resamples`, estimated from so many random ones.

    These are drawn by Python's `random.Random(seed)`, and so are the same on every machine.
    """

    p_value: float
    resamples: int | None = None
    seed: int | None = None


def newcombe_interval(both: int, gained: int, lost: int, neither: int) -> Interval:
    """Return the 95 % interval of the difference of two paired proportions, from -1 to 1.

    Of n pairs `both` passed on either side, `gained` on the second only, `lost` on the first only. With p2 =
    (both + gained) / n, p1 = (both + lost) / n and the Wilson limits l and u of each, the difference is p2 - p1 and its
    limits are

        low  = p2 - p1 - sqrt((p2 - l2)^2 - 2 phi (p2 - l2)(u1 - p1) + (u1 - p1)^2)
        high = p2 - p1 + sqrt((u2 - p2)^2 - 2 phi (u2 - p2)(p1 - l1) + (p1 - l1)^2)

    phi is the correlation of the two, x / sqrt((both + gained)(lost + neither)(both + lost)(gained + neither)) with x =
    both * neither - gained * lost, where a positive x is first made smaller by n / 2, but not below 0; phi is 0 where
    it would divide by zero (R. G. Newcombe, Statistics in Medicine 17, 1998, 2635-2650, method 10). Raises ValueError
    for a negative count or no pair at all.
    """
    total = both + gained + lost + neither
    if min(both, gained, lost, neither) < 0 or total == 0:
        raise ValueError(f"expected counts of at least 0 and a pair, got {both}, {gained}, {lost} and {neither}")
    second, first = wilson_interval(both + gained, total), wilson_interval(both + lost, total)
    second_rate, first_rate = (both + gained) / total, (both + lost) / total
    phi = _correlation(both, gained, lost, neither)
    difference = (gained - lost) / total
    low = difference - _added(second_rate - second.low, first.high - first_rate, phi)
    high = difference + _added(second.high - second_rate, first_rate - first.low, phi)
    return Interval("newcombe_10", second.level, max(-1.0, low), min(1.0, high))


def _added(one: float, other: float, phi: float) -> float:
    # Floating point may miss a zero from below.
    return sqrt(max(0.0, one * one + other * other - 2 * phi * (one * other)))


def _correlation(both: int, gained: int, lost: int, neither: int) -> float:
    margins = (both + gained) * (lost + neither) * (both + lost) * (gained + neither)
    excess = Fraction(both * neither - gained * lost)
    if excess > 0:
        excess = max(Fraction(0), excess - Fraction(both + gained + lost + neither, 2))
    return float(excess) / sqrt(margins) if margins else 0.0


def permutation_test(differences: Sequence[Fraction]) -> PermutationTest:
    """Return the two-sided paired permutation test of whether the differences are 0 on average.

    Where the sides do not differ, each difference could as well have had the other sign: p is the share of the 2^n
    choices of signs whose sum is as far from 0 as that of the differences, or farther (R. A. Fisher, The Design of
    Experiments, 1935, section 21). It is counted exactly where that takes some tenths of a second at most; else it is
    (h + 1) / (m + 1), with h of m = 10,000 random choices as far from 0 (B. Phipson and G. K. Smyth, Statistical
    Applications in Genetics and Molecular Biology 9, 2010). 1 where nothing differs.
    """
    scale = lcm(*(difference.denominator for difference in differences))
    # What is 0 is so under either sign.
    whole = [int(difference * scale) for difference in differences if difference]
    divisor = gcd(*whole)
    sizes = [abs(number) // divisor for number in whole]
    observed = abs(sum(whole)) // divisor if whole else 0
    if observed == 0:
        return PermutationTest(1.0)
    count = len(sizes)
    # Of few differences the memory counts: at most 2^26 bits.
    if count * max(count, 256) * sum(sizes) <= _MOST_EXACT_BITS:
        return PermutationTest(float(Fraction(2 * _sums_from(sizes, observed), 2**count)))
    hits = _random_hits(sizes, observed)
    return PermutationTest(float(Fraction(hits + 1, RESAMPLES + 1)), RESAMPLES, SEED)


def _sums_from(sizes: Sequence[int], least: int) -> int:
    """Return of how many choices of signs the sum is `least`, which is positive and one of the sums, or more."""
    # One long number: its digit t, to the base 2^(n + 1), is of how many subsets the sum is t. There are 2^n subsets,
    # so no digit overflows.
    bits = len(sizes) + 1
    subsets = 1
    for size in sizes:
        subsets += subsets << bits * size
    # The sum is 2t - total when the sizes with a plus sum to t.
    reached = subsets >> bits * ((sum(sizes) + least) // 2)
    # Modulo the base - 1, a number is the sum of its digits, which is smaller.
    return reached % ((1 << bits) - 1)


def _random_hits(sizes: Sequence[int], observed: int) -> int:
    random = Random(SEED)  # noqa: S311  (nothing here is secret)
    # Of sizes that are alike only the number of plus signs matters.
    counts = sorted(Counter(sizes).items())
    hits = 0
    for _ in range(RESAMPLES):
        total = sum(size * (2 * random.getrandbits(count).bit_count() - count) for size, count in counts)
        hits += abs(total) >= observed
    return hits
