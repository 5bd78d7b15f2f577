"""Errors, estimates and tests over repeated and paired outcomes, against published values and by force."""

from __future__ import annotations

import itertools
import random
import statistics
import unittest
from fractions import Fraction

import support  # noqa: F401  (the way to the package)

from evaluation.estimators import clustered_standard_error, mcnemar_p_value, pass_at_k, pass_hat_k
from evaluation.metrics import clustered_interval, wilson_interval


class StandardErrorTest(unittest.TestCase):
    def test_values(self) -> None:
        for values, clusters, expected in (
            (range(10), range(10), 0.9574271),
            (range(20), [i % 4 for i in range(20)], 0.6454972),
            ([1, 1, 1], [1, 2, 3], 0.0),
            ([0.5, 0.25], ["a", "b"], 0.125),
        ):
            with self.subTest(values=values):
                error = clustered_standard_error(list(values), list(clusters))
                assert error is not None
                self.assertAlmostEqual(error, expected, places=7)

    def test_alone_it_is_the_standard_error_of_the_mean(self) -> None:
        source = random.Random(3)
        for _ in range(50):
            values = [source.uniform(-5, 5) for _ in range(source.randint(2, 30))]
            error = clustered_standard_error(values, range(len(values)))
            assert error is not None
            self.assertAlmostEqual(error, statistics.stdev(values) / len(values) ** 0.5)

    def test_runs_that_repeat_each_other_are_no_more_evidence(self) -> None:
        once = clustered_standard_error([0, 1, 1, 0, 1], range(5))
        self.assertEqual(clustered_standard_error([0, 1, 1, 0, 1] * 7, [*range(5)] * 7), once)

    def test_one_cluster_has_no_error(self) -> None:
        self.assertIsNone(clustered_standard_error([1, 0, 1], ["a"] * 3))
        self.assertIsNone(clustered_standard_error([], []))
        with self.assertRaises(ValueError):
            clustered_standard_error([1, 2], ["a"])


class PassTest(unittest.TestCase):
    def test_values(self) -> None:
        for runs, passed, k, at_k, hat_k in (
            (6, 3, 1, "0.5", "0.5"),
            (6, 3, 2, "0.8", "0.2"),
            (6, 3, 3, "0.95", "0.05"),
            (6, 0, 4, "0", "0"),
            (6, 6, 4, "1", "1"),
            (1, 1, 1, "1", "1"),
        ):
            with self.subTest(runs=runs, passed=passed, k=k):
                self.assertEqual(pass_at_k(runs, passed, k), Fraction(at_k))
                self.assertEqual(pass_hat_k(runs, passed, k), Fraction(hat_k))

    def test_agrees_with_counting_all_choices(self) -> None:
        for runs in range(1, 8):
            for passed, k in itertools.product(range(runs + 1), range(1, runs + 1)):
                choices = list(itertools.combinations([True] * passed + [False] * (runs - passed), k))
                self.assertEqual(pass_at_k(runs, passed, k), Fraction(sum(map(any, choices)), len(choices)))
                self.assertEqual(pass_hat_k(runs, passed, k), Fraction(sum(map(all, choices)), len(choices)))

    def test_more_than_there_are_is_refused(self) -> None:
        for runs, passed, k in ((3, 2, 4), (3, 4, 1), (3, -1, 1), (3, 2, 0)):
            for estimate in (pass_at_k, pass_hat_k):
                with self.subTest(runs=runs, passed=passed, k=k), self.assertRaises(ValueError):
                    estimate(runs, passed, k)


class McNemarTest(unittest.TestCase):
    def test_agrees_with_all_ways_that_pairs_can_go(self) -> None:
        for gained, lost in itertools.product(range(6), range(6)):
            pairs = gained + lost
            ways = [sum(way) for way in itertools.product((0, 1), repeat=pairs)]
            extreme = sum(min(way, pairs - way) <= min(gained, lost) for way in ways)
            with self.subTest(gained=gained, lost=lost):
                self.assertAlmostEqual(mcnemar_p_value(gained, lost), min(1, extreme / len(ways)))

    def test_values(self) -> None:
        self.assertEqual(mcnemar_p_value(0, 0), 1)
        self.assertEqual(mcnemar_p_value(8, 2), 0.109375)
        self.assertEqual(mcnemar_p_value(2, 8), 0.109375)
        self.assertLess(mcnemar_p_value(5000, 0), 1e-300)
        with self.assertRaises(ValueError):
            mcnemar_p_value(-1, 2)


class ClusteredIntervalTest(unittest.TestCase):
    def test_between_that_of_the_trials_and_that_of_the_clusters(self) -> None:
        for passed, total, clusters, error in ((22, 45, 15, 0.05), (2, 6, 2, 0.0), (2, 6, 2, None), (3, 6, 2, 0.5)):
            with self.subTest(passed=passed, total=total):
                found = clustered_interval(passed, total, clusters, error)
                alone = wilson_interval(passed, total)
                self.assertLessEqual(found.low, alone.low)
                self.assertGreaterEqual(found.high, alone.high)
                self.assertLess(found.low, passed / total)
                self.assertGreater(found.high, passed / total)

    def test_values(self) -> None:
        # An error of 0.1 at a rate of 1/2 is that of 25 trials, of which no half can succeed: written out.
        squared = 1.959963984540054**2
        half = (squared * (0.25 / 25 + squared / 2500)) ** 0.5 / (1 + squared / 25)
        found = clustered_interval(50, 100, 10, 0.1)
        self.assertAlmostEqual(found.low, 0.5 - half)
        self.assertAlmostEqual(found.high, 0.5 + half)
        for passed in (0, 12):
            # Runs that all agree say no more than as many tasks.
            expected = wilson_interval(passed // 3, 4)
            self.assertEqual(clustered_interval(passed, 12, 4, 0.0)[2:], expected[2:])
        for arguments in ((5, 4, 2, 0.1), (1, 4, 0, 0.1), (1, 4, 5, 0.1), (-1, 4, 2, 0.1)):
            with self.assertRaises(ValueError):
                clustered_interval(*arguments)


if __name__ == "__main__":
    unittest.main()
