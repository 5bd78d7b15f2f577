"""Strict CSV: what is a table, what is not, and what is said of it."""

from __future__ import annotations

import csv
import random
import unittest
from unittest import mock

from support import csv_text

from evaluation import tables
from evaluation.errors import InputError
from evaluation.tables import DEFAULT_LIMITS, Table, TableLimits, parse_table


class ParseTableTest(unittest.TestCase):
    def test_tables(self) -> None:
        for data, header, rows in (
            (b"a,b\n1,2\n", ("a", "b"), [("1", "2")]),
            (b"a,b\r\n1,2\r\n", ("a", "b"), [("1", "2")]),
            (b"a,b\r1,2\r", ("a", "b"), [("1", "2")]),
            (b"a,b\n1,2", ("a", "b"), [("1", "2")]),
            (b"\xef\xbb\xbfa\n1\n", ("a",), [("1",)]),
            (b"\xef\xbb\xbf\xef\xbb\xbfa\n", ("\ufeffa",), []),
            (b"a\n", ("a",), []),
            (b'""\n""\n', ("",), [("",)]),
            (b",\n,\n", ("", ""), [("", "")]),
            (b" \n \n", (" ",), [(" ",)]),
            (b'a,b\n"x,y","say ""hi"""\n', ("a", "b"), [("x,y", 'say "hi"')]),
            (b'a\n"line\r\nbreak"\n', ("a",), [("line\r\nbreak",)]),
            (b'a\nsay "hi"\n', ("a",), [('say "hi"',)]),
            (b"a\n '1'\n", ("a",), [(" '1'",)]),
            ("名\n東京\n".encode(), ("名",), [("東京",)]),
            (b"a\n\x1c\n", ("a",), [("\x1c",)]),
            ("a\n\u2028\n".encode(), ("a",), [("\u2028",)]),
        ):
            with self.subTest(data=data):
                self.assertEqual(parse_table(data), Table(header, rows))

    def test_not_tables(self) -> None:
        for data, expected in (
            (b"", "is empty, expected a header row"),
            (b"\xef\xbb\xbf", "is empty"),
            (b"\n", "has a blank first line"),
            (b"\na\n1\n", "has a blank first line"),
            (b"a\n1\n\n", "has no cells (a blank line) in data row 2, expected 1 as in the header"),
            (b"a,b\n1\n", "has 1 cell in data row 1, expected 2"),
            (b"a,b\n1,2\n1,2,3\n", "has 3 cells in data row 2, expected 2"),
            (b"a\n1\r\r\n", "has no cells (a blank line) in data row 2"),
            (b'a\n"x"y\n', "has text between a closing quote and the next comma (line 2)"),
            (b'a\n"x" \n', "has text between a closing quote"),
            (b'a\n"x\n', "ends inside a quoted cell (line 2)"),
            (b'a\n"', "ends inside a quoted cell (line 2)"),
            (b"a\n\x00\n", "contains a NUL character (byte 2)"),
            (b"\x00", "contains a NUL character (byte 0)"),
            (b"a\n\xff\n", "is not UTF-8 (byte 2)"),
            ("a\n1\n".encode("utf-16"), "is not UTF-8 (byte 0)"),
            (b"a\n\xed\xa0\x80\n", "is not UTF-8"),
        ):
            with self.subTest(data=data):
                self.assertIn(expected, self.fault(data))

    def fault(self, data: bytes, limits: TableLimits = DEFAULT_LIMITS) -> str:
        with self.assertRaises(InputError) as caught:
            parse_table(data, limits)
        return str(caught.exception)

    def test_cells_that_are_alike_may_be_one_object(self) -> None:
        source = random.Random(2)
        for _ in range(50):
            width = source.randint(1, 4)
            rows = [[source.choice(("", "a", "é", "x,y", 'q"', "1\n2")) for _ in range(width)] for _ in range(20)]
            data = csv_text(rows).encode()
            with mock.patch.multiple(tables, _MANY_CELLS=0, _LEAST_BYTES_OF_MANY_CELLS=0):
                shared = parse_table(data)
            self.assertEqual(shared, parse_table(data))

    def test_limits_are_inclusive(self) -> None:
        for limits, good, bad, expected in (
            (TableLimits(rows=3), "a\n" + "x\n" * 3, "a\n" + "x\n" * 4, "has more than 3 data rows"),
            (TableLimits(columns=4), "a,b,c,d\n", "a,b,c,d,e\n", "has 5 columns, more than the 4 allowed"),
            (
                TableLimits(cell_characters=9),
                "a\n" + "é" * 9,
                "a\n" + "é" * 10,
                "a cell of more than 9 characters (line 2)",
            ),
            (TableLimits(cell_characters=9), "a" * 9, "a" * 10, "a cell of more than 9 characters (line 1)"),
            (TableLimits(csv_bytes=9), "a\nx\nx\nx\nx", "a\nx\nx\nx\nx\n", "is longer than 9 bytes"),
        ):
            with self.subTest(expected=expected):
                parse_table(good.encode(), limits)
                self.assertIn(expected, self.fault(bad.encode(), limits))

    def test_default_limits(self) -> None:
        self.assertEqual(DEFAULT_LIMITS, TableLimits(20 * 1024 * 1024, 100_000, 64, 2 * 1024 * 1024))
        # Longer than the `csv` module's own limit for a cell, which must be left as it was.
        before = csv.field_size_limit()
        self.assertEqual(len(parse_table(b"a\n" + b"x" * 200_000).rows[0][0]), 200_000)
        self.fault(b'a\n"')
        self.assertEqual(csv.field_size_limit(), before)


class TableTest(unittest.TestCase):
    def test_columns(self) -> None:
        table = Table(("a", "b"), [("1", "2"), ("3", "4")])
        self.assertEqual(table.columns, [("1", "3"), ("2", "4")])
        self.assertEqual((table.column_count, table.row_count), (2, 2))
        self.assertEqual(Table(("a", "b"), []).columns, [(), ()])


if __name__ == "__main__":
    unittest.main()
