"""Where a failed prediction differs from gold: its columns, rows and cells under the nearest mapping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress, islice
from operator import ne
from typing import NamedTuple

from .cells import Rule
from .findings import ColumnFinding, RowFindings, UnreadableCell, shortened
from .readings import (
    GoldColumn,
    ReadingBudget,
    Readings,
    Refusal,
    TextCounts,
    common_count,
    common_keys,
    shared_count,
    surplus,
)
from .row_matching import SHOWN_ROWS, MappedTables, Unmatched, rows_without_equal, without_equal_texts
from .tables import Table

_SHOWN_CELLS = 3
# Where none of so many texts is on the other side, hardly any is.
_SOME_TEXTS = 200


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
    Cells that differ as texts are read, up to 400,000 of them; without `matches` up to 50,000, or as many as a tenth of
    gold's cells. Beyond that they count as different, and the comparison is not complete.
    """
    budget = ReadingBudget.beside_verdict(gold_table, bool(matches))
    readings = {column.rule: Readings(column.rule) for column in gold}
    sides = MappedTables(gold, readings, gold_table, prediction, tuple(mapping), budget)
    known = {i for i, j in sides.pairs if matches and j in matches[i]}
    return _compare_in_order(sides, known) if ordered else _compare_in_any_order(sides, known, counts or TextCounts())


class FullComparison(NamedTuple):
    """What is found of a failed table; `unmatched` are the rows of both sides that have no equal in any order."""

    columns: tuple[ColumnFinding, ...] = ()
    rows: RowFindings | None = None
    complete: bool = True
    unmatched: Unmatched = ([], [])

    def without_unmatched(self) -> FullComparison:
        """Return what would be found without the rows that have no equal, where the order of rows does not count."""
        assert self.rows is not None, "as tables were compared"
        return self._replace(rows=replace(self.rows, missing=0, unexpected=0, sample=()), unmatched=([], []))

    @property
    def is_equal(self) -> bool:
        """Whether the tables are equal but for columns that have no partner."""
        return self.rows is not None and not self.rows.missing and not self.rows.unexpected


class _ComparedCells(NamedTuple):
    """How many cells of two columns agree, what is refused, text by text with its reason, and where cells differ.

    `differing` are positions, and empty where rows are not ordered.
    """

    agreeing: int
    refused: Mapping[str, str]
    differing: Sequence[int] = ()


def _column_findings(sides: MappedTables, compared: Mapping[int, _ComparedCells]) -> Iterator[ColumnFinding]:
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


def _compare_cells_in_order(sides: MappedTables, i: int, j: int) -> _ComparedCells:
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


def _compare_in_any_order(sides: MappedTables, known: Collection[int], counts: TextCounts) -> FullComparison:
    """Compare columns and rows as multisets; gold columns that are `known` hold the values of their partners."""
    rows = len(sides.gold.rows)
    left: tuple[Sequence[int], Sequence[int]] = range(rows), range(len(sides.prediction.rows))
    if sides.may_share_rows(counts):
        left = without_equal_texts(sides, *left)
    compared = {}
    for i, j in sides.pairs:
        if i in known:
            compared[i] = _ComparedCells(rows, {})
            continue
        ours, theirs = sides.gold.columns[i], sides.prediction.columns[j]
        if len(left[0]) == rows:
            if _seems_unlike(sides, counts, i, j):
                compared[i] = _ComparedCells(0, {})
                continue
            multisets = counts.of(ours), counts.of(theirs)
        else:
            # Rows that are the same texts agree in every column, and without them there is less to count.
            multisets = Counter(map(ours.__getitem__, left[0])), Counter(map(theirs.__getitem__, left[1]))
        agreeing, refused = _compare_multisets(sides, sides.columns[i].rule, *multisets)
        compared[i] = _ComparedCells(rows - len(left[0]) + agreeing, refused)
    unmatched = list(left[0]), list(left[1])
    if all(cells.agreeing for cells in compared.values()):
        unmatched = rows_without_equal(sides, *left, _by_agreement(compared))
    missing, unexpected = unmatched
    sample = tuple(sides.sample(missing, unexpected))
    findings = RowFindings(rows - len(missing), len(missing), len(unexpected), sample=sample)
    columns = tuple(_column_findings(sides, compared))
    return FullComparison(columns, findings, sides.budget.is_complete, unmatched)


def _seems_unlike(sides: MappedTables, counts: TextCounts, i: int, j: int) -> bool:
    """Return whether two columns, too large to be read, share none of some texts from all over gold's."""
    texts, others = sides.gold.columns[i], sides.prediction.columns[j]
    if len(texts) + len(others) <= sides.budget.left or not texts:
        return False
    some = texts[:: -(-len(texts) // _SOME_TEXTS)]
    return counts.of(others).keys().isdisjoint(some) and not sides.budget.may_read(len(texts) + len(others))


def _compare_multisets(
    sides: MappedTables, rule: Rule, ours: Counter[str], theirs: Counter[str]
) -> tuple[int, dict[str, str]]:
    """Return how many cells agree, and what is refused; texts that are the same agree whatever the rule."""
    # `Counter` compares itself in Python code, a dictionary in C.
    if dict.__eq__(ours, theirs):
        return ours.total(), {}
    readings = sides.readings[rule]
    common = common_keys(ours, theirs)
    agreeing = shared_count(ours, theirs, common)
    if agreeing == theirs.total() or not sides.budget.may_read(len(ours) + len(theirs) - 2 * len(common)):
        return agreeing, {}
    values = readings.counted(surplus(theirs, ours, common))
    refused = _refusals(values)
    if agreeing < ours.total() and len(refused) < len(values):
        agreeing += common_count(readings.counted(surplus(ours, theirs, common)), values)
    return agreeing, refused


def _compare_in_order(sides: MappedTables, known: Collection[int]) -> FullComparison:
    """Compare columns and rows by position; gold columns that are `known` hold the values of their partners."""
    compared = {
        i: _ComparedCells(len(sides.gold.rows), {}) if i in known else _compare_cells_in_order(sides, i, j)
        for i, j in sides.pairs
    }
    rows, unmatched = _compare_rows_in_order(sides, compared)
    return FullComparison(tuple(_column_findings(sides, compared)), rows, sides.budget.is_complete, unmatched)


def _compare_rows_in_order(
    sides: MappedTables, compared: Mapping[int, _ComparedCells]
) -> tuple[RowFindings, Unmatched]:
    gold_count, prediction_count = sides.gold.row_count, sides.prediction.row_count
    shared = sides.shared_rows
    differing = sorted(set(chain.from_iterable(cells.differing for cells in compared.values())))
    matched_count = shared - len(differing)
    our_rest, their_rest = ([*differing, *range(shared, count)] for count in (gold_count, prediction_count))
    left = without_equal_texts(sides, our_rest, their_rest)
    missing, unexpected = rows_without_equal(sides, *left, _by_agreement(compared))
    if len(missing) < len(our_rest) and (missing or unexpected):
        # Some rows are there, but elsewhere; what is wrong with the others is worth more to see.
        sample = tuple(sides.sample(missing, unexpected))
    else:
        shown = max(our_rest, their_rest, key=len)[:SHOWN_ROWS]
        numbers = ([row if row < count else None for count in (gold_count, prediction_count)] for row in shown)
        sample = tuple(sides.difference(ours, theirs) for ours, theirs in numbers)
    findings = RowFindings(
        matched_count,
        gold_count - matched_count,
        prediction_count - matched_count,
        min(our_rest[:1] + their_rest[:1], default=-1) + 1 or None,
        not missing and not unexpected,
        gold_count - len(missing),
        sample,
    )
    return findings, (missing, unexpected)


def _by_agreement(compared: Mapping[int, _ComparedCells]) -> list[int]:
    return sorted(compared, key=lambda i: compared[i].agreeing)
