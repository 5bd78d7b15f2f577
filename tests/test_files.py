"""Reading regular files, and nothing that merely looks like one."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import unittest
from pathlib import Path
from unittest import mock

from support import FolderTestCase

from evaluation.errors import EvaluationFatalError, InputError
from evaluation.files import FileSetDigest, read_file


class ReadFileTest(FolderTestCase):
    def refusal(self, path: Path, follow_links: bool = False) -> str:
        with self.assertRaises(InputError) as caught:
            read_file(path, 100, follow_links=follow_links)
        return str(caught.exception)

    def test_regular_file(self) -> None:
        content = read_file(self.write("a", b"x" * 100), 100, follow_links=False)
        self.assertEqual(content.data, b"x" * 100)

    def test_too_long(self) -> None:
        self.assertEqual(self.refusal(self.write("a", b"x" * 101)), "is longer than 100 bytes")

    def test_nothing_there(self) -> None:
        self.write("file", b"")
        for name in ("nowhere", "nowhere/a", "file/a"):
            with self.subTest(name=name), self.assertRaises(FileNotFoundError):
                read_file(self.folder / name, 100, follow_links=False)

    def test_hard_links_share_an_identity(self) -> None:
        first = self.write("a", b"x")
        os.link(first, self.folder / "b")
        other = self.write("c", b"x")
        identities = [read_file(path, 9, follow_links=False).identity for path in (first, self.folder / "b", other)]
        self.assertEqual(identities[0], identities[1])
        self.assertNotEqual(identities[0], identities[2])

    def test_links(self) -> None:
        link, loop, dangling = (self.folder / name for name in ("link", "loop", "dangling"))
        link.symlink_to(self.write("a", b"x"))
        loop.symlink_to(loop)
        dangling.symlink_to("nowhere")
        for path in (link, loop, dangling):
            with self.subTest(path=path.name):
                self.assertEqual(self.refusal(path), "is a symbolic link, not a regular file")
        self.assertEqual(read_file(link, 100, follow_links=True).data, b"x")
        self.assertIn("is a symbolic link", self.refusal(loop, follow_links=True))

    def test_other_kinds(self) -> None:
        (self.folder / "directory").mkdir()
        self.assertEqual(self.refusal(self.folder / "directory"), "is a directory, not a regular file")
        if hasattr(os, "mkfifo"):
            os.mkfifo(self.folder / "pipe")
            self.assertEqual(self.refusal(self.folder / "pipe"), "is a named pipe, not a regular file")
        if hasattr(socket, "AF_UNIX"):
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(self.folder / "socket"))
                self.assertEqual(self.refusal(self.folder / "socket"), "is a socket, not a regular file")
        if Path("/dev/null").exists():
            self.assertEqual(self.refusal(Path("/dev/null")), "is a device, not a regular file")

    def test_a_lack_of_descriptors_is_no_fault_of_the_file(self) -> None:
        path = self.write("a", b"x")
        with (
            mock.patch.object(os, "open", side_effect=OSError(errno.EMFILE, "Too many open files")),
            self.assertRaisesRegex(EvaluationFatalError, "cannot open '.*': Too many open files"),
        ):
            read_file(path, 100, follow_links=False)

    @unittest.skipIf(not hasattr(os, "geteuid") or os.geteuid() == 0, "permissions do not bind this user")
    def test_unreadable(self) -> None:
        path = self.write("a", b"x")
        path.chmod(0)
        self.assertEqual(self.refusal(path), "cannot be read (PermissionError)")


class FileSetDigestTest(unittest.TestCase):
    def test_construction(self) -> None:
        digest = FileSetDigest()
        digest.add("task_1/gold.csv", b"a\n1\n")
        digest.add("é", b"")
        self.assertEqual(
            digest.hexdigest(), hashlib.sha256(b"task_1/gold.csv\0a\n1\n\0" + "é".encode() + b"\0\0").hexdigest()
        )


if __name__ == "__main__":
    unittest.main()
