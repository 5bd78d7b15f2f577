"""A whole benchmark: the task list, the digests, isolation of tasks, and what aborts the run."""

from __future__ import annotations

import hashlib
import json
import os
from unittest import mock

from support import EXAMPLE, INTEGER, ROOT, TEXT, BenchmarkTestCase, assert_golden, run_cli

from evaluation.configs import load_config_set
from evaluation.errors import EvaluationFatalError
from evaluation.reports.summary_json import render
from evaluation.results import ERROR_CODES
from evaluation.submissions import PredictionDirectory
from evaluation.suite import evaluate_suite, score_suite

DISHONEST_CODES = ("invalid_prediction", "mapping_search_exhausted", "worker_died")


class ExampleTest(BenchmarkTestCase):
    def test_summary_is_the_golden_one_on_every_python(self) -> None:
        config_set = load_config_set(ROOT / "configs")
        summary = score_suite(config_set, PredictionDirectory(EXAMPLE / "predictions"), EXAMPLE / "gold")
        assert_golden(self, "example_summary.json", render(summary))
        second = score_suite(config_set, PredictionDirectory(EXAMPLE / "second_run"), EXAMPLE / "gold")
        # No honest prediction meets the budget of the mapping search, is no file, or kills its worker.
        self.assertEqual(
            [code for code in ERROR_CODES if code in {**summary.failure_counts, **second.failure_counts}],
            [code for code in ERROR_CODES if code not in DISHONEST_CODES],
        )
        self.assertGreater(summary.passed_task_count, 0)


class SuiteTest(BenchmarkTestCase):
    def test_the_config_set_is_the_task_list(self) -> None:
        for number in (2, 10, 1):
            self.add_task(number)
        for extra in ("task_11", "task_9", "task_100", "task_07", "task_x", "notes"):
            self.write(f"predictions/{extra}/prediction.csv", "h\n1\n")
        self.write("predictions/task_8", "a file, not a directory")
        summary = self.score()
        self.assertEqual([task["task_id"] for task in summary["tasks"]], ["task_1", "task_2", "task_10"])
        self.assertEqual(summary["unscored_prediction_tasks"], ["task_9", "task_11", "task_100"])
        self.assertEqual((summary["task_count"], summary["task_accuracy"]), (3, 1.0))

    def test_a_task_without_prediction_counts(self) -> None:
        self.add_task(1)
        self.add_task(2, prediction=None)
        summary = self.score()
        self.assertEqual((summary["task_accuracy"], summary["failure_counts"]), (0.5, {"missing_prediction": 1}))

    def test_digests(self) -> None:
        self.add_task(10, gold="h\n10\n", prediction="h\n11\n")
        self.add_task(9, gold="h\n9\n", prediction=b"\xff not a table")
        self.add_task(8, gold="h\n8\n", prediction=None)
        (self.folder / "predictions" / "task_8").mkdir()
        (self.folder / "predictions" / "task_8" / "prediction.csv").symlink_to(self.folder / "golds/task_8/gold.csv")
        self.write("predictions/task_7/prediction.csv", "not scored, so not counted")
        summary = self.score()

        def digest(**files: bytes) -> str:
            named = "".join(f"{name}\0{hashlib.sha256(data).hexdigest()}\0" for name, data in files.items())
            return hashlib.sha256(named.encode()).hexdigest()

        gold, prediction = summary["gold_set_sha256"], summary["prediction_set_sha256"]
        self.assertEqual(gold, digest(task_8=b"h\n8\n", task_9=b"h\n9\n", task_10=b"h\n10\n"))
        self.assertEqual(prediction, digest(task_9=b"\xff not a table", task_10=b"h\n11\n"))

    def test_bad_predictions_fail_their_own_tasks_only(self) -> None:
        bad = [
            b"",
            b"\xff",
            b"h\n\x00\n",
            b'h\n"',
            b"h\n\n",
            b"h,i\n1,2\n",
            b"h\n1\n1\n",
            b"h\n1e999999999999999999999\n",
        ]
        for number, prediction in enumerate(bad, start=1):
            self.add_task(2 * number, prediction=prediction, columns=[INTEGER])
            self.add_task(2 * number + 1)
        summary = self.score()
        for task in summary["tasks"]:
            self.assertEqual(task["passed"], int(task["task_id"][5:]) % 2 == 1, task)

    def test_the_summary_does_not_depend_on_where_things_lie(self) -> None:
        self.add_task(1, prediction=None)
        self.add_task(2, prediction=b"\xff")
        self.score()
        first = self.summary_path.read_bytes()
        self.assertNotIn(str(self.folder).encode(), first)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        roots = (
            "--prediction-root",
            "predictions",
            "--gold-root",
            "./golds",
            "--config-root",
            "predictions/../configs",
        )
        status, _, error = run_cli(*roots)
        self.assertEqual(status, 0, error)
        self.assertEqual(self.summary_path.read_bytes(), first)

    def test_faulty_gold_aborts_whatever_the_prediction(self) -> None:
        for gold, expected in (
            (None, "gold file task_2/gold.csv does not exist"),
            ("", "gold file task_2/gold.csv is empty"),
            ("a,b\n1,2\n", "gold file task_2/gold.csv has 2 columns, expected 1"),
            ("a\nx\n", "gold file task_2/gold.csv, column 0 'c0' (number): row 1 'x' is not a number"),
        ):
            with self.subTest(expected=expected):
                self.add_task(1)
                self.add_task(2, gold=gold, prediction=None, columns=[INTEGER])
                self.assert_fatal(mentions=[expected])
                self.assertFalse(self.summary_path.exists())

    def test_gold_that_does_not_fit_says_which_set_was_used(self) -> None:
        for gold in (None, "a,b\n1,2\n", "a\nx\n"):
            self.add_task(1, gold=gold, columns=[INTEGER])
            if gold is None:
                self.assertFalse((self.folder / "golds" / "task_1").exists())
            with self.subTest(gold=gold):
                self.assert_fatal(mentions=[f"the config set is '{self.folder / 'configs'}'"])

    def test_all_faulty_configs_are_told(self) -> None:
        self.add_task(1)
        for name in ("task_01.json", "task_foo.json"):
            self.write(f"configs/{name}", (self.folder / "configs" / "task_1.json").read_bytes())
        self.write("configs/task_2.json", "[" * 100_000)
        self.write("configs/task_3.json", "null")
        sentences = self.assert_fatal(faults=4)
        self.assertIn("error: 4 faults:\n", sentences)
        for mention in ("'task_01.json'", "'task_foo.json'", "'task_2.json' is nested too deeply", "'task_3.json': "):
            self.assertEqual(sentences.count(mention), 2 if mention.endswith(".json'") else 1, sentences)

    def test_all_faulty_gold_files_are_told(self) -> None:
        self.add_task(1)
        for number, gold in enumerate((None, "", "a,b\n1,2\n", "a\nx\n", b"\xff"), start=2):
            self.add_task(number, gold=gold, columns=[INTEGER])
        sentences = self.assert_fatal(faults=5)
        self.assertIn(f"error: 5 faults; the config set is '{self.folder / 'configs'}':\n", sentences)
        for number in range(2, 7):
            self.assertEqual(sentences.count(f"gold file task_{number}/gold.csv"), 1)
        self.assertFalse(self.summary_path.exists())

    def test_of_many_faults_twenty_are_told_and_the_rest_counted(self) -> None:
        for number in range(1, 26):
            self.add_task(number, gold=None)
        sentences = self.assert_fatal(faults=21)
        self.assertIn("error: 25 faults; ", sentences)
        self.assertEqual(sentences.count("does not exist"), 20)
        self.assertTrue(sentences.endswith("\n  and 5 more"), sentences)
        for path in (self.folder / "configs").iterdir():
            path.write_text("{}")
        self.assertTrue(self.assert_fatal(faults=21).endswith("\n  and 5 more"))

    def test_predictions_are_not_scored_once_gold_is_at_fault(self) -> None:
        self.add_task(1, gold="a\nx\n", columns=[INTEGER])
        self.add_task(2, prediction="h\n2\n")
        with mock.patch("evaluation.scoring.compare_tables", side_effect=AssertionError("scored")):
            self.assert_fatal(mentions=["task_1/gold.csv"])

    def test_gold_may_be_a_link(self) -> None:
        self.add_task(1, gold=None)
        (self.folder / "golds" / "task_1").mkdir()
        (self.folder / "golds" / "task_1" / "gold.csv").symlink_to(self.write("elsewhere.csv", "h\n1\n"))
        self.assertEqual(self.score()["task_accuracy"], 1.0)

    def test_faulty_roots(self) -> None:
        self.add_task(1)
        for option in ("--prediction-root", "--gold-root", "--config-root"):
            arguments = list(self.roots)
            arguments[arguments.index(option) + 1] = str(self.folder / "nowhere")
            with self.subTest(option=option):
                self.assert_fatal(arguments=arguments, mentions=[option[2:].replace("-", " "), "nowhere"])

    def test_facade_returns_the_json_form(self) -> None:
        self.add_task(1, columns=[TEXT])
        written = self.score()
        document = evaluate_suite(
            prediction_root=self.folder / "predictions",
            gold_root=self.folder / "golds",
            config_root=self.folder / "configs",
        )
        self.assertEqual(json.loads(json.dumps(document)), written)
        with self.assertRaises(EvaluationFatalError):
            evaluate_suite(prediction_root=self.folder / "predictions", gold_root=self.folder / "golds")
