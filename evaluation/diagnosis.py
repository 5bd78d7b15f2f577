"""What a failed prediction was most likely meant to be: the column mapping under which it is nearest to gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from .cells import Rule, TextRule
from .errors import CellError
from .matching import heaviest_matching
from .tables import Table

_MOST_CELLS_READ = 4_000_000


def nearest_mapping(
    gold_names: Sequence[str],
    gold_columns: Sequence[Iterable[str | None]],
    rules: Sequence[Rule],
    kinds: Sequence[int],
    prediction: Table,
) -> tuple[int | None, ...]:
    """Return the prediction column nearest to each gold column, one to one; None for a gold column left over.

    `gold_names[i]` and `gold_columns[i]` are the name and canonical values of gold column i, and `rules[kinds[i]]`
    reads it. The agreement of two columns is the size of the intersection of their multisets of canonical values; the
    mapping, of the smaller side into the larger, is the one with the greatest sum of agreements. Ties go to the one
    with more headers that equal the gold name, then to the lexicographically smallest. Of a prediction so large that it
    would take more than four million readings, the first rows are looked at only.
    """
    height = _MOST_CELLS_READ // (len(rules) * prediction.column_count)
    texts = [Counter(column[:height]) for column in prediction.columns]
    name = TextRule().canonical
    headers = [name(header) for header in prediction.header]
    # Even all headers together weigh less than one agreeing cell.
    unit = len(headers) + 1
    weights: list[list[int]] = [[] for _ in gold_names]
    for kind, rule in enumerate(rules):
        # One rule after the other: what all of them read of a large prediction would fill the memory.
        views = [_readable(rule, counts) for counts in texts]
        for i in (i for i, kind_of_column in enumerate(kinds) if kind_of_column == kind):
            gold = Counter(gold_columns[i])
            weights[i] = [
                unit * (gold & column).total() + (header == name(gold_names[i]))
                for column, header in zip(views, headers, strict=True)
            ]
    return heaviest_matching(weights)


def _readable(rule: Rule, texts: Counter[str]) -> Counter[str | None]:
    """Return the canonical values of the texts that the rule can read."""
    values: Counter[str | None] = Counter()
    for text, count in texts.items():
        try:
            values[rule.canonical(text)] += count
        except CellError:
            continue
    return values
