"""The floors: a module imports strictly lower floors only, and nothing outside the standard library."""

from __future__ import annotations

import ast
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path

from support import ROOT

PACKAGE = ROOT / "evaluation"
FLOORS = {
    "__init__": -1,
    "errors": 0,
    "exact": 0,
    "exit_status": 0,
    "iso8601": 0,
    "check_results": 0,
    "kinds": 0,
    "matching": 0,
    "typed": 0,
    "findings": 1,
    "cells": 1,
    "chain_syntax": 1,
    "estimators": 1,
    "files": 1,
    "mapping": 1,
    "metrics": 1,
    "patterns": 1,
    "confusion": 1,
    "strict_json": 1,
    "summary_evaluations": 1,
    "streams": 1,
    "tables": 1,
    "workers": 1,
    "answers": 2,
    "foreign_code": 2,
    "shapes": 3,
    "chain_functions": 4,
    "chains": 5,
    "check_comparisons": 5,
    "text_forms": 6,
    "checks": 7,
    "check_configs": 8,
    "check_plugins": 8,
    "configs": 9,
    "dataset_configs": 9,
    "results": 9,
    "archives": 9,
    "columns": 9,
    "paired": 9,
    "readings": 9,
    "value_changes": 9,
    "classification": 10,
    "comparison": 10,
    "metadata": 10,
    "nearest": 10,
    "plugins": 10,
    "row_matching": 10,
    "submissions": 10,
    "task_files": 11,
    "diagnosis": 11,
    "breakdown": 11,
    "runs": 11,
    "form_changes": 12,
    "summary": 12,
    "assembly": 13,
    "bars": 13,
    "leaderboard": 13,
    "near_misses": 13,
    "summary_comparison": 13,
    "summary_files": 13,
    "scoring": 14,
    "check_scoring": 12,
    "runner": 16,
    "suite": 17,
    "reports": 18,
    "arguments": 19,
    "score_arguments": 20,
    "compare_command": 21,
    "leaderboard_command": 21,
    "merge_command": 21,
    "report_command": 21,
    "score_command": 21,
    "cli": 22,
    "__main__": 23,
}
# What newer Pythons than some that are supported have in theirs.
NEWER_STANDARD_LIBRARY = {"annotationlib"}
MOST_MODULE_LINES = 400
MOST_FUNCTION_LINES = 50


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def floor_name(path: Path) -> str:
    """Return the key of `FLOORS` for a module: its own name, or its sub-package's."""
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield level, module and name of every import in a module; plain imports have level 0 and no name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.level, node.module or "", alias.name) for alias in node.names)


class ArchitectureTest(unittest.TestCase):
    def test_every_module_has_a_floor(self) -> None:
        self.assertEqual(sorted({floor_name(path) for path in modules()}), sorted(FLOORS))

    def test_imports_go_strictly_down(self) -> None:
        for path in modules():
            depth = len(path.relative_to(PACKAGE).parts)
            for level, module, name in imports(path):
                if level == 0:
                    continue
                with self.subTest(module=str(path.relative_to(ROOT)), imported=module or name):
                    if level < depth:
                        self.assertEqual(floor_name(path), "reports", "only reports has neighbours of its own")
                        continue
                    target = module.split(".")[0] or (name if name in FLOORS else "__init__")
                    self.assertLess(FLOORS[target], FLOORS[floor_name(path)])

    def test_nothing_outside_the_standard_library(self) -> None:
        for path in [ROOT / "evaluate.py", *modules(), *sorted((ROOT / "tests").glob("*.py"))]:
            own = {"evaluation", "evaluate", *(test.stem for test in (ROOT / "tests").glob("*.py"))}
            for level, module, _ in imports(path):
                if level == 0:
                    with self.subTest(module=path.name, imported=module):
                        self.assertIn(module.split(".")[0], own | sys.stdlib_module_names | NEWER_STANDARD_LIBRARY)

    def test_modules_and_functions_stay_small(self) -> None:
        for path in modules():
            text = path.read_text(encoding="utf-8")
            with self.subTest(module=path.name):
                self.assertLessEqual(len(text.splitlines()), MOST_MODULE_LINES)
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef):
                    with self.subTest(module=path.name, function=node.name):
                        self.assertLessEqual((node.end_lineno or 0) - node.lineno + 1, MOST_FUNCTION_LINES)


if __name__ == "__main__":
    unittest.main()
