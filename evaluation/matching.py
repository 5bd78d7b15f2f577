"""Bipartite matching: one distinct candidate for every position, or the assignment of greatest weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def is_matchable(candidates: Sequence[Sequence[int]]) -> bool:
    """Return whether every position can have one of its candidates for itself. O(n * edges) for n positions."""
    return _any_matching(candidates) is not None


def perfect_matching(candidates: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """Return the lexicographically smallest choice of one distinct candidate per position, or None if there is none.

    `candidates` are ascending. Takes any matching, then lowers each position in turn as far as the later ones allow:
    O(n^2 * edges) for n positions.
    """
    owner = _any_matching(candidates)
    if owner is None:
        return None
    for position, choices in enumerate(candidates):
        current = next(choice for choice in choices if owner.get(choice) == position)
        for choice in choices:
            if choice == current:
                break
            # Positions before this one keep their choice, so their choices count as visited.
            settled = {taken for taken, who in owner.items() if who < position}
            if choice in settled:
                continue
            trial = {taken: who for taken, who in owner.items() if taken not in (choice, current)}
            trial[choice] = position
            if choice not in owner or _augment(owner[choice], candidates, trial, settled | {choice}):
                owner = trial
                break
    return tuple(sorted(owner, key=owner.__getitem__))


def heaviest_matching(weights: Sequence[Sequence[int]]) -> tuple[int | None, ...]:
    """Return the column assigned to each row, one to one, so that the sum of `weights[row][column]` is greatest.

    `weights` has r >= 1 rows of c >= 1 weights. All of the smaller side is assigned; where there are more rows than
    columns, the rows left over get None. Of the heaviest assignments it is the lexicographically smallest, None taken
    as greater than any column. O(n^2 * edges) for n = max(r, c) and as many edges as heaviest assignments share.
    """
    width = len(weights[0])
    size = max(len(weights), width)
    padded = [[*row, *[0] * (size - width)] for row in weights] + [[0] * size] * (size - len(weights))
    row_prices, column_prices = _dual_prices(padded)
    # The heaviest assignments are exactly the perfect matchings of the edges whose weight is their price.
    tight = [
        [j for j, weight in enumerate(row) if weight == row_price + column_prices[j]]
        for row, row_price in zip(padded, row_prices, strict=True)
    ]
    matching = perfect_matching(tight)
    assert matching is not None, "optimal prices leave a perfect matching"
    return tuple(j if j < width else None for j in matching[: len(weights)])


def _dual_prices(weights: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return prices per row and column of a square matrix whose sums cover every weight at the least total.

    The Hungarian method with one shortest augmenting path per row (H. W. Kuhn, 1955; J. Munkres, 1957).
    """
    size = len(weights)
    row_prices = [max(row) for row in weights]
    column_prices = [0] * size
    owner: dict[int, int] = {}
    for start in range(size):
        # Grow a tree of tight edges from the unassigned row until it reaches a free column.
        slack: dict[int, int] = {}
        reached_from: dict[int, int] = {}
        tree_rows = [start]
        tree_columns: set[int] = set()
        row = start
        while True:
            for j in range(size):
                if j in tree_columns:
                    continue
                gap = row_prices[row] + column_prices[j] - weights[row][j]
                if j not in slack or gap < slack[j]:
                    slack[j], reached_from[j] = gap, row
            column = min(slack, key=slack.__getitem__)
            step = slack.pop(column)
            for i in tree_rows:
                row_prices[i] -= step
            for j in tree_columns:
                column_prices[j] += step
            slack = {j: gap - step for j, gap in slack.items()}
            tree_columns.add(column)
            if column not in owner:
                break
            row = owner[column]
            tree_rows.append(row)
        _reassign(owner, reached_from, column)
    return row_prices, column_prices


def _reassign(owner: dict[int, int], reached_from: Mapping[int, int], column: int) -> None:
    """Give a free column to the row it was reached from, that row's column to the row before, up to the tree's root."""
    columns = {row: taken for taken, row in owner.items()}
    free: int | None = column
    while free is not None:
        row = owner[free] = reached_from[free]
        free = columns.get(row)


def _any_matching(candidates: Sequence[Sequence[int]]) -> dict[int, int] | None:
    """Return which position owns each taken candidate, found by augmenting paths (H. W. Kuhn, 1955)."""
    owner: dict[int, int] = {}
    for position in range(len(candidates)):
        if not _augment(position, candidates, owner, set()):
            return None
    return owner


def _augment(position: int, candidates: Sequence[Sequence[int]], owner: dict[int, int], visited: set[int]) -> bool:
    """Give `position` a candidate, moving earlier owners along a path that avoids `visited` if need be."""
    for choice in candidates[position]:
        if choice in visited:
            continue
        visited.add(choice)
        if choice not in owner or _augment(owner[choice], candidates, owner, visited):
            owner[choice] = position
            return True
    return False
