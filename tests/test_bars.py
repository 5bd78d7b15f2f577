"""Bars: how they are read, and that no score reaches one through rounding."""

from __future__ import annotations

import unittest
from fractions import Fraction

import support  # noqa: F401  (the way to the package)

from evaluation.bars import Bars, read_accuracy_bar, read_metric_bar
from evaluation.results import TaskEvaluationResult
from evaluation.summary import Summary
from evaluation.summary_evaluations import SummaryEvaluation


def summary(*evaluations: SummaryEvaluation) -> Summary:
    task = TaskEvaluationResult("task_1", False, 1, 1, 1, 1, (0,))
    return Summary("1", "1.0", "", "", "", (), (task,), plugin_set_sha256="", summary_evaluations=evaluations)


class ReadTest(unittest.TestCase):
    def test_accuracy(self) -> None:
        for text, bar in (("0.8", Fraction(4, 5)), ("2/3", Fraction(2, 3)), ("1", 1), ("0", 0), (".5", Fraction(1, 2))):
            self.assertEqual(read_accuracy_bar(text), bar)
        for text in ("", "80", "1.01", "-0.1", "1/0", "nan", "1e-1", " 1", "1_0", "٣", "0.8%"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                read_accuracy_bar(text)

    def test_metric(self) -> None:
        self.assertEqual(read_metric_bar("a=b=-1/2"), ("a=b", Fraction(-1, 2)))
        self.assertEqual(read_metric_bar("words per task=250.5"), ("words per task", Fraction(501, 2)))
        for text in ("", "a", "a=", "=1", "a=x", "a=1/0", "a=--1"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                read_metric_bar(text)


class ShortfallTest(unittest.TestCase):
    def test_scores_of_summary_evaluators(self) -> None:
        for score, bar, reached in (
            (0.7, "0.7", True),
            (2 / 3, "2/3", True),
            (0.1 + 0.2, "0.3", True),
            (0.7, "0.71", False),
            (0.6999999999999999, "0.7", False),
            (3, "3", True),
            (10**17 + 1, "100000000000000002", False),
            (True, "1", True),
            (False, "0.5", False),
            (-1, "-1", True),
        ):
            with self.subTest(score=score, bar=bar):
                bars = Bars(metrics=(read_metric_bar(f"m={bar}"),))
                found = summary(SummaryEvaluation("m", score=score))
                self.assertEqual(bars.shortfalls(found) == [], reached)
                self.assertEqual(bars.faults(found), [])

    def test_a_metric_that_is_not_there_is_a_fault(self) -> None:
        bars = Bars(metrics=(("m", Fraction(0)),))
        for evaluation, fault in (
            (
                SummaryEvaluation("n", score=1),
                "--fail-under-metric 'm': expected the id of a metric that has a score ('n')",
            ),
            (
                SummaryEvaluation("m", value="a label"),
                "--fail-under-metric 'm': expected the id of a metric that has a score (there is none), "
                "got one that has a value only",
            ),
        ):
            self.assertEqual(bars.faults(summary(evaluation)), [fault])
            self.assertEqual(bars.shortfalls(summary(evaluation)), [])
        # The error is reported as such.
        self.assertEqual(bars.faults(summary(SummaryEvaluation("m", error="raised"))), [])


if __name__ == "__main__":
    unittest.main()
