"""Where a failed prediction differs from gold: its columns, rows and cells under the nearest mapping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, islice
from operator import eq, ne, not_
from typing import NamedTuple

from .cells import Rule
from .findings import ColumnFinding, RowDifference, RowFindings, UnreadableCell, shortened
from .readings import (
    GoldColumn,
    ReadingBudget,
    Readings,
    Refusal,
    TextCounts,
    Unread,
    common_count,
    common_keys,
    shared_count,
    surplus,
)
from .tables import Table

_SHOWN_ROWS = 5
_SHOWN_CELLS = 3
# Missing rows among which the one nearest to an unexpected row is looked for.
_NEAR_ROWS = 200
_BEGINNING = 50
# Cells that differ as texts and are read: where the verdict has read columns, too, and where it has not.
_MOST_TEXTS_READ = 400_000
_MOST_TEXTS_READ_BY_ITSELF = 200_000
# By so many first rows it is judged which columns tell rows apart.
_TELLING_ROWS = 1_000

# Rows of gold and of the prediction.
Unmatched = tuple[list[int], list[int]]


def compare_tables_in_full(
    gold: Sequence[GoldColumn],
    gold_table: Table,
    prediction: Table,
    mapping: Sequence[int | None],
    *,
    ordered: bool,
    matches: Sequence[Sequence[int]] = (),
    counts: TextCounts | None = None,
) -> FullComparison:
    """Return how the columns compare to their partners under the mapping, and the rows on the columns that have one.

    `matches[i]` are prediction columns known to hold the values of gold column i, and `counts` those that others use.
    Cells that differ as texts are read, up to 400,000 of them, or 200,000 without `matches`; beyond that they count as
    different, and the comparison is not complete.
    """
    budget = ReadingBudget(_MOST_TEXTS_READ if matches else _MOST_TEXTS_READ_BY_ITSELF)
    readings = {column.rule: Readings(column.rule) for column in gold}
    sides = _Sides(gold, readings, gold_table, prediction, tuple(mapping), budget)
    counts = counts or TextCounts()
    compared = {}
    for i, j in sides.pairs:
        if matches and j in matches[i]:
            compared[i] = _ComparedCells(gold_table.row_count, {})
        elif ordered:
            compared[i] = _compare_cells_in_order(sides, i, j)
        else:
            compared[i] = _compare_cells_in_any_order(sides, counts, i, j)
    columns = tuple(_column_findings(sides, compared))
    if ordered:
        return FullComparison(columns, _compare_rows_in_order(sides, compared), budget.is_complete)
    everything = range(gold_table.row_count), range(prediction.row_count)
    unmatched = _unmatched(sides, *everything, _by_agreement(compared))
    missing, unexpected = unmatched
    sample = tuple(sides.sample(missing, unexpected))
    rows = RowFindings(gold_table.row_count - len(missing), len(missing), len(unexpected), sample=sample)
    return FullComparison(columns, rows, budget.is_complete, unmatched)


class FullComparison(NamedTuple):
    """What is found of a failed table; `unmatched` are the rows of both sides that have no equal, if known."""

    columns: tuple[ColumnFinding, ...] = ()
    rows: RowFindings | None = None
    complete: bool = True
    unmatched: Unmatched | None = None


class _ComparedCells(NamedTuple):
    """How many cells of two columns agree, what is refused, text by text with its reason, and where cells differ.

    `differing` are positions, and empty where rows are not ordered.
    """

    agreeing: int
    refused: Mapping[str, str]
    differing: Sequence[int] = ()


class _Sides(NamedTuple):
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

    def texts(self) -> tuple[Sequence[tuple[str, ...]], Sequence[tuple[str, ...]]]:
        """Return the rows of both sides as texts."""
        if self.mapping == tuple(range(self.prediction.column_count)) and len(self.columns) == len(self.mapping):
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
        """Return the readings of gold column i in some rows, and those of prediction column j in others."""
        readings = self.readings[self.columns[i].rule]
        texts, others = self.gold.columns[i], self.prediction.columns[j]
        ours, theirs = [texts[row] for row in gold_rows], [others[row] for row in prediction_rows]
        if not self.budget.may_read(len(ours) + len(theirs)):
            return list(map(Unread, ours)), list(map(Unread, theirs))
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
        near, shown = list(missing[:_NEAR_ROWS]), unexpected[:_SHOWN_ROWS]
        partners: dict[int, int] = {}
        for likeness in (self._equal_values, self._alike_beginnings):
            for row in shown:
                scores = [likeness(other, row) for other in near] if row not in partners else []
                if any(scores) or (scores and likeness == self._alike_beginnings):
                    partners[row] = near.pop(scores.index(max(scores)))
        for row in shown:
            yield self.difference(partners.get(row), row)
        for row in near[: max(0, _SHOWN_ROWS - len(unexpected))]:
            yield self.difference(row, None)

    def _equal_values(self, gold_row: int, prediction_row: int) -> int:
        ours, theirs = self.keys([gold_row], [prediction_row])
        return sum(map(eq, ours[0], theirs[0]))

    def _alike_beginnings(self, gold_row: int, prediction_row: int) -> int:
        ours, theirs = self.gold.rows[gold_row], self.prediction.rows[prediction_row]
        cells = ((ours[i], theirs[j]) for i, j in self.pairs)
        return sum(
            _common_beginning(one[:_BEGINNING].casefold(), other[:_BEGINNING].casefold()) for one, other in cells
        )


def _common_beginning(text: str, other: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))


def _column_findings(sides: _Sides, compared: Mapping[int, _ComparedCells]) -> Iterator[ColumnFinding]:
    for i, (column, j) in enumerate(zip(sides.columns, sides.mapping, strict=True)):
        if j is None:
            yield ColumnFinding(i, shortened(column.name), column.type, None, None, 0)
            continue
        texts = sides.prediction.columns[j]
        refused = compared[i].refused
        yield ColumnFinding(
            i,
            shortened(column.name),
            column.type,
            j,
            shortened(sides.prediction.header[j]),
            compared[i].agreeing,
            sum(map(refused.__contains__, texts)) if refused else 0,
            tuple(islice(_unreadable_cells(refused, texts), _SHOWN_CELLS)),
        )


def _unreadable_cells(refused: Mapping[str, str], texts: Sequence[str]) -> Iterator[UnreadableCell]:
    for row, text in enumerate(texts, start=1) if refused else ():
        if text in refused:
            yield UnreadableCell(row, shortened(text), refused[text])


def _refusals(readings: Iterable[object]) -> dict[str, str]:
    """Return why texts are refused, by text."""
    return {reading.text: reading.reason for reading in readings if isinstance(reading, Refusal)}


def _compare_cells_in_order(sides: _Sides, i: int, j: int) -> _ComparedCells:
    """Compare by position; cells that are the same text agree whatever the rule."""
    texts, others = sides.gold.columns[i], sides.prediction.columns[j]
    readings = sides.readings[sides.columns[i].rule]
    places = list(compress(range(sides.shared_rows), map(ne, texts, others)))
    beyond = others[sides.shared_rows :]
    if not sides.budget.may_read(2 * len(places) + len(beyond)):
        return _ComparedCells(sides.shared_rows - len(places), {}, places)
    theirs = readings.of([others[place] for place in places])
    refused = _refusals(theirs)
    differing = places
    if len(refused) < len(theirs):
        differing = list(compress(places, map(ne, readings.of([texts[place] for place in places]), theirs)))
    refused.update(_refusals(readings.of(beyond)))
    return _ComparedCells(sides.shared_rows - len(differing), refused, differing)


def _compare_cells_in_any_order(sides: _Sides, counts: TextCounts, i: int, j: int) -> _ComparedCells:
    """Compare as multisets; texts that are the same agree whatever the rule."""
    ours, theirs = counts.of(sides.gold.columns[i]), counts.of(sides.prediction.columns[j])
    # `Counter` compares itself in Python code, a dictionary in C.
    if dict.__eq__(ours, theirs):
        return _ComparedCells(sides.gold.row_count, {})
    readings = sides.readings[sides.columns[i].rule]
    common = common_keys(ours, theirs)
    agreeing = shared_count(ours, theirs, common)
    if not sides.budget.may_read(len(ours) + len(theirs) - 2 * len(common)):
        return _ComparedCells(agreeing, {})
    rest, other_rest = surplus(ours, theirs, common), surplus(theirs, ours, common)
    values = readings.counted(other_rest)
    refused = _refusals(values)
    if len(refused) < len(values):
        agreeing += common_count(readings.counted(rest), values)
    return _ComparedCells(agreeing, refused)


def _compare_rows_in_order(sides: _Sides, compared: Mapping[int, _ComparedCells]) -> RowFindings:
    gold_count, prediction_count = _row_counts(sides)
    shared = sides.shared_rows
    differing = sorted(set(chain.from_iterable(cells.differing for cells in compared.values())))
    matched_count = shared - len(differing)
    our_rest, their_rest = ([*differing, *range(shared, count)] for count in (gold_count, prediction_count))
    missing, unexpected = _unmatched(sides, our_rest, their_rest, _by_agreement(compared))
    if len(missing) < len(our_rest) and (missing or unexpected):
        # Some rows are there, but elsewhere; what is wrong with the others is worth more to see.
        sample = tuple(sides.sample(missing, unexpected))
    else:
        shown = max(our_rest, their_rest, key=len)[:_SHOWN_ROWS]
        numbers = ([row if row < count else None for count in (gold_count, prediction_count)] for row in shown)
        sample = tuple(sides.difference(ours, theirs) for ours, theirs in numbers)
    return RowFindings(
        matched_count,
        gold_count - matched_count,
        prediction_count - matched_count,
        min(our_rest[:1] + their_rest[:1], default=-1) + 1 or None,
        not missing and not unexpected,
        gold_count - len(missing),
        sample,
    )


def _by_agreement(compared: Mapping[int, _ComparedCells]) -> list[int]:
    return sorted(compared, key=lambda i: compared[i].agreeing)


def _row_counts(sides: _Sides) -> tuple[int, int]:
    return sides.gold.row_count, sides.prediction.row_count


def unmatched_rows(
    gold: Sequence[GoldColumn], gold_table: Table, prediction: Table, mapping: Sequence[int]
) -> Unmatched:
    """Return which rows of gold and of the prediction, in any order, have no equal on the other side."""
    sides = _Sides(
        gold,
        {column.rule: Readings(column.rule) for column in gold},
        gold_table,
        prediction,
        tuple(mapping),
        ReadingBudget(_MOST_TEXTS_READ_BY_ITSELF),
    )
    telling = sorted(range(len(gold)), key=lambda i: -len(set(gold[i].texts[:_TELLING_ROWS])))
    return _unmatched(sides, range(gold_table.row_count), range(prediction.row_count), telling)


def _unmatched(
    sides: _Sides, gold_rows: Sequence[int], prediction_rows: Sequence[int], columns: Sequence[int]
) -> Unmatched:
    """Return which of some rows of either side have no equal on the other; of several alike the last.

    Rows that are the same texts are equal whatever the rules. Of the rest only rows whose values are on the other side
    too can have an equal: column by column, the most telling of `columns` first, there are fewer of them to read.
    """
    texts, other_texts = sides.texts()
    keys = texts if len(gold_rows) == len(texts) else [texts[row] for row in gold_rows]
    other_keys = (
        other_texts if len(prediction_rows) == len(other_texts) else [other_texts[row] for row in prediction_rows]
    )
    missing, unexpected = _left_over(gold_rows, keys, prediction_rows, other_keys)
    left, other_left = missing, unexpected
    for i in columns:
        j = sides.mapping[i]
        assert j is not None, "as no other column is compared"
        values, others = sides.values(i, j, left, other_left)
        common = set(values).intersection(others)
        left = list(compress(left, map(common.__contains__, values)))
        other_left = list(compress(other_left, map(common.__contains__, others)))
    keys_left, other_keys_left = sides.keys(left, other_left)
    still_left, still_other_left = _left_over(left, keys_left, other_left, other_keys_left)
    found, other_found = set(left).difference(still_left), set(other_left).difference(still_other_left)
    return [row for row in missing if row not in found], [row for row in unexpected if row not in other_found]


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
