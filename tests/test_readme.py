"""What the README says is so: its commands run, its example is the example, its tables name what there is."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import unittest

from schema_check import load_schema
from support import ROOT, FolderTestCase, environment, run_cli

from evaluation.answers import MOST_DEPTH, MOST_DIGITS
from evaluation.chain_functions import FUNCTIONS, MOST_WORK
from evaluation.check_comparisons import COMPARISONS, MOST_SIMILAR_CHARACTERS
from evaluation.check_configs import CHECK_KEYS
from evaluation.classification import SKIP_REASONS
from evaluation.configs import read_task_config
from evaluation.dataset_configs import EVALUATOR_TYPES, MAX_LABEL_CHARACTERS
from evaluation.errors import EvaluationFatalError
from evaluation.mapping import DEFAULT_BUDGET
from evaluation.patterns import MOST_INSTRUCTIONS
from evaluation.plugins import PARAMETERS
from evaluation.results import ERROR_CODES

README = (ROOT / "README.md").read_text(encoding="utf-8")
RULES = (ROOT / "evaluation" / "README.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    return [line for block in re.findall(r"^```sh\n(.*?)^```", README, re.S | re.M) for line in block.splitlines()]


class CommandTest(FolderTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.copy = self.folder / "project"
        shutil.copytree(ROOT, self.copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "evaluation_summary*.json"))

    def run_command(self, command: str, *more: str) -> subprocess.CompletedProcess[str]:
        program, *arguments = shlex.split(command)
        self.assertEqual(program, "python3")
        return subprocess.run(
            [sys.executable, *arguments, *more],
            cwd=self.copy,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def test_the_first_command_scores_the_example(self) -> None:
        done = self.run_command(commands()[0])
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = re.search(r"^```\n(Task accuracy: .*\n)```", README, re.M)
        assert shown is not None
        self.assertTrue(done.stdout.startswith(shown[1]), done.stdout)
        self.assertTrue((self.copy / "tests/example/predictions/evaluation_summary.json").is_file())

    def test_the_second_command_runs_the_dataset_level_pass(self) -> None:
        done = self.run_command(commands()[1])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for line in ("  queue_f1  0.7111  macro f_score of 'queue'", "  first_row_agreement  0.43"):
            self.assertIn(line, done.stdout)

    def test_the_third_command_scores_two_runs(self) -> None:
        done = self.run_command(commands()[2])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for line in ("  predictions   11/22    50.0 %", "By difficulty:", "  hard", "|runs:2|threshold:1/2"):
            self.assertIn(line, done.stdout)

    def test_the_test_command_finds_the_tests(self) -> None:
        command = commands()[-1]
        self.assertEqual(command, "python3 -m unittest discover -s tests")
        # One module of them: all would run this test again, without end.
        done = self.run_command(command, "-p", "test_architecture.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"Ran [1-9]\d* tests?")

    def test_python_example(self) -> None:
        block = re.search(r"^```python\n(.*?)^```", README, re.S | re.M)
        assert block is not None
        program = self.copy / "program.py"
        program.write_text(block[1], encoding="utf-8")
        for name in ("prediction.csv", "gold.csv"):
            (self.copy / name).write_text("city,share\nOslo,0.5\n", encoding="utf-8")
        done = self.run_command("python3 program.py")
        self.assertEqual(
            done.stdout,
            "True None " + str([{"gold_index": i, "prediction_index": i} for i in (0, 1)]) + "\n",
            done.stderr,
        )

    def test_every_command_is_tested_here(self) -> None:
        self.assertEqual(len(commands()), 4)


class ContentTest(unittest.TestCase):
    def test_options(self) -> None:
        usage = run_cli("--help")[1]
        options = set(re.findall(r"--[a-z-]+", usage)) - {"--h"}
        for option in options:
            with self.subTest(option=option):
                self.assertIn(f"`{option}", README)

    def test_error_codes(self) -> None:
        for text in (README, RULES):
            places = [text.index(f"`{code}`") for code in ERROR_CODES]
            self.assertEqual(places, sorted(places))

    def test_budget(self) -> None:
        self.assertIn(f"{DEFAULT_BUDGET:,} cells", RULES)

    def test_the_config_shown_is_the_one_bundled(self) -> None:
        block = re.search(r"^```json\n(.*?)^```", RULES, re.S | re.M)
        assert block is not None
        self.assertEqual(block[1], (ROOT / "configs" / "task_3.json").read_text(encoding="utf-8"))

    def test_the_dataset_evaluator_shown_is_the_one_bundled(self) -> None:
        checks, evaluator = re.findall(r"^```json\n(.*?)^```", README, re.S | re.M)
        bundled = ROOT / "tests" / "example" / "dataset_evaluators" / "queue_f1.json"
        self.assertEqual(evaluator, bundled.read_text(encoding="utf-8"))
        self.assertEqual(checks, (ROOT / "configs" / "task_22.json").read_text(encoding="utf-8"))

    def test_checks(self) -> None:
        rules = RULES[RULES.index("## Answers that are no tables") :]
        for name in (*FUNCTIONS, *COMPARISONS):
            with self.subTest(name=name):
                self.assertRegex(rules, rf"(?m)^\|[^|]*`{re.escape(name)}(?:\(\w+\))?`")
        for key in CHECK_KEYS:
            self.assertIn(f"`{key}`", rules)
        for number in (MOST_WORK, MOST_DIGITS, MOST_SIMILAR_CHARACTERS, MOST_INSTRUCTIONS):
            self.assertIn(f"{number:,}", rules)
        self.assertIn(f"nested at most {MOST_DEPTH} deep", " ".join(rules.split()))

    def test_the_fault_of_a_chain_is_as_it_is_shown(self) -> None:
        block = re.search(r"^```\n(config .*?)^```", README, re.S | re.M)
        assert block is not None
        config = (ROOT / "configs" / "task_22.json").read_text(encoding="utf-8").replace("lower", "lowr")
        with self.assertRaises(EvaluationFatalError) as caught:
            read_task_config(config.encode(), "task_22.json")
        self.assertEqual(f"{caught.exception}\n", block[1])

    def test_dataset_evaluators(self) -> None:
        for key in load_schema("dataset_evaluator.schema.json")["properties"]:
            self.assertIn(f"`{key}`", RULES)
        for evaluator_type in EVALUATOR_TYPES:
            self.assertIn(f"`{evaluator_type}`", README)
        for reason in SKIP_REASONS:
            self.assertIn(f"`{reason}`", RULES)
        for parameter in PARAMETERS:
            self.assertIn(f"| `{parameter}` |", README)
        self.assertIn(f"{MAX_LABEL_CHARACTERS:,} characters", RULES)

    def test_links_lead_somewhere(self) -> None:
        for text, folder in ((README, ROOT), (RULES, ROOT / "evaluation")):
            for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
                with self.subTest(target=target):
                    self.assertTrue((folder / target).exists())


if __name__ == "__main__":
    unittest.main()
