"""Repeated runs: verdicts over runs, views in the summary, and parts of a config set joined again."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import shutil
import unittest
import zipfile
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

from schema_check import accepts, load_schema
from support import EXAMPLE, ROOT, BenchmarkTestCase, assert_golden, run_cli

from evaluation import runner, workers
from evaluation.assembly import combine_runs
from evaluation.errors import EvaluationError, EvaluationFatalError
from evaluation.exact import read_threshold
from evaluation.reports.formats import FORMATS, ReportOptions
from evaluation.reports.redaction import Redactor
from evaluation.reports.summary_json import render
from evaluation.submissions import open_runs
from evaluation.suite import evaluate_suite
from evaluation.summary import Summary

SCHEMA = load_schema("summary.schema.json")


class RunsTestCase(BenchmarkTestCase):
    """A benchmark of tasks 1 to n, each with as many runs as there are letters: p passed, f failed, - no prediction."""

    def add_runs(self, *tasks: str) -> None:
        for number, outcomes in enumerate(tasks, start=1):
            self.add_task(number, prediction=None)
            for run, outcome in enumerate(outcomes, start=1):
                (self.folder / f"runs/run-{run:02}").mkdir(parents=True, exist_ok=True)
                if outcome != "-":
                    answer = "h\n1\n" if outcome == "p" else "h\n2\n"
                    self.write(f"runs/run-{run:02}/task_{number}/prediction.csv", answer)

    @property
    def run_roots(self) -> list[str]:
        return ["--runs-root", str(self.folder / "runs"), *self.roots[2:]]

    def score_runs(self, *options: str) -> dict[str, Any]:
        status, _, error = run_cli(*self.run_roots, *options)
        self.assertEqual(status, 0, error)
        text = (self.folder / "runs/evaluation_summary.json").read_text(encoding="utf-8")
        document: dict[str, Any] = json.loads(text)
        self.assertTrue(accepts(SCHEMA, document))
        self.assertEqual(render(Summary.from_dict(document)), text)
        return document


class RunsTest(RunsTestCase):
    def test_views(self) -> None:
        self.add_runs("ppp", "pfp", "p-f", "fff")
        summary = self.score_runs("--threshold", "2/3")
        self.assertEqual((summary["passed_task_count"], summary["task_accuracy"]), (2, 0.5))
        cases = [(case["passed"], case["passed_runs"], case["run_count"]) for case in summary["cases"]]
        self.assertEqual(cases, [(True, 3, 3), (True, 2, 3), (False, 1, 3), (False, 0, 3)])
        self.assertEqual({case["threshold"] for case in summary["cases"]}, {"2/3"})
        self.assertEqual([run["name"] for run in summary["runs"]], ["run-01", "run-02", "run-03"])
        self.assertEqual([run["passed_task_count"] for run in summary["runs"]], [3, 1, 2])
        codes = [[task["error_code"] for task in run["tasks"]] for run in summary["runs"]]
        self.assertEqual(codes[1], [None, "relation_mismatch", "missing_prediction", "relation_mismatch"])
        self.assertEqual(summary["unstable_tasks"], ["task_2", "task_3"])
        self.assertEqual(summary["mean_accuracy"]["value"], 0.5)
        self.assertEqual([row["k"] for row in summary["pass_at_k"]], [1, 2, 3])
        # Of 3, 2, 1 and 0 passed runs of 3: (1 + 1 + 2/3 + 0) / 4, and (1 + 1/3 + 0 + 0) / 4.
        self.assertAlmostEqual(summary["pass_at_k"][1]["pass_at_k"], 2 / 3)
        self.assertAlmostEqual(summary["pass_at_k"][1]["pass_hat_k"], 1 / 3)
        # What stands for a task is the first run with its verdict.
        self.assertEqual([task["run"] for task in summary["tasks"]], ["run-01", "run-01", "run-02", "run-01"])
        self.assertEqual([task["passed"] for task in summary["tasks"]], [True, True, False, False])
        self.assertTrue(summary["signature"].endswith("|runs:3|threshold:2/3"), summary["signature"])

    def test_thresholds_are_compared_exactly(self) -> None:
        for outcomes, threshold, passes in (
            ("ppf", "2/3", True),
            ("ppf", "0.67", False),
            ("ppf", "0.66666666666666666666", True),
            ("ppf", "0.66666666666666666667", False),
            ("pppfffffff", "0.3", True),
            ("pppfffffff", "0.30000000000000000001", False),
            ("ppppppp", "1", True),
            ("ppppppf", "1", False),
            ("pf", ".5", True),
            ("ff", "0.00000000000000000001", False),
        ):
            with self.subTest(outcomes=outcomes, threshold=threshold):
                shutil.rmtree(self.folder / "runs", ignore_errors=True)
                self.add_runs(outcomes)
                summary = self.score_runs("--threshold", threshold)
                self.assertEqual(summary["passed_task_count"], int(passes))
                self.assertEqual(Fraction(summary["threshold"]), Fraction(threshold))

    def test_tasks_may_have_thresholds_of_their_own(self) -> None:
        self.add_runs("pf", "pf", "pp")
        path = self.write("m.json", '{"task_2": {"threshold": 0.5}, "task_3": {"threshold": "1/3"}}')
        summary = self.score_runs("--metadata", str(path))
        self.assertEqual([case["passed"] for case in summary["cases"]], [False, True, True])
        self.assertEqual([case["threshold"] for case in summary["cases"]], ["1", "1/2", "1/3"])
        self.assertRegex(summary["signature"], r"\|threshold:1\|thresholds:[0-9a-f]{8}$")

    def test_one_run_is_the_plain_summary(self) -> None:
        self.add_runs("p", "f", "-")
        self.score_runs("--threshold", "1/3")
        one = (self.folder / "runs/evaluation_summary.json").read_bytes()
        status, _, _ = run_cli("--prediction-root", str(self.folder / "runs/run-01"), *self.roots[2:])
        self.assertEqual(status, 0)
        self.assertEqual((self.folder / "runs/run-01/evaluation_summary.json").read_bytes(), one)
        self.assertNotIn("runs", json.loads(one))

    def test_roots_and_names(self) -> None:
        self.add_runs("pp", "fp")
        with zipfile.ZipFile(self.folder / "runs/b.zip", "w") as archive:
            archive.writestr("task_1/prediction.csv", "h\n1\n")
        self.write("runs/.hidden/task_1/prediction.csv", "h\n1\n")
        self.write("runs/notes.txt", "")
        names = [run["name"] for run in self.score_runs()["runs"]]
        self.assertEqual(names, ["b.zip", "run-01", "run-02"])
        for name in ("x", "y"):
            shutil.copytree(self.folder / "runs/run-01", self.folder / name / "predictions")
        for roots, expected in (
            (["runs/run-02", "runs/run-01"], ["run-02", "run-01"]),
            (["x/predictions", "y/predictions"], ["run_1", "run_2"]),
        ):
            arguments = [part for root in roots for part in ("--prediction-root", str(self.folder / root))]
            status, _, error = run_cli(*arguments, *self.roots[2:])
            self.assertEqual(status, 0, error)
            path = self.folder / roots[0] / "evaluation_summary.runs.json"
            document = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual([run["name"] for run in document["runs"]], expected)
            self.assertNotIn(str(self.folder), path.read_text(encoding="utf-8"))

    def test_the_same_archive_is_no_second_run(self) -> None:
        self.add_runs("p")
        with zipfile.ZipFile(self.folder / "runs/a.zip", "w") as archive:
            archive.writestr("task_1/prediction.csv", "h\n1\n")
        os.link(self.folder / "runs/a.zip", self.folder / "runs/b.zip")
        self.assert_fatal(arguments=self.run_roots, mentions=["b.zip' is given twice"])

    def test_names_that_look_alike_are_numbered(self) -> None:
        self.add_runs("p")
        for name in ("caf\u00e9", "cafe\u0301"):
            shutil.copytree(self.folder / "runs/run-01", self.folder / "runs" / name)
        names = [run["name"] for run in self.score_runs()["runs"]]
        self.assertEqual(names, ["run_1", "run_2", "run_3"])

    def test_printed_json_is_inert(self) -> None:
        self.add_runs("pf")
        os.rename(self.folder / "runs/run-01", self.folder / "runs/x\x9b\u202e")
        output = run_cli(*self.run_roots, "--json")[1]
        self.assertNotRegex(output, "[\x9b\u202e]")
        self.assertEqual(json.loads(output)["runs"][1]["name"], "x\x9b\u202e")

    def test_metadata_are_not_written_over(self) -> None:
        self.add_runs("p")
        path = self.write("m.json", '{"task_1": {}}')
        os.link(path, self.folder / "hard.json")
        for name in ("m.json", "hard.json"):
            report = ["--metadata", str(path), "--report", f"jsonl+={self.folder / name}"]
            self.assert_fatal(arguments=[*self.run_roots, *report], mentions=["it is an input of the run"])

    def test_faults(self) -> None:
        self.add_runs("pp")
        (self.folder / "empty").mkdir()
        self.write("wrong/task_1/prediction.csv", "h\n1\n")
        self.write("linked/a/task_1/prediction.csv", "h\n1\n")
        (self.folder / "linked/b").symlink_to(self.folder / "runs/run-01")
        both = ["--prediction-root", str(self.folder / "runs/run-01")]
        for arguments, mention in (
            (["--runs-root", str(self.folder / "empty")], "holds no folder and no zip archive"),
            (["--runs-root", str(self.folder / "absent")], "cannot be listed"),
            (["--runs-root", str(self.folder / "wrong")], "holds task_1: expected a folder or an archive per run"),
            (["--runs-root", str(self.folder / "linked")], "holds 'b', which is a symbolic link"),
            ([*self.run_roots[:2], *both], "expected either --prediction-root"),
            ([], "expected either --prediction-root"),
            ([*both, *both], "is given twice"),
            ([*both, "--threshold", "0"], "expected a number above 0 and at most 1"),
            ([*both, "--threshold", "66%"], "expected a number above 0 and at most 1"),
            ([*both, "--shard", "3/2"], "expected I/N"),
            ([*both, "--shard", "2/2"], "--shard 2/2 has no task, as there are 1"),
            ([*both, "--shard", "1/1", "--task", "task_1"], "choose one"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_fatal(arguments=[*arguments, *self.roots[2:]], mentions=[mention])

    def test_folds_are_made_for_every_run(self) -> None:
        self.add_runs("pf", "pp", "fp")
        evaluator = self.write("e.json", '{"id": "e", "type": "accuracy", "source": "c0"}')
        functions = "{'f': lambda outputs: len(outputs), 'g': lambda runs: 1 / 0}"
        plugin = self.write("p.py", f"SUMMARY_EVALUATORS = {functions}\n")
        options = ("--dataset-evaluators", str(evaluator), "--plugin", str(plugin))
        status, output, error = run_cli(*self.run_roots, *options)
        self.assertEqual(status, 2, error)
        document = json.loads((self.folder / "runs/evaluation_summary.json").read_text(encoding="utf-8"))
        self.assertTrue(accepts(SCHEMA, document))
        self.assertNotIn("dataset_evaluations", document)
        self.assertEqual([len(run["dataset_evaluations"]) for run in document["runs"]], [1, 1])
        self.assertIn("Scores over runs", output)
        for bar, expected in (("e=0.66", 2), ("f=3", 2)):
            status, _, error = run_cli(*self.run_roots, *options, "--fail-under-metric", bar)
            self.assertEqual(status, expected, error)
        self.assertIn("summary evaluator 'g' (run 'run-02') raised ZeroDivisionError", error)
        # Of the labels of the first run none is in the vocabulary, so that nothing was scored there.
        self.write("e.json", '{"id": "e", "type": "accuracy", "source": "c0", "missing": "skip"}')
        self.add_runs("--", "-p", "-p")
        for number in (1, 2, 3):
            shutil.rmtree(self.folder / f"runs/run-01/task_{number}", ignore_errors=True)
        status, _, error = run_cli(*self.run_roots, *options[:2], "--fail-under-metric", "e=0.1")
        self.assertEqual(status, 1)
        self.assertIn("'e' has no score in some run, as nothing was scored", error)

    def test_accuracy_bar_is_over_cases(self) -> None:
        self.add_runs("pf", "pp")
        self.assertEqual(run_cli(*self.run_roots, "--fail-under", "0.5")[0], 0)
        self.assertEqual(run_cli(*self.run_roots, "--fail-under", "0.51")[0], 1)
        self.assertEqual(run_cli(*self.run_roots, "--fail-under", "1", "--threshold", "1/2")[0], 0)

    def test_every_report_is_made(self) -> None:
        self.add_runs("pf", "-p", "ff", "ff")
        shutil.move(self.folder / "runs/run-02", self.folder / "runs/=<zz>|`sk-abcdefghijklmnop0123`")
        metadata = {f"task_{n}": {"kind": "<zz>|`" if n < 3 else "x", "tags": ["<zz>"]} for n in (1, 2, 3, 4)}
        summary = self.score_runs("--metadata", str(self.write("m.json", json.dumps(metadata))))
        redacted = Redactor().summary(Summary.from_dict(summary))
        for name, render_report in FORMATS.items():
            with self.subTest(format=name):
                text = render_report(redacted, ReportOptions())
                self.assertNotIn("abcdefghijklmnop0123", text)
                if name in ("md", "html"):
                    self.assertNotIn("<zz>", text)
                if name in ("md", "triage.md", "html"):
                    self.assertIn("By kind", text)
                    self.assertIn("run-01", text)

    def test_what_is_found_by_itself_changes_no_score(self) -> None:
        self.add_runs("pf", "pf", "pf", "pf")
        self.write("input/task_1/task.json", '{"threshold": "1/2", "answer": "hush"}')
        self.write("input/task_3/task.json", '{"answer": "hush"}')
        plain, redacted = self.score_runs(), self.score_runs("--redact-gold")
        self.assertEqual((plain["passed_task_count"], redacted["passed_task_count"]), (1, 1))
        self.assertEqual(
            [group.get("value") for group in plain["breakdown"]["attributes"][0]["groups"]], ["hush", None]
        )
        self.assertNotIn("hush", json.dumps(redacted))
        # Of one run no threshold is asked, so whatever is wrong with one is told, and nothing else.
        self.write("input/task_2/task.json", '{"threshold": "10 mg"}')
        one = ["--prediction-root", str(self.folder / "runs/run-01"), *self.roots[2:]]
        status, _, error = run_cli(*one)
        self.assertEqual(status, 0)
        self.assertIn("there is no breakdown, as metadata 'task_2/task.json', threshold: expected", error)
        self.assert_fatal(arguments=self.run_roots, mentions=["'task_2/task.json', threshold"])
        named = ["--metadata", str(self.folder / "input")]
        self.assert_fatal(arguments=[*one, *named], mentions=["'task_2/task.json', threshold"])

    def test_a_run_without_predictions_is_told(self) -> None:
        self.add_runs("p-")
        status, output, _ = run_cli(*self.run_roots)
        self.assertEqual(status, 0)
        self.assertIn("No prediction at all in 1 run, so all tasks failed there: 'run-02'", output)
        self.assertIn("A task passes where it did in all of its runs", output)

    def test_gold_must_not_change_between_runs(self) -> None:
        self.add_runs("pp")
        one = Summary.from_dict(self.score())
        other = dataclasses.replace(one, gold_set_sha256="0" * 64)
        with self.assertRaisesRegex(EvaluationFatalError, "the gold files changed while the runs were scored"):
            combine_runs({"a": one, "b": other}, Fraction(1))

    def test_secrets_that_become_alike_are_numbered(self) -> None:
        self.add_runs("p")
        summary = Summary.from_dict(self.score_runs())
        members = {f"sk-abcdefghijklmnop{number:06}": "why" for number in range(3_000)}
        redacted = Redactor().summary(dataclasses.replace(summary, refused_members=members))
        first, second, third, *others = redacted.refused_members
        self.assertEqual([second, third, len(others)], [f"2: {first}", f"3: {first}", 2_997])

    def test_gold_stays_redacted(self) -> None:
        self.add_task(1, gold="secret\nhush\n", prediction=None)
        for run in ("a", "b"):
            self.write(f"runs/{run}/task_1/prediction.csv", "h\nno\n")
        self.write("input/task_1/task.json", '{"answer": "hush"}')
        summary = json.dumps(self.score_runs("--redact-gold"))
        self.assertNotIn("hush", summary)
        self.assertNotIn("secret", summary)

    def test_workers_change_nothing(self) -> None:
        self.add_runs("pf", "-p", "ff")
        one = self.score_runs()
        with (
            mock.patch.multiple(runner, _LEAST_BYTES_FOR_WORKERS=0, _LEAST_BYTES_PER_TASK=0),
            mock.patch.object(workers, "map_in_workers", side_effect=workers.map_in_workers) as used,
            contextlib.redirect_stderr(io.StringIO()),
        ):
            self.assertEqual(self.score_runs("--jobs", "2"), one)
        self.assertEqual(used.call_count, 2)

    def test_from_python(self) -> None:
        self.add_runs("pf", "pp")
        roots: dict[str, Any] = {f"{kind}_root": self.folder / f"{kind}s" for kind in ("gold", "config")}
        runs = [self.folder / "runs/run-01", self.folder / "runs/run-02"]
        summary = evaluate_suite(prediction_root=runs, threshold="1/2", **roots)
        self.assertEqual(summary["passed_task_count"], 2)
        nothing: list[dict[str, Any]] = [{"prediction_root": []}, {"prediction_root": runs, "tasks": "task_1"}]
        for arguments in nothing:
            with self.subTest(arguments=arguments), self.assertRaises(ValueError):
                evaluate_suite(**arguments, **roots)
        self.assertEqual(evaluate_suite(prediction_root=tuple(runs), **roots)["passed_task_count"], 1)
        for threshold in ("0", "2", "x"):
            with self.subTest(threshold=threshold), self.assertRaises(ValueError):
                evaluate_suite(prediction_root=runs, threshold=threshold, **roots)
        with self.assertRaises(EvaluationFatalError):
            open_runs([self.folder / "absent", self.folder / "gone"])
        self.assertEqual(read_threshold("4/6"), Fraction(2, 3))

    def test_what_does_not_follow_is_refused(self) -> None:
        self.add_runs("pf", "pp")
        document = self.score_runs()
        changes: list[Callable[[Any], object]] = [
            lambda d: d["cases"][0].update(passed=True),
            lambda d: d["cases"][0].update(threshold="1/2"),
            lambda d: d["cases"][0].update(threshold="1/0"),
            lambda d: d["runs"].pop(),
            lambda d: d["runs"][1].update(name="run-01"),
            lambda d: d["runs"][1]["tasks"].reverse(),
            lambda d: d["runs"][0]["tasks"][0].update(task_id="task_7"),
            lambda d: d["tasks"][0].update(run="run-01"),
            lambda d: d.update(prediction_set_sha256="0" * 64),
            lambda d: d.update(unstable_tasks=[]),
            lambda d: d.update(threshold="2"),
            lambda d: d.update(runs=[]),
        ]
        self.assert_refused(document, changes)

    def test_parts_that_do_not_follow_are_refused(self) -> None:
        self.add_runs("pf", "pp", "fp")
        self.write("m.json", '{"task_1": {"kind": "a", "tags": ["t", "u"], "threshold": 0.5}, "task_3": {"kind": "b"}}')
        one = ["--metadata", str(self.folder / "m.json"), "--output", str(self.folder / "x.json")]
        documents = []
        for arguments in (["--task", "task_1", "--task", "task_2"], [], ["--redact-gold", "--shard", "1/2"]):
            self.assertEqual(run_cli(*self.run_roots, *one, *arguments)[0], 0)
            documents.append(json.loads((self.folder / "x.json").read_text(encoding="utf-8")))
        part, whole, redacted = documents
        changes: list[Callable[[Any], object]] = [
            lambda d: d["gold_sha256"].pop("task_1"),
            lambda d: d["gold_sha256"].update(task_9="a" * 64),
            lambda d: d["gold_sha256"].update(task_1="a" * 64),
            lambda d: d["runs"][0]["prediction_sha256"].update(foo="é"),
            lambda d: d["runs"][0]["prediction_sha256"].clear(),
            lambda d: d["runs"][0].update(prediction_set_sha256="0" * 64),
            lambda d: d.update(
                gold_set_sha256="0" * 64, signature=d["signature"].replace(d["gold_set_sha256"][:8], "0" * 8)
            ),
            lambda d: d.update(other_tasks=["task_1"]),
            lambda d: d.update(unscored_prediction_tasks=["task_1"]),
            lambda d: d.update(partial=1),
            lambda d: d.update(check_functions=["f"]),
            lambda d: d.update(summary_evaluations=[{"name": "a", "score": 1}], plugin_set_sha256="a" * 64),
        ]
        self.assert_refused(part, changes)
        changes = [
            lambda d: d["metadata"]["tasks"][0].update(threshold="1/3"),
            lambda d: d["metadata"]["tasks"][0].update(tags=["t", "t", "u"]),
            lambda d: d["metadata"]["tasks"].reverse(),
            lambda d: d["metadata"]["tasks"].append({"task_id": "task_9"}),
            lambda d: d["breakdown"]["tags"][0].update(passed=0),
            lambda d: d["runs"][0]["tasks"][0].update(gold_row_count=9),
            lambda d: d["runs"][0]["tasks"][0]["column_mapping"].clear(),
            lambda d: d["runs"][0]["tasks"][0].update(score=True),
            lambda d: d["runs"][0].update(name=""),
            lambda d: d["runs"][0].update(accuracy=True),
            lambda d: d.update(task_count=3.0),
            lambda d: d.update(limits={"rows": -5}),
            lambda d: d.update(limits={"rows": 100_000}),
        ]
        self.assert_refused(whole, changes)
        shown = next(task for task in whole["runs"][1]["tasks"] if not task["passed"])["diagnosis"]

        def with_gold(document: Any) -> None:
            for tasks in (document["tasks"], *(run["tasks"] for run in document["runs"])):
                for task in tasks:
                    if "diagnosis" in task:
                        task["diagnosis"] = shown

        self.assert_refused(redacted, [with_gold, lambda d: d["gold_sha256"].update(task_1="a" * 64)])

    def assert_refused(self, document: Any, changes: Sequence[Callable[[Any], object]]) -> None:
        self.assertEqual(Summary.from_dict(json.loads(json.dumps(document))).to_dict(), document)
        for place, change in enumerate(changes):
            spoilt = json.loads(json.dumps(document))
            change(spoilt)
            with self.subTest(change=place), self.assertRaisesRegex(EvaluationError, "not a summary"):
                Summary.from_dict(spoilt)


class GoldenTest(RunsTestCase):
    def test_the_example(self) -> None:
        output = self.folder / "summary.json"
        status, text, error = run_cli(
            *("--prediction-root", str(EXAMPLE / "predictions"), "--prediction-root", str(EXAMPLE / "second_run")),
            *("--gold-root", str(EXAMPLE / "gold"), "--config-root", str(ROOT / "configs"), "--threshold", "1/2"),
            *("--metadata", str(EXAMPLE / "metadata.csv"), "--output", str(output), "--quiet"),
        )
        self.assertEqual(status, 0, error)
        assert_golden(self, "example_summary_runs.json", output.read_text(encoding="utf-8"))
        shown = text.replace(str(ROOT / "configs"), "configs").replace(str(output), "summary.json")
        assert_golden(self, "console_runs.txt", shown)
        summary = Redactor().summary(Summary.from_dict(json.loads(output.read_text(encoding="utf-8"))))
        for name in ("md", "triage.md", "html", "csv", "jsonl", "junit.xml"):
            assert_golden(self, f"report_runs.{name}", FORMATS[name](summary, ReportOptions()))


class ShardTest(RunsTestCase):
    def run_main(self, *arguments: str) -> str:
        status, output, error = run_cli(*arguments)
        self.assertEqual(status, 0, error)
        return output

    def shards(self, count: int, *arguments: str) -> list[str]:
        paths = [str(self.folder / f"part-{number}.json") for number in range(1, count + 1)]
        for number, path in enumerate(paths, start=1):
            self.run_main(*arguments, "--shard", f"{number}/{count}", "--output", path)
        return paths

    def test_merged_they_are_the_whole(self) -> None:
        self.add_runs("ppf", "pfp", "p-f", "fff", "ppp")
        self.write("runs/run-01/task_77/prediction.csv", "h\n")
        metadata = self.write("m.json", '{"task_1": {"kind": "a", "threshold": 0.5}, "task_4": {"kind": "b"}}')
        example = ["--prediction-root", str(EXAMPLE / "predictions"), "--gold-root", str(EXAMPLE / "gold")]
        plain = ["--prediction-root", str(self.folder / "runs/run-02"), *self.roots[2:]]
        evaluators = ["--dataset-evaluators", str(EXAMPLE / "dataset_evaluators")]
        configs = ["--config-root", str(ROOT / "configs")]
        whole, merged = str(self.folder / "whole.json"), str(self.folder / "merged.json")
        for count, arguments, more in (
            (2, [*self.run_roots, "--threshold", "2/3"], []),
            (5, [*self.run_roots, "--metadata", str(metadata)], []),
            (3, [*plain, "--redact-gold", "--max-rows", "50"], []),
            (1, plain, []),
            (4, example, []),
            (3, [*example, *evaluators], [*configs, *evaluators]),
        ):
            with self.subTest(count=count, arguments=arguments):
                parts = self.shards(count, *arguments)
                self.run_main(*arguments, "--output", whole)
                output = self.run_main("merge", *parts[1:], parts[0], "--output", merged, *more)
                self.assertEqual(Path(merged).read_bytes(), Path(whole).read_bytes())
                self.assertIn("Task accuracy: ", output)
                for part in parts:
                    document = json.loads(Path(part).read_text(encoding="utf-8"))
                    self.assertTrue(accepts(SCHEMA, document))
                    self.assertEqual(Summary.from_dict(document).to_dict(), document)

    def test_the_default_output_is_the_parts_own(self) -> None:
        self.add_runs("pp", "pf")
        self.run_main(*self.run_roots, "--shard", "2/2")
        self.assertTrue((self.folder / "runs/evaluation_summary.shard-2-of-2.json").is_file())

    def test_refused_by_name(self) -> None:
        self.add_runs("pp", "pf", "fp")
        one, two = self.shards(2, *self.run_roots)
        plain = ["--prediction-root", str(self.folder / "runs/run-02"), *self.roots[2:]]

        def made(name: str, *arguments: str) -> str:
            path = str(self.folder / name)
            self.run_main(*arguments, "--output", path)
            return path

        whole = made("whole.json", *self.run_roots)
        other_runs = made("plain.json", *plain, "--shard", "2/2")
        overlap = made("overlap.json", *self.run_roots, "--task", "task_1", "--task", "task_2")
        limits = made("limits.json", *self.run_roots, "--shard", "2/2", "--max-rows", "7")
        evaluator = self.write("e.json", '{"id": "e", "type": "accuracy", "source": "c0"}')
        scored = [*plain, "--dataset-evaluators", str(evaluator)]
        labels = [made(f"labels-{n}.json", *scored, "--shard", f"{n}/2") for n in (1, 2)]
        hidden = made("hidden.json", *plain, "--shard", "1/2", "--redact-gold")
        self.add_task(9)
        foreign = made("foreign.json", *plain, "--shard", "2/2")
        configs = ["--config-root", str(self.folder / "configs")]
        text = Path(one).read_text(encoding="utf-8")
        for parts, mention in (
            ([one], "no part has task_2 (1 of 3 tasks)"),
            ([one, one], "part-1.json' is given twice"),
            ([one, overlap], "task_1 is in both 'part-1.json' and 'overlap.json'"),
            ([one, whole], "'whole.json' is no part"),
            ([one, other_runs], "'plain.json' and 'part-1.json' differ in their runs or thresholds"),
            ([one, limits], "'limits.json' and 'part-1.json' differ in their limits"),
            ([one, foreign], "'foreign.json' and 'part-1.json' differ in their config digest"),
            ([hidden, other_runs], "'plain.json' and 'hidden.json' differ in their redaction of gold"),
            (labels, "name their --config-root"),
            ([*labels, *configs], "is another set than the parts are of"),
            ([one, two, "--dataset-evaluators", str(evaluator)], "--dataset-evaluators needs --config-root"),
            ([one, two, "--output", one], "it is an input of the merge"),
            ([str(evaluator)], "it has no 'summary_schema_version'"),
        ):
            with self.subTest(mention=mention):
                output = [] if "--output" in parts else ["--output", str(self.folder / "x.json")]
                self.assert_fatal(arguments=["merge", *parts, *output], mentions=[mention])
                self.assertFalse((self.folder / "x.json").exists())
                self.assertEqual(Path(one).read_text(encoding="utf-8"), text)

    def test_configs_are_not_written_over(self) -> None:
        self.add_runs("p", "f")
        evaluator = self.write("e/e.json", '{"id": "e", "type": "accuracy", "source": "c0"}')
        plain = ["--prediction-root", str(self.folder / "runs/run-01"), *self.roots[2:]]
        parts = self.shards(2, *plain, "--dataset-evaluators", str(evaluator))
        roots = ["--config-root", str(self.folder / "configs"), "--dataset-evaluators", str(evaluator.parent)]
        for path in (self.folder / "configs/task_1.json", evaluator):
            output = ["--output", str(path)]
            self.assert_fatal(arguments=["merge", *parts, *roots, *output], mentions=["it is an input of the merge"])

    def test_a_part_of_a_larger_set_is_foreign(self) -> None:
        self.add_runs("p", "f", "p")
        plain = ["--prediction-root", str(self.folder / "runs/run-01"), *self.roots[2:]]
        one, two, three = self.shards(3, *plain)
        document = json.loads(Path(three).read_text(encoding="utf-8"))
        document["other_tasks"].append("task_7")
        document["task_count"] = 4
        document["signature"] = document["signature"].replace("tasks:1/3", "tasks:1/4")
        self.write("part-3.json", json.dumps(document))
        for order in ((one, two, three), (three, two, one)):
            arguments = ["merge", *order, "--output", str(self.folder / "x.json")]
            self.assert_fatal(arguments=arguments, mentions=["differ in the tasks of their config set"])

    def test_labels_that_are_redacted_cannot_be_compared(self) -> None:
        self.add_runs("p", "f")
        evaluator = self.write("configs/dataset_evaluators/e.json", '{"id": "e", "type": "accuracy", "source": "c0"}')
        plain = ["--prediction-root", str(self.folder / "runs/run-01"), *self.roots[2:], "--redact-gold"]
        self.assert_fatal(arguments=[*plain, "--shard", "1/2"], mentions=["leaves no labels for dataset evaluators"])
        parts = [str(self.folder / f"part-{number}.json") for number in (1, 2)]
        for number, part in enumerate(parts, start=1):
            self.run_main(*plain, "--task", f"task_{number}", "--output", part)
        output = ["--output", str(self.folder / "x.json"), "--config-root", str(self.folder / "configs")]
        self.assert_fatal(arguments=["merge", *parts, *output], mentions=["no labels, as gold is redacted"])
        self.assertTrue(evaluator.is_file())

    def test_parts_with_and_without_diagnosis_do_not_join(self) -> None:
        self.add_runs("f", "f", "p")
        plain = ["--prediction-root", str(self.folder / "runs/run-01"), *self.roots[2:]]
        one, _, three = self.shards(3, *plain)
        two = str(self.folder / "two.json")
        self.run_main(*plain, "--shard", "2/3", "--no-diagnosis", "--output", two)
        output = ["--output", str(self.folder / "x.json")]
        mention = "'two.json' was scored with --no-diagnosis"
        self.assert_fatal(arguments=["merge", one, two, three, *output], mentions=[mention])

    def test_a_merged_summary_has_a_bar_and_reports(self) -> None:
        self.add_runs("pp", "pf")
        parts = self.shards(2, *self.run_roots)
        output = ["--output", str(self.folder / "x.json"), "--report", str(self.folder / "x.md")]
        for bar, expected in (("0.5", 0), ("0.51", 1)):
            status, text, error = run_cli("merge", *parts, *output, "--fail-under", bar)
            self.assertEqual(status, expected, error)
            self.assertIn("Task accuracy: 1/2", text)
        self.assertIn("accuracy 1/2 is below --fail-under 51/100", error)
        self.assertTrue((self.folder / "x.md").read_text(encoding="utf-8").startswith("## 1 of 2 tasks passed"))
        status, text, _ = run_cli("merge", *parts, "--output", str(self.folder / "x.json"), "--report", "csv=-")
        self.assertTrue(text.startswith("task_id,"))
        both = ["--output", "-", "--report", "csv=-"]
        self.assert_fatal(arguments=["merge", *parts, *both], mentions=["both claim standard output"])


if __name__ == "__main__":
    unittest.main()
