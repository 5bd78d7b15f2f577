"""The nearest mapping of a prediction that is not gold, and how its columns and rows compare under it."""

from __future__ import annotations

import itertools
import random
import unittest
from collections import Counter
from collections.abc import Iterator, Sequence
from unittest import mock

import support  # noqa: F401  (the way to the package)

from evaluation import diagnosis, readings
from evaluation import nearest as nearest_module
from evaluation.cells import BooleanRule, NumberRule, Rule, TextRule
from evaluation.diagnosis import compare_tables_in_full
from evaluation.errors import CellError
from evaluation.nearest import nearest_mapping
from evaluation.readings import GoldColumn
from evaluation.tables import Table

INTEGER = NumberRule("integer")


def gold_columns(names: Sequence[str], gold: Sequence[Sequence[str]], rules: Sequence[Rule]) -> list[GoldColumn]:
    return [GoldColumn(name, "", rule, texts) for name, rule, texts in zip(names, rules, gold)]


def nearest(
    names: Sequence[str],
    gold: Sequence[Sequence[str]],
    rules: Sequence[Rule],
    prediction: Table,
    ordered: bool = False,
) -> tuple[int | None, ...]:
    """Return the nearest mapping of a gold table given column by column."""
    return nearest_mapping(gold_columns(names, gold, rules), prediction, ordered=ordered)


def reading(rule: Rule, text: str) -> object:
    try:
        return rule.canonical(text)
    except CellError:
        return CellError


def by_force(
    names: Sequence[str],
    gold: Sequence[Sequence[str]],
    rules: Sequence[Rule],
    prediction: Table,
    ordered: bool = False,
) -> tuple[int | None, ...]:
    def agreement(i: int, j: int, by_position: bool) -> int:
        if by_position:
            return sum(
                reading(rules[i], one) == reading(rules[i], row[j]) for one, row in zip(gold[i], prediction.rows)
            )
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

    def heaviest(by_position: bool) -> tuple[int, tuple[int, ...]]:
        def key(choice: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
            pairs = [(i, j) for i, j in enumerate(choice) if j < width]
            agreed = sum(agreement(i, j, by_position) for i, j in pairs)
            return -agreed, -sum(names[i].strip() == prediction.header[j].strip() for i, j in pairs), choice

        best = min(itertools.permutations(columns, height), key=key)
        return -key(best)[0], best

    columns = [*range(width), *[width] * max(0, height - width)]
    agreed, best = heaviest(ordered)
    if ordered and 2 * agreed < max(width, height) * max(len(gold[0]), prediction.row_count):
        _, best = heaviest(False)
    return tuple(None if j == width else j for j in best)


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

    def test_rows_that_have_moved(self) -> None:
        rows = [(str(number), str(number + 50)) for number in range(50)]
        gold = list(zip(*rows))
        text = TextRule()
        for moved in ([("51", "60"), *rows], rows[1:], rows[::-1], [*rows[25:], *rows[:25]]):
            table = Table(("b", "a"), [(other, one) for one, other in moved])
            self.assertEqual(nearest(("a", "b"), gold, [text, text], table, ordered=True), (1, 0))

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
            ordered = source.random() < 0.5
            with self.subTest(names=names, gold=gold, rules=used, table=table, ordered=ordered):
                expected = by_force(names, gold, used, table, ordered)
                self.assertEqual(nearest(names, gold, used, table, ordered), expected)

    def test_of_a_large_table_the_first_rows_are_looked_at(self) -> None:
        gold = (("1", "2", "3"), ("x", "y", "z"))
        table = Table(("h", "i"), [("1", "w"), ("y", "9"), ("z", "9")])
        rules: list[Rule] = [TextRule(), TextRule()]
        self.assertEqual(nearest(("a", "b"), gold, rules, table), (1, 0))
        with mock.patch.object(nearest_module, "_MOST_CELLS_READ", 2):
            self.assertEqual(nearest(("a", "b"), gold, rules, table), (0, 1))


class CompareTest(unittest.TestCase):
    """Columns and rows against what reading everything says, on random tables."""

    def problems(self) -> Iterator[tuple[list[GoldColumn], Table, Table, list[int | None], bool]]:
        source = random.Random(12)
        rules: list[Rule] = [TextRule(), INTEGER, BooleanRule()]
        for _ in range(600):
            width, height = source.randint(1, 3), source.randint(0, 5)
            used = [source.choice(rules) for _ in range(width)]
            rows = [tuple(source.choice(("1", "0", "")) for _ in range(width)) for _ in range(height)]
            gold = Table(tuple("abc"[:width]), rows)
            columns = gold_columns(gold.header, gold.columns, used)
            prediction_width = source.randint(1, 4)
            texts = ("1", "1.0", "0", "x", "", "null", "no")
            predicted = [
                tuple(source.choice(texts) for _ in range(prediction_width)) for _ in range(source.randint(0, 5))
            ]
            if source.random() < 0.5:
                predicted = [(*row, *["1"] * 4)[:prediction_width] for row in source.sample(rows, len(rows))]
            places: list[int | None] = [*range(prediction_width), None, None, None]
            mapping = source.sample(places, width)
            if any(place is not None for place in mapping):
                yield columns, gold, Table(tuple("hijk"[:prediction_width]), predicted), mapping, source.random() < 0.5

    def test_columns(self) -> None:
        for columns, gold, prediction, mapping, ordered in self.problems():
            found = compare_tables_in_full(columns, gold, prediction, mapping, ordered=ordered).columns
            for i, (column, finding) in enumerate(zip(columns, found)):
                j = mapping[i]
                self.assertEqual((finding.gold_index, finding.prediction_index), (i, j))
                if j is None:
                    self.assertEqual((finding.agreeing, finding.unreadable_count), (0, 0))
                    continue
                ours = [reading(column.rule, row[i]) for row in gold.rows]
                theirs = [reading(column.rule, row[j]) for row in prediction.rows]
                agreeing = (
                    sum(a == b for a, b in zip(ours, theirs)) if ordered else (Counter(ours) & Counter(theirs)).total()
                )
                refused = [row for row, value in enumerate(theirs, start=1) if value is CellError]
                self.assertEqual(finding.agreeing, agreeing)
                self.assertEqual(finding.unreadable_count, len(refused))
                self.assertEqual([cell.row for cell in finding.unreadable], refused[:3])

    def test_rows(self) -> None:
        for columns, gold, prediction, mapping, ordered in self.problems():
            pairs = [(i, j) for i, j in enumerate(mapping) if j is not None]
            ours = [tuple(reading(columns[i].rule, row[i]) for i, _ in pairs) for row in gold.rows]
            theirs = [tuple(reading(columns[i].rule, row[j]) for i, j in pairs) for row in prediction.rows]
            found = compare_tables_in_full(columns, gold, prediction, mapping, ordered=ordered).rows
            assert found is not None
            if ordered:
                matched = sum(a == b for a, b in zip(ours, theirs))
                longest = max(len(ours), len(theirs))
                first = next((row + 1 for row in range(longest) if ours[row : row + 1] != theirs[row : row + 1]), None)
                self.assertEqual(found.first_difference, first)
                same = Counter(ours) == Counter(theirs)
                self.assertEqual(found.same_multiset, same, (ours, theirs))
                self.assertEqual(found.matched_in_any_order, (Counter(ours) & Counter(theirs)).total())
            else:
                matched = (Counter(ours) & Counter(theirs)).total()
                self.assertEqual((found.first_difference, found.same_multiset), (None, None))
            self.assertEqual(found.matched, matched)
            self.assertEqual((found.missing, found.unexpected), (len(ours) - matched, len(theirs) - matched))
            self.assertEqual(found.sample == (), found.missing + found.unexpected == 0)
            self.assertLessEqual(len(found.sample), 5)
            for difference in found.sample:
                if difference.gold_row is not None and difference.prediction_row is not None:
                    one, other = ours[difference.gold_row - 1], theirs[difference.prediction_row - 1]
                    differing = tuple(i for (i, _), a, b in zip(pairs, one, other) if a != b or a is CellError)
                    self.assertEqual(difference.differing, differing)
                    self.assertNotEqual(differing, ())

    def test_with_little_reading_no_more_is_found_than_there_is(self) -> None:
        incomplete = 0
        for columns, gold, prediction, mapping, ordered in self.problems():
            whole = compare_tables_in_full(columns, gold, prediction, mapping, ordered=ordered)
            with (
                mock.patch.object(readings, "_FEW_TEXTS", 0),
                mock.patch.object(readings, "_MOST_TEXTS_READ_BY_ITSELF", 2),
                mock.patch.object(diagnosis, "_SOME_TEXTS", 1),
            ):
                found = compare_tables_in_full(columns, gold, prediction, mapping, ordered=ordered)
            if found.complete:
                self.assertEqual(found, whole)
            assert found.rows is not None
            assert whole.rows is not None
            incomplete += not found.complete
            for one, other in zip(found.columns, whole.columns):
                self.assertLessEqual(one.agreeing, other.agreeing)
                # In a row that has an equal every cell has one.
                self.assertTrue(one.prediction_index is None or one.agreeing >= found.rows.matched)
            self.assertLessEqual(found.rows.matched, whole.rows.matched)
            self.assertLessEqual(len(found.unmatched[0]), gold.row_count)
        self.assertGreater(incomplete, 100)

    def test_rows_that_stand_elsewhere(self) -> None:
        rows = [(str(number), str(number + 50)) for number in range(9)]
        gold = Table(("a", "b"), rows)
        columns = gold_columns(gold.header, gold.columns, [TextRule(), TextRule()])
        for moved, matched, anywhere, sample in (
            ([("x", "y"), *rows], 0, 9, [(None, 1)]),
            (rows[1:], 0, 8, [(1, None)]),
            ([*rows[:4], ("4", "x"), *rows[5:]], 8, 8, [(5, 5)]),
            ([rows[1], rows[0], *rows[2:]], 7, 9, [(1, 1), (2, 2)]),
        ):
            found = compare_tables_in_full(columns, gold, Table(("a", "b"), moved), (0, 1), ordered=True).rows
            assert found is not None
            self.assertEqual((found.matched, found.matched_in_any_order), (matched, anywhere))
            self.assertEqual([(row.gold_row, row.prediction_row) for row in found.sample], sample)

    def test_what_is_too_much_to_read_counts_as_different(self) -> None:
        gold = Table(("a", "b"), [("1.0", "x"), ("2.0", "y")])
        prediction = Table(("a", "b"), [("1", "x"), ("2", "y")])
        columns = gold_columns(gold.header, gold.columns, [INTEGER, TextRule()])
        for few, ordered in itertools.product((1, 100), (False, True)):
            with (
                mock.patch.object(readings, "_FEW_TEXTS", few),
                mock.patch.object(readings, "_MOST_TEXTS_READ_BY_ITSELF", 3),
            ):
                found = compare_tables_in_full(columns, gold, prediction, (0, 1), ordered=ordered)
            assert found.rows is not None
            agreeing = [column.agreeing for column in found.columns]
            read = few == 100
            self.assertEqual((found.complete, agreeing, found.rows.matched), (read, [2 * read, 2], 2 * read))

    def test_an_unexpected_row_stands_beside_the_missing_row_nearest_to_it(self) -> None:
        gold = Table(("a", "b", "c"), [("1", "x", "p"), ("2", "y", "q"), ("3", "z", "r")])
        rules: list[Rule] = [INTEGER, TextRule(), TextRule()]
        prediction = Table(("h", "i", "j"), [("3", "z", "s"), ("1.0", "x", "p"), ("2", "Y", "q"), ("9", "w", "v")])
        columns = gold_columns(gold.header, gold.columns, rules)
        found = compare_tables_in_full(columns, gold, prediction, [0, 1, 2], ordered=False).rows
        assert found is not None
        self.assertEqual((found.matched, found.missing, found.unexpected), (1, 2, 3))
        pairs = [(row.prediction_row, row.gold_row, row.differing) for row in found.sample]
        self.assertEqual(pairs, [(1, 3, (2,)), (3, 2, (1,)), (4, None, ())])
        self.assertEqual(found.sample[0].gold_cells, ("3", "z", "r"))
        self.assertEqual(found.sample[0].prediction_cells, ("3", "z", "s"))
        # With nothing equal a row stands beside one that begins alike, but not in the place of a nearer one.
        prediction = Table(("h", "i", "j"), [("30", "z.", "r."), ("20", "y.", "q."), ("2", "v", "w"), ("1", "x", "p")])
        found = compare_tables_in_full(columns, gold, prediction, [0, 1, 2], ordered=False).rows
        assert found is not None
        pairs = [(row.prediction_row, row.gold_row, row.differing) for row in found.sample]
        self.assertEqual(pairs, [(1, 3, (0, 1, 2)), (2, None, ()), (3, 2, (1, 2))])


if __name__ == "__main__":
    unittest.main()
