"""Pure numbers over repeated and paired outcomes: errors, estimates and tests, with their formulas and sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import comb, sqrt


def clustered_standard_error(values: Sequence[float], clusters: Sequence[Hashable]) -> float | None:
    """Return the standard error of the mean of `values`, those with equal `clusters` taken as dependent.

    With n values in G clusters and the mean m: sqrt(G / (G - 1) * sum over clusters of (sum of (x - m))^2) / n
    (K.-Y. Liang and S. L. Zeger, Biometrika 73, 1986, with the usual correction for few clusters). Where every value is
    a cluster of its own, this is the sample standard deviation / sqrt(n). None for fewer than two clusters. Raises
    ValueError when there are not as many clusters as values.
    """
    sums: dict[Hashable, Fraction | int] = {}
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0) + (value if isinstance(value, int) else Fraction(value))
    count = len(sums)
    if count < 2:
        return None
    sizes = Counter(clusters)
    mean = Fraction(sum(sums.values(), Fraction(0))) / len(values)
    squares = sum((sums[cluster] - size * mean) ** 2 for cluster, size in sizes.items())
    # The square is an exact fraction, so that equal errors are equal numbers.
    return sqrt(Fraction(count, count - 1) * squares / len(values) ** 2)


def pass_at_k(runs: int, passed: int, k: int) -> Fraction:
    """Return the unbiased estimate of the chance that at least one of k runs passes.

    1 - C(n - c, k) / C(n, k) for c of n runs passed (M. Chen et al., Evaluating Large Language Models Trained on Code,
    2021). Raises ValueError unless 0 <= c <= n and 1 <= k <= n.
    """
    return 1 - _share_of_choices(runs - passed, runs, passed, k)


def pass_hat_k(runs: int, passed: int, k: int) -> Fraction:
    """Return the unbiased estimate of the chance that all of k runs pass.

    C(c, k) / C(n, k) for c of n runs passed (S. Yao et al., tau-bench, 2024). Raises ValueError unless 0 <= c <= n and
    1 <= k <= n.
    """
    return _share_of_choices(passed, runs, passed, k)


def _share_of_choices(chosen: int, runs: int, passed: int, k: int) -> Fraction:
    if not 0 <= passed <= runs or not 1 <= k <= runs:
        raise ValueError(f"expected 0 <= passed <= runs and 1 <= k <= runs, got {passed} of {runs} and k = {k}")
    return Fraction(comb(chosen, k), comb(runs, k))


def mcnemar_p_value(gained: int, lost: int) -> float:
    """Return the two-sided p value of the exact McNemar test, 1 where nothing differs.

    Of n = gained + lost discordant pairs each goes either way with probability 1/2 when there is no difference:
    p = min(1, 2 * sum of C(n, i) / 2^n for i from 0 to the smaller) (Q. McNemar, Psychometrika 12, 1947; exact form of
    the sign test). Raises ValueError for a negative count.
    """
    if gained < 0 or lost < 0:
        raise ValueError(f"expected counts of at least 0, got {gained} and {lost}")
    pairs, tail, term = gained + lost, 0, 1
    for i in range(min(gained, lost) + 1):
        # C(n, i), of which each follows from the one before.
        tail += term
        term = term * (pairs - i) // (i + 1)
    return float(min(Fraction(1), Fraction(2 * tail, 2**pairs)))
