"""The nearest mapping: what a failed prediction's columns were most likely meant to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, compress, filterfalse
from operator import ne
from typing import NamedTuple

from .cells import TextRule
from .matching import heaviest_matching
from .readings import GoldColumn, Readings, TextCounts, common_count, positions_alike
from .tables import Table

# Readings that finding the nearest mapping may take; of tables that would take more, some rows stand for all.
_MOST_CELLS_READ = 200_000
_SAMPLED_ROWS = 1_000
# What one row weighs where rows may agree in part.
_ROW = 1_000
# Where as much of the sample agrees as text, cells are not read to find more.
_SURE = 900

_Matches = Sequence[Sequence[int]]


def nearest_mapping(
    gold: Sequence[GoldColumn],
    prediction: Table,
    *,
    ordered: bool,
    matches: _Matches = (),
    counts: TextCounts | None = None,
) -> tuple[int | None, ...]:
    """Return the prediction column nearest to each gold column, one to one; None for a gold column left over.

    The agreement of two columns is the number of rows with equal canonical values where rows are ordered, else the size
    of the intersection of their multisets. The mapping, of the smaller side into the larger, is the one with the
    greatest sum of agreements. Ties go to the one with more headers that equal the gold name, then to the
    lexicographically smallest. Where rows are ordered, but by position less than half of the cells of the larger table
    agree, rows have moved, and columns are compared as if they were not ordered.

    Of tables so large that this would take more than 200,000 readings, agreement is judged by the first rows, the texts
    of which are looked for in the whole of the other column; and gold columns that `matches` names prediction columns
    for, which hold the same values, agree with these alone; where nine in ten of the first rows are rows of the
    prediction as they stand, so do the columns. `counts` are those that others use, too.
    """
    counts = counts or TextCounts()
    mapping, agreeing, cells = _heaviest(gold, prediction, matches, None if ordered else counts)
    if ordered and 2 * agreeing < cells:
        mapping, _, _ = _heaviest(gold, prediction, matches, counts)
    return mapping


def _heaviest(
    gold: Sequence[GoldColumn], prediction: Table, matches: _Matches, counts: TextCounts | None
) -> tuple[tuple[int | None, ...], int, int]:
    """Return the mapping with the greatest sum of agreements, that sum, and what it were if all cells agreed.

    These are cells of the larger table, or thousandths of its first rows' cells. `counts` is None where rows are
    ordered.
    """
    name = TextRule().canonical
    headers = [name(header) for header in prediction.header]
    rules = len({column.rule for column in gold})
    rows = max(len(gold[0].texts), prediction.row_count)
    if rows * (rules * len(headers) + len(gold)) <= _MOST_CELLS_READ:
        whole = rows
        agreements = _agreements(gold, prediction, ordered=counts is None)
    elif counts is not None and not matches and _stands_in_place(gold, prediction):
        return tuple(range(len(gold))), 1, 1
    else:
        pairs = len(gold) * len(headers)
        sampled = max(1, min(_SAMPLED_ROWS, _MOST_CELLS_READ // max(pairs, 2 * rules * len(headers))))
        whole = _ROW * sampled
        agreements = _rough_agreements(gold, _Sample(prediction.columns, sampled, counts), matches)
    # Even all headers together weigh less than one agreeing cell.
    unit = len(headers) + 1
    mapping = heaviest_matching(
        [
            [unit * weight + (header == name(column.name)) for weight, header in zip(row, headers, strict=True)]
            for column, row in zip(gold, agreements, strict=True)
        ]
    )
    agreeing = sum(row[j] for row, j in zip(agreements, mapping, strict=True) if j is not None)
    return mapping, agreeing, max(1, whole * max(len(gold), len(headers)))


def _stands_in_place(gold: Sequence[GoldColumn], prediction: Table) -> bool:
    """Return whether nearly all of gold's first rows are rows of the prediction as they stand, text by text."""
    if len(gold) != prediction.column_count:
        return False
    rows = list(zip(*(column.texts[:_SAMPLED_ROWS] for column in gold), strict=True))
    return _ROW * sum(map(prediction.row_counts.__contains__, rows)) > _SURE * len(rows)


def _agreements(gold: Sequence[GoldColumn], prediction: Table, *, ordered: bool) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in gold]
    for rule in dict.fromkeys(column.rule for column in gold):
        # One rule after the other: what all of them read of a prediction would fill the memory.
        readings = Readings(rule)
        sequences = [readings.of(texts) for texts in prediction.columns]
        multisets = [] if ordered else list(map(Counter, sequences))
        for i, column in enumerate(gold):
            if column.rule == rule:
                ours = readings.of(column.texts)
                if ordered:
                    found[i] = [positions_alike(ours, theirs) for theirs in sequences]
                else:
                    counts = Counter(ours)
                    found[i] = [common_count(counts, theirs) for theirs in multisets]
    return found


def _rough_agreements(gold: Sequence[GoldColumn], sample: _Sample, matches: _Matches) -> list[list[int]]:
    """Return about how much columns agree, in thousandths of one of the sampled rows."""
    columns = range(len(sample.columns))
    matches = matches or [()] * len(gold)
    agreements = [[_ROW * sample.rows * (j in some) for j in columns] for some in matches]
    matched = set(chain.from_iterable(matches))
    free = [j for j in columns if j not in matched] or list(columns)
    if matched and len(free) == 1:
        return agreements
    readings = {column.rule: Readings(column.rule) for column in gold}
    for column, row, some in zip(gold, agreements, matches, strict=True):
        if not some:
            for j in free:
                row[j] = sample.agreement(column.texts, j)
            if max(row) < _SURE * sample.rows:
                for j in free:
                    row[j] += sample.agreement_once_read(readings[column.rule], column.texts, j)
    return agreements


class _Sample(NamedTuple):
    """The first rows of both tables; `counts` is None where rows are ordered."""

    columns: Sequence[Sequence[str]]
    rows: int
    counts: TextCounts | None

    def agreement(self, texts: Sequence[str], j: int) -> int:
        """Return about how many cells of a gold column are texts of prediction column j, too, in thousandths."""
        others = self.columns[j]
        if self.counts is None:
            return _ROW * positions_alike(texts[: self.rows], others[: self.rows])
        # Rows may have moved, but most cells are spelled as in gold. Where the other column has a text less often than
        # gold, only a part of gold's rows with it can agree, and as large a part of those in the sample.
        theirs = self.counts.of(others)
        sample = Counter(filter(theirs.__contains__, texts[: self.rows]))
        if not sample:
            return 0
        ours = self.counts.of(texts)
        return sum(_ROW * count * min(ours[text], theirs[text]) // ours[text] for text, count in sample.items())

    def agreement_once_read(self, readings: Readings, texts: Sequence[str], j: int) -> int:
        """Return how many more cells agree that are spelled differently, which is told by the first rows alone."""
        ours, theirs = texts[: self.rows], self.columns[j][: self.rows]
        if self.counts is None:
            places = list(compress(range(min(len(ours), len(theirs))), map(ne, ours, theirs)))
            return _ROW * positions_alike(
                readings.of([ours[place] for place in places]), readings.of([theirs[place] for place in places])
            )
        rest = Counter(filterfalse(self.counts.of(self.columns[j]).__contains__, ours))
        return _ROW * common_count(readings.counted(rest), readings.counted(Counter(theirs)))
