"""Changes to the form of a prediction that undo a common mistake: how it is read, its columns, its rows.

Each is a candidate: a pair of tables that whoever asked for it compares again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import permutations, product
from typing import NamedTuple, TypeVar

from .diagnosis import FullComparison
from .errors import InputError, counted, quoted
from .findings import NearMiss
from .nearest import nearest_mapping
from .readings import GoldColumn, ReadingBudget, Readings, TextCounts
from .row_matching import Unmatched, unmatched_rows
from .tables import Table, TableLimits, parse_table
from .value_changes import is_index

_DELIMITERS = ((";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars"))
_ENCODINGS = ("utf-16", "cp1252", "gb18030")
_JOINTS = (" ", ", ", ",", "; ", "-", "/", "_", "")
# Cells that may be compared in search of near misses: always so many, and of large tables as many as they have.
_LEAST_CELLS = 2_000_000
# Of a table of more, one near miss is enough, and what would take as long as the verdict is not looked into.
_MANY_CELLS = 200_000
_SAMPLED_ROWS = 20
_FIRST_BYTES = 1 << 16
_SHOWN_ROWS = 3

_Element = TypeVar("_Element")


class FailedTask(NamedTuple):
    """A prediction that is not gold, whatever it is.

    `columns` are gold's, and `data` the bytes of the prediction; `prediction` is None where they are no table.
    `mapping` is the nearest, anything where there is no table; `matches` are the prediction columns known to hold the
    values of each gold column, and `counts` those of both tables' texts.
    """

    columns: Sequence[GoldColumn]
    gold: Table
    ordered: bool
    data: bytes
    prediction: Table | None
    limits: TableLimits
    mapping: Sequence[int | None]
    matches: Sequence[Sequence[int]]
    counts: TextCounts


class Candidate(NamedTuple):
    """A changed pair of tables, and what was changed.

    `columns` are those of the changed gold, whose places in gold are `places`. `mapping` is the nearest one, None where
    it is not known yet. `found` is how its rows compare, by the columns of that mapping, where that is known.
    """

    misses: tuple[NearMiss, ...]
    gold: Table
    columns: tuple[GoldColumn, ...]
    prediction: Table
    ordered: bool
    places: tuple[int, ...]
    mapping: tuple[int | None, ...] | None = None
    found: FullComparison | None = None

    def also(
        self,
        miss: NearMiss,
        *,
        gold: Table | None = None,
        prediction: Table | None = None,
        found: FullComparison | None = None,
    ) -> Candidate:
        """Return the candidate with some rows fewer on one of the sides."""
        columns = self.columns
        if gold:
            columns = tuple(column._replace(texts=texts) for column, texts in zip(columns, gold.columns, strict=True))
        return self._replace(
            misses=(*self.misses, miss),
            gold=gold or self.gold,
            columns=columns,
            prediction=prediction or self.prediction,
            found=found,
        )


class FormChanges:
    """The candidates of a failed task, of which so much was found already, and the work left for them."""

    def __init__(self, task: FailedTask, name_columns: bool, found: FullComparison) -> None:
        self._task = task
        self._name_columns = name_columns
        self._found = found
        cells = task.gold.row_count * task.gold.column_count
        self.is_large = cells > _MANY_CELLS
        # Where the verdict did no more than read two large files, little else takes as long.
        self.is_bounded = self.is_large and not task.matches
        self._texts_left = ReadingBudget.beside_verdict(task.gold, False)
        self._cells_left = max(_LEAST_CELLS, 2 * cells)

    def may_spend(self, table: Table) -> bool:
        """Return whether there is work left for a change of a whole table, and count it."""
        return self.may_spend_cells(table.column_count * table.row_count)

    def may_spend_cells(self, cells: int) -> bool:
        """Return whether there is work left for a change of so many cells, and count it."""
        self._cells_left -= cells
        return self._cells_left >= 0

    def may_read(self, count: int) -> bool:
        """Return whether there is work left to read so many texts, and count it."""
        return not self.is_bounded or self._texts_left.may_read(count)

    def may_be_equal(self, candidate: Candidate) -> bool:
        """Return whether in most of a large table's first rows cells are spelled as in gold, or may still be read."""
        if not self.is_large:
            return True
        known = list(map(self._knows, candidate.columns))
        if self.is_bounded:
            samples = [texts[:_SAMPLED_ROWS] for texts in candidate.prediction.columns]
            is_known = [any(2 * sum(map(knows, texts)) >= len(texts) for knows in known) for texts in samples]
            return 2 * candidate.gold.row_count * is_known.count(False) <= self._texts_left.left
        sample = candidate.prediction.rows[:_SAMPLED_ROWS]
        found = sum(any(knows(cell) for knows in known) for row in sample for cell in row)
        return 2 * found >= len(sample) * candidate.prediction.column_count

    def candidates(self) -> Iterator[Candidate]:
        """Yield the prediction as it is, and with its form changed."""
        task = self._task
        if task.prediction is None:
            yield from self._other_readings(task.data)
            return
        base = self._candidate((), task.prediction)._replace(mapping=tuple(task.mapping), found=self._found)
        yield base
        if task.prediction.column_count == 1 < task.gold.column_count:
            yield from self._other_readings(task.data)
        yield from self._reshaped(task.prediction)
        for candidate in self._columns_changed(base):
            yield candidate
            yield from self._rows_changed(candidate)
        yield from self._rows_changed(base)

    def _candidate(self, misses: tuple[NearMiss, ...], prediction: Table) -> Candidate:
        columns = tuple(self._task.columns)
        return Candidate(misses, self._task.gold, columns, prediction, self._task.ordered, tuple(range(len(columns))))

    def _other_readings(self, data: bytes) -> Iterator[Candidate]:
        first_line = data[:_FIRST_BYTES].partition(b"\n")[0]
        for delimiter, name in _DELIMITERS:
            if self.is_large and first_line.count(delimiter.encode()) != self._task.gold.column_count - 1:
                continue
            try:
                table = parse_table(data, self._task.limits, delimiter)
            except InputError:
                continue
            miss = NearMiss("delimiter", f"cells are separated by {name}, not by commas")
            yield self._candidate((miss,), table)
            if table.column_count == self._task.gold.column_count + 1:
                base = self._candidate((miss,), table)
                yield from self._columns_changed(base._replace(mapping=tuple(self.mapping(base))))
        for encoding in _ENCODINGS if self._task.prediction is None else ():
            try:
                table = parse_table(data.decode(encoding).encode("utf-8"), self._task.limits)
            except (UnicodeError, InputError):
                continue
            yield self._candidate((NearMiss("encoding", f"the file is encoded as {encoding}, not as UTF-8"),), table)

    def _reshaped(self, prediction: Table) -> Iterator[Candidate]:
        gold = self._task.gold
        if prediction.row_count == gold.row_count - 1 and self._may_be_a_row(prediction.header):
            table = Table(prediction.header, [prediction.header, *prediction.rows])
            miss = NearMiss("header_missing", "there is no header row before the data")
            yield self._candidate((miss,), table)._replace(mapping=tuple(self._task.mapping))
        swapped = (NearMiss("transposed", "rows and columns are swapped"),)
        if (prediction.column_count - 1, prediction.row_count + 1) == (gold.row_count, gold.column_count):
            header, *rows = zip(prediction.header, *prediction.rows, strict=True)
            yield self._candidate(swapped, Table(header, rows))
        if (prediction.column_count, prediction.row_count) == (gold.row_count, gold.column_count) != (1, 1):
            rows = list(zip(*prediction.rows, strict=True))
            yield self._candidate(swapped, Table(("",) * gold.column_count, rows))

    def _may_be_a_row(self, header: Sequence[str]) -> bool:
        """Return whether a header may be a row of gold; of a large table most cells are spelled as some of gold."""
        if not self.is_large:
            return True
        pairs = zip(self._task.columns, self._task.mapping, strict=True)
        return 2 * sum(self._knows(column)(header[j]) for column, j in pairs if j is not None) > len(header)

    def _columns_changed(self, base: Candidate) -> Iterator[Candidate]:
        prediction, mapping = base.prediction, base.mapping
        assert mapping is not None, "as it was given"
        surplus = prediction.column_count - base.gold.column_count
        if surplus == 1:
            for j, column in enumerate(prediction.columns):
                if prediction.rows and is_index(column):
                    miss = NearMiss("extra_index_column", f"prediction column {j} only counts the rows")
                    yield self._with_prediction_columns(
                        base, miss, [k for k in range(prediction.column_count) if k != j]
                    )
        if surplus > 0 and self._may_pass_without_columns(base):
            kept = sorted(j for j in mapping if j is not None)
            extra = [j for j in range(prediction.column_count) if j not in kept]
            what = ", ".join(self._headed(prediction, j) for j in extra)
            is_none = "column {} is" if surplus == 1 else "columns {} are"
            miss = NearMiss("extra_columns", f"prediction {is_none.format(what)} not in gold")
            yield self._with_prediction_columns(base, miss, kept)
        if surplus < 0 and self._may_pass_without_columns(base):
            yield self._without_missing_columns(base, mapping)
        if surplus == 1:
            yield from self._joined(base)
        elif surplus == -1:
            yield from self._parted(base)

    def _may_pass_without_columns(self, base: Candidate) -> bool:
        """Return whether columns with a partner may be all that is right, not where rows of a large table differ."""
        found = base.found
        return not self.is_large or found is None or found.rows is None or not found.rows.missing

    def _with_prediction_columns(self, base: Candidate, miss: NearMiss, places: Sequence[int]) -> Candidate:
        """Return the base with these columns of the prediction only."""
        prediction = Table.of_columns(
            [base.prediction.header[j] for j in places], [base.prediction.columns[j] for j in places]
        )
        assert base.mapping is not None, "as it was given"
        changed = base._replace(misses=(*base.misses, miss), prediction=prediction)
        if not set(places).issuperset(base.mapping):
            return changed._replace(mapping=None, found=None)
        return changed._replace(mapping=tuple(None if j is None else places.index(j) for j in base.mapping))

    def _without_missing_columns(self, base: Candidate, mapping: Sequence[int | None]) -> Candidate:
        places = tuple(i for i, j in enumerate(mapping) if j is not None)
        missing = [i for i in range(len(mapping)) if i not in places]
        what = ", ".join(map(self.called, missing))
        miss = NearMiss("missing_columns", f"{what} {'is' if len(missing) == 1 else 'are'} missing")
        columns = tuple(base.columns[i] for i in places)
        return base._replace(
            misses=(*base.misses, miss),
            gold=Table.of_columns([base.gold.header[i] for i in places], [base.gold.columns[i] for i in places]),
            columns=columns,
            places=places,
            mapping=tuple(mapping[i] for i in places),
        )

    def _joined(self, base: Candidate) -> Iterator[Candidate]:
        """Yield the base with two columns of its prediction joined, where the first row then has a cell of gold.

        Of a large table, one of them has no partner, and what is joined is for most of the first rows a cell of the
        column that the other stands for.
        """
        prediction, sampled = base.prediction, _SAMPLED_ROWS if self.is_large else 1
        if not prediction.rows:
            return
        is_known = list(map(self._knows, self._task.columns))
        # Most likely are two that stand side by side.
        pairs = sorted(permutations(range(prediction.column_count), 2), key=lambda pair: pair[1] - pair[0] != 1)
        for (j, k), joint in product(pairs, _JOINTS):
            partners = self._partners(base, (j, k)) if self.is_large else range(len(is_known))
            cells = list(map(joint.join, zip(prediction.columns[j][:sampled], prediction.columns[k], strict=False)))
            partner = next((i for i in partners if 2 * sum(map(is_known[i], cells)) > len(cells)), None)
            if partner is None:
                continue
            if not self.may_spend_cells(2 * prediction.row_count):
                return
            parts = " and ".join(self._headed(prediction, part) for part in (j, k))
            miss = NearMiss("split_columns", f"prediction columns {parts} are one column of gold")
            joined = tuple(map(joint.join, zip(prediction.columns[j], prediction.columns[k], strict=True)))
            yield self._with_columns_replaced(base, miss, (j, k), [joined], (partner,) if self.is_large else ())

    def _partners(self, base: Candidate, places: Collection[int]) -> list[int]:
        """Return the gold columns left over when some columns of the prediction are put aside.

        Empty where one that has no partner is not among them.
        """
        assert base.mapping is not None, "as it was given"
        if not set(range(base.prediction.column_count)).difference(base.mapping) <= set(places):
            return []
        return [i for i, j in enumerate(base.mapping) if j is None or j in places]

    def _with_columns_replaced(
        self,
        base: Candidate,
        miss: NearMiss,
        places: Sequence[int],
        added: Sequence[tuple[str, ...]],
        partners: Sequence[int],
    ) -> Candidate:
        """Return the base with some columns left out, and others added that stand for gold columns `partners`.

        Without `partners` it is not known what they stand for.
        """
        header, columns = _others(base.prediction.header, *places), _others(base.prediction.columns, *places)
        table = Table.of_columns((*header, *[""] * len(added)), [*columns, *added])
        changed = self._candidate((*base.misses, miss), table)
        if not partners:
            return changed
        assert base.mapping is not None, "as it was given"
        kept = _others(range(base.prediction.column_count), *places)
        mapping: list[int | None] = [None if j is None or j in places else kept.index(j) for j in base.mapping]
        for place, i in enumerate(partners, start=len(kept)):
            mapping[i] = place
        return changed._replace(mapping=tuple(mapping))

    def _knows(self, column: GoldColumn) -> Callable[[str], bool]:
        """Return what says whether a text is a value of a gold column, of a large one whether it is spelled so."""
        if self.is_large:
            return self._task.counts.of(column.texts).__contains__
        readings = Readings(column.rule)
        values = set(readings.of(column.texts)) - {None}
        return lambda text: readings[text] in values

    def _parted(self, base: Candidate) -> Iterator[Candidate]:
        """Yield the base with a column of its prediction parted where a joint stands first or last in its cells.

        Of a large table, most parts in the first rows are cells of a column of gold each that are left for them.
        """
        prediction = base.prediction
        for (j, column), joint in product(enumerate(prediction.columns), filter(None, _JOINTS)):
            if not column or not all(joint in text for text in column):
                continue
            for part in (str.partition, str.rpartition):
                partners: Sequence[int] = ()
                if self.is_large:
                    partners = self._partners_of_parts(base, j, [part(text, joint) for text in column[:_SAMPLED_ROWS]])
                    if not partners:
                        continue
                if not self.may_spend_cells(2 * prediction.row_count):
                    return
                firsts, _, seconds = zip(*(part(text, joint) for text in column), strict=True)
                message = f"prediction column {self._headed(prediction, j)} is two columns of gold"
                miss = NearMiss("merged_columns", message)
                yield self._with_columns_replaced(base, miss, (j,), [firsts, seconds], partners)

    def _partners_of_parts(self, base: Candidate, j: int, parts: Sequence[tuple[str, str, str]]) -> Sequence[int]:
        """Return the gold columns that most first and most last parts of cells of column j stand in, if there are."""
        sides = [part[0] for part in parts], [part[2] for part in parts]
        for partners in permutations(self._partners(base, (j,)), 2):
            known = [self._knows(self._task.columns[i]) for i in partners]
            if all(2 * sum(map(knows, texts)) > len(texts) for knows, texts in zip(known, sides, strict=True)):
                return partners
        return ()

    def _rows_changed(self, base: Candidate) -> Iterator[Candidate]:
        """Yield the base with the rows left out that only one side has, or has more often."""
        gold, prediction = base.gold, base.prediction
        surplus = prediction.row_count - gold.row_count
        if prediction.column_count != gold.column_count or not surplus:
            return
        unique = list(dict.fromkeys(prediction.rows))
        if len(unique) == gold.row_count:
            miss = NearMiss("duplicate_rows", "rows are repeated that gold has once")
            yield base.also(miss, prediction=Table(prediction.header, unique))
        unique = list(dict.fromkeys(gold.rows))
        if len(unique) == prediction.row_count:
            miss = NearMiss("duplicate_rows", "rows that gold repeats are there once only")
            yield base.also(miss, gold=Table(gold.header, unique))
        unmatched = base.found.unmatched if base.found else self._unmatched(base)
        found = base.found.without_unmatched() if base.found and not base.ordered else None
        missing, unexpected = map(set, unmatched)
        more = f"{'is' if abs(surplus) == 1 else 'are'} {counted(abs(surplus), 'row')}"
        which = _listed(unexpected if surplus > 0 else missing)
        if surplus > 0 and not missing:
            kept = [row for place, row in enumerate(prediction.rows) if place not in unexpected]
            miss = NearMiss("extra_rows", f"there {more} too many: {which}")
            yield base.also(miss, prediction=Table(prediction.header, kept), found=found)
        elif surplus < 0 and prediction.rows and not unexpected:
            kept = [row for place, row in enumerate(gold.rows) if place not in missing]
            miss = NearMiss("missing_rows", f"there {more} too few: gold {which}")
            yield base.also(miss, gold=Table(gold.header, kept), found=found)

    def _unmatched(self, base: Candidate) -> Unmatched:
        return unmatched_rows(base.columns, base.gold, base.prediction, self.mapping(base))

    def mapping(self, base: Candidate) -> Sequence[int | None]:
        """Return the nearest mapping of a candidate's prediction into its gold."""
        if base.mapping is not None:
            return base.mapping
        self.may_spend(base.gold)
        return nearest_mapping(base.columns, base.prediction, ordered=base.ordered, counts=self._task.counts)

    def _headed(self, prediction: Table, j: int) -> str:
        """Return a column of the prediction by its number and its name."""
        return f"{j} {quoted(prediction.header[j])}" if self._name_columns else str(j)

    def called(self, i: int) -> str:
        return f"column {i} {quoted(self._task.columns[i].name)}" if self._name_columns else f"column {i}"


def _others(row: Sequence[_Element], *places: int) -> tuple[_Element, ...]:
    return tuple(cell for place, cell in enumerate(row) if place not in places)


def _listed(places: Collection[int]) -> str:
    """Return the numbers of the first of some rows."""
    shown = [str(place + 1) for place in sorted(places)[:_SHOWN_ROWS]]
    return f"{'row' if len(places) == 1 else 'rows'} {', '.join(shown)}{', …' if len(places) > len(shown) else ''}"
