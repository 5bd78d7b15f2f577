"""Perfect matching against brute force."""

from __future__ import annotations

import itertools
import random
import unittest

import support  # noqa: F401  (the way to the package)

from evaluation.matching import is_matchable, perfect_matching


def brute_force(candidates: list[list[int]]) -> tuple[int, ...] | None:
    return min((choice for choice in itertools.product(*candidates) if len(set(choice)) == len(choice)), default=None)


class PerfectMatchingTest(unittest.TestCase):
    def test_cases(self) -> None:
        cases: list[tuple[list[list[int]], tuple[int, ...] | None]] = [
            ([], ()),
            ([[]], None),
            ([[3]], (3,)),
            ([[0, 1], [0]], (1, 0)),
            ([[0], [0]], None),
            ([[0, 1, 2], [0, 1, 2], [0, 1, 2]], (0, 1, 2)),
            ([[0, 1], [1, 2], [0]], (1, 2, 0)),
            ([[0, 1], [0, 1], [0, 1]], None),
        ]
        for candidates, expected in cases:
            with self.subTest(candidates=candidates):
                self.assertEqual(perfect_matching(candidates), expected)
                self.assertEqual(is_matchable(candidates), expected is not None)

    def test_agrees_with_brute_force(self) -> None:
        source = random.Random(7)
        for _ in range(3000):
            size = source.randrange(1, 6)
            density = source.random()
            candidates = [[j for j in range(size) if source.random() < density] for _ in range(size)]
            self.assertEqual(perfect_matching(candidates), brute_force(candidates), candidates)


if __name__ == "__main__":
    unittest.main()
