"""Columns that several kinds of rule read: which kinds are one, and what all of them agree on.

A *view* of a prediction column is its values as one kind reads it, keyed by kind and column; gold columns have one kind
each. Values are hashable, and those of different kinds have nothing to do with each other, even where they are equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import chain, combinations, pairwise

Column = Sequence[Hashable]


def merge_kinds(
    gold: Sequence[Column], kinds: Sequence[int], views: Mapping[tuple[int, int], Column]
) -> tuple[list[Column], list[int], dict[tuple[int, int], Column]]:
    """Return the same problem with fewer kinds: two that read the columns they share alike become one.

    They read alike when a one-to-one renaming of values turns the views under one into the views under the other. Flags
    that a rule for Booleans reads, and one for integers too, are the common case; as two kinds they are hard to search.
    """
    gold, kinds, views = list(gold), list(kinds), dict(views)
    columns = {kind: {j for kind_of_view, j in views if kind_of_view == kind} for kind in sorted(set(kinds))}
    for kind, other in combinations(list(columns), 2):
        shared = columns.get(kind, set()) & columns.get(other, set())
        pairs = set(chain.from_iterable(zip(views[other, j], views[kind, j], strict=True) for j in shared))
        names = dict(pairs)
        if not shared or not len(pairs) == len(names) == len(set(names.values())):
            continue
        for i, kind_of_column in enumerate(kinds):
            if kind_of_column == other:
                gold[i], kinds[i] = _renamed(gold[i], names, other), kind
        for j in columns.pop(other):
            view = _renamed(views.pop((other, j)), names, other)
            views.setdefault((kind, j), view)
            columns[kind].add(j)
    return gold, kinds, views


def _renamed(column: Column, names: Mapping[Hashable, Hashable], kind: int) -> Column:
    """Return a column of the kind with its values renamed; one without a name becomes a value of no other kind."""
    return [names.get(value, (kind, value)) for value in column]


def common_values(
    gold: Sequence[Sequence[int]], kinds: Sequence[int], views: Mapping[tuple[int, int], Sequence[int]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return gold and prediction columns with numbers that stand for all values that some kind takes for one.

    Where a gold column equals a prediction column under its kind, the two are equal in these numbers, too: two values
    have the same number when a chain of cells leads from one to the other, each cell read as the next value by another
    kind. Every prediction column has a view.
    """
    groups = _Groups()
    columns: dict[int, list[int]] = {}
    for kind, j in views:
        columns.setdefault(j, []).append(kind)
    for j, kinds_of_column in columns.items():
        for cell in set(zip(*(views[kind, j] for kind in kinds_of_column), strict=True)):
            for one, other in pairwise(zip(kinds_of_column, cell, strict=True)):
                groups.join(one, other)
    prediction = [groups.numbered(columns[j][0], views[columns[j][0], j]) for j in sorted(columns)]
    return list(map(groups.numbered, kinds, gold)), prediction


class _Groups:
    """Disjoint sets of values, each a kind and a number."""

    def __init__(self) -> None:
        self._above: dict[tuple[int, int], tuple[int, int]] = {}
        self._numbers: dict[tuple[int, int], int] = {}

    def _top(self, value: tuple[int, int]) -> tuple[int, int]:
        path = []
        while (above := self._above.get(value, value)) != value:
            path.append(value)
            value = above
        # Whoever comes here again takes the short way.
        self._above.update(dict.fromkeys(path, value))
        return value

    def join(self, one: tuple[int, int], other: tuple[int, int]) -> None:
        top = self._top(one)
        if top != (bottom := self._top(other)):
            self._above[bottom] = top

    def numbered(self, kind: int, column: Sequence[int]) -> list[int]:
        """Return a column of the kind with the numbers of the sets that its values are in."""
        numbers = {
            value: self._numbers.setdefault(self._top((kind, value)), len(self._numbers)) for value in set(column)
        }
        return list(map(numbers.__getitem__, column))
