"""Suites in which some answers are tables and some are not: runs, folds, reports, archives, redaction, jobs."""

from __future__ import annotations

import contextlib
import copy
import csv
import io
import json
import os
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile
from typing import Any
from unittest import mock

from schema_check import accepts, load_schema
from support import TEXT, BenchmarkTestCase, check_config, check_document, run_cli

from evaluation import runner
from evaluation.check_plugins import declared_functions
from evaluation.errors import EvaluationError, EvaluationFatalError
from evaluation.scoring import evaluate_task
from evaluation.summary import Summary

SCHEMA = load_schema("summary.schema.json")
CITY = {"func": "json -> get(city)", "op": "=", "value": "Oslo", "desc": "the city"}
TOTAL = {"func": "json -> get(total)", "op": "=", "value_from": "gold", "value_func": "json -> get(total)"}
FORMATS = ("md", "triage.md", "html", "junit.xml", "csv", "jsonl")


class MixedTestCase(BenchmarkTestCase):
    """Tasks 1 and 2 are tables with labels; 3 is JSON compared with gold, 4 a text, 5 JSON that is malformed."""

    def setUp(self) -> None:
        super().setUp()
        self.add_task(1, "c0\na\n", "c0\na\n", [TEXT])
        self.add_task(2, "c0\nb\n", "c0\na\n", [TEXT])
        self.add_checks(3, '{"city": "Bergen", "total": 7}', CITY, TOTAL, gold='{"total": 7.0}')
        text = {"func": "text", "op": "matches", "value": "yes|no"}
        self.add_checks(4, " yes\n", text, file="prediction.txt")
        required = {**CITY, "required": True}
        self.add_checks(5, '{"city": "Oslo",}', required, {"func": "raw", "op": "contain", "value": "Oslo"})

    def add_checks(
        self, number: int, answer: str | bytes | None, *checks: Any, gold: str | None = None, file: str | None = None
    ) -> None:
        task_id = f"task_{number}"
        more = {} if file is None else {"prediction_file": file}
        self.write(f"configs/{task_id}.json", json.dumps(check_document(*checks, task_id=task_id, **more)))
        for name in ("golds", "predictions"):
            (self.folder / name).mkdir(exist_ok=True)
        if gold is not None:
            self.write(f"golds/{task_id}/gold.json", gold)
        if answer is not None:
            self.write(f"predictions/{task_id}/{file or 'prediction.json'}", answer)

    def codes(self, document: dict[str, Any]) -> list[str | None]:
        return [task["error_code"] for task in document["tasks"]]

    def outcomes(self, document: dict[str, Any]) -> list[list[str]]:
        return [[check["outcome"] for check in task.get("checks", ())] for task in document["tasks"]]


class ScoreTest(MixedTestCase):
    def test_one_denominator(self) -> None:
        summary = self.score()
        self.assertEqual(self.codes(summary), [None, "relation_mismatch", "check_failed", None, "check_error"])
        self.assertEqual((summary["task_count"], summary["task_accuracy"]), (5, 0.4))
        self.assertEqual(self.outcomes(summary), [[], [], ["failed", "passed"], ["passed"], ["error", "skipped"]])
        self.assertEqual(summary["config_schema_version"], "1.1")
        self.assertEqual(
            [task["error"] for task in summary["tasks"][2:]],
            [
                "1 of 2 checks did not pass: check 1 'the city' failed: expected = 'Oslo', got 'Bergen'",
                None,
                "2 of 2 checks did not pass: check 1 'the city' could not be run: "
                "step 1, json: is not JSON (line 1, column 17: unexpected '}')",
            ],
        )

    def test_a_table_alone_is_as_it_was(self) -> None:
        for number in (3, 4, 5):
            (self.folder / f"configs/task_{number}.json").unlink()
        summary = self.score()
        self.assertEqual(summary["config_schema_version"], "1.0")
        self.assertNotIn("checks", json.dumps(summary))

    def test_the_schema_and_the_way_back(self) -> None:
        for options in ([], ["--redact-gold"], ["--task", "task_3", "--task", "task_4"]):
            with self.subTest(options=options):
                path = self.folder / "summary.json"
                run_cli(*self.roots, *options, "--output", str(path))
                document = json.loads(path.read_text(encoding="utf-8"))
                self.assertTrue(accepts(SCHEMA, document))
                self.assertEqual(Summary.from_dict(document).to_dict(), document)

    def test_parts_that_do_not_follow_are_refused(self) -> None:
        document = self.score()
        for change in (
            lambda tasks: tasks[2]["checks"][0].update(outcome="passed", reason=None),
            lambda tasks: tasks[2]["checks"][0].update(outcome="error"),
            lambda tasks: tasks[2]["checks"][0].update(outcome="wrong"),
            lambda tasks: tasks[2]["checks"][0].update(reason=None),
            lambda tasks: tasks[2]["checks"][0].update(more=1),
            lambda tasks: tasks[2]["checks"][0].update(desc=1),
            lambda tasks: tasks[2].update(checks=[]),
            lambda tasks: tasks[2].pop("checks"),
            lambda tasks: tasks[2].update(error_code="check_error"),
            lambda tasks: tasks[2].update(error_code="missing_prediction"),
            lambda tasks: tasks[2].update(error_code="relation_mismatch"),
            lambda tasks: tasks[2].update(gold_column_count=1),
            lambda tasks: tasks[2].update(order_sensitive=True),
            lambda tasks: tasks[3]["checks"][0].update(outcome="failed", reason="x"),
            lambda tasks: tasks[3].update(column_mapping=[]),
            lambda tasks: tasks[3].update(error="x"),
            lambda tasks: tasks[0].update(checks=tasks[3]["checks"]),
            lambda tasks: (tasks[3].pop("checks"), tasks[3].update(column_mapping=[])),
            lambda tasks: (tasks[2].pop("checks"), tasks[2].update(error_code="relation_mismatch")),
            lambda tasks: tasks[1].update(error_code="check_failed"),
            lambda tasks: tasks[1].update(error_code="invalid_prediction"),
        ):
            spoilt = copy.deepcopy(document)
            change(spoilt["tasks"])
            with self.assertRaises(EvaluationError):
                Summary.from_dict(spoilt)

    def test_answers_that_are_not_there_or_no_files(self) -> None:
        path = self.folder / "predictions/task_3/prediction.json"
        for make, code, error in (
            (lambda: None, "missing_prediction", "task_3/prediction.json does not exist"),
            (path.mkdir, "invalid_prediction", "task_3/prediction.json is a directory, not a regular file"),
            (lambda: path.symlink_to("/dev/zero"), "invalid_prediction", "is a symbolic link, not a regular file"),
            (
                lambda: os.link(self.folder / "golds/task_3/gold.json", path),
                "invalid_prediction",
                "task_3/prediction.json is the gold file itself (a hard link)",
            ),
            (lambda: path.write_bytes(b" " * 200), "invalid_prediction", "is longer than 100 bytes"),
        ):
            with self.subTest(error=error):
                with contextlib.suppress(FileNotFoundError):
                    path.rmdir() if path.is_dir() else path.unlink()
                make()
                summary = self.score("--max-csv-bytes", "100")
                task = summary["tasks"][2]
                self.assertEqual(
                    (task["error_code"], [one["outcome"] for one in task["checks"]]), (code, ["skipped"] * 2)
                )
                self.assertIn(error, task["error"])
                self.assertEqual(task["checks"][0]["reason"], "there is no answer")
                self.assertEqual(self.codes(summary)[3:], [None, "check_error"])

    def test_deep_huge_and_malformed_answers(self) -> None:
        for answer, reason in (
            (b"[" * 1_000_000, "is nested more than 100 deep"),
            (b'{"a":' * 200_000, "is nested more than 100 deep"),
            (b"\xff\xfe{\x00}\x00", "is not UTF-8 (byte 0)"),
            (b'{"city": "Oslo", "city": "Oslo"}', "has the key 'city' twice in one object"),
            (b'{"city": NaN}', "holds NaN, which is not JSON"),
            (b'{"city": ' + b"9" * 1_000_000 + b"}", "holds an integer of 1000000 characters"),
            (b'{"city": 1e999999999}', "holds a number of more than 1000 digits"),
            (b"", "is not JSON (line 1, column 1: it ends too early)"),
            (b"\0", "is not JSON (line 1, column 1: unexpected '\\x00')"),
            (b"[" + b"0," * 2_000_000 + b"0]", "get(city): takes an element of a list by a whole number"),
            (b'{"city": "' + b"x" * 5_000_000 + b'"}', "(5000000 characters)"),
        ):
            with self.subTest(answer=answer[:20]):
                self.write("predictions/task_3/prediction.json", answer)
                summary = self.score()
                task = summary["tasks"][2]
                self.assertFalse(task["passed"])
                self.assertIn(reason, task["error"])
                self.assertEqual(len(task["error"].splitlines()), 1)
                self.assertLess(len(task["error"]), 500)
                self.assertEqual(self.codes(summary)[3:], [None, "check_error"])

    def test_gold_that_is_missing_or_bad_is_fatal(self) -> None:
        path = self.folder / "golds/task_3/gold.json"
        for content, message in (
            ("{}", "gold file task_3/gold.json, for checks[1]: step 2, get(total): finds no key 'total'"),
            ("{", "gold file task_3/gold.json, for checks[1]: step 1, json: is not JSON"),
            (None, "gold file task_3/gold.json does not exist"),
        ):
            with self.subTest(message=message):
                path.unlink()
                if content is not None:
                    path.write_text(content, encoding="utf-8")
                self.assert_fatal(mentions=[message])

    def test_faults_of_chains_are_drawn(self) -> None:
        self.add_checks(3, "{}", {**CITY, "func": "json -> gte(city)"})
        status, _, error = run_cli(*self.roots)
        self.assertEqual(status, 2)
        self.assertIn("did you mean get?\n    json -> gte(city)\n            ^^^\n", error)
        self.assertNotIn("city)", run_cli(*self.roots, "--redact-gold")[2])

    def test_from_python(self) -> None:
        config = check_config(check_document(CITY))
        path = self.write("answer.json", '{"city": "Oslo"}')
        self.assertTrue(evaluate_task(config=config, prediction_path=path).passed)
        config = check_config(check_document(TOTAL))
        gold = self.write("g.json", '{"total": 1}')
        self.assertEqual(evaluate_task(config=config, prediction_path=path, gold_path=gold).error_code, "check_failed")
        config = check_config(check_document({"func": "json -> f", "op": "=", "value": 1}), declared_functions(["f"]))
        with self.assertRaisesRegex(EvaluationFatalError, "task 'task_1' needs the function f of a plugin"):
            evaluate_task(config=config, prediction_path=path)
        config = check_config(check_document(TOTAL))
        with self.assertRaisesRegex(EvaluationFatalError, "needs a gold file"):
            evaluate_task(config=config, prediction_path=path)


class FoldTest(MixedTestCase):
    def test_runs_and_parts(self) -> None:
        second = self.folder / "second"
        for task_id, name, content in (
            ("task_2", "prediction.csv", "c0\nb\n"),
            ("task_3", "prediction.json", '{"city": "Oslo", "total": 7}'),
            ("task_5", "prediction.json", '{"city": "Oslo"}'),
        ):
            self.write(f"second/{task_id}/{name}", content)
        options = [*self.roots, "--prediction-root", str(second), "--threshold", "1/2"]
        whole, merged = self.folder / "whole.json", self.folder / "merged.json"
        self.assertEqual(run_cli(*options, "--output", str(whole))[0], 0)
        document = json.loads(whole.read_text(encoding="utf-8"))
        self.assertEqual([case["passed_runs"] for case in document["cases"]], [1, 1, 1, 1, 1])
        self.assertEqual(self.outcomes(document)[2:], [["passed", "passed"], ["passed"], ["passed", "passed"]])
        text = run_cli(*options, "--output", str(whole), "--report", "md=-")[1]
        self.assertIn("10 checks of answers that are no tables in 2 runs: 6 passed, 1 failed, 1 error, 2 skipped", text)
        self.assertIn("| `task_5` | 2 | 0 | 1 | 1 |", text)
        self.assertTrue(accepts(SCHEMA, document))
        self.assertEqual(Summary.from_dict(document).to_dict(), document)
        parts = [str(self.folder / f"part-{number}.json") for number in (1, 2, 3)]
        for number, part in enumerate(parts, start=1):
            status, _, error = run_cli(*options, "--shard", f"{number}/3", "--output", part)
            self.assertEqual(status, 0, error)
        self.assertEqual(run_cli("merge", *parts, "--output", str(merged))[0], 0)
        self.assertEqual(merged.read_bytes(), whole.read_bytes())

    def test_breakdown(self) -> None:
        rows = "".join(f"task_{number},{'table' if number < 3 else 'answer'}\n" for number in range(1, 6))
        metadata = self.write("metadata.csv", "task_id,kind\n" + rows)
        (attribute,) = self.score("--metadata", str(metadata))["breakdown"]["attributes"]
        counts = {group["value"]: (group["passed"], group["total"]) for group in attribute["groups"]}
        self.assertEqual(counts, {"table": (1, 2), "answer": (1, 3)})

    def test_dataset_pass_and_plugins(self) -> None:
        evaluator = self.write("e.json", '{"id": "e", "type": "accuracy", "source": "c0"}')
        plugin = self.write(
            "p.py",
            "def f(inputs, outputs, reference_outputs, runs, examples):\n"
            "    answer = [sorted(output) for output in outputs], [output.get('answer') for output in outputs][2:]\n"
            "    checks = [len(run.checks) for run in runs], [len(getattr(e, 'checks', ())) for e in examples]\n"
            "    return repr((answer, checks, reference_outputs[3], examples[3].inputs))\n"
            "SUMMARY_EVALUATORS = {'f': f}\n",
        )
        for jobs in ("1", "2"):
            with (
                mock.patch.object(runner, "_LEAST_BYTES_FOR_WORKERS", 0),
                mock.patch.object(runner, "_LEAST_BYTES_PER_TASK", 0),
            ):
                summary = self.score("--dataset-evaluators", str(evaluator), "--plugin", str(plugin), "--jobs", jobs)
            (evaluation,) = summary["dataset_evaluations"]
            self.assertEqual((evaluation["n_total"], evaluation["n_scored"], evaluation["score"]), (2, 2, 0.5))
            (result,) = summary["summary_evaluations"]
            keys = [["c0", "rows"], ["c0", "rows"], *[["answer", "rows"]] * 3]
            answers = ['{"city": "Bergen", "total": 7}', " yes\n", '{"city": "Oslo",}']
            counts = [0, 0, 2, 1, 2]
            expected: object = ((keys, answers), (counts, counts), {"rows": []}, {"task_id": "task_4"})
            self.assertEqual(result["value"], repr(expected))

    def test_plugins_see_the_beginning_of_a_long_answer(self) -> None:
        self.add_checks(4, b"\xff" + "é".encode() * 200_000, {"func": "raw", "op": "=", "value": "x"})
        plugin = self.write(
            "p.py", "SUMMARY_EVALUATORS = {'f': lambda outputs: repr([len(o['answer']) for o in outputs[2:]])}"
        )
        (result,) = self.score("--plugin", str(plugin))["summary_evaluations"]
        self.assertEqual(result["value"], repr([30, runner.MOST_ANSWER_CHARACTERS, 17]))

    def test_two_systems(self) -> None:
        one, other = self.folder / "one.json", self.folder / "other.json"
        run_cli(*self.roots, "--output", str(one))
        self.write("predictions/task_3/prediction.json", '{"city": "Oslo", "total": 7}')
        run_cli(*self.roots, "--output", str(other))
        output = run_cli("compare", str(one), str(other))[1]
        self.assertIn("task_3", output)
        self.assertIn("check_failed", output)
        self.assertEqual(run_cli("leaderboard", str(one), str(other))[0], 0)


class JobsTest(MixedTestCase):
    def test_the_same_bytes_with_jobs(self) -> None:
        counted = {"func": "json -> count_calls", "op": "=", "value": 1}
        for number in (6, 7, 8):
            self.add_checks(number, "1", {**counted, "value": number - 5})
        plugin = self.write(
            "p.py",
            "calls = []\n"
            "def count_calls(value):\n    calls.append(value)\n    return len(calls)\n"
            "EVAL_FUNCTIONS = {'count_calls': count_calls}\n",
        )
        written = []
        for jobs in ("1", "3"):
            with (
                mock.patch.object(runner, "_LEAST_BYTES_FOR_WORKERS", 0),
                mock.patch.object(runner, "_LEAST_BYTES_PER_TASK", 0),
            ):
                summary = self.score("--plugin", str(plugin), "--jobs", jobs)
            self.assertEqual(self.codes(summary)[5:], [None] * 3)
            written.append(self.summary_path.read_bytes())
        self.assertEqual(*written)


class ReportTest(MixedTestCase):
    def rendered(self, name: str, *options: str) -> str:
        status, output, error = run_cli(*self.roots, "--report", f"{name}=-", *options)
        self.assertEqual(status, 0, error)
        return output

    def test_every_report_has_every_outcome(self) -> None:
        for name in ("md", "triage.md", "html"):
            with self.subTest(name=name):
                text = self.rendered(name)
                self.assertIn("5 checks of answers that are no tables: 2 passed, 1 failed, 1 error, 1 skipped", text)
                self.assertIn("Checks by task", text)
                for sentence in ("failed, expected", "get(total) =", "passed", "error, step 1, json: is not JSON"):
                    self.assertIn(sentence, text.replace("&#62;", ">").replace("&gt;", ">"))
                self.assertIn("skipped, check 1 is required and did not pass", text)
        rows = list(csv.DictReader(io.StringIO(self.rendered("csv"))))
        self.assertEqual([row["checks"] for row in rows], ["", "", "failed;passed", "passed", "error;skipped"])
        self.assertEqual([row["passed_checks"] for row in rows], ["", "", "1", "1", "0"])
        self.assertEqual([row["skipped_checks"] for row in rows], ["", "", "0", "0", "1"])
        lines = [json.loads(line) for line in self.rendered("jsonl").splitlines()]
        self.assertEqual([len(line.get("checks", ())) for line in lines], [0, 0, 2, 1, 2])

    def test_junit(self) -> None:
        root = ElementTree.fromstring(self.rendered("junit.xml"))
        self.assertEqual([root.attrib[name] for name in ("tests", "failures", "errors")], ["5", "2", "1"])
        cases = {case.attrib["name"]: case for case in root.iter("testcase")}
        (failure,) = cases["task_3"]
        self.assertEqual(failure.attrib["type"], "check_failed")
        self.assertIn("check 2 'json -> get(total) =': passed", failure.text or "")
        (output,) = cases["task_4"]
        self.assertEqual((output.tag, output.text), ("system-out", "check 1 'text matches': passed"))
        (error,) = cases["task_5"]
        self.assertEqual((error.tag, error.attrib["type"]), ("error", "check_error"))

    def test_console(self) -> None:
        status, output, _ = run_cli(*self.roots, "--verbose")
        self.assertEqual(status, 0)
        self.assertIn("passed  task_4  1 check\n", output)
        self.assertIn("5 checks of answers that are no tables", output)
        self.assertIn("check 2 'raw contain': skipped", run_cli(*self.roots, "--task", "task_5")[1])

    def test_the_closest_first(self) -> None:
        # Of task 3 no check passes, of task 6 one of two does, so that their numbers are against the order.
        self.add_checks(3, "{}", CITY, TOTAL, gold='{"total": 7.0}')
        self.add_checks(6, '{"city": "Oslo"}', CITY, {**CITY, "value": "Bergen"})
        text = self.rendered("md")
        self.assertLess(text.index("#### task_6: "), text.index("#### task_3: "))
        text = self.rendered("md")
        places = [text.index(f"#### task_{number}: ") for number in (3, 5)]
        self.assertEqual(places, sorted(places))

    def test_secrets_are_redacted(self) -> None:
        key = "sk-" + "abcdefgh" * 5
        desc = f"uses {key}"
        self.add_checks(3, json.dumps({"city": key}), {**CITY, "desc": desc}, {**CITY, "func": f"json -> get('{key}')"})
        for name in FORMATS:
            with self.subTest(name=name):
                self.assertNotIn("abcdefgh", self.rendered(name))

    def test_hostile_texts_are_inert(self) -> None:
        self.add_checks(3, json.dumps({"city": "\x1b[31m</script><b>|`@x\u202e"}), CITY)
        for name in FORMATS:
            with self.subTest(name=name):
                text = self.rendered(name)
                self.assertNotRegex(text, "\x1b|\u202e")
        for name in ("html", "md", "triage.md"):
            self.assertNotIn("</script><b>", self.rendered(name))


class RedactionTest(MixedTestCase):
    def test_nothing_of_gold_or_the_config_is_shown(self) -> None:
        self.add_checks(
            3,
            '{"secret_key": "secret_actual"}',
            {**CITY, "func": "json -> get(secret_key)", "value": "secret_value"},
            {**TOTAL, "func": "json -> get(secret_key)", "desc": "secret_desc"},
            gold='{"total": "secret_gold"}',
        )
        status, output, error = run_cli(*self.roots, "--redact-gold", "--verbose", "--task", "task_3")
        self.assertEqual(status, 0, error)
        text = output
        summary = self.score("--redact-gold")
        self.assertEqual(self.outcomes(summary)[2], ["failed", "failed"])
        text += json.dumps(summary)
        for name in FORMATS:
            text += run_cli(*self.roots, "--redact-gold", "--report", f"{name}=-")[1]
        self.assertNotIn("secret", text)
        self.assertIn("the comparison does not hold", text)

    def test_what_shows_something_is_not_redacted(self) -> None:
        document = self.score("--redact-gold")
        for key in ("func", "op", "desc"):
            spoilt = copy.deepcopy(document)
            spoilt["tasks"][2]["checks"][0][key] = "x"
            with self.subTest(key=key), self.assertRaises(EvaluationError):
                Summary.from_dict(spoilt)

    def test_faults_are_told_by_their_place(self) -> None:
        self.write("golds/task_3/gold.json", '{"secret": 1}')
        error = self.assert_fatal("--redact-gold", mentions=["task_3/gold.json, for checks[1]: step 2 cannot be run"])
        self.assertNotIn("total", error)
        self.add_checks(3, "{}", {**CITY, "op": "approx", "op_args": {"absolute": 1}})
        error = self.assert_fatal("--redact-gold", mentions=["checks[0]"])
        self.assertNotIn("Oslo", error)


class ArchiveTest(MixedTestCase):
    def zipped(self, prefix: str = "", extra: tuple[str, ...] = ()) -> str:
        path = self.folder / "submission.zip"
        with zipfile.ZipFile(path, "w") as target:
            for file in sorted((self.folder / "predictions").rglob("prediction.*")):
                target.write(file, prefix + file.relative_to(self.folder / "predictions").as_posix())
            for name in extra:
                target.writestr(name, "x")
        return str(path)

    def test_the_same_results(self) -> None:
        plain = self.score()
        for prefix in ("", "me/"):
            path = self.zipped(prefix)
            arguments = [path if one.endswith("predictions") else one for one in self.roots]
            status, _, error = run_cli(*arguments)
            self.assertEqual(status, 0, error)
            written = self.folder / "submission.evaluation_summary.json"
            self.assertEqual(json.loads(written.read_text(encoding="utf-8"))["tasks"], plain["tasks"])

    def test_names_that_no_task_has_do_not_count(self) -> None:
        for number in (3, 4, 5):
            (self.folder / f"configs/task_{number}.json").unlink()
        # Nearer to the top, but no prediction of this benchmark.
        path = self.zipped("a/b/", ("task_1/prediction.json", "task_2/prediction.txt"))
        arguments = [path if one.endswith("predictions") else one for one in self.roots]
        self.assertIn("Task accuracy: 1/2", run_cli(*arguments)[1])

    def test_answers_alone(self) -> None:
        for number in (1, 2, 4):
            (self.folder / f"configs/task_{number}.json").unlink()
            with contextlib.suppress(FileNotFoundError):
                (self.folder / f"predictions/task_{number}/prediction.csv").unlink()
        arguments = [self.zipped("deep/er/") if one.endswith("predictions") else one for one in self.roots]
        status, output, error = run_cli(*arguments)
        self.assertEqual(status, 0, error)
        self.assertIn("check_failed  1", output)

    def test_an_output_is_no_input(self) -> None:
        for name in (
            "predictions/task_3/prediction.json",
            "golds/task_3/gold.json",
            "predictions/task_4/prediction.txt",
        ):
            self.assert_fatal("--output", str(self.folder / name), mentions=["it is an input of the run"])


if __name__ == "__main__":
    unittest.main()
