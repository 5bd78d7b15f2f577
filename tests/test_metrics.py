"""Intervals, against values from independent computation."""

from __future__ import annotations

import unittest

import support  # noqa: F401  (the way to the package)

from evaluation.metrics import wilson_interval


class WilsonIntervalTest(unittest.TestCase):
    def test_values(self) -> None:
        for successes, total, low, high in (
            (19, 25, 0.5657032, 0.8850369),
            (0, 10, 0.0, 0.2775328),
            (3, 3, 0.4385030, 1.0),
            (1, 1, 0.2065493, 1.0),
            (50, 100, 0.4038315, 0.5961685),
        ):
            with self.subTest(successes=successes, total=total):
                interval = wilson_interval(successes, total)
                self.assertAlmostEqual(interval.low, low, places=7)
                self.assertAlmostEqual(interval.high, high, places=7)
                self.assertEqual((interval.method, interval.level), ("wilson", 0.95))

    def test_ends_are_exact(self) -> None:
        for total in range(1, 200):
            self.assertEqual(wilson_interval(0, total).low, 0)
            self.assertEqual(wilson_interval(total, total).high, 1)
            for successes in range(total + 1):
                interval = wilson_interval(successes, total)
                self.assertTrue(0 <= interval.low <= successes / total <= interval.high <= 1, (successes, total))

    def test_no_trials_have_no_interval(self) -> None:
        for successes, total in ((0, 0), (-1, 3), (4, 3)):
            with self.subTest(successes=successes, total=total), self.assertRaises(ValueError):
                wilson_interval(successes, total)


if __name__ == "__main__":
    unittest.main()
