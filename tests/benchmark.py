"""How long the program takes, against the least that it could: reading the same files with `csv.reader`.

`python3 -m tests.benchmark` generates every workload from a fixed seed, runs it several times as a process of its own,
in turn with the *floor*, a process that reads both files of every task with `csv.reader` into lists and does nothing
else, and prints a line per workload. Nothing here is a test: a machine is as fast as it is.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

EVALUATE = Path(__file__).resolve().parent.parent / "evaluate.py"
_FLOOR = """
import csv, sys
for path in sys.stdin.read().split("\\n"):
    with open(path, encoding="utf-8", newline="") as stream:
        list(csv.reader(stream))
"""

Row = list[str]
Column = dict[str, Any]

TEXT: Column = {"type": "text"}
BOOLEAN: Column = {"type": "boolean"}
INTEGER: Column = {"type": "number", "comparison": {"mode": "integer"}}
DECIMAL: Column = {"type": "number", "comparison": {"mode": "decimal_places", "digits": 2}}
TYPICAL: Sequence[Column] = (TEXT, TEXT, INTEGER, DECIMAL, DECIMAL, {"type": "date"}, {"type": "datetime"}, BOOLEAN)
CATEGORIES = ("books", "Büro", "café", "games", "garden", "tools", "toys", "東京")


@dataclass(frozen=True)
class Task:
    """Gold and prediction rows of one task, and the error code that it must end with."""

    columns: Sequence[Column]
    gold: Sequence[Row]
    prediction: Sequence[Row]
    ordered: bool = False
    error_code: str | None = None


@dataclass(frozen=True)
class Workload:
    """What is measured: its tasks, and how many times the floor it may take, None for no bound."""

    tasks: Callable[[random.Random], Iterator[Task]]
    bound: float | None = None


def _typical_rows(source: random.Random, count: int) -> list[Row]:
    start = datetime(2020, 1, 1)
    rows = []
    for number in range(count):
        moment = start + timedelta(seconds=source.randrange(150_000_000))
        rows.append(
            [
                f"id-{number:07}",
                source.choice(CATEGORIES),
                str(source.randrange(1_000_000)),
                f"{source.random() * 1000:.6f}",
                f"{source.random() * 10:.6f}",
                moment.date().isoformat(),
                str(moment),
                source.choice(("true", "false")),
            ]
        )
    return rows


def _shuffled(source: random.Random, rows: Sequence[Row]) -> list[Row]:
    return source.sample(rows, len(rows))


def _with_columns_shuffled(source: random.Random, rows: Sequence[Row]) -> list[Row]:
    order = source.sample(range(len(rows[0])), len(rows[0]))
    return [[row[j] for j in order] for row in rows]


def _respelled(row: Row) -> Row:
    text, category, integer, first, second, date, moment, flag = row
    return [
        text,
        category,
        f"{integer}.0",
        f"{first}0",
        f"{second}00",
        date,
        moment.replace(" ", "T"),
        "yes" if flag == "true" else "no",
    ]


def _exact(source: random.Random, rows: int = 100_000) -> Iterator[Task]:
    gold = _typical_rows(source, rows)
    yield Task(TYPICAL, gold, _shuffled(source, gold))


def _tables(source: random.Random) -> Iterator[Task]:
    for _ in range(8):
        yield from _exact(source, 25_000)


def _respelled_table(source: random.Random) -> Iterator[Task]:
    gold = _typical_rows(source, 100_000)
    yield Task(TYPICAL, gold, [_respelled(row) for row in _shuffled(source, gold)])


def _columns_shuffled(source: random.Random) -> Iterator[Task]:
    gold = _typical_rows(source, 100_000)
    yield Task(TYPICAL, gold, _with_columns_shuffled(source, _shuffled(source, gold)))


def _one_cell(source: random.Random) -> Iterator[Task]:
    gold = [[f"{source.random() * 1000:.3f}" for _ in range(20)] for _ in range(20_000)]
    prediction = _with_columns_shuffled(source, _shuffled(source, gold))
    prediction[source.randrange(len(prediction))][source.randrange(20)] = "123456.789"
    yield Task([DECIMAL] * 20, gold, prediction, error_code="relation_mismatch")


def _wide(source: random.Random) -> Iterator[Task]:
    gold = [[source.choice(("true", "false")) for _ in range(64)] for _ in range(1000)]
    yield Task([BOOLEAN] * 64, gold, _with_columns_shuffled(source, _shuffled(source, gold)))


def _ordered(source: random.Random) -> Iterator[Task]:
    gold = _typical_rows(source, 100_000)
    yield Task(TYPICAL, gold, _with_columns_shuffled(source, gold), ordered=True)


def _suite(source: random.Random) -> Iterator[Task]:
    for number in range(410):
        kinds = source.sample(range(len(TYPICAL)), source.randint(1, 4))
        gold = [[row[kind] for kind in kinds] for row in _typical_rows(source, source.randint(1, 30))]
        prediction = _shuffled(source, gold)
        if number % 3 == 0:
            prediction = _with_columns_shuffled(source, prediction)
        yield Task([TYPICAL[kind] for kind in kinds], gold, prediction)


def _wide_numbers(source: random.Random, columns: int) -> Iterator[Task]:
    gold = [[f"{source.random() * 1000:.3f}" for _ in range(columns)] for _ in range(10_000)]
    yield Task([DECIMAL] * columns, gold, _with_columns_shuffled(source, _shuffled(source, gold)))


WORKLOADS: dict[str, Workload] = {
    "suite": Workload(_suite, 2.0),
    "exact": Workload(_exact, 2.5),
    "respelled": Workload(_respelled_table, 6),
    "shuffled": Workload(_columns_shuffled, 3),
    "one-cell": Workload(_one_cell, 6),
    "wide": Workload(_wide, 12),
    "ordered": Workload(_ordered, 3.5),
}
GROWTH: dict[str, Workload] = {
    "8 tables": Workload(_tables),
    **{f"{rows} rows": Workload(partial(_exact, rows=rows)) for rows in (1000, 10_000, 100_000)},
    **{f"{columns} columns": Workload(partial(_wide_numbers, columns=columns)) for columns in (4, 8, 16, 32, 64)},
}


@dataclass(frozen=True)
class Measurement:
    """Wall-clock seconds of one process, and the most memory that it held, in bytes; 0 where that is not known."""

    seconds: float
    peak: int


def write(folder: Path, name: str) -> dict[str, str | None]:
    """Write the workload of that name into `folder`; return the error code that every task must end with."""
    expected = {}
    for number, task in enumerate({**WORKLOADS, **GROWTH}[name].tasks(random.Random(name)), start=1):
        task_id = f"task_{number}"
        columns = [{"gold_index": i, "gold_name": f"c{i}", **column} for i, column in enumerate(task.columns)]
        config = {"schema_version": "1.0", "task_id": task_id, "order_sensitive": task.ordered, "columns": columns}
        (folder / "configs").mkdir(exist_ok=True)
        (folder / "configs" / f"{task_id}.json").write_text(json.dumps(config), encoding="utf-8")
        for name, rows in (("gold", task.gold), ("prediction", task.prediction)):
            path = folder / f"{name}s" / task_id / f"{name}.csv"
            path.parent.mkdir(parents=True)
            with open(path, "w", encoding="utf-8", newline="") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                writer.writerow([f"c{i}" for i in range(len(task.columns))])
                writer.writerows(rows)
        expected[task_id] = task.error_code
    return expected


def written_by_a_child(folder: Path, name: str) -> dict[str, str | None]:
    """Do what `write` does in a process of its own: a child's peak counts what its parent held when it started."""
    with ProcessPoolExecutor(1) as pool:
        return pool.submit(write, folder, name).result()


def run(command: Sequence[str], caches: Path, standard_input: str = "") -> Measurement:
    """Run a process to its end, its compiled modules kept in `caches`. Raises RuntimeError when it fails."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(caches)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    )
    assert process.stdin is not None
    process.stdin.write(standard_input.encode())
    process.stdin.close()
    peak = 0
    if hasattr(os, "wait4"):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    seconds = time.perf_counter() - start
    assert process.stderr is not None
    with process.stderr as stream:
        if process.wait() != 0:
            raise RuntimeError(f"{' '.join(command[:3])} failed: {stream.read().decode()}")
    return Measurement(seconds, peak)


def measure(name: str, workload: Workload, repeats: int, options: Sequence[str]) -> str:
    """Return a line of the table. Raises RuntimeError when a verdict is not the one that it must be."""
    with tempfile.TemporaryDirectory(prefix="evaluation-benchmark-") as temporary:
        folder = Path(temporary)
        expected = written_by_a_child(folder, name)
        paths = [str(path) for kind in ("golds", "predictions") for path in sorted(folder.glob(f"{kind}/*/*.csv"))]
        size = sum(os.path.getsize(path) for path in paths)
        command = [sys.executable, str(EVALUATE), "--quiet", *options]
        for root in ("prediction", "gold", "config"):
            command += [f"--{root}-root", str(folder / f"{root}s")]
        floors, runs = [], []
        # The first round fills the caches, of the file system and of compiled modules, and is not counted.
        for number in range(repeats + 1):
            floor = run([sys.executable, "-c", _FLOOR], folder / "caches", "\n".join(paths))
            scored = run(command, folder / "caches")
            if number:
                floors.append(floor)
                runs.append(scored)
        summary = json.loads((folder / "predictions" / "evaluation_summary.json").read_text(encoding="utf-8"))
    found = {task["task_id"]: task["error_code"] for task in summary["tasks"]}
    if found != expected:
        raise RuntimeError(f"{name}: a verdict is wrong")
    floor_seconds, seconds = (statistics.median(m.seconds for m in measured) for measured in (floors, runs))
    peak = max(measurement.peak for measurement in runs)
    bound = "" if workload.bound is None else f"{workload.bound:g}"
    over = "  over" if workload.bound is not None and seconds > workload.bound * floor_seconds else ""
    return (
        f"{name:<14}{floor_seconds:>9.3f}{seconds:>9.3f}{seconds / floor_seconds:>8.2f}{bound:>8}"
        f"{peak / 2**20:>10.0f}{peak / size:>12.1f}{over}"
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the workloads that the arguments name, by default all that have a bound."""
    parser = argparse.ArgumentParser(
        prog="python3 -m tests.benchmark",
        description="Measure the program's speed against the floor: reading the same files with csv.reader alone.",
        epilog="Columns: the medians of the floor's and the program's seconds, their ratio and the bound on it, "
        "the most memory that the program held, and that as a multiple of the size of the files.",
    )
    everything = {**WORKLOADS, **GROWTH}
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"some of: {', '.join(map(repr, everything))}")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="runs that are counted (default: 5)")
    parser.add_argument(
        "--growth",
        action="store_true",
        help="measure the workloads without a bound, most of which grow in rows or in columns",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        help="an option for the program, as in --option=--jobs=2 for '8 tables'",
    )
    arguments = parser.parse_args(argv)
    if arguments.repeats < 1:
        parser.error(f"--repeats: expected a number from 1, got {arguments.repeats}")
    for name in arguments.workloads:
        if name not in everything:
            parser.error(f"no workload is called {name!r}")
    names = arguments.workloads or (GROWTH if arguments.growth else WORKLOADS)
    print(f"{'workload':<14}{'floor s':>9}{'median s':>9}{'ratio':>8}{'bound':>8}{'peak MiB':>10}{'x the files':>12}")
    for name in names:
        try:
            line = measure(name, everything[name], arguments.repeats, arguments.option)
        except RuntimeError as error:
            sys.exit(f"{parser.prog}: {error}")
        print(line, flush=True)


if __name__ == "__main__":
    main()
