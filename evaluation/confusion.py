"""Confusion counts and the rates of classification, with their formulas and sources.

Counts are kept, and rates are exact fractions of them, so that a rate of two thirds reaches a bar of 2/3. A rate that
would divide by zero is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt


@dataclass(frozen=True)
class BinaryCounts:
    """One class against the rest, or several such counts pooled: true and false positives and negatives."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def support(self) -> int:
        """How often the class was expected."""
        return self.tp + self.fn

    @property
    def precision(self) -> Fraction | None:
        """The share of the answers with the class that were right: tp / (tp + fp)."""
        return ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Fraction | None:
        """The share of the expected that was found: tp / (tp + fn)."""
        return ratio(self.tp, self.support)

    def f_score(self, beta: Fraction) -> Fraction | None:
        """Return (1 + beta^2) P R / (beta^2 P + R), precision P and recall R in one, R weighted beta^2 times.

        Written in counts, (1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp), it is undefined only where nothing was
        expected and nothing predicted (C. J. van Rijsbergen, Information Retrieval, 1979).
        """
        weighted = (1 + beta**2) * self.tp
        return ratio(weighted, weighted + beta**2 * self.fn + self.fp)


@dataclass(frozen=True)
class ConfusionCounts:
    """How often each label was predicted where each was expected: `cells[expected][predicted]`.

    For k classes there are k + 1 rows, the last for expected labels outside the classes, and k + 2 columns, the last
    two for predicted labels outside them and for no predicted label. Only the k x k cells can hold right answers: a
    label outside the classes agrees with nothing, not even with itself.
    """

    cells: tuple[tuple[int, ...], ...]

    @property
    def class_count(self) -> int:
        return len(self.cells) - 1

    @cached_property
    def total(self) -> int:
        """All datapoints."""
        return sum(self._expected)

    @cached_property
    def correct(self) -> int:
        """The datapoints on the diagonal."""
        return sum(self.cells[k][k] for k in range(self.class_count))

    @cached_property
    def _expected(self) -> list[int]:
        return [sum(row) for row in self.cells]

    @cached_property
    def _predicted(self) -> list[int]:
        return [sum(column) for column in zip(*self.cells, strict=True)]

    def of_class(self, k: int) -> BinaryCounts:
        """Return the counts of class k against the rest."""
        tp = self.cells[k][k]
        fp, fn = self._predicted[k] - tp, self._expected[k] - tp
        return BinaryCounts(tp, fp, fn, self.total - tp - fp - fn)

    @cached_property
    def pooled(self) -> BinaryCounts:
        """The counts of all classes added up, of which the micro averages are made."""
        classes = [self.of_class(k) for k in range(self.class_count)]
        return BinaryCounts(*(sum(getattr(counts, name) for counts in classes) for name in ("tp", "fp", "fn", "tn")))

    @property
    def accuracy(self) -> Fraction | None:
        """Datapoints on the diagonal / all datapoints."""
        return ratio(self.correct, self.total)

    @property
    def cohen_kappa(self) -> Fraction | None:
        """(p_o - p_e) / (1 - p_e), for the accuracy p_o and the agreement p_e that the margins alone would give.

        In counts: (n c - s) / (n^2 - s), with c right of n and s the sum over the classes of how often each is expected
        times how often it is predicted (J. Cohen, Educational and Psychological Measurement 20, 1960).
        """
        chance = self._chance
        return ratio(self.total * self.correct - chance, self.total**2 - chance)

    @property
    def matthews(self) -> float | None:
        """The correlation of expected and predicted labels, from -1 to 1.

        (n c - s) / sqrt((n^2 - e) (n^2 - p)), with e and p the sums of the squares of how often each row and each
        column occurs, and the rest as for Cohen's kappa (J. Gorodkin, Computational Biology and Chemistry 28, 2004).
        """
        spread = 1
        for margins in (self._expected, self._predicted):
            spread *= self.total**2 - sum(count**2 for count in margins)
        return (self.total * self.correct - self._chance) / sqrt(spread) if spread else None

    @property
    def _chance(self) -> int:
        classes = range(self.class_count)
        return sum(self._expected[k] * self._predicted[k] for k in classes)


def ratio(numerator: Fraction | int, denominator: Fraction | int) -> Fraction | None:
    """Return the exact quotient, None where the denominator is 0."""
    return Fraction(numerator) / denominator if denominator else None


def weighted_mean(values: Sequence[Fraction], weights: Sequence[int]) -> Fraction | None:
    """Return sum(value * weight) / sum(weights), None where the weights are all 0."""
    return ratio(sum((v * w for v, w in zip(values, weights, strict=True)), Fraction(0)), sum(weights))
