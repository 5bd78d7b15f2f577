"""Dataset-evaluator configs: the hand-written validation against a table of documents and against the schema."""

from __future__ import annotations

import json
import os
import unittest
from typing import Any

from schema_check import accepts, load_schema
from support import BOOLEAN, EXAMPLE, INTEGER, ROOT, TEXT, FolderTestCase, config_document

from evaluation.cells import BooleanRule, NumberRule, Rule, TextRule
from evaluation.configs import load_config_set
from evaluation.dataset_configs import (
    AVERAGES,
    EVALUATOR_TYPES,
    MAX_BETA,
    MAX_CLASSES,
    DatasetEvaluator,
    load_dataset_evaluators,
    read_dataset_evaluator,
)
from evaluation.errors import EvaluationFatalError

SCHEMA = load_schema("dataset_evaluator.schema.json")
SOURCES: dict[str, tuple[Rule, ...]] = {
    "label": (TextRule(),),
    "flag": (BooleanRule(),),
    "both": (NumberRule("integer"), BooleanRule()),
}
BASE: dict[str, Any] = {"id": "e", "type": "f_score", "source": "label"}
REMOVED = object()
MANY = [f"class {number}" for number in range(MAX_CLASSES + 1)]

# Changes to the base document, and what is said of the result (None: it is valid).
CHANGES: tuple[tuple[dict[str, Any], str | None], ...] = (
    ({}, None),
    ({"id": REMOVED}, "id: expected a value, the key is required"),
    ({"type": REMOVED}, "type: expected a value, the key is required"),
    ({"source": REMOVED}, "source: expected a value, the key is required"),
    ({"id": ""}, "id: expected a string that is not blank, got ''"),
    ({"id": " \u3000"}, "id: expected a string that is not blank"),
    ({"id": 1}, "id: expected a string, got 1"),
    ({"id": None}, "id: expected a string, got null"),
    ({"id": "queue=F1 é"}, None),
    ({"type": "f1"}, "type: expected one of precision, recall, f_score, accuracy"),
    ({"type": ["f_score"]}, "got a list of 1"),
    ({"source": 1}, "source: expected a string, got 1"),
    ({"classes": []}, f"classes: expected a list of 1 to {MAX_CLASSES} classes, got a list of 0"),
    ({"classes": MANY[:-1]}, None),
    ({"classes": MANY}, f"got a list of {MAX_CLASSES + 1}"),
    ({"classes": "a"}, "got 'a'"),
    ({"classes": None}, "got null"),
    ({"classes": ["a", 1]}, "classes[1]: expected a string, got 1"),
    ({"classes": ["a", "a"]}, "classes[1]: expected a class that is not the same as 'a', got 'a'"),
    ({"classes": ["a", ""]}, "classes[1]: expected a class, not blank or null, got ''"),
    ({"classes": [" "]}, "classes[0]: expected a class, not blank or null, got ' '"),
    ({"classes": ["a", "A"]}, None),
    ({"classes": ["k" * 1000]}, None),
    ({"classes": ["k" * 1001]}, "classes[0]: expected a class of at most 1000 characters"),
    ({"positive_class": "k" * 1001}, "positive_class: expected a class of at most 1000 characters"),
    ({"average": "macro"}, None),
    ({"average": "micro"}, None),
    ({"average": "weighted"}, None),
    ({"average": "binary"}, "average: expected one of macro, micro, weighted, got 'binary'"),
    ({"average": None}, "average: expected one of macro, micro, weighted, got null"),
    ({"positive_class": "a"}, None),
    ({"positive_class": ""}, "positive_class: expected a class, not blank or null, got ''"),
    ({"positive_class": None}, "positive_class: expected a string, got null"),
    ({"positive_class": "a", "average": "macro"}, "average: expected no such key beside positive_class"),
    ({"type": "accuracy", "average": "macro"}, "average: expected no such key for type accuracy, got 'macro'"),
    ({"type": "matthews", "positive_class": "a"}, "positive_class: expected no such key for type matthews"),
    ({"type": "recall", "positive_class": "a"}, None),
    ({"type": "precision", "average": "micro"}, None),
    ({"type": "cohen_kappa"}, None),
    ({"type": "confusion_matrix"}, None),
    ({"beta": 0}, f"beta: expected a number above 0 and up to {MAX_BETA}, got 0"),
    ({"beta": -1}, "got -1"),
    ({"beta": 1e-300}, None),
    ({"beta": MAX_BETA}, None),
    ({"beta": MAX_BETA + 0.001}, "got 1000.001"),
    ({"beta": True}, "beta: expected a number above 0 and up to 1000, got true"),
    ({"beta": "1"}, "got '1'"),
    ({"case_sensitive": False}, None),
    ({"case_sensitive": 0}, "case_sensitive: expected true or false, got 0"),
    ({"zero_division": 1}, None),
    ({"zero_division": 1.0}, None),
    ({"zero_division": 0.5}, "zero_division: expected an integer from 0 to 1, got 0.5"),
    ({"zero_division": True}, "got true"),
    ({"zero_division": None}, "got null"),
    ({"out_of_vocabulary_predicted": "skip"}, None),
    ({"out_of_vocabulary_predicted": "count"}, "expected one of miss, skip, got 'count'"),
    ({"out_of_vocabulary_expected": "skip"}, None),
    ({"out_of_vocabulary_expected": "miss"}, "expected one of count, skip, got 'miss'"),
    ({"missing": "miss"}, None),
    ({"missing": False}, "missing: expected one of miss, skip, got false"),
    ({"Beta": 2}, "expected only the keys id, type, source, classes"),
)

# What a schema cannot say, because it depends on the benchmark or on how labels are compared.
BEYOND: tuple[tuple[dict[str, Any], str], ...] = (
    ({"source": "labels"}, "source: expected a gold_name that the task configs have, once per task, such as 'label'"),
    ({"classes": ["a", "A"], "case_sensitive": False}, "classes[1]: expected a class that is not the same as 'a'"),
    ({"classes": ["straße", "STRASSE"], "case_sensitive": False}, "not the same as 'straße'"),
    ({"classes": ["a", " a "]}, "not the same as 'a'"),
    ({"classes": ["\u00e9", "e\u0301"]}, "not the same as '\u00e9'"),
    ({"classes": ["a", "b"], "positive_class": "c"}, "positive_class: expected one of the classes, got 'c'"),
    ({"classes": ["a"], "positive_class": "A"}, "positive_class: expected one of the classes, got 'A'"),
    (
        {"source": "flag", "classes": ["yes", "perhaps"]},
        "classes[1]: expected a value of the source column; this is not",
    ),
    ({"source": "flag", "classes": ["yes", "1"]}, "not the same as 'true'"),
    ({"source": "flag", "classes": ["null"]}, "not blank or null, got 'null'"),
    ({"source": "both", "classes": ["1"]}, "expected a class that all tasks with the source column read alike"),
    ({"id": "\ud800"}, "id: expected a string without half a surrogate pair, got '\\ud800'"),
    ({"classes": ["a", "\udc00"]}, "classes[1]: expected a string without half"),
)


def changed(changes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in {**BASE, **changes}.items() if value is not REMOVED}


def read(document: Any, name: str = "e.json") -> DatasetEvaluator:
    return read_dataset_evaluator(json.dumps(document).encode(), name, SOURCES)


class ReadTest(unittest.TestCase):
    def test_documents(self) -> None:
        for changes, message in CHANGES:
            document = changed(changes)
            with self.subTest(changes=str(changes)[:100]):
                self.assertEqual(accepts(SCHEMA, document), message is None)
                if message is None:
                    read(document)
                    continue
                with self.assertRaises(EvaluationFatalError) as caught:
                    read(document)
                self.assertTrue(str(caught.exception).startswith("dataset evaluator 'e.json'"), caught.exception)
                self.assertIn(message, str(caught.exception))

    def test_faults_beyond_the_schema(self) -> None:
        for changes, message in BEYOND:
            document = changed(changes)
            with self.subTest(changes=changes):
                self.assertTrue(accepts(SCHEMA, document))
                with self.assertRaises(EvaluationFatalError) as caught:
                    read(document)
                self.assertIn(message, str(caught.exception))

    def test_not_an_object(self) -> None:
        for data, message in (
            (b"[]", "expected an object, got a list of 0"),
            (b"{", "is not JSON (line 1, column 2"),
            (b"\xff", "is not UTF-8"),
            (b'{"id": "a", "id": "b"}', "has the key 'id' twice"),
            (b'{"beta": NaN}', "holds NaN"),
            (b"[" * 100_000, "is nested too deeply"),
        ):
            with self.subTest(data=data[:30]), self.assertRaises(EvaluationFatalError) as caught:
                read_dataset_evaluator(data, "e.json", SOURCES)
            self.assertIn(message, str(caught.exception))

    def test_defaults(self) -> None:
        expected = DatasetEvaluator("e", "f_score", "label", average="macro")
        self.assertEqual(read(BASE), expected)
        self.assertIsNone(read({**BASE, "type": "accuracy"}).average)
        self.assertIsNone(read({**BASE, "positive_class": "a"}).average)

    def test_the_schema_lists_what_there_is(self) -> None:
        properties = SCHEMA["properties"]
        self.assertEqual(tuple(properties["type"]["enum"]), EVALUATOR_TYPES)
        self.assertEqual(tuple(properties["average"]["enum"]), AVERAGES)
        self.assertEqual(properties["beta"]["maximum"], MAX_BETA)

    def test_classes_are_canonical(self) -> None:
        self.assertEqual(read({**BASE, "classes": [" b ", "a"]}).classes, ("b", "a"))
        self.assertEqual(read({**BASE, "source": "flag", "classes": ["否", "YES"]}).classes, ("false", "true"))
        self.assertEqual(read({**BASE, "source": "both", "classes": ["5.0"]}).classes, ("5",))
        evaluator = read({**BASE, "classes": ["Book"], "positive_class": "bOOK", "case_sensitive": False})
        self.assertEqual(evaluator.positive_class, "Book")

    def test_beta_is_the_decimal_that_was_written(self) -> None:
        self.assertEqual(read({**BASE, "beta": 0.1}).exact_beta * 10, 1)


class SetTest(FolderTestCase):
    def test_the_bundled_evaluators(self) -> None:
        sources = load_config_set(ROOT / "configs").label_sources
        found = load_dataset_evaluators(EXAMPLE / "dataset_evaluators", sources)
        self.assertEqual([evaluator.id for evaluator in found.evaluators], ["queue_f1", "refund_recall"])
        for evaluator in found.evaluators:
            document = json.loads((EXAMPLE / "dataset_evaluators" / evaluator.file).read_text(encoding="utf-8"))
            self.assertTrue(accepts(SCHEMA, document), evaluator.id)

    def test_label_sources(self) -> None:
        for number, columns in enumerate(
            (
                [{**TEXT, "gold_name": "label"}, {**TEXT, "gold_name": "twice"}, {**TEXT, "gold_name": "twice"}],
                [{**INTEGER, "gold_name": "label"}, {**TEXT, "gold_name": "twice"}],
                [{**BOOLEAN, "gold_name": "label"}, {**INTEGER, "gold_name": "other"}],
                [{**TEXT, "gold_name": "label"}],
            ),
            start=1,
        ):
            self.write(f"task_{number}.json", json.dumps(config_document(columns, f"task_{number}")))
        integer = NumberRule("integer")
        self.assertEqual(
            load_config_set(self.folder).label_sources,
            {"label": (TextRule(), integer, BooleanRule()), "other": (integer,)},
        )

    @unittest.skipUnless(hasattr(os, "mkfifo"), "needs named pipes")
    def test_a_named_pipe_does_not_hang(self) -> None:
        os.mkfifo(self.folder / "e.json")
        for path in (self.folder, self.folder / "e.json"):
            with self.assertRaisesRegex(EvaluationFatalError, "'e.json' is a named pipe, not a regular file"):
                load_dataset_evaluators(path, SOURCES)

    def test_a_path_that_cannot_be(self) -> None:
        for name in ("a" * 300, "nowhere", "loop"):
            with self.subTest(name=name[:10]), self.assertRaises(EvaluationFatalError):
                (self.folder / "loop").unlink(missing_ok=True)
                (self.folder / "loop").symlink_to("loop")
                load_dataset_evaluators(self.folder / name, SOURCES)

    def test_a_name_that_is_not_utf8(self) -> None:
        try:
            self.write("e\udcff.json", json.dumps(BASE))
        except (OSError, UnicodeEncodeError):
            self.skipTest("the file system takes UTF-8 names only")
        self.assertEqual(len(load_dataset_evaluators(self.folder, SOURCES).sha256), 64)
        self.write("f\udcff.json", json.dumps(BASE))
        with self.assertRaisesRegex(EvaluationFatalError, r"'f\\udcff.json', id: expected an id of its own"):
            load_dataset_evaluators(self.folder, SOURCES)


if __name__ == "__main__":
    unittest.main()
