"""What is said of tasks: where it is found, what becomes an attribute, and what is refused."""

from __future__ import annotations

import json
import unittest
from fractions import Fraction
from pathlib import Path
from typing import Any

from support import FolderTestCase

from evaluation.errors import EvaluationFatalError
from evaluation.metadata import Metadata, TaskMetadata, find_metadata, load_metadata

TASKS = [f"task_{number}" for number in range(1, 9)]


class LoadTest(FolderTestCase):
    def load(self, documents: dict[str, Any]) -> Metadata:
        return load_metadata(self.write("m.json", json.dumps(documents)), TASKS)

    def test_every_form_says_the_same(self) -> None:
        records: dict[str, dict[str, Any]] = {
            task: {"level": "easy" if i % 2 else "hard", "tags": ["b", "a"], "threshold": "2/3"}
            for i, task in enumerate(TASKS)
        }
        for task, record in records.items():
            self.write(f"one/{task}/task.json", json.dumps({"task_id": task, **record}))
            self.write(f"other/{task}.json", json.dumps(record))
        self.write("m.json", json.dumps(records))
        lines = [f"{task},{record['level']}, a ; b;,2/3,\n" for task, record in records.items()]
        self.write("m.csv", "task_id,level,tags,threshold,unsaid\n" + "".join(reversed(lines)))
        expected = {
            task: TaskMetadata({"level": record["level"]}, ("a", "b"), Fraction(2, 3))
            for task, record in records.items()
        }
        for name in ("one", "other", "m.json", "m.csv"):
            with self.subTest(name=name):
                self.assertEqual(load_metadata(self.folder / name, TASKS), Metadata(expected))

    def test_what_becomes_an_attribute(self) -> None:
        found = self.load(
            {
                task: {
                    "level": i % 3,
                    "same": "yes",
                    "id": f"x{i}",
                    "question": "How many? " * 20,
                    "lines": "a\nb" if i == 1 else "a",
                    "sources": ["a"],
                    "null": None,
                    **({"rare": True} if i == 2 else {}),
                }
                for i, task in enumerate(TASKS)
            }
        )
        self.assertEqual(found.tasks["task_3"].attributes, {"level": 2, "rare": True})
        self.assertEqual(
            found.left_out,
            {
                "id": "has 8 values for 8 tasks",
                "lines": "holds long texts",
                "question": "holds long texts",
                "same": "has one value only",
                "sources": "holds objects or lists",
            },
        )

    def test_types_are_kept_apart(self) -> None:
        values = [True, "true", 1, "1", True, "true", 1.0, "1"]
        found = self.load({task: {"kind": value} for task, value in zip(TASKS, values, strict=True)})
        self.assertEqual([repr(found.tasks[task].attributes["kind"]) for task in TASKS], [repr(v) for v in values])

    def test_white_space_around_texts_says_nothing(self) -> None:
        texts = ["a", " a ", "b", "b\n", "", "  ", "a", "b"]
        found = self.load({task: {"kind": text, "tags": [text]} for task, text in zip(TASKS, texts, strict=True)})
        self.assertEqual([found.tasks[task].attributes.get("kind") for task in TASKS], [*"aabb", None, None, *"ab"])
        self.assertEqual([found.tasks[task].tags for task in TASKS[3:5]], [("b",), ()])

    def test_one_value_is_enough_where_some_tasks_have_none(self) -> None:
        found = self.load({"task_1": {"old": True}, "task_2": {"old": True}})
        self.assertEqual(found.left_out, {})

    def test_thresholds_are_exact(self) -> None:
        for text, expected in (
            ("0.67", Fraction(67, 100)),
            ("0.66666666666666666667", Fraction("0.66666666666666666667")),
            ("1", Fraction(1)),
            ('"2/3"', Fraction(2, 3)),
            ('"0.3"', Fraction(3, 10)),
        ):
            with self.subTest(text=text):
                path = self.write("m.json", f'{{"task_1": {{"threshold": {text}}}}}')
                self.assertEqual(load_metadata(path, TASKS).thresholds, {"task_1": expected})

    def test_faults(self) -> None:
        for document, mention in (
            ("[]", "expected an object by task id, got a list of 0"),
            ('{"x": {}}', "expected task ids such as task_11 as keys, got 'x'"),
            ('{"task_1": 3}', "task_1: expected an object, got 3"),
            ('{"task_1": {"task_id": "task_2"}}', "task_1.task_id: expected 'task_1', got 'task_2'"),
            ('{"task_99": {}}', "says nothing of any task of the config set"),
            ('{"task_1": {"tags": "a"}}', "task_1.tags: expected a list of texts, got 'a'"),
            ('{"task_1": {"tags": [1]}}', "task_1.tags[0]: expected a string, got 1"),
            ('{"task_1": {"threshold": 0}}', "task_1.threshold: expected a number above 0 and at most 1, got 0"),
            ('{"task_1": {"threshold": true}}', "threshold: expected a number or a text"),
            ('{"task_1": {"threshold": 1.5}}', "got 1.5"),
            ('{"task_1": {"threshold": 1E-999999999}}', "threshold: expected a number above 0"),
            ('{"task_1": {"threshold": "two thirds"}}', "got 'two thirds'"),
            ('{"task_1": {"x": 1e99999999999999999999}}', "holds a number of too large an exponent"),
            ('{"task_1": {"x": 1e999}}', "x: expected a number that a float can hold"),
            ('{"task_1": {"x": "\\ud800"}}', "half a surrogate pair"),
            ('{"task_1": {"x": 1, "x": 2}}', "has the key 'x' twice in one object"),
            ("{", "is not JSON"),
        ):
            with self.subTest(document=document), self.assertRaises(EvaluationFatalError) as raised:
                load_metadata(self.write("m.json", document), TASKS)
            self.assertIn(mention, str(raised.exception))
            self.assertIn("'m.json'", str(raised.exception))
            self.assertNotIn(str(self.folder), str(raised.exception))

    def test_faults_of_csv(self) -> None:
        for text, mention in (
            ("level\neasy\n", "expected columns of different names, one of them task_id"),
            ("task_id,a,a\ntask_1,1,2\n", "expected columns of different names"),
            (
                "task_id,a\ntask_1,1\ntask_1,2\n",
                "data row 2: expected a task id in column task_id that no other row",
            ),
            ("task_id,a\nx,1\n", "data row 1: expected a task id"),
            ("task_id,a\ntask_1\n", "has 1 cell in data row 1, expected 2"),
            ("", "is empty"),
            ("task_id,threshold\ntask_1,50%\n", "task_1.threshold: expected a number above 0 and at most 1, got '50%'"),
        ):
            with self.subTest(text=text), self.assertRaises(EvaluationFatalError) as raised:
                load_metadata(self.write("m.csv", text), TASKS)
            self.assertIn(mention, str(raised.exception))

    def test_faults_of_files(self) -> None:
        self.write("both/task_1.json", "{}")
        self.write("both/task_1/task.json", "{}")
        self.write("list/task_1.json", "[]")
        self.write("other/task_1/task.json", '{"task_id": "task_2"}')
        self.write("nothing/readme.txt", "")
        for name, mention in (
            ("both", "has both task_1/task.json and task_1.json"),
            ("list", "'task_1.json': expected an object, got a list of 0"),
            ("other", "'task_1/task.json', task_id: expected 'task_1', got 'task_2'"),
            ("nothing", "says nothing of any task of the config set"),
            ("absent.json", "does not exist"),
            ("absent.csv", "does not exist"),
        ):
            with self.subTest(name=name), self.assertRaises(EvaluationFatalError) as raised:
                load_metadata(self.folder / name, TASKS)
            self.assertIn(mention, str(raised.exception))

    def test_beside_what_a_link_to_gold_leads_to(self) -> None:
        # As the configs of the release layout are, it is looked for beside what the link leads to.
        (self.folder / "real/output").mkdir(parents=True)
        self.write("real/input/task_1/task.json", "{}")
        (self.folder / "links").mkdir()
        (self.folder / "links/gold").symlink_to(self.folder / "real/output")
        found = find_metadata(self.folder / "links/gold", TASKS)
        assert found is not None
        self.assertTrue(found.samefile(self.folder / "real/input"))

    def test_the_release_layout_is_found(self) -> None:
        gold = self.folder / "output"
        gold.mkdir()
        self.assertIsNone(find_metadata(gold, TASKS))
        self.write("input/task_99/task.json", "{}")
        self.write("input/task_1/data.csv", "")
        self.assertIsNone(find_metadata(gold, TASKS))
        self.write("input/task_1/task.json", "{}")
        self.assertEqual(find_metadata(gold, TASKS), Path(gold, "..", "input"))

    def test_reads_back_what_it_wrote(self) -> None:
        told = TaskMetadata({"a": True, "b": 1.5}, ("x",), Fraction(2, 3))
        found = Metadata({"task_1": told, "task_2": TaskMetadata()}, {"q": "w"})
        self.assertEqual(Metadata.from_dict(json.loads(json.dumps(found.to_dict()))), found)
        self.assertEqual(found.only(["task_2"]).tasks, {"task_2": TaskMetadata()})


if __name__ == "__main__":
    unittest.main()
