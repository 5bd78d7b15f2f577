"""Which single change would make a failed prediction pass: changes that undo common mistakes, made and verified.

A near miss is claimed only after the change was made and the whole table compared again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

from .cells import Rule
from .columns import TypedColumns, try_column
from .comparison import compare_tables
from .diagnosis import GoldColumn, Readings, compare_tables_in_full, matched, nearest_mapping
from .errors import InputError, MappingBudgetError, counted, quoted
from .findings import Diagnosis, NearMiss
from .tables import Table, TableLimits, parse_table
from .value_changes import ValueChange, is_index, value_changes

_DELIMITERS = ((";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars"))
_ENCODINGS = ("utf-16", "cp1252", "gb18030")
_JOINTS = (" ", ", ", ",", "; ", "-", "/", "_", "")
# Cells that may be compared in search of near misses: always so many, and of large tables as many as they have.
_LEAST_CELLS = 2_000_000
_SEARCH_BUDGET = 5_000_000
_SAMPLED_ROWS = 20
_MOST_GROUPS = 3

_ROW_ORDER = NearMiss("row_order", "the rows are right, but not their order")


class FailedTask(NamedTuple):
    """A prediction that is not gold, whatever it is.

    `columns` are gold's, and `data` the bytes of the prediction; `prediction` is None where they are no table.
    """

    columns: Sequence[GoldColumn]
    gold: Table
    ordered: bool
    data: bytes
    prediction: Table | None
    limits: TableLimits


class _Candidate(NamedTuple):
    """A changed pair of tables, and what was changed; `rules` read gold's columns, and `places` are theirs in gold."""

    misses: tuple[NearMiss, ...]
    gold: Table
    rules: tuple[Rule, ...]
    prediction: Table
    ordered: bool
    places: tuple[int, ...]

    def also(self, miss: NearMiss, *, gold: Table | None = None, prediction: Table | None = None) -> _Candidate:
        return self._replace(
            misses=(*self.misses, miss), gold=gold or self.gold, prediction=prediction or self.prediction
        )


def near_misses(task: FailedTask, mapping: Sequence[int | None], *, name_columns: bool = True) -> tuple[NearMiss, ...]:
    """Return the changes, one or several together, each of which makes the prediction pass; the likeliest first.

    `mapping` is the nearest one of the prediction as it is, anything where that is no table.
    Without `name_columns` messages name no column, but by its number. At most three groups are told.
    """
    finder = _Finder(task, mapping, name_columns)
    groups: list[tuple[NearMiss, ...]] = []
    seen = set()
    for misses in finder.groups():
        key = tuple((miss.code, miss.gold_index) for miss in misses)
        if key not in seen:
            seen.add(key)
            groups.append(misses)
        if len(groups) == _MOST_GROUPS:
            break
    return tuple(replace(miss, group=number) for number, misses in enumerate(groups) for miss in misses)


def diagnose(task: FailedTask, mapping: Sequence[int | None], *, name_columns: bool = True) -> Diagnosis:
    """Return what is found of a failed task under its nearest mapping, and its near misses."""
    misses = near_misses(task, mapping, name_columns=name_columns)
    if task.prediction is None:
        return Diagnosis(near_misses=misses)
    columns, rows = compare_tables_in_full(task.columns, task.gold, task.prediction, mapping, ordered=task.ordered)
    return Diagnosis(columns, rows, misses)


class _Finder:
    def __init__(self, task: FailedTask, mapping: Sequence[int | None], name_columns: bool) -> None:
        self._task = task
        self._name_columns = name_columns
        self._rules = tuple(column.rule for column in task.columns)
        cells = task.gold.row_count * task.gold.column_count
        self._cells_left = max(_LEAST_CELLS, 2 * cells)
        self._mappings = {(id(task.gold), id(task.prediction), task.ordered): mapping}
        self._kept: list[Table] = []

    def groups(self) -> Iterator[tuple[NearMiss, ...]]:
        bases: list[_Candidate] = []
        for candidate in self._bases():
            if candidate.misses and self._passes(candidate):
                yield candidate.misses
            elif not candidate.misses and candidate.ordered and self._passes(candidate._replace(ordered=False)):
                yield (_ROW_ORDER,)
            else:
                bases.append(candidate)
        for candidate in bases:
            if candidate.gold.column_count == candidate.prediction.column_count:
                yield from self._with_values_changed(candidate)

    def _bases(self) -> Iterator[_Candidate]:
        """Yield the prediction as it is, and with its form changed."""
        task = self._task
        if task.prediction is None:
            yield from self._other_readings(task.data)
            return
        yield self._candidate((), task.prediction)
        if task.prediction.column_count == 1 < task.gold.column_count:
            yield from self._other_readings(task.data)
        yield from self._reshaped(task.prediction)
        for candidate in self._columns_changed(task.prediction):
            yield candidate
            yield from self._rows_changed(candidate)
        yield from self._rows_changed(self._candidate((), task.prediction))

    def _candidate(self, misses: tuple[NearMiss, ...], prediction: Table) -> _Candidate:
        places = tuple(range(len(self._rules)))
        return _Candidate(misses, self._task.gold, self._rules, prediction, self._task.ordered, places)

    def _other_readings(self, data: bytes) -> Iterator[_Candidate]:
        for delimiter, name in _DELIMITERS:
            try:
                table = parse_table(data, self._task.limits, delimiter)
            except InputError:
                continue
            miss = NearMiss("delimiter", f"cells are separated by {name}, not by commas")
            yield self._candidate((miss,), table)
        for encoding in _ENCODINGS:
            try:
                table = parse_table(data.decode(encoding).encode("utf-8"), self._task.limits)
            except (UnicodeError, InputError):
                continue
            yield self._candidate((NearMiss("encoding", f"the file is encoded as {encoding}, not as UTF-8"),), table)

    def _reshaped(self, prediction: Table) -> Iterator[_Candidate]:
        gold = self._task.gold
        if prediction.row_count == gold.row_count - 1:
            table = Table(prediction.header, [prediction.header, *prediction.rows])
            yield self._candidate((NearMiss("header_missing", "there is no header row before the data"),), table)
        miss = (NearMiss("transposed", "rows and columns are swapped"),)
        if (prediction.column_count - 1, prediction.row_count + 1) == (gold.row_count, gold.column_count):
            header, *rows = zip(prediction.header, *prediction.rows, strict=True)
            yield self._candidate(miss, Table(header, rows))
        if (prediction.column_count, prediction.row_count) == (gold.row_count, gold.column_count) != (1, 1):
            rows = list(zip(*prediction.rows, strict=True))
            yield self._candidate(miss, Table(("",) * gold.column_count, rows))

    def _columns_changed(self, prediction: Table) -> Iterator[_Candidate]:
        surplus = prediction.column_count - self._task.gold.column_count
        if surplus == 1:
            for j, column in enumerate(prediction.columns):
                if prediction.rows and is_index(column):
                    miss = NearMiss("extra_index_column", f"prediction column {j} only counts the rows")
                    yield self._candidate(
                        (miss,), _with_columns(prediction, [k for k in range(prediction.column_count) if k != j])
                    )
        if surplus > 0:
            base = self._candidate((), prediction)
            mapping = [j for j in self._mapping(base, base.ordered) if j is not None]
            miss = NearMiss(
                "extra_columns", f"there {'is' if surplus == 1 else 'are'} {counted(surplus, 'column')} more"
            )
            yield self._candidate((miss,), _with_columns(prediction, sorted(mapping)))
        if surplus == 1:
            yield from self._joined(prediction)
        elif surplus == -1:
            yield from self._parted(prediction)
        if surplus < 0:
            yield from self._without_missing_columns(prediction)

    def _without_missing_columns(self, prediction: Table) -> Iterator[_Candidate]:
        base = self._candidate((), prediction)
        places = tuple(i for i, j in enumerate(self._mapping(base, base.ordered)) if j is not None)
        missing = [i for i in range(len(self._rules)) if i not in places]
        what = ", ".join(map(self._called, missing))
        miss = NearMiss("missing_columns", f"{what} {'is' if len(missing) == 1 else 'are'} missing")
        gold, rules = _with_columns(self._task.gold, places), tuple(self._rules[i] for i in places)
        yield base.also(miss, gold=gold)._replace(rules=rules, places=places)

    def _may_spend(self, table: Table) -> bool:
        """Return whether there is work left for a change of a whole table, and count it."""
        self._cells_left -= table.column_count * table.row_count
        return self._cells_left >= 0

    def _joined(self, prediction: Table) -> Iterator[_Candidate]:
        """Yield the prediction with two of its columns joined, where the first row then has a cell that gold has."""
        if not prediction.rows:
            return
        readings = [Readings(column.rule) for column in self._task.columns]
        texts = (column.texts for column in self._task.columns)
        values = [set(map(reading.__getitem__, some)) - {None} for reading, some in zip(readings, texts, strict=True)]
        for j in range(prediction.column_count):
            for k in range(prediction.column_count):
                for joint in _JOINTS if j != k else ():
                    cell = joint.join((prediction.rows[0][j], prediction.rows[0][k]))
                    if not any(reading[cell] in known for reading, known in zip(readings, values, strict=True)):
                        continue
                    if not self._may_spend(prediction):
                        return
                    message = f"prediction columns {j} and {k} are one column of gold"
                    rows = [(*_others(row, j, k), joint.join((row[j], row[k]))) for row in prediction.rows]
                    table = Table((*_others(prediction.header, j, k), ""), rows)
                    yield self._candidate((NearMiss("split_columns", message),), table)

    def _parted(self, prediction: Table) -> Iterator[_Candidate]:
        """Yield the prediction with one of its columns parted where a joint stands first or last in its cells."""
        for j, column in enumerate(prediction.columns):
            for joint in filter(None, _JOINTS):
                if not column or not all(joint in text for text in column):
                    continue
                if not self._may_spend(prediction):
                    return
                message = f"prediction column {j} is two columns of gold"
                for part in (str.partition, str.rpartition):
                    rows = [
                        (*_others(row, j), first, second)
                        for row in prediction.rows
                        for first, _, second in [part(row[j], joint)]
                    ]
                    table = Table((*_others(prediction.header, j), "", ""), rows)
                    yield self._candidate((NearMiss("merged_columns", message),), table)

    def _rows_changed(self, base: _Candidate) -> Iterator[_Candidate]:
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
        mapping = [j for j in self._mapping(base, base.ordered) if j is not None]
        readings = [Readings(rule).__getitem__ for rule in base.rules]
        ours = list(zip(*map(map, readings, gold.columns), strict=True))
        theirs = list(zip(*map(map, readings, (prediction.columns[j] for j in mapping)), strict=True))
        more = f"{'is' if abs(surplus) == 1 else 'are'} {counted(abs(surplus), 'row')}"
        if surplus > 0:
            kept = list(compress(prediction.rows, matched(theirs, ours)))
            if len(kept) == gold.row_count:
                miss = NearMiss("extra_rows", f"there {more} too many")
                yield base.also(miss, prediction=Table(prediction.header, kept))
        elif prediction.rows:
            kept = list(compress(gold.rows, matched(ours, theirs)))
            if len(kept) == prediction.row_count:
                miss = NearMiss("missing_rows", f"there {more} too few")
                yield base.also(miss, gold=Table(gold.header, kept))

    def _with_values_changed(self, base: _Candidate) -> Iterator[tuple[NearMiss, ...]]:
        """Yield the changes of cells that, all together, make the base pass; the first that fits each column."""
        if base.gold.row_count != base.prediction.row_count or not base.gold.rows:
            return
        for ordered in (True, False) if base.ordered else (False,):
            changed = self._with_columns_made_equal(base._replace(ordered=ordered))
            if changed is None or len(changed.misses) == len(base.misses) or not self._passes(changed):
                continue
            yield (*changed.misses, *([] if ordered == base.ordered else [_ROW_ORDER]))
            return

    def _with_columns_made_equal(self, base: _Candidate) -> _Candidate | None:
        """Return the base with every column changed that is not equal, None where one cannot be made so."""
        gold_columns, columns = list(base.gold.columns), list(base.prediction.columns)
        rules = list(base.rules)
        misses = list(base.misses)
        for place, j in enumerate(self._mapping(base, base.ordered)):
            if j is None:
                return None
            change = self._fitting_change(rules[place], gold_columns[place], columns[j], base.ordered)
            if change is None:
                return None
            if change.code:
                i = base.places[place]
                gold_columns[place], columns[j] = tuple(change.gold), tuple(change.prediction)
                rules[place] = change.rule
                misses.append(NearMiss(change.code, f"{self._called(i)} {change.message}", i))
        gold = Table(base.gold.header, list(zip(*gold_columns, strict=True)))
        prediction = Table(base.prediction.header, list(zip(*columns, strict=True)))
        return _Candidate(tuple(misses), gold, tuple(rules), prediction, base.ordered, base.places)

    def _fitting_change(
        self, rule: Rule, gold: Sequence[str], prediction: Sequence[str], ordered: bool
    ) -> ValueChange | None:
        """Return a change that makes the columns equal, one without a code where they are; None where none does."""
        none = ValueChange("", "", gold, prediction, rule)
        if _same_column(none, ordered):
            return none
        wanted = None
        if len(prediction) > _SAMPLED_ROWS:
            sample = prediction[:_SAMPLED_ROWS]
            changes = list(value_changes(rule, gold, sample))
            # A change that alters none of the first cells may alter others.
            wanted = {change.message for change in changes if _may_fit(change)}
            unaltered = _may_fit(ValueChange("", "", gold, sample, rule))
            if not wanted and not unaltered:
                return None
            wanted = None if unaltered else wanted
        changes_of_all = value_changes(rule, gold, prediction, wanted)
        return next((change for change in changes_of_all if _same_column(change, ordered)), None)

    def _mapping(self, base: _Candidate, ordered: bool) -> Sequence[int | None]:
        """Return the nearest mapping of a candidate's prediction into its gold."""
        key = (id(base.gold), id(base.prediction), ordered)
        if key in self._mappings:
            return self._mappings[key]
        columns: Sequence[GoldColumn] = self._task.columns
        if base.gold is not self._task.gold:
            columns = [
                columns[i]._replace(rule=rule, texts=texts)
                for i, rule, texts in zip(base.places, base.rules, base.gold.columns, strict=True)
            ]
        # The tables are kept with the key: nothing else may get their ids.
        self._kept += [base.gold, base.prediction]
        found = self._mappings[key] = nearest_mapping(columns, base.prediction, ordered=ordered)
        return found

    def _passes(self, candidate: _Candidate) -> bool:
        """Return whether the tables are equal; False, too, where there is no more work to be spent on finding out."""
        gold, prediction = candidate.gold, candidate.prediction
        shapes = [(table.column_count, table.row_count) for table in (gold, prediction)]
        self._cells_left -= gold.column_count * gold.row_count
        if shapes[0] != shapes[1] or self._cells_left < 0:
            return False
        places: dict[Rule, int] = {}
        kinds = [places.setdefault(rule, len(places)) for rule in candidate.rules]
        columns = TypedColumns(gold.columns, list(places), ordered=candidate.ordered)
        if not all(columns.is_readable(kind, i) for i, kind in enumerate(kinds)):
            return False
        beside = columns.beside(prediction.columns)
        try:
            return compare_tables(gold, columns, kinds, prediction, beside, _SEARCH_BUDGET).mapping is not None
        except MappingBudgetError:
            return False

    def _called(self, i: int) -> str:
        return f"column {i} {quoted(self._task.columns[i].name)}" if self._name_columns else f"column {i}"


def _with_columns(table: Table, places: Sequence[int]) -> Table:
    def kept(row: Sequence[str]) -> tuple[str, ...]:
        return tuple(row[place] for place in places)

    return Table(kept(table.header), list(map(kept, table.rows)))


def _others(row: Sequence[str], *places: int) -> tuple[str, ...]:
    return tuple(cell for place, cell in enumerate(row) if place not in places)


def _same_column(change: ValueChange, ordered: bool) -> bool:
    if change.gold == change.prediction or (not ordered and Counter(change.gold) == Counter(change.prediction)):
        return True
    ours, theirs = (try_column(change.rule, texts) for texts in (list(change.gold), list(change.prediction)))
    if ours is None or theirs is None:
        return False
    return ours == theirs if ordered else Counter(ours) == Counter(theirs)


def _may_fit(change: ValueChange) -> bool:
    """Return whether every changed value of some first rows is one of gold's."""
    ours, theirs = (try_column(change.rule, texts) for texts in (list(change.gold), list(change.prediction)))
    return ours is not None and theirs is not None and set(theirs) <= set(ours)
