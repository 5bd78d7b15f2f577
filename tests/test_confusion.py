"""Rates, against lists of pairs counted by hand and formulas in exact fractions."""

from __future__ import annotations

import random
import unittest
from collections import Counter
from fractions import Fraction
from math import prod, sqrt

import support  # noqa: F401  (the way to the package)

from evaluation.confusion import BinaryCounts, ConfusionCounts, ratio, weighted_mean


class BinaryCountsTest(unittest.TestCase):
    def test_rates(self) -> None:
        counts = BinaryCounts(tp=2, fp=2, fn=1, tn=2)
        self.assertEqual((counts.precision, counts.recall, counts.support), (Fraction(1, 2), Fraction(2, 3), 3))
        self.assertEqual(counts.f_score(Fraction(2)), Fraction(5, 8))
        self.assertEqual(counts.f_score(Fraction(1)), Fraction(4, 7))
        for beta in (Fraction(1, 1000), Fraction(1, 3), Fraction(1000)):
            precision, recall = Fraction(1, 2), Fraction(2, 3)
            by_formula = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
            self.assertEqual(counts.f_score(beta), by_formula)

    def test_undefined(self) -> None:
        for counts, precision, recall, f_score in (
            (BinaryCounts(0, 0, 0, 9), None, None, None),
            (BinaryCounts(0, 0, 3, 9), None, 0, 0),
            (BinaryCounts(0, 3, 0, 9), 0, None, 0),
            (BinaryCounts(0, 3, 3, 9), 0, 0, 0),
        ):
            with self.subTest(counts=counts):
                self.assertEqual(
                    (counts.precision, counts.recall, counts.f_score(Fraction(1))), (precision, recall, f_score)
                )


class ConfusionCountsTest(unittest.TestCase):
    def random_counts(self, source: random.Random) -> ConfusionCounts:
        size = source.randint(1, 4)
        most = source.choice([1, 3, 20])
        return ConfusionCounts(tuple(tuple(source.randint(0, most) for _ in range(size + 2)) for _ in range(size + 1)))

    def test_against_a_list_of_pairs(self) -> None:
        source = random.Random(11)
        for _ in range(300):
            counts = self.random_counts(source)
            size = counts.class_count
            # Labels outside the classes on the two sides are different labels, and no label is another one.
            pairs = [
                ("outside expected" if e == size else str(e), f"none or outside {p}" if p >= size else str(p))
                for e, row in enumerate(counts.cells)
                for p, count in enumerate(row)
                for _ in range(count)
            ]
            n, right = len(pairs), sum(e == p for e, p in pairs)
            expected, predicted = Counter(e for e, _ in pairs), Counter(p for _, p in pairs)
            with self.subTest(cells=counts.cells):
                self.assertEqual((counts.total, counts.correct), (n, right))
                self.assertEqual(counts.accuracy, ratio(right, n))
                if n == 0:
                    self.assertEqual((counts.cohen_kappa, counts.matthews), (None, None))
                    continue
                chance = Fraction(sum(count * predicted[label] for label, count in expected.items()), n * n)
                kappa = None if chance == 1 else (Fraction(right, n) - chance) / (1 - chance)
                self.assertEqual(counts.cohen_kappa, kappa)
                spreads = [1 - Fraction(sum(c * c for c in side.values()), n * n) for side in (expected, predicted)]
                if prod(spreads) == 0:
                    self.assertIsNone(counts.matthews)
                else:
                    correlation = float(Fraction(right, n) - chance) / sqrt(prod(spreads))
                    self.assertAlmostEqual(counts.matthews or 0.0, correlation, places=12)
                pooled = Counter[str]()
                for k in range(size):
                    of_class = counts.of_class(k)
                    tp, fp, fn = of_class.tp, of_class.fp, of_class.fn
                    self.assertEqual(tp, sum(e == p == str(k) for e, p in pairs))
                    self.assertEqual((tp + fn, tp + fp), (expected[str(k)], predicted[str(k)]))
                    self.assertEqual(tp + fp + fn + of_class.tn, n)
                    pooled.update(tp=tp, fp=fp, fn=fn, tn=of_class.tn)
                self.assertEqual(vars(counts.pooled), dict(pooled))

    def test_matthews_of_two_classes_is_the_familiar_formula(self) -> None:
        source = random.Random(12)
        for _ in range(100):
            tp, fn, fp, tn = (source.randint(1, 30) for _ in range(4))
            familiar = (tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
            matthews = ConfusionCounts(((tp, fn, 0, 0), (fp, tn, 0, 0), (0, 0, 0, 0))).matthews
            self.assertAlmostEqual(matthews or 0.0, familiar, places=12)

    def test_ends(self) -> None:
        for size in (2, 3, 7):
            right = [[3 if e == p else 0 for p in range(size + 2)] for e in range(size)]
            perfect = ConfusionCounts((*map(tuple, right), (0,) * (size + 2)))
            self.assertEqual((perfect.accuracy, perfect.cohen_kappa, perfect.matthews), (1, 1, 1))
        swapped = ConfusionCounts(((0, 4, 0, 0), (4, 0, 0, 0), (0, 0, 0, 0)))
        self.assertEqual((swapped.accuracy, swapped.cohen_kappa, swapped.matthews), (0, -1, -1))

    def test_weighted_mean(self) -> None:
        values = [Fraction(1, 3), Fraction(1, 2)]
        self.assertEqual(weighted_mean(values, [1, 1]), Fraction(5, 12))
        self.assertEqual(weighted_mean(values, [3, 0]), Fraction(1, 3))
        self.assertIsNone(weighted_mean(values, [0, 0]))


if __name__ == "__main__":
    unittest.main()
