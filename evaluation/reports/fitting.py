"""Reports of bounded size: what is dropped first, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Piece(NamedTuple):
    """A part of a report, and what kind of part it is."""

    kind: str
    text: str


def fitted(
    pieces: Sequence[Piece],
    kinds: Mapping[str, str],
    limit: int,
    note: Callable[[str], str],
    size: Callable[[str], int] = len,
) -> str:
    """Return the pieces in their order, as many as `limit` allows, and a note on those that were dropped.

    `kinds` names the kinds, the most important first, each with what its pieces are called in the note. Pieces of a
    less important kind are dropped before those of any other, and of one kind the last are dropped first; those of the
    first kind are always kept. The note, made of a list such as "3 of 7 row tables", is within the limit, too. `size`
    is that of a text in the limit's unit.
    """
    total = sum(size(piece.text) for piece in pieces)
    if total <= limit:
        return "".join(piece.text for piece in pieces)
    first, *others = kinds
    totals = {kind: sum(piece.kind == kind for piece in pieces) for kind in others}
    # No note is longer than that on everything.
    left = limit - size(note(_listed(totals, totals, kinds)))
    kept = {place for place, piece in enumerate(pieces) if piece.kind == first}
    left -= sum(size(pieces[place].text) for place in kept)
    for place in (place for kind in others for place, piece in enumerate(pieces) if piece.kind == kind):
        left -= size(pieces[place].text)
        if left < 0:
            break
        kept.add(place)
    dropped = dict.fromkeys(others, 0)
    for place, piece in enumerate(pieces):
        if place not in kept:
            dropped[piece.kind] += 1
    text = "".join(piece.text for place, piece in enumerate(pieces) if place in kept)
    return text + note(_listed(dropped, totals, kinds))


def _listed(counts: Mapping[str, int], totals: Mapping[str, int], names: Mapping[str, str]) -> str:
    return ", ".join(f"{count} of {totals[kind]} {names[kind]}" for kind, count in counts.items() if count)
