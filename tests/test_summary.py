"""What follows from a summary's facts, its JSON form and its inverse."""

from __future__ import annotations

import copy
import json
import unittest

import support  # noqa: F401  (the way to the package)
from schema_check import accepts, load_schema

from evaluation.errors import EvaluationError
from evaluation.reports.summary_json import render
from evaluation.results import ERROR_CODES, TaskEvaluationResult
from evaluation.summary import Summary

REFERENCE_KEYS = (
    *("evaluator", "evaluator_version", "config_schema_version", "config_set_sha256", "metric", "task_count"),
    *("passed_task_count", "failed_task_count", "task_accuracy", "unscored_prediction_tasks", "tasks"),
)
REFERENCE_TASK_KEYS = (
    *("task_id", "passed", "score", "order_sensitive", "gold_column_count", "prediction_column_count"),
    *("gold_row_count", "prediction_row_count", "column_mapping", "error_code", "error"),
)
SCHEMA = load_schema("summary.schema.json")


def passed(number: int) -> TaskEvaluationResult:
    return TaskEvaluationResult(f"task_{number}", True, 2, 2, 5, 5, mapping=(1, 0))


def failed(number: int, code: str) -> TaskEvaluationResult:
    return TaskEvaluationResult(f"task_{number}", False, 2, 0, 5, 0, error_code=code, error="what, where, why — “é”")


def summary(*tasks: TaskEvaluationResult) -> Summary:
    return Summary("1.2.3", "1.0", "a" * 64, "b" * 64, "c" * 64, ("task_90", "task_100"), tasks)


MIXED = summary(
    passed(1), failed(2, "row_count_mismatch"), failed(3, "missing_prediction"), failed(4, "row_count_mismatch")
)


class SummaryTest(unittest.TestCase):
    def test_what_follows_from_the_tasks(self) -> None:
        self.assertEqual((MIXED.task_count, MIXED.passed_task_count, MIXED.failed_task_count), (4, 1, 3))
        self.assertEqual(MIXED.task_accuracy, 0.25)
        self.assertEqual(list(MIXED.failure_counts.items()), [("missing_prediction", 1), ("row_count_mismatch", 2)])
        assert MIXED.accuracy_interval is not None
        self.assertLess(MIXED.accuracy_interval.low, 0.25)

    def test_keys_and_their_order(self) -> None:
        document = MIXED.to_dict()
        self.assertEqual(tuple(document)[: len(REFERENCE_KEYS)], REFERENCE_KEYS)
        for task in document["tasks"]:
            self.assertEqual(tuple(task), REFERENCE_TASK_KEYS)
        self.assertEqual(
            document["tasks"][0]["column_mapping"],
            [{"gold_index": 0, "prediction_index": 1}, {"gold_index": 1, "prediction_index": 0}],
        )
        self.assertEqual([task["score"] for task in document["tasks"]], [1, 0, 0, 0])

    def test_the_schema_describes_what_is_written(self) -> None:
        everything = summary(passed(1), *(failed(i, code) for i, code in enumerate(ERROR_CODES, start=2)))
        for example in (MIXED, everything, summary(passed(1)), summary(failed(1, "relation_mismatch"))):
            document = json.loads(render(example))
            self.assertTrue(accepts(SCHEMA, document))
            for key in document:
                self.assertFalse(accepts(SCHEMA, {name: document[name] for name in document if name != key}), key)
        document = MIXED.to_dict()
        document["tasks"][0]["score"] = 0
        self.assertFalse(accepts(SCHEMA, document))

    def test_reads_back_what_it_wrote(self) -> None:
        self.assertEqual(Summary.from_dict(json.loads(render(MIXED))), MIXED)

    def test_refuses_what_it_did_not_write(self) -> None:
        document = MIXED.to_dict()
        for path, value in (
            (("summary_schema_version",), "2.0"),
            (("task_accuracy",), 1.0),
            (("passed_task_count",), 4),
            (("failure_counts",), {}),
            (("tasks",), []),
            (("tasks",), None),
            (("tasks", 0), "task_1"),
            (("tasks", 0, "passed"), False),
            (("tasks", 0, "column_mapping"), [{}]),
        ):
            with self.subTest(path=path):
                spoilt = copy.deepcopy(document)
                target = spoilt
                for key in path[:-1]:
                    target = target[key]  # type: ignore[index]
                target[path[-1]] = value  # type: ignore[index]
                with self.assertRaises(EvaluationError):
                    Summary.from_dict(spoilt)
        with self.assertRaisesRegex(EvaluationError, "not a summary of schema version 1.0, but '2.0'"):
            Summary.from_dict({**document, "summary_schema_version": "2.0"})
        for key in document:
            with self.subTest(missing=key), self.assertRaises(EvaluationError):
                Summary.from_dict({name: document[name] for name in document if name != key})


class RenderTest(unittest.TestCase):
    def test_text(self) -> None:
        text = render(MIXED)
        self.assertTrue(text.endswith("}\n"))
        self.assertIn("“é”", text)

    def test_without_tasks(self) -> None:
        document = json.loads(render(MIXED, with_tasks=False))
        self.assertNotIn("tasks", document)
        self.assertEqual(document, {key: value for key, value in MIXED.to_dict().items() if key != "tasks"})


if __name__ == "__main__":
    unittest.main()
