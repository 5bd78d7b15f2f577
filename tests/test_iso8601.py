"""ISO 8601 reading: a table of cases, and the interpreter's own reader where it is the one to agree with."""

from __future__ import annotations

import random
import sys
import unittest
from datetime import datetime

import support  # noqa: F401  (the way to the package)

from evaluation.iso8601 import parse

# What each text means, as `datetime.isoformat` writes it; None where it is no date-time.
CASES = {
    "2024-01-31": "2024-01-31T00:00:00",
    "20240131": "2024-01-31T00:00:00",
    "2024-W05": "2024-01-29T00:00:00",
    "2024W05": "2024-01-29T00:00:00",
    "2024-W05-7": "2024-02-04T00:00:00",
    "2024W057": "2024-02-04T00:00:00",
    "2024-01-31T12": "2024-01-31T12:00:00",
    "2024-01-31 12:30": "2024-01-31T12:30:00",
    "2024-01-31é12:30:45": "2024-01-31T12:30:45",
    "2024-01-31中1230": "2024-01-31T12:30:00",
    "20240131T123045": "2024-01-31T12:30:45",
    "2024-01-31 12:30:45.5": "2024-01-31T12:30:45.500000",
    "2024-01-31 12:30:45,1234567": "2024-01-31T12:30:45.123456",
    "2024-01-31 12.25": "2024-01-31T12:00:00.250000",
    "2024-01-31T12:30:45Z": "2024-01-31T12:30:45+00:00",
    "2024-01-31T12:30:45-05:30": "2024-01-31T12:30:45-05:30",
    "2024-01-31T12:30+0530": "2024-01-31T12:30:00+05:30",
    "2024-01-31T12+05:30:15.25": "2024-01-31T12:00:00+05:30:15.250000",
    "2024-01-31T12+05:99": "2024-01-31T12:00:00+06:39",
    "2024-01-01+05:00": "2024-01-01T05:00:00",
    "2024-01-01Z": "2024-01-01T00:00:00",
    "2024W051T12": "2024-01-29T12:00:00",
    "2024W05112": "2024-01-29T12:00:00",
    "2024-W05-12": "2024-01-29T12:00:00",
    "2024W051112": "2024-01-29T12:00:00",
    "": None,
    "2024": None,
    "2024-01": None,
    "2024-1-31": None,
    "2024-0131": None,
    "202401-31": None,
    "2024-02-30": None,
    "2023-02-29": None,
    "0000-01-01": None,
    "2021-W53": None,
    "2024-W00-1": None,
    "2024-W05-0": None,
    "2024-060": None,
    "2024-01-31T": None,
    "2024-01-31T24:00": None,
    "2024-01-31T23:60": None,
    "2024-01-31T23:59:60": None,
    "2024-01-31T1": None,
    "2024-01-31T12:3": None,
    "2024-01-31T12:30:45.": None,
    "2024-01-31T12:30z": None,
    "2024-01-31T12:30+24:00": None,
    "2024-01-31T12:30+5": None,
    "2024-01-31T12:30+05:00+01:00": None,
    "２０２４-01-31": None,
    "31/01/2024": None,
    "Jan 31 2024": None,
    "1706659200": None,
}

DATES = (
    "2024-01-31",
    "20240229",
    "2024-W05",
    "2024W05",
    "2024-W05-1",
    "2024W051",
    "0001-01-01",
    "9999-12-31",
    "2021-W53-1",
)
SEPARATORS = ("T", " ", "-", "+", ":", "0", "Z", "W", "é", "中", "😀", "")
CLOCKS = (
    "",
    "12",
    "1230",
    "12:30",
    "123045",
    "12:30:45",
    "12:30:45.5",
    "123045,1234567",
    "12.5",
    "12:",
    "24:00",
    "12:30:45:5",
)
OFFSETS = (
    "",
    "Z",
    "+00:00",
    "-05:30",
    "+0530",
    "+05",
    "+23:59:59.999999",
    "-24:00",
    "+05:99",
    "+5",
    "+00:00:00.5",
    "+",
)


def spelling(text: str) -> str | None:
    try:
        return parse(text).isoformat()
    except ValueError:
        return None


class ParseTest(unittest.TestCase):
    def test_cases(self) -> None:
        for text, expected in CASES.items():
            with self.subTest(text=text):
                self.assertEqual(spelling(text), expected)

    def test_every_instant_keeps_its_offset(self) -> None:
        self.assertIsNone(parse("2024-01-31T12:30").tzinfo)
        self.assertIsNotNone(parse("2024-01-31T12:30Z").tzinfo)

    @unittest.skipUnless((3, 11) <= sys.version_info < (3, 14), "the interpreter's own reader differs")
    def test_reads_what_the_interpreter_reads(self) -> None:
        source = random.Random(20240131)
        alphabet = "0123456789-:+.,TWZ 中é"
        for _ in range(30_000):
            text = source.choice(DATES) + source.choice(SEPARATORS) + source.choice(CLOCKS) + source.choice(OFFSETS)
            for _ in range(source.choice((0, 0, 1, 2))):
                place = source.randrange(len(text) + 1)
                text = text[:place] + source.choice((source.choice(alphabet), "")) + text[place + source.randrange(2) :]
            try:
                expected = datetime.fromisoformat(text.replace("Z", "+00:00")).isoformat()
            except ValueError:
                expected = None
            if spelling(text) != expected:
                self.fail(f"{text!r}: expected {expected}, got {spelling(text)}")


if __name__ == "__main__":
    unittest.main()
