"""The one writer: whole or not at all, and never through somebody's link."""

from __future__ import annotations

import os
import unittest
from pathlib import Path
from unittest import mock

from support import FolderTestCase

from evaluation.errors import EvaluationFatalError
from evaluation.reports.output import check_output, write_atomically


class WriteAtomicallyTest(FolderTestCase):
    def leftovers(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name.startswith("."))

    def test_writes_utf8_with_the_given_line_ends(self) -> None:
        path = self.folder / "out.json"
        for text in ("é\n", "\r\nother\n"):
            write_atomically(path, text)
            self.assertEqual(path.read_bytes(), text.encode("utf-8"))
        self.assertEqual(self.leftovers(), [])

    def test_a_failure_leaves_the_old_file_whole(self) -> None:
        path = self.write("out.json", "old")
        for name, error in (("fsync", OSError(28, "No space left on device")), ("replace", OSError(5, "I/O error"))):
            with self.subTest(name=name), mock.patch.object(os, name, side_effect=error):
                with self.assertRaisesRegex(EvaluationFatalError, "cannot write .*out.json': (No space|I/O)"):
                    write_atomically(path, "new")
                self.assertEqual(path.read_text(), "old")
                self.assertEqual(self.leftovers(), [])

    def test_an_interruption_leaves_the_old_file_whole(self) -> None:
        path = self.write("out.json", "old")
        with mock.patch.object(os, "fsync", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            write_atomically(path, "new")
        self.assertEqual((path.read_text(), self.leftovers()), ("old", []))

    def test_a_link_is_replaced_and_not_followed(self) -> None:
        target = self.write("target", "untouched")
        for destination in (target, self.folder / "nowhere"):
            link = self.folder / "out.json"
            link.symlink_to(destination)
            write_atomically(link, "new")
            self.assertFalse(link.is_symlink())
            self.assertEqual((link.read_text(), target.read_text()), ("new", "untouched"))
            link.unlink()

    def test_refused_before_any_work(self) -> None:
        (self.folder / "directory").mkdir()
        cases = [
            ("directory", "it is a directory, not a regular file"),
            ("nowhere/out.json", "its folder does not exist"),
        ]
        if hasattr(os, "mkfifo"):
            os.mkfifo(self.folder / "pipe")
            cases.append(("pipe", "it is a named pipe, not a regular file"))
        if Path("/dev/null").exists():
            cases.append(("/dev/null", "it is a device, not a regular file"))
        for name, expected in cases:
            with self.subTest(name=name), self.assertRaisesRegex(EvaluationFatalError, expected):
                check_output(self.folder / name)

    @unittest.skipIf(not hasattr(os, "geteuid") or os.geteuid() == 0, "permissions do not bind this user")
    def test_unwritable_folder(self) -> None:
        self.folder.chmod(0o500)
        self.addCleanup(self.folder.chmod, 0o700)
        with self.assertRaisesRegex(EvaluationFatalError, "its folder is not writable"):
            check_output(self.folder / "out.json")


if __name__ == "__main__":
    unittest.main()
