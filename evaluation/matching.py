"""Bipartite perfect matching: one distinct candidate for every position."""

from __future__ import annotations

from collections.abc import Sequence


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
