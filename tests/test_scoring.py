"""One task: the verdict, its reason, its counts and its mapping."""

from __future__ import annotations

import os
import random
import unittest
from typing import Any
from unittest import mock

from support import BOOLEAN, DATE, DATETIME, INTEGER, TEXT, FolderTestCase, csv_text, decimal_places, task_config

from evaluation import comparison, mapping
from evaluation.columns import TypedColumns
from evaluation.errors import EvaluationFatalError, MappingBudgetError
from evaluation.results import TaskEvaluationResult
from evaluation.scoring import evaluate_task

SHARE = decimal_places(3, unit="fraction", allow_percent_sign=True)
# Columns, gold, prediction, whether the order counts, and the mapping or the error code.
CASES: dict[str, tuple[list[dict[str, Any]], str, str, bool, list[int] | str]] = {
    "identical": ([TEXT, INTEGER], "a,b\nx,1\ny,2\n", "a,b\nx,1\ny,2\n", True, [0, 1]),
    "headers are not scored": ([TEXT], "a\nx\n", "whatever\nx\n", False, [0]),
    "the header is no data": ([TEXT], "a\nx\n", "x\na\n", False, "relation_mismatch"),
    "rows in another order": ([TEXT], "a\nx\ny\n", "a\ny\nx\n", False, [0]),
    "rows in another order, ordered": ([TEXT], "a\nx\ny\n", "a\ny\nx\n", True, "relation_mismatch"),
    "columns in another order": ([TEXT, INTEGER], "a,b\nx,1\ny,2\n", "b,a\n2,y\n1,x\n", False, [1, 0]),
    "columns in another order, ordered": ([TEXT, INTEGER], "a,b\nx,1\ny,2\n", "b,a\n1,x\n2,y\n", True, [1, 0]),
    "spelled differently": (
        [INTEGER, BOOLEAN, DATE, DATETIME, SHARE],
        "a,b,c,d,e\n1000,true,2024-01-31,2024-01-31T12:00Z,0.125\n",
        'a,b,c,d,e\n"1,000",是,20240131,2024-01-31 14:00+02:00,12.5 %\n',
        False,
        [0, 1, 2, 3, 4],
    ),
    "duplicates count": ([TEXT], "a\nx\nx\ny\n", "a\nx\ny\ny\n", False, "relation_mismatch"),
    "cells of a row stay together": ([TEXT, TEXT], "a,b\nx,1\ny,2\n", "a,b\nx,2\ny,1\n", False, "relation_mismatch"),
    "smallest of several mappings": ([TEXT, TEXT], "a,b\nx,x\ny,y\n", "a,b\ny,y\nx,x\n", False, [0, 1]),
    "null is null, however spelled": ([INTEGER], "a\n\"\"\n5\n", "a\n5\nNaN\n", False, [0]),
    "null is not zero": ([INTEGER], "a\n0\n", "a\nnull\n", False, "relation_mismatch"),
    "null words are text in text": ([TEXT], "a\nNULL\n", "a\nnull\n", False, "relation_mismatch"),
    "a local time is no instant": (
        [DATETIME],
        "a\n2024-01-31T12:00\n",
        "a\n2024-01-31T12:00Z\n",
        False,
        "relation_mismatch",
    ),
    "rounded alike": ([decimal_places(1)], "a\n2.25\n", "a\n2.3\n", False, [0]),
    "rounded apart": ([decimal_places(1)], "a\n2.25\n", "a\n2.2\n", False, "relation_mismatch"),
    "no rows": ([TEXT, INTEGER], "a,b\n", "c,d\n", True, [0, 1]),
    "one column too many": ([TEXT], "a\nx\n", "i,a\n0,x\n", False, "column_count_mismatch"),
    "columns before rows": ([TEXT], "a\nx\n", "i,a\n0,x\n1,y\n", False, "column_count_mismatch"),
    "one row too few": ([TEXT], "a\nx\ny\n", "a\nx\n", False, "row_count_mismatch"),
    "rows before types": ([INTEGER], "a\n1\n", "a\nx\ny\n", False, "row_count_mismatch"),
    "no column is readable": ([INTEGER], "a\n1\n", "a\nx\n", False, "type_normalization_failed"),
    "two rules want one column": ([INTEGER, INTEGER], "a,b\n1,2\n", "a,b\n1,x\n", False, "type_normalization_failed"),
    "one unreadable cell rules out one column": ([TEXT, INTEGER], "a,b\nx,1\n", "a,b\n1,x\n", False, [1, 0]),
    "blank line at the end": ([TEXT], "a\nx\n", "a\nx\n\n", False, "invalid_prediction_csv"),
    "huge numbers beside text": (
        [TEXT, decimal_places(2)],
        "hash,n\n7e45123,1\n7e999999999,2\n",
        "hash,n\n7e999999999,2\n7e45123,1\n",
        False,
        [0, 1],
    ),
    "huge numbers compare exactly": ([INTEGER], "a\n1e400\n", "a\n10e399\n", False, [0]),
    "an instant that cannot exist": (
        [DATETIME],
        "a\n2024-01-01Z\n",
        "a\n0001-01-01T00:00+23:59\n",
        False,
        "type_normalization_failed",
    ),
}  # fmt: skip


class VerdictTest(FolderTestCase):
    def test_cases(self) -> None:
        for name, (columns, gold, prediction, ordered, expected) in CASES.items():
            with self.subTest(name=name):
                result = self.evaluate(columns, gold, prediction, ordered)
                outcome = result.error_code if result.mapping is None else list(result.mapping)
                self.assertEqual(outcome, expected, result.error)
                self.assertEqual(result.passed, isinstance(expected, list))
                self.assertEqual(result.passed, result.error is None)

    def test_counts(self) -> None:
        for prediction, expected in (
            (None, (1, 0, 2, 0)),
            ("", (1, 0, 2, 0)),
            ("a,b\n1,2\n", (1, 2, 2, 1)),
            ("a\n1\n2\n3\n", (1, 1, 2, 3)),
            ("a\n2\n1\n", (1, 1, 2, 2)),
        ):
            with self.subTest(prediction=prediction):
                result = self.evaluate([INTEGER], "a\n1\n2\n", prediction)
                counts = (
                    *(result.gold_column_count, result.prediction_column_count),
                    *(result.gold_row_count, result.prediction_row_count),
                )
                self.assertEqual(counts, expected)

    def test_reasons(self) -> None:
        columns = [TEXT, INTEGER, INTEGER]
        gold = "a,b,c\nx,1,2\ny,3,4\n"
        for prediction, expected in (
            (None, "'prediction.csv' does not exist"),
            ("a\n\xff\n".encode("latin-1"), "'prediction.csv' is not UTF-8 (byte 2)"),
            ("a\nx\n", "expected 3 columns, got 1"),
            ("a,b,c\nx,1,2\n", "expected 2 data rows, got 1"),
            (
                "a,b,c\nx,1,2\ny,z,4\n",
                "too few prediction columns are readable as gold column 2 'c2' (number)",
            ),
            (
                "a,b,c\nx,1,2\ny,3,w\n",
                "too few prediction columns are readable as gold column 2 'c2' (number); "
                "in prediction column 2, row 2 'w' is not a number",
            ),
            (
                "a,b,c\nx,q,w\ny,z,v\n",
                "no prediction column is readable as gold column 1 'c1' (number); "
                "in prediction column 1, row 1 'q' is not a number",
            ),
            ("a,b,c\nx,1,2\ny,3,5\n", "no prediction column holds the values of gold column 2 'c2' (number)"),
            ("a,b,c\ny,1,2\nx,3,4\n", "every column's values are there, but not together in the same rows"),
        ):
            with self.subTest(expected=expected):
                self.assertIn(expected, self.evaluate(columns, gold, prediction).error or "")
        result = self.evaluate([TEXT], "a\nx\ny\n", "a\ny\nx\n", ordered=True)
        self.assertIn("'c0' (text) in the same order", result.error or "")
        result = self.evaluate([TEXT, TEXT], "a,b\nx,x\n", "a,b\nx,y\n")
        self.assertIn("too few prediction columns hold the values", result.error or "")

    def test_exhausted_search_fails_the_task(self) -> None:
        with mock.patch.object(mapping, "smallest_mapping", side_effect=MappingBudgetError("met its budget")):
            result = self.evaluate([TEXT, TEXT], "a,b\nx,1\ny,2\n", "a,b\nx,2\ny,1\n")
        self.assertEqual((result.error_code, result.error), ("mapping_search_exhausted", "met its budget"))

    def test_messages_show_no_raw_control_characters(self) -> None:
        result = self.evaluate([INTEGER], "a\n1\n", "a\n\x1b[31m\u202e\n")
        self.assertIn("'\\x1b[31m\\u202e' is not a number", result.error or "")


class GoldTest(FolderTestCase):
    def test_faults_are_fatal_even_without_a_prediction(self) -> None:
        for gold, expected in (
            ("", "gold file 'gold.csv' is empty"),
            ("a\n1\n\n", "has no cells (a blank line) in data row 2"),
            ("a,b\n1,2\n", "has 2 columns, expected 1 as in the config"),
            ("a\n1\nx\n", "column 0 'c0' (number): row 2 'x' is not a number"),
        ):
            for prediction in (None, "a\n1\n"):
                with self.subTest(gold=gold, prediction=prediction), self.assertRaises(EvaluationFatalError) as caught:
                    self.evaluate([INTEGER], gold, prediction)
                self.assertIn(expected, str(caught.exception))

    def test_missing_gold_is_fatal(self) -> None:
        with self.assertRaisesRegex(EvaluationFatalError, "gold file 'gold.csv' does not exist"):
            evaluate_task(
                config=task_config([TEXT]),
                prediction_path=self.write("prediction.csv", "a\n1\n"),
                gold_path=self.folder / "gold.csv",
            )


class PredictionFileTest(FolderTestCase):
    def result(self) -> TaskEvaluationResult:
        return evaluate_task(
            config=task_config([TEXT]),
            prediction_path=self.folder / "prediction.csv",
            gold_path=self.folder / "gold.csv",
        )

    def test_links_are_refused(self) -> None:
        gold = self.write("gold.csv", "a\nx\n")
        prediction = self.folder / "prediction.csv"
        prediction.symlink_to(gold)
        self.assertEqual(self.result().error, "'prediction.csv' is a symbolic link, not a regular file")
        prediction.unlink()
        os.link(gold, prediction)
        self.assertEqual(self.result().error, "'prediction.csv' is the gold file itself (a hard link)")
        self.assertEqual(self.result().error_code, "invalid_prediction_csv")
        prediction.unlink()
        prediction.write_bytes(gold.read_bytes())
        self.assertTrue(self.result().passed)


class ShortCutTest(FolderTestCase):
    """What tells tables apart or equal before all is read must not change the result, nor what it says."""

    def test_agrees_with_the_full_search(self) -> None:
        source = random.Random(9)
        spellings = {"1": ["1", "1.0", "01", "1e0"], "2": ["2", "2.00"], "": ["", "null"], "x": ["x", " x"]}
        passed = 0
        for _ in range(600):
            width, height = source.randrange(1, 4), source.randrange(5)
            columns = [source.choice((TEXT, INTEGER)) for _ in range(width)]
            rows = [
                tuple(source.choice("12" if column is INTEGER else "12x") for column in columns) for _ in range(height)
            ]
            ordered = source.random() < 0.5
            guess = [tuple(source.choice(spellings[cell]) for cell in row) for row in rows]
            if not ordered:
                source.shuffle(guess)
            if guess and source.random() < 0.4:
                guess[0] = tuple(source.choice("12x") for _ in columns)
            header = [f"h{i}" for i in range(width)]
            arguments = (columns, csv_text(rows, header), csv_text(guess, header), ordered)
            result = self.evaluate(*arguments)
            with (
                mock.patch.object(comparison, "_equal_but_for_few_rows", return_value=False),
                mock.patch.object(comparison, "_equal_under", return_value=False),
                mock.patch.object(TypedColumns, "may_equal", return_value=True),
            ):
                self.assertEqual(self.evaluate(*arguments), result, arguments)
            passed += result.passed
        self.assertGreater(passed, 80)
        self.assertLess(passed, 520)


if __name__ == "__main__":
    unittest.main()
