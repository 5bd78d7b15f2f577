"""Functions of plugins in checks: plain and async, refused where they cannot be called, never taken for an answer."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unittest
from typing import Any
from unittest import mock

from support import ROOT, BenchmarkTestCase, check_document, environment, run_cli

import evaluation
from evaluation.check_plugins import COMPARISON_REGISTRY, STEP_REGISTRY, declared_functions
from evaluation.configs import load_config_set
from evaluation.errors import EvaluationFatalError

RULES = (ROOT / "evaluation" / "README.md").read_text(encoding="utf-8")
PLUGIN = """
import asyncio
def double(value, times=2):
    return value * times
async def words(value):
    await asyncio.sleep(0)
    return value.split()
def fail(value):
    raise ValueError(f"expected value: {value}")
def spoil(value):
    value.append("spoilt")
    return value
def strange(value):
    return {1, 2}
def longer(actual, expected, by=0):
    return len(actual) >= len(expected) + by
async def within(actual, expected, *, share):
    return abs(actual - expected) <= share * expected, f"off by {abs(actual - expected)}"
def broken(actual, expected):
    raise RuntimeError("true")
def truthy(actual, expected):
    return "yes"
def kinds(actual, expected):
    return type(actual).__name__ == expected
EVAL_FUNCTIONS = {"double": double, "text.words": words, "fail": fail, "spoil": spoil, "strange": strange}
COMPARE_FUNCTIONS = {"longer": longer, "within": within, "broken": broken, "truthy": truthy, "kinds": kinds}
COMPARE_FUNCTIONS["number_first"] = lambda actual, expected: (1, "one")
COMPARE_FUNCTIONS["number_last"] = lambda actual, expected: (True, 1)
COMPARE_FUNCTIONS["three"] = lambda actual, expected: (True, "a", "b")
"""


class CheckPluginTestCase(BenchmarkTestCase):
    def add_checks(self, number: int, answer: Any, *checks: dict[str, Any], **more: Any) -> None:
        task_id = f"task_{number}"
        document = check_document(*checks, task_id=task_id, **more)
        self.write(f"configs/{task_id}.json", json.dumps(document))
        (self.folder / "golds").mkdir(exist_ok=True)
        self.write(f"predictions/{task_id}/prediction.json", json.dumps(answer))

    def plugin(self, source: str = PLUGIN, name: str = "plugin.py") -> str:
        return str(self.write(name, source))

    def check(self, answer: Any, func: str, op: str, value: Any, **op_args: Any) -> dict[str, Any]:
        """Return the result of one check on an answer, with the functions of `PLUGIN`."""
        self.add_checks(1, answer, {"func": func, "op": op, "value": value, "op_args": op_args})
        (result,) = self.score("--plugin", self.plugin())["tasks"][0]["checks"]
        return dict(result)


class StepTest(CheckPluginTestCase):
    def test_plain_and_async_functions(self) -> None:
        for func, value in (
            ("json -> get(n) -> double", 6),
            ("json -> get(n) -> double(3)", 9),
            ("json -> get(x) -> double", 0.5),
            ("json -> get(t) -> text.words -> len", 3),
            ("json -> get(t) -> text.words -> foreach -> double(1) -> len", 1),
        ):
            with self.subTest(func=func):
                answer = {"n": 3, "x": 0.25, "t": "a b c"}
                result = self.check(answer, func, "=", value)
                self.assertEqual((result["outcome"], result["reason"]), ("passed", None))

    def test_what_is_raised_is_no_answer(self) -> None:
        result = self.check(5, "json -> fail", "!=", 1)
        self.assertEqual(result["outcome"], "error")
        self.assertEqual(result["reason"], "step 2, fail: raised ValueError in line 9: expected value: 5")
        result = self.check(5, "json -> strange", "!=", 1)
        self.assertEqual(
            result["reason"], "step 2, strange: returned what is no value of JSON, but an object of type set"
        )
        self.assertEqual(result["outcome"], "error")

    def test_values_are_copies(self) -> None:
        self.add_checks(
            1,
            ["a"],
            {"func": "json -> spoil -> len", "op": "=", "value": 2},
            {"func": "json -> len", "op": "=", "value": 1},
        )
        self.assertTrue(self.score("--plugin", self.plugin())["tasks"][0]["passed"])

    def test_what_configs_cannot_ask_for(self) -> None:
        for func, message in (
            ("json -> doubel", "unknown function doubel, did you mean double?"),
            ("json -> double(1, 2)", "double takes at most 1 argument, got 2"),
            ("json -> fail(1)", "fail takes no arguments, got 1"),
            ("double", "expected one of raw, text, json, csv as the first step"),
        ):
            with self.subTest(func=func):
                self.add_checks(1, 1, {"func": func, "op": "=", "value": 1})
                status, _, error = run_cli(*self.roots, "--plugin", self.plugin())
                self.assertEqual(status, 2)
                self.assertIn(message, error)
        self.add_checks(1, 1, {"func": "json -> double", "op": "=", "value": 1})
        self.assertIn("unknown function double", run_cli(*self.roots)[2])

    def test_objects_of_the_plugins_own_classes(self) -> None:
        plugin = self.plugin(
            """
import enum
import unittest.mock
def fail(*_):
    raise RuntimeError("secret")
def own(base, *methods):
    return type("Own", (base,), dict.fromkeys(methods, fail))
class City(str, enum.Enum):
    OSLO = "oslo"
class Text:
    __class__ = str
shared = [1]
for _ in range(50):
    shared = [shared, shared]
VALUES = {
    "text": own(str, "__str__", "__len__", "__iter__")("a"), "list": own(list, "__iter__")([1]),
    "tuple": own(tuple, "__iter__")((1,)), "object": own(dict, "items", "__iter__", "keys")(a=1),
    "whole": own(int, "__abs__", "__int__", "__lt__", "__index__")(1),
    "number": own(float, "__float__", "__repr__")(0.5),
    "mock": unittest.mock.Mock(spec=bool),
    "city": City.OSLO, "feigned": Text(), "shared": shared, "nan": float("nan"), "true": True,
}
EVAL_FUNCTIONS = {"pick": VALUES.get}
COMPARE_FUNCTIONS = {
    "odd": lambda actual, expected: own(tuple, "__iter__")((True, "x")),
    "mock": lambda actual, expected: unittest.mock.Mock(spec=bool),
    "raising": lambda actual, expected: raise_(),
}
class Odd(Exception):
    __traceback__ = property(fail)
def raise_():
    raise Odd("secret")
"""
        )
        for name, expected in (
            ("text", "a"),
            ("list", [1]),
            ("tuple", [1]),
            ("object", {"a": 1}),
            ("whole", 1),
            ("number", 0.5),
            ("city", "oslo"),
            ("true", True),
            ("feigned", None),
            ("mock", None),
            ("shared", None),
            ("nan", None),
        ):
            with self.subTest(name=name):
                self.add_checks(1, name, {"func": "json -> pick", "op": "=", "value": expected})
                (check,) = self.score("--plugin", plugin)["tasks"][0]["checks"]
                self.assertEqual(check["outcome"], "error" if expected is None else "passed", check["reason"])
        checks = [{"func": "json", "op": op, "value": 1} for op in ("odd", "mock", "raising")]
        self.add_checks(1, 1, *checks)
        for options in ([], ["--redact-gold"]):
            status, output, error = run_cli(*self.roots, "--plugin", plugin, *options)
            self.assertEqual((status, error), (0, ""))
            self.assertIn("3 of 3 checks did not pass", output)
            self.assertNotIn("secret", output)

    def test_what_they_leave_in_cycles_is_let_go(self) -> None:
        plugin = self.plugin(
            "import sys\nclass Kept:\n    def __del__(self):\n        sys.modules['evaluation'].let_go.append(1)\n"
            "async def f(value):\n    kept = Kept()\n    raise ValueError(kept)\nEVAL_FUNCTIONS = {'f': f}"
        )
        for number in (1, 2):
            self.add_checks(number, 1, {"func": "json -> f", "op": "=", "value": 1})
        let_go: list[int] = []
        with mock.patch.object(evaluation, "let_go", let_go, create=True):
            self.score("--plugin", plugin)
            self.assertEqual(let_go, [1, 1])

    def test_calls_are_bounded(self) -> None:
        self.add_checks(1, [1] * 50_000, {"func": "json -> foreach -> double", "op": "=", "value": 2})
        (check,) = self.score("--plugin", self.plugin())["tasks"][0]["checks"]
        self.assertRegex(
            check["reason"], "^element [0-9]+: step 3, double: takes more work than there is for one task$"
        )

    def test_what_is_never_awaited_is_muted_too(self) -> None:
        self.add_checks(1, 1, {"func": "json -> f", "op": "=", "value": 1})
        plugin = self.plugin("async def g(): pass\nEVAL_FUNCTIONS = {'f': lambda v: [g()]}")
        done = subprocess.run(
            [sys.executable, str(ROOT / "evaluate.py"), *self.roots, "--plugin", plugin, "--redact-gold"],
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class ComparisonTest(CheckPluginTestCase):
    def test_options_arrive(self) -> None:
        for answer, op, value, options, outcome, reason in (
            ("abc", "longer", "ab", {}, "passed", None),
            ("abc", "longer", "ab", {"by": 2}, "failed", "expected longer 'ab', got 'abc'"),
            (102, "within", 100, {"share": 0.02}, "passed", None),
            (103, "within", 100, {"share": 0.02}, "failed", "expected within 100, got 103 (off by 3)"),
            (1.0, "kinds", "float", {}, "passed", None),
            ([], "kinds", "list", {}, "passed", None),
            (1, "kinds", "int", {}, "passed", None),
            (1, "broken", 1, {}, "error", "broken raised RuntimeError in line 20: true"),
            (
                1,
                "number_first",
                1,
                {},
                "error",
                "number_first returned an object of type tuple, expected a Boolean, or a",
            ),
            (
                1,
                "number_last",
                1,
                {},
                "error",
                "number_last returned an object of type tuple, expected a Boolean, or a",
            ),
            (1, "three", 1, {}, "error", "three returned an object of type tuple, expected a Boolean, or a tuple"),
            (1, "truthy", 1, {}, "error", "truthy returned 'yes', expected a Boolean, or a tuple of one and a text"),
        ):
            with self.subTest(op=op, options=options):
                result = self.check(answer, "json", op, value, **options)
                self.assertEqual(result["outcome"], outcome)
                self.assertTrue((result["reason"] or "").startswith(reason or ""), result["reason"])

    def test_a_date_is_a_text_to_them(self) -> None:
        self.assertEqual(self.check("20240131", "json -> date", "kinds", "str")["outcome"], "passed")
        self.assertEqual(self.check("20240131", "json -> date", "longer", "2024-01-3x")["outcome"], "passed")

    def test_options_that_never_arrive_are_refused(self) -> None:
        for op, options, message in (
            (
                "longer",
                {"threshold": 1},
                "op_args: longer cannot be called with the options 'threshold'; it needs none",
            ),
            ("within", {}, "op_args: within cannot be called with the options (none); it needs share"),
            ("longer", {"actual": 1}, "op_args: longer cannot be called with the options 'actual'"),
        ):
            with self.subTest(op=op, options=options):
                self.add_checks(1, 1, {"func": "json", "op": op, "value": 1, "op_args": options})
                self.assert_fatal("--plugin", self.plugin(), mentions=[message])

    def test_each_element_is_compared(self) -> None:
        result = self.check([1, 2.5], "json -> foreach", "kinds", "int")
        self.assertEqual(result["reason"], "element 2: expected kinds 'int', got 2.5")
        self.assertEqual(self.check([], "json -> foreach", "kinds", "int")["outcome"], "error")


class LoadTest(CheckPluginTestCase):
    def test_faults_are_fatal(self) -> None:
        self.add_checks(1, 1, {"func": "json", "op": "=", "value": 1})
        for source, message in (
            ("EVAL_FUNCTIONS = {'len': len}", "EVAL_FUNCTIONS: 'len' is built in, so a plugin cannot define it"),
            ("COMPARE_FUNCTIONS = {'in': lambda a, b: True}", "COMPARE_FUNCTIONS: 'in' is built in"),
            ("EVAL_FUNCTIONS = {'a b': len}", "expected names of letters, digits, _ and dots, got 'a b'"),
            ("COMPARE_FUNCTIONS = {'==': lambda a, b: True}", "expected names of letters, digits, _ and dots"),
            (
                "EVAL_FUNCTIONS = {1: len}",
                "EVAL_FUNCTIONS: expected names that are not blank, got an object of type int",
            ),
            ("EVAL_FUNCTIONS = {'f': 1}", "'f': expected a function, got an object of type int"),
            ("EVAL_FUNCTIONS = {}", "EVAL_FUNCTIONS: expected a dictionary of functions by name, got an empty one"),
            ("EVAL_FUNCTIONS = None", "EVAL_FUNCTIONS: expected a dictionary of functions by name, got None"),
            ("EVAL_FUNCTIONS = {'f': lambda: 1}", "'f': expected a function of a value and arguments, by position"),
            ("EVAL_FUNCTIONS = {'f': lambda *, v: 1}", "'f': expected a function of a value and arguments"),
            ("COMPARE_FUNCTIONS = {'=': lambda a, b: 1}", "COMPARE_FUNCTIONS: '=' is built in"),
            ("COMPARE_FUNCTIONS = {'f': lambda a, b, allow_empty=1: 1}", "'f': allow_empty is an option of checks"),
            ("COMPARE_FUNCTIONS = {'f': lambda a: 1}", "'f': expected a function of two values and options by name"),
        ):
            with self.subTest(source=source):
                self.assert_fatal("--plugin", self.plugin(source), mentions=["plugin 'plugin.py'", message])
        one, other = self.plugin("EVAL_FUNCTIONS = {'f': abs}"), self.plugin("EVAL_FUNCTIONS = {'f': abs}", "other.py")
        self.assert_fatal("--plugin", one, "--plugin", other, mentions=["plugin 'other.py'", "by an earlier plugin"])

    def test_functions_and_evaluators_in_one_plugin(self) -> None:
        self.add_checks(1, 1, {"func": "json -> f", "op": "=", "value": 2})
        source = "EVAL_FUNCTIONS = {'f': lambda v: v + 1}\nSUMMARY_EVALUATORS = {'n': lambda outputs: len(outputs)}"
        summary = self.score("--plugin", self.plugin(source))
        self.assertEqual(summary["summary_evaluations"], [{"name": "n", "score": 1}])
        self.assertEqual(summary["check_functions"], ["f"])

    def test_the_signature_has_the_plugins_that_verdicts_depend_on(self) -> None:
        self.add_checks(1, 1, {"func": "json -> f", "op": "=", "value": 2})
        found = []
        for more in (1, 2):
            summary = self.score("--plugin", self.plugin(f"EVAL_FUNCTIONS = {{'f': lambda v: v + {more}}}"))
            self.assertIn(f"|plugins:{summary['plugin_set_sha256'][:8]}", summary["signature"])
            self.assertNotIn("summary_evaluations", summary)
            found.append((summary["signature"], summary["passed_task_count"]))
        self.assertNotEqual(*found)
        self.add_checks(1, 1, {"func": "json", "op": "=", "value": 2})
        summary = self.score("--plugin", self.plugin("EVAL_FUNCTIONS = {'f': lambda v: v}"))
        self.assertNotIn("plugins", summary["signature"])
        self.assertNotIn("check_functions", summary)

    def test_one_task_and_parts_can_be_scored_with_them(self) -> None:
        for number in (1, 2):
            self.add_checks(number, number, {"func": "json -> f", "op": "in", "value": [2, 3]})
        options = ["--plugin", self.plugin("EVAL_FUNCTIONS = {'f': lambda v: v + 1}")]
        whole = self.score(*options)
        parts = []
        for number in (1, 2):
            part = str(self.folder / f"part-{number}.json")
            status, _, error = run_cli(*self.roots, *options, "--shard", f"{number}/2", "--output", part)
            self.assertEqual(status, 0, error)
            parts.append(part)
        merged = self.folder / "merged.json"
        self.assertEqual(run_cli("merge", *parts, "--output", str(merged))[0], 0)
        self.assertEqual(json.loads(merged.read_text(encoding="utf-8")), whole)

    def test_a_bar_for_an_evaluator_that_no_plugin_has(self) -> None:
        self.add_checks(1, 1, {"func": "json", "op": "=", "value": 1})
        plugin = self.plugin("EVAL_FUNCTIONS = {'f': abs}")
        self.assert_fatal("--plugin", plugin, "--fail-under-metric", "x=0.5", mentions=["'x'"])

    def test_declared_functions_read_any_config(self) -> None:
        self.add_checks(1, 1, {"func": "json -> f(1, 2) -> g", "op": "h", "value": 2, "op_args": {"x": 1}})
        config_set = load_config_set(self.folder / "configs", declared_functions(["f", "g", "h"]))
        self.assertEqual(config_set.custom_names, ("f", "g", "h"))
        with self.assertRaises(EvaluationFatalError):
            load_config_set(self.folder / "configs", declared_functions(["f", "g"]))

    def test_what_they_print(self) -> None:
        self.add_checks(1, 1, {"func": "json -> f", "op": "g", "value": 1})
        plugin = self.plugin(
            "def f(v):\n    print('seen', v)\n    return v\n"
            "EVAL_FUNCTIONS = {'f': f}\nCOMPARE_FUNCTIONS = {'g': lambda a, b: print('compared') or True}"
        )
        status, output, error = run_cli(*self.roots, "--plugin", plugin, "--json")
        self.assertEqual((status, error), (0, "seen 1\ncompared\n"))
        json.loads(output)
        self.assertEqual(run_cli(*self.roots, "--plugin", plugin, "--redact-gold")[2], "")

    def test_redacted_reasons_have_nothing_of_theirs(self) -> None:
        self.add_checks(1, "x", {"func": "json -> text.words", "op": "kinds", "value": "list"})
        summary = self.score("--plugin", self.plugin(), "--redact-gold")
        self.assertEqual(summary["check_functions"], ["function 1", "function 2"])
        for func, op in (("json -> fail", "="), ("json", "broken"), ("json", "truthy"), ("json", "kinds")):
            self.add_checks(1, "secret", {"func": func, "op": op, "value": "secret"})
            text = json.dumps(self.score("--plugin", self.plugin(), "--redact-gold")["tasks"])
            self.assertNotRegex(text, "secret|RuntimeError|yes|kinds")


class AdapterTest(CheckPluginTestCase):
    def test_functions_of_another_style(self) -> None:
        (adapter,) = [
            block
            for block in re.findall(r"^```python\n(.*?)^```", RULES, re.S | re.M)
            if "class FunctionResult" in block
        ]
        self.assertLessEqual(len([line for line in adapter.splitlines() if line]), 10)
        source = (
            adapter
            + """
async def upper(x: FunctionResult, *args, **kwargs) -> FunctionResult:
    assert isinstance(x, FunctionResult)
    return FunctionResult(result=x.result.upper() + "".join(args))

async def enough(x: FunctionResult, *args, **kwargs) -> (bool, str):
    value, op_args = args
    if len(x.result) >= value * op_args["factor"]:
        return True, ""
    return False, f"only {len(x.result)}"

EVAL_FUNCTIONS = {"upper": adapted_step(upper)}
COMPARE_FUNCTIONS = {"enough": adapted_comparison(enough)}
"""
        )
        self.add_checks(
            1,
            "abc",
            {"func": "json -> upper(x, y)", "op": "=", "value": "ABCxy"},
            {"func": "json", "op": "enough", "value": 1, "op_args": {"factor": 3}},
            {"func": "json", "op": "enough", "value": 2, "op_args": {"factor": 3}},
            {"func": "json -> len -> upper", "op": "=", "value": "ABC"},
        )
        checks = self.score("--plugin", self.plugin(source))["tasks"][0]["checks"]
        self.assertEqual([check["outcome"] for check in checks], ["passed", "passed", "failed", "error"])
        self.assertEqual(checks[2]["reason"], "expected enough 2, got 'abc' (only 3)")
        self.assertIn("AttributeError", checks[3]["reason"])


class NamesTest(unittest.TestCase):
    def test_registries_are_documented(self) -> None:
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        for registry in (STEP_REGISTRY, COMPARISON_REGISTRY):
            self.assertIn(registry, readme + RULES)


if __name__ == "__main__":
    unittest.main()
