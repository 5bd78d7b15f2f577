"""What a diagnosis says of a failed task: columns, rows, and the single changes that would make it pass.

Plain facts with their JSON form and its inverse. Columns are numbered from 0 and data rows from 1, as in messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from .errors import REDACTED

# What a near miss can be, the likeliest first; a test holds every detector against this list.
NEAR_MISS_CODES = (
    *("row_order", "delimiter", "encoding", "header_missing", "transposed", "extra_index_column", "extra_columns"),
    *("merged_columns", "split_columns", "null_spelling", "number_format", "scale", "rounding", "date_format"),
    *("time_zone", "letter_case", "inner_whitespace", "leading_zeros", "duplicate_rows", "extra_rows", "missing_rows"),
    "missing_columns",
)

# Longer texts are cut in what is kept of them; the files themselves have the rest.
SHOWN_CHARACTERS = 200


@dataclass(frozen=True)
class UnreadableCell:
    """A cell of the prediction that the gold column's rule refuses: its data row, its text, and why."""

    row: int
    text: str
    reason: str


@dataclass(frozen=True)
class ColumnFinding:
    """A gold column beside the prediction column that the nearest mapping takes for it, None where none is left.

    `agreeing` cells, from 0 to the number of gold rows, have equal values: by position where the order of rows counts,
    else as multisets.
    `unreadable_count` cells are refused, of which the first few are listed.
    """

    gold_index: int
    gold_name: str
    type: str
    prediction_index: int | None
    prediction_name: str | None
    agreeing: int
    unreadable_count: int = 0
    unreadable: tuple[UnreadableCell, ...] = ()


@dataclass(frozen=True)
class RowDifference:
    """A gold row that is missing and the unexpected prediction row nearest to it, or one of them alone.

    Cells are raw texts in gold's column order; None stands for a cell whose column has no partner. `differing` are the
    gold columns whose values differ.
    """

    gold_row: int | None
    gold_cells: tuple[str, ...] | None
    prediction_row: int | None
    prediction_cells: tuple[str | None, ...] | None
    differing: tuple[int, ...] = ()

    @property
    def sides(self) -> tuple[tuple[str | None, ...], ...]:
        """The cells of either side that there is."""
        return tuple(cells for cells in (self.gold_cells, self.prediction_cells) if cells is not None)


@dataclass(frozen=True)
class RowFindings:
    """How the rows compare under the nearest mapping, columns without a partner left out.

    `matched + missing` is the number of gold rows, `matched + unexpected` that of prediction rows. Where the order of
    rows counts, rows match by position, `first_difference` is the first data row that differs, `same_multiset` says
    whether only the order does, and `matched_in_any_order` counts the gold rows that are there wherever; else these are
    None.
    """

    matched: int
    missing: int
    unexpected: int
    first_difference: int | None = None
    same_multiset: bool | None = None
    matched_in_any_order: int | None = None
    sample: tuple[RowDifference, ...] = ()


@dataclass(frozen=True)
class NearMiss:
    """A change that was made, after which the whole table was compared again, and passed.

    `code` is one of `NEAR_MISS_CODES`, and `message` a sentence part. `gold_index` is the column that the change is
    about, if it is about one. Near misses with the same `group` are one change together; each group is enough alone.
    """

    code: str
    message: str
    gold_index: int | None = None
    group: int = 0


@dataclass(frozen=True)
class Diagnosis:
    """Why a task failed, and what would make it pass, the most likely first.

    `columns` is empty and `rows` None where no table could be read. Where it is not `complete`, so many cells differ as
    texts that not all were read: more may agree, match or be unreadable than is counted.
    """

    columns: tuple[ColumnFinding, ...] = ()
    rows: RowFindings | None = None
    near_misses: tuple[NearMiss, ...] = ()
    complete: bool = True

    @property
    def changes(self) -> list[str]:
        """Each change that would be enough, as a part of a sentence, the likeliest first."""
        groups = sorted({miss.group for miss in self.near_misses})
        return [", and ".join(miss.message for miss in self.near_misses if miss.group == group) for group in groups]

    def is_consistent(self, gold_columns: int, prediction_columns: int, gold_rows: int, prediction_rows: int) -> bool:
        """Whether it can be that of tables with so many columns and rows."""
        rows, width = self.rows, len(self.columns)
        if rows is None:
            fits = width == 0
        else:
            fits = (width, rows.matched + rows.missing, rows.matched + rows.unexpected) == (
                gold_columns,
                gold_rows,
                prediction_rows,
            ) and min(rows.matched, rows.missing, rows.unexpected) >= 0
            fits = fits and _is_within(rows.first_difference, 1, max(gold_rows, prediction_rows))
            fits = fits and _is_within(rows.matched_in_any_order, 0, gold_rows)
        return (
            fits
            and all(miss.code in NEAR_MISS_CODES for miss in self.near_misses)
            and [column.gold_index for column in self.columns] == list(range(width))
            and all(
                column.prediction_index is None or 0 <= column.prediction_index < prediction_columns
                for column in self.columns
            )
            and all(0 <= column.agreeing <= gold_rows for column in self.columns)
            and all(0 <= column.unreadable_count <= prediction_rows for column in self.columns)
            and all(_is_within(row.gold_row, 1, gold_rows) for row in self._sample)
            and all(_is_within(row.prediction_row, 1, prediction_rows) for row in self._sample)
            and all(len(cells) == width for row in self._sample for cells in row.sides)
            and all(set(range(width)).issuperset(row.differing) for row in self._sample)
        )

    @property
    def _sample(self) -> tuple[RowDifference, ...]:
        return self.rows.sample if self.rows else ()

    def redacted(self) -> Diagnosis:
        """Return the same counts and positions without any text of a cell or a header."""
        columns = tuple(
            replace(
                column,
                gold_name=REDACTED,
                prediction_name=None if column.prediction_name is None else REDACTED,
                unreadable=tuple(replace(cell, text=REDACTED) for cell in column.unreadable),
            )
            for column in self.columns
        )
        return replace(self, columns=columns, rows=None if self.rows is None else replace(self.rows, sample=()))

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as it stands in the summary."""
        return asdict(self, dict_factory=_json_object)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Diagnosis:
        """Return the diagnosis that `to_dict` wrote. Raises KeyError or TypeError for anything else."""
        rows = document["rows"]
        return cls(
            tuple(
                ColumnFinding(
                    **{**column, "unreadable": tuple(UnreadableCell(**cell) for cell in column["unreadable"])}
                )
                for column in document["columns"]
            ),
            None if rows is None else RowFindings(**{**rows, "sample": tuple(map(_row_difference, rows["sample"]))}),
            tuple(NearMiss(**miss) for miss in document["near_misses"]),
            document["complete"],
        )


def _is_within(number: int | None, low: int, high: int) -> bool:
    return number is None or low <= number <= high


def _json_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in pairs}


def _row_difference(document: Mapping[str, Any]) -> RowDifference:
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in document.items()
    }
    return RowDifference(**fields)


def shortened(text: str) -> str:
    """Return a cell's text as a diagnosis keeps it."""
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
