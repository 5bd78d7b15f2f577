"""Typed tables of equal shape against brute force: every short cut must lead where reading everything leads."""

from __future__ import annotations

import itertools
import random
import unittest
from collections import Counter
from collections.abc import Sequence
from unittest import mock

import support  # noqa: F401  (the way to the package)

from evaluation import columns, comparison
from evaluation.cells import BooleanRule, DateRule, DatetimeRule, NumberRule, Rule, TextRule
from evaluation.columns import TypedColumns, matching_columns
from evaluation.comparison import compare_tables
from evaluation.errors import CellError
from evaluation.tables import Table

RULES: Sequence[Rule] = (
    *(TextRule(), NumberRule("integer"), NumberRule("decimal_places", 1), NumberRule("significant_digits", 2)),
    *(BooleanRule(), DateRule(), DatetimeRule()),
)
# Per rule, spellings of a few values, the equal ones together.
SPELLINGS: Sequence[Sequence[Sequence[str]]] = (
    (("a", " a"), ("1",), ("", "  ")),
    (("1", "1.0", "1e0"), ("0", "-0"), ("", "null"), ("12",)),
    (("1", "0.95", "1.04"), ("0", "0.04"), ("-1.5",), ("12", "12.0")),
    (("12", "12.4", "11.9"), ("1",), ("0",), ("0.12", "0.1201")),
    (("1", "yes"), ("0", "no"), ("", "nan")),
    (("2024-01-31", "20240131"), ("2024-02-29",), ("",)),
    (("2024-01-31", "2024-01-31T00:00:00"), ("2024-01-31 12:00:00", "2024-01-31T12"), ("",)),
)


def by_force(gold: Table, rules: Sequence[Rule], prediction: Table, ordered: bool) -> tuple[int, ...] | None:
    def read(table: Table, mapping: Sequence[int]) -> list[tuple[str | None, ...]]:
        return [tuple(rule.canonical(row[j]) for rule, j in zip(rules, mapping)) for row in table.rows]

    places = range(len(rules))
    expected = read(gold, places)
    for mapping in itertools.permutations(places):
        try:
            rows = read(prediction, mapping)
        except CellError:
            continue
        if rows == expected if ordered else Counter(rows) == Counter(expected):
            return mapping
    return None


def compare(gold: Table, rules: Sequence[Rule], prediction: Table, ordered: bool) -> tuple[int, ...] | None:
    distinct = list(dict.fromkeys(rules))
    kinds = [distinct.index(rule) for rule in rules]
    gold_columns = TypedColumns(gold.columns, distinct, ordered=ordered)
    found = compare_tables(gold, gold_columns, kinds, prediction, gold_columns.beside(prediction.columns))
    return found.mapping


def random_tables(source: random.Random) -> tuple[Table, list[Rule], Table, bool]:
    """Return a gold table of up to four columns, and a copy with another order and spelling, perhaps spoilt."""
    width, height, ordered = source.randint(1, 4), source.randint(0, 6), source.random() < 0.4
    few = source.sample(range(len(RULES)), source.randint(1, 3))
    kinds = [source.choice(few) for _ in range(width)]
    values = [[source.choice(SPELLINGS[kind]) for kind in kinds] for _ in range(height)]
    if height > 1 and source.random() < 0.3:
        values[1] = values[0]
    gold = [tuple(source.choice(spellings) for spellings in row) for row in values]
    respelled = source.choice((0.0, 0.2, 1.0))
    rows = [
        [source.choice(value) if source.random() < respelled else text for value, text in zip(row, texts)]
        for row, texts in zip(values, gold)
    ]
    if not ordered:
        source.shuffle(rows)
    order = source.sample(range(width), width) if source.random() < 0.6 else list(range(width))
    rows = [[row[j] for j in order] for row in rows]
    if rows and source.random() < 0.3:
        source.choice(rows)[source.randrange(width)] = source.choice(("x", "1", "", "0", "12"))
    header = tuple("abcd"[:width])
    return Table(header, gold), [RULES[kind] for kind in kinds], Table(header, [tuple(row) for row in rows]), ordered


class CompareTest(unittest.TestCase):
    def check(self, seed: int, count: int) -> None:
        source = random.Random(seed)
        found = 0
        for _ in range(count):
            gold, rules, prediction, ordered = random_tables(source)
            expected = by_force(gold, rules, prediction, ordered)
            found += expected is not None
            with self.subTest(gold=gold.rows, rules=rules, prediction=prediction.rows, ordered=ordered):
                self.assertEqual(compare(gold, rules, prediction, ordered), expected)
        self.assertTrue(0.3 * count < found < 0.95 * count, found)

    def test_agrees_with_brute_force(self) -> None:
        self.check(17, 2500)

    def test_columns_of_repeated_texts_may_be_counted(self) -> None:
        with mock.patch.object(columns, "_COUNTED_ROWS", 2):
            self.check(21, 800)

    def test_every_short_cut_can_be_left_out(self) -> None:
        with (
            mock.patch.object(comparison, "_equal_but_for_few_rows", return_value=False),
            mock.patch.object(comparison, "_equal_under", return_value=False),
            mock.patch.object(TypedColumns, "may_equal", return_value=True),
        ):
            self.check(18, 800)
        with (
            mock.patch.object(comparison, "_equal_under", return_value=False),
            mock.patch.object(comparison, "_joined", side_effect=lambda kinds, *_: kinds),
        ):
            self.check(20, 800)

    def test_equal_signatures_by_chance_do_no_harm(self) -> None:
        with mock.patch.object(columns, "hash", return_value=0, create=True):
            self.check(19, 800)


class JoinedKindsTest(unittest.TestCase):
    def joined(self, texts: Sequence[str], *rules: Rule) -> list[int]:
        gold = TypedColumns([texts] * len(rules), rules, ordered=False)
        matches = [list(range(len(rules)))] * len(rules)
        return comparison._joined(range(len(rules)), gold, gold.beside([texts] * len(rules)), matches)

    def test_rules_that_read_alike_are_one(self) -> None:
        rules: list[Rule] = [NumberRule("decimal_places", digits) for digits in range(4)]
        for texts, expected in (
            (["1", "20", " 3"], [0, 0, 0, 0]),
            (["1", "0.1"], [0, 1, 1, 1]),
            (["1", "0.123", "0.1"], [0, 1, 2, 3]),
            (["", "null"], [0, 0, 0, 0]),
        ):
            with self.subTest(texts=texts):
                self.assertEqual(self.joined(texts, *rules), expected)

    def test_what_one_rule_cannot_read_keeps_them_apart(self) -> None:
        rules: list[Rule] = [NumberRule("integer"), TextRule(), NumberRule("decimal_places", 1)]
        self.assertEqual(self.joined(["1", "2"], *rules), [0, 0, 0])
        self.assertEqual(self.joined(["1", "0.5"], *rules), [0, 1, 1])
        self.assertEqual(self.joined(["1", "x"], *rules), [0, 1, 0])


class MatchingColumnsTest(unittest.TestCase):
    def matches(self, gold: Sequence[str], prediction: Sequence[str], rule: Rule, ordered: bool) -> bool:
        side = TypedColumns([gold], [rule], ordered=ordered)
        return matching_columns(side, [0], side.beside([prediction])) == [[0]]

    def test_order_and_multiplicity(self) -> None:
        text = TextRule()
        self.assertTrue(self.matches(["a", "b"], ["b", "a"], text, ordered=False))
        self.assertFalse(self.matches(["a", "b"], ["b", "a"], text, ordered=True))
        self.assertFalse(self.matches(["a", "a", "b"], ["a", "b", "b"], text, ordered=False))

    def test_a_difference_behind_the_sample_is_seen(self) -> None:
        for rule, texts in ((NumberRule("decimal_places", 2), ["0.001"] * 40), (TextRule(), ["a"] * 40)):
            for ordered in (False, True):
                self.assertTrue(self.matches(texts, [*texts[:39], f" {texts[0]}"], rule, ordered))
                for last in ("0.006", "1", ""):
                    self.assertFalse(self.matches(texts, [*texts[:39], last], rule, ordered), last)

    def test_columns_read_for_nothing_are_forgotten(self) -> None:
        integers = ["1", "2", "4", "5"]
        side = TypedColumns([integers, integers], [NumberRule("integer")], ordered=False)
        other = side.beside([["2", "1.0", "4", "5"], ["1.0", "1", "5", "5"]])
        self.assertEqual(matching_columns(side, [0, 0], other), [[0], [0]])
        self.assertIn(("values", 0, 0), other._found)
        self.assertNotIn(("values", 0, 1), other._found)


if __name__ == "__main__":
    unittest.main()
