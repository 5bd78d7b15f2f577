"""The benchmark runs, and says so when a verdict is wrong; how fast is not tested."""

from __future__ import annotations

import re
import subprocess
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path
from random import Random
from unittest import mock

import benchmark
from support import ROOT, FolderTestCase, captured, environment


class BenchmarkTest(FolderTestCase):
    @unittest.skipIf(sys.platform == "emscripten", "needs processes")
    def test_a_workload(self) -> None:
        command = [sys.executable, "-m", "tests.benchmark", "wide", "--repeats", "1", "--option=--jobs=2"]
        done = subprocess.run(
            command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False, timeout=300
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        header, row = done.stdout.splitlines()
        self.assertEqual(header.split()[:2], ["workload", "floor"])
        self.assertRegex(row, r"^wide( +[0-9.]+){6}(  over)?$")

    def test_usage(self) -> None:
        for arguments in (["--repeats", "0"], ["--repeats", "-1"], ["no such workload"]):
            with self.subTest(arguments=arguments), captured() as (_, error), self.assertRaises(SystemExit) as left:
                benchmark.main(arguments)
            self.assertEqual(left.exception.code, 2)
            self.assertIn("error: ", error.getvalue())
        with captured(), self.assertRaisesRegex(SystemExit, "--no-such-option"):
            benchmark.main(["wide", "--option=--no-such-option"])

    def test_the_same_seed_gives_the_same_files(self) -> None:
        contents = []
        for folder in (self.folder / "first", self.folder / "second"):
            folder.mkdir()
            self.assertEqual(set(benchmark.write(folder, "suite").values()), {None})
            contents.append({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")})
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(len(contents[0]), 3 * 410)

    @unittest.skipIf(sys.platform == "emscripten", "needs processes")
    def test_a_wrong_verdict_is_told(self) -> None:
        def wrong(source: Random) -> Iterator[benchmark.Task]:
            yield benchmark.Task([benchmark.TEXT], [["a"]], [["b"]])

        def write_here(folder: Path, name: str) -> dict[str, str | None]:
            with mock.patch.dict(benchmark.WORKLOADS, wrong=benchmark.Workload(wrong)):
                return benchmark.write(folder, "wrong")

        with (
            mock.patch.object(benchmark, "written_by_a_child", write_here),
            self.assertRaisesRegex(RuntimeError, re.escape("wrong: a verdict is wrong")),
        ):
            benchmark.measure("wrong", benchmark.Workload(wrong), 1, [])


if __name__ == "__main__":
    unittest.main()
