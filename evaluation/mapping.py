"""The one-to-one column mapping between two tables with rows in any order: a pure algorithm on hashable values.

Gold columns have a *kind* each (which rule reads them); a prediction column has one *view* per kind: its values as read
under that rule. A mapping sends gold column i to prediction column m[i], read under the kind of i. The answer is always
the lexicographically smallest mapping.

The question is as hard as graph isomorphism: `_Search` decides it by colour refinement with individualisation, as graph
canonisers do (B. D. McKay, "Practical graph isomorphism", 1981); its work is counted in cells visited and bounded by
a budget.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from .errors import MappingBudgetError
from .kinds import common_values, merge_kinds
from .matching import is_matchable

Column = Sequence[Hashable]

# Half a minute to a minute of work: well above what tables without deliberate symmetry need, and above many of the
# hardest 64-column tables known (pairs of Latin-square graphs).
DEFAULT_BUDGET = 300_000_000


def smallest_mapping(
    gold: Sequence[Column],
    kinds: Sequence[int],
    views: Mapping[tuple[int, int], Column],
    candidates: Sequence[Sequence[int]],
    budget: int = DEFAULT_BUDGET,
) -> tuple[int, ...] | None:
    """Return the smallest mapping that makes the tables equal, rows in any order, or None.

    `gold[i]` is a column of values, one per row, of kind `kinds[i]`. `candidates[i]` are, ascending, all prediction
    columns that gold column i may be mapped to; one too many costs time only. `views[kind, j]` is prediction column j
    as read under the kind, for every candidate j of a gold column of that kind. Raises MappingBudgetError when deciding
    takes more than `budget` visited cells.
    """
    if not is_matchable(candidates):
        return None
    gold, kinds, views = merge_kinds(gold, kinds, views)
    numbers = _Numbering()
    gold_numbers: Sequence[Sequence[int]] = [list(map(numbers.__getitem__, column)) for column in gold]
    view_numbers: Mapping[tuple[int, int], Sequence[int]] = {
        key: list(map(numbers.__getitem__, column)) for key, column in views.items()
    }
    gold_rows = Counter(zip(*gold_numbers, strict=True))
    prediction_rows = Counter(zip(*view_numbers.values(), strict=True))
    if len(prediction_rows) < len(gold_rows):
        return None
    gold_counts, prediction_counts = list(gold_rows.values()), list(prediction_rows.values())
    if len(prediction_rows) > len(gold_rows):
        # Rows that one kind tells apart and another does not: all rows are kept.
        gold_counts = prediction_counts = [1] * len(gold[0])
    else:
        # Identical rows are one row that occurs so often: one-hot and other designed tables shrink to a few rows.
        gold_numbers = _columns(gold_rows, len(gold))
        view_numbers = dict(zip(views, _columns(prediction_rows, len(views)), strict=True))
    search = _Search(kinds, gold_numbers, view_numbers, budget)
    narrowed = search.narrowed(candidates, gold_counts, prediction_counts)
    return None if narrowed is None else search.run(narrowed, gold_counts, prediction_counts)


@dataclass(frozen=True)
class _Class:
    """Gold columns that no evidence tells apart yet, and the prediction columns that may be theirs, both ascending."""

    gold: tuple[int, ...]
    prediction: tuple[int, ...]

    @property
    def settled(self) -> bool:
        return len(self.gold) == len(self.prediction)


@dataclass(frozen=True)
class _State:
    """One node of the search: the classes, and the row colours that the classes in `coloured` have produced."""

    classes: tuple[_Class, ...]
    coloured: frozenset[_Class]
    gold_colours: Sequence[int]
    prediction_colours: Sequence[int]


class _Numbering(dict[Hashable, int]):
    """Numbers keys from 0 in the order in which they are first looked up."""

    def __missing__(self, key: Hashable) -> int:
        number = self[key] = len(self)
        return number


class _Search:
    """Depth-first search over column classes for unordered rows, refined at every node.

    A prediction column that is a candidate under two kinds belongs to two classes at once. A class is *settled* once
    its prediction columns are its own and as many as its gold columns; only settled classes colour the rows, because
    colouring by a column that may yet turn out to be another's could tell equal tables apart.

    `gold[i]` is a column of numbers of kind `kinds[i]`, `views[kind, j]` a prediction column as that kind reads it.
    """

    def __init__(
        self,
        kinds: Sequence[int],
        gold: Sequence[Sequence[int]],
        views: Mapping[tuple[int, int], Sequence[int]],
        budget: int,
        use_symmetry: bool = True,
    ) -> None:
        self.budget = budget
        self.use_symmetry = use_symmetry
        self._kinds = kinds
        self._gold = gold
        self._views = views
        self._row_count = len(gold[0])
        self._pair_base = 1 + max(max(column, default=0) for column in (*gold, *views.values()))

    def narrowed(
        self, candidates: Sequence[Sequence[int]], gold_colours: Sequence[int], prediction_colours: Sequence[int]
    ) -> Sequence[Sequence[int]] | None:
        """Return the candidates that are left when columns are compared as far as all kinds agree, None if none can be.

        As far as they agree there is one kind and one class, which colours rows from the start.
        """
        if len(set(self._kinds)) == 1:
            return candidates
        gold, prediction = common_values(self._gold, self._kinds, self._views)
        places = range(len(gold))
        views = {(0, j): column for j, column in enumerate(prediction)}
        search = _Search([0] * len(gold), gold, views, self.budget)
        everything = _Class(tuple(places), tuple(places))
        try:
            state = search._refine(_State((everything,), frozenset(), gold_colours, prediction_colours))
        finally:
            self.budget = search.budget
        if state is None:
            return None
        homes = {j: group.gold for group in state.classes for j in group.prediction}
        return [[j for j in choices if i in homes[j]] for i, choices in enumerate(candidates)]

    def run(
        self, candidates: Sequence[Sequence[int]], gold_colours: Sequence[int], prediction_colours: Sequence[int]
    ) -> tuple[int, ...] | None:
        """Return the smallest mapping that sends each gold column to one of its candidates, or None.

        It sends rows to rows of the same colour.
        """
        if sorted(gold_colours) != sorted(prediction_colours):
            return None
        groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for i, (kind, choices) in enumerate(zip(self._kinds, candidates, strict=True)):
            groups.setdefault((kind, tuple(choices)), []).append(i)
        classes = tuple(_Class(tuple(group), choices) for (_, choices), group in groups.items())
        return self._solve(_State(classes, frozenset(), gold_colours, prediction_colours))

    def _solve(self, state: _State) -> tuple[int, ...] | None:
        refined = self._refine(state)
        if refined is None:
            return None
        undecided = [group for group in refined.classes if not self._decided(group)]
        if not undecided:
            pairs = (pair for group in refined.classes for pair in zip(group.gold, group.prediction, strict=True))
            return tuple(j for _, j in sorted(pairs))
        group = min(undecided, key=lambda undecided_class: undecided_class.gold)
        failures = _Failures(self, refined)
        for j in group.prediction:
            if failures.imply(j):
                continue
            before = self.budget
            mapping = self._solve(_individualise(refined, group.gold[0], j))
            if mapping is not None:
                return mapping
            failures.add(j, before - self.budget)
        return None

    def automorphism(self, state: _State, j: int, image: int, budget: int) -> tuple[int, ...] | None:
        """Return a permutation of the prediction columns that keeps the table and `state` and sends j to `image`.

        None when there is none or finding out takes more than `budget`.
        """
        groups: dict[tuple[int, ...], list[int]] = {}
        for column in range(len(self._gold)):
            member_of = tuple(place for place, group in enumerate(state.classes) if column in group.prediction)
            groups.setdefault(member_of, []).append(column)
        mirrored = _State(
            tuple(_Class(tuple(group), tuple(group)) for group in groups.values()),
            frozenset(),
            state.prediction_colours,
            state.prediction_colours,
        )
        columns = self._columns_under_all_kinds
        views = {(0, column): numbers for column, numbers in enumerate(columns)}
        search = _Search([0] * len(columns), columns, views, budget, use_symmetry=False)
        try:
            return search._solve(_individualise(mirrored, j, image))
        except MappingBudgetError:
            return None
        finally:
            self.budget -= budget - search.budget

    @cached_property
    def _columns_under_all_kinds(self) -> list[list[int]]:
        """Per prediction column, a number per row for its value under every kind that has it as a candidate."""
        numbers = _Numbering()
        columns = []
        for j in range(len(self._gold)):
            kinds = [kind for kind, column in self._views if column == j]
            rows = zip(*(self._views[kind, j] for kind in kinds), strict=True)
            columns.append([numbers[tuple(kinds), values] for values in rows])
        return columns

    def _refine(self, state: _State) -> _State | None:
        """Split classes and colour rows in turn until nothing changes; None once the tables are told apart."""
        while True:
            # Keeping the classes costs time too; uncharged, a table of few rows could buy rounds without end.
            self._spend(len(self._gold) ** 2)
            classes = _settle(state.classes)
            if classes is None:
                return None
            fresh = [group for group in classes if group.settled and group not in state.coloured]
            if not fresh:
                return _State(classes, state.coloured, state.gold_colours, state.prediction_colours)
            colours = self._recolour(state, fresh)
            if colours is None:
                return None
            split = tuple(part for group in classes for part in self._split(group, *colours))
            state = _State(split, state.coloured | set(fresh), *colours)

    def _recolour(self, state: _State, fresh: Sequence[_Class]) -> tuple[list[int], list[int]] | None:
        """Return new row colours from the old ones and the rows' values in the fresh classes; None if they differ."""
        self._spend(2 * sum(len(group.gold) for group in fresh) * self._row_count)
        gold_parts = [_row_values([self._gold[i] for i in group.gold]) for group in fresh]
        prediction_parts = [
            _row_values([self._views[self._kinds[group.gold[0]], j] for j in group.prediction]) for group in fresh
        ]
        numbering = _Numbering()
        gold_colours = list(map(numbering.__getitem__, zip(state.gold_colours, *gold_parts, strict=True)))
        gold_numbers = len(numbering)
        prediction_colours = list(
            map(numbering.__getitem__, zip(state.prediction_colours, *prediction_parts, strict=True))
        )
        if len(numbering) != gold_numbers or sorted(gold_colours) != sorted(prediction_colours):
            return None
        return gold_colours, prediction_colours

    def _split(self, group: _Class, gold_colours: Sequence[int], prediction_colours: Sequence[int]) -> list[_Class]:
        """Return the parts of a class whose columns have equal values in rows of equal colour."""
        if len(group.gold) == 1 and group.settled:
            return [group]
        kind = self._kinds[group.gold[0]]
        parts: dict[bytes, tuple[list[int], list[int]]] = {}
        self._spend((len(group.gold) + len(group.prediction)) * self._row_count)
        for i in group.gold:
            parts.setdefault(self._signature(gold_colours, self._gold[i]), ([], []))[0].append(i)
        for j in group.prediction:
            signature = self._signature(prediction_colours, self._views[kind, j])
            if signature in parts:
                parts[signature][1].append(j)
        return [_Class(tuple(gold), tuple(prediction)) for gold, prediction in parts.values()]

    def _signature(self, colours: Sequence[int], column: Sequence[int]) -> bytes:
        """Return the column's multiset of (row colour, value), as compactly as a large table needs it."""
        base = self._pair_base
        return array(
            "q", sorted([colour * base + value for colour, value in zip(colours, column, strict=True)])
        ).tobytes()

    def _decided(self, group: _Class) -> bool:
        """Return whether any assignment within the class is as good as the ascending one."""
        if not group.settled:
            return False
        if len(group.gold) == 1:
            return True
        # Identical gold columns are free to swap. The class has coloured the rows, so those of the prediction are too.
        self._spend(len(group.gold) * self._row_count)
        first = self._gold[group.gold[0]]
        return all(self._gold[i] == first for i in group.gold)

    def _spend(self, cells: int) -> None:
        self.budget -= cells
        if self.budget < 0:
            raise MappingBudgetError("the column-mapping search met its work budget")


class _Failures:
    """The candidates of one node that have failed, and which others must fail with them.

    A symmetry of the prediction table that keeps everything decided so far turns a mapping through one column into a
    mapping through its image; so where a column has failed, so does every image of it. Looking for symmetries may cost
    as much as the failures have cost, so it at most doubles the work, and on symmetric tables saves most of it.
    """

    def __init__(self, search: _Search, state: _State) -> None:
        self._search = search
        self._state = state
        self._failed: list[int] = []
        self._allowance = 0
        # Columns that known symmetries send to each other have equal labels.
        self._orbits = {j: j for group in state.classes for j in group.prediction}

    def add(self, j: int, cost: int) -> None:
        self._failed.append(j)
        self._allowance += cost

    def imply(self, j: int) -> bool:
        """Return whether column j is known to fail."""
        if any(self._orbits[j] == self._orbits[other] for other in self._failed):
            return True
        return any(self._carries(other, j) for other in self._failed)

    def _carries(self, failed: int, j: int) -> bool:
        """Return whether a symmetry is found that sends a failed column to column j; remember all that it sends."""
        if not self._search.use_symmetry or self._allowance <= 0:
            return False
        before = self._search.budget
        permutation = self._search.automorphism(self._state, failed, j, min(self._allowance, before))
        self._allowance -= before - self._search.budget
        for column, image in enumerate(permutation or ()):
            joined, kept = self._orbits[column], self._orbits[image]
            self._orbits = {key: kept if label == joined else label for key, label in self._orbits.items()}
        return permutation is not None


def _settle(classes: Sequence[_Class]) -> tuple[_Class, ...] | None:
    """Give each class that needs all its prediction columns the sole claim to them; None if there are too few."""
    remaining = list(classes)
    claimed: dict[int, int] = {}
    changed = True
    while changed:
        changed = False
        for position, group in enumerate(remaining):
            free = tuple(j for j in group.prediction if claimed.get(j, position) == position)
            if len(free) < len(group.gold):
                return None
            if len(free) == len(group.gold) and claimed.get(free[0]) != position:
                claimed.update(dict.fromkeys(free, position))
                changed = True
            if free != group.prediction:
                remaining[position] = _Class(group.gold, free)
                changed = True
    candidates = [group.prediction for group in remaining if not group.settled for _ in group.gold]
    return tuple(remaining) if is_matchable(candidates) else None


def _individualise(state: _State, i: int, j: int) -> _State:
    """Return the state in which gold column i is mapped to prediction column j."""
    classes = [_Class((i,), (j,))]
    for group in state.classes:
        gold = tuple(column for column in group.gold if column != i)
        if gold:
            classes.append(_Class(gold, tuple(candidate for candidate in group.prediction if candidate != j)))
    return _State(tuple(classes), state.coloured, state.gold_colours, state.prediction_colours)


def _columns(rows: Iterable[tuple[int, ...]], width: int) -> Sequence[Sequence[int]]:
    return list(zip(*rows, strict=True)) or [()] * width


def _row_values(columns: Sequence[Sequence[int]]) -> Iterable[Hashable]:
    """Return per row its value in the one column, or its multiset of values in several."""
    return columns[0] if len(columns) == 1 else map(tuple, map(sorted, zip(*columns, strict=True)))
