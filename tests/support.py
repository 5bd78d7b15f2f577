"""What the tests share: the way to the package, builders for configs and benchmarks, and one-line harnesses."""

from __future__ import annotations

import contextlib
import csv
import difflib
import io
import json
import os
import shutil
import sys
import tempfile
import unittest
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "tests" / "example"
GOLDEN = ROOT / "tests" / "golden"
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from evaluation.checks import CheckFunctions  # noqa: E402
from evaluation.cli import main  # noqa: E402
from evaluation.configs import CheckTaskConfig, TaskConfig, read_task_config  # noqa: E402
from evaluation.results import TaskEvaluationResult  # noqa: E402
from evaluation.scoring import evaluate_task  # noqa: E402

TEXT: dict[str, Any] = {"type": "text"}
BOOLEAN: dict[str, Any] = {"type": "boolean"}
DATE: dict[str, Any] = {"type": "date"}
DATETIME: dict[str, Any] = {"type": "datetime"}
INTEGER: dict[str, Any] = {"type": "number", "comparison": {"mode": "integer"}}


def decimal_places(digits: int, **more: Any) -> dict[str, Any]:
    return {"type": "number", "comparison": {"mode": "decimal_places", "digits": digits}, **more}


def config_document(
    columns: Sequence[Mapping[str, Any]], task_id: str = "task_1", ordered: bool = False
) -> dict[str, Any]:
    """Return a task config in JSON form; gold columns are called c0, c1 and so on."""
    return {
        "schema_version": "1.0",
        "task_id": task_id,
        "order_sensitive": ordered,
        "columns": [{"gold_index": i, "gold_name": f"c{i}", **column} for i, column in enumerate(columns)],
    }


def task_config(columns: Sequence[Mapping[str, Any]], task_id: str = "task_1", ordered: bool = False) -> TaskConfig:
    document = config_document(columns, task_id, ordered)
    config = read_task_config(json.dumps(document).encode(), f"{task_id}.json")
    assert isinstance(config, TaskConfig), "it has columns"
    return config


def check_document(*checks: Mapping[str, Any], task_id: str = "task_1", **more: Any) -> dict[str, Any]:
    """Return the config of a task of checks in JSON form."""
    return {"schema_version": "1.1", "task_id": task_id, **more, "checks": list(checks)}


def check_config(document: Mapping[str, Any], functions: CheckFunctions | None = None) -> CheckTaskConfig:
    config = read_task_config(json.dumps(document).encode(), f"{document['task_id']}.json", functions)
    assert isinstance(config, CheckTaskConfig), "it has checks"
    return config


def csv_text(rows: Iterable[Sequence[str]], header: Sequence[str] | None = None) -> str:
    """Return rows as CSV under `header`, by default h0, h1 and so on."""
    rows = list(rows)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header if header is not None else [f"h{i}" for i in range(len(rows[0]))])
    writer.writerows(rows)
    return stream.getvalue()


class FolderTestCase(unittest.TestCase):
    """A test with an empty folder of its own at `self.folder`."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = Path(tempfile.mkdtemp(prefix="evaluation-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    def evaluate(
        self, columns: Sequence[Mapping[str, Any]], gold: str, prediction: str | bytes | None, ordered: bool = False
    ) -> TaskEvaluationResult:
        """Return the result of one prediction (None: no file) against one gold text."""
        gold_path = self.write("gold.csv", gold)
        prediction_path = self.folder / "prediction.csv"
        prediction_path.unlink(missing_ok=True)
        if prediction is not None:
            self.write("prediction.csv", prediction)
        return evaluate_task(
            config=task_config(columns, ordered=ordered), prediction_path=prediction_path, gold_path=gold_path
        )


class BenchmarkTestCase(FolderTestCase):
    """A test with a benchmark of its own: `self.add_task` fills it, `self.score` runs the command line on it."""

    def add_task(
        self,
        number: int,
        gold: str | bytes | None = "h\n1\n",
        prediction: str | bytes | None = "h\n1\n",
        columns: Sequence[Mapping[str, Any]] = (TEXT,),
        ordered: bool = False,
    ) -> None:
        task_id = f"task_{number}"
        self.write(f"configs/{task_id}.json", json.dumps(config_document(columns, task_id, ordered)))
        for name, content in (("gold", gold), ("prediction", prediction)):
            (self.folder / f"{name}s").mkdir(exist_ok=True)
            if content is not None:
                self.write(f"{name}s/{task_id}/{name}.csv", content)

    def add_labels(self, *pairs: tuple[str, str | None], column: Mapping[str, Any] = TEXT) -> None:
        """Add a task per pair, numbered from 1: gold and the prediction are a row with this label; None: no file."""
        for number, (expected, predicted) in enumerate(pairs, start=1):
            gold, prediction = (
                None if label is None else csv_text([[label]], ["c0"]) for label in (expected, predicted)
            )
            self.add_task(number, gold, prediction, [column])

    def evaluate_labels(self, **evaluator: Any) -> dict[str, Any]:
        """Run the command line with one dataset evaluator, by default over the column c0; return its evaluation."""
        document = {"id": "under test", "source": "c0", **evaluator}
        path = self.write("evaluator.json", json.dumps(document, ensure_ascii=False))
        (evaluation,) = self.score("--dataset-evaluators", str(path))["dataset_evaluations"]
        return dict(evaluation)

    @property
    def roots(self) -> list[str]:
        return [
            *("--prediction-root", str(self.folder / "predictions")),
            *("--gold-root", str(self.folder / "golds")),
            *("--config-root", str(self.folder / "configs")),
        ]

    @property
    def summary_path(self) -> Path:
        return self.folder / "predictions" / "evaluation_summary.json"

    def score(self, *options: str) -> dict[str, Any]:
        """Run the command line, expect exit status 0, and return the summary that it wrote."""
        status, _, error = run_cli(*self.roots, *options)
        self.assertEqual(status, 0, error)
        document: dict[str, Any] = json.loads(self.summary_path.read_text(encoding="utf-8"))
        return document

    def assert_fatal(
        self, *options: str, mentions: Sequence[str] = (), arguments: Sequence[str] | None = None, faults: int = 1
    ) -> str:
        """Assert exit status 2, the usage line and one sentence on standard error; return the sentence.

        With several faults there is a line for each below it.
        """
        status, output, error = run_cli(*(self.roots if arguments is None else arguments), *options)
        self.assertEqual((status, output), (2, ""), error)
        lines = error.splitlines()
        self.assertEqual(len(lines), 2 if faults == 1 else 2 + faults, error)
        self.assertTrue(lines[0].startswith("usage: "), error)
        sentences = "\n".join(lines[1:])
        for mention in mentions:
            self.assertIn(mention, sentences)
        return sentences


def run_cli(*arguments: str) -> tuple[int, str, str]:
    """Run the command line in this process; return exit status, standard output and standard error."""
    with captured() as (output, error):
        try:
            status = main(arguments, prog="evaluate.py")
        except SystemExit as leave:
            status = leave.code if isinstance(leave.code, int) else 1
    return status, output.getvalue(), error.getvalue()


@contextlib.contextmanager
def captured() -> Iterator[tuple[io.StringIO, io.StringIO]]:
    output, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(error):
        yield output, error


def environment(**changes: str) -> dict[str, str]:
    """Return this process's environment with changes, for a child that must not write byte code into the tree."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **changes}


def assert_golden(test: unittest.TestCase, name: str, text: str) -> None:
    """Assert that `text` is the golden file `name`, byte for byte; a missing file is a failure.

    With UPDATE_GOLDEN=1 in the environment the file is written anew first, for a person to read before committing.
    """
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_bytes(text.encode("utf-8"))
    if not path.is_file():
        test.fail(f"the golden file {name} is missing")
    expected = path.read_bytes().decode("utf-8")
    if expected != text:
        diff = difflib.unified_diff(expected.splitlines(), text.splitlines(), name, "actual", lineterm="")
        test.fail("\n".join(diff) or "the texts differ in line ends only")
