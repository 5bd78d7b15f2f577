"""Summary evaluators: what they are given, what they may return, and that none of them just vanishes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import textwrap
import unittest
from typing import Any

from schema_check import accepts, load_schema
from support import INTEGER, TEXT, BenchmarkTestCase, run_cli

from evaluation.errors import EvaluationFatalError
from evaluation.plugins import load_plugins
from evaluation.suite import evaluate_suite
from evaluation.summary import Summary

SCHEMA = load_schema("summary.schema.json")


class PluginTestCase(BenchmarkTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.add_task(1, "city,n\nOslo,1\nBergen,2\n", "n,city\n2,Bergen\n1,Oslo\n", self.columns("city", "n"))
        self.add_task(2, "city,n\nOslo,1\n", "name\nOslo\n", self.columns("city", "n"))
        self.add_task(3, "rows,n\nOslo,1\n", None, self.columns("rows", "n", "n")[:1] + self.columns("x", "rows")[1:])

    def columns(self, *names: str) -> list[dict[str, Any]]:
        return [{**(INTEGER if name == "n" else TEXT), "gold_name": name} for name in names]

    def plugin(self, source: str, name: str = "plugin.py") -> str:
        return str(self.write(name, textwrap.dedent(source)))

    def evaluations(self, source: str, expected_status: int = 0) -> list[dict[str, Any]]:
        """Run the command line with one plugin; return what stands in the summary, which must be valid."""
        status, output, error = run_cli(*self.roots, "--plugin", self.plugin(source))
        self.assertEqual(status, expected_status, error)
        summary = json.loads(self.summary_path.read_text(encoding="utf-8"))
        self.assertTrue(accepts(SCHEMA, summary), summary)
        self.assertEqual(Summary.from_dict(summary).to_dict(), summary)
        evaluations: list[dict[str, Any]] = summary["summary_evaluations"]
        for evaluation in evaluations:
            self.assertIn(evaluation["name"], output)
            if "error" in evaluation:
                self.assertIn(f"summary evaluator '{evaluation['name']}' {evaluation['error']}\n", error)
        return evaluations

    def result(self, expression: str, expected_status: int = 0) -> dict[str, Any]:
        """Return the one evaluation of a function f that returns this."""
        source = f"import decimal, fractions, math, sys\nSUMMARY_EVALUATORS = {{'f': lambda runs: {expression}}}\n"
        (evaluation,) = self.evaluations(source, expected_status)
        return evaluation


class ParameterTest(PluginTestCase):
    def test_what_functions_are_given(self) -> None:
        (evaluation,) = self.evaluations(
            """
            import json

            def everything(inputs, outputs, reference_outputs, runs, examples):
                told = [
                    inputs,
                    outputs,
                    reference_outputs,
                    [[run.task_id, run.passed, run.error_code, run.inputs, run.outputs, run.id] for run in runs],
                    [[e.task_id, [c.gold_name for c in e.columns], e.inputs, e.outputs, e.id] for e in examples],
                ]
                return json.dumps(told)

            SUMMARY_EVALUATORS = {"everything": everything}
            """
        )
        inputs, outputs, reference_outputs, runs, examples = json.loads(evaluation["value"])
        self.assertEqual(inputs, [{"task_id": f"task_{number}"} for number in (1, 2, 3)])
        bergen, oslo = {"city": "Bergen", "n": "2"}, {"city": "Oslo", "n": "1"}
        nothing = {"city": "Oslo", "n": None}
        empty: dict[str, Any] = {"rows (2)": None, "rows (3)": None, "rows": []}
        self.assertEqual(outputs, [{**bergen, "rows": [bergen, oslo]}, {**nothing, "rows": [nothing]}, empty])
        gold = {"rows (2)": "Oslo", "rows (3)": "1"}
        self.assertEqual(
            reference_outputs, [{**oslo, "rows": [oslo, bergen]}, {**oslo, "rows": [oslo]}, {**gold, "rows": [gold]}]
        )
        self.assertEqual(
            runs,
            [
                ["task_1", True, None, inputs[0], outputs[0], "task_1"],
                ["task_2", False, "column_count_mismatch", inputs[1], outputs[1], "task_2"],
                ["task_3", False, "missing_prediction", inputs[2], outputs[2], "task_3"],
            ],
        )
        names = [["city", "n"], ["city", "n"], ["rows", "rows"]]
        expected = [[f"task_{i + 1}", names[i], inputs[i], reference_outputs[i], f"task_{i + 1}"] for i in range(3)]
        self.assertEqual(examples, expected)

    def test_ways_to_take_parameters(self) -> None:
        evaluations = self.evaluations(
            """
            import functools

            def defaults(runs, k=2, *, strict=True): return len(runs) + k + strict
            def positional(runs, k=4, /, examples=()): return len(runs) + len(examples) + k
            def keyword(*, outputs): return len(outputs)
            def anything(*outputs, runs, **examples): return len(runs) + len(outputs) + len(examples)
            class Callable:
                def __call__(self, examples): return len(examples)

            SUMMARY_EVALUATORS = {
                "defaults": defaults,
                "positional": positional,
                "keyword": keyword,
                "anything": anything,
                "object": Callable(),
                "partial": functools.partial(lambda n, runs: n * len(runs), 2),
            }
            """
        )
        self.assertEqual([evaluation["score"] for evaluation in evaluations], [6, 10, 3, 3, 3, 6])

    def test_one_function_cannot_spoil_the_lists_of_another(self) -> None:
        evaluations = self.evaluations(
            """
            def spoil(outputs, runs):
                outputs[0]["rows"].clear()
                outputs.clear()
                runs.clear()
                return 0

            def count(outputs, runs):
                return len(outputs) + len(runs) + len(outputs[0]["rows"])

            SUMMARY_EVALUATORS = {"spoil": spoil, "count": count}
            """
        )
        self.assertEqual(evaluations[1], {"name": "count", "score": 8})

    def test_written_for_another_program(self) -> None:
        evaluations = self.evaluations(
            """
            from __future__ import annotations
            from typing import TYPE_CHECKING
            if TYPE_CHECKING:
                from elsewhere import Example, Run

            def recall(runs: list[Run], examples: list[Example]) -> dict:
                hits = sum(run.outputs["rows"] == example.outputs["rows"] for run, example in zip(runs, examples))
                return {"key": "recall", "score": hits / len(examples), "comment": None, "evaluator_info": {}}

            def f1(outputs: list[dict], reference_outputs: list[dict]) -> dict:
                return {"results": [{"key": "f1", "score": None, "value": "high"}, {"key": "n", "score": len(outputs)}]}

            SUMMARY_EVALUATORS = {"first": recall, "second": f1}
            """
        )
        self.assertEqual(
            evaluations,
            [{"name": "recall", "score": 0}, {"name": "f1", "value": "high"}, {"name": "n", "score": 3}],
        )


class ReturnTest(PluginTestCase):
    def test_results(self) -> None:
        for expression, expected in (
            ("0.5", {"score": 0.5}),
            ("3", {"score": 3}),
            ("True", {"score": True}),
            ("decimal.Decimal('0.25')", {"score": 0.25}),
            ("fractions.Fraction(1, 4)", {"score": 0.25}),
            ("10**300", {"score": 10**300}),
            ("'a label'", {"value": "a label"}),
            ("''", {"value": ""}),
            ("{'score': 1}", {"score": 1}),
            ("{'name': 'f', 'value': 'x', 'score': 0, 'comment': 'why'}", {"score": 0, "value": "x", "comment": "why"}),
            ("{'key': 'f', 'value': 2.5}", {"value": 2.5}),
            ("[{'value': False}]", {"value": False}),
            ("[0.5]", {"score": 0.5}),
            ("'half a pair \\ud800'", {"value": "half a pair \\ud800"}),
        ):
            with self.subTest(returns=expression):
                self.assertEqual(self.result(expression), {"name": "f", **expected})

    def test_several_results(self) -> None:
        evaluations = self.evaluations(
            "SUMMARY_EVALUATORS = {'f': lambda runs: [{'name': 'a', 'score': 1}, 2, 'b']}", 2
        )
        self.assertEqual(
            evaluations,
            [
                {"name": "a", "score": 1},
                {"name": "f", "score": 2},
                {"name": "f", "error": "the name is that of an earlier result"},
            ],
        )

    def test_coroutines_are_awaited(self) -> None:
        if sys.platform == "emscripten":
            self.skipTest("no event loop can be run there")
        evaluations = self.evaluations(
            """
            import asyncio

            async def f(runs):
                await asyncio.sleep(0)
                return len(runs)

            async def g(runs):
                raise ValueError("no")

            SUMMARY_EVALUATORS = {"f": f, "g": g}
            """,
            2,
        )
        self.assertEqual(
            evaluations, [{"name": "f", "score": 3}, {"name": "g", "error": "raised ValueError in line 9: no"}]
        )

    def test_coroutines_under_a_running_loop(self) -> None:
        if sys.platform == "emscripten":
            self.skipTest("no event loop can be run there")
        plugin = self.plugin("async def f(runs): return len(runs)\nSUMMARY_EVALUATORS = {'f': f}")

        async def score() -> dict[str, Any]:
            return evaluate_suite(
                prediction_root=self.folder / "predictions",
                gold_root=self.folder / "golds",
                config_root=self.folder / "configs",
                plugins=[plugin],
            )

        self.assertEqual(asyncio.run(score())["summary_evaluations"], [{"name": "f", "score": 3}])

    def test_result_objects(self) -> None:
        evaluations = self.evaluations(
            """
            import dataclasses

            @dataclasses.dataclass
            class Result:
                key: str
                score: float = None
                comment: str = None

            SUMMARY_EVALUATORS = {"f": lambda runs: [Result("a", 0.5, "why"), Result("b")]}
            """,
            2,
        )
        self.assertEqual(evaluations[0], {"name": "a", "score": 0.5, "comment": "why"})
        self.assertEqual(evaluations[1]["error"], "returned an unusable result: expected a score or a value, got None")

    def test_unusable_results(self) -> None:
        unusable = "returned an unusable result: expected "
        number = f"{unusable}a finite number, a Boolean or a text, got "
        for expression, error in (
            ("math.nan", f"{number}nan"),
            ("-math.inf", f"{number}-inf"),
            ("10**400", f"{number}an object of type int"),
            ("decimal.Decimal('NaN')", f"{number}an object of type Decimal"),
            ("decimal.Decimal('sNaN')", f"{number}an object of type Decimal"),
            ("1j", f"{number}an object of type complex"),
            ("b'x'", f"{number}an object of type bytes"),
            ("(1,)", f"{number}an object of type tuple"),
            ("(x for x in 'ab')", f"{number}an object of type generator"),
            ("[[1]]", f"{number}an object of type list"),
            ("{'score': '0.5'}", f"{number}'0.5'"),
            ("{'value': [1]}", f"{number}an object of type list"),
            ("None", f"{unusable}a score or a value, got None"),
            ("{}", f"{unusable}a score or a value, got None"),
            ("{'name': 'f', 'comment': 'x'}", f"{unusable}a score or a value, got None"),
            ("{'scores': 1}", f"{unusable}only the keys key, name, score, value, comment, got 'scores'"),
            ("{1: 1}", f"{unusable}only the keys key, name, score, value, comment, got an object of type int"),
            ("{'name': ' ', 'score': 1}", f"{unusable}a name that is not blank, got ' '"),
            ("{'key': 1, 'score': 1}", f"{unusable}a name that is not blank, got an object of type int"),
            ("{'score': 1, 'comment': 1}", f"{unusable}a comment that is a string, got an object of type int"),
            ("[]", "returned an empty list, so no result"),
            ("{'results': []}", "returned an empty list, so no result"),
        ):
            with self.subTest(returns=expression):
                self.assertEqual(self.result(expression, 2), {"name": "f", "error": error})

    def test_what_is_raised_is_an_error_beside_the_others(self) -> None:
        evaluations = self.evaluations(
            """
            import sys

            class Silent(Exception):
                def __str__(self): raise ValueError

            def divide(runs): return 1 / 0
            def leave(runs): sys.exit("bye")
            def stop(runs): raise GeneratorExit
            def silent(runs): raise Silent
            def deep(runs): return deep(runs)
            def lines(runs): raise ValueError("one\\ntwo" + "." * 1000)
            def fine(runs): return 1

            SUMMARY_EVALUATORS = {f.__name__: f for f in (divide, leave, stop, silent, deep, lines, fine)}
            """,
            2,
        )
        self.assertEqual(
            [evaluation.get("error", "").split(":")[0] for evaluation in evaluations],
            [
                "raised ZeroDivisionError in line 7",
                "raised SystemExit in line 8",
                "raised GeneratorExit in line 9",
                "raised Silent in line 10",
                "raised RecursionError in line 11",
                "raised ValueError in line 12",
                "",
            ],
        )
        self.assertEqual(evaluations[0]["error"], "raised ZeroDivisionError in line 7: division by zero")
        self.assertEqual(evaluations[5]["error"], "raised ValueError in line 12: one\\x0atwo" + "." * 293 + "…")
        self.assertEqual(evaluations[6], {"name": "fine", "score": 1})

    def test_objects_with_hostile_methods(self) -> None:
        evaluations = self.evaluations(
            """
            import numbers

            def fail(self, *_): raise SystemExit(0)
            class Number: __float__ = fail
            numbers.Real.register(Number)
            class Integer(int): __int__ = fail
            class Text(str): encode = strip = fail
            class Dictionary(dict): get = keys = __iter__ = fail
            class List(list): __bool__ = __iter__ = __len__ = fail
            class Nan(float): __repr__ = fail
            class Attributes:
                def __getattr__(self, name): raise ValueError("<object at 0x7f00deadbeef>")
            class Error(Exception): __str__ = fail
            def error(runs): raise Error
            Weird = type("Weird\\x1b[31m", (Exception,), {})
            def weird(runs): raise Weird

            returned = [Number(), Integer(), Text("x"), {"name": Text("x"), "score": 1}, Dictionary(a=1), List([1])]
            returned += [Attributes()]
            functions = [lambda runs, x=x: x for x in returned]
            SUMMARY_EVALUATORS = {f"f{i}": f for i, f in enumerate([*functions, error, weird, lambda runs: 1])}
            SUMMARY_EVALUATORS["half \\ud800"] = error
            SUMMARY_EVALUATORS["nan"] = lambda runs: Nan("nan")
            """,
            2,
        )
        errors = [evaluation.get("error", "") for evaluation in evaluations]
        self.assertEqual(errors[:6], ["raised SystemExit in line 4: 0"] * 6)
        self.assertEqual(
            errors[6:],
            [
                "raised ValueError in line 13: <object at 0x…>",
                "raised Error in line 15: its message cannot be shown",
                "raised Weird\\x1b[31m in line 17",
                "",
                "raised Error in line 15: its message cannot be shown",
                "returned an unusable result: expected a finite number, a Boolean or a text, got an object of type Nan",
            ],
        )
        self.assertEqual(evaluations[-2]["name"], "half \\ud800")

    def test_the_run_does_not_lose_its_way(self) -> None:
        plugin = self.plugin(
            """
            import os, sys

            os.chdir("/")

            def f(runs):
                os.chdir("/")
                sys.stdout.close()
                return 1

            SUMMARY_EVALUATORS = {"f": f}
            """
        )
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        roots = ["--prediction-root", "predictions", "--gold-root", "golds", "--config-root", "configs"]
        status, output, error = run_cli(*roots, "--plugin", plugin)
        self.assertEqual((status, error), (0, ""))
        self.assertIn("Summary written to predictions/evaluation_summary.json", output)
        self.assertTrue(self.summary_path.is_file())

    def test_an_interrupt_is_one(self) -> None:
        source = "def f(runs): raise KeyboardInterrupt\nSUMMARY_EVALUATORS = {'f': f}"
        self.assertEqual(run_cli(*self.roots, "--plugin", self.plugin(source))[0], 130)
        self.assertFalse(self.summary_path.exists())

    def test_what_is_printed_goes_to_standard_error(self) -> None:
        plugin = self.plugin("print('loading')\nSUMMARY_EVALUATORS = {'f': lambda runs: print('calling') or 1}")
        status, output, error = run_cli(*self.roots, "--plugin", plugin, "--json")
        self.assertEqual((status, error), (0, "loading\ncalling\n"))
        self.assertEqual(json.loads(output)["summary_evaluations"], [{"name": "f", "score": 1}])


class LoadTest(PluginTestCase):
    def test_faults_are_fatal(self) -> None:
        hostile = "class Hostile(Exception):\n def fail(self, *_): \n  raise SystemExit(0)\n"
        hostile += " __str__ = __repr__ = __call__ = fail; __signature__ = property(fail)\n"
        parameters = "inputs, outputs, reference_outputs, runs, examples"
        for source, message in (
            (
                "x = 1",
                "of functions by name as one of SUMMARY_EVALUATORS, EVAL_FUNCTIONS, COMPARE_FUNCTIONS",
            ),
            (
                "SUMMARY_EVALUATORS = {}",
                "expected a dictionary of functions by name, got an empty one",
            ),
            ("SUMMARY_EVALUATORS = [len]", "of functions by name, got an object of type list"),
            ("SUMMARY_EVALUATORS = {1: len}", "expected names that are not blank, got an object of type int"),
            ("SUMMARY_EVALUATORS = {' ': len}", "expected names that are not blank, got ' '"),
            ("SUMMARY_EVALUATORS = {'f': 1}", "'f': expected a function, got an object of type int"),
            ("SUMMARY_EVALUATORS = {'f': lambda run: 1}", f"'f': expected parameters among {parameters}, got run"),
            ("SUMMARY_EVALUATORS = {'f': lambda runs, n: 1}", "got n"),
            ("SUMMARY_EVALUATORS = {'f': lambda: 1}", f"'f': expected at least one parameter among {parameters}"),
            ("SUMMARY_EVALUATORS = {'f': lambda *a, **k: 1}", "expected at least one parameter"),
            ("SUMMARY_EVALUATORS = {'f': lambda n=1: 1}", "expected at least one parameter"),
            ("SUMMARY_EVALUATORS = {'f': dict}", "its parameters cannot be found"),
            ("1 / 0", "raised ZeroDivisionError in line 1: division by zero"),
            ("x = 1\n)", "raised SyntaxError in line 2"),
            ("raise SystemExit(0)", "raised SystemExit in line 1: 0"),
            ("import nothing_of_this_name", "raised ModuleNotFoundError in line 1"),
            ("\0", "plugin 'plugin.py'"),
        ):
            with self.subTest(source=source):
                sentence = self.assert_fatal("--plugin", self.plugin(source), mentions=["plugin 'plugin.py'", message])
                self.assertNotIn(str(self.folder), sentence)
                self.assertFalse(self.summary_path.exists())
        self.assert_fatal("--plugin", str(self.folder / "nowhere.py"), mentions=["'nowhere.py' does not exist"])
        self.assert_fatal("--plugin", str(self.folder), mentions=["is a directory, not a regular file"])

    def test_several_files(self) -> None:
        first = self.plugin("SUMMARY_EVALUATORS = {'f': lambda runs: 1, 'id': lambda runs: 2}", "first.py")
        second = self.plugin("SUMMARY_EVALUATORS = {'f': lambda runs: 3, 'g': lambda runs: 4}", "second.py")
        evaluator = self.write("e.json", json.dumps({"id": "id", "type": "accuracy", "source": "city"}))
        options = ["--plugin", first, "--plugin", second, "--dataset-evaluators", str(evaluator)]
        self.assertEqual(run_cli(*self.roots, *options)[0], 2)
        evaluations = json.loads(self.summary_path.read_text(encoding="utf-8"))["summary_evaluations"]
        taken = "the name is that of an earlier result"
        self.assertEqual(
            evaluations,
            [
                {"name": "f", "score": 1},
                {"name": "id", "error": taken},
                {"name": "f", "error": taken},
                {"name": "g", "score": 4},
            ],
        )

    def test_a_plugin_is_run_once_and_leaves_nothing_behind(self) -> None:
        plugin = self.plugin(
            """
            import dataclasses

            @dataclasses.dataclass
            class Loaded:
                times: "int" = 0

            if __name__ == "__main__":
                raise SystemExit("not the main program")
            Loaded.times += 1
            SUMMARY_EVALUATORS = {"f": lambda runs: Loaded.times, "file": lambda runs: __file__}
            """
        )
        before = sorted(self.folder.iterdir())
        evaluations = evaluate_suite(
            prediction_root=self.folder / "predictions",
            gold_root=self.folder / "golds",
            config_root=self.folder / "configs",
            plugins=[plugin],
        )["summary_evaluations"]
        self.assertEqual(evaluations, [{"name": "f", "score": 1}, {"name": "file", "value": plugin}])
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_digest_and_bars(self) -> None:
        plugin = self.plugin("SUMMARY_EVALUATORS = {'f': lambda runs: 0.5, 'g': lambda runs: 'label'}")
        first = self.score("--plugin", plugin, "--fail-under-metric", "f=0.5")
        self.assertEqual(len(first["plugin_set_sha256"]), 64)
        self.assertEqual(first, self.score("--plugin", plugin))
        for bar, status in (("f=0.6", 1), ("g=0", 2), ("h=0", 2)):
            with self.subTest(bar=bar):
                code, _, error = run_cli(*self.roots, "--plugin", plugin, "--fail-under-metric", bar)
                self.assertEqual(code, status, error)
                self.assertEqual(len(error.splitlines()), 1)
                self.assertTrue(self.summary_path.exists())

    def test_a_plugin_is_not_overwritten(self) -> None:
        plugin = self.plugin("SUMMARY_EVALUATORS = {'f': lambda runs: 1}")
        self.assert_fatal("--plugin", plugin, "--output", plugin, mentions=["it is an input of the run"])

    def test_a_file_that_is_missing(self) -> None:
        with self.assertRaisesRegex(EvaluationFatalError, "plugin 'nowhere.py' does not exist"):
            load_plugins([self.folder / "nowhere.py"])


if __name__ == "__main__":
    unittest.main()
