"""Near misses: each detector finds its mistake, is not taken in by one that looks alike, and bears company."""

from __future__ import annotations

import contextlib
import unittest
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from unittest import mock

from schema_check import accepts, load_schema
from support import (
    DATE,
    DATETIME,
    INTEGER,
    TEXT,
    BenchmarkTestCase,
    csv_text,
    decimal_places,
    run_cli,
    task_config,
)

from evaluation import form_changes, near_misses, nearest
from evaluation.files import FileContent
from evaluation.findings import NEAR_MISS_CODES, Diagnosis
from evaluation.results import TaskEvaluationResult
from evaluation.scoring import score_task
from evaluation.summary import Summary
from evaluation.task_files import ScoringOptions, TaskFiles

DECIMAL = decimal_places(2)
PRICES = (("apple", "1.50"), ("pear", "2.25"), ("plum", "12.00"))
MANY = tuple((f"a{number % 20}", f"b{number % 20}") for number in range(50))
PEOPLE = (("Ada", "Byron", "36"), ("Alan", "Turing", "41"))


def score(
    columns: Sequence[Any], gold: str, prediction: str | bytes, ordered: bool = False, **options: Any
) -> TaskEvaluationResult:
    data = prediction.encode() if isinstance(prediction, str) else prediction
    files = TaskFiles(
        task_config(columns, ordered=ordered), FileContent(gold.encode(), None), FileContent(data, (0, 0))
    )
    return score_task(files, "gold.csv", "prediction.csv", ScoringOptions(**options)).result


def diagnosis(columns: Sequence[Any], gold: str, prediction: str | bytes, ordered: bool = False) -> Diagnosis:
    result = score(columns, gold, prediction, ordered)
    assert result.diagnosis is not None, result
    return result.diagnosis


class Case(NamedTuple):
    """A mistake and one that looks alike: the prediction that has it, and one that has not; gold and its rules."""

    code: str
    columns: Sequence[Any]
    gold: str
    mistaken: str | bytes
    alike: str | bytes
    ordered: bool = False


CASES = (
    Case("row_order", [TEXT], "h\na\nb\nc\n", "h\nb\na\nc\n", "h\nb\na\na\n", ordered=True),
    Case(
        "delimiter",
        [TEXT, DECIMAL],
        csv_text(PRICES),
        "n;p\napple;1.5\npear;2.25\nplum;12\n",
        "n;p\napple;1.5\npear;2.26\nplum;12\n",
    ),
    Case(
        "delimiter",
        [TEXT, DECIMAL],
        csv_text(PRICES),
        "n\tp\napple\t1.5\npear\t2.25\nplum\t12\n",
        "n\tp\napple\t1.5\npear\t2.25\n",
    ),
    Case("encoding", [TEXT], "h\nCafé\n", "h\nCafé\n".encode("cp1252"), "h\nCaffè\n".encode("cp1252")),
    Case("encoding", [TEXT], "h\n東京\n", "h\n東京\n".encode("utf-16"), "h\n京都\n".encode("utf-16")),
    Case("header_missing", [TEXT], "h\na\nb\n", "a\nb\n", "x\nb\n"),
    Case("transposed", [TEXT, TEXT], "h,i\na,b\nc,d\ne,f\n", "h,a,c,e\ni,b,d,f\n", "h,a,c,e\ni,b,d,g\n"),
    Case("extra_index_column", [TEXT], "h\na\nb\n", ",h\n0,a\n1,b\n", ",h\n0,a\n2,b\n"),
    Case("extra_columns", [TEXT], "h\na\nb\n", "h,i\na,x\nb,y\n", "h,i\na,x\nc,y\n"),
    Case("missing_columns", [TEXT, INTEGER], "h,n\na,1\nb,2\n", "h\nb\na\n", "h\nb\nc\n"),
    Case(
        "merged_columns",
        [TEXT, TEXT, INTEGER],
        csv_text(PEOPLE),
        "name,age\nAda Byron,36\nAlan Turing,41\n",
        "name,age\nAda Byron,36\nAlanTuring,41\n",
    ),
    Case("split_columns", [TEXT, INTEGER], "n,a\nAda Byron,36\n", "f,l,a\nAda,Byron,36\n", "f,l,a\nAda,Lovelace,36\n"),
    Case("split_columns", [DATETIME], "t\n2024-01-31 12:00\n", "d,t\n2024-01-31,12:00\n", "d,t\n2024-01-31,12:01\n"),
    Case("null_spelling", [TEXT, TEXT], "h,i\na,\nb,c\n", "h,i\na,NULL\nb,c\n", "h,i\na,nothing\nb,c\n"),
    Case("null_spelling", [INTEGER], "h\n1\nnull\n", "h\n1\nN/A\n", "h\n1\n0\n"),
    Case("number_format", [INTEGER], "h\n1234567\n", "h\n1 234 567\n", "h\n1 234 568\n"),
    Case("number_format", [DECIMAL], "h\n1234.50\n5\n", 'h\n"$1,234.50"\n$5.00\n', 'h\n"$1,234.50"\n$6.00\n'),
    Case("number_format", [DECIMAL], "h\n1234.50\n5\n", 'h\n"1.234,50"\n"5,00"\n', 'h\n"1.234,50"\n"5,10"\n'),
    Case("number_format", [DECIMAL], "h\n12.5\n3\n", "h\n12.5 km\n3 km\n", "h\n12.5 km\n3.1 km\n"),
    Case("number_format", [DECIMAL], "h\n12\n3.5\n", "h\n12%\n3.5 %\n", "h\n12%\n3.6%\n"),
    Case("number_format", [TEXT], "h\n123\nx\n", "h\n123.0\nx\n", "h\n123.5\nx\n"),
    Case("scale", [DECIMAL], "h\n0.25\n0.5\n", "h\n25\n50\n", "h\n2.5\n5\n"),
    Case("scale", [DECIMAL], "h\n0.25\n0.5\n", "h\n25%\n50 %\n", "h\n25%\n55%\n"),
    Case("scale", [DECIMAL], "h\n25\n50\n", "h\n0.25\n0.5\n", "h\n0.25\n0.6\n"),
    Case("rounding", [decimal_places(4)], "h\n3.14159\n2.71828\n", "h\n3.14\n2.72\n", "h\n3.14\n2.73\n"),
    Case("rounding", [decimal_places(4)], "h\n3.14159\n2.71828\n", "h\n3.141\n2.718\n", "h\n3.140\n2.717\n"),
    Case("rounding", [INTEGER], "h\n100\n", "h\n99.98\n", "h\n99.48\n"),
    Case(
        "date_format",
        [DATE],
        "h\n2024-01-31\n2024-02-01\n",
        "h\n31.01.2024\n01.02.2024\n",
        "h\n31.01.2024\n02.02.2024\n",
    ),
    Case("date_format", [DATE], "h\n2024-02-01\n", "h\n2024-01-02\n", "h\n2024-01-03\n"),
    Case("date_format", [DATE], "h\n2024-01-05\n", "h\nJanuary 5 2024\n", "h\nJanuary 6 2024\n"),
    Case(
        "date_format",
        [DATE],
        "h\n2024-02-01\n2024-05-31\n",
        "h\n2024-02-01\n31/05/2024\n",
        "h\n2024-02-02\n31/05/2024\n",
    ),
    Case(
        "date_format",
        [DATETIME],
        "h\n2024-02-01T15:30\n",
        "h\nFeb 01 2024 15:30\n".replace("01 2024", "01, 2024").replace("Feb 01, 2024 15:30", '"Feb 01, 2024 15:30"'),
        "h\n2024 Feb 1\n",
    ),
    Case(
        "time_zone",
        [DATETIME],
        "h\n2024-01-31T12:00Z\n2024-01-31T18:00Z\n",
        "h\n2024-01-31T14:00Z\n2024-01-31T20:00Z\n",
        "h\n2024-01-31T14:00Z\n2024-01-31T21:00Z\n",
    ),
    Case(
        "time_zone", [DATETIME], "h\n2024-01-31T12:00\n", "h\n2024-01-31T12:00+02:00\n", "h\n2024-01-31T12:01+02:00\n"
    ),
    Case("time_zone", [DATETIME], "h\n2024-01-31T12:00Z\n", "h\n2024-01-31T12:00\n", "h\n2024-01-31T12:07\n"),
    Case("letter_case", [TEXT], "h\nOslo\nRome\n", "h\nOSLO\nrome\n", "h\nOSLO\nroma\n"),
    Case("inner_whitespace", [TEXT], "h\nNew York\n", "h\nNew  York\n", "h\nNewYork\n"),
    Case("leading_zeros", [TEXT], "h\n00123\n7\n", "h\n123\n7\n", "h\n1230\n7\n"),
    Case("duplicate_rows", [TEXT], "h\na\nb\n", "h\na\nb\na\n", "h\na\nb\nc\nc\n"),
    Case("duplicate_rows", [TEXT], "h\na\nb\na\n", "h\na\nb\n", "h\na\nc\n"),
    Case("extra_rows", [TEXT], "h\na\nb\n", "h\na\nb\nc\n", "h\na\nd\nc\n"),
    Case("missing_rows", [TEXT], "h\na\nb\nc\n", "h\na\nc\n", "h\na\nd\n"),
    Case(
        "extra_rows",
        [TEXT, TEXT],
        csv_text(MANY),
        csv_text([("x", "y"), *MANY]),
        csv_text([("x", "y"), ("a0", "b1"), *MANY[1:]]),
        ordered=True,
    ),
)
# Two mistakes at once, and the codes that must be told together, as one change.
TWO_AT_ONCE = (
    (["row_order", "letter_case"], [TEXT], "h\nOslo\nRome\n", "h\nROME\nOSLO\n", True),
    (["delimiter", "number_format"], [TEXT, DECIMAL], csv_text(PRICES), "n;p\napple;1,5\npear;2,25\nplum;12\n", False),
    (["encoding", "letter_case"], [TEXT], "h\nCafé\n", "h\ncafé\n".encode("cp1252"), False),
    (["header_missing", "leading_zeros"], [TEXT], "h\n01\n02\n", "1\n2\n", False),
    (["transposed", "letter_case"], [TEXT, TEXT], "h,i\na,b\nc,d\ne,f\n", "h,A,C,E\ni,B,D,F\n", False),
    (["extra_index_column", "scale"], [DECIMAL], "h\n0.25\n0.5\n", ",h\n0,25\n1,50\n", False),
    (["delimiter", "extra_index_column"], [TEXT, TEXT], "h,i\na,b\n", ";h;i\n0;a;b\n", False),
    (["extra_index_column", "row_order"], [TEXT], "h\na\nb\nc\n", ",h\n0,b\n1,a\n2,c\n", True),
    (["extra_columns", "duplicate_rows"], [TEXT], "h\na\nb\n", "h,i\na,x\nb,y\na,x\n", False),
    (["extra_columns", "extra_rows"], [INTEGER], "h\n1\n2\n", "h,i\n1,x\n2,y\n3,z\n", False),
    (["merged_columns", "rounding"], [TEXT, TEXT, decimal_places(3)], "a,b,c\nA,B,1.234\n", "n,c\nA B,1.23\n", False),
    (["split_columns", "letter_case"], [TEXT, TEXT], "n,a\nAda Byron,X\n", "f,l,a\nAda,Byron,x\n", False),
    (
        ["null_spelling", "time_zone"],
        [TEXT, DATETIME],
        "a,t\n,2024-01-31T12:00\nx,\n",
        "a,t\nN/A,2024-01-31T12:00Z\nx,\n",
        False,
    ),
    (["date_format", "inner_whitespace"], [DATE, TEXT], "d,t\n2024-01-31,a b\n", "d,t\n01/31/2024,a  b\n", False),
    (["missing_columns", "missing_rows"], [TEXT, INTEGER], "h,n\na,1\nb,2\nc,3\n", "h\na\nb\n", False),
)


class CodesTest(unittest.TestCase):
    def test_every_code_has_its_cases(self) -> None:
        self.assertEqual({case.code for case in CASES}, set(NEAR_MISS_CODES))
        together = {code for codes, *_ in TWO_AT_ONCE for code in codes}
        self.assertEqual(together, set(NEAR_MISS_CODES))


class DetectorTest(unittest.TestCase):
    def test_a_mistake_is_found_first(self) -> None:
        for case in CASES:
            with self.subTest(code=case.code, mistaken=case.mistaken):
                found = diagnosis(case.columns, case.gold, case.mistaken, case.ordered)
                self.assertEqual([miss.code for miss in found.near_misses if miss.group == 0], [case.code])

    def test_one_that_looks_alike_is_not_taken_for_it(self) -> None:
        for case in CASES:
            with self.subTest(code=case.code, alike=case.alike):
                found = diagnosis(case.columns, case.gold, case.alike, case.ordered)
                self.assertNotIn(case.code, [miss.code for miss in found.near_misses])

    def test_two_at_once(self) -> None:
        for codes, columns, gold, prediction, ordered in TWO_AT_ONCE:
            with self.subTest(codes=codes):
                found = diagnosis(columns, gold, prediction, ordered)
                self.assertEqual({miss.code for miss in found.near_misses if miss.group == 0}, set(codes))

    def test_nothing_is_claimed_that_was_not_verified(self) -> None:
        with mock.patch.object(near_misses._Finder, "_passes", return_value=False):
            for case in CASES:
                found = diagnosis(case.columns, case.gold, case.mistaken, case.ordered)
                self.assertEqual(found.near_misses, ())

    def test_every_group_is_a_change_of_its_own(self) -> None:
        found = diagnosis([TEXT], "h\na\nb\n", ",h\n0,a\n1,b\n")
        self.assertEqual(
            [(miss.code, miss.group) for miss in found.near_misses], [("extra_index_column", 0), ("extra_columns", 1)]
        )
        self.assertEqual(found.changes[0], "prediction column 0 only counts the rows")

    def test_changes_of_several_columns_are_one(self) -> None:
        found = diagnosis([TEXT, DECIMAL], "n,p\nOslo,0.5\nRome,0.25\n", "n,p\nOSLO,50\nROME,25\n")
        self.assertEqual(
            [(miss.code, miss.gold_index, miss.group) for miss in found.near_misses],
            [("letter_case", 0, 0), ("scale", 1, 0)],
        )
        self.assertEqual(
            found.changes[0], "column 0 'c0' differs in letter case only, and column 1 'c1' is 100 times too large"
        )

    def test_a_wrong_answer_is_just_wrong(self) -> None:
        for prediction in ("h\nx\ny\n", "h\n", "h,i\nx,y\n", "h\n1\n2\n3\n4\n"):
            self.assertEqual(diagnosis([TEXT], "h\na\nb\n", prediction).near_misses, ())

    def test_little_work_is_spent_on_a_large_table(self) -> None:
        with mock.patch.object(form_changes, "_LEAST_CELLS", 0):
            found = diagnosis([TEXT], "h\na\n", "h,i,j,k\na,1,2,3\n")
            self.assertEqual([miss.code for miss in found.near_misses], ["extra_columns"])

    def test_prediction_columns_are_named(self) -> None:
        for gold, prediction, expected in (
            ("h\na\n", "h,note\na,x\n", "prediction column 1 'note' is not in gold"),
            ("h,i\na,b\n", "name\na b\n", "prediction column 0 'name' is two columns of gold"),
        ):
            types = [TEXT] * len(gold.splitlines()[0].split(","))
            self.assertEqual(diagnosis(types, gold, prediction).changes, [expected])
            redacted = score(types, gold, prediction, redact_gold=True).diagnosis
            assert redacted is not None
            self.assertNotIn("'", redacted.changes[0])

    def test_a_change_of_another_reading_tells_both(self) -> None:
        found = diagnosis([TEXT, TEXT], "n,a\nAda Byron,X\n", "f;l;a\nAda;Byron;X\n")
        self.assertEqual(
            found.changes,
            [
                "cells are separated by semicolons, not by commas, "
                "and prediction columns 0 'f' and 1 'l' are one column of gold"
            ],
        )
        found = diagnosis([TEXT], "a\nX\n", "n;a\nY;X\n")
        self.assertEqual([miss.code for miss in found.near_misses], [])

    def test_a_single_cell_is_not_transposed(self) -> None:
        found = diagnosis([TEXT], "h\na\n", "h\nA\n")
        self.assertEqual([miss.code for miss in found.near_misses], ["letter_case"])

    def test_large_tables_are_diagnosed_alike(self) -> None:
        for case in CASES:
            with self.subTest(code=case.code), self.as_large_tables():
                found = diagnosis(case.columns, case.gold, case.mistaken, case.ordered)
                self.assertEqual([miss.code for miss in found.near_misses], [case.code])
                found = diagnosis(case.columns, case.gold, case.alike, case.ordered)
                self.assertNotIn(case.code, [miss.code for miss in found.near_misses])

    def test_of_two_columns_that_may_be_one_those_that_stand_together_are_tried(self) -> None:
        gold = "f,n\nAda 1,1\nBob 2,2\nCyd 3,1\n"
        with self.as_large_tables(), mock.patch.object(form_changes, "_LEAST_CELLS", 20):
            found = diagnosis([TEXT, DECIMAL], gold, "n,a,b\n1,Ada,1\n2,Bob,2\n1,Cyd,3\n")
        self.assertEqual(found.changes, ["prediction columns 1 'a' and 2 'b' are one column of gold"])

    @contextlib.contextmanager
    def as_large_tables(self) -> Iterator[None]:
        with (
            mock.patch.object(form_changes, "_MANY_CELLS", 0),
            mock.patch.object(nearest, "_MOST_CELLS_READ", 0),
            mock.patch.object(nearest, "_SAMPLED_ROWS", 1),
        ):
            yield


class SummaryTest(BenchmarkTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.add_task(1)
        self.add_task(2, "c0\nsecret-a\nsecret-b\n", "secret-a\nSECRET-B\nsecret-A\n", [TEXT])
        self.add_task(3, prediction=None)
        self.add_task(4, prediction=b"\xff")

    def test_failed_tasks_with_a_prediction_are_diagnosed(self) -> None:
        tasks = self.score()["tasks"]
        self.assertEqual(["diagnosis" in task for task in tasks], [False, True, False, True])
        self.assertEqual(tasks[3]["diagnosis"], {"columns": [], "rows": None, "near_misses": [], "complete": True})
        self.assertEqual(["diagnosis" in task for task in self.score("--no-diagnosis")["tasks"]], [False] * 4)

    def test_the_summary_fits_its_schema_and_is_read_back(self) -> None:
        for options in ((), ("--redact-gold",)):
            document = self.score(*options)
            self.assertTrue(accepts(load_schema("summary.schema.json"), document))
            self.assertEqual(Summary.from_dict(document).to_dict(), document)

    def test_redacted(self) -> None:
        self.add_task(2, "c0\nsecret-a\nsecret-b\n", "c0\nsecret-a\nSECRET-B\n", [TEXT])
        _, output, _ = run_cli(*self.roots)
        self.assertIn("column 0 'c0' differs in letter case only", output)
        _, output, _ = run_cli(*self.roots, "--redact-gold")
        self.assertIn("column 0 differs in letter case only", output)
        self.assertNotIn("secret", self.summary_path.read_text().lower())


if __name__ == "__main__":
    unittest.main()
