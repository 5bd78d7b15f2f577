"""Mutated benchmarks, scored one after the other, to find an input that breaks the program.

`python3 -m tests.fuzz --seconds 60 --seed 1` builds small valid benchmarks, spoils predictions, archives, configs or
gold files by bytes, cells, structure or file kinds, runs the command line on them, and checks what must always hold:
the exit status is 0, 1 or 2; there is no traceback; a summary is written exactly with status 0 or 1 and can be read
back; every report of it can be made; the verdicts of the tasks that were not touched do not change; the time and the
memory are bounded. Every fault is printed, with the seed that finds it again, and its files are kept. The same seed
gives the same inputs in the same order.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import shutil
import stat
import sys
import tempfile
import time
import traceback
import warnings
import xml.etree.ElementTree as ElementTree
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from evaluation.cli import main as evaluate  # noqa: E402
from evaluation.reports.formats import FORMATS, ReportOptions  # noqa: E402
from evaluation.summary import Summary  # noqa: E402

# What no small benchmark may need, on a slow machine.
MOST_SECONDS = 60.0
MOST_BYTES = 2 << 30
SHOWN_FAULTS = 20

Rows = list[list[str]]

KINDS: Sequence[tuple[dict[str, Any], Sequence[str]]] = (
    ({"type": "text"}, ("a", "é", "e\u0301", " x ", "", "NULL", "a,b", 'say "x"', "two\nlines", "7e45123", "١٢")),
    ({"type": "number", "comparison": {"mode": "integer"}}, ("1", "-0", "1,000", "1e3", "５", "", "nan", "42.0")),
    (
        {"type": "number", "comparison": {"mode": "decimal_places", "digits": 2}},
        ("0.005", "1.10", ".5", "5.", "1e400", "-1e-400", "99999999999999999999", "null"),
    ),
    (
        {
            "type": "number",
            "comparison": {"mode": "significant_digits", "digits": 3},
            "unit": "fraction",
            "allow_percent_sign": True,
        },
        ("12.5 %", "0.125", "0", "1e-9", "<NA>"),
    ),
    ({"type": "date"}, ("2024-01-31", "20240131", "2024-W05-3", "2024-01-31T00:00:00Z", "", "9999-12-31")),
    ({"type": "datetime"}, ("2024-01-31 12:00", "2024-01-31T12:00:00+02:00", "0001-01-01", "NaT")),
    ({"type": "boolean"}, ("true", "0", "是", "No", "", "y")),
)
EVIL = (
    *("1e400", "1e999999999", "7e999000", f"1e{'9' * 30}", "9" * 5000, "1e-999999999999999999999", "+", "-", ".", "e5"),
    *("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2024-02-30", "2024-W53-7", "24:00", "Z", "T", "%"),
    *("\x00", "\ufeff", "\u202e", "\x1b[31m", "\r", "\n", '"', '""', ",", " ", "\u00a0", "\u2028", "\x85", "\x1c"),
    *("\u0301" * 300, "\u0345\u0316\u0301" * 50, "\u0f73" * 100, "é" * 500, "\U0010ffff", "İ", "ß", "ǅ", "²", "½", "௧"),
    *("=1+1", "__class__", "{0}", "%s", "../..", "NaN", "Infinity", "-inf", "None", "<NA>", "true", "1_000", "0x10"),
)
JSON_EVIL: Sequence[object] = (
    *(None, True, False, 0, -1, 1.5, 2.0, 10**30, "", "text", "number", [], {}, [[]], {"a": {}}, "\ud800", "x" * 5000),
)


# An answer that is no table, and checks, all of which it passes but the last two.
ANSWER = {
    "city": "Oslo",
    "rows": [{"n": 1, "day": "2024-01-31"}, {"n": 2.5, "day": "20240201"}],
    "note": " ok ",
    "x": None,
}
CHECKS: Sequence[dict[str, Any]] = (
    {"func": "json -> get(city)", "op": "=", "value": "Oslo", "required": True},
    {"func": "json -> get(rows) -> foreach -> get(n) -> number", "op": "<=", "value": 2.5},
    {"func": "json -> get(rows) -> foreach -> get(day) -> date", "op": "in", "value": ["2024-01-31", "2024-02-01"]},
    {"func": "json -> get(rows)", "op": "sequence_equal", "value": ANSWER["rows"], "desc": "all rows"},
    {"func": "json -> get(note) -> text -> lower", "op": "similar", "value": "ok", "op_args": {"threshold": 0.9}},
    {"func": "json -> get(x, 1)", "op": "!=", "value": 1},
    {"func": "raw -> regex('(?:[a-z]+ ?)+')", "op": "matches", "value": "[a-z ]+"},
    {
        "func": "json -> get(rows) -> get(-1) -> get(n)",
        "op": "approx",
        "value_from": "gold",
        "op_args": {"relative": 0.1},
    },
    {"func": "json", "op": "contain", "value": "x"},
    {"func": "text -> json -> len", "op": "set_equal", "value": [4]},
)


class FaultError(Exception):
    """Something that must always hold did not."""


class Benchmark:
    """A valid benchmark in a folder, every task answered rightly, and what is done to spoil it."""

    def __init__(self, folder: Path, source: random.Random) -> None:
        self.folder = folder
        self.source = source
        self.touched: set[str] = set()
        self.tasks = [f"task_{number}" for number in range(1, source.randint(2, 5))]
        self.prediction_root = folder / "predictions"
        # The names of the predictions, by task.
        self.files: dict[str, str] = {}
        for task_id in self.tasks:
            if source.random() < 0.3:
                self._add_answer(task_id)
            else:
                self._add_task(task_id)

    def _add_answer(self, task_id: str) -> None:
        """Add a task whose answer is no table, with checks that the answer passes."""
        source = self.source
        self.files[task_id] = file = source.choice(("prediction.json", "prediction.txt"))
        checks = source.sample(CHECKS[:8], source.randint(1, 8))
        document = {"schema_version": "1.1", "task_id": task_id, "prediction_file": file, "checks": checks}
        self.write(f"configs/{task_id}.json", json.dumps(document).encode())
        self.write(f"gold/{task_id}/gold.json", b"2.4")
        self.write(f"predictions/{task_id}/{file}", json.dumps(ANSWER, ensure_ascii=False).encode())

    def _add_task(self, task_id: str) -> None:
        source = self.source
        self.files[task_id] = "prediction.csv"
        kinds = [source.choice(KINDS) for _ in range(source.choice((1, 2, 3, 3, 6)))]
        height, ordered = source.choice((0, 1, 2, 5, 20)), source.random() < 0.5
        gold = [[source.choice(texts) for _, texts in kinds] for _ in range(height)]
        prediction = list(gold) if ordered else source.sample(gold, height)
        order = source.sample(range(len(kinds)), len(kinds))
        columns = [{"gold_index": i, "gold_name": f"c{i}", **column} for i, (column, _) in enumerate(kinds)]
        document = {"schema_version": "1.0", "task_id": task_id, "order_sensitive": ordered, "columns": columns}
        self.write(f"configs/{task_id}.json", json.dumps(document).encode())
        header = [f"c{i}" for i in range(len(kinds))]
        self.write(f"gold/{task_id}/gold.csv", table([header, *gold]))
        rows = [[row[j] for j in order] for row in [header, *prediction]]
        self.write(f"predictions/{task_id}/prediction.csv", table(rows))

    def write(self, name: str, data: bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def prediction(self) -> Path:
        """Return the prediction of some task, which counts as touched. Raises FileNotFoundError when it is none."""
        task_id = self.source.choice(self.tasks)
        self.touched.add(task_id)
        path = self.prediction_root / task_id / self.files[task_id]
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            # What is linked to gold would spoil gold with it.
            raise FileNotFoundError(path)
        return path


def table(rows: Rows) -> bytes:
    stream = io.StringIO()
    for row in rows:
        stream.write(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n")
    return stream.getvalue().encode("utf-8", "surrogatepass")


def mutated_bytes(source: random.Random, data: bytes) -> bytes:
    """Return the bytes with a few of them changed, inserted, dropped, doubled or cut off."""
    result = bytearray(data)
    for _ in range(source.choice((1, 1, 2, 4, 16))):
        place = source.randint(0, len(result))
        part = source.choice((b"\0", b"\xff", b'"', b",", b"\n", b"\r", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"%", b"e9"))
        length = source.choice((1, 1, 3, 30))
        kind = source.randrange(5)
        if kind == 0:
            result[place : place + len(part)] = part
        elif kind == 1:
            result[place:place] = part
        elif kind == 2:
            del result[place : place + length]
        elif kind == 3:
            result[place:place] = result[place : place + length] * source.choice((1, 2, 50))
        else:
            result[place : place + 1] = bytes([source.randrange(256)])
    return bytes(result)


def spoil_bytes(benchmark: Benchmark) -> None:
    path = benchmark.prediction()
    path.write_bytes(mutated_bytes(benchmark.source, path.read_bytes()))


def spoil_cells(benchmark: Benchmark) -> None:
    source, path = benchmark.source, benchmark.prediction()
    rows = [line.split('","') for line in path.read_text(encoding="utf-8", errors="replace").split("\n")]
    for _ in range(source.choice((1, 2, 10))):
        row = source.choice(rows)
        row[source.randrange(len(row))] = source.choice(EVIL) * source.choice((1, 1, 2, 100))
    path.write_bytes(table(rows))


def spoil_shape(benchmark: Benchmark) -> None:
    source, path = benchmark.source, benchmark.prediction()
    width, height = source.choice(((1, 3000), (64, 300), (65, 3), (2000, 1), (1, 100_001), (20, 1000), (0, 5)))
    alphabet = source.choice((("0", "1"), ("1", "1.0", "1e0"), EVIL, ("",), ("a", "b", "c")))
    rows = [[source.choice(alphabet) for _ in range(width)] for _ in range(min(height, 3000))]
    if source.random() < 0.3 and rows:
        rows[source.randrange(len(rows))] = ["x"] * source.choice((0, 1, 70))
    path.write_bytes(table(rows) * (-(-height // 3000) or 1))


def spoil_kind(benchmark: Benchmark) -> None:
    """Put something else than a file in a prediction's place, or in its folder's."""
    source, path = benchmark.source, benchmark.prediction()
    path.unlink()
    if source.random() < 0.4:
        path.parent.rmdir()
        path = path.parent
    outside = benchmark.folder / "gold" / path.name
    gold = next((benchmark.folder / "gold" / benchmark.tasks[0]).iterdir())
    makers: list[Callable[[], object]] = [
        lambda: path.symlink_to(source.choice((outside, gold, "/dev/zero", path.name, "nowhere", "/"))),
        lambda: os.mkfifo(path),
        path.mkdir,
        lambda: os.link(gold, path),
        lambda: os.mknod(path, stat.S_IFSOCK | 0o644),
        lambda: path.write_bytes(b""),
        lambda: None,
    ]
    source.choice(makers)()


def spoil_root(benchmark: Benchmark) -> None:
    """Plant what is no prediction in the prediction root."""
    source, root = benchmark.source, benchmark.prediction_root
    name = source.choice(("task_99", "task_07", "task_x", "\x1b[31m\n", "évil", "..x", os.fsdecode(b"task_\xff")))
    with contextlib.suppress(OSError):
        source.choice((os.mkdir, os.mkfifo, lambda path: os.symlink("/", path)))(root / name)
    plant = root / "evaluation_summary.json"
    kind = source.randrange(5)
    if kind == 0:
        plant.symlink_to(benchmark.folder / "victim")
    elif kind == 1:
        os.mkfifo(plant)
    elif kind == 2:
        plant.mkdir()


def spoil_config(benchmark: Benchmark) -> None:
    source = benchmark.source
    path = benchmark.folder / "configs" / f"{source.choice(benchmark.tasks)}.json"
    kind = source.randrange(4)
    if kind == 0:
        path.write_bytes(mutated_bytes(source, path.read_bytes()))
    elif kind == 1:
        path.write_bytes(source.choice((b"[" * 100_000, b"1" * 10_000, b"NaN", b"null", b"[]", b"\xff\xfe", b"{")))
    elif kind == 2:
        name = source.choice(("task_01.json", "task_foo.json", "task_.json", "task_9.json/x", "task_1 .json"))
        benchmark.write(f"configs/{name}", path.read_bytes())
    else:
        document = json.loads(path.read_text(encoding="utf-8"))
        spots: list[Any] = [document, *document.get("columns", ()), *document.get("checks", ())]
        spot = source.choice(spots)
        keys = [*spot, "extra", "unit", "comparison", "op_args", "value_from"]
        spot[source.choice(keys)] = source.choice((*JSON_EVIL, *CHECKS, [*CHECKS[-2:]]))
        path.write_text(json.dumps(document), encoding="utf-8")
    # A config that is still valid may ask something else of its own task.
    benchmark.touched.add(path.stem)


def spoil_gold(benchmark: Benchmark) -> None:
    source = benchmark.source
    task_id = source.choice(benchmark.tasks)
    path = next((benchmark.folder / "gold" / task_id).iterdir())
    path.write_bytes(mutated_bytes(source, path.read_bytes()))
    benchmark.touched.add(task_id)


def archive(benchmark: Benchmark) -> None:
    """Put the predictions into an archive, and do to it what one can do to archives."""
    source, root = benchmark.source, benchmark.prediction_root
    path = benchmark.folder / "submission.zip"
    prefix = source.choice(("", "", "me/", "a/b/"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(path, "w", source.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as target:
            for file in sorted(root.rglob("prediction.*")):
                if file.is_file() and not file.is_symlink():
                    target.write(file, prefix + file.relative_to(root).as_posix())
            for _ in range(source.choice((0, 0, 1, 3))):
                _add_evil_member(benchmark, target, prefix)
    if source.random() < 0.5:
        path.write_bytes(mutated_bytes(source, path.read_bytes()))
        benchmark.touched.update(benchmark.tasks)
    benchmark.prediction_root = path


def _add_evil_member(benchmark: Benchmark, target: zipfile.ZipFile, prefix: str) -> None:
    source = benchmark.source
    task_id = source.choice(benchmark.tasks)
    name = source.choice(
        (
            *(f"/{task_id}/prediction.csv", f"../{task_id}/prediction.csv", f"{task_id}\\prediction.csv"),
            *(
                f"{prefix}{task_id}/prediction.csv",
                f"{prefix}{task_id.upper()}/prediction.csv",
                "C:/x",
                "\x1b[31m",
                "d/",
            ),
            *(f"{prefix}{task_id}", f"other/{task_id}/prediction.csv", f"{prefix}./{task_id}//prediction.csv"),
        )
    )
    info = zipfile.ZipInfo("placeholder")
    info.filename = name
    info.external_attr = source.choice((0, stat.S_IFREG, stat.S_IFLNK, stat.S_IFIFO, stat.S_IFDIR, stat.S_IFCHR)) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    target.writestr(info, source.choice((b"h\n1\n", b"", b"a" * 100_000)))
    benchmark.touched.add(task_id)
    if name.startswith("other/"):
        benchmark.touched.update(benchmark.tasks)


SPOILERS: Sequence[Callable[[Benchmark], None]] = (
    *(
        spoil_bytes,
        spoil_bytes,
        spoil_cells,
        spoil_cells,
        spoil_shape,
        spoil_kind,
        spoil_root,
        spoil_config,
        spoil_gold,
    ),
)


def run(arguments: Sequence[str]) -> tuple[int | str | None, str, str]:
    """Run the command line in this process; return exit status, standard output and standard error."""
    output, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(error):
        try:
            status: int | str | None = evaluate(arguments, prog="evaluate.py")
        except SystemExit as leave:
            status = leave.code
        except Exception:
            raise FaultError(f"a traceback:\n{traceback.format_exc()}") from None
    return status, output.getvalue(), error.getvalue()


def check(benchmark: Benchmark) -> str:
    """Score the spoilt benchmark; return how it ended. Raises FaultError."""
    arguments, summary_path = command_line(benchmark)
    status, output, error = run(arguments)
    if "--json" not in arguments and any(character in output + error for character in "\x1b\u202e\x00"):
        raise FaultError("a control character reached the terminal")
    if (benchmark.folder / "victim").exists():
        raise FaultError("a planted link was followed")
    if status == 2:
        if summary_path.is_file() and not summary_path.is_symlink():
            raise FaultError("a summary in spite of status 2")
        return "not scored"
    if status not in (0, 1):
        raise FaultError(f"exit status {status}")
    document = json.loads(summary_path.read_text(encoding="utf-8"))
    check_summary(benchmark, document)
    if benchmark.source.random() < 0.3:
        check_runs(benchmark, document)
    return "scored"


def command_line(benchmark: Benchmark) -> tuple[list[str], Path]:
    """Return arguments that score the benchmark, and where the summary will be."""
    folder, summary_path = benchmark.folder, benchmark.folder / "summary.json"
    arguments = ["--gold-root", str(folder / "gold"), "--config-root", str(folder / "configs"), "--verbose"]
    arguments += ["--prediction-root", str(benchmark.prediction_root)]
    if benchmark.source.random() < 0.8:
        arguments += ["--output", str(summary_path)]
    elif benchmark.prediction_root.is_dir():
        summary_path = benchmark.prediction_root / "evaluation_summary.json"
    else:
        summary_path = folder / "submission.evaluation_summary.json"
    arguments += benchmark.source.choice(([], [], ["--redact-gold"], ["--json"], ["--fail-under", "1"]))
    return arguments, summary_path


def check_summary(benchmark: Benchmark, document: dict[str, Any]) -> None:
    """Raise FaultError when the summary cannot be read back, or a task that was not touched has failed."""
    summary = Summary.from_dict(document)
    if summary.to_dict() != document:
        raise FaultError("the summary is not read back as it was")
    check_reports(summary)
    for task in document["tasks"]:
        if task["task_id"] not in benchmark.touched and not task["passed"]:
            raise FaultError(f"{task['task_id']} was not touched, but failed: {task['error']}")


def check_runs(benchmark: Benchmark, document: dict[str, Any]) -> None:
    """Raise FaultError when the prediction as one of two runs, in parts that are merged, ends otherwise than alone.

    The other run is gold itself, so that with a threshold of 1/2 every task passes.
    """
    folder = benchmark.folder
    for task in document["tasks"]:
        task_id = task["task_id"]
        answer = folder / "right" / task_id / benchmark.files[task_id]
        answer.parent.mkdir(parents=True)
        if task.get("checks"):
            answer.write_bytes(json.dumps(ANSWER, ensure_ascii=False).encode())
        else:
            shutil.copyfile(folder / "gold" / task_id / "gold.csv", answer)
    arguments = ["--gold-root", str(folder / "gold"), "--config-root", str(folder / "configs"), "--threshold", "1/2"]
    arguments += ["--prediction-root", str(benchmark.prediction_root), "--prediction-root", str(folder / "right")]
    arguments += ["--redact-gold"] if document.get("gold_redacted") else []
    whole, merged = folder / "whole.json", folder / "merged.json"
    parts = [str(folder / f"part-{number}.json") for number in (1, 2)][: len(document["tasks"])]
    commands = [[*arguments, "--output", str(whole)]]
    for number, part in enumerate(parts, start=1):
        commands.append([*arguments, "--shard", f"{number}/{len(parts)}", "--output", part])
    for command in (*commands, ["merge", *parts, "--output", str(merged)]):
        status, _, error = run(command)
        if status != 0:
            raise FaultError(f"exit status {status} of {command}: {error}")
    if merged.read_bytes() != whole.read_bytes():
        raise FaultError("merged parts are not the whole")
    repeated = json.loads(whole.read_text(encoding="utf-8"))
    check_reports(Summary.from_dict(repeated))
    if repeated["runs"][0]["tasks"] != document["tasks"]:
        raise FaultError("a run ends otherwise beside another than alone")
    for case in repeated["cases"]:
        # What a spoilt config asks of an answer, the right one of before may fail.
        if not case["passed"] and (benchmark.files[case["task_id"]] == "prediction.csv"):
            raise FaultError(f"gold itself has failed in {case['task_id']}")


def check_reports(summary: Summary) -> None:
    """Raise FaultError when a report is not well-formed, too long, or shows what cannot be seen."""
    options = ReportOptions(max_bytes=5_000, max_characters=5_000, with_passed=True)
    for name, render in FORMATS.items():
        try:
            text = render(summary, options)
            if name == "junit.xml":
                ElementTree.fromstring(text)
        except Exception:
            raise FaultError(f"no {name} report:\n{traceback.format_exc()}") from None
        if name != "jsonl" and re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028]", text):
            raise FaultError(f"a control character reached the {name} report")
        if name.endswith("md") and len(text.encode("utf-8")) > 6_000:
            raise FaultError(f"the {name} report is too long")


def peak_bytes() -> int:
    """Return the most memory that this process has held; 0 where that is not known."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def fuzz(seed: int, seconds: float, most: int | None = None) -> tuple[Counter[str], list[str]]:
    """Return how the inputs ended, and the faults that were found, until the time or the number of inputs is up."""
    ends: Counter[str] = Counter()
    faults = []
    slowest = (0.0, "")
    deadline = time.monotonic() + seconds
    number = 0
    while time.monotonic() < deadline and (most is None or number < most):
        number += 1
        called = f"--seed {seed} --only {number}"
        start = time.monotonic()
        fault = fuzz_one(seed, number, ends)
        duration = time.monotonic() - start
        slowest = max(slowest, (duration, called))
        if fault is None and duration > MOST_SECONDS:
            fault = f"took {duration:.1f} s"
        if fault is None and peak_bytes() > MOST_BYTES:
            fault = f"memory reached {peak_bytes()} bytes"
        if fault is not None:
            faults.append(f"{called}: {fault}")
            if len(faults) >= SHOWN_FAULTS:
                break
    ends["inputs"] = number
    print(f"slowest: {slowest[0]:.2f} s ({slowest[1]}); most memory: {peak_bytes() >> 20} MiB", file=sys.stderr)
    return ends, faults


def fuzz_one(seed: int, number: int, ends: Counter[str]) -> str | None:
    """Build, spoil and score one input; return the fault, None where there is none."""
    source = random.Random(f"{seed} {number}")
    folder = Path(tempfile.mkdtemp(prefix="evaluation-fuzz-"))
    found = None
    try:
        benchmark = Benchmark(folder, source)
        for spoil in source.sample(SPOILERS, source.choice((0, 1, 1, 2, 3))):
            with contextlib.suppress(OSError):
                spoil(benchmark)
        if source.random() < 0.3:
            archive(benchmark)
        ends[check(benchmark)] += 1
    except FaultError as fault:
        found = f"{fault}\n  its files: {folder}"
    finally:
        if found is None or not keep_files():
            shutil.rmtree(folder)
    return found


def keep_files() -> bool:
    """Return whether the files of an input with a fault are kept."""
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Fuzz as the arguments say; return 1 when there was a fault, else 0."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.fuzz", description="Look for an input that breaks it.")
    parser.add_argument("--seconds", type=float, default=60, metavar="S", help="how long (default: 60)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which inputs (default: 1)")
    parser.add_argument("--only", type=int, metavar="N", help="score the N-th input of the seed alone")
    arguments = parser.parse_args(argv)
    if arguments.only is not None:
        ends: Counter[str] = Counter()
        fault = fuzz_one(arguments.seed, arguments.only, ends)
        faults = [] if fault is None else [fault]
    else:
        ends, faults = fuzz(arguments.seed, arguments.seconds)
    for fault in faults:
        print(fault)
    print(", ".join(f"{count} {end}" for end, count in ends.items()) + f", {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
