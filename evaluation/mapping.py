"""The one-to-one column mapping between two tables: a pure algorithm on columns of hashable values.

Gold columns have a *kind* each (which rule reads them); a prediction column has one *view* per kind: its values as read
under that rule, or None where it is unreadable. A mapping sends gold column i to prediction column m[i], read under
the kind of i. The answer is always the lexicographically smallest mapping.

Ordered rows make columns independent of each other, so the answer is a bipartite perfect matching. Unordered rows make
the question as hard as graph isomorphism: `_Search` decides it by colour refinement with individualisation, as graph
canonisers do (B. D. McKay, "Practical graph isomorphism", 1981); its work is counted in cells visited and bounded by
a budget.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .errors import MappingBudgetError

Column = Sequence[Hashable]

# About half a minute of work: well above what tables without deliberate symmetry need, and above many of the hardest
# 64-column tables known (pairs of Latin-square graphs).
DEFAULT_BUDGET = 300_000_000


def perfect_matching(candidates: Sequence[Iterable[int]]) -> tuple[int, ...] | None:
    """Return the lexicographically smallest choice of one distinct candidate per position, or None if there is none.

    Builds any perfect matching by augmenting paths, then lowers each position in turn as far as the rest allows.
    O(n * edges) for the first, O(n^2 * edges) for the second.
    """
    options = [sorted(candidate) for candidate in candidates]
    owner: dict[int, int] = {}
    for position in range(len(options)):
        if not _augment(position, options, owner, set()):
            return None
    for position, choices in enumerate(options):
        current = next(choice for choice in choices if owner.get(choice) == position)
        for choice in choices:
            if choice == current:
                break
            # Positions before this one keep their choice, so their owners count as visited.
            settled = {taken for taken, who in owner.items() if who < position}
            if choice in settled:
                continue
            trial = {taken: who for taken, who in owner.items() if taken not in (choice, current)}
            trial[choice] = position
            if choice not in owner or _augment(owner[choice], options, trial, settled | {choice}):
                owner = trial
                break
    return tuple(sorted(owner, key=owner.__getitem__))


def _augment(position: int, options: Sequence[Sequence[int]], owner: dict[int, int], visited: set[int]) -> bool:
    """Give `position` a candidate, moving earlier owners along one path of `visited`-free candidates if need be."""
    for choice in options[position]:
        if choice in visited:
            continue
        visited.add(choice)
        if choice not in owner or _augment(owner[choice], options, owner, visited):
            owner[choice] = position
            return True
    return False


@dataclass(frozen=True)
class ColumnMatches:
    """What single columns say about a mapping: who can be read as what, and who holds the same values.

    `readable[i]` and `candidates[i]` are the prediction columns, ascending, that gold column i's rule can read, and
    those of them that hold the values of gold column i. Values are numbered: `gold[i]` is a column of numbers, as is
    `views[kind, j]` for every prediction column j that is a candidate under that kind.
    """

    kinds: Sequence[int]
    readable: Sequence[Sequence[int]]
    candidates: Sequence[Sequence[int]]
    gold: Sequence[Sequence[int]]
    views: Mapping[tuple[int, int], Sequence[int]]


def match_columns(
    gold: Sequence[Column], kinds: Sequence[int], views: Sequence[Iterable[Column | None]], *, ordered: bool
) -> ColumnMatches:
    """Compare every gold column with every prediction column on its own: as sequences when `ordered`, else multisets.

    `gold[i]` is a column of n hashable values and `kinds[i]` its kind; `views[kind]` yields, for each prediction column
    in turn, its n values as read under that kind, or None where it is unreadable. Each view is consumed once.
    """
    numbers = _Numbering()
    gold_numbers = [list(map(numbers.__getitem__, column)) for column in gold]
    gold_keys = gold_numbers if ordered else [sorted(column) for column in gold_numbers]
    readable: list[list[int]] = [[] for _ in views]
    candidates: list[list[int]] = [[] for _ in gold]
    kept: dict[tuple[int, int], list[int]] = {}
    for kind, view in enumerate(views):
        for j, column in enumerate(view):
            if column is None:
                continue
            readable[kind].append(j)
            column_numbers = [numbers.get(value, -1) for value in column]
            if -1 in column_numbers:
                continue
            key = column_numbers if ordered else sorted(column_numbers)
            for i, gold_key in enumerate(gold_keys):
                if kinds[i] == kind and gold_key == key:
                    candidates[i].append(j)
                    kept[kind, j] = column_numbers
    return ColumnMatches(kinds, [readable[kind] for kind in kinds], candidates, gold_numbers, kept)


def smallest_mapping(matches: ColumnMatches, *, ordered: bool, budget: int = DEFAULT_BUDGET) -> tuple[int, ...] | None:
    """Return the smallest mapping that makes the tables equal, as prediction index per gold column, or None.

    Rows are equal as sequences when `ordered`, else as multisets; `matches` must have been made with the same flag.
    Raises MappingBudgetError when deciding takes more than `budget` visited cells.
    """
    matching = perfect_matching(matches.candidates)
    if ordered or matching is None:
        return matching
    return _Search(matches, budget).run()


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
    """

    def __init__(self, matches: ColumnMatches, budget: int) -> None:
        self._budget = budget
        self._kinds = matches.kinds
        self._gold = matches.gold
        self._views = matches.views
        self._row_count = len(matches.gold[0])
        self._pair_base = 1 + max((max(column, default=0) for column in matches.gold), default=0)
        groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for i, (kind, choices) in enumerate(zip(matches.kinds, matches.candidates, strict=True)):
            groups.setdefault((kind, tuple(choices)), []).append(i)
        self._first_classes = tuple(_Class(tuple(group), choices) for (_, choices), group in groups.items())

    def run(self) -> tuple[int, ...] | None:
        colours = [0] * self._row_count
        return self._solve(_State(self._first_classes, frozenset(), colours, colours))

    def _solve(self, state: _State) -> tuple[int, ...] | None:
        refined = self._refine(state)
        if refined is None:
            return None
        undecided = [group for group in refined.classes if not self._decided(group)]
        if not undecided:
            pairs = (pair for group in refined.classes for pair in zip(group.gold, group.prediction, strict=True))
            return tuple(j for _, j in sorted(pairs))
        group = min(undecided, key=lambda undecided_class: undecided_class.gold)
        failed: list[int] = []
        for j in group.prediction:
            # A column equal to one that failed can be swapped with it, so it fails too.
            if any(self._interchangeable(j, other) for other in failed):
                continue
            mapping = self._solve(_individualise(refined, group, j))
            if mapping is not None:
                return mapping
            failed.append(j)
        return None

    def _refine(self, state: _State) -> _State | None:
        """Split classes and colour rows in turn until nothing changes; None once the tables are told apart."""
        while True:
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
        self._spend(2 * sum(len(group.gold) for group in fresh))
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
        self._spend(len(group.gold) + len(group.prediction))
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
        self._spend(2 * len(group.gold))
        first = self._gold[group.gold[0]]
        # The multisets are equal on both sides, but only identical columns on both are free to swap.
        kind = self._kinds[group.gold[0]]
        first_prediction = self._views[kind, group.prediction[0]]
        return all(self._gold[i] == first for i in group.gold) and all(
            self._views[kind, j] == first_prediction for j in group.prediction
        )

    def _interchangeable(self, j: int, other: int) -> bool:
        kinds = set(self._kinds)
        self._spend(len(kinds))
        return all(self._views.get((kind, j)) == self._views.get((kind, other)) for kind in kinds)

    def _spend(self, columns: int) -> None:
        self._budget -= columns * self._row_count
        if self._budget < 0:
            raise MappingBudgetError("the column-mapping search met its work budget")


def _settle(classes: Sequence[_Class]) -> tuple[_Class, ...] | None:
    """Give each class that needs all its prediction columns the sole claim to them; None once a class has too few."""
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
    return tuple(remaining)


def _individualise(state: _State, group: _Class, j: int) -> _State:
    """Return the state in which the first gold column of `group` is mapped to prediction column `j`."""
    classes = [_Class(group.gold[:1], (j,))]
    for other in state.classes:
        gold = other.gold[1:] if other is group else other.gold
        if gold:
            classes.append(_Class(gold, tuple(candidate for candidate in other.prediction if candidate != j)))
    return _State(tuple(classes), state.coloured, state.gold_colours, state.prediction_colours)


def _row_values(columns: Sequence[Sequence[int]]) -> Iterable[Hashable]:
    """Return per row its value in the one column, or its multiset of values in several."""
    return columns[0] if len(columns) == 1 else map(tuple, map(sorted, zip(*columns, strict=True)))
