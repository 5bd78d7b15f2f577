"""The text for people: golden for the example, and what its parts say in other cases."""

from __future__ import annotations

import dataclasses
import unittest

from support import EXAMPLE, ROOT, assert_golden

from evaluation.configs import load_config_set
from evaluation.reports.console import render
from evaluation.reports.text import ConsoleStyle, percentage
from evaluation.results import TaskEvaluationResult
from evaluation.submissions import PredictionDirectory
from evaluation.suite import score_suite
from evaluation.summary import Summary


def example() -> Summary:
    config_set = load_config_set(ROOT / "configs")
    return score_suite(config_set, PredictionDirectory(EXAMPLE / "predictions"), EXAMPLE / "gold")


class RenderTest(unittest.TestCase):
    def test_golden(self) -> None:
        summary = example()
        for name, style in (
            ("console.txt", ConsoleStyle()),
            ("console_quiet.txt", ConsoleStyle(failed_tasks=False)),
            ("console_verbose_colour.txt", ConsoleStyle(passed_tasks=True, colour=True)),
        ):
            with self.subTest(name=name):
                assert_golden(self, name, render(summary, style, "configs", "predictions/evaluation_summary.json"))

    def test_no_output_no_line(self) -> None:
        self.assertNotIn("Summary written", render(example(), ConsoleStyle(), "configs", None))

    def test_unscored_predictions_are_counted_and_the_first_named(self) -> None:
        summary = dataclasses.replace(example(), unscored_prediction_tasks=tuple(f"task_{i}" for i in range(50, 58)))
        text = render(summary, ConsoleStyle(), "configs", None)
        self.assertIn("8 (task_50, task_51, task_52, task_53, task_54 and 3 more)", text)

    def test_all_passed(self) -> None:
        task = TaskEvaluationResult("task_1", False, 1, 1, 1, 1, mapping=(0,))
        summary = dataclasses.replace(example(), tasks=(task,), unscored_prediction_tasks=())
        text = render(summary, ConsoleStyle(), "configs", None)
        self.assertTrue(text.startswith("Task accuracy: 1/1 = 100.0 % (95 % interval 20.7 % to 100.0 %)\n"), text)
        self.assertNotIn("Failures", text)
        self.assertNotIn("Unscored", text)

    def test_nothing_reaches_the_terminal_raw(self) -> None:
        task = TaskEvaluationResult(
            "task_1", False, 1, 0, 1, 0, error_code="invalid_prediction_csv", error="\x1b[2J\u202e"
        )
        summary = dataclasses.replace(example(), tasks=(task,))
        text = render(summary, ConsoleStyle(), "con\nfigs", "out\x07.json")
        for raw in ("\x1b", "\u202e", "con\nfigs", "\x07"):
            self.assertNotIn(raw, text)
        self.assertIn("\\x1b[2J\\u202e", text)


class PercentageTest(unittest.TestCase):
    def test_none_and_all_are_said_only_of_none_and_all(self) -> None:
        for passed, total, expected in (
            (0, 3, "0.0 %"),
            (1, 3, "33.3 %"),
            (2, 3, "66.7 %"),
            (3, 3, "100.0 %"),
            (1, 8, "12.5 %"),
            (1, 2000, "0.1 %"),
            (1, 100_000, "0.1 %"),
            (99_999, 100_000, "99.9 %"),
            (1999, 2000, "99.9 %"),
        ):
            with self.subTest(passed=passed, total=total):
                self.assertEqual(percentage(passed, total), expected)


if __name__ == "__main__":
    unittest.main()
