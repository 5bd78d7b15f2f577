"""Reports by the command line: where they go, what is refused, and the command that renders them later."""

from __future__ import annotations

import copy
import io
import json
import os
import random
import sys
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from schema_check import accepts, load_schema
from support import GOLDEN, TEXT, BenchmarkTestCase, csv_text, run_cli

from evaluation.cli import main
from evaluation.reports.formats import FORMATS, Report, read_report
from evaluation.suite import evaluate_suite
from evaluation.summary import Summary


class RequestTest(unittest.TestCase):
    def test_what_is_asked_for(self) -> None:
        for text, expected in (
            ("a.md", Report("md", "a.md")),
            ("a.triage.md", Report("triage.md", "a.triage.md")),
            ("a.junit.xml", Report("junit.xml", "a.junit.xml")),
            ("x/a.html", Report("html", "x/a.html")),
            ("x=y/a.csv", Report("csv", "x=y/a.csv")),
            ("md=-", Report("md", "-")),
            ("jsonl=out", Report("jsonl", "out")),
            ("html=a=b", Report("html", "a=b")),
            ("md+=a", Report("md", "a", appends=True)),
            ("triage.md+=a", Report("triage.md", "a", appends=True)),
        ):
            with self.subTest(text=text):
                self.assertEqual(read_report(text), expected)

    def test_what_is_refused(self) -> None:
        for text in (
            "",
            "-",
            "a",
            "md",
            "a.xml",
            "a.pdf",
            "pdf=a",
            "md=",
            "md+=",
            "md+=-",
            "html+=a",
            "csv+=a",
        ):
            with self.subTest(text=text), self.assertRaises(ValueError):
                read_report(text)


class ReportTestCase(BenchmarkTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.add_task(1)
        self.add_task(2, csv_text([["a"], ["b"]]), csv_text([["a"], ["B"]]), [TEXT])
        self.add_task(3, prediction=None)

    def path(self, name: str) -> str:
        return str(self.folder / name)


class OptionTest(ReportTestCase):
    def test_every_format_at_once(self) -> None:
        paths = [Path(self.path(f"r.{name}")) for name in FORMATS]
        self.score(*(f"--report={path}" for path in paths))
        self.assertTrue(all(path.stat().st_size for path in paths))

    def test_standard_output(self) -> None:
        status, output, error = run_cli(*self.roots, "--report", "md=-")
        self.assertEqual(status, 0)
        self.assertTrue(output.startswith("## 1 of 3 tasks passed (33.3 %)\n"), output)
        self.assertTrue(error.startswith("Task accuracy: 1/3"), error)

    def test_one_result_only_claims_standard_output(self) -> None:
        for options in (
            ("--report", "md=-", "--json"),
            ("--report", "md=-", "--output", "-"),
            ("--report", "md=-", "--report", "csv=-"),
        ):
            with self.subTest(options=options):
                self.assert_fatal(*options, mentions=["both claim standard output"])

    def test_appending(self) -> None:
        path = self.folder / "step.md"
        path.write_text("before\n", encoding="utf-8")
        self.score("--report", f"md+={path}", "--report-max-bytes", "5000")
        once = path.read_text(encoding="utf-8")
        self.assertTrue(once.startswith("before\n## 1 of 3 tasks passed"), once)
        path.write_text("x" * 4_990 + "\n", encoding="utf-8")
        self.score("--report", f"md+={path}", "--report-max-bytes", "5000")
        added = path.read_text(encoding="utf-8")[4_991:]
        self.assertTrue(added.startswith("## 1 of 3 tasks passed"), added)
        self.assertLessEqual(len(added), 1_000)
        for name in ("jsonl", "md"):
            path.write_text("no end", encoding="utf-8")
            self.score("--report", f"{name}+={path}")
            self.assertRegex(path.read_text(encoding="utf-8"), r"\Ano end\n(\{|## )")
        path.unlink()
        self.score("--report", f"md+={path}")
        self.assertTrue(path.read_text(encoding="utf-8").startswith("## 1 of 3"))

    def test_what_must_not_be_written_to(self) -> None:
        link = self.folder / "link.md"
        link.symlink_to(self.folder / "elsewhere.md")
        os.mkdir(self.folder / "folder.md")
        for options, mention in (
            (["--report", str(link)], "symbolic link"),
            (["--report", self.path("folder.md")], "a directory"),
            (["--report", self.path("no/such.md")], "its folder does not exist"),
            (["--report", f"csv={self.path('golds/task_1/gold.csv')}"], "an input of the run"),
            (["--report", f"csv={self.path('predictions/task_1/prediction.csv')}"], "an input of the run"),
            (["--report", self.path("a.md"), "--report", f"html={self.path('a.md')}"], "read or written already"),
            (["--report", f"jsonl={self.summary_path}"], "read or written already"),
            (["--report", "x.pdf"], "expected FILE.FORMAT or FORMAT=FILE"),
            (["--report-max-bytes", "999"], "1000"),
            (["--redact-pattern", "("], "no regular expression"),
        ):
            with self.subTest(options=options):
                self.assert_fatal(*options, mentions=[mention])
        self.assertFalse(self.summary_path.exists())
        self.assertFalse((self.folder / "elsewhere.md").exists())

    def test_options_reach_the_report(self) -> None:
        _, output, _ = run_cli(*self.roots, "--report", "triage.md=-", "--include-passing")
        self.assertIn("## Passed\n\n- task_1", output)
        _, output, _ = run_cli(*self.roots, "--report", "triage.md=-", "--report-max-characters", "1000")
        self.assertLessEqual(len(output), 1_000)
        _, output, _ = run_cli(*self.roots, "--report", "csv=-", "--redact-pattern", "letter")
        self.assertIn("differs in (redacted) case only", output)


class LaterTest(ReportTestCase):
    def test_the_same_bytes(self) -> None:
        first = {name: Path(self.path(f"first.{name}")) for name in FORMATS}
        later = {name: Path(self.path(f"later.{name}")) for name in FORMATS}
        options = ("--redact-pattern", "B", "--include-passing")
        self.score(*options, *(f"--report={path}" for path in first.values()))
        for folder in ("golds", "predictions", "configs"):
            os.rename(self.folder / folder, self.folder / f"no-{folder}")
        summary = str(self.folder / "no-predictions" / "evaluation_summary.json")
        status, output, error = run_cli("report", summary, *options, *(f"--report={path}" for path in later.values()))
        self.assertEqual((status, output, error), (0, "", ""))
        for name in FORMATS:
            self.assertEqual(later[name].read_bytes(), first[name].read_bytes(), name)

    def test_standard_output(self) -> None:
        self.score()
        status, output, error = run_cli("report", str(self.summary_path), "--report", "csv=-")
        self.assertEqual((status, error), (0, ""))
        self.assertEqual(len(output.splitlines()), 4)

    def test_usage(self) -> None:
        self.score()
        summary = str(self.summary_path)
        os.link(summary, self.path("hard.md"))
        os.symlink(self.path("elsewhere.md"), self.path("link.md"))
        for arguments, mention in (
            (["report"], "SUMMARY.json"),
            (["report", summary], "expected at least one --report"),
            (["report", summary, "--report", "md=-", "--report", "csv=-"], "claim standard output"),
            (["report", summary, "--report", f"md={summary}"], "read or written already"),
            (["report", summary, "--report", f"md+={self.path('hard.md')}"], "read or written already"),
            (["report", summary, "--report", f"md={self.path('link.md')}"], "symbolic link"),
            (["report", summary, "--report", f"md+={self.path('link.md')}"], "symbolic link"),
            (["report", self.path("nothing.json"), "--report", "md=-"], "does not exist"),
            (["report", str(self.folder), "--report", "md=-"], "is a directory"),
            (["report", summary, "--gold-root", "x", "--report", "md=-"], "unrecognized arguments"),
        ):
            with self.subTest(arguments=arguments):
                sentence = self.assert_fatal(arguments=arguments, mentions=[mention])
                self.assertTrue(sentence.startswith("evaluate.py report: error: "), sentence)

    def test_closed_standard_output(self) -> None:
        self.score()
        for arguments in (["report", str(self.summary_path)], self.roots):
            with mock.patch.object(sys, "stdout", None), mock.patch.object(sys, "stderr", io.StringIO()) as error:
                self.assertRaises(SystemExit, main, [*arguments, "--report", "md=-"])
                sys.stdout.close()
            self.assertIn("needs standard output, which is closed", error.getvalue())

    def test_what_is_no_summary(self) -> None:
        for text in (
            "",
            "{",
            "[]",
            "null",
            "{}",
            "1",
            '{"a": 1, "a": 2}',
            "\xff",
            "[" * 100_000,
            '{"tasks": "\\ud800"}',
        ):
            with self.subTest(text=text[:20]):
                path = self.write("bad.json", text.encode("latin-1"))
                self.assert_fatal(arguments=["report", str(path), "--report", "html=-"], mentions=["summary"])

    def test_a_summary_that_cannot_be(self) -> None:
        self.score()
        document = json.loads(self.summary_path.read_text(encoding="utf-8"))
        task = ("tasks", 1)
        for place, value in (
            (("config_set_sha256",), "<b>" + "a" * 61),
            (("evaluator_version",), "[x](http://evil.example)"),
            (("evaluator_version",), "1" * 5_000),
            (("unscored_prediction_tasks",), ["<b>"]),
            (("limits",), {"<b>": 1}),
            (("summary_schema_version",), "x" * 5_000),
            ((*task, "task_id"), "task_x"),
            ((*task, "task_id"), "task_1"),
            ((*task, "prediction_column_count"), 10**19),
            ((*task, "gold_row_count"), -5),
            ((*task, "error_code"), "no_such_code"),
            ((*task, "diagnosis", "rows", "matched"), -1),
            ((*task, "diagnosis", "rows", "missing"), 7),
            ((*task, "diagnosis", "rows", "sample", 0, "differing"), [5]),
            ((*task, "diagnosis", "rows", "sample", 0, "gold_cells"), []),
            ((*task, "diagnosis", "columns", 0, "prediction_index"), 1),
            ((*task, "diagnosis", "columns", 0, "unreadable"), [{"x" * 5_000: 1}]),
            ((*task, "diagnosis", "near_misses", 0, "code"), "x"),
        ):
            with self.subTest(place=place):
                spoilt = copy.deepcopy(document)
                target: Any = spoilt
                for key in place[:-1]:
                    target = target[key]
                target[place[-1]] = value
                path = self.write("bad.json", json.dumps(spoilt))
                sentence = self.assert_fatal(arguments=["report", str(path), "--report", "html=-"])
                self.assertLess(len(sentence), 400)

    def test_a_summary_with_anything_changed_is_refused_or_rendered(self) -> None:
        document = json.loads((GOLDEN / "example_summary_folds.json").read_text(encoding="utf-8"))
        refused = rendered = 0
        source = random.Random(8)
        for place in places(document):
            value: object
            for value in (None, True, -1, 10**19, 1.5, "x", "\x00<b>", [], {}, [None], {"a": []}, [[1]]):
                if source.random() > 0.04:
                    continue
                spoilt = copy.deepcopy(document)
                target: Any = spoilt
                for key in place[:-1]:
                    target = target[key]
                target[place[-1]] = value
                try:
                    summary = Summary.from_dict(spoilt)
                except Exception as error:
                    self.assertEqual(type(error).__name__, "EvaluationError", (place, value))
                    refused += 1
                    continue
                rendered += 1
                if rendered % 2 == 0:
                    for render in FORMATS.values():
                        render(summary, mock.Mock(max_bytes=10**6, max_characters=10**6, with_passed=True))
        self.assertGreater(refused, 50)
        self.assertGreater(rendered, 5)


def places(document: object, where: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Return the ways to every value, of long lists to the first two and the last."""
    if isinstance(document, dict):
        items = list(document.items())
    elif isinstance(document, list):
        items = [(i, document[i]) for i in sorted({0, 1, 9, 10, len(document) - 1}) if 0 <= i < len(document)]
    else:
        return []
    found = [(*where, key) for key, _ in items]
    return found + [place for key, value in items for place in places(value, (*where, key))]


class PartialTest(ReportTestCase):
    @property
    def partial_path(self) -> Path:
        return self.summary_path.with_name("evaluation_summary.partial.json")

    def test_only_some_tasks(self) -> None:
        full = self.score()
        status, output, _ = run_cli(*self.roots, "--task", "task_2", "--task", "task_1", "--task", "task_2")
        self.assertEqual(status, 0)
        document = json.loads(self.partial_path.read_text(encoding="utf-8"))
        self.assertEqual([task["task_id"] for task in document["tasks"]], ["task_1", "task_2"])
        self.assertEqual(
            {key: document[key] for key in ("partial", "task_count", "passed_task_count", "failed_task_count")},
            {"partial": True, "task_count": 3, "passed_task_count": 1, "failed_task_count": 1},
        )
        self.assertIsNone(document["task_accuracy"])
        self.assertIsNone(document["accuracy_interval"])
        self.assertEqual(document["config_set_sha256"], full["config_set_sha256"])
        self.assertNotEqual(document["gold_set_sha256"], full["gold_set_sha256"])
        self.assertTrue(accepts(load_schema("summary.schema.json"), document))
        self.assertEqual(Summary.from_dict(document).to_dict(), document)
        # A good summary is not written over by what is none.
        self.assertEqual(json.loads(self.summary_path.read_text(encoding="utf-8")), full)
        self.assertTrue(output.startswith("Partial, no score: 2 of 3 tasks scored, 1 passed\n"), output)
        for expected in (
            "differs in letter case only",
            "1 of 2 gold rows matched; 1 missing, 1 unexpected",
            "gold row 2: 'b'",
            "prediction row 2: ≠ 'B'",
        ):
            self.assertIn(expected, output)

    def test_other_tasks_gold_is_not_needed(self) -> None:
        (self.folder / "golds/task_1/gold.csv").unlink()
        status, _, error = run_cli(*self.roots, "--task", "task_2")
        self.assertEqual(status, 0, error)

    def test_reports_say_that_it_is_partial(self) -> None:
        for name in ("md", "triage.md", "html", "junit.xml"):
            _, output, _ = run_cli(*self.roots, "--task", "task_2", "--report", f"{name}=-")
            self.assertIn("Partial, no score: 1 of 3 tasks scored, 0 passed", output, name)
            self.assertNotIn("0.0 %)", output, name)

    def test_what_needs_all_tasks_is_refused(self) -> None:
        for options in (
            ("--fail-under", "0.5"),
            ("--fail-under", "0"),
            ("--fail-under-metric", "x=0.5"),
        ):
            with self.subTest(options=options):
                self.assert_fatal("--task", "task_1", *options, mentions=[options[0], "needs all tasks"])
        plugin = str(self.write("p.py", "SUMMARY_EVALUATORS = {'f': lambda runs: 1}\n"))
        for options in (("--task", "task_1"), ("--shard", "1/2")):
            with self.subTest(options=options):
                self.assert_fatal("--plugin", plugin, *options, mentions=["--plugin", "need all tasks"])

    def test_plugins_need_all_tasks_from_python_too(self) -> None:
        roots: dict[str, Any] = {f"{kind}_root": self.folder / f"{kind}s" for kind in ("prediction", "gold", "config")}
        plugin = self.write("p.py", "SUMMARY_EVALUATORS = {'f': lambda runs: 1}\n")
        with self.assertRaisesRegex(ValueError, "need all tasks"):
            evaluate_suite(**roots, tasks=["task_1"], plugins=[plugin])
        self.assertTrue(evaluate_suite(**roots, tasks=["task_1"])["partial"])

    def test_unknown_tasks(self) -> None:
        self.assert_fatal("--task", "task_9", "--task", "task_1", mentions=["'task_9'", "no such task"])
        for text in ("9", "task_", "task_01", "../task_1", ""):
            self.assert_fatal("--task", text, mentions=["expected a task id such as task_11"])

    def test_dataset_evaluators_of_the_config_root_are_left_out(self) -> None:
        self.write("configs/dataset_evaluators/e.json", '{"id": "e", "type": "accuracy", "source": "c0"}')
        run_cli(*self.roots, "--task", "task_2")
        self.assertNotIn("dataset_evaluations", json.loads(self.partial_path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    unittest.main()
