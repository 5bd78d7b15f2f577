"""Prediction archives: what is read from them, and what is refused before it can do harm."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import random
import stat
import struct
import unittest
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

from support import INTEGER, BenchmarkTestCase, FolderTestCase, run_cli

from evaluation.archives import ArchiveLimits, ZipArchive
from evaluation.errors import EvaluationFatalError, InputError, PredictionFormatError
from evaluation.submissions import PredictionArchive, open_submission

TABLE = b"h\n1\n"


def member(name: str, mode: int = stat.S_IFREG | 0o644, **fields: Any) -> zipfile.ZipInfo:
    """Return a member's description as it stands in the archive, whatever `zipfile` would make of the name."""
    info = zipfile.ZipInfo("placeholder")
    info.filename = name
    info.external_attr = mode << 16
    for key, value in fields.items():
        setattr(info, key, value)
    return info


def archive(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as target:
        for info, data in members:
            if isinstance(info, zipfile.ZipInfo):
                info.compress_type = method
            target.writestr(info, data)
    return stream.getvalue()


def with_directory_field(data: bytes, offset: int, value: bytes) -> bytes:
    """Return an archive with some bytes of its first directory entry replaced."""
    start = data.index(b"PK\1\2") + offset
    return data[:start] + value + data[start + len(value) :]


class PredictionArchiveTest(FolderTestCase):
    def open(self, data: bytes) -> PredictionArchive:
        submission = open_submission(self.write("submission.zip", data))
        assert isinstance(submission, PredictionArchive)
        return submission

    def refusal(self, data: bytes, task_id: str = "task_1") -> str:
        """Return why the task's prediction is refused; every other task must be unharmed."""
        submission = self.open(data)
        with self.assertRaises(PredictionFormatError) as caught:
            submission.read(task_id, "prediction.csv", 100)
        self.assertIsNone(submission.read("task_99", "prediction.csv", 100))
        return str(caught.exception)

    def test_reads_the_file_of_a_task(self) -> None:
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            for folder in ("", "out/", "a/b c/ü/", "./"):
                with self.subTest(method=method, folder=folder):
                    submission = self.open(
                        archive(
                            (f"{folder}notes.txt", b"x"),
                            (f"{folder}task_1/prediction.csv", TABLE),
                            (f"{folder}task_2/other.csv", b""),
                            (f"{folder}task_10/prediction.csv", b"h\n" * 50),
                            (f"{folder}task_4/sub/task_4/Prediction.csv", b"h\n"),
                            method=method,
                        )
                    )
                    content = submission.read("task_1", "prediction.csv", 100)
                    assert content is not None
                    self.assertEqual((content.data, content.identity), (TABLE, None))
                    self.assertEqual(submission.size("task_10", "prediction.csv"), 100)
                    self.assertEqual(submission.folders, ["task_1", "task_10", "task_2", "task_4"])
                    self.assertEqual(submission.refused, {})
                    for missing in ("task_2", "task_3", "task_4"):
                        self.assertIsNone(submission.read(missing, "prediction.csv", 100))

    def test_what_stands_at_the_top_counts(self) -> None:
        submission = self.open(archive(("old/task_1/prediction.csv", b"old"), ("task_1/prediction.csv", TABLE)))
        content = submission.read("task_1", "prediction.csv", 100)
        assert content is not None
        self.assertEqual(content.data, TABLE)

    def test_several_folders_are_ambiguous(self) -> None:
        data = archive(("b/task_1/prediction.csv", TABLE), ("a/task_2/prediction.csv", TABLE))
        with self.assertRaisesRegex(EvaluationFatalError, "in several folders, such as 'a' and 'b'"):
            self.open(data)

    def test_it_can_be_sent_to_another_process(self) -> None:
        submission = self.open(archive(("task_1/prediction.csv", TABLE)))
        sent = pickle.dumps(submission)
        self.assertLess(len(sent), 1000)
        received = pickle.loads(sent)
        self.assertEqual(
            received.read("task_1", "prediction.csv", 100), submission.read("task_1", "prediction.csv", 100)
        )

    def test_refused_names(self) -> None:
        for name, reason in (
            ("/task_1/prediction.csv", "has an absolute name"),
            ("C:/task_1/prediction.csv", "has an absolute name"),
            ("../task_1/prediction.csv", "has a name that leads out of its folder"),
            ("task_1/../task_1/prediction.csv", None),
            ("task_1\\prediction.csv", "has a backslash in its name"),
            ("\\task_1\\prediction.csv", "has an absolute name"),
        ):
            with self.subTest(name=name):
                data = archive((member(name), TABLE), ("task_2/prediction.csv", TABLE))
                if reason is not None:
                    self.assertEqual(self.refusal(data), f"task_1/prediction.csv {reason}")
                self.assertEqual(list(self.open(data).refused), [name])
                self.assertIsNotNone(self.open(data).read("task_2", "prediction.csv", 100))

    def test_a_refused_member_does_not_say_where_the_others_are(self) -> None:
        data = archive(("me/task_1/prediction.csv", TABLE), (member("/task_2/prediction.csv"), TABLE))
        submission = self.open(data)
        self.assertIsNotNone(submission.read("task_1", "prediction.csv", 100))
        self.assertIsNone(submission.read("task_2", "prediction.csv", 100))

    def test_a_name_with_a_nul(self) -> None:
        data = archive(("task_1/prediction.csv.", TABLE)).replace(b"prediction.csv.", b"prediction.csv\0")
        submission = self.open(data)
        self.assertIsNone(submission.read("task_1", "prediction.csv", 100))
        self.assertEqual(submission.refused, {"task_1/prediction.csv\0": "has a NUL character in its name"})

    def test_a_name_that_is_not_utf_8(self) -> None:
        data = archive(("task_1/ü", TABLE)).replace("ü".encode(), b"\xff\xfe")
        self.assertEqual(self.open(data).refused, {"task_1/\\xff\\xfe": "has a name that is not UTF-8"})

    def test_one_that_can_be_used_counts(self) -> None:
        data = archive((member("../task_1/prediction.csv"), b"evil"), ("task_1/prediction.csv", TABLE))
        for some in (data, archive(("task_1/prediction.csv", TABLE), (member("/x/../y"), b"evil"))):
            submission = self.open(some)
            content = submission.read("task_1", "prediction.csv", 100)
            assert content is not None
            self.assertEqual((content.data, len(submission.refused)), (TABLE, 1))

    def test_twice(self) -> None:
        with self.assertWarns(UserWarning):
            data = archive(("task_1/prediction.csv", TABLE), ("task_1/prediction.csv", b"h\n2\n"))
        self.assertEqual(self.refusal(data), "task_1/prediction.csv is 2 times in the archive")
        data = archive(("task_1/prediction.csv", TABLE), ("task_1//prediction.csv", b"h\n2\n"))
        self.assertEqual(self.refusal(data), "task_1/prediction.csv is 2 times in the archive")

    def test_names_that_differ_only_in_case(self) -> None:
        data = archive(("Task_1/prediction.csv", TABLE), ("task_1/prediction.csv", TABLE))
        self.assertEqual(self.refusal(data), "task_1/prediction.csv differs only in case from 'Task_1/prediction.csv'")
        self.assertEqual(len(self.open(data).refused), 2)

    def test_refused_kinds(self) -> None:
        for mode, kind in (
            (stat.S_IFLNK, "a symbolic link"),
            (stat.S_IFIFO, "a named pipe"),
            (stat.S_IFCHR, "a device"),
            (stat.S_IFSOCK, "a socket"),
            (stat.S_IFDIR, "a directory"),
        ):
            with self.subTest(kind=kind):
                data = archive((member("task_1/prediction.csv", mode | 0o644), b"/etc/passwd"))
                self.assertEqual(self.refusal(data), f"task_1/prediction.csv is {kind}, not a regular file")
        data = archive((member("task_1", stat.S_IFLNK | 0o777), b"elsewhere"), ("task_2/prediction.csv", TABLE))
        self.assertEqual(self.refusal(data), "task_1 is a symbolic link, not a regular file")
        # Archives made elsewhere say nothing of the kind.
        self.assertIsNotNone(
            self.open(archive((member("task_1/prediction.csv", 0), TABLE))).read("task_1", "prediction.csv", 100)
        )

    def test_encrypted(self) -> None:
        data = with_directory_field(archive(("task_1/prediction.csv", TABLE)), 8, b"\1\0")
        self.assertEqual(self.refusal(data), "task_1/prediction.csv is encrypted")

    def test_other_methods(self) -> None:
        data = with_directory_field(archive(("task_1/prediction.csv", TABLE)), 10, struct.pack("<H", 14))
        self.assertEqual(
            self.refusal(data), "task_1/prediction.csv is compressed by method 14, expected stored or deflated"
        )

    def test_too_long(self) -> None:
        data = archive(("task_1/prediction.csv", b"x" * 101))
        self.assertEqual(self.refusal(data), "task_1/prediction.csv is longer than 100 bytes")

    def test_a_size_that_is_a_lie(self) -> None:
        damaged = "task_1/prediction.csv is damaged in the archive"
        long = archive(("task_1/prediction.csv", b"x" * 1000))
        for claimed in (0, 1, 99):
            with self.subTest(claimed=claimed):
                self.assertEqual(self.refusal(with_directory_field(long, 24, struct.pack("<I", claimed))), damaged)
        # Nor does a checksum that fits what the size would leave.
        data = with_directory_field(long, 24, struct.pack("<I", 99))
        data = with_directory_field(data, 16, struct.pack("<I", zlib.crc32(b"x" * 99)))
        self.assertEqual(self.refusal(data), damaged)
        short = archive(("task_1/prediction.csv", b"x" * 50))
        self.assertEqual(self.refusal(with_directory_field(short, 24, struct.pack("<I", 90))), damaged)

    def test_damaged_data(self) -> None:
        data = archive(("task_1/prediction.csv", TABLE), method=zipfile.ZIP_STORED)
        self.assertEqual(
            self.refusal(data.replace(TABLE, b"h\n2\n")), "task_1/prediction.csv is damaged in the archive"
        )
        data = archive(("task_1/prediction.csv", TABLE)).replace(b"PK\3\4", b"PK\3\5")
        self.assertEqual(self.refusal(data), "task_1/prediction.csv is damaged in the archive")

    def test_members_that_share_their_bytes(self) -> None:
        data = archive(*((f"task_{number}/prediction.csv", TABLE) for number in (1, 2)), method=zipfile.ZIP_STORED)
        second = data.rindex(b"PK\1\2")
        overlapping = data[: second + 42] + bytes(4) + data[second + 46 :]
        for task_id in ("task_1", "task_2"):
            self.assertEqual(
                self.refusal(overlapping, task_id),
                f"{task_id}/prediction.csv shares its bytes with another member of the archive",
            )
        # An extra field in front of the data, which the directory does not tell of, shifts them into the next member.
        shifted = data[:28] + struct.pack("<H", 40) + data[30:]
        self.assertIn("task_1/prediction.csv shares its bytes", self.refusal(shifted))

    def test_a_directory_that_claims_a_members_bytes(self) -> None:
        data = archive(("x/", b""), ("task_1/prediction.csv", TABLE), method=zipfile.ZIP_STORED)
        second = data.rindex(b"PK\1\2")
        first = data.index(b"PK\1\2")
        place = data[second + 42 : second + 46]
        self.assertIn("shares its bytes", self.refusal(data[: first + 42] + place + data[first + 46 :]))

    def test_extra_fields_are_not_looked_at(self) -> None:
        for extra in (b"\x75\x70\x02\x00ab", b"\x75\x70\x05\x00\1abcd", b"\x75\x70\xff\xff", b"\1\0\1\0x"):
            info = member("task_1/prediction.csv", extra=extra)
            with self.subTest(extra=extra):
                self.assertIsNotNone(self.open(archive((info, TABLE))).read("task_1", "prediction.csv", 100))

    def test_a_comment_that_looks_like_the_end(self) -> None:
        data = archive(("task_1/prediction.csv", TABLE))
        comment = b"see PK\5\6 and " + data[-22:] + b"."
        commented = data[:-2] + struct.pack("<H", len(comment)) + comment
        self.assertIsNotNone(self.open(commented).read("task_1", "prediction.csv", 100))

    def test_what_stands_in_front_of_an_archive(self) -> None:
        data = b"#!/bin/sh\nexit\n" + archive(("task_1/prediction.csv", TABLE))
        self.assertIsNotNone(self.open(data).read("task_1", "prediction.csv", 100))

    def test_members_that_inflate_a_lot(self) -> None:
        for data in (b"h\n" + b"1\n" * 90_000, b"h\n" + b"x" * (3 << 20) + b"\n", b""):
            content = self.open(archive(("task_1/prediction.csv", data))).read("task_1", "prediction.csv", 4 << 20)
            assert content is not None
            self.assertEqual(content.data, data)

    def test_directories(self) -> None:
        submission = self.open(archive(("task_1/prediction.csv/", b""), ("task_2/", b""), ("task_3/x", b"")))
        with self.assertRaisesRegex(PredictionFormatError, "task_1/prediction.csv is a directory, not a regular file"):
            submission.read("task_1", "prediction.csv", 100)
        self.assertIsNone(submission.read("task_2", "prediction.csv", 100))
        self.assertEqual(submission.folders, ["task_1", "task_2", "task_3"])
        self.assertEqual(submission.refused, {})

    def test_what_is_no_task_or_lies_deeper_does_not_say_where_the_others_are(self) -> None:
        for stray in ("task_007/prediction.csv", "me/task_1/old/task_2/prediction.csv"):
            submission = self.open(archive((stray, TABLE), ("me/task_1/prediction.csv", TABLE)))
            self.assertIsNotNone(submission.read("task_1", "prediction.csv", 100))

    def test_other_letters_with_two_cases_are_just_other_letters(self) -> None:
        submission = self.open(
            archive(("task_1/\u2c2f", b""), ("task_1/\u2c5f", b""), ("task_1/É", b""), ("task_1/é", b""))
        )
        self.assertEqual(submission.refused, {})

    def test_broken_archives_are_fatal(self) -> None:
        data = archive(("task_1/prediction.csv", TABLE))
        for broken in (b"", b"h\n1\n", data[:-10], data[:30], data[-22:], bytes(100)):
            with self.subTest(broken=broken[:10]), self.assertRaises(EvaluationFatalError) as caught:
                self.open(broken)
            self.assertRegex(
                str(caught.exception), "^the prediction archive '.*' is not a zip archive, or a broken one$"
            )

    def test_mutated_archives_never_raise_anything_else(self) -> None:
        source = random.Random(5)
        data = archive(*((f"s/task_{number}/prediction.csv", TABLE * number) for number in range(1, 5)))
        for _ in range(400):
            mutated = bytearray(data)
            for _ in range(source.choice((1, 1, 2, 5))):
                mutated[source.randrange(len(data))] = source.choice((0, 1, 255, source.randrange(256)))
            try:
                submission = self.open(bytes(mutated))
            except EvaluationFatalError:
                continue
            for number in range(1, 5):
                try:
                    submission.read(f"task_{number}", "prediction.csv", 100)
                except PredictionFormatError:
                    continue


class LimitsTest(FolderTestCase):
    def refusal(self, data: bytes, **limits: int) -> str:
        with self.assertRaises(InputError) as caught:
            ZipArchive(self.write("a.zip", data), ArchiveLimits(**limits))
        return str(caught.exception)

    def test_limits(self) -> None:
        data = archive(*((f"{number}", bytes(1000)) for number in range(10)))
        self.assertEqual(self.refusal(data, members=9), "has 10 members, more than the 9 allowed")
        self.assertEqual(
            self.refusal(data, total_bytes=9999), "would inflate to 10000 bytes, more than the 9999 allowed"
        )
        self.assertEqual(
            self.refusal(data, ratio=4, free_bytes=0), "would inflate to more than 4 times its size (10000 bytes)"
        )
        self.assertEqual(self.refusal(data, directory_bytes=400), "has a directory of more than 400 bytes")
        ZipArchive(self.write("a.zip", data), ArchiveLimits(1000, 10, 10_000, 1, 10_000))

    def test_a_directory_is_not_read_before_its_length_is_known(self) -> None:
        end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, 1 << 30, 0, 0)
        path = self.write("a.zip", b"")
        with open(path, "r+b") as stream:
            stream.seek(1 << 30)
            stream.write(end)
        with self.assertRaisesRegex(InputError, "has a directory of more than 4194304 bytes"):
            ZipArchive(path)


class ScoreTest(BenchmarkTestCase):
    def setUp(self) -> None:
        super().setUp()
        for number in range(1, 5):
            self.add_task(number, f"h\n{number}\n", f"h\n{number}\n", [INTEGER])
        self.add_task(5, prediction=None)

    def score_archive(self, members: Mapping[str, bytes], *options: str) -> dict[str, Any]:
        path = self.write("submission.zip", archive(*members.items()))
        status, _, error = run_cli("--prediction-root", str(path), *self.roots[2:], *options)
        self.assertEqual(status, 0, error)
        written: dict[str, Any] = json.loads((self.folder / "submission.evaluation_summary.json").read_text())
        return written

    def predictions(self) -> dict[str, bytes]:
        root = self.folder / "predictions"
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.csv"))}

    def test_an_archive_scores_like_the_folder(self) -> None:
        expected = self.score()
        self.assertEqual(self.score_archive(self.predictions()), expected)
        self.assertEqual(self.score_archive({f"me/{k}": data for k, data in self.predictions().items()}), expected)
        self.assertFalse((self.folder / "me").exists())

    def test_a_refused_member_fails_its_own_task(self) -> None:
        honest = copy.deepcopy(self.score()["tasks"])
        members = self.predictions()
        members["TASK_2/prediction.csv"] = b"h\n2\n"
        members["../x\x1b[31m"] = b""
        members["task_77/prediction.csv"] = b""
        summary = self.score_archive(members)
        self.assertEqual(summary["unscored_prediction_tasks"], ["task_77"])
        self.assertEqual(summary["refused_members"]["../x\x1b[31m"], "has a name that leads out of its folder")
        self.assertEqual(len(summary["refused_members"]), 3)
        for before, after in zip(honest, summary["tasks"], strict=True):
            if after["task_id"] == "task_2":
                self.assertEqual(after["error_code"], "invalid_prediction_csv")
            else:
                self.assertEqual(after, before)
        _, output, _ = run_cli("--prediction-root", str(self.folder / "submission.zip"), *self.roots[2:])
        self.assertIn(
            r"Refused in the archive: '../x\x1b[31m' has a name that leads out of its folder, and 2 more", output
        )

    def test_a_broken_archive_is_fatal(self) -> None:
        path = self.write("submission.zip", b"PK\3\4")
        arguments = ["--prediction-root", str(path), *self.roots[2:]]
        self.assert_fatal(arguments=arguments, mentions=["the prediction archive", "submission.zip", "a broken one"])
        self.assertEqual([path.name for path in self.folder.glob("*.json")], [])

    def test_the_archive_is_not_written_over(self) -> None:
        path = self.write("submission.zip", archive(*self.predictions().items()))
        arguments = ["--prediction-root", str(path), *self.roots[2:], "--output", str(path)]
        self.assert_fatal(arguments=arguments, mentions=["is an input of the run"])

    @unittest.skipUnless(hasattr(os, "mkfifo"), "needs named pipes")
    def test_a_root_that_is_neither(self) -> None:
        os.mkfifo(self.folder / "pipe.zip")
        for name in ("pipe.zip", "nowhere.zip"):
            self.assert_fatal(
                arguments=["--prediction-root", str(self.folder / name), *self.roots[2:]],
                mentions=["the prediction root", name, *(["a named pipe, expected"] if name == "pipe.zip" else [])],
            )


if __name__ == "__main__":
    unittest.main()
