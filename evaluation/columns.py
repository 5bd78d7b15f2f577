"""Columns of texts that rules can read: which columns of two tables hold the same values.

Gold columns have a *kind* each, the place of the rule that reads them among the distinct rules; a prediction column can
be read under every kind. Columns are compared by a *signature* of their texts or values. That of rows in order is
exact. That of rows in any order is the sum of the hashes: equal multisets have equal sums, and sums that are equal by
chance cost time but decide nothing, because whole rows are compared afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import replace
from operator import mul
from typing import TypeVar

from .cells import NumberRule, Rule, can_read, canonical_column
from .errors import CellError

Values = list["str | None"]

# So many cells tell most columns apart.
_SAMPLED_ROWS = 16
_COUNTED_ROWS = 500

_Found = TypeVar("_Found")


class TypedColumns:
    """The columns of one table, as texts and as the rules of the kinds read them; `ordered` says whether rows are.

    What is asked for is found once, and nothing before.
    """

    def __init__(self, texts: Sequence[Sequence[str]], rules: Sequence[Rule], *, ordered: bool) -> None:
        self.texts = texts
        self.rules = rules
        self.ordered = ordered
        # Rules that read the same texts need to try them once.
        readers = list(map(_reader, rules))
        self._readers = list(map(readers.index, readers))
        self._numbers: dict[tuple[Hashable, ...], int] = {}
        self._found: dict[tuple[object, ...], object] = {}

    def beside(self, texts: Sequence[Sequence[str]]) -> TypedColumns:
        """Return the columns of another table, whose signatures can be compared with those of this one."""
        other = TypedColumns(texts, self.rules, ordered=self.ordered)
        other._numbers = self._numbers
        return other

    def is_readable(self, kind: int, column: int) -> bool:
        """Return whether every cell can be read under the kind."""
        return self._once(
            ("readable", self._readers[kind], column),
            lambda: not self._is_refused(kind, column) and can_read(self.rules[kind], self._some_texts(column)),
        )

    def _is_refused(self, kind: int, column: int) -> bool:
        """Return whether a rule of the kind's class was found to refuse the column, as all of that class then do."""
        return bool(self._found.get(("refused", type(self.rules[kind]), column)))

    def _some_texts(self, column: int) -> Collection[str]:
        """Return the distinct texts where they are known, else all: not worth finding out for one look at them."""
        counts = self._found.get(("counts", column))
        return counts if isinstance(counts, Counter) else self.texts[column]

    def distinct_texts(self, column: int) -> Collection[str]:
        """Return the texts, each once where that is much shorter."""
        counts = self._counts(column)
        return self.texts[column] if counts is None else counts.keys()

    def _counts(self, column: int) -> Counter[str] | None:
        """Return how often each text occurs; None where most occur once, and counting them would not pay."""

        def count() -> Counter[str] | None:
            texts = self.texts[column]
            # The first rows tell most columns without repetitions, and so few are no reason to count.
            if len(texts) < _COUNTED_ROWS or len(set(texts[:_COUNTED_ROWS])) * 10 > _COUNTED_ROWS * 9:
                return None
            counts = Counter(texts)
            return counts if len(counts) * 2 <= len(texts) else None

        return self._once(("counts", column), count)

    def values(self, kind: int, column: int) -> Values | None:
        """Return the canonical values under the kind, row by row; None where a cell cannot be read."""

        def read() -> Values | None:
            if self._is_refused(kind, column):
                return None
            rule = self.rules[kind]
            values = try_column(rule, self.texts[column])
            if values is None and rule.reads_all(self._some_texts(column)) is False:
                self._found["refused", type(rule), column] = True
            return values

        return self._once(("values", kind, column), read)

    def forget(self, kind: int, column: int) -> None:
        """Give up the values of a column that was read for nothing."""
        self._found.pop(("values", kind, column), None)

    def sample(self, kind: int, column: int) -> Values | None:
        """Return the values of the first rows; None where one of the cells cannot be read."""
        return self._once(
            ("sample", kind, column), lambda: try_column(self.rules[kind], self.texts[column][:_SAMPLED_ROWS])
        )

    def rough_sum(self, kind: int, column: int) -> tuple[float, float] | None:
        """Return about the sum of the column as numbers, and how far off it may be; None where there is no such sum."""
        return self._once(("rough sum", kind, column), lambda: self.rules[kind].rough_sum(self.texts[column]))

    def may_equal(self, column: int, kind: int, other: TypedColumns, other_column: int) -> bool:
        """Return whether another table's column may have the same values; False only where it has not.

        Before columns are read as a whole, their first cells or their sums may tell them apart.
        """
        sample = other.sample(kind, other_column)
        if sample is None:
            return False
        if self.ordered:
            return self.sample(kind, column) == sample
        if self._counts(column) is not None and other._counts(other_column) is not None:
            # Signatures are found as quickly as anything less.
            return True
        ours, theirs = self.rough_sum(kind, column), other.rough_sum(kind, other_column)
        if ours is not None and theirs is not None:
            return abs(ours[0] - theirs[0]) <= ours[1] + theirs[1]
        values = self._once(("value set", kind, column), lambda: frozenset(self.values(kind, column) or ()))
        return values.issuperset(sample)

    def text_signature(self, column: int) -> int:
        """Return the signature of the texts."""
        return self._once(("text signature", column), lambda: self._signature(self.texts[column]))

    def value_signature(self, kind: int, column: int) -> int | None:
        """Return the signature of the canonical values under the kind, None where a cell cannot be read."""

        def sign() -> int | None:
            counts = None if self.ordered else self._counts(column)
            if counts is not None:
                # The same sum, with one term for all the cells that share a text.
                values = try_column(self.rules[kind], list(counts))
                return None if values is None else sum(map(mul, map(hash, values), counts.values()))
            values = self.values(kind, column)
            return None if values is None else self._signature(values)

        return self._once(("value signature", kind, column), sign)

    def _signature(self, values: Sequence[Hashable]) -> int:
        if self.ordered:
            return self._numbers.setdefault(tuple(values), len(self._numbers))
        return sum(map(hash, values))

    def _once(self, key: tuple[object, ...], find: Callable[[], _Found]) -> _Found:
        if key not in self._found:
            self._found[key] = find()
        return self._found[key]  # type: ignore[return-value]


def matching_columns(gold: TypedColumns, kinds: Sequence[int], prediction: TypedColumns) -> list[list[int]]:
    """Return per gold column the prediction columns, ascending, that have its signature when read under its kind.

    Both tables have n columns of equal length, gold column i is readable under `kinds[i]`, and `prediction` is beside
    `gold`.
    """
    matches: list[list[int]] = [[] for _ in kinds]
    for kind in range(len(gold.rules)):
        places = [i for i, kind_of_column in enumerate(kinds) if kind_of_column == kind]
        for j in range(len(kinds)):
            for i in _same_columns(gold, places, kind, prediction, j):
                matches[i].append(j)
    return matches


def _reader(rule: Rule) -> Rule:
    """Return a rule that reads the same texts: how many digits of a number count is no part of that."""
    if isinstance(rule, NumberRule) and rule.mode != "integer":
        return replace(rule, mode="decimal_places", digits=0)
    return rule


def try_column(rule: Rule, texts: Sequence[str]) -> Values | None:
    """Return the canonical values of a column, None where a cell cannot be read."""
    try:
        return canonical_column(rule, texts)
    except CellError:
        return None


def _same_columns(gold: TypedColumns, places: Sequence[int], kind: int, prediction: TypedColumns, j: int) -> list[int]:
    """Return those of the gold columns at `places`, all of the kind, that prediction column j has the signature of."""
    # Equal texts are equal under any rule that can read them.
    same = [i for i in places if gold.text_signature(i) == prediction.text_signature(j)]
    rest = [i for i in places if i not in same and gold.may_equal(i, kind, prediction, j)]
    if rest:
        signature = prediction.value_signature(kind, j)
        same += [i for i in rest if gold.value_signature(kind, i) == signature]
        if not same:
            prediction.forget(kind, j)
    return same
