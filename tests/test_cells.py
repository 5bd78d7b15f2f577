"""Cells: what each rule makes of a text, and independent arithmetic to compare with."""

from __future__ import annotations

import contextlib
import random
import re
import unicodedata
import unittest
from collections.abc import Iterable, Mapping, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_UP, Context, Decimal
from unittest import mock

import support  # noqa: F401  (the way to the package)

from evaluation import cells
from evaluation.cells import (
    NUMBER_MODES,
    RULES,
    BooleanRule,
    DateRule,
    DatetimeRule,
    NumberRule,
    Rule,
    TextRule,
    can_read,
    canonical_column,
    first_unreadable,
)
from evaluation.errors import CellError

UNREADABLE = "(unreadable)"
NULLS = ("", " ", "null", "NULL", "None", "NaN", "nat", "<NA>", "\u3000null\t")
HOSTILE = (
    *(
        "1e400",
        "1e999999999",
        "1e" + "9" * 30,
        "-" + "9" * 5000,
        "0x10",
        "1_000",
        "inf",
        "\x00",
        "\ufeff",
        "\u202e",
        "%",
    ),
    *("٣", "²", "½", "①", "1,", "1e", "e5", ".", "+", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "Z"),
    *("𝟙", "ẞ", "İ", "\u0345" * 100, "2024-01-01\u2028", "24:00", "\U0010ffff", '"', ",", "1e-" + "9" * 30),
)


def value(rule: Rule, text: str) -> str | None:
    try:
        return rule.canonical(text)
    except CellError:
        return UNREADABLE


class RuleTestCase(unittest.TestCase):
    def check(self, rule: Rule, cases: Mapping[str, str | None]) -> None:
        for text, expected in cases.items():
            with self.subTest(rule=rule, text=text[:40]):
                self.assertEqual(value(rule, text), expected)


class EveryRuleTest(RuleTestCase):
    rules: tuple[Rule, ...] = (
        *(TextRule(), BooleanRule(), DateRule(), DatetimeRule(), NumberRule("integer")),
        *(NumberRule("decimal_places", digits, True, "fraction") for digits in (0, 2, 30)),
        *(NumberRule("significant_digits", digits) for digits in (0, 2, 30)),
    )

    def test_null_words_are_null_everywhere_but_in_text(self) -> None:
        for rule in self.rules[1:]:
            self.check(rule, dict.fromkeys(NULLS))

    def test_total_on_any_text(self) -> None:
        source = random.Random(5)
        alphabet = "0123456789eE+-.,%:TWZ nulaé٣是\u0301\x1f\u2003"
        texts = [*HOSTILE, *("".join(source.choices(alphabet, k=source.randrange(12))) for _ in range(3000))]
        for rule in self.rules:
            for text in texts:
                found = value(rule, text)
                self.assertTrue(found is None or isinstance(found, str))

    def test_outer_white_space_never_counts(self) -> None:
        spaces = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
        for rule, text in (
            (TextRule(), "a b"),
            (NumberRule("integer"), "5"),
            (BooleanRule(), "yes"),
            (DateRule(), "20240131"),
        ):
            with self.subTest(rule=rule):
                self.assertEqual(value(rule, spaces + text + spaces), value(rule, text))

    def test_rules_of_the_same_kind_are_equal(self) -> None:
        self.assertEqual(NumberRule("integer"), NumberRule("integer"))
        self.assertEqual(len({TextRule(), TextRule(), DateRule(), NumberRule("integer"), NumberRule("integer")}), 3)
        self.assertEqual(sorted(RULES), ["boolean", "date", "datetime", "number", "text"])


class TextTest(RuleTestCase):
    def test_cases(self) -> None:
        self.check(
            TextRule(),
            {
                "": None,
                " \t\u3000": None,
                " a ": "a",
                "NULL": "NULL",
                "nan": "nan",
                "A": "A",
                "a  b": "a  b",
                "007": "007",
                "a\r\nb\rc\nd": "a\nb\nc\nd",
                "é\r\n": "é",
                "e\u0301": "é",
                "\u212b": "Å",
                "ﬁ": "ﬁ",
                "１": "１",
            },
        )

    def test_composition_agrees_with_the_interpreter(self) -> None:
        source = random.Random(11)
        # Marks of many classes, marks that decompose into several, starters that decompose into marks alone, Hangul.
        pieces = [
            *map(chr, range(0x300, 0x370)),
            *"\u0f71\u0f72\u0f73\u0f75\u0f81\u0344\u0591\u05b0\u064b\u3099aé가漢\u1100\u1161",
        ]
        for _ in range(400):
            text = "a" + "".join(source.choices(pieces, k=source.randrange(150)))
            self.assertEqual(value(TextRule(), text), unicodedata.normalize("NFC", text))

    def test_a_long_run_of_marks_costs_its_length(self) -> None:
        # Insertion would take hours here; the composition must not change.
        above, below = "\u0301" * 100_000, "\u0316" * 100_000
        self.assertEqual(value(TextRule(), "a" + above + below), "á" + below + above[1:])


class NumberTest(RuleTestCase):
    def test_notation(self) -> None:
        self.check(
            NumberRule("significant_digits", 30),
            {
                "5": "5", "+5": "5", "-5": "-5", "5.": "5", ".5": "0.5", "-.5": "-0.5", "05.50": "5.5", "1e3": "1000",
                "1E+3": "1000", "1.5e-3": "0.0015", "-0": "0", "0e5": "0", "1,234": "1234", "1,234,567.50": "1234567.5",
                "0,123": "123", "12,345e2": "1234500", "1,234.": "1234", "５": "5", "٣.٤": "3.4", "1٠": "10",
                "1e25": "1e25", "12e25": "12e25", "1e24": "1" + "0" * 24, "1e-26": "1e-26", "1e400": "1e400",
                "10e399": "1e400", "1e999999999": "1e999999999", "1e999999999999999999": "1e999999999999999999",
                "0.1e1000000000000000000": "1e999999999999999999", "1e00000000000000000000000005": "100000",
            },
        )  # fmt: skip

    def test_the_range_of_exponents(self) -> None:
        top, bottom = 10**18 - 1, -2 * 10**18 + 3
        self.check(
            NumberRule("significant_digits", 30),
            {
                f"1e{top}": f"1e{top}",
                f"1e{top + 1}": UNREADABLE,
                f"0.1e{top + 1}": f"1e{top}",
                f"12e{top}": UNREADABLE,
                f"0e{top}": "0",
                f"0e{top + 1}": UNREADABLE,
                f"0.00e{top + 2}": "0",
                f"1e{bottom}": f"1e{bottom}",
                f"1e{bottom - 1}": UNREADABLE,
                f"0.1e{bottom}": UNREADABLE,
                f"0e{bottom - 1}": UNREADABLE,
            },
        )

    def test_unreadable(self) -> None:
        texts = (
            *(
                "1,23",
                "1,2345",
                "1234,567",
                ",123",
                "1,,234",
                "1_000",
                "1 000",
                "$5",
                "5 EUR",
                "0x1F",
                "inf",
                "-inf",
                "5%",
            ),
            *("1e", "e5", ".", "", "+-5", "--5", "5-", "1.2.3", "1e5.0", "²", "½", "１,23", "1e1000000000000000000"),
            *(
                "0e1000000000000000000",
                "1e-1999999999999999998",
                "10e999999999999999999",
                "1e" + "9" * 30,
                "(5)",
                "5 %",
            ),
        )
        self.check(NumberRule("significant_digits", 5), {text: UNREADABLE for text in texts if text})

    def test_integer(self) -> None:
        self.check(
            NumberRule("integer"),
            {
                "5.0": "5",
                "1e3": "1000",
                "12.30e1": "123",
                "5.5": UNREADABLE,
                "1e-1": UNREADABLE,
                "0.0": "0",
                "-0.0": "0",
            },
        )

    def test_rounding_is_half_away_from_zero(self) -> None:
        for mode, digits, cases in (
            ("decimal_places", 2, "2.345=2.35 -2.345=-2.35 2.344999=2.34 0.005=0.01 0.00499=0 -0.001=0 9.995=10"),
            ("decimal_places", 2, "99.999=100 1e-400=0 1e400=1e400 1.10=1.1 1234567.891=1234567.89"),
            ("decimal_places", 0, "0.5=1 0.49=0 1.5=2 2.5=3 -0.5=-1 9.5=10"),
            ("significant_digits", 3, "12345=12300 0.0012345=0.00123 999.5=1000 0=0 1.005=1.01 -12350=-12400 5=5"),
            ("significant_digits", 0, "4=0 4.99=0 5=10 50=100 0.5=1 0=0 -7=-10"),
        ):
            self.check(NumberRule(mode, digits), dict(case.split("=") for case in cases.split()))

    def test_percent_sign(self) -> None:
        texts = ("12.5%", "12.5 %", "12.5")
        for unit, allowed, expected in (
            ("plain", True, ("12.5", "12.5", "12.5")),
            ("percentage_points", True, ("12.5", "12.5", "12.5")),
            ("fraction", True, ("0.125", "0.125", "12.5")),
            ("fraction", False, (UNREADABLE, UNREADABLE, "12.5")),
        ):
            self.check(NumberRule("decimal_places", 4, allowed, unit), dict(zip(texts, expected)))
        rule = NumberRule("integer", None, True, "fraction")
        self.check(
            rule,
            {
                "100%": "1",
                "0%": "0",
                "0.00 %": "0",
                "50%": UNREADABLE,
                "%": UNREADABLE,
                "5%%": UNREADABLE,
                "null%": UNREADABLE,
            },
        )
        # 29 digits: a division in 28 digits would lose the last one.
        exact = NumberRule("decimal_places", 30, True, "fraction")
        self.check(exact, {"12345678901234567890123456789%": "123456789012345678901234567.89"})

    def test_agrees_with_decimal(self) -> None:
        context = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, rounding=ROUND_HALF_UP)
        source = random.Random(3)
        for _ in range(20_000):
            digits = "".join(source.choices("0123456789945", k=source.randrange(1, 10)))
            point = source.randrange(len(digits) + 1)
            text = f"{source.choice(('', '-', '+'))}{digits[:point]}.{digits[point:]}"
            if source.random() < 0.5:
                text += f"e{source.randrange(-12, 13)}"
            exact, places = Decimal(text), source.randrange(6)
            expected = exact.quantize(Decimal(1).scaleb(-places), context=context)
            self.assertEqual(Decimal(value(NumberRule("decimal_places", places), text) or "NaN"), expected, text)
            expected = exact and exact.quantize(Decimal(1).scaleb(exact.adjusted() - places + 1), context=context)
            self.assertEqual(Decimal(value(NumberRule("significant_digits", places), text) or "NaN"), expected, text)

    def test_one_spelling_per_value(self) -> None:
        rule = NumberRule("significant_digits", 30)
        source = random.Random(4)
        for _ in range(5_000):
            number = Decimal(source.randrange(10**6)).scaleb(source.randrange(-40, 40))
            spellings = {f"{number:f}", f"{number:e}", f"{number:E}", f"0{number:f}", f"{number * 1000:f}e-3"}
            self.assertEqual(len({value(rule, text) for text in spellings}), 1, spellings)
            self.assertEqual(value(rule, value(rule, str(number)) or ""), value(rule, str(number)))

    def test_cost_does_not_depend_on_the_exponent(self) -> None:
        # Minutes or gigabytes if any of these were ever written out.
        for rule in (NumberRule("integer"), NumberRule("decimal_places", 2), NumberRule("significant_digits", 3)):
            self.check(rule, {f"7e{exponent}": f"7e{exponent}" for exponent in (999_000, 999_999_999, 10**17)})
            self.assertEqual(
                value(rule, "9" * 1_000_000), "1e1000000" if rule.mode == "significant_digits" else "9" * 10**6
            )

    def test_parameters_that_make_no_rule(self) -> None:
        for arguments in (("exact",), (None,), ("decimal_places",), ("decimal_places", 31), ("decimal_places", -1)):
            with self.subTest(arguments=arguments), self.assertRaises(ValueError):
                NumberRule(*arguments)
        with self.assertRaises(ValueError):
            NumberRule("integer", unit="percent")


class DateTest(RuleTestCase):
    def test_datetime(self) -> None:
        self.check(
            DatetimeRule(),
            {
                "2024-01-31": "2024-01-31T00:00:00",
                " 2024-01-31 12:30 ": "2024-01-31T12:30:00",
                "2024-01-31T12:30:00Z": "2024-01-31T12:30:00Z",
                "2024-01-31T14:30+02:00": "2024-01-31T12:30:00Z",
                "2024-01-31T00:30:15.5+05:30": "2024-01-30T19:00:15.500000Z",
                "0001-01-01T00:00+00:00": "0001-01-01T00:00:00Z",
                "0001-01-01T00:00:00+23:59": UNREADABLE,
                "9999-12-31T23:59:59-23:59": UNREADABLE,
                "2024-01-31T24:00": UNREADABLE,
                "31.01.2024": UNREADABLE,
                "1706659200": UNREADABLE,
            },
        )

    def test_date(self) -> None:
        self.check(
            DateRule(),
            {
                "2024-01-31": "2024-01-31",
                "2024-W05-3": "2024-01-31",
                "2024-01-31T00:00:00": "2024-01-31",
                "2024-01-31T00:00Z": "2024-01-31",
                "2024-01-31T02:00+02:00": "2024-01-31",
                "2024-01-30T22:00-02:00": "2024-01-31",
                "2024-01-31T00:00+02:00": UNREADABLE,
                "2024-01-31T00:00:00.001": UNREADABLE,
                "2024-01-31T12:00": UNREADABLE,
                "2024-01-01+05:00": UNREADABLE,
                "01/31/2024": UNREADABLE,
            },
        )


class BooleanTest(RuleTestCase):
    def test_cases(self) -> None:
        for words, expected in (
            (("1", "true", "TRUE", "yes", "Y", " y ", "是"), "true"),
            (("0", "false", "False", "no", "N", "否"), "false"),
            (("1.0", "t", "f", "on", "off", "2", "-1", "是的", "+1", "１"), UNREADABLE),
        ):
            self.check(BooleanRule(), dict.fromkeys(words, expected))


def random_number(source: random.Random) -> str:
    """Return a number with digits that make rounding hard; now and then it is none."""
    whole, fraction = (
        "".join(source.choice("00005599491") for _ in range(source.choice(lengths)))
        for lengths in ((0, 1, 1, 2, 3, 19, 20, 21, 25), (0, 0, 1, 2, 3, 4, 8, 20, 21))
    )
    point = "." if source.random() < 0.7 else ""
    exponent = source.choice(("", "", "", "", "", "e3", "e-3", "e-320", "e300"))
    return source.choice(("", "", "-", "+")) + whole + point + (fraction if point else "") + exponent


class PlainSpellingTest(unittest.TestCase):
    """Plain spellings are read by a shorter way; it must lead to the same value as the rules in full."""

    def in_full(self, rule: Rule, text: str) -> str | None:
        with contextlib.ExitStack() as patches:
            for name in ("_PLAIN_NUMBER", "_PLAIN_DATE", "_PLAIN_DATETIME"):
                patches.enter_context(mock.patch.object(cells, name, re.compile("(?!)")))
            return value(rule, text)

    def check(self, rules: Sequence[Rule], texts: Iterable[str]) -> None:
        for text in texts:
            for rule in rules:
                expected = self.in_full(rule, text)
                self.assertEqual(value(rule, text), expected, (rule, text))
                if rule.reads_all([text]):
                    self.assertNotEqual(expected, UNREADABLE, (rule, text))
                self.assertEqual(can_read(rule, [text]), expected != UNREADABLE, (rule, text))

    def test_numbers(self) -> None:
        source = random.Random(15)
        rules = [
            *(NumberRule("decimal_places", digits) for digits in (0, 1, 2, 7, 30)),
            *(NumberRule("significant_digits", digits) for digits in (0, 1, 3, 30)),
            NumberRule("integer"),
            NumberRule("decimal_places", 2, True, "fraction"),
        ]
        self.check(rules, (random_number(source) for _ in range(1500)))

    def test_dates(self) -> None:
        days = [
            f"{year:04}-{month:02}-{day:02}"
            for year in (0, 1, 999, 1000, 1900, 2000, 2023, 2024, 9999)
            for month in (0, 1, 2, 4, 12, 13)
            for day in (0, 1, 28, 29, 30, 31, 32)
        ]
        times = ("", "T00:00:00", " 23:59:59", " 24:00:00", "T12:60:00", "t12:30:15", " 12:30", " 12:00:60")
        self.check([DateRule(), DatetimeRule()], (day + time for day in days for time in times))


class ColumnTest(unittest.TestCase):
    def test_reads_each_distinct_text_once_where_many_repeat(self) -> None:
        read: list[str] = []

        class Counting(BooleanRule):
            def canonical(self, text: str) -> str:
                read.append(text)
                return text.upper()

        self.assertEqual(canonical_column(Counting(), ["a", "b", "a", "a", "a"]), ["A", "B", "A", "A", "A"])
        self.assertEqual(sorted(read), ["a", "b"])
        self.assertEqual(canonical_column(Counting(), ["c", "d"]), ["C", "D"])

    def test_an_unreadable_cell_raises(self) -> None:
        for texts in (["1", "x"], ["1", "1", "1", "1", "x"]):
            with self.assertRaises(CellError):
                canonical_column(NumberRule("integer"), texts)
            self.assertFalse(can_read(NumberRule("integer"), texts))

    def test_reads_all(self) -> None:
        # What `float` takes and the rules do not.
        for text in ("inf", "nan", "1_0", "1e5", "--1", "1-", "", ".", "-", "1.2.3", "9" * 5000):
            for rule in (NumberRule("decimal_places", 2), NumberRule("integer")):
                self.assertEqual(can_read(rule, ["1", text]), value(rule, text) != UNREADABLE, (rule, text))

    def test_rough_sums_of_equal_columns_are_near(self) -> None:
        source = random.Random(16)
        for _ in range(400):
            rule = source.choice(
                [NumberRule("integer"), *(NumberRule(mode, d) for mode in NUMBER_MODES[1:] for d in (0, 1, 3))]
            )
            texts = [random_number(source) for _ in range(source.randint(0, 5))]
            values = [value(rule, text) for text in texts]
            if UNREADABLE in values:
                continue
            # The values themselves are texts that have them as values.
            first, second = rule.rough_sum(texts), rule.rough_sum([found or "" for found in values])
            if first is not None and second is not None:
                self.assertLessEqual(abs(first[0] - second[0]), first[1] + second[1], (rule, texts))

    def test_there_is_no_rough_sum_of_what_is_no_plain_number(self) -> None:
        for text in ("", "null", "5%", "1,000", "inf", "nan", "1e400", "x"):
            self.assertIsNone(NumberRule("decimal_places", 2, True).rough_sum(["1", text]), text)

    def test_first_unreadable_names_the_row(self) -> None:
        self.assertEqual(first_unreadable(BooleanRule(), ["yes", "maybe"]), "row 2 'maybe' is not a Boolean")
        self.assertIsNone(first_unreadable(BooleanRule(), ["yes"]))


if __name__ == "__main__":
    unittest.main()
