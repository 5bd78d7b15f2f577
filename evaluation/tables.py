"""One strict CSV file, within limits, as a `Table` of texts."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from .errors import InputError, counted

_MEBIBYTE = 1 << 20
_SMALL_BYTES = 1 << 16
_MANY_CELLS = 2_000_000
_LEAST_BYTES_OF_MANY_CELLS = 2 * _MANY_CELLS


class TableLimits(NamedTuple):
    """What a CSV file may hold at most: bytes of the file, data rows, columns, and characters in one cell."""

    csv_bytes: int = 20 * _MEBIBYTE
    rows: int = 100_000
    columns: int = 64
    cell_characters: int = 2 * _MEBIBYTE

    def changed(self) -> dict[str, int]:
        """Return the limits that are not the default, by name."""
        return {name: limit for name, limit in self._asdict().items() if limit != self._field_defaults[name]}


DEFAULT_LIMITS = TableLimits()


@dataclass(frozen=True)
class Table:
    """A header and data rows of raw texts; every row is as long as the header, which has at least one cell."""

    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    @property
    def column_count(self) -> int:
        return len(self.header)

    @property
    def row_count(self) -> int:
        return len(self.rows)

    @cached_property
    def row_counts(self) -> Counter[tuple[str, ...]]:
        """How often each row occurs."""
        return Counter(self.rows)

    @classmethod
    def of_columns(cls, header: Sequence[str], columns: Sequence[tuple[str, ...]]) -> Table:
        """Return the table that has these columns, at least one."""
        table = cls(tuple(header), list(zip(*columns, strict=True)))
        # As the property below would find them: what is known of these very columns stays known.
        vars(table)["columns"] = list(columns)
        return table

    @cached_property
    def columns(self) -> list[tuple[str, ...]]:
        """The texts column by column: `column_count` tuples of `row_count` texts."""
        return list(zip(*self.rows, strict=True)) if self.rows else [()] * self.column_count


def parse_table(data: bytes, limits: TableLimits = DEFAULT_LIMITS, delimiter: str = ",") -> Table:
    """Return the table that the bytes of a CSV file spell.

    Strict: UTF-8 with an optional byte-order mark, comma (or another `delimiter`), double quotes doubled inside quotes,
    any of the three line ends, no NUL, a header, and every row as long as the header. Raises InputError, whose text is
    a predicate with the row where there is one, when the file is anything else or exceeds `limits`.
    """
    if len(data) > limits.csv_bytes:
        raise InputError(f"is longer than {limits.csv_bytes} bytes")
    rows = _read_rows(data, limits, delimiter)
    if not rows:
        raise InputError("is empty, expected a header row")
    header = rows[0]
    if not header:
        raise InputError("has a blank first line, expected a header row")
    if len(header) > limits.columns:
        raise InputError(f"has {len(header)} columns, more than the {limits.columns} allowed")
    if len(rows) - 1 > limits.rows:
        raise InputError(f"has more than {limits.rows} data rows")
    if set(map(len, rows)) != {len(header)}:
        number, cells = next((number, len(row)) for number, row in enumerate(rows) if len(row) != len(header))
        raise InputError(f"has {_cells(cells)} in data row {number}, expected {len(header)} as in the header")
    return Table(header, rows[1:])


def _read_rows(data: bytes, limits: TableLimits, delimiter: str) -> list[tuple[str, ...]]:
    """Return the header and the data rows, at most one more than allowed, as the strict `csv` dialect reads them."""
    if b"\0" in data:
        raise InputError(_encoding_fault(data) or f"contains a NUL character (byte {data.index(0)})")
    previous = csv.field_size_limit(limits.cell_characters)
    try:
        reader = csv.reader(_lines(data), strict=True, delimiter=delimiter)
        rows: Iterable[Iterable[str]] = islice(reader, limits.rows + 2)
        if len(data) > _LEAST_BYTES_OF_MANY_CELLS and data.count(b",") > _MANY_CELLS:
            # So many cells are short, and most of them alike: one object for all that are saves half of the memory.
            shared: dict[str, str] = {}
            rows = (map(shared.setdefault, row, row) for row in rows)
        return list(map(tuple, rows))
    except UnicodeDecodeError:
        raise InputError(_encoding_fault(data)) from None
    except csv.Error as error:
        raise InputError(_csv_fault(str(error), reader.line_num, limits)) from None
    finally:
        csv.field_size_limit(previous)


def _lines(data: bytes) -> Iterable[str]:
    """Return the text of a file without its byte-order mark, for a reader to take line by line.

    A small text is decoded at once, which is quicker; a large one piece by piece, which takes less memory.
    """
    if len(data) < _SMALL_BYTES:
        return io.StringIO(data.decode("utf-8-sig"), newline="")
    stream = io.BytesIO(data)
    stream.seek(len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)
    return io.TextIOWrapper(stream, encoding="utf-8", newline="")


def _encoding_fault(data: bytes) -> str:
    """Return where bytes are not UTF-8, "" where they are. The decoder's own words differ between versions."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"is not UTF-8 (byte {error.start})"
    return ""


def _csv_fault(reason: str, line: int, limits: TableLimits) -> str:
    if "field larger" in reason:
        return f"has a cell of more than {limits.cell_characters} characters (line {line})"
    if "unexpected end" in reason:
        return f"ends inside a quoted cell (line {line})"
    return f"has text between a closing quote and the next comma (line {line})"


def _cells(count: int) -> str:
    if count == 0:
        return "no cells (a blank line)"
    return counted(count, "cell")
