"""Configs: the hand-written validation against a table of documents and against the schema, and the config set."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import unittest
from typing import Any

from schema_check import accepts, load_schema
from support import DATE, INTEGER, ROOT, TEXT, FolderTestCase, config_document, decimal_places

from evaluation.cells import MAX_DIGITS, NUMBER_MODES, NUMBER_UNITS, RULES, NumberRule, TextRule
from evaluation.configs import (
    MAX_COLUMNS,
    ColumnSpec,
    TaskConfig,
    default_config_root,
    hash_config_set,
    load_config_set,
    load_configs,
    load_task_config,
    read_task_config,
)
from evaluation.errors import EvaluationFatalError

SCHEMA = load_schema("task_config.schema.json")
BASE = config_document([TEXT, decimal_places(2, unit="fraction", allow_percent_sign=True), INTEGER, DATE])
REMOVED = object()
MANY = [{"gold_index": i, "gold_name": "", "type": "text"} for i in range(65)]

# One row per rule of the schema, and around it: where the base document is changed, to what, and what is said of it
# (None: the document stays valid).
CHANGES: tuple[tuple[str, Any, str | None], ...] = (
    ("schema_version", "1.1", None),
    ("schema_version", "1.2", "expected one of 1.0, 1.1, got '1.2'"),
    ("schema_version", 1.0, "expected one of 1.0, 1.1, got 1.0"),
    ("schema_version", REMOVED, "schema_version: expected a value, the key is required"),
    ("task_id", REMOVED, "task_id: expected a value, the key is required"),
    ("task_id", 1, "task_id: expected a string task_N"),
    ("task_id", "task_01", "without leading zeros, got 'task_01'"),
    ("task_id", "task_", "got 'task_'"),
    ("task_id", "Task_1", "got 'Task_1'"),
    ("task_id", "task_1\n", "got 'task_1\\x0a'"),
    ("task_id", " task_1", "got ' task_1'"),
    ("task_id", "task_١", "got 'task_١'"),
    ("task_id", ["task_1"], "got a list of 1"),
    ("order_sensitive", True, None),
    ("order_sensitive", 0, "order_sensitive: expected true or false, got 0"),
    ("order_sensitive", "false", "got 'false'"),
    ("order_sensitive", None, "got null"),
    ("order_sensitive", REMOVED, "the key is required"),
    ("columns", REMOVED, "the key is required"),
    ("columns", [], "expected a list of 1 to 64 columns, got a list of 0"),
    ("columns", {}, "got an object"),
    ("columns", None, "got null"),
    ("columns", MANY[:64], None),
    ("columns", MANY, "got a list of 65"),
    ("columns", MANY[1:3], "columns[0].gold_index: expected 0, the column's position, got 1"),
    ("columns", ["text"], "columns[0]: expected an object, got 'text'"),
    ("note", "hello", "expected only the keys schema_version, task_id, order_sensitive, columns, got 'note'"),
    ("columns.0.gold_index", 0.0, None),
    ("columns.0.gold_index", -0.0, None),
    ("columns.0.gold_index", 1, "columns[0].gold_index: expected 0"),
    ("columns.0.gold_index", False, "columns[0].gold_index: expected an integer from 0 to 63, got false"),
    ("columns.0.gold_index", "0", "got '0'"),
    ("columns.0.gold_index", -1, "got -1"),
    ("columns.0.gold_index", 0.5, "got 0.5"),
    ("columns.0.gold_index", REMOVED, "columns[0].gold_index: expected a value"),
    ("columns.1.gold_index", 0, "columns[1].gold_index: expected 1"),
    ("columns.0.gold_name", "", None),
    ("columns.0.gold_name", "地区\n\"'", None),
    ("columns.0.gold_name", 7, "columns[0].gold_name: expected a string, got 7"),
    ("columns.0.gold_name", None, "got null"),
    ("columns.0.gold_name", REMOVED, "columns[0].gold_name: expected a value"),
    ("columns.0.type", "boolean", None),
    ("columns.0.type", "datetime", None),
    ("columns.0.type", "Text", "expected one of text, number, date, datetime, boolean, got 'Text'"),
    ("columns.0.type", ["text"], "got a list of 1"),
    ("columns.0.type", {"a": 1}, "got an object"),
    ("columns.0.type", REMOVED, "columns[0].type: expected a value"),
    ("columns.0.type", "number", "columns[0].comparison: expected a comparison, required for type number, got nothing"),
    ("columns.0.width", 1, "columns[0]: expected only the keys"),
    ("columns.0.comparison", {"mode": "integer"}, "columns[0].comparison: expected no such key for type text"),
    ("columns.0.comparison", None, "columns[0].comparison: expected no such key for type text, got null"),
    ("columns.0.unit", "plain", "columns[0].unit: expected no such key for type text"),
    ("columns.3.allow_percent_sign", False, "columns[3].allow_percent_sign: expected no such key for type date"),
    ("columns.1.comparison", REMOVED, "columns[1].comparison: expected a comparison"),
    ("columns.1.comparison", "integer", "columns[1].comparison: expected an object, got 'integer'"),
    ("columns.1.comparison", {}, "columns[1].comparison.mode: expected a value"),
    ("columns.1.comparison", {"mode": "integer"}, None),
    ("columns.1.comparison", {"mode": "significant_digits", "digits": 0}, None),
    ("columns.1.comparison.mode", "rounded", "expected one of integer, decimal_places, significant_digits"),
    ("columns.1.comparison.mode", ["integer"], "got a list of 1"),
    ("columns.1.comparison.mode", "integer", "columns[1].comparison.digits: expected no such key for mode integer"),
    ("columns.1.comparison.tolerance", 1, "columns[1].comparison: expected only the keys mode, digits"),
    (
        "columns.1.comparison.digits",
        REMOVED,
        "columns[1].comparison.digits: expected an integer from 0 to 30, required",
    ),
    ("columns.1.comparison.digits", 30, None),
    ("columns.1.comparison.digits", 3.0, None),
    ("columns.1.comparison.digits", 31, "expected an integer from 0 to 30, got 31"),
    ("columns.1.comparison.digits", -1, "got -1"),
    ("columns.1.comparison.digits", 2.5, "got 2.5"),
    ("columns.1.comparison.digits", True, "got true"),
    ("columns.1.comparison.digits", "2", "got '2'"),
    ("columns.1.comparison.digits", None, "got null"),
    ("columns.1.unit", "percentage_points", None),
    ("columns.1.unit", REMOVED, None),
    ("columns.1.unit", "percent", "expected one of plain, percentage_points, fraction, got 'percent'"),
    ("columns.1.unit", None, "got null"),
    ("columns.1.allow_percent_sign", False, None),
    ("columns.1.allow_percent_sign", REMOVED, None),
    ("columns.1.allow_percent_sign", 1, "columns[1].allow_percent_sign: expected true or false, got 1"),
    ("columns.2.comparison.digits", 0, "columns[2].comparison.digits: expected no such key for mode integer, got 0"),
)
# Whole documents that are no objects, valid JSON all the same.
NO_OBJECTS: tuple[Any, ...] = (None, True, 1, "task_1", [], [BASE])


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the base document with the value at a dotted path replaced, added or removed."""
    document = copy.deepcopy(BASE)
    *parents, last = path.split(".")
    target: Any = document
    for key in parents:
        target = target[int(key) if key.isdigit() else key]
    if value is REMOVED:
        del target[last]
    else:
        target[last] = value
    return document


class ReadTaskConfigTest(unittest.TestCase):
    def fault(self, data: bytes, name: str = "task_1.json") -> str | None:
        """Return what is said of a config file, None when it is read."""
        try:
            read_task_config(data, name)
        except EvaluationFatalError as error:
            return str(error)
        return None

    def test_the_base_document_is_valid(self) -> None:
        self.assertIsNone(self.fault(json.dumps(BASE).encode()))

    def test_table_of_documents(self) -> None:
        for path, value, expected in CHANGES:
            with self.subTest(path=path, value=str(value)[:60]):
                document = changed(path, value)
                fault = self.fault(json.dumps(document).encode())
                if expected is None:
                    self.assertIsNone(fault)
                else:
                    self.assertIn(expected, fault or "(accepted)")
                    self.assertIn("config 'task_1.json'", fault or "")
                self.assertEqual(accepts(SCHEMA, document), expected is None, "the schema says otherwise")
        for value in NO_OBJECTS:
            with self.subTest(value=value):
                self.assertIn("expected an object", self.fault(json.dumps(value).encode()) or "")
                self.assertFalse(accepts(SCHEMA, value))

    def test_the_schema_names_the_same_words(self) -> None:
        column, comparison = SCHEMA["$defs"]["column"], SCHEMA["$defs"]["comparison"]
        self.assertEqual(column["properties"]["type"]["enum"], list(RULES))
        self.assertEqual(column["properties"]["unit"]["enum"], list(NUMBER_UNITS))
        self.assertEqual(comparison["properties"]["mode"]["enum"], list(NUMBER_MODES))
        self.assertEqual(comparison["properties"]["digits"]["maximum"], MAX_DIGITS)
        self.assertEqual(SCHEMA["properties"]["columns"]["maxItems"], MAX_COLUMNS)
        self.assertEqual(len(SCHEMA["$defs"]["gold_indices_in_order"]["prefixItems"]), MAX_COLUMNS)

    def test_faults_that_a_schema_cannot_see(self) -> None:
        text = json.dumps(BASE)
        for data, expected in (
            (b"", "is not JSON (line 1, column 1"),
            (text.encode() + b"}", "is not JSON"),
            (text.replace(": ", " ", 1).encode(), "is not JSON"),
            (text.encode("utf-16"), "is not UTF-8 (byte 0)"),
            (b"\xef\xbb\xbf" + text.encode(), "is not JSON"),
            (text.replace('"c0"', '"\xff"').encode("latin-1"), "is not UTF-8"),
            (text.replace('"order_sensitive"', '"task_id": "task_1", "order_sensitive"').encode(), "'task_id' twice"),
            (text.replace('"mode": "integer"', '"mode": "integer", "mode": "integer"').encode(), "'mode' twice"),
            (text.replace("false", "NaN", 1).encode(), "holds NaN"),
            (text.replace("false", "-Infinity", 1).encode(), "holds -Infinity"),
            (text.replace("false", "9" * 5000, 1).encode(), "holds an integer of 5000 characters"),
            (text.replace("false", "1e999", 1).encode(), "expected true or false, got Infinity"),
            (b"[" * 200_000, "is nested too deeply"),
        ):
            with self.subTest(expected=expected):
                self.assertIn(expected, self.fault(data) or "(accepted)")
        self.assertIn("the file's own name 'task_2', got 'task_1'", self.fault(text.encode(), "task_2.json") or "")

    def test_what_is_read(self) -> None:
        config = read_task_config(json.dumps(changed("columns.1.comparison.digits", 2.0)).encode(), "task_1.json")
        assert isinstance(config, TaskConfig)
        self.assertEqual((config.task_id, config.order_sensitive), ("task_1", False))
        self.assertEqual(
            list(config.columns[:3]),
            [
                ColumnSpec(0, "c0", "text"),
                ColumnSpec(1, "c1", "number", "decimal_places", 2, True, "fraction"),
                ColumnSpec(2, "c2", "number", "integer"),
            ],
        )
        self.assertIs(type(config.columns[1].comparison_digits), int)


class ColumnSpecTest(unittest.TestCase):
    def test_rule(self) -> None:
        spec = ColumnSpec(0, "share", "number", "decimal_places", 2, True, "fraction")
        self.assertEqual(spec.rule, NumberRule("decimal_places", 2, True, "fraction"))
        self.assertEqual(ColumnSpec(1, "name", "text").rule, TextRule())

    def test_a_spec_that_makes_no_rule_is_fatal(self) -> None:
        for spec, expected in (
            (ColumnSpec(0, "a", "money"), "column 0 'a': expected one of text, number, date"),
            (ColumnSpec(0, "a", "number"), "comparison mode, got None"),
            (ColumnSpec(0, "a", "number", "decimal_places", 31), "0 to 30 comparison digits, got 31"),
            (ColumnSpec(0, "a", "number", "integer", numeric_unit="percent"), "as unit, got 'percent'"),
        ):
            with self.subTest(spec=spec), self.assertRaisesRegex(EvaluationFatalError, expected):
                _ = spec.rule


class TaskConfigTest(unittest.TestCase):
    def test_columns_must_be_in_gold_order(self) -> None:
        first, second = ColumnSpec(0, "a", "text"), ColumnSpec(1, "b", "text")
        TaskConfig("task_1", False, [first, second])
        for columns in ([], [second], [second, first], [first, first]):
            with self.subTest(columns=columns), self.assertRaisesRegex(EvaluationFatalError, "columns 0, 1, 2"):
                TaskConfig("task_1", False, columns)


class ConfigSetTest(FolderTestCase):
    def add(self, task_id: str, name: str | None = None) -> bytes:
        data = json.dumps(config_document([TEXT], task_id)).encode()
        self.write(f"configs/{name or task_id + '.json'}", data)
        return data

    def test_number_order_and_digest(self) -> None:
        contents = {task_id: self.add(task_id) for task_id in ("task_10", "task_9", "task_100", "task_0")}
        self.write("configs/README.md", "not a config")
        self.write("configs/dataset_evaluators/task_7.json", "not a config")
        config_set = load_config_set(self.folder / "configs")
        order = ["task_0", "task_9", "task_10", "task_100"]
        self.assertEqual([config.task_id for config in config_set.configs], order)
        expected = hashlib.sha256(b"".join(f"{name}.json".encode() + b"\0" + contents[name] + b"\0" for name in order))
        self.assertEqual(config_set.sha256, expected.hexdigest())
        self.assertEqual(hash_config_set(self.folder / "configs"), expected.hexdigest())
        self.assertEqual(load_configs(self.folder / "configs"), list(config_set.configs))

    def test_faulty_sets(self) -> None:
        for name, expected in (
            ("task_foo.json", "expected a name task_N.json"),
            ("task_01.json", "got 'task_01.json'"),
            ("task_2.json", "expected the file's own name 'task_2', got 'task_1'"),
        ):
            with self.subTest(name=name):
                self.add("task_1", name)
                with self.assertRaisesRegex(EvaluationFatalError, expected):
                    load_config_set(self.folder / "configs")
                (self.folder / "configs" / name).unlink()
        with self.assertRaisesRegex(EvaluationFatalError, "holds no task_"):
            load_config_set(self.folder / "configs")
        with self.assertRaisesRegex(EvaluationFatalError, "cannot be listed"):
            load_config_set(self.folder / "nowhere")
        (self.folder / "configs" / "task_1.json").mkdir()
        with self.assertRaisesRegex(EvaluationFatalError, "'task_1.json' is a directory"):
            load_config_set(self.folder / "configs")

    @unittest.skipUnless(hasattr(os, "mkfifo"), "needs named pipes")
    def test_a_named_pipe_does_not_hang(self) -> None:
        (self.folder / "configs").mkdir()
        os.mkfifo(self.folder / "configs" / "task_1.json")
        with self.assertRaisesRegex(EvaluationFatalError, "is a named pipe, not a regular file"):
            load_config_set(self.folder / "configs")

    def test_a_linked_config_is_read(self) -> None:
        data = self.add("task_1", "elsewhere.json")
        (self.folder / "configs" / "task_1.json").symlink_to("elsewhere.json")
        self.assertEqual(
            load_task_config(self.folder / "configs" / "task_1.json"), read_task_config(data, "task_1.json")
        )
        self.assertIsInstance(load_configs(self.folder / "configs")[0], TaskConfig)
        with self.assertRaisesRegex(EvaluationFatalError, "'task_2.json' does not exist"):
            load_task_config(self.folder / "configs" / "task_2.json")

    def test_default_root(self) -> None:
        gold_root = self.folder / "release" / "output"
        gold_root.mkdir(parents=True)
        self.assertEqual(default_config_root(gold_root), ROOT / "configs")
        (self.folder / "release" / "evaluation" / "configs").mkdir(parents=True)
        self.assertEqual(default_config_root(gold_root), (self.folder / "release/evaluation/configs").resolve())

    def test_the_bundled_set_is_valid_under_the_schema(self) -> None:
        configs = load_configs(ROOT / "configs")
        self.assertGreaterEqual(len(configs), 8)
        for config in configs:
            document = json.loads((ROOT / "configs" / f"{config.task_id}.json").read_text(encoding="utf-8"))
            self.assertTrue(accepts(SCHEMA, document), config.task_id)


if __name__ == "__main__":
    unittest.main()
