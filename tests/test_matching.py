"""Matchings against brute force."""

from __future__ import annotations

import itertools
import random
import unittest

import support  # noqa: F401  (the way to the package)

from evaluation.matching import heaviest_matching, is_matchable, perfect_matching


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


def heaviest_by_force(weights: list[list[int]]) -> tuple[int | None, ...]:
    """Try every assignment of the smaller side into the larger; None counts as a column behind all others."""
    width = len(weights[0])
    columns = [*range(width), *[width] * max(0, len(weights) - width)]

    def key(choice: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        return -sum(row[j] for row, j in zip(weights, choice) if j < width), choice

    best = min(itertools.permutations(columns, len(weights)), key=key)
    return tuple(None if j == width else j for j in best)


class HeaviestMatchingTest(unittest.TestCase):
    def test_cases(self) -> None:
        cases: list[tuple[list[list[int]], tuple[int | None, ...]]] = [
            ([[0]], (0,)),
            ([[5, 5], [5, 5]], (0, 1)),
            ([[2, 3], [0, 3]], (0, 1)),
            # The greatest single weight is not always taken.
            ([[4, 3], [3, 0]], (1, 0)),
            ([[0, 0, 1]], (2,)),
            ([[1], [1]], (0, None)),
            ([[1], [2], [2]], (None, 0, None)),
            ([[0, 0], [0, 0], [0, 0]], (0, 1, None)),
            ([[10**30, 1], [10**30 + 1, 0]], (1, 0)),
        ]
        for weights, expected in cases:
            with self.subTest(weights=weights):
                self.assertEqual(heaviest_matching(weights), expected)

    def test_agrees_with_brute_force(self) -> None:
        source = random.Random(8)
        for _ in range(1500):
            width, height, most = source.randint(1, 5), source.randint(1, 5), source.choice([0, 1, 3, 50])
            weights = [[source.randint(0, most) for _ in range(width)] for _ in range(height)]
            self.assertEqual(heaviest_matching(weights), heaviest_by_force(weights), weights)


if __name__ == "__main__":
    unittest.main()
