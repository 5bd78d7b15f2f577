"""The leaderboard: ranks, groups and names, what is refused, and its formats with names that are hostile."""

from __future__ import annotations

import base64
import csv
import dataclasses
import hashlib
import io
import itertools
import json
import os
import random
import re
import sys
import unittest
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from unittest import mock

from schema_check import accepts, load_schema
from support import EXAMPLE, FolderTestCase, assert_golden, run_cli
from test_reports import HOSTILE, RAW, Page

from evaluation.cli import main
from evaluation.errors import EvaluationFatalError
from evaluation.estimators import mcnemar_p_value
from evaluation.files import digest_of_digests
from evaluation.leaderboard import (
    Contest,
    Entry,
    Leaderboard,
    Row,
    check_one_benchmark,
    entry_names,
    make_leaderboard,
)
from evaluation.reports.aligned import display_width
from evaluation.reports.leaderboard_formats import FORMATS
from evaluation.reports.leaderboard_records import render_json
from evaluation.reports.leaderboard_text import render
from evaluation.reports.summary_json import render as render_summary
from evaluation.results import TaskEvaluationResult
from evaluation.runs import Repetition, Run
from evaluation.summary import Summary

SCHEMA = load_schema("leaderboard.schema.json")


def tasks(verdicts: str) -> tuple[TaskEvaluationResult, ...]:
    """Return results by verdicts: x is passed, anything else failed."""
    return tuple(
        TaskEvaluationResult(f"task_{i}", False, 1, 1, 1, 1, mapping=(0,))
        if verdict == "x"
        else TaskEvaluationResult(f"task_{i}", False, 1, 0, 1, 0, error_code="missing_prediction", error="none")
        for i, verdict in enumerate(verdicts, start=1)
    )


def summary(verdicts: str) -> Summary:
    return Summary("1.2.3", "1.0", "a" * 64, "b" * 64, "c" * 64, (), tasks(verdicts))


def repeated(*runs: str, threshold: Fraction = Fraction(1)) -> Summary:
    repetition = Repetition(tuple(Run(f"run {i}", "c" * 64, (), tasks(run)) for i, run in enumerate(runs)), threshold)
    return dataclasses.replace(summary(runs[0]), tasks=repetition.tasks, repetition=repetition)


def board(**systems: str | Summary) -> Leaderboard:
    return make_leaderboard([Entry(name, summary(s) if isinstance(s, str) else s) for name, s in systems.items()])


def varied() -> Leaderboard:
    """Return a leaderboard with ties, two groups, repeated runs, another signature and a wide name."""
    return board(
        alpha="x" * 18 + "..",
        beta="..." + "x" * 16 + ".",
        **{"漢字|`b`": "x" * 16 + "....", "=1+1": "." + "x" * 15 + "...x"},
        gamma="." * 12 + "x" * 8,
        delta=repeated("x" * 15 + ".....", "x" * 14 + "x....x", threshold=Fraction(1, 2)),
        last="." * 20,
    )


class RankTest(unittest.TestCase):
    def test_order_ranks_and_ties(self) -> None:
        for systems, expected in (
            ({"a": "x"}, "1 a"),
            ({"b": "x", "a": "x"}, "1= a, 1= b"),
            ({"a": "..", "b": "x.", "c": "xx"}, "1 c, 2 b, 3 a"),
            ({"d": "...", "c": ".x.", "b": "x..", "a": "xxx"}, "1 a, 2= b, 2= c, 4 d"),
            ({"a": "x.", "b": "xx", "c": ".x", "d": "xx"}, "1= b, 1= d, 3= a, 3= c"),
        ):
            with self.subTest(systems=systems):
                rows = board(**systems).rows
                self.assertEqual(", ".join(f"{row.rank_text} {row.entry.name}" for row in rows), expected)

    def test_the_order_of_the_files_is_nothing(self) -> None:
        entries = [Entry(row.entry.name, row.entry.summary) for row in varied().rows]
        for order in itertools.islice(itertools.permutations(entries), 0, 5_000, 499):
            self.assertEqual(render_json(make_leaderboard(order)), render_json(varied()))

    def test_a_task_of_repeated_runs_counts_by_its_verdict(self) -> None:
        (row,) = board(a=repeated("xx..", "x.x.")).rows
        self.assertEqual(row.entry.accuracy, Fraction(1, 4))
        self.assertEqual(row.to_dict()["repetition"]["mean_accuracy"], 0.5)
        self.assertEqual(row.to_dict()["repetition"]["run_count"], 2)
        # Deviations of the tasks from 1/2, both runs together: 1, 0, 0, -1.
        self.assertAlmostEqual(
            row.to_dict()["repetition"]["accuracy_standard_error"], (4 / 3 * (1 + 0 + 0 + 1)) ** 0.5 / 8
        )


class GroupTest(unittest.TestCase):
    def groups(self, **systems: str | Summary) -> str:
        return " ".join(f"{row.entry.name}{row.group}" for row in board(**systems).rows)

    def test_groups(self) -> None:
        for systems, expected in (
            ({"a": "x"}, "a1"),
            ({"a": "xxx", "b": "xxx"}, "a1 b1"),
            # 5 to 0 is p = 1/16, 6 to 0 is p = 1/32.
            ({"a": "xxxxxx", "b": "x....."}, "a1 b1"),
            ({"a": "xxxxxx", "b": "......"}, "a1 b2"),
            # b joins a; c differs from a, though not from b.
            ({"a": "xxxxxxxx", "b": "xxxxx...", "c": "x......."}, "a1 b1 c2"),
            # d differs from a, and not from c, which begins the second group.
            ({"a": "xxxxxxxx", "b": "xxxxx...", "c": "xx......", "d": "........"}, "a1 b1 c2 d2"),
        ):
            with self.subTest(systems=systems):
                self.assertEqual(self.groups(**systems), expected)

    def test_what_is_not_comparable_is_never_different(self) -> None:
        good, bad = "x" * 30, "." * 30
        others = (
            dataclasses.replace(summary(bad), limits={"rows": 5}),
            dataclasses.replace(summary(bad), evaluator_version="9"),
            repeated(bad, bad),
        )
        for other in others:
            rows = board(a=good, b=other).rows
            self.assertEqual([row.group for row in rows], [1, 1])
            for contest in (rows[1].above, rows[1].leader):
                assert contest is not None
                self.assertEqual((contest.gained, contest.lost, contest.p_value), (0, 30, None))
                self.assertFalse(contest.is_significant)
                self.assertIsNone(contest.to_dict()["significant"])
            self.assertIn("not comparable", render(board(a=good, b=other)))
            self.assertIn("1?", render(board(a=good, b=other)))
        thresholds = [repeated(good, good, threshold=Fraction(1, n)) for n in (1, 2)]
        rows = board(a=thresholds[0], b=thresholds[1]).rows
        self.assertIsNone(rows[1].to_dict()["against_above"]["p_value"])

    def test_against_a_plain_reading_of_the_rules(self) -> None:
        source = random.Random(5)
        split = unsure = 0
        for _ in range(200):
            length = source.randint(1, 24)
            entries = []
            for name in "abcdef"[: source.randint(1, 6)]:
                rate = source.random()
                verdicts = "".join("x" if source.random() < rate else "." for _ in range(length))
                limits = {"rows": 7} if source.random() < 0.2 else {}
                entries.append(Entry(name, dataclasses.replace(summary(verdicts), limits=limits)))
            rows = make_leaderboard(entries).rows
            self.assertEqual(sorted(row.entry.name for row in rows), [entry.name for entry in entries])
            leader, group = rows[0], 1
            for place, row in enumerate(rows):
                better = sum(other.entry.accuracy > row.entry.accuracy for other in rows)
                equal = sum(other.entry.accuracy == row.entry.accuracy for other in rows)
                self.assertEqual((row.rank, row.is_tied), (better + 1, equal > 1))
                if place and self.differ(row, leader):
                    leader, group = row, group + 1
                    split += 1
                unsure += row.leader is not None and not row.leader.is_comparable
                self.assertEqual(row.group, group)
                self.assertEqual(row.leader is None, row is leader)
                self.assertEqual(row.above is None, place == 0)
                if row.above is not None and row.above.is_comparable:
                    self.assertEqual(row.above.is_significant, self.differ(row, rows[place - 1]))
        self.assertGreater(split, 20)
        self.assertGreater(unsure, 20)

    def differ(self, row: Row, other: Row) -> bool:
        one, two = row.entry.summary, other.entry.summary
        pairs = [(a.passed, b.passed) for a, b in zip(one.tasks, two.tasks)]
        p = mcnemar_p_value(pairs.count((True, False)), pairs.count((False, True)))
        return one.limits == two.limits and p < 0.05

    def test_identical_systems(self) -> None:
        self.assertEqual(Contest(0, 0, True).p_value, 1.0)
        self.assertFalse(Contest(0, 0, True).is_significant)


class CheckTest(unittest.TestCase):
    def test_refused(self) -> None:
        good = summary("x.")
        for others, mentions in (
            ([dataclasses.replace(good, config_set_sha256="d" * 64)], ["different config sets", "'0'", "'1'", "dddd"]),
            ([dataclasses.replace(good, gold_set_sha256="d" * 64)], ["different gold", "'0'", "'1'", "bbbb", "dddd"]),
            ([dataclasses.replace(good, gold_set_sha256=None)], ["redacted in summary '1' and not in '0'"]),
            ([good, dataclasses.replace(good, other_tasks=("task_99",))], ["'2' is partial (2 of 3 tasks)"]),
            ([summary("x..")], ["different benchmarks"]),
            ([dataclasses.replace(good, config_set_sha256="a" * 60 + "dddd")], ["a" * 60 + "dddd"]),
        ):
            with self.subTest(mentions=mentions), self.assertRaises(EvaluationFatalError) as caught:
                check_one_benchmark([(str(i), other) for i, other in enumerate([good, *others])])
            for mention in mentions:
                self.assertIn(mention, str(caught.exception))
        redacted = dataclasses.replace(good, gold_set_sha256=None)
        with self.assertRaisesRegex(EvaluationFatalError, "redacted in summary 'a' and not in 'b'"):
            check_one_benchmark([("a", redacted), ("b", good)])
        with self.assertRaisesRegex(EvaluationFatalError, "'a' is partial"):
            check_one_benchmark([("a", dataclasses.replace(good, other_tasks=("task_99",)))])
        larger = dataclasses.replace(good.tasks[1], gold_row_count=2)
        with self.assertRaisesRegex(EvaluationFatalError, "different benchmarks"):
            check_one_benchmark([("a", redacted), ("b", dataclasses.replace(redacted, tasks=(good.tasks[0], larger)))])

    def test_accepted(self) -> None:
        good = summary("x.")
        redacted = dataclasses.replace(good, gold_set_sha256=None)
        check_one_benchmark([("a", good)])
        check_one_benchmark([("a", good), ("b", summary("..")), ("c", repeated("x.", "xx"))])
        check_one_benchmark([("a", redacted), ("b", redacted)])
        self.assertIn("Gold is redacted", render(board(a=redacted)))
        self.assertNotIn("Gold is redacted", render(board(a=good)))


class NameTest(unittest.TestCase):
    def test_names(self) -> None:
        for paths, expected in (
            (["/r/x.evaluation_summary.json"], ["x"]),
            (["/r/x.json", "/r/y.json"], ["x", "y"]),
            (["/r/a/x.json", "/r/b/x.json", "/r/b/y.json"], ["a/x", "b/x", "y"]),
            (["/r/a/x.json", "/r/b/x.evaluation_summary.json"], ["a/x", "b/x"]),
            (["/r/a/p/x.json", "/r/b/p/x.json", "/r/c/q/x.json"], ["a/p/x", "b/p/x", "q/x"]),
            (["/x.json", "/r/x.json"], ["x", "r/x"]),
            (["/r/x.json", "/q/r/x.json"], ["r/x", "q/r/x"]),
            (["/r/x.json", "/r/x.evaluation_summary.json"], ["x.json", "x.evaluation_summary.json"]),
            (["/r/x.json", "/r/x", "/r/x.json.json"], ["x.json", "x", "x.json.json"]),
            (["/r/.evaluation_summary.json", "/r/.json"], [".evaluation_summary", ".json"]),
            (["/r/evaluation_summary.json"], ["evaluation_summary"]),
        ):
            with self.subTest(paths=paths):
                self.assertEqual(entry_names(paths), expected)

    def test_names_differ_and_are_as_short_as_can_be(self) -> None:
        source = random.Random(3)
        for _ in range(300):
            paths = {
                "/".join(("", *source.choices("ab", k=source.randint(0, 3)), source.choice("xy") + ".json"))
                for _ in range(6)
            }
            names = entry_names(sorted(paths))
            self.assertEqual(len(set(names)), len(paths))
            for path, name in zip(sorted(paths), names):
                self.assertTrue(path.endswith(f"/{name}.json"), (path, name))
                shorter = name.partition("/")[2]
                if shorter:
                    self.assertGreater(sum(f"{other}".endswith(f"/{shorter}.json") for other in paths), 1)


class FormatTest(unittest.TestCase):
    def test_golden(self) -> None:
        assert_golden(self, "leaderboard.txt", render(varied()))
        assert_golden(self, "leaderboard.json", render_json(varied()))
        for name, form in FORMATS.items():
            assert_golden(self, f"leaderboard.{name}", form(varied()))

    def test_the_schema_describes_what_is_written(self) -> None:
        redacted = dataclasses.replace(summary("x."), gold_set_sha256=None)
        for example in (varied(), board(a="x"), board(a=redacted, b=redacted), board(a=repeated("x", "."))):
            document = json.loads(render_json(example))
            self.assertTrue(accepts(SCHEMA, document))
            for key in document:
                self.assertFalse(accepts(SCHEMA, {name: document[name] for name in document if name != key}), key)
            for entry in document["entries"]:
                for key in list(entry):
                    value = entry.pop(key)
                    self.assertFalse(accepts(SCHEMA, document), key)
                    entry[key] = value
        document = json.loads(render_json(varied()))
        document["entries"][1]["against_above"]["p_value"] = None
        self.assertFalse(accepts(SCHEMA, document))

    def test_columns_of_runs_only_where_there_are_some(self) -> None:
        for text in (render(board(a="x.")), *(FORMATS[name](board(a="x.")) for name in ("md", "html"))):
            self.assertNotIn("mean of runs", text)
        for text in (render(varied()), *(FORMATS[name](varied()) for name in ("md", "html"))):
            self.assertIn("mean of runs", text)

    def test_p_values(self) -> None:
        for gained, shown in ((5, "0.0625"), (6, "0.0312*"), (40, "<0.0001*")):
            first, second = "x" * gained, "." * gained
            self.assertRegex(render(board(a=first, b=second)), rf"(?m) {re.escape(shown)}$")

    def test_text_is_aligned(self) -> None:
        names = ("a", "漢字漢字", "e\u0301e\u0301", "한글", "ｆｕｌｌ", "🙂🙂", "ไทยที่", "x\ty", "\x1b[31m")
        for name in names:
            lines = render(board(**{name: "xx", "some other": "x."})).splitlines()[2:5]
            self.assertEqual(len({display_width(line.partition("/")[0]) for line in lines[1:]}), 1, lines)
        for text, width in (("abc", 3), ("漢字", 4), ("e\u0301", 1), ("🙂", 2), ("ที่", 1), ("か\u3099", 2), ("", 0)):
            self.assertEqual(display_width(text), width, text)

    def test_hostile_names(self) -> None:
        whole = board(**{name.replace("/", "_"): "x" * 9 + "." for name in (*HOSTILE, "\udcff", "-", "x" * 250)})
        for text in (render(whole), render_json(whole), *(form(whole) for form in FORMATS.values())):
            text.encode("utf-8")
            self.assertIsNone(RAW.search(text))
        document = json.loads(render_json(whole))
        self.assertEqual([e["name"] for e in document["entries"]], [row.entry.name for row in whole.rows])
        page = Page(FORMATS["html"](whole))
        self.assertEqual(page.attributes("href"), [])
        self.assertNotIn("script", [tag for tag, _ in page.elements])
        for line in FORMATS["md"](whole).splitlines():
            if line.startswith("|"):
                self.assertEqual(line.count("|"), 8, line)
                self.assertNotRegex(re.sub("`[^`]*`", "", line), r"<(?!/?(code|span)>)")
        rows = list(csv.DictReader(io.StringIO(FORMATS["csv"](whole))))
        self.assertEqual(len(rows), len(whole.rows))
        for row in rows:
            for cell in row.values():
                self.assertFalse(cell.startswith(("=", "+", "-", "@", "\t", "\r")), cell)

    def test_the_page_loads_and_runs_nothing(self) -> None:
        source = FORMATS["html"](varied())
        page = Page(source)
        (policy,) = (text for text in page.attributes("content") if "default-src" in text)
        (style,) = page.texts["style"]
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self.assertEqual(
            policy,
            f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        )
        self.assertEqual(page.attributes("style") + page.attributes("src") + page.attributes("href"), [])
        self.assertNotIn("url(", source)
        for needed in ("prefers-color-scheme: dark", "@media print", "max-width: 40rem"):
            self.assertIn(needed, source)
        drawn = [attributes for tag, attributes in page.elements if tag == "svg"]
        self.assertEqual(len(drawn), len(varied().rows))
        self.assertTrue(all(attributes["aria-label"] for attributes in drawn))
        widths = {len(re.findall("<t[dh]", row)) for row in source[source.index("<tbody>") :].split("<tr")[1:]}
        self.assertEqual(widths, {len(re.findall("<th ", source[: source.index("<tbody>")]))})


class CommandTest(FolderTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.good = self.add("good.evaluation_summary.json", "xxxxxxxx")
        self.bad = self.add("bad.json", "........")

    def add(self, name: str, verdicts: str) -> str:
        return str(self.write(name, render_summary(summary(verdicts))))

    def run_board(self, *arguments: str) -> str:
        status, output, error = run_cli("leaderboard", *arguments)
        self.assertEqual((status, error), (0, ""))
        return output

    def assert_refused(self, arguments: Sequence[str], *mentions: str) -> None:
        status, output, error = run_cli("leaderboard", *arguments)
        self.assertEqual((status, output), (2, ""), error)
        usage, sentence = error.splitlines()
        self.assertTrue(usage.startswith("usage: evaluate.py leaderboard"), usage)
        for mention in mentions:
            self.assertIn(mention, sentence)

    def test_text(self) -> None:
        lines = self.run_board(self.bad, self.good).splitlines()
        self.assertEqual(lines[0], "Leaderboard: 2 systems, 8 tasks")
        self.assertEqual([line.split()[:3] for line in lines[3:5]], [["1", "good", "8/8"], ["2", "bad", "0/8"]])

    def test_json(self) -> None:
        document = json.loads(self.run_board("--json", self.bad, self.good))
        self.assertTrue(accepts(SCHEMA, document))
        self.assertEqual([entry["group"] for entry in document["entries"]], [1, 2])

    def test_one_summary_of_the_example(self) -> None:
        path = self.folder / "example.json"
        roots = ["--prediction-root", str(EXAMPLE / "predictions"), "--gold-root", str(EXAMPLE / "gold")]
        self.assertEqual(run_cli(*roots, "--output", str(path))[0], 0)
        self.assertRegex(self.run_board(str(path)), r"(?m)^1     example   11/22    50.0 %  30.7 % to 69.3 %      1$")

    def test_no_path_in_the_output(self) -> None:
        again = self.add("deeper/good.json", "xxxxxxx.")
        paths = [str(self.folder / f"board.{name}") for name in FORMATS]
        reports = [f"--report={path}" for path in paths]
        texts = [self.run_board(self.good, again, *reports), self.run_board(self.good, again, "--json")]
        texts += [Path(path).read_text(encoding="utf-8") for path in paths]
        for text in texts:
            self.assertNotIn(str(self.folder), text)
            self.assertIn("deeper/good", text)

    def test_ways_around_are_no_names(self) -> None:
        self.add("deeper/good.json", "xxxxxxx.")
        ways = [str(self.folder / "deeper" / way) for way in ("good.json", "../good.evaluation_summary.json")]
        entries = json.loads(self.run_board("--json", *ways))["entries"]
        self.assertEqual([entry["name"] for entry in entries], [f"{self.folder.name}/good", "deeper/good"])

    def test_reports(self) -> None:
        for name in FORMATS:
            status, output, error = run_cli("leaderboard", self.good, self.bad, "--report", f"{name}=-")
            self.assertEqual(status, 0, error)
            self.assertTrue(error.startswith("Leaderboard: 2 systems"), error)
            path = self.folder / f"board.{name}"
            self.run_board(self.bad, self.good, "--report", str(path))
            self.assertEqual(path.read_bytes().decode("utf-8"), output)
        path = self.write("step.md", "before")
        self.run_board(self.bad, self.good, "--report", f"md+={path}", "--report", f"csv={self.folder / 'other'}")
        self.assertTrue(path.read_text(encoding="utf-8").startswith("before\n## Leaderboard: 2 systems"))

    def test_refused(self) -> None:
        other = self.write("other.json", render_summary(dataclasses.replace(summary("x"), config_set_sha256="d" * 64)))
        files = {"task_1": "e" * 64}
        some = dataclasses.replace(
            summary("x"),
            other_tasks=("task_99",),
            gold_sha256=files,
            gold_set_sha256=digest_of_digests(files),
            prediction_set_sha256=digest_of_digests({}),
        )
        partial = self.write("partial.json", render_summary(some))
        os.symlink(self.good, self.folder / "link.json")
        os.link(self.good, self.folder / "hard.json")
        text = self.write("text.json", "[]")
        for arguments, mentions in (
            ([], ["SUMMARY.json"]),
            ([""], ["expected a path"]),
            ([self.good, str(other)], ["good.evaluation_summary.json", "other.json", "config sets"]),
            ([str(partial)], ["partial.json", "is partial (1 of 2 tasks)"]),
            ([self.good, self.bad, self.good], ["are the same file"]),
            ([self.good, str(self.folder / "link.json")], ["link.json", "are the same file"]),
            ([self.good, str(self.folder / "hard.json")], ["hard.json", "are the same file"]),
            ([str(text)], ["not a summary"]),
            ([str(self.folder / "none.json")], ["does not exist"]),
            ([self.good, "--report", "x.jsonl"], ["csv, html, md"]),
            ([self.good, "--report", "csv+=x"], ["only md can"]),
            ([self.good, "--report", f"md={self.good}"], ["read or written already"]),
            ([self.good, "--report", "md=-", "--json"], ["both claim standard output"]),
            ([self.good, "--report", "md=-", "--report", "csv=-"], ["both claim standard output"]),
            ([self.good, "--task", "task_1"], ["unrecognized arguments"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(arguments, *mentions)

    def test_closed_standard_output(self) -> None:
        with mock.patch.object(sys, "stdout", None), mock.patch.object(sys, "stderr", io.StringIO()) as error:
            self.assertRaises(SystemExit, main, ["leaderboard", self.good, "--report", "md=-"])
            sys.stdout.close()
        self.assertIn("needs standard output, which is closed", error.getvalue())


if __name__ == "__main__":
    unittest.main()
