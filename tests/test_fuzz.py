"""The fuzzer finds what it is there to find, and nothing in the inputs of a moment."""

from __future__ import annotations

import sys
import unittest
from collections.abc import Callable
from unittest import mock

import fuzz
from support import captured


@unittest.skipIf(sys.platform in ("emscripten", "win32"), "needs kinds of files that only some systems have")
class FuzzTest(unittest.TestCase):
    def test_a_moment_without_faults(self) -> None:
        with captured():
            ends, faults = fuzz.fuzz(seed=20, seconds=60, most=150)
        self.assertEqual(faults, [])
        self.assertEqual(ends["inputs"], 150)
        self.assertGreater(min(ends["scored"], ends["not scored"]), 10)

    def test_faults_are_found(self) -> None:
        def traceback(*_: object, **__: object) -> int:
            raise ZeroDivisionError

        def wrong_status(*_: object, **__: object) -> int:
            return 3

        def found(broken: Callable[..., int]) -> str:
            with captured() as (output, _), mock.patch.object(fuzz, "evaluate", broken):
                self.assertEqual(fuzz.main(["--seed", "1", "--only", "1"]), 1)
            return output.getvalue()

        with mock.patch.object(fuzz, "keep_files", return_value=False):
            self.assertIn("ZeroDivisionError", found(traceback))
            self.assertIn("exit status 3", found(wrong_status))

    def test_a_verdict_that_changes_is_found(self) -> None:
        honest = fuzz.SPOILERS

        def sly(benchmark: fuzz.Benchmark) -> None:
            honest[0](benchmark)
            benchmark.touched.clear()

        with (
            captured(),
            mock.patch.object(fuzz, "SPOILERS", [sly] * 9),
            mock.patch.object(fuzz, "keep_files", return_value=False),
        ):
            _, faults = fuzz.fuzz(seed=1, seconds=60, most=40)
        self.assertIn("was not touched, but failed", "".join(faults))


if __name__ == "__main__":
    unittest.main()
