"""Function chains: their syntax, what is found before a run and where it is drawn, and what each function does."""

from __future__ import annotations

import contextlib
import gc
import json
import unittest
from decimal import Decimal
from typing import Any

import support  # noqa: F401  (finds the package)

from evaluation.answers import canonical
from evaluation.chain_functions import FUNCTIONS, Context
from evaluation.chain_syntax import MOST_STEPS, ChainFaultError, parse_chain
from evaluation.chains import StepStopError, read_chain, run_chain
from evaluation.errors import InputError, StepError
from evaluation.tables import DEFAULT_LIMITS

# A chain, and what is said of it; the marks stand below what the message is about.
FAULTS = (
    ("", "expected the name of a function", "^"),
    ("json ->", "expected the name of a function", "       ^"),
    ("json -> -> len", "expected the name of a function", "        ^"),
    ("json get(a)", "expected an arrow -> or the end of the chain", "     ^"),
    ("json -> get(a", "expected a closing bracket for this one", "           ^"),
    ("json -> get('a)", "expected a closing quote for this one", "            ^"),
    ("json -> get(a,)", "expected an argument", "              ^"),
    ("json -> get(,a)", "expected an argument", "            ^"),
    ("json -> get(a->b)", "expected a comma or a closing bracket", "             ^"),
    ("json -> get(a 'b')", "expected a comma or a closing bracket", "              ^"),
    ("json -> lenn", "unknown function lenn, did you mean len?", "        ^^^^"),
    ("json -> Sort", "unknown function Sort, did you mean sort?", "        ^^^^"),
    ("xyzzy", "unknown function xyzzy", "^^^^^"),
    ("len", "expected one of raw, text, json, csv as the first step, got len", "^^^"),
    ("json -> raw", "raw takes a file, got", "        ^^^"),
    ("json -> len -> len", "len takes a list or an object or a text, got a number", "               ^^^"),
    ("text -> foreach", "foreach takes a list, got a text", "        ^^^^^^^"),
    ("text -> get(a)", "get takes a list or an object, got a text", "        ^^^"),
    ("csv -> get(city)", "expected a whole number, as this is taken from a list", "           ^^^^"),
    ("csv -> sum", "expected a list of numbers", "       ^^^"),
    ("csv -> sort", "expected a list of numbers or texts", "       ^^^^"),
    ("csv -> foreach -> get(a) -> date -> lower", "lower takes a text, got a date", " " * 36 + "^^^^^"),
    ("json -> number -> date", "date takes a text, got a number", "                  ^^^^"),
    ("json -> get", "get takes 1 to 2 arguments, got 0", "        ^^^"),
    ("json -> get(a, b, c)", "get takes 1 to 2 arguments, got 3", "        ^^^"),
    ("json -> len(1)", "len takes no arguments, got 1", "        ^^^"),
    ("json -> count()", "count takes 1 argument, got 0", "        ^^^^^"),
    ("json -> count(+1)", "expected a number as in JSON and of up to 100 digits, or quotes", "              ^^"),
    ("json -> count(007)", "expected a number as in JSON", "              ^^^"),
    ("json -> count(.5)", "expected a number as in JSON", "              ^^"),
    ("json -> count(1e100)", "expected a number as in JSON", "              ^^^^^"),
    ("json -> count(True)", "expected true, or True in quotes", "              ^^^^"),
    ("json -> get(a, None)", "expected null, or None in quotes", "               ^^^^"),
    ("json -> get(a, [])", "expected an argument; what holds brackets is to be quoted", "               ^"),
    ("json -> get([0])", "expected an argument; what holds brackets is to be quoted", "            ^"),
    ("text -> regex((a))", "expected an argument; what holds brackets is to be quoted", "              ^"),
    (
        "text -> regex(a{1,2})",
        "expected a comma or a closing bracket; what holds others is to be quoted",
        "               ^",
    ),
    ("text -> regex(a,b)", "regex takes 1 argument, got 2; quote what holds commas", "        ^^^^^"),
    ("text -> regex('x*')", "the pattern may match an empty text, which tells nothing", "              ^^^^"),
    ("text -> regex('\bx')", "the pattern holds a control character", "              ^^^^^^^"),
    ("JSON -> len", "unknown function JSON, did you mean json?", "^^^^"),
    ("json -> get(true)", "expected a key or a whole number; quote what is to be a key", "            ^^^^"),
    ("json -> get(1.5)", "expected a key or a whole number; quote what is to be a key", "            ^^^"),
    ("text -> regex(5)", "expected a pattern, so quote it", "              ^"),
    ("text -> regex('(a')", "the pattern has a group that is not closed (at its character 1)", "              ^^^^"),
    ("text -> regex('(?=a)')", "is not supported (at its character 1)", "              ^^^^^^^"),
    ("json -> \x1b", "expected the name of a function", "        ^^^^"),
)
ANSWER = {
    "n": 3,
    "t": " Oslo ",
    "numbers": [3, Decimal("1.5"), 3, -2],
    "texts": ["b", "a", "b"],
    "mixed": [1, "1", True, None, [1], {"a": 1}],
    "empty": [],
    "nothing": None,
    "o": {"a b": 1, "it's": 2, "0": "zero", "true": "yes"},
    "rows": [{"x": 1, "y": [1, 2]}, {"x": 2, "y": [3]}],
}


class SyntaxTest(unittest.TestCase):
    def test_arguments(self) -> None:
        for text, expected in (
            ("get(a b)", ["a b"]),
            ("get( a , b )", ["a", "b"]),
            ("get('a, b)->', \"it's\")", ["a, b)->", "it's"]),
            ('get(\'it\'\'s\', "say ""x""")', ["it's", 'say "x"']),
            (r"regex('\d+\'')", None),
            (r"regex('\d+\\')", [r"\d+\\"]),
            ("get('')", [""]),
            ("get(0, -1)", [0, -1]),
            ("get(1.50, '007')", [Decimal("1.50"), "007"]),
            ("count(1e2)", [Decimal("1e2")]),
            ("count(-0.5E-3)", [Decimal("-0.5E-3")]),
            ("get(2024-01-31, 1_000)", ["2024-01-31", "1_000"]),
            ("get(true, false, null)", [True, False, None]),
            ("get('true', '1')", ["true", "1"]),
            ("get(é)", ["é"]),
            ("get()", []),
        ):
            with self.subTest(text=text):
                if expected is None:
                    with self.assertRaises(ChainFaultError):
                        parse_chain(text)
                    continue
                (step,) = parse_chain(text)
                values = [argument.value for argument in step.arguments]
                self.assertEqual((values, list(map(type, values))), (expected, list(map(type, expected))))

    def test_space_is_free(self) -> None:
        names = [step.name for step in parse_chain(" json->get (a)\n->\tlen ")]
        self.assertEqual(names, ["json", "get", "len"])

    def test_limits(self) -> None:
        self.assertEqual(len(parse_chain(" -> ".join(["a"] * MOST_STEPS))), MOST_STEPS)
        for text in (" -> ".join(["a"] * (MOST_STEPS + 1)), "a" * 10_001, "(" * 10_000):
            with self.assertRaises(ChainFaultError):
                parse_chain(text)

    def test_a_long_chain_is_cut_around_the_place(self) -> None:
        text = "json" + " -> get(a)" * 30 + " -> nope" + " -> get(a)" * 30
        with self.assertRaises(ChainFaultError) as caught:
            read_chain(text, {})
        chain, marks = caught.exception.drawn(text).split("\n")
        self.assertLess(len(chain), 140)
        self.assertTrue(chain.startswith("…") and chain.endswith("…"))
        self.assertEqual(chain[marks.index("^") : len(marks)], "nope")


class CheckTest(unittest.TestCase):
    def test_faults_are_drawn(self) -> None:
        for text, reason, marks in FAULTS:
            with self.subTest(chain=text), self.assertRaises(ChainFaultError) as caught:
                read_chain(text, {})
            with self.subTest(chain=text):
                self.assertIn(reason, str(caught.exception))
                self.assertEqual(caught.exception.drawn(text).split("\n")[1], marks)

    def test_what_may_be_right_is_let_through(self) -> None:
        for text in (
            "json -> get(routes) -> foreach -> get(city) -> len",
            "json -> get(a) -> json -> get(0) -> number",
            "csv -> foreach -> get(price) -> number",
            "csv -> get(0) -> get(city) -> lower",
            "csv -> len",
            "raw -> csv -> first -> len",
            "json -> get(a, 1) -> len",
            "json -> foreach -> foreach -> number",
            "json -> min -> number",
            "json -> get('true')",
        ):
            with self.subTest(chain=text):
                read_chain(text, {})

    def test_shapes(self) -> None:
        for text, kinds in (
            ("json -> len", {"number"}),
            ("csv", {"list"}),
            ("csv -> get(0)", {"object"}),
            ("csv -> foreach -> get(a)", {"text"}),
            ("csv -> foreach -> get(a, null)", {"text", "null"}),
            ("csv -> foreach -> get(a) -> date", {"date"}),
            ("json -> max", {"number", "text", "date"}),
        ):
            with self.subTest(chain=text):
                self.assertLessEqual(read_chain(text, {}).shape.kinds, kinds)

    def test_every_function_is_tried(self) -> None:
        tried = {step.name for text, _ in RESULTS for step in parse_chain(text)}
        self.assertEqual(tried, set(FUNCTIONS))


RESULTS: tuple[tuple[str, Any], ...] = (
    ("json -> get(n)", 3),
    ("json -> get(t)", " Oslo "),
    ("json -> get(t) -> text -> lower", "oslo"),
    ("json -> get(t) -> len", 6),
    ("json -> get(o) -> len", 4),
    ("json -> get(empty) -> len", 0),
    ("json -> get(o) -> get(a b)", 1),
    ("json -> get(o) -> get('it''s')", 2),
    ("json -> get(o) -> get(0)", "zero"),
    ("json -> get(o) -> get('true')", "yes"),
    ("json -> get(numbers) -> get(0)", 3),
    ("json -> get(numbers) -> get(-1)", -2),
    ("json -> get(numbers) -> get(9, none)", "none"),
    ("json -> get(missing, null)", None),
    ("json -> get(missing, 'x')", "x"),
    ("json -> get(nothing, 5)", None),
    ("json -> get(numbers) -> sort", [-2, Decimal("1.5"), 3, 3]),
    ("json -> get(texts) -> sort", ["a", "b", "b"]),
    ("json -> get(empty) -> sort", []),
    ("json -> get(texts) -> unique", ["b", "a"]),
    ("json -> get(mixed) -> unique -> len", 6),
    ("json -> get(texts) -> first", "b"),
    ("json -> get(numbers) -> last", -2),
    ("json -> get(numbers) -> sum", Decimal("5.5")),
    ("json -> get(numbers) -> min", -2),
    ("json -> get(texts) -> max", "b"),
    ("json -> get(mixed) -> count(1)", 1),
    ("json -> get(mixed) -> count('1')", 1),
    ("json -> get(mixed) -> count(true)", 1),
    ("json -> get(numbers) -> count(3.0)", 2),
    ("json -> get(rows) -> get(0) -> get(y) -> sum", 3),
    ("json -> get(t) -> regex('[A-Z]')", "O"),
    ("json -> get(t) -> regex('O(s)l')", "s"),
    ("raw -> regex('\"n\": ([0-9]+)') -> number", 3),
    ("csv -> len", 0),
    ("json -> foreach", "(an object)"),
    ("text -> date", "(a date)"),
)


class RunTest(unittest.TestCase):
    def run_on(self, text: str, data: Any, **options: Any) -> list[Any]:
        content = data if isinstance(data, bytes) else spelled(data)
        return [value for _, value in run_chain(read_chain(text, {}), content, {}, Context(), **options)]

    def stop(self, text: str, data: Any, **options: Any) -> str:
        with self.assertRaises(StepStopError) as caught:
            self.run_on(text, data, **options)
        return ("absent: " if caught.exception.is_absent else "error: ") + str(caught.exception)

    def test_results(self) -> None:
        for text, expected in RESULTS:
            with self.subTest(chain=text):
                if text in ("json -> foreach", "text -> date"):
                    self.assertIn("error: step 2", self.stop(text, ANSWER))
                    continue
                data: Any = b"h\n" if text.startswith("csv") else ANSWER
                (value,) = self.run_on(text, data)
                self.assertEqual(canonical(value), canonical(expected))

    def test_foreach(self) -> None:
        self.assertEqual(self.run_on("json -> get(rows) -> foreach -> get(x)", ANSWER), [1, 2])
        chain = read_chain("json -> get(rows) -> foreach -> get(y) -> foreach", {})
        found = list(run_chain(chain, spelled(ANSWER), {}, Context()))
        self.assertEqual(found, [((1, 1), 1), ((1, 2), 2), ((2, 1), 3)])

    def test_an_empty_list_is_no_evidence(self) -> None:
        text = "json -> get(empty) -> foreach"
        self.assertEqual(self.stop(text, ANSWER), "error: step 3, foreach: there is nothing in the list")
        self.assertEqual(self.run_on(text, ANSWER, allow_empty=True), [])
        nested = [{"a": [1]}, {"a": []}]
        self.assertIn("nothing in the list", self.stop("json -> foreach -> get(a) -> foreach", nested))
        for name in ("first", "last", "sum", "min", "max"):
            with self.subTest(name=name):
                self.assertEqual(
                    self.stop(f"json -> get(empty) -> {name}", ANSWER), f"absent: step 3, {name}: finds an empty list"
                )

    def test_what_is_not_there(self) -> None:
        for text, reason in (
            ("json -> get(city)", "step 2, get(city): finds no key 'city'"),
            ("json -> get(numbers) -> get(4)", "step 3, get(4): finds no element 4 in a list of 4"),
            ("json -> get(numbers) -> get(-5)", "step 3, get(-5): finds no element -5 in a list of 4"),
            ("json -> get(t) -> regex(x)", "step 3, regex(x): finds no match"),
            ("json -> get(t) -> regex('O|(s)')", "in which the group takes no part"),
        ):
            with self.subTest(chain=text):
                self.assertIn(reason, self.stop(text, ANSWER))
                self.assertIn("absent", self.stop(text, ANSWER))

    def test_what_cannot_be_run(self) -> None:
        for text, data, reason in (
            ("json", b"{", "step 1, json: is not JSON (line 1, column 2: it ends too early)"),
            ("raw", b"\xff", "step 1, raw: is not UTF-8 (byte 0)"),
            ("csv", b"a,b\n1\n", "step 1, csv: has 1 cell in data row 1, expected 2 as in the header"),
            ("csv", b"b,a,a\n0,1,2\n", "step 1, csv: has the column 'a' twice"),
            ("csv", b"", "step 1, csv: is empty"),
            ("json -> get(n) -> len", ANSWER, "step 3, len: expected a list or an object or a text, got a number"),
            ("json -> get(nothing) -> get(a)", ANSWER, "step 3, get(a): expected a list or an object, got null"),
            (
                "json -> get(numbers) -> get('0')",
                ANSWER,
                "step 3, get('0'): takes an element of a list by a whole number",
            ),
            ("json -> get(numbers) -> get(a)", ANSWER, "takes an element of a list by a whole number, not by 'a'"),
            ("json -> get(t) -> number", ANSWER, "step 3, number: ' Oslo ' is not a number"),
            ("json -> number", b'""', "step 2, number: '' is null, not a number"),
            ("json -> number", b'"1e2000"', "holds a number of more than 1000 digits"),
            ("json -> number", b"true", "expected a number or a text, got a boolean"),
            ("json -> date", b'"2024-02-30"', "step 2, date: '2024-02-30' is not an ISO 8601 date or time"),
            ("json -> date", b'"null"', "step 2, date: 'null' is null, not a date"),
            ("json -> get(mixed) -> sort", ANSWER, "expected a list of numbers or of texts, got one with"),
            ("json -> get(mixed) -> sum", ANSWER, "expected a list of numbers"),
            ("json -> get(texts) -> sum", ANSWER, "expected a list of numbers"),
            ("json -> sort", b"[true, false]", "expected a list of numbers or of texts, got one with boolean"),
            ("json -> max", b"[null]", "expected a list of numbers or of texts, got one with null"),
        ):
            with self.subTest(chain=text):
                self.assertIn(reason, self.stop(text, data))
                self.assertIn("error", self.stop(text, data))

    def test_numbers_and_dates_are_read_as_in_columns(self) -> None:
        for text, expected in (
            ("1,234.50", Decimal("1234.5")),
            (" 5. ", 5),
            (".5", Decimal("0.5")),
            ("1e3", 1000),
            ("５", 5),
            ("-0", 0),
            ("+7", 7),
        ):
            (value,) = self.run_on("json -> number", text)
            self.assertEqual(canonical(value), canonical(expected))
        for text, date in (
            ("20240131", "2024-01-31"),
            ("2024-01-31T00:00:00Z", "2024-01-31"),
            ("2024-W05-3", "2024-01-31"),
        ):
            self.assertEqual(self.run_on("json -> date", text), [date])

    def test_texts(self) -> None:
        data = "\ufeff Cafe\u0301 \r\nx ".encode()
        self.assertEqual(self.run_on("text", data), ["Café \nx"])
        self.assertEqual(self.run_on("raw", data), [" Cafe\u0301 \r\nx "])
        self.assertEqual(self.run_on("raw -> text", data), ["Café \nx"])

    def test_long_texts(self) -> None:
        for text in ("text", "raw -> text"):
            context = Context(DEFAULT_LIMITS._replace(cell_characters=10))
            chain = read_chain(text, {})
            self.assertEqual([value for _, value in run_chain(chain, "é".encode() * 10, {}, context)], ["é" * 10])
            with self.assertRaisesRegex(StepStopError, "text: has more than 10 characters"):
                list(run_chain(chain, b"a" * 11, {}, Context(DEFAULT_LIMITS._replace(cell_characters=10))))
        # Composing takes its time for some characters.
        with self.assertRaisesRegex(StepStopError, "takes more work"):
            list(run_chain(read_chain("raw -> text", {}), "\u0344".encode() * 1_000, {}, Context(work=900)))

    def test_what_cannot_be_read_is_let_go(self) -> None:
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        for data in (b'{"a": 1, "a": 2}', b"[1", b"\xff", b"[" * 200):
            for name in ("json", "raw -> json", "csv"):
                with contextlib.suppress(StepStopError):
                    list(run_chain(read_chain(name, {}), data, {}, Context()))
        kept = [found for found in gc.get_objects() if isinstance(found, (StepError, InputError, StepStopError))]
        self.assertEqual(kept, [])

    def test_records(self) -> None:
        data = b"city,price\nOslo,1.5\nBergen,2\n"
        self.assertEqual(
            self.run_on("csv", data), [[{"city": "Oslo", "price": "1.5"}, {"city": "Bergen", "price": "2"}]]
        )
        self.assertEqual(self.run_on("csv -> foreach -> get(price) -> number", data), [Decimal("1.5"), 2])

    def test_a_file_is_read_once(self) -> None:
        context = Context()
        chain = read_chain("json -> get(n)", {})
        self.assertEqual([value for _, value in run_chain(chain, spelled(ANSWER), {}, context)], [3])
        self.assertEqual(list(context.read), ["json"])
        # What was read counts from now on, whatever is given.
        self.assertEqual([value for _, value in run_chain(chain, b"", {}, context)], [3])

    def test_work_is_bounded(self) -> None:
        numbers = spelled(list(range(1000)))
        for name in ("sort", "unique", "sum", "max", "count(1)"):
            with (
                self.subTest(name=name),
                self.assertRaisesRegex(StepStopError, "takes more work than there is for one task"),
            ):
                list(run_chain(read_chain(f"json -> {name}", {}), numbers, {}, Context(work=500)))
        long = spelled({"a": "[1]" + " " * 100_000})
        for text, work in (("text -> lower", 500), ("json -> get(a) -> json", 5_000), ("json -> get(a) -> csv", 5_000)):
            with self.subTest(chain=text), self.assertRaisesRegex(StepStopError, "takes more work"):
                list(run_chain(read_chain(text, {}), long, {}, Context(work=work)))


def spelled(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, default=float).encode()


if __name__ == "__main__":
    unittest.main()
