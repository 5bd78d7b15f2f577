"""What a message may show: nothing that a terminal would obey or a reader could not see."""

from __future__ import annotations

import unicodedata
import unittest

import support  # noqa: F401  (the way to the package)

from evaluation.errors import escape, quoted


class EscapeTest(unittest.TestCase):
    def test_shown_as_they_are(self) -> None:
        for text in ("", "plain ASCII ~", "é ß Ω Ж 中文 ひらがな 한국어 עברית عربي ไทย", "e\u0301", "😀", "\\", "'"):
            with self.subTest(text=text):
                self.assertEqual(escape(text), text)

    def test_escaped(self) -> None:
        for text, expected in (
            ("\x00\x1b[31m\n\r\t", "\\x00\\x1b[31m\\x0a\\x0d\\x09"),
            ("\x7f\x80\x9b\x9f\xad", "\\x7f\\x80\\x9b\\x9f\\xad"),
            ("\u200b\u200e\u200f\u202a\u202e\u2066\u2069", "\\u200b\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069"),
            ("\u2028\u2029\ufeff\u061c", "\\u2028\\u2029\\ufeff\\u061c"),
            ("\ud800\udfff\ue000\uffff", "\\ud800\\udfff\\ue000\\uffff"),
            ("\U000e0041\U0010ffff", "\\U000e0041\\U0010ffff"),
        ):
            with self.subTest(expected=expected):
                self.assertEqual(escape(text), expected)

    def test_no_format_character_is_left(self) -> None:
        shown = escape("".join(map(chr, range(0x110000))))
        self.assertEqual([hex(ord(c)) for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co")], [])

    def test_whatever_is_left_can_be_written(self) -> None:
        text = escape("".join(map(chr, range(0x110000))))
        text.encode("utf-8")
        self.assertEqual(text.splitlines(), [text])


class QuotedTest(unittest.TestCase):
    def test_long_texts_are_cut_and_say_so(self) -> None:
        self.assertEqual(quoted("a\n"), "'a\\x0a'")
        self.assertEqual(quoted("x" * 80), "'" + "x" * 80 + "'")
        self.assertEqual(quoted("x" * 81), "'" + "x" * 80 + "…' (81 characters)")


if __name__ == "__main__":
    unittest.main()
