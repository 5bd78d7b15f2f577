"""Comparisons of summaries: what is refused, what is told, and what the command prints and writes."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
import re
import unittest
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from schema_check import accepts, load_schema
from support import ROOT, FolderTestCase, assert_golden, run_cli
from test_reports import HOSTILE, RAW, Page

from evaluation.compare_command import render_comparison
from evaluation.errors import EvaluationFatalError
from evaluation.estimators import mcnemar_p_value
from evaluation.reports import comparison_text
from evaluation.reports.summary_json import render, spelled
from evaluation.reports.text import ConsoleStyle
from evaluation.results import TaskEvaluationResult
from evaluation.runs import Repetition, Run
from evaluation.summary import Summary
from evaluation.summary_comparison import (
    DIFFERENCES,
    OBSTACLES,
    Comparison,
    NamedSummary,
    Pair,
    compare_summaries,
)
from evaluation.summary_files import short_names

SCHEMA = load_schema("comparison.schema.json")
FORMATS = ("csv", "html", "md")


def results(verdicts: str, error: str = "what, where, why — “é”", first: int = 1) -> tuple[TaskEvaluationResult, ...]:
    """Return a result per letter: P passed, F failed."""
    return tuple(
        TaskEvaluationResult(f"task_{number}", True, 2, 2, 5, 5, mapping=(0, 1))
        if letter == "P"
        else TaskEvaluationResult(f"task_{number}", True, 2, 0, 5, 0, error_code="row_count_mismatch", error=error)
        for number, letter in enumerate(verdicts, start=first)
    )


def summary(verdicts: str, first: int = 1, error: str = "what, where, why — “é”", **changes: Any) -> Summary:
    found = Summary("1.0.0", "1.0", "a" * 64, "b" * 64, "c" * 64, (), results(verdicts, error, first))
    return dataclasses.replace(found, **changes)


def repeated(*runs: str, threshold: Fraction = Fraction(1), **changes: Any) -> Summary:
    repetition = Repetition(
        tuple(Run(f"run_{place}", "c" * 64, (), results(verdicts)) for place, verdicts in enumerate(runs)), threshold
    )
    return dataclasses.replace(summary(runs[0]), tasks=repetition.tasks, repetition=repetition, **changes)


def compared(*summaries: Summary, forced: bool = False) -> Comparison:
    baseline, *others = (NamedSummary(f"{'ABC'[place]}.json", found) for place, found in enumerate(summaries))
    return compare_summaries(baseline, others, forced=forced)


def only_pair(*summaries: Summary, forced: bool = False) -> Pair:
    (pair,) = compared(*summaries, forced=forced).pairs
    return pair


def ids(tasks: Sequence[Any]) -> list[str]:
    return [task.task_id for task in tasks]


REDACTED: dict[str, Any] = {"gold_set_sha256": None, "gold_redacted": True}
# Why the second summary may not be compared with the first, and what the message says.
REFUSED = {
    "partial": (summary("PF"), summary("P", other_tasks=("task_99",)), "only some tasks were scored in 'B.json';"),
    "config_set_sha256": (summary("PF"), summary("PF", config_set_sha256="d" * 64), "config_set_sha256 differs in"),
    "gold_set_sha256": (summary("PF"), summary("PF", gold_set_sha256="d" * 64), "gold_set_sha256 differs in 'B.json'"),
    "gold_redacted": (summary("PF", **REDACTED), summary("PF"), "unknown, as gold is redacted, in 'A.json';"),
    "tasks": (summary("PF"), summary("PFP"), "the tasks differ, under one config_set_sha256, in 'B.json'"),
}
# What may differ.
TOLD = {
    "evaluator_version": (summary("PF"), summary("PF", evaluator_version="1.0.1")),
    "limits": (summary("PF", limits={"rows": 7}), summary("PF")),
    "runs": (summary("PF"), repeated("PF", "PF")),
    "threshold": (repeated("PF", "PF"), repeated("PF", "PF", threshold=Fraction(1, 2))),
    "plugins": (
        summary("PF", check_functions=("f",), plugin_set_sha256="a" * 64),
        summary("PF", check_functions=("f",), plugin_set_sha256="b" * 64),
    ),
}


class FoldTest(unittest.TestCase):
    def test_counts_and_reasons(self) -> None:
        pair = only_pair(summary("PPPFFF", error="old"), summary("PPFPPF", error="new"))
        self.assertEqual((pair.task_count, pair.baseline_passed, pair.passed), (6, 3, 4))
        self.assertEqual((pair.both_passed, pair.both_failed), (2, 1))
        self.assertEqual([(task.task_id, task.error) for task in pair.gained], [("task_4", "old"), ("task_5", "old")])
        self.assertEqual([(task.task_id, task.error) for task in pair.lost], [("task_3", "new")])
        self.assertEqual({task.error_code for task in pair.gained + pair.lost}, {"row_count_mismatch"})
        self.assertEqual(pair.difference, Fraction(1, 6))
        assert pair.interval is not None
        self.assertTrue(pair.interval.low < 1 / 6 < pair.interval.high)
        self.assertEqual(pair.p_value, mcnemar_p_value(2, 1))
        self.assertIsNone(pair.pass_rates)

    def test_identical_systems(self) -> None:
        for verdicts in ("P", "F", "PF", "PPPP", "FFFF"):
            pair = only_pair(summary(verdicts), summary(verdicts))
            with self.subTest(verdicts=verdicts):
                self.assertEqual((pair.gained, pair.lost, pair.difference, pair.p_value), ((), (), 0, 1))
                assert pair.interval is not None
                self.assertTrue(pair.interval.low < 0 < pair.interval.high)

    def test_every_other_is_compared_with_the_first(self) -> None:
        pairs = compared(summary("PPF"), summary("PFF"), summary("PPP")).pairs
        self.assertEqual([(pair.name, ids(pair.gained), ids(pair.lost)) for pair in pairs], [
            ("B.json", [], ["task_2"]),
            ("C.json", ["task_3"], []),
        ])  # fmt: skip

    def test_what_is_refused(self) -> None:
        self.assertEqual(list(REFUSED), list(OBSTACLES))
        for obstacle, (baseline, other, message) in REFUSED.items():
            with self.subTest(obstacle=obstacle):
                with self.assertRaises(EvaluationFatalError) as caught:
                    compared(baseline, other)
                self.assertIn(message, str(caught.exception))
                self.assertEqual(str(caught.exception).count("\n"), 0)
                self.assertEqual(only_pair(baseline, other, forced=True).forced_over, (obstacle,))
                self.assertEqual(only_pair(other, baseline, forced=True).forced_over, (obstacle,))

    def test_the_message_names_every_file(self) -> None:
        with self.assertRaises(EvaluationFatalError) as caught:
            compared(
                summary("P"), summary("P", config_set_sha256="d" * 64), summary("P", config_set_sha256="e" * 64,
                gold_set_sha256="f" * 64)
            )  # fmt: skip
        self.assertEqual(
            str(caught.exception),
            "cannot compare with 'A.json': config_set_sha256 differs in 'B.json' and 'C.json'; gold_set_sha256 differs "
            "in 'C.json'; --force compares the tasks that both have",
        )

    def test_a_partial_baseline_is_refused_too(self) -> None:
        one = summary("P", other_tasks=("task_99",))
        with self.assertRaisesRegex(EvaluationFatalError, "only some tasks were scored in 'A.json' and 'B.json';"):
            compared(one, one)

    def test_force_compares_common_tasks(self) -> None:
        baseline, other = summary("PPPP"), summary("FPFPF", first=3, config_set_sha256="d" * 64)
        pair = only_pair(baseline, other, forced=True)
        self.assertEqual((pair.task_count, pair.baseline_only, pair.other_only), (2, 2, 3))
        self.assertEqual((pair.baseline_passed, pair.passed, ids(pair.lost)), (2, 1, ["task_3"]))
        text = comparison_text.render(compared(baseline, other, forced=True), ConsoleStyle())
        for said in (
            "Compared by force: the configs differ\n",
            "2 common tasks compared; left out: 2 of the baseline only, 3 of the other only\n",
        ):
            self.assertIn(said, text)

    def test_no_common_task_is_refused_even_then(self) -> None:
        with self.assertRaisesRegex(EvaluationFatalError, "'B.json' with 'A.json': they have no task in common"):
            compared(summary("PP"), summary("PP", first=3, config_set_sha256="d" * 64), forced=True)

    def test_gold_redacted_in_both(self) -> None:
        comparison = compared(summary("P", **REDACTED), summary("P", **REDACTED))
        self.assertTrue(comparison.pairs[0].gold_unknown)
        self.assertIn("only the configs are known to be the same", comparison_text.render(comparison, ConsoleStyle()))
        self.assertFalse(only_pair(summary("P"), summary("P")).gold_unknown)

    def test_what_differs_is_told(self) -> None:
        self.assertEqual(list(TOLD), list(DIFFERENCES))
        for difference, summaries in TOLD.items():
            for baseline, other in (summaries, summaries[::-1]):
                with self.subTest(difference=difference):
                    comparison = compared(baseline, other)
                    self.assertEqual(comparison.pairs[0].differs, (difference,))
                    is_alike = difference in ("evaluator_version", "limits")
                    self.assertEqual(comparison.pairs[0].interval is not None, is_alike)
                    text = comparison_text.render(comparison, ConsoleStyle())
                    self.assertIn("Not the same on both sides: ", text)
                    self.assertIn(f"Signatures: {baseline.signature} in the baseline, {other.signature} here", text)
        self.assertEqual(only_pair(summary("P"), summary("P")).differs, ())
        self.assertNotIn("Signatures", comparison_text.render(compared(summary("P"), summary("P")), ConsoleStyle()))

    def test_thresholds_of_single_tasks(self) -> None:
        baseline = repeated("PF", "PF")
        assert baseline.repetition is not None
        own = dataclasses.replace(baseline.repetition, thresholds={"task_2": Fraction(1, 2)})
        self.assertEqual(only_pair(baseline, dataclasses.replace(baseline, repetition=own)).differs, ("threshold",))


class RepetitionTest(unittest.TestCase):
    def test_pass_rates(self) -> None:
        rates = only_pair(repeated("PPF", "PFF"), repeated("PPP", "PPF", "PPF")).pass_rates
        assert rates is not None
        self.assertEqual((rates.baseline_runs, rates.runs), (2, 3))
        self.assertEqual((rates.baseline_mean, rates.mean), (Fraction(1, 2), Fraction(7, 9)))
        self.assertEqual(rates.difference, Fraction(5, 18))
        # Of the signs of 1/2 and 1/3, two choices of four are as far from 0 as 5/6.
        self.assertEqual(rates.test, (0.5, None, None))

    def test_a_plain_summary_is_one_run(self) -> None:
        for place, pair in enumerate(
            (only_pair(summary("PF"), repeated("PP", "PF")), only_pair(repeated("PP", "PF"), summary("PF")))
        ):
            rates = pair.pass_rates
            assert rates is not None
            self.assertEqual(sorted((rates.baseline_runs, rates.runs)), [1, 2])
            self.assertEqual(rates.difference, Fraction(-1 if place else 1, 4))

    def test_the_verdict_is_that_of_the_case(self) -> None:
        runs = ("PPF", "FPF")
        strict, half = repeated(*runs), repeated(*runs, threshold=Fraction(1, 2))
        pair = only_pair(strict, half)
        self.assertEqual(ids(pair.gained), ["task_1"])
        # Judged by other rules, the same runs would seem to have become better.
        self.assertEqual((pair.interval, pair.p_value), (None, None))
        self.assertEqual(only_pair(summary("F"), repeated("P", "P")).p_value, None)
        self.assertEqual(only_pair(repeated("F", "F"), repeated("P", "P")).p_value, 1)
        rates = pair.pass_rates
        assert rates is not None
        self.assertEqual((rates.difference, rates.test.p_value), (0, 1))

    def test_common_tasks_only(self) -> None:
        rates = only_pair(repeated("PF", "PF"), summary("FP", first=2, config_set_sha256="d" * 64), forced=True)
        assert rates.pass_rates is not None
        self.assertEqual((rates.task_count, rates.pass_rates.baseline_mean, rates.pass_rates.mean), (1, 0, 0))


def told() -> Comparison:
    """Return a comparison that has something of everything."""
    return compared(
        repeated("PPPPPPFF", "PPPPPFFF"),
        summary("PPPPPPPP", error="not seen", evaluator_version="1.0.1", limits={"rows": 7}),
        repeated("PPPPFFPF", "PPPFFFPF", config_set_sha256="d" * 64),
        forced=True,
    )


class ReportTest(unittest.TestCase):
    def test_golden(self) -> None:
        comparison = told()
        assert_golden(self, "comparison.txt", comparison_text.render(comparison, ConsoleStyle()))
        assert_golden(self, "comparison_colour.txt", comparison_text.render(comparison, ConsoleStyle(colour=True)))
        assert_golden(self, "comparison.json", spelled(comparison.to_dict()))
        for name in FORMATS:
            assert_golden(self, f"comparison.{name}", render_comparison(comparison, name, 10**6))

    def test_the_schema_describes_what_is_written(self) -> None:
        comparisons = [
            told(),
            compared(summary("P"), summary("P")),
            compared(summary("F" * 40), repeated("P" * 40, "P" * 40)),
        ]
        comparisons += [compared(*summaries) for summaries in TOLD.values()]
        comparisons += [compared(*summaries[:2], forced=True) for summaries in REFUSED.values()]
        for comparison in comparisons:
            document = json.loads(spelled(comparison.to_dict()))
            self.assertTrue(accepts(SCHEMA, document), document)
        document = told().to_dict()
        for place in (
            document,
            document["pairs"][0],
            document["pairs"][0]["pass_rates"],
            document["pairs"][1]["lost"][0],
        ):
            for key in list(place):
                value = place.pop(key)
                self.assertFalse(accepts(SCHEMA, document), key)
                place[key] = value
            place["more"] = 1
            self.assertFalse(accepts(SCHEMA, document))
            del place["more"]
        self.assertTrue(accepts(SCHEMA, document))

    def test_nothing_hostile_is_alive(self) -> None:
        for error in HOSTILE:
            baseline = NamedSummary(f"{error}.json", summary("PF"))
            comparison = compare_summaries(baseline, [NamedSummary(error, summary("FF", error=error))])
            with self.subTest(error=error):
                Page(render_comparison(comparison, "html", 0))
                for text in (
                    comparison_text.render(comparison, ConsoleStyle()),
                    *(render_comparison(comparison, name, 10**6) for name in FORMATS),
                ):
                    self.assertIsNone(RAW.search(text), text)
                _, row = csv.reader(io.StringIO(render_comparison(comparison, "csv", 0)))
                self.assertFalse({cell[:1] for cell in row} & set("=+-@"), row)
                # Nothing is markup inside of code.
                markdown = re.sub(r"`[^`\n]*`", "", render_comparison(comparison, "md", 10**6))
                for alive in ("<script", "](http", "@somebody", "https://", "www.evil", "**a", "$$x", "~~a"):
                    self.assertNotIn(alive, markdown)

    def test_the_page_loads_nothing(self) -> None:
        page = Page(render_comparison(told(), "html", 0))
        (policy,) = (text for text in page.attributes("content") if "default-src" in text)
        self.assertIn("default-src 'none'; style-src 'sha256-", policy)
        self.assertNotIn("script", policy)
        tags = {tag for tag, _ in page.elements}
        self.assertFalse(tags & {"script", "link", "img", "iframe", "object", "form", "a"}, tags)
        for name in ("src", "href", "style", "action"):
            self.assertEqual(page.attributes(name), [])

    def test_what_is_dropped(self) -> None:
        comparison = compared(summary("P" * 50), summary("F" * 50, error="x" * 500))
        whole = render_comparison(comparison, "md", 10**6)
        self.assertNotIn("Left out", whole)
        for most in (1_000, 5_000, 20_000):
            text = render_comparison(comparison, "md", most)
            self.assertLessEqual(len(text.encode()), most)
            self.assertIn("50 changed tasks", text)
            self.assertTrue(text.startswith("## Comparison with `A.json`\n"))
        for name in FORMATS:
            self.assertTrue(render_comparison(comparison, name, 10**6).endswith("\n"))
        large = compared(summary("P" * 12_000), summary("F" * 12_000, error="x" * 500))
        page = render_comparison(large, "html", 0)
        self.assertLess(len(page), 4_600_000)
        self.assertIn("of 12000 changed tasks", page)
        Page(page)


class TextTest(unittest.TestCase):
    def test_points(self) -> None:
        for difference, shown in (
            (Fraction(0), "0.0"),
            (Fraction(1, 10), "+10.0"),
            (Fraction(-1, 3), "-33.3"),
            (Fraction(1, 5000), "+0.1"),
            (Fraction(5, 16), "+31.3"),
            (Fraction(-5, 16), "-31.3"),
            (Fraction(-4999, 5000), "-99.9"),
            (Fraction(-1), "-100.0"),
        ):
            self.assertEqual(comparison_text.points(difference), shown)

    def test_p_values(self) -> None:
        for p_value, shown in (
            (1.0, "p = 1.0000"),
            (0.05, "p = 0.0500"),
            (0.04999, "p < 0.0500"),
            (0.0312, "p = 0.0312"),
            (0.0001, "p = 0.0001"),
            (0.00009, "p < 0.0001"),
            (0.0, "p < 0.0001"),
        ):
            self.assertEqual(comparison_text.p_text(p_value), shown)
            more = p_value < 0.05
            self.assertEqual(comparison_text.conclusion(p_value).startswith("more than chance"), more)


class DocumentationTest(unittest.TestCase):
    def test_every_option(self) -> None:
        rules = (ROOT / "evaluation" / "README.md").read_text(encoding="utf-8")
        options = set(re.findall(r"--[a-z-]+", run_cli("compare", "--help")[1])) - {"--help"}
        self.assertEqual(len(options), 5)
        for option in options:
            self.assertRegex(rules, rf"\n\| `{option}[ `]")


class NameTest(unittest.TestCase):
    def test_short_names(self) -> None:
        for paths, names in (
            (["a.json", "x/b.json"], ["a.json", "b.json"]),
            (["/x/a/s.json", "/x/b/s.json"], ["a/s.json", "b/s.json"]),
            (["/s.json", "/b/s.json"], ["s.json", "b/s.json"]),
            (["../a/x/s.json", "../b/x/s.json", "c.json"], ["a/x/s.json", "b/x/s.json", "c.json"]),
            (["a.json", "a.json"], ["a.json", "a.json"]),
            (["\udcff.json", "b"], ["\\udcff.json", "b"]),
        ):
            self.assertEqual(short_names([path.replace("/", os.sep) for path in paths]), names)


class CommandTest(FolderTestCase):
    def file(self, name: str, found: Summary) -> str:
        return str(self.write(name, render(found)))

    def setUp(self) -> None:
        super().setUp()
        self.a = self.file("a.json", summary("PPF"))
        self.b = self.file("b.json", summary("PFP"))
        self.c = self.file("c.json", summary("PPP"))

    def refused(self, *arguments: str) -> str:
        status, output, error = run_cli("compare", *arguments)
        self.assertEqual((status, output), (2, ""), error)
        lines = error.splitlines()
        self.assertEqual(len(lines), 2, error)
        self.assertTrue(lines[0].startswith("usage: evaluate.py compare "), error)
        return lines[1]

    def test_text_and_json(self) -> None:
        status, output, error = run_cli("compare", self.a, self.b)
        self.assertEqual((status, error), (0, ""))
        self.assertTrue(output.startswith("Baseline: a.json\nb.json: 2 of 3 tasks passed (66.7 %), 2 in"), output)
        self.assertNotIn(str(self.folder), output)
        status, output, error = run_cli("compare", self.a, self.b, self.c, "--json")
        self.assertEqual((status, error), (0, ""))
        document = json.loads(output)
        self.assertTrue(accepts(SCHEMA, document))
        self.assertEqual([pair["name"] for pair in document["pairs"]], ["b.json", "c.json"])

    def test_regressions(self) -> None:
        for others, status, told in (
            ([self.b], 1, "b.json: 1 task passed in the baseline and failed: task_2\n"),
            ([self.c], 0, ""),
            ([self.c, self.b], 1, "b.json: 1 task passed in the baseline and failed: task_2\n"),
            ([self.a], 0, ""),
        ):
            with self.subTest(others=others):
                found, _, error = run_cli("compare", self.a, *others, "--fail-on-regression")
                self.assertEqual((found, error), (status, told))
                self.assertEqual(run_cli("compare", self.a, *others)[0], 0)

    def test_regressions_among_common_tasks(self) -> None:
        for verdicts, status in (("PF", 0), ("FP", 1)):
            other = self.file("other.json", summary(verdicts, first=2, config_set_sha256="d" * 64))
            self.assertIn("config_set_sha256 differs in 'other.json'", self.refused(self.a, other))
            self.assertEqual(run_cli("compare", self.a, other, "--force", "--fail-on-regression")[0], status)

    def test_reports(self) -> None:
        paths = [self.folder / f"r.{name}" for name in FORMATS]
        run_cli("compare", self.a, self.b, *(f"--report={path}" for path in paths))
        for path in paths:
            self.assertIn("task_2", path.read_text(encoding="utf-8"))
            self.assertNotIn(str(self.folder), path.read_text(encoding="utf-8"))
        named = self.folder / "out"
        for place in range(2):
            status, output, error = run_cli("compare", self.a, self.b, "--report", f"md+={named}", "--report=csv=-")
            self.assertEqual(status, 0, error)
            self.assertTrue(output.startswith("baseline,summary,"), output)
            self.assertTrue(error.startswith("Baseline: "), error)
            self.assertEqual(named.read_text(encoding="utf-8").count("## Comparison with"), place + 1)

    def test_secrets(self) -> None:
        other = self.file("other.json", summary("FPF", error="password=hunter2 and inner-word"))
        options = ("--redact-pattern", "inner-\\w+")
        for more in ((), ("--json",), *((f"--report={name}=-",) for name in FORMATS)):
            with self.subTest(more=more):
                status, output, error = run_cli("compare", self.a, other, *options, *more)
                self.assertEqual(status, 0)
                self.assertNotRegex(output + error, "hunter2|inner-word")
                self.assertIn("redacted", output)
        self.assertIn("inner-word", run_cli("compare", self.a, other)[1])

    def test_usage(self) -> None:
        missing, broken = str(self.folder / "none.json"), str(self.write("broken.json", "[]"))
        for arguments, said in (
            ([], "the following arguments are required"),
            ([self.a], "the following arguments are required: OTHER.json"),
            ([self.a, missing], "none.json' does not exist"),
            ([self.a, broken], "broken.json' is not a summary"),
            ([self.a, self.b, "--report", "x.jsonl"], "one of the formats csv, html, md, got 'x.jsonl'"),
            ([self.a, self.b, "--report", "html+=x"], "only md can"),
            ([self.a, self.b, "--json", "--report=md=-"], "--json and --report md=- both claim standard output"),
            ([self.a, self.b, "--report=csv=-", "--report=md=-"], "both claim standard output"),
            ([self.a, self.b, f"--report=md={self.b}"], "it is read or written already"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(said, self.refused(*arguments))
        self.assertTrue(run_cli("compare", "--help")[1].startswith("usage: evaluate.py compare BASELINE.json"))


if __name__ == "__main__":
    unittest.main()
