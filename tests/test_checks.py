"""Checks: every comparison, the four outcomes, and what passes elsewhere without evidence."""

from __future__ import annotations

import difflib
import json
import random
import unittest
from fractions import Fraction
from typing import Any
from unittest import mock

from schema_check import accepts, load_schema
from support import check_config, check_document

from evaluation.answers import read_answer
from evaluation.chain_functions import Context
from evaluation.check_comparisons import COMPARISONS, similarity
from evaluation.check_results import CheckResult
from evaluation.checks import NO_FUNCTIONS, Evaluator, gold_values, run_checks
from evaluation.configs import read_task_config
from evaluation.errors import EvaluationFatalError, StepError
from evaluation.patterns import Work

SCHEMA = load_schema("task_config.schema.json")

# An answer, a comparison, a value (and options), and whether it holds; None where it cannot be told.
COMPARED: tuple[tuple[Any, ...], ...] = (
    (1, "=", 1, True),
    (1.0, "=", 1, True),
    (1, "=", 1.0, True),
    (0.1, "=", 0.1, True),
    (True, "=", 1, False),
    (1, "=", True, False),
    (0, "=", False, False),
    ("1", "=", 1, False),
    (None, "=", None, True),
    (None, "=", False, False),
    ("", "=", None, False),
    ("a", "=", "a", True),
    ("é", "=", "e\u0301", False),
    ([1, [2]], "=", [1, [2]], True),
    ([1, 2], "=", [2, 1], False),
    ({"a": 1, "b": [True]}, "=", {"b": [True], "a": 1.0}, True),
    ({"a": 1}, "=", {"a": 1, "b": None}, False),
    (1, "!=", True, True),
    (1, "!=", 1.0, False),
    (2, "<", 10, True),
    ("2", "<", "10", False),
    (2, "<=", 2, True),
    (3, ">", 2.5, True),
    (2, ">=", 3, False),
    (2, "<", "10", None),
    (True, "<", 2, None),
    (None, ">", 0, None),
    ([1], "<", 2, None),
    (1, "in", [1, 2], True),
    (True, "in", [1, 2], False),
    ("1", "in", [1, 2], False),
    ([1], "in", [[1], 2], True),
    ("sl", "in", "Oslo", True),
    ("", "in", "Oslo", None),
    (1, "in", "1", None),
    (3, "not_in", [1, 2], True),
    (True, "not_in", [1], True),
    (1, "not_in", [1.0], False),
    ("x", "not_in", "Oslo", True),
    ("", "not_in", "Oslo", None),
    (["a", "b"], "contain", "a", True),
    ([1], "contain", True, False),
    ([1], "contain", "1", False),
    ("Oslo", "contain", "sl", True),
    ("Oslo", "contain", "os", False),
    ([""], "contain", "", True),
    ("Oslo", "contain", "", None),
    ("1", "contain", 1, None),
    ({"a": 1}, "contain", "a", None),
    (None, "contain", "a", None),
    (["a"], "not_contain", "b", True),
    (["a"], "not_contain", "a", False),
    ([], "not_contain", "b", True),
    ("Oslo", "not_contain", "x", True),
    ("Oslo", "not_contain", "", None),
    ("2024-05", "matches", r"\d{4}-\d\d", True),
    ("on 2024-05", "matches", r"\d{4}-\d\d", False),
    ("on 2024-05", "matches", r".*\d{4}-\d\d", True),
    (5, "matches", "5", None),
    ([1, 2, 2], "set_equal", [2, 1], True),
    ([1, 2], "set_equal", [1, True], False),
    ([], "set_equal", [], True),
    ("ab", "set_equal", ["a", "b"], None),
    ("1", "<=", 2, None),
    ("1", ">=", 2, None),
    (4, ">=", 3, True),
    (3, "<=", 2, False),
    (2.5, ">", 2.5, False),
    ("ab", "sequence_equal", ["a", "b"], None),
    ([1, 2], "sequence_equal", [1, 2.0], True),
    ([1, 2], "sequence_equal", [2, 1], False),
    (100.5, "approx", 100, {"absolute": 0.5}, True),
    (100.51, "approx", 100, {"absolute": 0.5}, False),
    (101, "approx", 100, {"relative": 0.01}, True),
    (99, "approx", 100, {"absolute": 0, "relative": 0.01}, True),
    (1.2, "approx", 1, {"absolute": 0.1, "relative": 0.1}, False),
    (0.3, "approx", 0.1, {"absolute": 0.2}, True),
    (-101, "approx", -100, {"relative": 0.01}, True),
    ("1", "approx", 1, {"absolute": 1}, None),
    (True, "approx", 1, {"absolute": 1}, None),
    ("Oslo", "similar", "Oslo", {"threshold": 1}, True),
    ("abc", "similar", "abd", {"threshold": 0.66}, True),
    ("abc", "similar", "abd", {"threshold": 0.67}, False),
    ("", "similar", "", {"threshold": 1}, True),
    ("", "similar", "a", {"threshold": 0.01}, False),
    (1, "similar", "1", {"threshold": 0.5}, None),
)


def outcomes(
    document: dict[str, Any], answer: Any, gold: bytes = b"", redact: bool = False, work: int = 10**6
) -> list[CheckResult]:
    """Return the results of a config's checks on an answer, bytes or a value of JSON."""
    config = check_config(document)
    data = answer if isinstance(answer, bytes) else json.dumps(answer, ensure_ascii=False).encode()
    evaluator = Evaluator(NO_FUNCTIONS, Context(), redact)
    expected = gold_values(config.checks, gold, "gold", evaluator)
    return list(run_checks(config.checks, expected, data, evaluator._replace(context=Context(work=work))))


def check(func: str, op: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"func": func, "op": op, "value": value, **more}


class ComparisonTest(unittest.TestCase):
    def test_table(self) -> None:
        for actual, op, value, *options, holds in COMPARED:
            with self.subTest(actual=actual, op=op, value=value):
                more = {"op_args": options[0]} if options else {}
                (result,) = outcomes(check_document(check("json", op, value, **more)), actual)
                self.assertEqual(result.outcome, {True: "passed", False: "failed", None: "error"}[holds], result.reason)

    def test_every_comparison_holds_fails_and_cannot_be_told(self) -> None:
        seen = {op: {row[-1] for row in COMPARED if row[1] == op} for op in COMPARISONS}
        for op, found in seen.items():
            with self.subTest(op=op):
                # What compares values of all kinds can always be told.
                self.assertEqual(found, {True, False} if op in ("=", "!=") else {True, False, None})

    def test_reasons_have_both_values(self) -> None:
        for op, value, more, reason in (
            ("=", 4, {}, "expected = 4, got 'a\\x1b'"),
            ("!=", "a\x1b", {}, "expected != 'a\\x1b', got 'a\\x1b'"),
            ("in", ["b", 1], {}, "expected in [\"b\", 1], got 'a\\x1b'"),
            (
                "similar",
                "abc",
                {"op_args": {"threshold": 0.9}},
                "expected similar 'abc', got 'a\\x1b' (the ratio is 0.4000, not 0.9)",
            ),
            ("<", 3, {}, "< cannot put a text and a number in order"),
            ("set_equal", [1], {}, "set_equal takes a list, got a text"),
        ):
            with self.subTest(op=op):
                (result,) = outcomes(check_document(check("json", op, value, **more)), "a\x1b")
                self.assertEqual(result.reason, reason)

    def test_dates_are_compared_as_dates(self) -> None:
        for op, value, holds in (
            ("=", "20240131", True),
            ("<", "2024-02-01T00:00Z", True),
            ("in", ["2024-W05-3"], True),
            ("!=", "2024-01-31", False),
        ):
            (result,) = outcomes(check_document(check("json -> date", op, value)), "2024-01-31")
            self.assertEqual(result.outcome == "passed", holds, op)

    def test_similarity_is_that_of_difflib(self) -> None:
        source = random.Random(1)
        for _ in range(300):
            one, other = ("".join(source.choices("abc ", k=source.randrange(12))) for _ in range(2))
            expected = difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
            self.assertAlmostEqual(float(similarity(one, other, Work(10**6))), expected)
        self.assertEqual(similarity("abc", "abd", Work(10**6)), Fraction(2, 3))

    def test_similarity_is_bounded(self) -> None:
        with self.assertRaises(StepError):
            similarity("ab" * 2_000, "ba" * 2_000, Work(1_000_000))
        text = "all happy families are alike; " * 60
        self.assertGreater(similarity(text, text.replace("happy", "merry"), Work(20_000_000)), Fraction(4, 5))
        (result,) = outcomes(
            check_document(check("json", "similar", "x" * 3_000, op_args={"threshold": 0.5})), "xy" * 20_000
        )
        self.assertEqual(result.outcome, "error")


class OutcomeTest(unittest.TestCase):
    def test_nothing_passes_without_evidence(self) -> None:
        for name, checked, answer, outcome in (
            ("foreach over nothing", check("json -> get(a) -> foreach", "=", 1), {"a": []}, "error"),
            ("a missing key is not null", check("json -> get(a)", "=", None), {}, "failed"),
            ("null is null", check("json -> get(a)", "=", None), {"a": None}, "passed"),
            ("a default is the author's", check("json -> get(a, null)", "=", None), {}, "passed"),
            ("a missing key is not another value", check("json -> get(a)", "!=", 5), {}, "failed"),
            ("a missing key in no list", check("json -> get(a)", "not_in", [1]), {}, "failed"),
            ("the length of a text", check("json -> get(a) -> len", "=", 4), {"a": "Oslo"}, "passed"),
            ("one is not true", check("json", "=", True), 1, "failed"),
            ("an exception is no answer", check("json -> get(a) -> number", "contain", "x"), None, None),
            ("no sum of nothing", check("json -> sum", "<=", 10), [], "failed"),
            ("no number in no text", check("json -> number", "!=", 5), "", "error"),
            ("an error is not unequal", check("json -> get(a) -> len", "!=", 5), {"a": 7}, "error"),
        ):
            with self.subTest(name):
                document = check_document(checked)
                if outcome is None:
                    with self.assertRaises(EvaluationFatalError):
                        outcomes(document, answer)
                    continue
                self.assertEqual(outcomes(document, answer)[0].outcome, outcome)

    def test_each_element_must_hold(self) -> None:
        document = check_document(check("json -> foreach -> get(n)", "<", 3))
        for answer, outcome, reason in (
            ([{"n": 1}, {"n": 2}], "passed", None),
            ([{"n": 1}, {"n": 4}, {"n": 5}], "failed", "element 2: expected < 3, got 4"),
            ([{"n": 1}, {}], "failed", "element 2: step 3, get(n): finds no key 'n', expected < 3"),
            ([{"n": 1}, {"n": "x"}], "error", "element 2: < cannot put a text and a number in order"),
            ([{"n": 1}, 7], "error", "element 2: step 3, get(n): expected a list or an object, got a number"),
            ({}, "error", "step 2, foreach: expected a list, got an object"),
        ):
            (result,) = outcomes(document, answer)
            self.assertEqual((result.outcome, result.reason), (outcome, reason))
        nested = check_document(check("json -> foreach -> foreach", "=", 1))
        self.assertEqual(outcomes(nested, [[1], [1, 2]])[0].reason, "element 2.2: expected = 1, got 2")

    def test_an_empty_list_where_it_is_allowed(self) -> None:
        document = check_document(check("json -> foreach", "=", 1, op_args={"allow_empty": True}))
        self.assertEqual(
            [outcomes(document, answer)[0].outcome for answer in ([], [1], [2])], ["passed", "passed", "failed"]
        )
        document = check_document(check("json -> foreach", "=", 1, op_args={"allow_empty": False}))
        self.assertEqual(outcomes(document, [])[0].outcome, "error")

    def test_required(self) -> None:
        document = check_document(
            check("json -> len", "=", 1),
            check("json -> get(0)", "=", 1, required=True),
            check("json", "=", [1], desc="all of it", required=True),
            check("json", "=", [1]),
        )
        for answer, expected in (
            ([1], ["passed"] * 4),
            ([2], ["passed", "failed", "skipped", "skipped"]),
            ([1, 2], ["failed", "passed", "failed", "skipped"]),
            (7, ["error", "error", "skipped", "skipped"]),
        ):
            results = outcomes(document, answer)
            self.assertEqual([result.outcome for result in results], expected)
            if "skipped" in expected:
                number = expected.index("skipped")
                self.assertEqual(results[-1].reason, f"check {number} is required and did not pass")

    def test_values_from_gold(self) -> None:
        document = check_document(
            {"func": "json -> get(n)", "op": "=", "value_from": "gold", "value_func": "json -> get(n)"},
            {"func": "json", "op": "=", "value_from": "gold"},
        )
        self.assertEqual([one.outcome for one in outcomes(document, {"n": 1}, b'{"n": 1.0}')], ["passed", "passed"])
        self.assertEqual([one.outcome for one in outcomes(document, {"n": 2}, b'{"n": 1.0}')], ["failed", "failed"])

    def test_a_bad_gold_file_is_fatal(self) -> None:
        for func, op, value_func, gold, reason in (
            ("json", "=", "json", b"{", "gold, for checks[0]: step 1, json: is not JSON"),
            ("json", "=", "json -> get(n)", b"{}", "step 2, get(n): finds no key 'n'"),
            ("json", "=", "json -> get(n) -> len", b'{"n": 1}', "step 3, len: expected"),
            ("json", "set_equal", "json", b"{}", "set_equal takes a list as expected value, got an object"),
            ("json", "in", "json", b"[]", "takes no empty list"),
            ("json", "matches", "json", b'"("', "takes a pattern, and this one has a group that is not closed"),
            ("json -> len", "!=", "json", b'"7"', "!= has nothing to compare: func gives a number, and gold '7'"),
            ("json -> len", "not_in", "json", b'["1"]', "not_in has nothing to compare"),
            ("csv", "contain", "json", b"[1]", "contain has nothing to compare"),
            (
                "text -> lower",
                "not_contain",
                "json",
                b'"Oslo"',
                "takes what text -> lower can give, such as 'oslo', and gold gives 'Oslo'",
            ),
            ("text -> lower", "not_in", "json", b'["Oslo"]', "takes what text -> lower can give, such as 'oslo'"),
            ("text", "!=", "json", b'" Oslo"', "takes what text can give, such as 'Oslo', and gold gives ' Oslo'"),
            ("text", "contain", "json", b'""', "takes a text that is not empty"),
        ):
            checked = {"func": func, "op": op, "value_from": "gold", "value_func": value_func}
            with self.subTest(op=op, gold=gold), self.assertRaises(EvaluationFatalError) as caught:
                outcomes(check_document(checked), 1, gold)
            self.assertIn(reason, str(caught.exception))
            self.assertRegex(
                caught.exception.redacted, r"^gold, for checks\[0\]: (?:step \d cannot be run|not what its)"
            )
        dates = {"func": "json -> date", "op": "=", "value_from": "gold", "value_func": "json -> date"}
        self.assertEqual(outcomes(check_document(dates), "20240131", b'"2024-01-31"')[0].outcome, "passed")

    def test_redacted_results_show_nothing(self) -> None:
        document = check_document(
            check("json -> get('secret key')", "=", "secret value", desc="secret aim"),
            check("json -> get(a) -> foreach -> len", "=", "secret".__len__()),
            check("json -> get(a) -> foreach", "matches", "secret"),
            check("json -> get(b)", "<", 3),
        )
        results = outcomes(document, {"a": ["secret", 5], "b": "secret"}, redact=True)
        self.assertEqual(
            [result.reason for result in results],
            [
                "step 2 finds nothing",
                "element 2: step 4 cannot be run",
                "element 2: the comparison cannot be run",
                "the comparison cannot be run",
            ],
        )
        (result,) = outcomes(check_document(check("json", "=", 1)), 2, redact=True)
        self.assertEqual(result, CheckResult("failed", reason="the comparison does not hold"))
        for result in results:
            self.assertNotIn("secret", json.dumps(result.to_dict()))

    def test_an_answer_is_read_once_for_all_checks(self) -> None:
        document = check_document(*[check("json -> len", "=", 1)] * 9)
        for answer in (b"[1]", b"[1"):
            with mock.patch("evaluation.chain_functions.read_answer", wraps=read_answer) as reader:
                self.assertEqual(len({result.outcome for result in outcomes(document, answer)}), 1)
            reader.assert_called_once()

    def test_what_is_expected_is_looked_at_once(self) -> None:
        numbers = list(range(1_000))
        nested = [numbers] * 10
        for op, value, answer in (
            ("in", numbers, numbers),
            ("!=", numbers, [1] * 1_000),
            ("not_in", numbers, [-1] * 1_000),
            ("set_equal", numbers, [[1]] * 10),
            ("contain", nested, [["a"]] * 500),
        ):
            with self.subTest(op=op):
                document = check_document(check("json -> foreach", op, value))
                (result,) = outcomes(document, answer, work=30_000)
                self.assertIn(result.outcome, ("passed", "failed"))

    def test_work_is_bounded_over_all_checks(self) -> None:
        document = check_document(*[check("json -> sort -> unique -> count(1)", "=", 1)] * 100)
        found = [result.outcome for result in outcomes(document, list(range(100)), work=10_000)]
        self.assertEqual(found, sorted(found, reverse=True))
        self.assertEqual(set(found), {"passed", "error"})


REMOVED, NULL = object(), object()
# What is changed in a config that is valid, and what is said of it; None: it stays valid.
BASE = check_document(
    check(
        "json -> get(a) -> foreach",
        "approx",
        1.5,
        op_args={"absolute": 0.5, "allow_empty": True},
        desc="d",
        required=True,
    )
)
CHANGES: tuple[tuple[dict[str, Any], dict[str, Any], str | None, bool], ...] = (
    ({"prediction_file": "prediction.txt"}, {}, None, True),
    ({"prediction_file": "prediction.csv"}, {}, None, True),
    ({"prediction_file": "answer.json"}, {}, "prediction_file: expected one of prediction.json,", False),
    ({"prediction_file": None}, {}, "prediction_file: expected one of", False),
    ({"schema_version": "1.0"}, {}, "schema_version: expected '1.1', got '1.0'", False),
    ({"columns": []}, {}, "expected only the keys", False),
    ({"order_sensitive": True}, {}, "expected only the keys", False),
    ({"checks": []}, {}, "checks: expected a list of 1 to 100 checks, got a list of 0", False),
    ({"checks": {}}, {}, "checks: expected a list of 1 to 100 checks, got an object", False),
    ({"checks": None}, {}, "checks: expected a list of 1 to 100 checks, got null", False),
    ({"checks": [1]}, {}, "checks[0]: expected an object, got 1", False),
    ({"checks": [check("json", "=", 1)] * 100}, {}, None, True),
    ({"checks": [check("json", "=", 1)] * 101}, {}, "got a list of 101", False),
    ({"check": []}, {}, "expected only the keys", False),
    ({"checks": REMOVED}, {}, "expected checks, or columns and order_sensitive, got none of them", False),
    ({}, {"opp": "="}, "checks[0]: expected only the keys func, op, value, value_from, value_func,", False),
    ({}, {"func": None}, "checks[0].func: expected a value, the key is required", False),
    ({}, {"func": 1}, "checks[0].func: expected a string, got 1", False),
    ({}, {"func": "json -> get(a) -> lenn"}, "checks[0].func: unknown function lenn, did you mean len?", True),
    ({}, {"op": None}, "checks[0].op: expected a value", False),
    ({}, {"op": "=="}, "checks[0].op: expected one of =, !=, <,", True),
    ({}, {"op": 1}, "checks[0].op: expected a string", False),
    ({}, {"value": None}, "checks[0].value: expected a value, the key is required", False),
    ({}, {"value": "1"}, "approx takes a number as expected value, got a text", True),
    ({}, {"value": True}, "approx takes a number as expected value, got a boolean", True),
    ({}, {"value_from": "gold"}, "checks[0].value: expected no value beside value_from", False),
    ({}, {"value": None, "value_from": "gold"}, None, True),
    ({}, {"value": None, "value_from": "prediction"}, "checks[0].value_from: expected 'gold'", False),
    ({}, {"value": None, "value_from": "gold", "value_func": "json -> get(x)"}, None, True),
    (
        {},
        {"value": None, "value_from": "gold", "value_func": "get(x)"},
        "checks[0].value_func: expected one of raw",
        True,
    ),
    (
        {},
        {"value": None, "value_from": "gold", "value_func": "text"},
        "approx takes a number as expected value, got a text",
        True,
    ),
    ({}, {"value": None, "value_from": "gold", "value_func": "json -> foreach"}, "there can be no foreach", True),
    ({}, {"value": None, "value_from": "gold", "value_func": 1}, "checks[0].value_func: expected a string", False),
    ({}, {"value_func": "json"}, 'expected no such key without "value_from"', False),
    ({}, {"op_args": None}, "approx needs absolute or relative", True),
    ({}, {"op_args": []}, "checks[0].op_args: expected an object", False),
    ({}, {"op_args": {"relative": 0.1}}, None, True),
    ({}, {"op_args": {"absolut": 0.1}}, "approx has no option 'absolut', only absolute and relative", True),
    ({}, {"op_args": {"absolute": -1}}, "approx takes a number from 0 as absolute", True),
    ({}, {"op_args": {"absolute": "1"}}, "approx takes a number from 0 as absolute", True),
    ({}, {"op_args": {"absolute": True}}, "approx takes a number from 0 as absolute", True),
    ({}, {"op_args": {"absolute": 1, "allow_empty": 1}}, "allow_empty: expected true or false, got 1", True),
    ({}, {"func": "json", "op_args": {"absolute": 1, "allow_empty": True}}, "only where the chain has foreach", True),
    ({}, {"op": "=", "op_args": {"threshold": 1}}, "= has no option 'threshold'", True),
    ({}, {"op": "similar", "value": "x", "op_args": {}}, "similar needs a threshold", True),
    ({}, {"op": "similar", "value": "x", "op_args": {"threshold": 0}}, "similar takes a number above 0", True),
    ({}, {"op": "similar", "value": "x", "op_args": {"threshold": 1.5}}, "and at most 1 as threshold", True),
    (
        {},
        {"op": "similar", "value": "x", "op_args": {"threshold": 1, "ratio": 1}},
        "no option 'ratio', only threshold",
        True,
    ),
    ({}, {"op": "in", "value": [], "op_args": {}}, "in takes no empty list", True),
    ({}, {"op": "not_in", "value": "", "op_args": {}}, "not_in takes no empty list and no empty text", True),
    (
        {},
        {"op": "matches", "value": "(", "op_args": {}},
        "matches takes a pattern, and this one has a group that is not closed (at its character 1)",
        True,
    ),
    ({}, {"op": "set_equal", "value": {}, "op_args": {}}, "set_equal takes a list as expected value", True),
    ({}, {"op": "=", "value": {"a": [1e300]}, "op_args": {}}, None, True),
    ({}, {"desc": 1}, "checks[0].desc: expected a string", False),
    ({}, {"desc": NULL}, "checks[0].desc: expected a string, got null", False),
    ({}, {"op_args": {"\x1b[31m\n": 1}}, "approx has no option '\\x1b[31m\\x0a', only", True),
    ({}, {"op": "similar", "value": "x" * 100_001, "op_args": {"threshold": 1}}, "similar takes at most 100000", True),
    ({}, {"desc": "x" * 1000}, None, True),
    ({}, {"desc": "x" * 1001}, "checks[0].desc: expected at most 1000 characters", False),
    ({}, {"required": 1}, "checks[0].required: expected true or false", False),
)
# Chains and values that can never be equal, or can only be so in one way.
POINTLESS = (
    ("json -> len", "!=", "3"),
    ("json -> len", "=", None),
    ("text", "=", 3),
    ("text", "not_in", [3, 4]),
    ("json -> len", "not_in", ["3"]),
    ("json -> len", "in", "123"),
    ("csv", "not_contain", "Oslo"),
    ("text", "contain", 3),
    ("json -> date", "<", 5),
    ("json -> date", "<", "in May"),
    ("csv", "<", 3),
    ("json -> number", "matches", "3"),
    ("json -> len", "contain", 3),
    ("json -> date", "similar", "2024"),
    ("csv", "!=", [{"a": 1}]),
    ("csv", "contain", {"a": 1}),
    ("csv -> get(0)", "!=", {"a": 1}),
    ("csv -> get(0)", "=", {"a": ["1"]}),
    ("csv", "set_equal", [1, 2]),
    ("csv -> foreach -> get(a)", "not_in", [1, None]),
    ("text -> lower", "not_contain", "Bergen"),
    ("text -> lower", "!=", "Bergen"),
    ("json -> text", "not_in", ["a", " b"]),
    ("text", "=", "a\r\nb"),
    ("text", "!=", "cafe\u0301"),
    ("json -> lower -> text", "=", " a"),
    ("text", "not_contain", ""),
    ("text", "not_contain", "caf" + "e\u0301"),
    ("text", "contain", "a\r\nb"),
    ("json -> sort -> first", "!=", None),
    ("json -> sort", "not_contain", None),
)
NOT_POINTLESS: tuple[tuple[str, str, Any], ...] = (
    ("csv", "=", [{"a": "1"}]),
    ("csv", "!=", []),
    ("csv -> get(0)", "=", {"a": "1"}),
    ("csv -> get(0, 5)", "=", 5),
    ("json -> get(a, 5)", "=", {"a": [1]}),
    ("text -> lower", "contain", " in bergen "),
    ("text", "contain", "Cafe "),
    ("text -> lower", "=", "bergen"),
    ("text", "in", " Oslo, Bergen "),
    ("text", "contain", "\u0301"),
    ("text -> lower", "=", "j\u030c"),
    ("text", "=", "x" * 2_200_000),
    ("text", "in", ["é" * 2_200_000]),
    ("text -> lower", "in", ["oslo", "bergen"]),
    ("json", "contain", ""),
    ("json -> lower -> len", "=", 5),
    ("json -> date", "=", "20240131"),
)


class ConfigTest(unittest.TestCase):
    def fault(self, document: dict[str, Any]) -> str | None:
        try:
            read_task_config(json.dumps(document).encode(), "task_1.json")
        except EvaluationFatalError as error:
            return str(error)
        return None

    def test_table_of_documents(self) -> None:
        self.assertIsNone(self.fault(BASE))
        for whole, of_check, expected, in_schema in CHANGES:
            document = {key: value for key, value in {**BASE, **whole}.items() if value is not REMOVED}
            if of_check:
                merged = {**BASE["checks"][0], **of_check}
                kept = {key: value for key, value in merged.items() if value is not None}
                document["checks"] = [{key: None if value is NULL else value for key, value in kept.items()}]
            with self.subTest(whole=str(whole)[:60], of_check=of_check):
                fault = self.fault(document)
                if expected is None:
                    self.assertIsNone(fault)
                else:
                    self.assertIn(expected, fault or "(accepted)")
                self.assertEqual(accepts(SCHEMA, document), in_schema)

    def test_comparisons_that_say_nothing(self) -> None:
        for func, op, value in POINTLESS:
            with self.subTest(func=func, op=op, value=value):
                more = {"op_args": {"threshold": 1}} if op == "similar" else {}
                fault = self.fault(check_document(check(func, op, value, **more)))
                self.assertRegex(fault or "(accepted)", r"^config 'task_1\.json', checks\[0\]\.(op|value): ")

    def test_a_date_beside_a_text_of_gold(self) -> None:
        for func, value_func, is_hinted in (("json -> date", "text", True), ("json -> len", "text", False)):
            checked = {"func": func, "op": "=", "value_from": "gold", "value_func": value_func}
            fault = self.fault(check_document(checked)) or "(accepted)"
            self.assertIn("checks[0].value_func: = says nothing of a", fault)
            self.assertEqual(fault.endswith("; end it with -> date"), is_hinted)

    def test_comparisons_that_say_something(self) -> None:
        for func, op, value in NOT_POINTLESS:
            with self.subTest(func=func, op=op, value=value):
                self.assertIsNone(self.fault(check_document(check(func, op, value))))

    def test_a_fault_of_a_chain_is_drawn(self) -> None:
        fault = self.fault(check_document(check("json -> get(a) -> lenn", "=", 1)))
        self.assertEqual(
            fault,
            "config 'task_1.json', checks[0].func: unknown function lenn, did you mean len?\n"
            "    json -> get(a) -> lenn\n"
            "                      ^^^^",
        )

    def test_numbers_are_exact(self) -> None:
        (check_,) = check_config(check_document(check("json", "=", 0.1))).checks
        self.assertEqual(str(check_.value), "0.1")
        self.assertIn("checks[0].value: the value holds a number of", self.fault_of_text("1e1001") or "")
        self.assertIsNone(self.fault_of_text("9" * 1000))
        self.assertIn("holds an integer of 1001 characters", self.fault_of_text("9" * 1001) or "")
        self.assertIsNone(self.fault_of_text("1e100"))

    def fault_of_text(self, value: str) -> str | None:
        text = json.dumps(check_document(check("json", "=", 1))).replace('"value": 1', f'"value": {value}')
        try:
            read_task_config(text.encode(), "task_1.json")
        except EvaluationFatalError as error:
            return str(error)
        return None

    def test_half_surrogates(self) -> None:
        self.assertIn(
            "without half a surrogate pair", self.fault(check_document(check("json -> get(\ud800)", "=", 1))) or ""
        )
        self.assertIn("without half", self.fault(check_document(check("json", "=", 1, desc="\ud800"))) or "")
        self.assertIsNone(self.fault(check_document(check("json", "=", "\ud800"))))


if __name__ == "__main__":
    unittest.main()
