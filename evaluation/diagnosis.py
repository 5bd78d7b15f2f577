"""What a failed prediction was most likely meant to be, and where it differs from gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import eq
from typing import NamedTuple

from .cells import Rule, TextRule
from .errors import CellError
from .findings import ColumnFinding, RowDifference, RowFindings, UnreadableCell, shortened
from .matching import heaviest_matching
from .tables import Table

# Readings that finding the nearest mapping may take; beyond it the first rows stand for all.
_MOST_CELLS_READ = 200_000
_SHOWN_ROWS = 5
_SHOWN_CELLS = 3
# Missing rows among which the one nearest to an unexpected row is looked for.
_NEAR_ROWS = 200


class GoldColumn(NamedTuple):
    """A gold column: its name, its type, its rule, and its cells, all of which the rule can read."""

    name: str
    type: str
    rule: Rule
    texts: Sequence[str]


class Refusal(NamedTuple):
    """What a rule makes of a text that it cannot read: equal to no value, and to no other text."""

    text: str
    reason: str


class Readings(dict[str, object]):
    """What a rule makes of texts, each read once: its canonical value, or a `Refusal`."""

    def __init__(self, rule: Rule) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, text: str) -> object:
        try:
            reading: object = self._rule.canonical(text)
        except CellError as error:
            reading = Refusal(text, str(error))
        self[text] = reading
        return reading


def nearest_mapping(gold: Sequence[GoldColumn], prediction: Table, *, ordered: bool) -> tuple[int | None, ...]:
    """Return the prediction column nearest to each gold column, one to one; None for a gold column left over.

    The agreement of two columns is the number of rows with equal canonical values where rows are ordered, else the size
    of the intersection of their multisets; of tables so large that this would take more than 200,000 readings,
    the first rows are looked at only. The mapping, of the smaller side into the larger, is the one with the greatest
    sum of agreements. Ties go to the one with more headers that equal the gold name, then to the lexicographically
    smallest.
    """
    name = TextRule().canonical
    headers = [name(header) for header in prediction.header]
    rules = list(dict.fromkeys(column.rule for column in gold))
    height = max(1, _MOST_CELLS_READ // (len(rules) * len(headers)))
    # Even all headers together weigh less than one agreeing cell.
    unit = len(headers) + 1
    weights: list[list[int]] = [[] for _ in gold]
    for rule in rules:
        # One rule after the other: what all of them read of a large prediction would fill the memory.
        readings = Readings(rule)
        views = [_reading(readings, column[:height], ordered=ordered) for column in prediction.columns]
        for i, column in enumerate(gold):
            if column.rule == rule:
                ours = _reading(readings, column.texts[:height], ordered=ordered)
                weights[i] = [
                    unit * _agreement(ours, view) + (header == name(column.name))
                    for view, header in zip(views, headers, strict=True)
                ]
    return heaviest_matching(weights)


def compare_tables_in_full(
    gold: Sequence[GoldColumn], gold_table: Table, prediction: Table, mapping: Sequence[int | None], *, ordered: bool
) -> tuple[tuple[ColumnFinding, ...], RowFindings]:
    """Return how the columns compare to their partners under the mapping, and the rows on the columns that have one."""
    readings = {column.rule: Readings(column.rule) for column in gold}
    return (
        _compare_columns(gold, readings, prediction, mapping, ordered=ordered),
        _compare_rows(_Sides(gold, readings, gold_table, prediction, mapping), ordered=ordered),
    )


def _compare_columns(
    gold: Sequence[GoldColumn],
    readings: Mapping[Rule, Readings],
    prediction: Table,
    mapping: Sequence[int | None],
    *,
    ordered: bool,
) -> tuple[ColumnFinding, ...]:
    findings = []
    for i, (column, j) in enumerate(zip(gold, mapping, strict=True)):
        finding = ColumnFinding(i, shortened(column.name), column.type, j, None, 0)
        if j is not None:
            texts = prediction.columns[j]
            refused = list(_refused(readings[column.rule], column, texts))
            finding = ColumnFinding(
                i,
                shortened(column.name),
                column.type,
                j,
                shortened(prediction.header[j]),
                _agreeing_cells(readings[column.rule], column, texts, ordered=ordered),
                len(refused),
                tuple(refused[:_SHOWN_CELLS]),
            )
        findings.append(finding)
    return tuple(findings)


def _compare_rows(sides: _Sides, *, ordered: bool) -> RowFindings:
    ours, theirs = sides.texts()
    if ordered:
        longest = max(len(ours), len(theirs))
        places = [row for row in range(longest) if ours[row : row + 1] != theirs[row : row + 1]]
        return _compare_in_order(sides, places)
    # Rows that are the same texts are equal whatever the rules, as gold can be read; only the rest is.
    missing, unexpected = _left_over(ours, theirs), _left_over(theirs, ours)
    our_keys, their_keys = sides.keys(missing, unexpected)
    missing, unexpected = (
        [missing[place] for place in _left_over(our_keys, their_keys)],
        [unexpected[place] for place in _left_over(their_keys, our_keys)],
    )
    return RowFindings(
        len(ours) - len(missing), len(missing), len(unexpected), sample=tuple(sides.sample(missing, unexpected))
    )


class _Sides(NamedTuple):
    """Both tables, row by row, on the gold columns that have a partner under the mapping."""

    columns: Sequence[GoldColumn]
    readings: Mapping[Rule, Readings]
    gold: Table
    prediction: Table
    mapping: Sequence[int | None]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(i, j) for i, j in enumerate(self.mapping) if j is not None]

    def texts(self) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """Return the rows of both sides as texts."""
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
            read = self.readings[self.columns[i].rule].__getitem__
            ours.append([read(self.gold.rows[row][i]) for row in gold_rows])
            theirs.append([read(self.prediction.rows[row][j]) for row in prediction_rows])
        return list(zip(*ours, strict=True)), list(zip(*theirs, strict=True))

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
        """Yield the first unexpected rows, each with the missing row nearest to it, then missing rows left over."""
        near, shown = list(missing[:_NEAR_ROWS]), unexpected[:_SHOWN_ROWS]
        near_keys, keys = self.keys(near, shown)
        for row, key in zip(shown, keys, strict=True):
            likeness = [sum(map(eq, other, key)) for other in near_keys]
            best = max(likeness, default=0)
            if best:
                place = likeness.index(best)
                near_keys.pop(place)
            yield self.difference(near.pop(place) if best else None, row)
        for row in near[: max(0, _SHOWN_ROWS - len(unexpected))]:
            yield self.difference(row, None)


def _compare_in_order(sides: _Sides, places: Sequence[int]) -> RowFindings:
    """Return how rows compare by position, where texts differ at some places only."""
    our_count, their_count = sides.gold.row_count, sides.prediction.row_count
    shared = [row for row in places if row < min(our_count, their_count)]
    our_keys, their_keys = sides.keys(shared, shared)
    differing = [row for row, one, other in zip(shared, our_keys, their_keys, strict=True) if one != other]
    surplus = places[len(shared) :]
    matched = min(our_count, their_count) - len(differing)
    rows = list(islice((row for some in (differing, surplus) for row in some), _SHOWN_ROWS))
    ours, theirs = ([*differing, *(row for row in surplus if row < count)] for count in (our_count, their_count))
    rest, other_rest = sides.keys(ours, theirs)
    return RowFindings(
        matched,
        our_count - matched,
        their_count - matched,
        rows[0] + 1 if rows else None,
        Counter(rest) == Counter(other_rest),
        tuple(sides.difference(row if row < our_count else None, row if row < their_count else None) for row in rows),
    )


def matched(rows: Sequence[object], others: Sequence[object]) -> list[bool]:
    """Return for every row whether one of the others is left that equals it, each of which matches once."""
    left = Counter(others)
    found = []
    for row in rows:
        found.append(left[row] > 0)
        left[row] -= found[-1]
    return found


def _left_over(rows: Sequence[object], others: Sequence[object]) -> list[int]:
    """Return where those rows are that no row of the others is left for; of several alike the last."""
    return [place for place, is_matched in enumerate(matched(rows, others)) if not is_matched]


def _reading(readings: Readings, texts: Sequence[str], *, ordered: bool) -> Sequence[object] | Counter[object]:
    """Return a column as the rule reads it: in order, or how often there is each value."""
    return list(map(readings.__getitem__, texts)) if ordered else _counted(readings, Counter(texts))


def _counted(readings: Readings, texts: Counter[str]) -> Counter[object]:
    values: Counter[object] = Counter()
    for text, count in texts.items():
        values[readings[text]] += count
    return values


def _agreement(gold: Sequence[object] | Counter[object], prediction: Sequence[object] | Counter[object]) -> int:
    if isinstance(gold, Counter) and isinstance(prediction, Counter):
        return (gold & prediction).total()
    return sum(map(eq, gold, prediction))


def _agreeing_cells(readings: Readings, column: GoldColumn, texts: Sequence[str], *, ordered: bool) -> int:
    """Return how many cells agree; those that are the same text do whatever the rule."""
    if ordered:
        differing = [(one, other) for one, other in zip(column.texts, texts, strict=False) if one != other]
        same = min(len(column.texts), len(texts)) - len(differing)
        return same + sum(readings[one] == readings[other] for one, other in differing)
    ours, theirs = Counter(column.texts), Counter(texts)
    # `Counter` compares itself in Python code, a dictionary in C.
    if dict.__eq__(ours, theirs):
        return len(texts)
    rest, other_rest = _counted(readings, ours - theirs), _counted(readings, theirs - ours)
    return (ours & theirs).total() + (rest & other_rest).total()


def _refused(readings: Readings, column: GoldColumn, texts: Sequence[str]) -> Iterator[UnreadableCell]:
    refused = {text for text in set(texts).difference(column.texts) if isinstance(readings[text], Refusal)}
    for row, text in enumerate(texts, start=1) if refused else ():
        if text in refused:
            reading = readings[text]
            assert isinstance(reading, Refusal), "as it was above"
            yield UnreadableCell(row, shortened(text), reading.reason)
