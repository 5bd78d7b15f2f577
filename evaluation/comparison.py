"""Two tables of equal shape: the column mapping that makes them equal, found with as little reading as possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from .cells import Rule
from .columns import TypedColumns, Values, matching_columns, try_column
from .errors import CellError
from .matching import perfect_matching
from .tables import Table

# Where none of so many rows is a row of gold, hardly any is.
_SAMPLED_ROWS = 100


class Comparison(NamedTuple):
    """The smallest column mapping that makes the tables equal, or None.

    Where it is None, `matches[i]` are the prediction columns that hold the values of gold column i, as far as single
    columns tell.
    """

    mapping: tuple[int, ...] | None
    matches: Sequence[Sequence[int]] = ()


def compare_tables(
    gold: Table,
    gold_columns: TypedColumns,
    kinds: Sequence[int],
    prediction: Table,
    columns: TypedColumns,
    budget: int | None = None,
) -> Comparison:
    """Return how a prediction compares to gold, which has as many columns and rows.

    `columns` are the prediction's beside gold's, and gold column i is readable under `kinds[i]`. Raises
    MappingBudgetError when the search for a mapping takes more than `budget` visited cells, by default as many as a
    verdict may.
    """
    rules = [gold_columns.rules[kind] for kind in kinds]
    if not columns.ordered and _equal_but_for_few_rows(rules, gold, prediction):
        return Comparison(tuple(range(len(kinds))))
    matches = matching_columns(gold_columns, kinds, columns)
    # No mapping is smaller than the smallest that fits the single columns, so if the rows fit it too, it is the one.
    mapping = perfect_matching(matches)
    if mapping is None or columns.ordered or _equal_under(mapping, gold, gold_columns, kinds, columns):
        return Comparison(mapping, matches)
    from .mapping import DEFAULT_BUDGET, smallest_mapping

    kinds = _joined(kinds, gold_columns, columns, matches)
    gold_values = [gold_columns.values(kind, i) or [] for i, kind in enumerate(kinds)]
    pairs = {(kind, j) for kind, choices in zip(kinds, matches, strict=True) for j in choices}
    views = {pair: values for pair in sorted(pairs) if (values := columns.values(*pair)) is not None}
    matches = [[j for j in choices if (kind, j) in views] for kind, choices in zip(kinds, matches, strict=True)]
    return Comparison(smallest_mapping(gold_values, kinds, views, matches, budget or DEFAULT_BUDGET), matches)


def _joined(
    kinds: Sequence[int], gold: TypedColumns, prediction: TypedColumns, matches: Sequence[Sequence[int]]
) -> list[int]:
    """Return the kinds with the first in place of any other that reads every text of the candidate columns alike.

    Rules that differ in what these tables do not have, such as digits after the point, need no views of their own.
    """
    texts = set(chain.from_iterable(map(gold.distinct_texts, range(len(kinds)))))
    texts.update(chain.from_iterable(map(prediction.distinct_texts, set(chain.from_iterable(matches)))))
    groups: list[Sequence[int]] = [sorted(set(kinds))]
    for text in texts:
        if len(groups) == len(set(kinds)):
            break
        groups = [part for group in groups for part in _parted(gold.rules, group, text)]
    first = {kind: group[0] for group in groups for kind in group}
    return [first[kind] for kind in kinds]


def _parted(rules: Sequence[Rule], kinds: Sequence[int], text: str) -> Iterable[Sequence[int]]:
    """Return the kinds in groups that read the text alike."""
    if len(kinds) == 1:
        return [kinds]
    parts: dict[tuple[bool, str | None], list[int]] = {}
    for kind in kinds:
        try:
            reading = True, rules[kind].canonical(text)
        except CellError:
            reading = False, None
        parts.setdefault(reading, []).append(kind)
    return parts.values()


def _equal_but_for_few_rows(rules: Sequence[Rule], gold: Table, prediction: Table) -> bool:
    """Return whether the tables are equal with every column where it stands, and most rows equal as text.

    That mapping is the smallest of all, so where it holds nothing else needs to be looked at. Rows identical as text
    are equal under any rule, because gold's texts are known to be readable: they cancel out, and only the rest is read.
    """
    gold_rows = gold.row_counts
    if gold_rows and gold_rows.keys().isdisjoint(prediction.rows[:_SAMPLED_ROWS]):
        return False
    rows = prediction.row_counts
    # `Counter` compares itself in Python code, a dictionary in C.
    if dict.__eq__(gold_rows, rows):
        return True
    if 2 * len(gold_rows.keys() & rows.keys()) < len(gold_rows):
        return False
    gold_rest, rest = (gold_rows - rows).elements(), (rows - gold_rows).elements()
    gold_values = map(try_column, rules, zip(*gold_rest, strict=True))
    values = map(try_column, rules, zip(*rest, strict=True))
    return _equal_rows(list(gold_values), list(values))


def _equal_under(
    mapping: Sequence[int], gold: Table, gold_columns: TypedColumns, kinds: Sequence[int], columns: TypedColumns
) -> bool:
    """Return whether the rows are equal with gold column i mapped to prediction column `mapping[i]`."""
    if all(gold_columns.text_signature(i) == columns.text_signature(j) for i, j in enumerate(mapping)):
        rows = zip(*(columns.texts[j] for j in mapping), strict=True)
        if dict.__eq__(gold.row_counts, Counter(rows)):
            return True
    gold_values = [gold_columns.values(kind, i) for i, kind in enumerate(kinds)]
    return _equal_rows(gold_values, [columns.values(kind, j) for kind, j in zip(kinds, mapping, strict=True)])


def _equal_rows(gold: Sequence[Values | None], prediction: Sequence[Values | None]) -> bool:
    """Return whether two tables, given by columns, hold the same rows in any order; the unreadable equals nothing."""
    gold_columns, columns = ([values for values in side if values is not None] for side in (gold, prediction))
    if len(gold_columns) < len(gold) or len(columns) < len(prediction):
        return False
    return dict.__eq__(Counter(zip(*gold_columns, strict=True)), Counter(zip(*columns, strict=True)))
