"""What gold's rules make of texts that they may refuse: each text read once."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from itertools import compress
from operator import eq, gt, not_
from typing import NamedTuple, TypeVar

from .cells import Rule, canonical_column
from .errors import CellError
from .tables import Table

# Cells that differ as texts and are read to say how tables differ: where the verdict has read columns; where it has
# not, so many, and of large tables one in so many cells.
_MOST_TEXTS_READ = 400_000
_MOST_TEXTS_READ_BY_ITSELF = 50_000
_CELLS_PER_TEXT_READ = 10
# So few texts are read whatever is left to be read.
_FEW_TEXTS = 1_000

_Key = TypeVar("_Key", bound=object)


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


class ReadingBudget:
    """How many texts may still be read; `is_complete` says whether all that was asked for has been."""

    def __init__(self, texts: int) -> None:
        self.left = texts
        self.is_complete = True

    @classmethod
    def beside_verdict(cls, gold: Table, has_read: bool) -> ReadingBudget:
        """Return what may be read to say how a table differs from gold, where the verdict `has_read` both or not."""
        if has_read:
            return cls(_MOST_TEXTS_READ)
        cells = gold.row_count * gold.column_count
        return cls(max(_MOST_TEXTS_READ_BY_ITSELF, cells // _CELLS_PER_TEXT_READ))

    def may_read(self, count: int) -> bool:
        """Return whether so many texts may be read, and count them if so; a few always may."""
        if count > max(_FEW_TEXTS, self.left):
            self.is_complete = False
            return False
        self.left -= count
        return True


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
        if 2 * sum(map(self.__contains__, texts)) < len(texts):
            # All at once takes less, as long as none is refused.
            with contextlib.suppress(CellError):
                values: list[object] = [*canonical_column(self._rule, texts)]
                self.update(zip(texts, values, strict=True))
                return values
        return list(map(self.__getitem__, texts))

    def counted(self, texts: Counter[str]) -> Counter[object]:
        """Return how often each reading occurs where each text occurs so often."""
        readings = self.of(list(texts))
        if texts.total() == len(texts):
            return Counter(readings)
        values: Counter[object] = Counter()
        for value, count in zip(readings, texts.values(), strict=True):
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


def common_keys(counts: Counter[_Key], others: Counter[_Key]) -> list[_Key]:
    """Return the elements that two multisets have in common, each once."""
    return list(compress(counts, map(others.__contains__, counts)))


def shared_count(counts: Counter[_Key], others: Counter[_Key], common: Sequence[_Key]) -> int:
    """Return the size of the intersection of two multisets, which have these elements in common."""
    # As `(counts & others).total()`, which takes a step of Python code per element.
    return sum(map(min, map(counts.__getitem__, common), map(others.__getitem__, common)))


def surplus(counts: Counter[str], others: Counter[str], common: Sequence[str]) -> Counter[str]:
    """Return what a multiset has more than another, which has these elements in common with it."""
    new = compress(counts, map(not_, map(others.__contains__, counts)))
    rest = {text: counts[text] for text in new}
    if counts.total() > len(counts):
        ours, theirs = list(map(counts.__getitem__, common)), list(map(others.__getitem__, common))
        unequal = compress(zip(common, ours, theirs, strict=True), map(gt, ours, theirs))
        rest.update((text, one - other) for text, one, other in unequal)
    return Counter(rest)


def common_count(counts: Counter[object], others: Counter[object]) -> int:
    """Return the size of the intersection of two multisets."""
    return shared_count(counts, others, common_keys(counts, others))


def positions_alike(values: Sequence[object], others: Sequence[object]) -> int:
    """Return at how many positions two sequences are equal, as far as both go."""
    return sum(map(eq, values, others))
