"""Which single change would make a failed prediction pass: changes that undo common mistakes, made and verified.

A near miss is claimed only after the change was made and the whole table compared again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import filterfalse, islice

from .cells import DateRule, DatetimeRule, Rule
from .columns import TypedColumns, try_column
from .comparison import compare_tables
from .diagnosis import FullComparison, compare_tables_in_full
from .errors import MappingBudgetError
from .findings import Diagnosis, NearMiss
from .form_changes import Candidate, FailedTask, FormChanges
from .tables import Table
from .value_changes import ValueChange, value_changes

_SEARCH_BUDGET = 5_000_000
_SAMPLED_ROWS = 20
_MOST_GROUPS = 3
# How much more a changed cell takes than one that is compared.
_WEIGHTS = ((DateRule, 8), (DatetimeRule, 8), (object, 4))

_ROW_ORDER = NearMiss("row_order", "the rows are right, but not their order")


def diagnose(task: FailedTask, *, name_columns: bool = True) -> Diagnosis:
    """Return what is found of a failed task, and the changes, one or several together, that make it pass.

    The likeliest near misses come first; at most three groups are told. Without `name_columns` their messages name no
    column, but by its number.
    """
    if task.prediction is None:
        return Diagnosis(near_misses=_near_misses(_Finder(task, name_columns, FullComparison())))
    found = compare_tables_in_full(
        task.columns,
        task.gold,
        task.prediction,
        task.mapping,
        ordered=task.ordered,
        matches=task.matches,
        counts=task.counts,
    )
    return Diagnosis(found.columns, found.rows, _near_misses(_Finder(task, name_columns, found)), found.complete)


def _near_misses(finder: _Finder) -> tuple[NearMiss, ...]:
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


class _Finder:
    """Looks for near misses of a task, of which so much was found already."""

    def __init__(self, task: FailedTask, name_columns: bool, found: FullComparison) -> None:
        self._task = task
        self._columns = found.columns
        self._rows = found.rows
        self._forms = FormChanges(task, name_columns, found)

    @property
    def _is_in_order(self) -> bool:
        """Whether most cells of every column stand where gold has them, so that rows have not moved throughout."""
        count = self._task.gold.row_count
        return self._task.ordered and all(2 * column.agreeing > count for column in self._columns)

    def groups(self) -> Iterator[tuple[NearMiss, ...]]:
        bases: list[Candidate] = []
        for candidate in self._forms.candidates():
            if candidate.misses and self._passes(candidate):
                yield candidate.misses
            elif candidate.misses and self._passes_reordered(candidate):
                yield (*candidate.misses, _ROW_ORDER)
            elif not candidate.misses and candidate.ordered and self._is_reordered(candidate):
                yield (_ROW_ORDER,)
            else:
                bases.append(candidate)
                continue
            if self._forms.is_large:
                return
        for candidate in bases:
            if self._forms.is_large and candidate.misses:
                continue
            if candidate.gold.column_count == candidate.prediction.column_count:
                yield from self._with_values_changed(candidate)

    def _passes_reordered(self, candidate: Candidate) -> bool:
        if not candidate.ordered or self._forms.is_large:
            return False
        return self._passes(candidate._replace(ordered=False, mapping=None))

    def _is_reordered(self, candidate: Candidate) -> bool:
        if candidate.gold.column_count != candidate.prediction.column_count:
            return False
        if self._is_in_order or self._forms.is_large:
            assert self._rows is not None, "as there are columns"
            return bool(self._rows.same_multiset)
        return self._passes(candidate._replace(ordered=False, mapping=None))

    def _with_values_changed(self, base: Candidate) -> Iterator[tuple[NearMiss, ...]]:
        """Yield the changes of cells that, all together, make the base pass; the first that fits each column."""
        if base.gold.row_count != base.prediction.row_count or not base.gold.rows:
            return
        for ordered in (True, False) if base.ordered else (False,):
            if base.ordered and not ordered and (self._is_in_order or self._forms.is_large):
                return
            changed = self._with_columns_made_equal(
                base if ordered == base.ordered else base._replace(ordered=ordered, mapping=None)
            )
            if changed is None or len(changed.misses) == len(base.misses) or not self._passes(changed):
                continue
            yield (*changed.misses, *([] if ordered == base.ordered else [_ROW_ORDER]))
            return

    def _with_columns_made_equal(self, base: Candidate) -> Candidate | None:
        """Return the base with every column changed that is not equal, None where one cannot be made so."""
        columns, texts = list(base.columns), list(base.prediction.columns)
        misses = list(base.misses)
        mapping = tuple(self._forms.mapping(base))
        for place, j in enumerate(mapping):
            if j is None:
                return None
            if self._is_equal(base, place, texts[j]):
                continue
            change = self._fitting_change(columns[place].rule, columns[place].texts, texts[j], base.ordered)
            if change is None:
                return None
            i = base.places[place]
            columns[place] = columns[place]._replace(rule=change.rule, texts=tuple(change.gold))
            texts[j] = tuple(change.prediction)
            misses.append(NearMiss(change.code, f"{self._forms.called(i)} {change.message}", i))
        gold = Table.of_columns(base.gold.header, [tuple(column.texts) for column in columns])
        prediction = Table.of_columns(base.prediction.header, texts)
        return base._replace(
            misses=tuple(misses), gold=gold, columns=tuple(columns), prediction=prediction, mapping=mapping
        )

    def _is_equal(self, base: Candidate, place: int, texts: Sequence[str]) -> bool:
        """Return whether a column of the prediction has gold's values."""
        column = base.columns[place]
        is_as_found = base.gold is self._task.gold and base.prediction is self._task.prediction
        if is_as_found and base.ordered == self._task.ordered:
            return self._columns[place].agreeing == base.gold.row_count
        return _same_column(ValueChange("", "", column.texts, texts, column.rule), base.ordered)

    def _fitting_change(
        self, rule: Rule, gold: Sequence[str], prediction: Sequence[str], ordered: bool
    ) -> ValueChange | None:
        """Return a change that makes two columns equal, None where none does."""
        weight = next(weight for kind, weight in _WEIGHTS if isinstance(rule, kind))
        if not self._forms.may_spend_cells(weight * len(prediction)):
            return None
        wanted = None
        if len(prediction) > _SAMPLED_ROWS:
            known = _KnownValues()
            sample = _telling_sample(gold, prediction)
            changes = list(value_changes(rule, gold, sample))
            # A change that alters none of these cells may alter others.
            wanted = {change.message for change in changes if known.may_fit(change)}
            unaltered = known.may_fit(ValueChange("", "", gold, sample, rule))
            if not wanted and not unaltered:
                return None
            wanted = None if unaltered else wanted
        changes_of_all = value_changes(rule, gold, prediction, wanted)
        return next((change for change in changes_of_all if _same_column(change, ordered)), None)

    def _passes(self, candidate: Candidate) -> bool:
        """Return whether the tables are equal; False, too, where there is no more work to be spent on finding out."""
        gold, prediction = candidate.gold, candidate.prediction
        shapes = [(table.column_count, table.row_count) for table in (gold, prediction)]
        if not self._forms.may_spend(gold) or shapes[0] != shapes[1]:
            return False
        if candidate.found is not None and candidate.found.is_equal:
            return True
        if candidate.mapping is not None and self._is_equal_as_mapped(candidate, candidate.mapping):
            return True
        if not self._forms.may_be_equal(candidate):
            return False
        if self._forms.is_bounded:
            # Searching for a mapping would take longer than the verdict did.
            return candidate.mapping is None and self._is_equal_as_mapped(candidate, self._forms.mapping(candidate))
        places: dict[Rule, int] = {}
        kinds = [places.setdefault(column.rule, len(places)) for column in candidate.columns]
        columns = TypedColumns(gold.columns, list(places), ordered=candidate.ordered)
        if not all(columns.is_readable(kind, i) for i, kind in enumerate(kinds)):
            return False
        beside = columns.beside(prediction.columns)
        try:
            return compare_tables(gold, columns, kinds, prediction, beside, _SEARCH_BUDGET).mapping is not None
        except MappingBudgetError:
            return False

    def _is_equal_as_mapped(self, candidate: Candidate, mapping: Sequence[int | None]) -> bool:
        """Return whether the tables are equal under the mapping, reading only columns that differ as texts."""
        gold, prediction = candidate.gold, candidate.prediction
        is_in_place = not candidate.ordered and mapping == tuple(range(gold.column_count))
        # Rows that are the same texts are equal whatever the rules.
        if is_in_place and dict.__eq__(gold.row_counts, prediction.row_counts):
            return True
        sides: list[tuple[Sequence[object], Sequence[object]]] = []
        for column, j in zip(candidate.columns, mapping, strict=True):
            if j is None:
                return False
            texts, others = column.texts, candidate.prediction.columns[j]
            if texts != others and (
                candidate.ordered or not dict.__eq__(self._task.counts.of(texts), self._task.counts.of(others))
            ):
                if not self._forms.may_read(len(texts) + len(others)):
                    return False
                values, other_values = (try_column(column.rule, list(some)) for some in (texts, others))
                if values is None or other_values is None or (candidate.ordered and values != other_values):
                    return False
                sides.append((values, other_values))
            else:
                sides.append((texts, others))
        if candidate.ordered:
            return True
        rows, other_rows = (Counter(zip(*(pair[side] for pair in sides), strict=True)) for side in (0, 1))
        return dict.__eq__(rows, other_rows)


def _same_column(change: ValueChange, ordered: bool) -> bool:
    if change.gold == change.prediction or (not ordered and Counter(change.gold) == Counter(change.prediction)):
        return True
    ours, theirs = (try_column(change.rule, texts) for texts in (list(change.gold), list(change.prediction)))
    if ours is None or theirs is None:
        return False
    return ours == theirs if ordered else Counter(ours) == Counter(theirs)


def _telling_sample(gold: Sequence[str], prediction: Sequence[str]) -> Sequence[str]:
    """Return some texts of the prediction, those that gold does not have where there are some."""
    new = islice(filterfalse(set(gold).__contains__, prediction), _SAMPLED_ROWS)
    return list(new) or prediction[:_SAMPLED_ROWS]


class _KnownValues:
    """The sets of values of gold columns, as they are and changed, the last of which is kept."""

    def __init__(self) -> None:
        self._texts: Sequence[str] | None = None
        self._rule: Rule | None = None
        self._values: frozenset[str | None] | None = None

    def may_fit(self, change: ValueChange) -> bool:
        """Return whether every changed value of some cells is one of gold's."""
        theirs = try_column(change.rule, list(change.prediction))
        if theirs is None:
            return False
        if change.gold is not self._texts or change.rule != self._rule:
            ours = try_column(change.rule, list(change.gold))
            self._texts, self._rule = change.gold, change.rule
            self._values = None if ours is None else frozenset(ours)
        return self._values is not None and self._values.issuperset(theirs)
