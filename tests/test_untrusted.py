"""Predictions made to do harm: each fails its own task at most, within bounds, and nothing of it gets out raw."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import time
import unicodedata
import unittest
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from support import (
    BOOLEAN,
    DATE,
    DATETIME,
    INTEGER,
    ROOT,
    TEXT,
    BenchmarkTestCase,
    csv_text,
    decimal_places,
    environment,
)
from support import run_cli as run_here

from evaluation import scoring
from evaluation.tables import parse_table

try:
    import resource
except ImportError:
    HAS_LIMITS = False
else:
    HAS_LIMITS = True

# Well above what the tests below need, and well below what they would need without a bound.
CPU_SECONDS = 30
MEMORY_BYTES = 1 << 30
DECIMAL = decimal_places(2)
ANY_ORDER_OF_CLASSES = [chr(code) for code in range(0x300, 0x370) if unicodedata.combining(chr(code))]


def limit_resources() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


class UntrustedTestCase(BenchmarkTestCase):
    """A benchmark in which the tasks from 100 are answered rightly, and must stay so."""

    def setUp(self) -> None:
        super().setUp()
        self.add_task(100, "h\n1\n", "h\n1.0\n", [INTEGER])
        self.add_task(101)

    def score_in_child(self, *options: str, seconds: float = 120) -> dict[str, dict[str, Any]]:
        """Score in a process of its own, with limits where the system has them; return the tasks by id."""
        command = [sys.executable, str(ROOT / "evaluate.py"), *self.roots, *options]
        done = subprocess.run(
            command,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
            preexec_fn=limit_resources if HAS_LIMITS else None,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        summary = json.loads(self.summary_path.read_text(encoding="utf-8"))
        tasks = {task["task_id"]: task for task in summary["tasks"]}
        self.assertTrue(tasks["task_100"]["passed"])
        self.assertTrue(tasks["task_101"]["passed"])
        return tasks

    def codes(self, tasks: Mapping[str, Mapping[str, Any]]) -> list[str | None]:
        return [task["error_code"] for name, task in tasks.items() if name not in ("task_100", "task_101")]


@unittest.skipIf(sys.platform == "emscripten", "needs processes")
class CellTest(UntrustedTestCase):
    def hostile_cells(self) -> list[str]:
        marks = sorted(ANY_ORDER_OF_CLASSES, key=unicodedata.combining, reverse=True)
        falling = "".join(mark * (400_000 // len(marks)) for mark in marks)
        return [
            *("1e400", "-1e-400", "1e999999999", "7e999000", f"1e{'9' * 30}", f"-1e-{'9' * 30}"),
            *("9" * 2_000_000, "0." + "0" * 1_000_000 + "1", "1" + ",000" * 300_000),
            *("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "0000-00-00", "W" * 100_000),
            *("".join(map(chr, (*range(9, 14), 0x1C, 0x85, 0xA0, 0x1680, 0x2028, 0x3000))) + "x", "\x1b[2J\x07\x7f"),
            *("\ufeff\ufffe\u202e\u2066abc", "שלום عالم", "e" + falling, "é" * 200_000, "\u0f73" * 200_000),
            *(
                "1" + " " * 500_000 + "x",
                "1" + " " * 500_000 + "%x",
                "1" + "\u3000" * 500_000 + "1",
                "1," * 400_000 + "x",
            ),
            *("=cmd|' /C calc'!A0", "__import__('os')", "%s%n{0.__class__}", "\ud7ff\U0010ffff", "NaN", "Infinity"),
        ]

    def test_a_right_answer_of_such_text_passes(self) -> None:
        for number, cell in enumerate(self.hostile_cells(), start=1):
            table = csv_text([[cell, "1"], ["x", "2"]])
            self.add_task(number, table, csv_text([["x", "2"], [f" {cell} ", "1.0"]]), [TEXT, INTEGER])
        self.assertEqual(set(self.codes(self.score_in_child())), {None})

    def test_under_every_other_rule_it_fails_its_task_only(self) -> None:
        cells = self.hostile_cells()
        for number, (gold, rule) in enumerate(
            (("1", INTEGER), ("1.5", DECIMAL), ("2024-01-31", DATE), ("2024-01-31", DATETIME), ("yes", BOOLEAN)),
            start=1,
        ):
            self.add_task(
                number,
                csv_text([[gold, "a"]] * len(cells)),
                csv_text([[cell, "a"] for cell in cells]),
                [rule, TEXT],
            )
        self.assertEqual(self.codes(self.score_in_child()), ["type_normalization_failed"] * 5)

    def test_each_alone_under_every_rule(self) -> None:
        # A column is given up at its first unreadable cell: beside others, a costly one might not be looked at.
        number = 0
        for gold, rule in (
            ("1", INTEGER),
            ("1.5", DECIMAL),
            ("2024-01-31", DATE),
            ("2024-01-31", DATETIME),
            ("y", BOOLEAN),
        ):
            for cell in self.hostile_cells():
                number += 1
                self.add_task(1000 + number, csv_text([[gold]]), csv_text([[cell]]), [rule])
        codes = set(self.codes(self.score_in_child("--no-diagnosis")))
        self.assertLessEqual(codes, {"type_normalization_failed", "relation_mismatch"})
        self.codes(self.score_in_child())

    def test_huge_numbers_compare_exactly_and_cheaply(self) -> None:
        source = random.Random(3)
        numbers = [f"7e{source.randrange(10**17)}" for _ in range(99_000)]
        for number, rule in enumerate((INTEGER, DECIMAL), start=1):
            self.add_task(
                number,
                csv_text([[n] for n in numbers]),
                csv_text([[n.replace("7e", "+7.0E")] for n in reversed(numbers)]),
                [rule],
            )
        self.add_task(3, csv_text([["7e999000"]] * 5000), csv_text([["7e999001"]] * 5000), [INTEGER])
        self.assertEqual(self.codes(self.score_in_child()), [None, None, "relation_mismatch"])

    def test_other_encodings_and_nul(self) -> None:
        for number, data in enumerate(
            ("h\n1\n".encode("utf-16"), "h\n1\n".encode("utf-32"), b"h\n\x00\n", b"h\n\xff\n", b"\xef\xbb\xbf\xef\xbb"),
            start=1,
        ):
            self.add_task(number, "h\n1\n", data, [INTEGER])
        self.add_task(6, "h\n1\n", b"\xef\xbb\xbfh\n1\n", [INTEGER])
        self.assertEqual(self.codes(self.score_in_child()), ["invalid_prediction_csv"] * 5 + [None])


@unittest.skipIf(sys.platform == "emscripten", "needs processes")
class ShapeTest(UntrustedTestCase):
    def test_wide_and_long(self) -> None:
        source = random.Random(4)
        digits = [[source.choice("0123456789") for _ in range(64)] for _ in range(20_000)]
        self.add_task(1, csv_text(digits), csv_text([row[::-1] for row in reversed(digits)]), [INTEGER, DECIMAL] * 32)
        numbers = [[f"{source.random():.6f}" for _ in range(64)] for _ in range(3000)]
        self.add_task(2, csv_text(numbers), csv_text([row[::-1] for row in reversed(numbers)]), [DECIMAL] * 64)
        equal = [[source.choice("01")] * 64 for _ in range(20_000)]
        self.add_task(3, csv_text(equal), csv_text(list(reversed(equal))), [BOOLEAN] * 64)
        flags = [[source.choice("01") for _ in range(64)] for _ in range(2000)]
        spoilt = [row[::-1] for row in flags]
        spoilt[0][0] = "1" if spoilt[0][0] == "0" else "0"
        self.add_task(4, csv_text(flags), csv_text(spoilt), [BOOLEAN, INTEGER] * 32)
        self.assertEqual(self.codes(self.score_in_child()), [None, None, None, "relation_mismatch"])

    def test_broken_shapes(self) -> None:
        for number, data in enumerate(
            (
                "h\n" + "x" * (20 << 20),
                "h\n" + "x," * (10 << 20),
                "h\n" + "\n" * (20 << 20),
                "h\n" + "1\n1,2,3\n" * 100_000,
                '"' * (20 << 20),
                "h\n" + '"' + "x" * (3 << 20),
                "h\n" + "1\n" * 100_001,
                ",".join("h" * 65) + "\n",
                "h" * (1 << 20) + "\n" + "x" * (21 << 20),
            ),
            start=1,
        ):
            self.add_task(number, "h\n1\n", data)
        self.assertEqual(set(self.codes(self.score_in_child())), {"invalid_prediction_csv"})


@unittest.skipIf(sys.platform in ("emscripten", "win32"), "needs kinds of files that only some systems have")
class FileTest(UntrustedTestCase):
    def prediction(self, number: int) -> Path:
        """Add a task without prediction; return where it belongs, its folder made."""
        self.add_task(number, "h\n1\n", None)
        path = self.folder / "predictions" / f"task_{number}" / "prediction.csv"
        path.parent.mkdir(parents=True)
        return path

    def test_each_kind_fails_its_own_task_and_is_named(self) -> None:
        gold = self.folder / "golds"
        expected = {}
        path = self.prediction(1)
        path.symlink_to(gold / "task_100" / "gold.csv")
        expected["task_1"] = "task_1/prediction.csv is a symbolic link, not a regular file"
        path = self.prediction(2)
        path.parent.rmdir()
        path.parent.symlink_to(gold / "task_100")
        expected["task_2"] = "task_2 is a symbolic link, not a directory"
        path = self.prediction(3)
        path.parent.rmdir()
        path.parent.symlink_to("task_3")
        expected["task_3"] = "task_3 is a symbolic link, not a directory"
        path = self.prediction(4)
        os.link(gold / "task_4" / "gold.csv", path)
        expected["task_4"] = "task_4/prediction.csv is the gold file itself (a hard link)"
        self.prediction(5).mkdir()
        expected["task_5"] = "task_5/prediction.csv is a directory, not a regular file"
        os.mkfifo(self.prediction(6))
        expected["task_6"] = "task_6/prediction.csv is a named pipe, not a regular file"
        path = self.prediction(7)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.relpath(path))
        expected["task_7"] = "task_7/prediction.csv is a socket, not a regular file"
        self.prediction(8).symlink_to("/dev/zero")
        expected["task_8"] = "task_8/prediction.csv is a symbolic link, not a regular file"
        if os.geteuid() == 0:
            os.mknod(self.prediction(9), stat.S_IFCHR | 0o644, os.makedev(1, 5))
            expected["task_9"] = "task_9/prediction.csv is a device, not a regular file"
        else:
            path = self.prediction(10)
            path.write_text("h\n1\n")
            path.chmod(0)
            expected["task_10"] = "task_10/prediction.csv cannot be read (PermissionError)"
            path = self.prediction(11)
            path.write_text("h\n1\n")
            path.parent.chmod(0o400)
            self.addCleanup(path.parent.chmod, 0o700)
            expected["task_11"] = "task_11/prediction.csv cannot be read (PermissionError)"
        found = self.score_in_child(seconds=60)
        for task_id, error in expected.items():
            with self.subTest(task_id=task_id):
                self.assertEqual(
                    (found[task_id]["error_code"], found[task_id]["error"]), ("invalid_prediction_csv", error)
                )

    def test_a_folder_that_may_be_searched_but_not_listed(self) -> None:
        path = self.prediction(1)
        path.write_text("h\n1\n")
        path.parent.chmod(0o100)
        self.addCleanup(path.parent.chmod, 0o700)
        self.assertTrue(self.score_in_child()["task_1"]["passed"])

    def test_nothing_there_is_missing(self) -> None:
        self.prediction(1)
        path = self.prediction(2)
        path.parent.rmdir()
        os.mkfifo(path.parent)
        tasks = self.score_in_child(seconds=60)
        self.assertEqual(self.codes(tasks), ["missing_prediction"] * 2)

    def test_a_folder_swapped_for_a_link_leads_nowhere(self) -> None:
        path = self.prediction(1)
        path.write_text("h\n1\n")
        self.add_task(2, "h\n1\n", "h\n2\n")
        honest = os.open

        def swap(name: Any, flags: int, *arguments: Any, **keywords: Any) -> int:
            descriptor = honest(name, flags, *arguments, **keywords)
            if os.fspath(name).endswith("task_1"):
                path.parent.rename(self.folder / "moved")
                path.parent.symlink_to(self.folder / "predictions" / "task_2")
            return descriptor

        with mock.patch.object(os, "open", swap):
            self.assertEqual(self.score()["failure_counts"], {"relation_mismatch": 1})

    @unittest.skipUnless(os.path.isdir("/proc/self/fd"), "needs to know what a descriptor is of")
    def test_a_file_that_grows_is_read_up_to_the_limit(self) -> None:
        self.add_task(1, "h\n1\n", "h\n1\n")
        read, served = os.read, 0

        def endless(descriptor: int, size: int) -> bytes:
            nonlocal served
            if not os.readlink(f"/proc/self/fd/{descriptor}").endswith("task_1/prediction.csv"):
                return read(descriptor, size)
            served += size
            return b"x" * size

        with mock.patch.object(os, "read", endless):
            (task,) = (task for task in self.score("--max-csv-bytes", "1000")["tasks"] if task["task_id"] == "task_1")
        self.assertEqual(task["error"], "task_1/prediction.csv is longer than 1000 bytes")
        self.assertEqual(served, 1001)

    @unittest.skipUnless(os.path.isdir("/proc/self/fd"), "needs to know what a descriptor is of")
    def test_a_file_that_vanishes(self) -> None:
        self.add_task(1, "h\n1\n", "h\n1\n")
        read = os.read

        def gone(descriptor: int, size: int) -> bytes:
            if os.readlink(f"/proc/self/fd/{descriptor}").endswith("task_1/prediction.csv"):
                raise OSError(116, "Stale file handle")
            return read(descriptor, size)

        with mock.patch.object(os, "read", gone):
            tasks = self.score()["tasks"]
        self.assertEqual(tasks[0]["error"], "task_1/prediction.csv cannot be read (OSError)")

    def test_gold_and_config_that_are_pipes_are_fatal(self) -> None:
        for name in ("golds/task_100/gold.csv", "configs/task_100.json"):
            path = self.folder / name
            content = path.read_bytes()
            path.unlink()
            os.mkfifo(path)
            with self.subTest(name=name):
                self.assert_fatal(mentions=["task_100", "is a named pipe, not a regular file"])
            path.unlink()
            path.write_bytes(content)

    def test_a_planted_summary(self) -> None:
        victim = self.write("victim", "untouched")
        self.summary_path.symlink_to(victim)
        self.score_in_child(seconds=60)
        self.assertEqual(victim.read_text(), "untouched")
        self.assertFalse(self.summary_path.is_symlink())
        for plant, kind in ((os.mkfifo, "a named pipe"), (os.mkdir, "a directory")):
            self.summary_path.unlink()
            plant(self.summary_path)
            with (
                self.subTest(kind=kind),
                mock.patch("evaluation.score_command.score_suite", side_effect=AssertionError("scored")),
            ):
                self.assert_fatal(mentions=["evaluation_summary.json", f"it is {kind}, not a regular file"])

    def test_names_that_are_not_utf_8(self) -> None:
        root = os.fsencode(self.folder / "predictions")
        for name in (b"task_\xff", b"task_1\xff", b"\x1b[31m"):
            os.makedirs(os.path.join(root, name))
        named = os.path.join(os.fsencode(self.folder), b"sub\xffmission")
        os.rename(root, named)
        roots = ["--prediction-root", os.fsdecode(named), *self.roots[2:]]
        command = [sys.executable, str(ROOT / "evaluate.py"), *roots, "--verbose"]
        ascii_only = environment(PYTHONIOENCODING="ascii:strict", PYTHONUTF8="0", LC_ALL="C")
        done = subprocess.run(command, env=ascii_only, capture_output=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(rb"sub\udcffmission", done.stdout)


class InjectionTest(UntrustedTestCase):
    EVIL = "\x1b[31mx\x1b]0;t\x07\r\n\u202e\u2066\u0085\u2028"

    def test_nothing_reaches_the_terminal_raw(self) -> None:
        evil = self.EVIL
        for number, (gold, prediction, rule) in enumerate(
            (
                (csv_text([["1"]], [evil]), csv_text([[evil]], [evil]), INTEGER),
                (csv_text([[evil]], [evil]), csv_text([["y"]], [evil]), TEXT),
                (csv_text([["1"]]), csv_text([["1", evil]]), INTEGER),
                (csv_text([["1"]]), f'h\n"{evil}"x\n', INTEGER),
            ),
            start=1,
        ):
            self.add_task(number, gold, prediction, [rule])
        config = self.folder / "configs" / "task_1.json"
        document = json.loads(config.read_text())
        document["columns"][0]["gold_name"] = evil
        config.write_text(json.dumps(document))
        self.write(f"predictions/{evil}/prediction.csv", "h\n")
        self.write(f"predictions/task_7{evil}/prediction.csv", "h\n")
        label = self.write("e.json", json.dumps({"id": evil, "type": "accuracy", "source": "c0"}))
        status, output, error = run_here(*self.roots, "--verbose", "--dataset-evaluators", str(label))
        self.assertEqual(status, 0, error)
        self.assertIn(r"\x1b[31m", output)
        self.assert_harmless(output)

    def test_nor_in_a_fault(self) -> None:
        for name, gold in ((f"task_{self.EVIL}.json", "h\n1\n"), ("task_1.json", csv_text([[self.EVIL]]))):
            path = self.write(f"configs/{name}", json.dumps({"a" + self.EVIL: 1}))
            self.write("golds/task_1/gold.csv", gold)
            _, output, error = run_here(*self.roots)
            with self.subTest(name=name):
                self.assertIn(r"\x1b[31m", error)
                self.assert_harmless(output + error)
            path.unlink()

    def assert_harmless(self, output: str) -> None:
        # A line end of its own is what a line of output ends with; there are as many lines as without the attack.
        for character in "\x1b\x07\r\u202e\u2066\u0085\u2028":
            self.assertNotIn(character, output)
        for line in output.split("\n"):
            self.assertFalse(line.startswith("x"), line)


class MemoryTest(UntrustedTestCase):
    def test_a_task_that_memory_does_not_suffice_for_fails_alone(self) -> None:
        self.add_task(1, "h\n1\n", "h\n666\n")
        honest = parse_table

        def parse(data: bytes, *arguments: Any) -> Any:
            if b"666" in data:
                raise MemoryError
            return honest(data, *arguments)

        with mock.patch.object(scoring, "parse_table", parse):
            tasks = self.score()["tasks"]
        self.assertEqual([task["error_code"] for task in tasks], ["worker_died", None, None])
        self.assertEqual(tasks[0]["error"], "memory ran out while it was scored")
        self.add_task(2, "h\n666\n")
        with mock.patch.object(scoring, "parse_table", parse):
            self.assert_fatal(mentions=["memory ran out over the gold file task_2/gold.csv"])

    def test_plugins_see_little_more_of_a_prediction_than_gold_has(self) -> None:
        self.add_task(1, "h\n1\n", "h\n" + "2\n" * 5000)
        plugin = self.write("p.py", "SUMMARY_EVALUATORS = {'n': lambda outputs: len(outputs[0]['rows'])}")
        self.assertEqual(self.score("--plugin", str(plugin))["summary_evaluations"], [{"name": "n", "score": 1001}])


@unittest.skipIf(sys.platform in ("emscripten", "win32"), "needs signals")
class InterruptionTest(UntrustedTestCase):
    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(ROOT / "evaluate.py"), *self.roots]
        return subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_killed_at_any_moment_it_leaves_the_old_summary_or_the_new(self) -> None:
        self.score()
        new = self.summary_path.read_bytes()
        started = time.monotonic()
        self.start().wait()
        duration = time.monotonic() - started
        for part in range(10):
            self.summary_path.write_bytes(b"old")
            process = self.start()
            time.sleep(duration * part / 9)
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.assertIn(self.summary_path.read_bytes(), (b"old", new))

    def test_interrupted_while_it_starts(self) -> None:
        program = self.write("evaluate.py", (ROOT / "evaluate.py").read_bytes())
        self.write("evaluation/__init__.py", "raise KeyboardInterrupt\n")
        done = subprocess.run([sys.executable, str(program)], env=environment(), capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (130, b"interrupted\n"))


class LimitTest(UntrustedTestCase):
    def test_limits_are_options(self) -> None:
        self.add_task(1, "a,b\n1,xyz\n2,x\n", "a,b\n1,xyz\n2,x\n", [INTEGER, TEXT])
        for option, reached, exceeded, message in (
            ("--max-csv-bytes", "14", "13", "is longer than 13 bytes"),
            ("--max-rows", "2", "1", "has more than 1 data rows"),
            ("--max-columns", "2", "1", "has 2 columns, more than the 1 allowed"),
            ("--max-cell-characters", "3", "2", "has a cell of more than 2 characters"),
        ):
            name = option[len("--max-") :].replace("-", "_")
            with self.subTest(option=option):
                summary = self.score(option, reached)
                self.assertEqual((summary["task_accuracy"], summary["limits"]), (1.0, {name: int(reached)}))
                # Gold has to fit as well.
                self.assert_fatal(option, exceeded, mentions=["gold file task_1/gold.csv", message])
        self.write("golds/task_1/gold.csv", "a,b\n1,x\n2,x\n")
        (task,) = (t for t in self.score("--max-csv-bytes", "13")["tasks"] if t["task_id"] == "task_1")
        self.assertEqual(task["error"], "task_1/prediction.csv is longer than 13 bytes")

    def test_a_default_limit_is_not_recorded(self) -> None:
        self.assertNotIn("limits", self.score("--max-rows", "100000", "--max-columns", "64"))

    def test_raised_limits(self) -> None:
        self.add_task(2, "h\n1\n", "h\n" + "1\n" * 100_001)
        (task,) = (t for t in self.score("--max-rows", "100001")["tasks"] if t["task_id"] == "task_2")
        self.assertEqual(task["error_code"], "row_count_mismatch")

    def test_what_is_no_limit(self) -> None:
        for text in ("0", "-1", "1.5", "x", "", "2147483648", "9" * 5000, "٢", "0000000001999999999999"):
            status, _, error = run_here(*self.roots, f"--max-rows={text}")
            with self.subTest(text=text[:12]):
                self.assertEqual(status, 2)
                self.assertIn("expected a number from 1 to 2147483647", error)


class RedactionTest(BenchmarkTestCase):
    """Every output of runs that fail in every way, searched for every cell and header of gold."""

    SECRETS = ("secret-red", "secret-blue", "secret-header", "secret-Grün", "4711.25", "2031-07-19", "8153")

    def setUp(self) -> None:
        super().setUp()
        gold = [["secret-red", "4711.25", "2031-07-19"], ["secret-blue", "8153", "2031-07-19"]]
        rules = [TEXT, DECIMAL, DATE]
        spoilt = [["secret-red", "4711.25", "2031-07-19"], ["secret-red", "8153", "2031-07-19"]]
        predictions: Sequence[str | bytes | None] = (
            csv_text(gold),
            csv_text(spoilt),
            csv_text([["secret-red", "secret-blue", "2031-07-19"], ["secret-Grün", "x", "2031-07-19"]]),
            csv_text([[*row, "x"] for row in gold], ["secret-header", "b", "c", "d"]),
            csv_text(gold[:1], ["secret-header", "b", "c"]),
            b"secret-red\xff",
            None,
        )
        for number, prediction in enumerate(predictions, start=1):
            self.add_task(number, csv_text(gold, ["secret-header", "c1", "c2"]), prediction, rules)
        for number, label in enumerate(("secret-red", "secret-blue", "secret-Grün", None), start=11):
            answer = None if label is None else csv_text([[label]])
            self.add_task(number, csv_text([[label or "secret-red"]]), answer)
        for path in (self.folder / "configs").iterdir():
            text = path.read_text(encoding="utf-8").replace('"gold_name": "c0"', '"gold_name": "secret-header"')
            path.write_text(text, encoding="utf-8")
        self.plugin = self.write(
            "plugin.py",
            "import sys\n"
            "def leak(reference_outputs):\n"
            "    text = ' '.join(str(o) for o in reference_outputs)\n"
            "    print(text); print(text, file=sys.stderr)\n"
            "    return [{'name': text, 'score': 0.25, 'comment': text}, {'name': 'other', 'value': text}]\n"
            "def fail(reference_outputs):\n"
            "    raise ValueError(str(reference_outputs))\n"
            "SUMMARY_EVALUATORS = {'leak': leak, 'fail': fail}\n",
        )
        for name, more in (("a", {"type": "f_score"}), ("b", {"type": "recall", "positive_class": "secret-blue"})):
            document = {"id": name, "source": "secret-header", **more}
            self.write(f"evaluators/{name}.json", json.dumps(document))

    def assert_nothing_leaks(self, *texts: str) -> None:
        for text in texts:
            for secret in self.SECRETS:
                self.assertNotIn(secret, text)
                self.assertNotIn(secret.encode("unicode_escape").decode(), text)

    def everything(self, *options: str) -> tuple[int, str, str, str]:
        status, output, error = run_here(
            *self.roots,
            *("--dataset-evaluators", str(self.folder / "evaluators"), "--plugin", str(self.plugin), "--verbose"),
            *options,
        )
        return status, output, error, self.summary_path.read_text(encoding="utf-8")

    def test_no_output_holds_a_cell_or_a_header_of_gold(self) -> None:
        _, *open_texts = self.everything()
        for secret in self.SECRETS[:4]:
            self.assertIn(secret, "".join(open_texts))
        status, *texts = self.everything("--redact-gold")
        self.assertEqual(status, 2)
        self.assert_nothing_leaks(*texts)
        for option in ("--json", "--quiet", "--fail-under-metric=leak=0.5"):
            _, *texts = self.everything("--redact-gold", option)
            self.assert_nothing_leaks(*texts)

    def test_what_remains(self) -> None:
        _, _, _, text = self.everything()
        plain = json.loads(text)
        _, _, error, text = self.everything("--redact-gold", "--fail-under-metric=leak=0.5")
        redacted = json.loads(text)
        self.assertTrue(redacted["gold_redacted"])
        self.assertIsNone(redacted["gold_set_sha256"])
        for key in ("task_count", "passed_task_count", "failure_counts", "prediction_set_sha256", "config_set_sha256"):
            self.assertEqual(redacted[key], plain[key])
        for before, after in zip(plain["tasks"], redacted["tasks"], strict=True):
            before.pop("labels", None)
            self.assertEqual("diagnosis" in before, "diagnosis" in after)
            unlike = {"error": None, "diagnosis": None}
            self.assertEqual({**before, **unlike}, {**after, **unlike})
            self.assertEqual(before["error"] is None, after["error"] is None)
        for before, after in zip(plain["dataset_evaluations"], redacted["dataset_evaluations"], strict=True):
            self.assertEqual(after["score"], before["score"])
            self.assertEqual(after["classes"], ["class 1", "class 2", "class 3"])
            self.assertEqual(after["confusion_matrix"]["counts"], before["confusion_matrix"]["counts"])
        self.assertEqual(
            redacted["summary_evaluations"],
            [
                {"name": "leak", "score": 0.25},
                {"name": "leak (2)", "value": "(redacted)"},
                {"name": "fail", "error": "(redacted)"},
            ],
        )
        self.assertIn("'leak' 0.25 is below", error)

    def test_what_plugins_print_is_lost_whichever_way(self) -> None:
        program = """
            import logging, sys
            logging.basicConfig()
            print("at load: secret-red")
            def taken(reference_outputs, out=sys.stderr):
                print(reference_outputs, file=out)
                print(reference_outputs)
                logging.warning("%s", reference_outputs)
                return 1
            SUMMARY_EVALUATORS = {"taken": taken}
            """
        plugin = self.write("taken.py", textwrap.dedent(program))
        command = [sys.executable, str(ROOT / "evaluate.py"), *self.roots, "--plugin", str(plugin)]
        for options, leaks in (([], True), (["--redact-gold"], False)):
            done = subprocess.run([*command, *options], env=environment(), capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("secret-red" in done.stdout + done.stderr, leaks)
            self.assertIn("Summary written to", done.stdout)

    def test_nor_does_a_plugin_that_cannot_be_loaded(self) -> None:
        plugin = self.write("bad.py", "raise ValueError('secret-red')")
        self.assertIn("secret-red", self.assert_fatal("--plugin", str(plugin)))
        self.assert_nothing_leaks(self.assert_fatal("--plugin", str(plugin), "--redact-gold"))

    def test_a_redacted_summary_can_be_read_back(self) -> None:
        from evaluation.summary import Summary

        document = json.loads(self.everything("--redact-gold")[3])
        self.assertEqual(Summary.from_dict(document).to_dict(), document)

    def test_faults_do_not_leak_either(self) -> None:
        (self.folder / "golds" / "task_1" / "gold.csv").write_text(csv_text([["secret-red", "secret-blue", "8153"]]))
        (self.folder / "golds" / "task_2" / "gold.csv").write_text("secret-header,b\n1,2\n")
        self.assertIn("secret-blue", self.assert_fatal(faults=2))
        self.assert_nothing_leaks(self.assert_fatal("--redact-gold", faults=2))

    def test_nor_do_faults_of_evaluators(self) -> None:
        for more in (
            {"source": "secret-heade"},
            {"source": "secret-header", "classes": ["secret-red", "secret-red"]},
            {"source": "secret-header", "classes": ["none of them"]},
            {"source": "secret-header", "type": "recall", "positive_class": "secret-yellow"},
            {"source": "secret-header", "type": "secret-red"},
            '{"secret-red": 1, "secret-red": 2}',
        ):
            path = self.write(
                "e.json", more if isinstance(more, str) else json.dumps({"id": "e", "type": "accuracy", **more})
            )
            with self.subTest(more=more):
                options = ("--dataset-evaluators", str(path))
                self.assertIn("secret", self.assert_fatal(*options))
                self.assert_nothing_leaks(self.assert_fatal(*options, "--redact-gold"))


if __name__ == "__main__":
    unittest.main()
