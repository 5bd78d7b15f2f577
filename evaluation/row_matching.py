"""Two tables set beside each other under a column mapping: which rows have an equal, and which are nearest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import eq, not_
from typing import NamedTuple

from .cells import Rule
from .findings import RowDifference, shortened
from .readings import GoldColumn, ReadingBudget, Readings, TextCounts
from .tables import Table

SHOWN_ROWS = 5
# Missing rows among which the one nearest to an unexpected row is looked for.
_NEAR_ROWS = 200
_NEAR_CELLS = 4_000
_BEGINNING = 50
# By so many first rows it is judged which columns tell rows apart.
_TELLING_ROWS = 1_000
# Where none of so many rows is a row of the other side, hardly any is.
_LOOKED_UP_ROWS = 100

# Rows of gold and of the prediction.
Unmatched = tuple[list[int], list[int]]


class MappedTables(NamedTuple):
    """Both tables, row by row, on the gold columns that have a partner under the mapping."""

    columns: Sequence[GoldColumn]
    readings: Mapping[Rule, Readings]
    gold: Table
    prediction: Table
    mapping: Sequence[int | None]
    budget: ReadingBudget

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(i, j) for i, j in enumerate(self.mapping) if j is not None]

    @property
    def shared_rows(self) -> int:
        """How many positions both have."""
        return min(self.gold.row_count, self.prediction.row_count)

    @property
    def is_in_place(self) -> bool:
        """Whether rows can be compared as they are."""
        width = self.prediction.column_count
        return len(self.columns) == width and self.mapping == tuple(range(width))

    def may_share_rows(self, counts: TextCounts) -> bool:
        """Return whether some of gold's first rows may be among the prediction's, text by text."""
        if self.is_in_place:
            return not self.prediction.row_counts.keys().isdisjoint(self.gold.rows[:_LOOKED_UP_ROWS])
        known = [(i, counts.of(self.prediction.columns[j])) for i, j in self.pairs]
        return any(all(row[i] in texts for i, texts in known) for row in self.gold.rows[:_LOOKED_UP_ROWS])

    def texts(self) -> tuple[Sequence[tuple[str, ...]], Sequence[tuple[str, ...]]]:
        """Return the rows of both sides as texts."""
        if self.is_in_place:
            return self.gold.rows, self.prediction.rows
        return (
            list(zip(*(self.gold.columns[i] for i, _ in self.pairs), strict=True)),
            list(zip(*(self.prediction.columns[j] for _, j in self.pairs), strict=True)),
        )

    def keys(
        self, gold_rows: Sequence[int], prediction_rows: Sequence[int]
    ) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
        """Return some rows of both sides as they are compared; what cannot be read equals nothing of gold."""
        ours, theirs = [], []
        for i, j in self.pairs:
            one, other = self.values(i, j, gold_rows, prediction_rows)
            ours.append(one)
            theirs.append(other)
        return list(zip(*ours, strict=True)), list(zip(*theirs, strict=True))

    def values(
        self, i: int, j: int, gold_rows: Iterable[int], prediction_rows: Iterable[int]
    ) -> tuple[list[object], list[object]]:
        """Return the readings of gold column i in some rows, and those of prediction column j in others.

        Where they are too many to be read, their texts stand for them.
        """
        readings = self.readings[self.columns[i].rule]
        texts, others = self.gold.columns[i], self.prediction.columns[j]
        ours, theirs = [texts[row] for row in gold_rows], [others[row] for row in prediction_rows]
        if not self.budget.may_read(len(ours) + len(theirs)):
            return [*ours], [*theirs]
        return readings.of(ours), readings.of(theirs)

    def difference(self, gold_row: int | None, prediction_row: int | None) -> RowDifference:
        differing: tuple[int, ...] = ()
        if gold_row is not None and prediction_row is not None:
            ours, theirs = self.keys([gold_row], [prediction_row])
            values = zip(self.pairs, ours[0], theirs[0], strict=True)
            differing = tuple(i for (i, _), one, other in values if one != other)
        gold_cells = None if gold_row is None else tuple(map(shortened, self.gold.rows[gold_row]))
        cells = None
        if prediction_row is not None:
            row = self.prediction.rows[prediction_row]
            cells = tuple(None if j is None else shortened(row[j]) for j in self.mapping)
        numbers = (None if row_ is None else row_ + 1 for row_ in (gold_row, prediction_row))
        return RowDifference(next(numbers), gold_cells, next(numbers), cells, differing)

    def sample(self, missing: Sequence[int], unexpected: Sequence[int]) -> Iterator[RowDifference]:
        """Yield the first unexpected rows, each with the missing row nearest to it, then missing rows left over.

        Nearest is the row with the most equal values; where none has any, the one that begins alike.
        """
        near = list(missing[: max(SHOWN_ROWS, min(_NEAR_ROWS, _NEAR_CELLS // len(self.pairs)))])
        shown = unexpected[:SHOWN_ROWS]
        ours, theirs = (
            dict(zip(rows, keys, strict=True)) for rows, keys in zip((near, shown), self.keys(near, shown), strict=True)
        )
        partners: dict[int, int] = {}
        for is_last in (False, True):
            for row in shown:
                if row in partners or not near:
                    continue
                if is_last:
                    scores = [self._alike_beginnings(other, row) for other in near]
                else:
                    scores = [sum(map(eq, ours[other], theirs[row])) for other in near]
                if any(scores) or is_last:
                    partners[row] = near.pop(scores.index(max(scores)))
        for row in shown:
            yield self.difference(partners.get(row), row)
        for row in near[: max(0, SHOWN_ROWS - len(unexpected))]:
            yield self.difference(row, None)

    def _alike_beginnings(self, gold_row: int, prediction_row: int) -> int:
        ours, theirs = self.gold.rows[gold_row], self.prediction.rows[prediction_row]
        cells = ((ours[i], theirs[j]) for i, j in self.pairs)
        return sum(
            _common_beginning(one[:_BEGINNING].casefold(), other[:_BEGINNING].casefold()) for one, other in cells
        )


def _common_beginning(text: str, other: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))


def unmatched_rows(
    gold: Sequence[GoldColumn], gold_table: Table, prediction: Table, mapping: Sequence[int | None]
) -> Unmatched:
    """Return which rows of gold and of the prediction, in any order, have no equal on the other side."""
    sides = MappedTables(
        gold,
        {column.rule: Readings(column.rule) for column in gold},
        gold_table,
        prediction,
        tuple(mapping),
        ReadingBudget.beside_verdict(gold_table, False),
    )
    paired = [i for i, j in enumerate(mapping) if j is not None]
    telling = sorted(paired, key=lambda i: -len(set(gold[i].texts[:_TELLING_ROWS])))
    left = without_equal_texts(sides, range(gold_table.row_count), range(prediction.row_count))
    return rows_without_equal(sides, *left, telling)


def rows_without_equal(
    sides: MappedTables, gold_rows: Sequence[int], prediction_rows: Sequence[int], columns: Sequence[int]
) -> Unmatched:
    """Return which of some rows of either side have no equal on the other; of several alike the last.

    Only rows whose values are on the other side too can have an equal: column by column, the most telling of `columns`
    first, there are fewer of them to read.
    """
    left, other_left = gold_rows, prediction_rows
    for i in columns:
        if not left or not other_left:
            break
        j = sides.mapping[i]
        assert j is not None, "as no other column is compared"
        values, others = sides.values(i, j, left, other_left)
        common = set(values).intersection(others)
        left = list(compress(left, map(common.__contains__, values)))
        other_left = list(compress(other_left, map(common.__contains__, others)))
    if not left or not other_left:
        return list(gold_rows), list(prediction_rows)
    keys_left, other_keys_left = sides.keys(left, other_left)
    still_left, still_other_left = _left_over(left, keys_left, other_left, other_keys_left)
    found, other_found = set(left).difference(still_left), set(other_left).difference(still_other_left)
    return [row for row in gold_rows if row not in found], [row for row in prediction_rows if row not in other_found]


def without_equal_texts(sides: MappedTables, gold_rows: Sequence[int], prediction_rows: Sequence[int]) -> Unmatched:
    """Return some rows of either side without those that are the same texts, which are equal whatever the rules."""
    texts, other_texts = sides.texts()
    keys = texts if len(gold_rows) == len(texts) else [texts[row] for row in gold_rows]
    other_keys = (
        other_texts if len(prediction_rows) == len(other_texts) else [other_texts[row] for row in prediction_rows]
    )
    return _left_over(gold_rows, keys, prediction_rows, other_keys)


def _left_over(
    rows: Sequence[int], keys: Sequence[object], others: Sequence[int], other_keys: Sequence[object]
) -> tuple[list[int], list[int]]:
    """Return those rows of either side, which have these keys, that no row of the other is left for."""
    distinct, other_distinct = set(keys), set(other_keys)
    if len(distinct) == len(keys) and len(other_distinct) == len(other_keys):
        # Where no key occurs twice, this is all the same and takes less.
        return (
            list(compress(rows, map(not_, map(other_distinct.__contains__, keys)))),
            list(compress(others, map(not_, map(distinct.__contains__, other_keys)))),
        )
    return (
        list(compress(rows, map(not_, _matched(keys, other_keys)))),
        list(compress(others, map(not_, _matched(other_keys, keys)))),
    )


def _matched(rows: Sequence[object], others: Sequence[object]) -> list[bool]:
    """Return for every row whether one of the others is left that equals it, each of which matches once."""
    left = Counter(others)
    found = []
    for row in rows:
        found.append(left[row] > 0)
        left[row] -= found[-1]
    return found
