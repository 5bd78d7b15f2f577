"""`evaluate.py` as a library: loaded by its path, from another folder, by a program that has modules of its own."""

from __future__ import annotations

import subprocess
import sys
import unittest

from support import ROOT, FolderTestCase, environment

PROGRAM = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("scorer", sys.argv[1])
scorer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scorer)
config = scorer.TaskConfig(
    task_id="task_1",
    order_sensitive=False,
    columns=[
        scorer.ColumnSpec(gold_index=0, gold_name="city", type="text"),
        scorer.ColumnSpec(gold_index=1, gold_name="share", type="number", comparison_mode="decimal_places",
                          comparison_digits=2, allow_percent_sign=True, numeric_unit="fraction"),
    ],
)
result = scorer.evaluate_task(config=config, prediction_path="prediction.csv", gold_path="gold.csv")
import tests_of_the_host
print(json.dumps([result.passed, result.error_code, result.column_mapping, tests_of_the_host.NAME, sys.path[0]]))
"""


class FacadeTest(FolderTestCase):
    def test_loaded_by_path(self) -> None:
        self.write("gold.csv", "city,share\nRome,0.25\nOslo,0.5\n")
        self.write("prediction.csv", "s,c\n50%,Oslo\n25%,Rome\n")
        self.write("tests_of_the_host.py", "NAME = 'host'\n")
        program = self.write("program.py", PROGRAM)
        done = subprocess.run(
            [sys.executable, str(program), str(ROOT / "evaluate.py")],
            cwd=self.folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        mapping = '[{"gold_index": 0, "prediction_index": 1}, {"gold_index": 1, "prediction_index": 0}]'
        self.assertEqual(done.stdout, f'[true, null, {mapping}, "host", "{self.folder}"]\n')

    def test_public_names(self) -> None:
        import evaluate

        for name in (
            *(
                "ColumnSpec",
                "TaskConfig",
                "CheckTaskConfig",
                "load_plugins",
                "TaskEvaluationResult",
                "evaluate_task",
                "evaluate_suite",
                "load_task_config",
            ),
            *("load_configs", "hash_config_set", "EvaluationFatalError", "PredictionFormatError", "main"),
        ):
            with self.subTest(name=name):
                self.assertIn(name, evaluate.__all__)
                self.assertTrue(hasattr(evaluate, name))


if __name__ == "__main__":
    unittest.main()
