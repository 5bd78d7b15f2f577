"""A prediction root: what is read, what is missing, what is refused."""

from __future__ import annotations

import os
import unittest

from support import FolderTestCase

from evaluation.errors import EvaluationFatalError, PredictionFormatError
from evaluation.submissions import PredictionDirectory


class PredictionDirectoryTest(FolderTestCase):
    def test_reads_the_file_of_a_task(self) -> None:
        self.write("task_1/prediction.csv", "a\n")
        content = PredictionDirectory(self.folder).read("task_1", "prediction.csv", 100)
        assert content is not None
        self.assertEqual(content.data, b"a\n")

    def test_missing(self) -> None:
        (self.folder / "task_2").mkdir()
        self.write("task_3", "a file where a directory belongs")
        self.write("task_4/Prediction.csv", "a\n")
        submission = PredictionDirectory(self.folder)
        for task_id in ("task_1", "task_2", "task_3", "task_4"):
            with self.subTest(task_id=task_id):
                self.assertIsNone(submission.read(task_id, "prediction.csv", 100))

    def test_refused(self) -> None:
        outside = self.write("outside/prediction.csv", "a\n")
        (self.folder / "root" / "task_1").mkdir(parents=True)
        (self.folder / "root" / "task_1" / "prediction.csv").symlink_to(outside)
        (self.folder / "root" / "task_2").symlink_to(outside.parent)
        (self.folder / "root" / "task_3").symlink_to("task_3")
        (self.folder / "root" / "task_4" / "prediction.csv").mkdir(parents=True)
        self.write("root/task_5/prediction.csv", b"x" * 101)
        submission = PredictionDirectory(self.folder / "root")
        for task_id, expected in (
            ("task_1", "task_1/prediction.csv is a symbolic link, not a regular file"),
            ("task_2", "task_2 is a symbolic link, not a directory"),
            ("task_3", "task_3 is a symbolic link, not a directory"),
            ("task_4", "task_4/prediction.csv is a directory, not a regular file"),
            ("task_5", "task_5/prediction.csv is longer than 100 bytes"),
        ):
            with self.subTest(task_id=task_id):
                with self.assertRaises(PredictionFormatError) as caught:
                    submission.read(task_id, "prediction.csv", 100)
                self.assertEqual(str(caught.exception), expected)

    def test_folders(self) -> None:
        for name in ("task_2", "task_10", "notes"):
            (self.folder / name).mkdir()
        self.write("task_3", "a file")
        (self.folder / "task_4").symlink_to("task_2")
        self.assertEqual(PredictionDirectory(self.folder).folders, ["notes", "task_10", "task_2"])

    def test_a_root_that_cannot_be_listed_is_fatal(self) -> None:
        file = self.write("file", "")
        for root in (self.folder / "nowhere", file):
            with self.subTest(root=root.name), self.assertRaisesRegex(EvaluationFatalError, "cannot be listed"):
                PredictionDirectory(root)

    @unittest.skipIf(not hasattr(os, "geteuid") or os.geteuid() == 0, "permissions do not bind this user")
    def test_a_directory_without_search_permission(self) -> None:
        self.write("task_1/prediction.csv", "a\n")
        (self.folder / "task_1").chmod(0)
        self.addCleanup((self.folder / "task_1").chmod, 0o700)
        with self.assertRaisesRegex(PredictionFormatError, "cannot be read"):
            PredictionDirectory(self.folder).read("task_1", "prediction.csv", 100)


if __name__ == "__main__":
    unittest.main()
