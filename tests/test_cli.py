"""The command line: exit status, what goes to which stream, and that nothing is written over a good summary."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from support import EXAMPLE, ROOT, BenchmarkTestCase, environment, run_cli

from evaluation import __version__, score_command, streams
from evaluation.cli import main


class OutputTest(BenchmarkTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.add_task(1)
        self.add_task(2, prediction="h\n2\n")

    def test_default_output_is_in_the_prediction_root(self) -> None:
        status, output, error = run_cli(*self.roots)
        self.assertEqual((status, error), (0, ""))
        self.assertEqual(json.loads(self.summary_path.read_text(encoding="utf-8"))["task_accuracy"], 0.5)
        self.assertTrue(output.startswith("Task accuracy: 1/2 = 50.0 % (95 % interval 9.5 % to 90.5 %)\n"), output)
        self.assertIn(f"Config set: {self.folder / 'configs'} (2 tasks, SHA-256 ", output)
        self.assertIn("\nfailed  task_2  relation_mismatch: ", output)
        self.assertTrue(output.endswith(f"Summary written to {self.summary_path}\n"))
        self.assertNotIn("\x1b", output)

    def test_output_elsewhere(self) -> None:
        path = self.folder / "out.json"
        self.assertEqual(run_cli(*self.roots, "--output", str(path))[0], 0)
        self.assertTrue(path.is_file())
        self.assertFalse(self.summary_path.exists())

    def test_output_to_standard_output(self) -> None:
        status, output, error = run_cli(*self.roots, "--output", "-")
        self.assertEqual((status, json.loads(output)["task_count"]), (0, 2))
        self.assertTrue(error.startswith("Task accuracy: 1/2"))
        self.assertNotIn("written", error)
        self.assertFalse(self.summary_path.exists())

    def test_json(self) -> None:
        status, output, error = run_cli(*self.roots, "--json", "--quiet")
        self.assertEqual((status, error), (0, ""))
        written = json.loads(self.summary_path.read_text(encoding="utf-8"))
        del written["tasks"]
        self.assertEqual(json.loads(output), written)

    def test_quiet_and_verbose(self) -> None:
        for options, passed, failed in (((), False, True), (("--quiet",), False, False), (("--verbose",), True, True)):
            with self.subTest(options=options):
                output = run_cli(*self.roots, *options)[1]
                self.assertEqual(("\npassed  task_1" in output, "\nfailed  task_2" in output), (passed, failed))

    def test_version(self) -> None:
        self.assertEqual(run_cli("--version"), (0, f"Table Answer Evaluator {__version__}\n", ""))

    def test_runs_repeat_to_the_byte(self) -> None:
        for seed in ("0", "1", "2"):
            done = subprocess.run(
                [sys.executable, str(ROOT / "evaluate.py"), *self.roots],
                cwd=self.folder,
                env=environment(PYTHONHASHSEED=seed),
                capture_output=True,
                check=True,
            )
            content = self.summary_path.read_bytes()
            if seed == "0":
                first, first_output = content, done.stdout
            self.assertEqual((content, done.stdout), (first, first_output))


class FailUnderTest(BenchmarkTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.add_task(1)
        self.add_task(2)
        self.add_task(3, prediction=None)

    def test_compared_exactly(self) -> None:
        for bar, expected in (
            *(("0", 0), ("0.66", 0), ("2/3", 0), ("0.66666666666666666666", 0), (".5", 0), ("0.", 0)),
            *(("0.66666666666666666667", 1), ("0.67", 1), ("1", 1), ("1.0", 1), ("3/3", 1)),
        ):
            with self.subTest(bar=bar):
                status, output, error = run_cli(*self.roots, "--fail-under", bar)
                self.assertEqual(status, expected)
                self.assertEqual("accuracy 2/3 is below --fail-under" in error, expected == 1)
                self.assertIn("Task accuracy: 2/3", output)
                self.assertTrue(self.summary_path.is_file())

    def test_refused(self) -> None:
        for bar, expected in (
            *(("80", "not a percentage"), ("1.01", "not a percentage"), ("100/99", "not a percentage")),
            *(
                (text, "expected a fraction from 0 to 1")
                for text in ("-1", "nan", "80%", "1/0", "1e-1", "", "x", "٠", "1_0")
            ),
        ):
            with self.subTest(bar=bar):
                self.assert_fatal(f"--fail-under={bar}", mentions=[expected])
                self.assertFalse(self.summary_path.exists())


class FaultTest(BenchmarkTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.add_task(1)
        self.summary_path.write_text("an earlier summary", encoding="utf-8")
        self.addCleanup(lambda: self.assertEqual(self.summary_path.read_text(encoding="utf-8"), "an earlier summary"))

    def test_usage(self) -> None:
        for arguments, expected in (
            ([], "required: --gold-root"),
            ([*self.roots, "--nonsense"], "unrecognized arguments: --nonsense"),
            ([*self.roots, "--out", "x"], "unrecognized arguments: --out x"),
            ([*self.roots, "--quiet", "--verbose"], "not allowed with"),
            ([*self.roots, "--json", "--output", "-"], "both claim standard output"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_fatal(arguments=arguments, mentions=[expected])

    def test_a_bad_config_names_file_and_place(self) -> None:
        self.write("configs/task_1.json", '{"schema_version": "1.0"}')
        self.assert_fatal(mentions=["config 'task_1.json', task_id: expected a value"])

    def test_a_fault_stays_one_line(self) -> None:
        self.write("configs/task_\x1b\n.json", "{}")
        self.assert_fatal(mentions=["'task_\\x1b\\x0a.json'"])

    def test_gold_faults(self) -> None:
        self.write("golds/task_1/gold.csv", "h\n\n")
        self.assert_fatal(mentions=["gold file task_1/gold.csv has no cells (a blank line) in data row 1"])

    def test_output_faults_are_found_before_scoring(self) -> None:
        with mock.patch.object(score_command, "score_suite", side_effect=AssertionError("scored first")):
            self.assert_fatal("--output", str(self.folder), mentions=["it is a directory"])
            self.assert_fatal("--output", str(self.folder / "nowhere" / "x"), mentions=["its folder does not exist"])

    def test_an_output_that_is_an_input_is_refused(self) -> None:
        for name in ("configs/task_1.json", "configs/task_9.json", "golds/task_1/gold.csv", "golds/task_7/gold.csv",
                     "predictions/task_1/prediction.csv", "golds/../configs/task_1.json"):  # fmt: skip
            with self.subTest(name=name):
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                before = path.read_bytes() if path.exists() else None
                self.assert_fatal("--output", str(path), mentions=["it is an input of the run"])
                self.assertEqual(path.read_bytes() if path.exists() else None, before)

    def test_a_link_given_as_output_is_refused(self) -> None:
        link = self.folder / "link.json"
        link.symlink_to("target.json")
        self.assert_fatal("--output", str(link), mentions=["it is a symbolic link, name its target"])

    def test_empty_paths_are_refused(self) -> None:
        for option in ("--prediction-root", "--gold-root", "--config-root", "--output"):
            with self.subTest(option=option):
                self.assert_fatal(option, "", mentions=[f"argument {option}: expected a path, got nothing"])

    def test_interruption(self) -> None:
        with mock.patch.object(score_command, "score_suite", side_effect=KeyboardInterrupt):
            status, output, error = run_cli(*self.roots)
        self.assertEqual((status, output), (130, ""))
        self.assertEqual(error, "interrupted\n")


class TerminalTest(BenchmarkTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.add_task(1, prediction="é\nç\n")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def output_on_terminal(self, **variables: str) -> str:
        terminal = self.Terminal()
        with mock.patch.dict(os.environ, variables), mock.patch.object(sys, "stdout", terminal):
            main(self.roots)
        return terminal.getvalue()

    def test_colour_on_a_terminal_only(self) -> None:
        self.assertIn("\x1b[", self.output_on_terminal(NO_COLOR="", TERM="xterm"))
        self.assertNotIn("\x1b[", self.output_on_terminal(NO_COLOR="1", TERM="xterm"))
        self.assertNotIn("\x1b[", self.output_on_terminal(NO_COLOR="", TERM="dumb"))

    def test_progress_on_a_terminal_only_and_not_at_once(self) -> None:
        for delay, stream, expected in (
            (0.0, self.Terminal(), "\r1/1 tasks\r\x1b[K"),
            (3600.0, self.Terminal(), ""),
            (0.0, io.StringIO(), ""),
        ):
            with (
                mock.patch.object(streams, "_PROGRESS_AFTER_SECONDS", delay),
                mock.patch.object(sys, "stderr", stream),
                mock.patch.object(sys, "stdout", io.StringIO()),
            ):
                main(self.roots)
            self.assertEqual(stream.getvalue(), expected)

    def test_an_ascii_terminal(self) -> None:
        self.write("configs/task_1.json", (self.folder / "configs/task_1.json").read_text().replace('"c0"', '"größe"'))
        command = [sys.executable, str(ROOT / "evaluate.py"), *self.roots]
        ascii_only = environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
        done = subprocess.run(command, env=ascii_only, capture_output=True, check=True)
        self.assertIn(b"gr\\xf6\\xdfe", done.stdout)
        done = subprocess.run([*command, "--output", "-"], env=ascii_only, capture_output=True, check=True)
        self.assertIn("größe", json.loads(done.stdout.decode("utf-8"))["tasks"][0]["error"])

    @unittest.skipIf(os.name == "nt", "needs pipes that break")
    def test_a_reader_that_leaves_early(self) -> None:
        command = [sys.executable, str(ROOT / "evaluate.py"), *self.roots, "--fail-under", "1"]
        with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            child.stdout.close()
            error = child.stderr.read()
        self.assertEqual(child.returncode, 1)
        self.assertNotIn(b"Traceback", error)
        self.assertTrue(self.summary_path.is_file())


class BrokenStreamTest(BenchmarkTestCase):
    """Standard streams that are closed or full: never a traceback, and never a status that says something else."""

    def setUp(self) -> None:
        super().setUp()
        self.add_task(1)

    def run_shell(self, *options: str, redirect: str) -> tuple[int, str]:
        command = shlex.join([sys.executable, str(ROOT / "evaluate.py"), *self.roots, *options])
        done = subprocess.run(
            ["sh", "-c", f"{command} {redirect}"], env=environment(), capture_output=True, text=True, check=False
        )
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stderr

    @unittest.skipUnless(Path("/dev/full").exists(), "needs /dev/full")
    def test_full(self) -> None:
        for options in ((), ("--json",), ("--output", "-")):
            with self.subTest(options=options):
                status, error = self.run_shell(*options, redirect=">/dev/full")
                self.assertEqual(status, 2)
                self.assertIn("error: cannot write to standard output: ", error)
                self.assertEqual(self.run_shell(*options, redirect=">/dev/null 2>/dev/full")[0], 0)

    @unittest.skipIf(os.name == "nt", "needs a POSIX shell")
    def test_closed(self) -> None:
        for options, expected in (((), 0), (("--json",), 0), (("--output", "-"), 2)):
            with self.subTest(options=options):
                self.assertEqual(self.run_shell(*options, redirect=">&-")[0], expected)
                self.assertEqual(self.run_shell(*options, redirect=">/dev/null 2>&-")[0], 0)


class EntryPointTest(BenchmarkTestCase):
    def test_both_do_the_same_from_any_folder(self) -> None:
        self.add_task(1, prediction=None)
        outputs = []
        for command, folder in (
            ([str(ROOT / "evaluate.py")], self.folder),
            (["-m", "evaluation"], ROOT),
        ):
            done = subprocess.run(
                [sys.executable, *command, *self.roots], cwd=folder, env=environment(), capture_output=True, check=True
            )
            outputs.append((done.stdout, self.summary_path.read_bytes()))
        self.assertEqual(outputs[0], outputs[1])

    def test_the_module_names_itself_in_its_usage(self) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "evaluation"],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.startswith("usage: python3 -m evaluation {--prediction-root PATH"), done.stderr)

    def test_the_bundled_set_is_the_default(self) -> None:
        output = run_cli(
            *("--prediction-root", str(EXAMPLE / "predictions"), "--gold-root", str(EXAMPLE / "gold")),
            *("--output", str(self.folder / "out.json")),
        )[1]
        self.assertIn(f"Config set: {ROOT / 'configs'} (22 tasks", output)

    def test_the_release_layout_is_found(self) -> None:
        self.add_task(1)
        (self.folder / "evaluation").mkdir()
        (self.folder / "configs").rename(self.folder / "evaluation" / "configs")
        arguments = self.roots[:4]
        status, output, error = run_cli(*arguments)
        self.assertEqual(status, 0, error)
        self.assertIn(f"Config set: {Path(self.folder / 'evaluation' / 'configs').resolve()} (1 task,", output)


if __name__ == "__main__":
    unittest.main()
