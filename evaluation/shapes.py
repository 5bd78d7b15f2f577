"""What is known of values before there are any: their kinds, and those of what is in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_

from .answers import KINDS, LIST, NULL, NUMBER, OBJECT, TEXT, Value, kind_of

# What a chain begins with, and a text that the rule of date columns has read; both are told apart before a run only.
FILE, DATE = "file", "date"
# What can be put in order, and what has values in it.
ORDERED = frozenset({NUMBER, TEXT, DATE})
_NESTED = frozenset({LIST, OBJECT})


@dataclass(frozen=True)
class Shape:
    """What is known of a value before there is one: the kinds it may have, and the shape of a list's or object's parts.

    An element of None may be anything that JSON can spell; one without kinds is that of an empty list or object.
    """

    kinds: frozenset[str]
    element: Shape | None = None

    @classmethod
    def of(cls, *kinds: str, element: Shape | None = None) -> Shape:
        """Return the shape of values of these kinds."""
        return cls(frozenset(kinds), element)

    @property
    def part(self) -> Shape:
        return ANYTHING if self.element is None else self.element

    def __or__(self, other: Shape) -> Shape:
        nested = [shape for shape in (self, other) if shape.kinds & _NESTED]
        element = None
        if len(nested) == 1:
            element = nested[0].element
        elif len(nested) == 2 and self.element is not None and other.element is not None:
            element = self.element | other.element
        return Shape(self.kinds | other.kinds, element)

    def may_equal(self, other: Shape) -> bool:
        """Return whether some value of this shape is equal to one of the other."""
        common = self.kinds & other.kinds
        if not common <= _NESTED:
            return True
        is_empty = not (self.part.kinds and other.part.kinds)
        return bool(common) and (is_empty or self.part.may_equal(other.part))

    def __str__(self) -> str:
        return "any value" if self.kinds >= set(KINDS) else " or ".join(map(self._named, sorted(self.kinds)))

    def _named(self, kind: str) -> str:
        named = kind if kind == NULL else f"{'an' if kind == OBJECT else 'a'} {kind}"
        few = kind == LIST and self.element is not None and 0 < len(self.element.kinds) <= 2
        return f"{named} of {' and '.join(f'{part}s' for part in sorted(self.part.kinds))}" if few else named


ANYTHING = Shape.of(*KINDS)
EVERY_KIND = frozenset({*KINDS, DATE})


def shape_of(value: Value) -> Shape:
    """Return the shape of a value that is there."""
    if isinstance(value, (list, dict)):
        parts = value if isinstance(value, list) else value.values()
        return Shape.of(kind_of(value), element=reduce(or_, map(shape_of, parts), Shape(frozenset())))
    return Shape.of(kind_of(value))


def dated(shape: Shape) -> Shape:
    """Return the shape that a value has once its texts are dates."""
    kinds = frozenset(DATE if kind == TEXT else kind for kind in shape.kinds)
    return Shape(kinds, None if shape.element is None else dated(shape.element))
