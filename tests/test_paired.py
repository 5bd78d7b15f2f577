"""Intervals and tests over pairs, against published values and computations of other kinds."""

from __future__ import annotations

import itertools
import math
import random
import unittest
from decimal import Decimal, localcontext
from fractions import Fraction
from unittest import mock

import support  # noqa: F401  (the way to the package)

from evaluation import paired
from evaluation.estimators import mcnemar_p_value
from evaluation.paired import RESAMPLES, SEED, PermutationTest, newcombe_interval, permutation_test

TABLES = list(itertools.product(range(4), repeat=4))[1:]
LARGER = [(36, 12, 2, 0), (1, 1, 7, 12), (53, 3, 7, 2), (0, 0, 0, 9), (80, 5, 5, 10), (0, 400, 3, 0), (1, 9, 9, 1000)]


def score_limit(rate: Decimal, total: int, z: Decimal, towards: int) -> Decimal:
    """Return by bisection the farthest p towards 0 or 1 with (rate - p)^2 <= z^2 p (1 - p) / n."""
    inside, outside = rate, Decimal(towards)
    if inside == outside:
        return inside
    for _ in range(100):
        middle = (inside + outside) / 2
        if (rate - middle) ** 2 <= z * z * middle * (1 - middle) / total:
            inside = middle
        else:
            outside = middle
    return inside


def plain_newcombe(both: int, gained: int, lost: int, neither: int) -> tuple[float, float]:
    """Return Newcombe's limits by the words of the paper, in 40 digits, the Wilson limits by their definition."""
    with localcontext() as context:
        context.prec = 40
        z = Decimal("1.959963984540054235524594430520551")
        total = both + gained + lost + neither
        rates = [Decimal(both + gained) / total, Decimal(both + lost) / total]
        (l2, u2), (l1, u1) = ([score_limit(rate, total, z, end) for end in (0, 1)] for rate in rates)
        margins = (both + gained) * (lost + neither) * (both + lost) * (gained + neither)
        cross = Decimal(both * neither - gained * lost)
        half = Decimal(total) / 2
        if cross > half:
            cross -= half
        elif cross > 0:
            cross = Decimal(0)
        phi = cross / Decimal(margins).sqrt() if margins else Decimal(0)
        p2, p1 = rates
        delta = ((p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1) ** 2).sqrt()
        epsilon = ((u2 - p2) ** 2 - 2 * phi * (u2 - p2) * (p1 - l1) + (p1 - l1) ** 2).sqrt()
        return float(p2 - p1 - delta), float(p2 - p1 + epsilon)


class NewcombeIntervalTest(unittest.TestCase):
    def test_published_values(self) -> None:
        # 36, 12, 2, 0: Newcombe 1998; 1, 1, 7, 12: Bentur et al. 2009, in M. W. Fagerland, S. Lydersen and
        # P. Laake, Statistics in Medicine 33, 2014, as "Newcombe square-and-add", there first less second.
        for counts, low, high, places in (
            ((36, 12, 2, 0), 0.0569, 0.3404, 4),
            ((1, 1, 7, 12), -0.507, -0.026, 3),
        ):
            with self.subTest(counts=counts):
                interval = newcombe_interval(*counts)
                self.assertAlmostEqual(interval.low, low, places=places)
                self.assertAlmostEqual(interval.high, high, places=places)
                self.assertEqual((interval.method, interval.level), ("newcombe_10", 0.95))

    def test_against_another_computation(self) -> None:
        for counts in (*TABLES, *LARGER):
            with self.subTest(counts=counts):
                interval = newcombe_interval(*counts)
                low, high = plain_newcombe(*counts)
                self.assertAlmostEqual(interval.low, low, places=7)
                self.assertAlmostEqual(interval.high, high, places=7)

    def test_what_an_interval_is(self) -> None:
        for both, gained, lost, neither in (*TABLES, *LARGER):
            with self.subTest(counts=(both, gained, lost, neither)):
                interval = newcombe_interval(both, gained, lost, neither)
                difference = (gained - lost) / (both + gained + lost + neither)
                self.assertTrue(-1 <= interval.low <= difference <= interval.high <= 1, interval)
                self.assertLess(interval.low, interval.high)
                swapped = newcombe_interval(both, lost, gained, neither)
                self.assertEqual((swapped.low, swapped.high), (-interval.high, -interval.low))
                if gained == lost:
                    self.assertTrue(interval.low < 0 < interval.high)

    def test_what_is_refused(self) -> None:
        for counts in ((0, 0, 0, 0), (-1, 1, 1, 1), (1, 1, 1, -1)):
            with self.subTest(counts=counts), self.assertRaises(ValueError):
                newcombe_interval(*counts)


def every_choice(differences: list[Fraction]) -> float:
    """Return the p value by trying all signs."""
    observed = abs(sum(differences, Fraction(0)))
    sums = [
        abs(sum((sign * difference for sign, difference in zip(signs, differences)), Fraction(0)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return float(Fraction(sum(found >= observed for found in sums), len(sums)))


class PermutationTestTest(unittest.TestCase):
    def test_against_all_choices_of_signs(self) -> None:
        source = random.Random(7)
        for count in range(1, 11):
            for _ in range(20):
                runs, others = source.randint(1, 6), source.randint(1, 6)
                differences = [
                    Fraction(source.randint(0, runs), runs) - Fraction(source.randint(0, others), others)
                    for _ in range(count)
                ]
                with self.subTest(differences=differences):
                    self.assertEqual(permutation_test(differences), (every_choice(differences), None, None))

    def test_of_single_runs_it_is_the_mcnemar_test(self) -> None:
        for gained, lost, same in itertools.product(range(12), range(12), (0, 3)):
            differences = [Fraction(1)] * gained + [Fraction(0)] * same + [Fraction(-1)] * lost
            self.assertEqual(permutation_test(differences).p_value, mcnemar_p_value(gained, lost), (gained, lost))

    def test_nothing_differs(self) -> None:
        for differences in ([], [Fraction(0)] * 3, [Fraction(1, 3), Fraction(-1, 3)]):
            self.assertEqual(permutation_test(differences), PermutationTest(1.0))

    def test_sides_can_be_swapped(self) -> None:
        differences = [Fraction(number, 15) for number in (1, 4, -2, 7, 7, 3, -1)]
        swapped = [-difference for difference in differences]
        self.assertEqual(permutation_test(differences), permutation_test(swapped))
        with mock.patch.object(paired, "_MOST_EXACT_BITS", 0):
            self.assertEqual(permutation_test(differences), permutation_test(swapped))

    def test_resampled_where_counting_is_too_much(self) -> None:
        source = random.Random(3)
        for count in (5, 20, 60):
            differences = [Fraction(source.randint(-4, 7), 15) for _ in range(count)]
            exact = permutation_test(differences).p_value
            with mock.patch.object(paired, "_MOST_EXACT_BITS", 0):
                test = permutation_test(differences)
            with self.subTest(count=count):
                self.assertEqual((test.resamples, test.seed), (RESAMPLES, SEED))
                # Six standard errors, and a little for the one that is added.
                error = math.sqrt(exact * (1 - exact) / RESAMPLES)
                self.assertLess(abs(test.p_value - exact), 6 * error + 0.0002)

    def test_an_estimate_is_the_same_on_every_python(self) -> None:
        differences = [Fraction(number % 7 - 2, 6) for number in range(12)]
        with mock.patch.object(paired, "_MOST_EXACT_BITS", 0):
            self.assertEqual(permutation_test(differences).p_value, 3944 / 10001)
            # All the same way: none of so many choices is as far, and yet p is not 0.
            self.assertEqual(permutation_test([Fraction(1)] * 60).p_value, 1 / (RESAMPLES + 1))

    def test_many_tasks_are_estimated(self) -> None:
        self.assertEqual(permutation_test([Fraction(1, 3)] * 30_000).resamples, RESAMPLES)
        self.assertIsNone(permutation_test([Fraction(1, 3)] * 500).resamples)


if __name__ == "__main__":
    unittest.main()
