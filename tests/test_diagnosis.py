"""The nearest mapping of a prediction that is not gold."""

from __future__ import annotations

import itertools
import random
import unittest
from collections import Counter
from collections.abc import Sequence

import support  # noqa: F401  (the way to the package)

from evaluation.cells import BooleanRule, NumberRule, Rule, TextRule, canonical_column
from evaluation.diagnosis import nearest_mapping
from evaluation.errors import CellError
from evaluation.tables import Table

INTEGER = NumberRule("integer")


def nearest(
    names: Sequence[str], gold: Sequence[Sequence[str]], rules: Sequence[Rule], prediction: Table
) -> tuple[int | None, ...]:
    """Return the nearest mapping of a gold table given column by column."""
    distinct = list(dict.fromkeys(rules))
    kinds = [distinct.index(rule) for rule in rules]
    columns = [canonical_column(rule, column) for rule, column in zip(rules, gold)]
    return nearest_mapping(names, columns, distinct, kinds, prediction)


def by_force(
    names: Sequence[str], gold: Sequence[Sequence[str]], rules: Sequence[Rule], prediction: Table
) -> tuple[int | None, ...]:
    def agreement(i: int, j: int) -> int:
        count = Counter(rules[i].canonical(text) for text in gold[i])
        agreed = 0
        for row in prediction.rows:
            try:
                value = rules[i].canonical(row[j])
            except CellError:
                continue
            agreed += count[value] > 0
            count[value] -= 1
        return agreed

    width, height = len(prediction.header), len(names)

    def key(choice: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        pairs = [(i, j) for i, j in enumerate(choice) if j < width]
        agreed = sum(agreement(i, j) for i, j in pairs)
        return -agreed, -sum(names[i].strip() == prediction.header[j].strip() for i, j in pairs), choice

    columns = [*range(width), *[width] * max(0, height - width)]
    return tuple(None if j == width else j for j in min(itertools.permutations(columns, height), key=key))


class NearestMappingTest(unittest.TestCase):
    def test_cases(self) -> None:
        text = TextRule()
        names = ("a", "b")
        gold = (("1", "2", "3"), ("x", "y", "z"))
        for header, rows, expected in (
            (("h", "i"), [("1", "x"), ("2", "y"), ("3", "w")], (0, 1)),
            (("h", "i"), [("x", "1"), ("w", "2")], (1, 0)),
            # Agreement counts before headers, headers before places.
            (("b", "a"), [("1", "w")], (0, 1)),
            (("b", "a"), [("8", "w")], (1, 0)),
            ((" b ", "c"), [("8", "w")], (1, 0)),
            (("B", "A"), [("8", "w")], (0, 1)),
            (("h", "i"), [("8", "w")], (0, 1)),
            (("h", "i"), [], (0, 1)),
            # Of the sum of agreements the whole mapping is judged, not the first column.
            (("h", "i"), [("1", "w"), ("x", "2"), ("y", "2")], (1, 0)),
            (("h",), [("x",)], (None, 0)),
            (("h",), [("8",)], (0, None)),
            (("b",), [("8",)], (None, 0)),
            (("h", "i", "j"), [("8", "x", "1")], (2, 1)),
        ):
            with self.subTest(header=header, rows=rows):
                self.assertEqual(nearest(names, gold, [text, text], Table(header, rows)), expected)

    def test_values_are_compared_under_the_gold_rule(self) -> None:
        table = Table(("h", "i"), [("yes", "1.0"), ("perhaps", "2e0")])
        self.assertEqual(nearest(("a", "b"), [("1", "2"), ("true", "false")], [INTEGER, BooleanRule()], table), (1, 0))

    def test_null_agrees_with_null(self) -> None:
        table = Table(("h", "i"), [("8", "nan"), ("8", "9")])
        self.assertEqual(nearest(("a", "b"), [("", "1"), ("2", "3")], [INTEGER, INTEGER], table), (1, 0))

    def test_agrees_with_brute_force(self) -> None:
        source = random.Random(9)
        rules: list[Rule] = [TextRule(), INTEGER, BooleanRule()]
        spellings = ("1", "0", "true", "1.0", "x", "", "null", "no")
        for _ in range(400):
            width, height, rows = source.randint(1, 4), source.randint(1, 4), source.randint(1, 4)
            used = [source.choice(rules) for _ in range(height)]
            gold = [[source.choice(("1", "0", "")) for _ in range(rows)] for _ in range(height)]
            names = [source.choice("abc") for _ in range(height)]
            header = tuple(source.choice(("a", "b", "c ", "d")) for _ in range(width))
            lines = [tuple(source.choice(spellings) for _ in range(width)) for _ in range(source.randint(0, 4))]
            table = Table(header, lines)
            with self.subTest(names=names, gold=gold, rules=used, table=table):
                self.assertEqual(nearest(names, gold, used, table), by_force(names, gold, used, table))


if __name__ == "__main__":
    unittest.main()
