"""The score by attribute and by tag: groups, denominators, and the groups of those that have none."""

from __future__ import annotations

import random
import unittest
from collections import Counter
from typing import Any

import support  # noqa: F401  (the way to the package)

from evaluation.breakdown import Outcome, break_down
from evaluation.metadata import Metadata, TaskMetadata
from evaluation.metrics import wilson_interval


def outcomes(*passed: bool) -> list[Outcome]:
    return [Outcome(f"task_{number}", one, int(one), 1) for number, one in enumerate(passed, start=1)]


def groups(document: list[dict[str, Any]]) -> list[tuple[Any, int, int]]:
    return [(group.get("value"), group["passed"], group["total"]) for group in document]


class BreakdownTest(unittest.TestCase):
    def test_groups(self) -> None:
        values: list[Any] = [True, "true", 1, 1.0, "b", None, False]
        metadata = Metadata(
            {
                f"task_{number}": TaskMetadata({} if value is None else {"kind": value})
                for number, value in enumerate(values, start=1)
            }
        )
        document = break_down(outcomes(True, False, True, False, True, False, True, True), metadata).to_dict()
        (kind,) = document["attributes"]
        found = [(type(value).__name__, value, passed, total) for value, passed, total in groups(kind["groups"])]
        # A number is one value however it is written, and the tasks without the attribute are a group.
        self.assertEqual(
            found,
            [
                ("bool", False, 1, 1),
                ("bool", True, 1, 1),
                ("int", 1, 1, 2),
                ("str", "b", 1, 1),
                ("str", "true", 0, 1),
                ("NoneType", None, 1, 2),
            ],
        )
        self.assertEqual(kind["groups"][-1]["missing"], True)
        self.assertEqual(kind["groups"][2]["rate"], 0.5)
        self.assertEqual(kind["groups"][2]["interval"], wilson_interval(1, 2)._asdict())
        self.assertNotIn("runs", kind["groups"][0])
        self.assertEqual(document["tags"], [])

    def test_tags(self) -> None:
        tasks = {"task_1": TaskMetadata(tags=("a", "b")), "task_2": TaskMetadata(tags=("a",))}
        metadata = Metadata(tasks, {"q": "why"})
        document = break_down(outcomes(True, False, True), metadata).to_dict()
        self.assertEqual(groups(document["tags"]), [("a", 1, 2), ("b", 1, 1), (None, 1, 1)])
        self.assertEqual(document["left_out"], {"q": "why"})

    def test_runs(self) -> None:
        metadata = Metadata({f"task_{number}": TaskMetadata({"odd": number % 2}) for number in range(1, 5)})
        repeated = [Outcome(f"task_{number}", number > 2, number - 1, 3) for number in range(1, 5)]
        (odd,) = break_down(repeated, metadata).to_dict()["attributes"]
        self.assertEqual(groups(odd["groups"]), [(0, 1, 2), (1, 1, 2)])
        runs = [(group["runs"]["passed"], group["runs"]["total"]) for group in odd["groups"]]
        self.assertEqual(runs, [(4, 6), (2, 6)])
        for group in odd["groups"]:
            interval = group["runs"]["interval"]
            self.assertLess(interval["low"], group["runs"]["rate"])
            self.assertGreater(interval["high"], group["runs"]["rate"])

    def test_an_attribute_parts_the_tasks(self) -> None:
        source = random.Random(5)
        for _ in range(100):
            count = source.randint(1, 30)
            found = outcomes(*(source.random() < 0.4 for _ in range(count)))
            values: list[Any] = ["x", "y", 1, 2.5, True]
            metadata = Metadata(
                {
                    outcome.task_id: TaskMetadata({"a": source.choice(values)})
                    for outcome in found
                    if source.random() < 0.8
                }
            )
            for attribute in break_down(found, metadata).to_dict()["attributes"]:
                self.assertEqual(sum(group["total"] for group in attribute["groups"]), count)
                self.assertEqual(sum(group["passed"] for group in attribute["groups"]), sum(o.passed for o in found))
                counts = Counter(repr(group.get("value")) for group in attribute["groups"])
                self.assertEqual(set(counts.values()), {1})


if __name__ == "__main__":
    unittest.main()
