"""Bipartite perfect matching: one distinct candidate for every position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def perfect_matching(candidates: Sequence[Iterable[int]]) -> tuple[int, ...] | None:
    """Return the lexicographically smallest choice of one distinct candidate per position, or None if there is none.

    Builds some perfect matching by augmenting paths (H. W. Kuhn, 1955), then lowers each position in turn as far as the
    later ones allow: O(n * edges), then O(n^2 * edges), for n positions.
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
