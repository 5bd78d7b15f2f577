"""What gold's rules make of texts that they may refuse: each text read once."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from itertools import compress
from operator import eq, ne
from typing import NamedTuple

from .cells import Rule, canonical_column
from .errors import CellError


class GoldColumn(NamedTuple):
    """A gold column: its name, its type, its rule, and its cells, all of which the rule can read."""

    name: str
    type: str
    rule: Rule
    texts: Sequence[str]


class Refusal(NamedTuple):
    """What a rule makes of a text that it cannot read: equal to no value, and to no other text."""

    text: str
    reason: str


class Readings(dict[str, object]):
    """What a rule makes of texts, each read once: its canonical value, or a `Refusal`."""

    def __init__(self, rule: Rule) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, text: str) -> object:
        try:
            reading: object = self._rule.canonical(text)
        except CellError as error:
            reading = Refusal(text, str(error))
        self[text] = reading
        return reading

    def of(self, texts: Sequence[str]) -> list[object]:
        """Return the readings of the texts, in their order."""
        if len(texts) > len(self):
            # All at once takes less, as long as none is refused.
            with contextlib.suppress(CellError):
                values: list[object] = [*canonical_column(self._rule, texts)]
                self.update(zip(texts, values, strict=True))
                return values
        return list(map(self.__getitem__, texts))

    def counted(self, texts: Counter[str]) -> Counter[object]:
        """Return how often each reading occurs where each text occurs so often."""
        values: Counter[object] = Counter()
        for value, count in zip(self.of(list(texts)), texts.values(), strict=True):
            values[value] += count
        return values


class TextCounts:
    """How often each text occurs in columns, each counted once."""

    def __init__(self) -> None:
        # The column is kept with its counts: nothing else may get its id.
        self._found: dict[int, tuple[Sequence[str], Counter[str]]] = {}

    def of(self, texts: Sequence[str]) -> Counter[str]:
        if id(texts) not in self._found:
            self._found[id(texts)] = texts, Counter(texts)
        return self._found[id(texts)][1]


class SharedCounts(NamedTuple):
    """The size of the intersection of two multisets, and what each has more than the other."""

    common: int
    rest: Counter[str]
    other_rest: Counter[str]


def shared_counts(counts: Counter[str], others: Counter[str]) -> SharedCounts:
    """Return what two multisets share and what not; most elements are looked at in C only."""
    common = list(counts.keys() & others.keys())
    ours, theirs = list(map(counts.__getitem__, common)), list(map(others.__getitem__, common))
    unequal = list(compress(zip(common, ours, theirs, strict=True), map(ne, ours, theirs)))
    rest = {text: counts[text] for text in counts.keys() - others.keys()}
    other_rest = {text: others[text] for text in others.keys() - counts.keys()}
    rest.update((text, one - other) for text, one, other in unequal if one > other)
    other_rest.update((text, other - one) for text, one, other in unequal if one < other)
    return SharedCounts(sum(map(min, ours, theirs)), Counter(rest), Counter(other_rest))


def common_count(counts: Counter[object], others: Counter[object]) -> int:
    """Return the size of the intersection of two multisets."""
    # As `(counts & others).total()`, which takes a step of Python code per element.
    common = list(counts.keys() & others.keys())
    return sum(map(min, map(counts.__getitem__, common), map(others.__getitem__, common)))


def positions_alike(values: Sequence[object], others: Sequence[object]) -> int:
    """Return at how many positions two sequences are equal, as far as both go."""
    return sum(map(eq, values, others))
