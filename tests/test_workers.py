"""Worker processes: every result arrives, in whatever order, and a worker that dies costs no call but its own."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import unittest
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

from support import INTEGER, ROOT, BenchmarkTestCase, FolderTestCase, environment, run_cli

from evaluation import runner, suite
from evaluation.errors import EvaluationFatalError
from evaluation.scoring import ScoredTask, score_task
from evaluation.task_files import TaskFiles

try:
    from evaluation.workers import can_start_workers, map_in_workers, processor_count

    WORKERS = can_start_workers()
except ImportError:
    WORKERS = False


def square(number: int) -> int:
    return number * number


def square_or_die(number: int) -> int:
    """Be killed where the number is odd."""
    if number % 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def square_or_raise(number: int) -> int:
    if number == 3:
        raise EvaluationFatalError("three")
    return number * number


def die_on_tasks_2_and_8(files: TaskFiles, *arguments: Any) -> ScoredTask:
    """Score a task as usual, but be killed by two of them, as if for want of memory."""
    in_worker = multiprocessing.parent_process() is not None
    if in_worker and files.config.task_id in ("task_2", "task_8"):
        os.kill(os.getpid(), signal.SIGKILL)
    return score_task(files, *arguments)


def exit_with_whether_workers_can_start() -> None:
    sys.exit(int(can_start_workers()))


@unittest.skipUnless(WORKERS, "needs processes")
class MapTest(FolderTestCase):
    def test_every_result_arrives(self) -> None:
        for count in (0, 1, 2, 9):
            arguments = ((number, number) for number in range(count))
            found = dict(map_in_workers(square, arguments, 2))
            self.assertEqual(found, {number: number * number for number in range(count)})

    def test_a_worker_that_dies_costs_its_own_call_only(self) -> None:
        numbers = [0, 1, 2, 4, 6, 3, 8]
        found = dict(map_in_workers(square_or_die, enumerate(numbers), 3))
        expected = {i: None if number % 2 else number * number for i, number in enumerate(numbers)}
        self.assertEqual(found, expected)

    def test_what_the_function_raises_is_raised(self) -> None:
        with self.assertRaisesRegex(EvaluationFatalError, "three"):
            list(map_in_workers(square_or_raise, enumerate([1, 2, 3, 4]), 2))

    def test_no_argument_is_taken_before_there_is_a_worker_for_it(self) -> None:
        taken = []

        def arguments() -> Iterator[tuple[int, int]]:
            for number in range(8):
                taken.append(number)
                yield number, number

        for done, _ in enumerate(map_in_workers(square, arguments(), 2), start=1):
            self.assertLessEqual(len(taken), done + 2)

    def test_workers_that_start_afresh_find_the_package(self) -> None:
        program = self.host_program()
        for method in multiprocessing.get_all_start_methods():
            with self.subTest(method=method):
                command = [sys.executable, str(program), method, str(ROOT)]
                done = subprocess.run(
                    command, env=environment(), cwd=program.parent, capture_output=True, text=True, check=False
                )
                self.assertEqual((done.stdout, done.stderr), ("True True\n", ""))

    def test_a_daemon_starts_none(self) -> None:
        daemon = multiprocessing.Process(target=exit_with_whether_workers_can_start, daemon=True)
        daemon.start()
        daemon.join(60)
        self.assertEqual(daemon.exitcode, 0)

    def test_workers_end_with_their_parent(self) -> None:
        program = """
            import os, signal, sys, time
            sys.path.insert(0, sys.argv[1])
            from evaluation.workers import map_in_workers

            if __name__ == "__main__":
                for _ in map_in_workers(time.sleep, enumerate([0, 600, 600]), 2):
                    os.kill(os.getpid(), signal.SIGKILL)
            """
        path = self.write("parent.py", textwrap.dedent(program))
        # Workers hold the streams open, so that this ends when the last of them has.
        done = subprocess.run(
            [sys.executable, str(path), str(ROOT)], env=environment(), capture_output=True, check=False, timeout=60
        )
        self.assertEqual(done.returncode, -signal.SIGKILL)

    def test_where_the_system_has_no_process_left_fewer_workers_do(self) -> None:
        submit, left = ProcessPoolExecutor.submit, iter((3, 2, 0))

        class Scarce(ProcessPoolExecutor):
            """As many workers as there are processes left, from pool to pool."""

            def submit(self, *arguments: Any, **keywords: Any) -> Any:
                if not hasattr(self, "left"):
                    self.left = next(left)
                self.left -= 1
                if self.left < 0:
                    raise OSError(11, "Resource temporarily unavailable")
                return submit(self, *arguments, **keywords)

        with mock.patch("evaluation.workers.ProcessPoolExecutor", Scarce):
            found = dict(map_in_workers(square, enumerate(range(20)), 5))
        self.assertEqual(found, {number: number * number for number in range(20)})
        self.assertEqual(list(left), [])
        self.assertEqual(multiprocessing.active_children(), [])

    def test_no_more_workers_than_every_system_can_wait_for(self) -> None:
        with mock.patch("evaluation.workers.ProcessPoolExecutor") as executor:
            self.assertEqual(list(map_in_workers(square, [], 256)), [])
        executor.assert_called_once()
        self.assertEqual(executor.call_args.args, (61,))

    def host_program(self) -> Path:
        """Return a program that loads the facade by its path and starts workers."""
        return self.write(
            "host.py",
            textwrap.dedent(
                """
                import importlib.util, multiprocessing, sys

                if __name__ == "__main__":
                    multiprocessing.set_start_method(sys.argv[1])
                    spec = importlib.util.spec_from_file_location("scorer", sys.argv[2] + "/evaluate.py")
                    scorer = importlib.util.module_from_spec(spec)
                    spec.loader.exec_module(scorer)
                    before = list(sys.path)
                    workers = importlib.import_module("evaluation.workers")
                    print(workers.can_start_workers(), sys.path == before)
                """
            ),
        )

    def test_processors(self) -> None:
        self.assertGreaterEqual(processor_count(), 1)


@unittest.skipUnless(WORKERS, "needs processes")
class JobsTest(BenchmarkTestCase):
    def setUp(self) -> None:
        super().setUp()
        for name in ("_LEAST_BYTES_FOR_WORKERS", "_LEAST_BYTES_PER_TASK"):
            patch = mock.patch.object(runner, name, 0)
            patch.start()
            self.addCleanup(patch.stop)
        for number in range(1, 8):
            rows = "".join(f"{value}\n" for value in range(number * 10))
            self.add_task(number, f"h\n{rows}", f"h\n{rows}" if number % 3 else f"h\n0{rows}", [INTEGER])
        self.add_task(8, "h\n1\n", None, [INTEGER])
        self.add_task(9, "h\n1\n", b"\xff", [INTEGER])
        self.add_task(10, "h\n1\n", "h\n2\n", [INTEGER])

    def test_the_summary_is_the_same_byte_for_byte(self) -> None:
        evaluator = self.write("e.json", json.dumps({"id": "e", "type": "accuracy", "source": "c0"}))
        rows = self.write(
            "plugin.py", "SUMMARY_EVALUATORS = {'rows': lambda outputs: sum(len(o['rows']) for o in outputs)}"
        )
        options = ["--dataset-evaluators", str(evaluator), "--plugin", str(rows), "--fail-under", "0"]
        summaries = []
        for jobs in ("1", "2", "3", "auto"):
            self.score(*options, "--jobs", jobs)
            summaries.append(self.summary_path.read_bytes())
        self.assertEqual(summaries, [summaries[0]] * 4)

    def test_the_faults_of_gold_are_told_in_order(self) -> None:
        self.add_task(3, "h\nx\n", "h\n1\n", [INTEGER])
        self.add_task(6, "h\ny\n", "h\n1\n", [INTEGER])
        (self.folder / "golds" / "task_1" / "gold.csv").unlink()
        sentences = self.assert_fatal("--jobs", "1", faults=3)
        self.assertRegex(sentences, r"(?s)task_1/gold.csv does not exist.*task_3/gold.csv.*row 1 'x'.*task_6.*'y'")
        self.assertEqual(self.assert_fatal("--jobs", "2", faults=3), sentences)

    def test_a_worker_that_dies_fails_its_own_task_visibly(self) -> None:
        honest = self.score()
        with mock.patch.object(runner, "score_task", die_on_tasks_2_and_8):
            summary = self.score("--jobs", "2")
        (died,) = (task for task in summary["tasks"] if task["error_code"] == "worker_died")
        self.assertEqual((died["task_id"], died["gold_row_count"], died["prediction_row_count"]), ("task_2", 20, 0))
        self.assertEqual(summary["failure_counts"]["worker_died"], 1)
        for task, as_before in zip(summary["tasks"], honest["tasks"]):
            # That task 8 has no prediction is known whatever happens to a worker.
            if task["task_id"] != "task_2":
                self.assertEqual(task, as_before)

    def test_a_prediction_that_changes_meanwhile_spoils_nothing(self) -> None:
        plugin = self.write("p.py", "SUMMARY_EVALUATORS = {'n': lambda outputs: len(outputs[0]['rows'])}")
        complete = runner.Runner._complete
        for changed, rows in (("h\n1\n", 0), ("\xff", 0), (None, 10)):
            path = self.folder / "predictions" / "task_1" / "prediction.csv"
            content = path.read_bytes()

            def swap(runner_: Any, config: Any, outcome: Any, changed: str | None = changed, path: Path = path) -> Any:
                if config.task_id == "task_1" and changed is not None:
                    path.write_text(changed, encoding="latin-1")
                return complete(runner_, config, outcome)

            with self.subTest(changed=changed), mock.patch.object(runner.Runner, "_complete", swap):
                summary = self.score("--jobs", "2", "--plugin", str(plugin))
                self.assertEqual(summary["summary_evaluations"], [{"name": "n", "score": rows}])
                self.assertTrue(summary["tasks"][0]["passed"])
            path.write_bytes(content)

    def test_a_small_run_starts_no_workers(self) -> None:
        for name in ("_LEAST_BYTES_FOR_WORKERS", "_LEAST_BYTES_PER_TASK"):
            with (
                mock.patch.object(runner, name, 1 << 20),
                mock.patch("evaluation.workers.can_start_workers", side_effect=AssertionError("started workers")),
            ):
                self.score("--jobs", "4")

    def test_a_single_task_needs_no_workers(self) -> None:
        for path in (self.folder / "configs").iterdir():
            if path.name != "task_10.json":
                path.unlink()
        with mock.patch("evaluation.workers.can_start_workers", side_effect=AssertionError("started workers")):
            self.assertEqual(self.score("--jobs", "4")["task_count"], 1)

    def test_where_no_workers_can_be_started_there_is_one_process(self) -> None:
        with mock.patch("evaluation.workers.can_start_workers", return_value=False):
            self.assertEqual(self.score("--jobs", "2")["task_count"], 10)

    def test_numbers_of_jobs(self) -> None:
        for text in ("0", "-1", "257", "1.5", "two", "", "٢", "9" * 5000):
            with self.subTest(text=text[:10]):
                status, _, error = run_cli(*self.roots, f"--jobs={text}")
                self.assertEqual(status, 2)
                self.assertIn("expected a number from 1 to 256, or auto", error)
        keywords = {f"{name}_root": self.folder / f"{name}s" for name in ("prediction", "gold", "config")}
        for jobs in (0, 257, True, 2.0, "auto"):
            with self.subTest(jobs=jobs), self.assertRaisesRegex(ValueError, "a whole number from 1 to 256, got"):
                suite.evaluate_suite(**keywords, jobs=jobs)  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
