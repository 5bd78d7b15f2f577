"""A zip archive as a set of files, read without unpacking it to disk and without believing what it says of itself."""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .errors import InputError, quoted
from .files import kind_of, open_regular_file

_MEBIBYTE = 1 << 20
_CHUNK_BYTES = _MEBIBYTE
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_LOCAL_HEADER_BYTES = 30
_DRIVE = re.compile("^[A-Za-z]:")


class ArchiveLimits(NamedTuple):
    """What an archive may hold at most: bytes of its directory, members, and bytes of all members once inflated.

    Beyond `free_bytes` the members may not inflate to more than `ratio` times the archive's own size.
    """

    directory_bytes: int = 4 * _MEBIBYTE
    members: int = 20_000
    total_bytes: int = 4096 * _MEBIBYTE
    ratio: int = 100
    free_bytes: int = 64 * _MEBIBYTE


DEFAULT_ARCHIVE_LIMITS = ArchiveLimits()


class Member(NamedTuple):
    """A file in an archive: its name as it stands there, its path in clean form, its size once inflated.

    `refusal` says why it cannot be used, as a predicate such as "is encrypted"; None where it can.
    """

    name: str
    path: str
    size: int
    refusal: str | None


class ZipArchive:
    """The files in the zip archive at `path`; directories are left out.

    Raises FileNotFoundError when nothing is there, and InputError, whose text is a predicate, when it is no regular
    file, no sound zip archive, or beyond `limits`.
    """

    def __init__(self, path: str | os.PathLike[str], limits: ArchiveLimits = DEFAULT_ARCHIVE_LIMITS) -> None:
        descriptor, status = open_regular_file(path, follow_links=True)
        self._file = _File(descriptor, status.st_size)
        try:
            infos = self._read_directory(limits)
        except BaseException:
            self._file.close()
            raise
        self._infos = {info.orig_filename: info for info in infos}
        self.members = _members(infos)

    def _read_directory(self, limits: ArchiveLimits) -> list[zipfile.ZipInfo]:
        self._file.most_bytes = limits.directory_bytes
        try:
            self._zip = zipfile.ZipFile(self._file)
        except InputError:
            raise
        except Exception:
            # What a hostile directory makes the reader raise is not known in full, and all of it means the same.
            raise InputError("is not a zip archive, or a broken one") from None
        self._file.most_bytes = _CHUNK_BYTES
        infos = self._zip.infolist()
        if len(infos) > limits.members:
            raise InputError(f"has {len(infos)} members, more than the {limits.members} allowed")
        total = sum(info.file_size for info in infos)
        if total > limits.total_bytes:
            raise InputError(f"would inflate to {total} bytes, more than the {limits.total_bytes} allowed")
        if total > max(limits.free_bytes, limits.ratio * self._file.size):
            raise InputError(f"would inflate to more than {limits.ratio} times its size ({total} bytes)")
        self._starts = sorted([info.header_offset for info in infos] + [self._zip.start_dir, self._file.size])
        return [info for info in infos if not info.orig_filename.endswith("/")]

    def read(self, name: str, max_bytes: int) -> bytes:
        """Return the content of the member called `name`, which was not refused.

        Raises InputError, whose text is a predicate, when it is damaged or longer than `max_bytes`.
        """
        info = self._infos[name]
        if info.file_size > max_bytes:
            raise InputError(f"is longer than {max_bytes} bytes")
        try:
            with self._zip.open(info) as stream:
                if self._data_overruns(info):
                    raise InputError("shares its bytes with another member of the archive")
                chunks = list(iter(lambda: stream.read(_CHUNK_BYTES), b""))
        except InputError:
            raise
        except Exception:
            # As above; a wrong checksum is the most common.
            raise InputError("is damaged in the archive") from None
        data = b"".join(chunks)
        if len(data) != info.file_size:
            raise InputError("is damaged in the archive")
        return data

    def _data_overruns(self, info: zipfile.ZipInfo) -> bool:
        """Return whether the member's data reach into what follows; some versions of `zipfile` do not look."""
        self._file.seek(info.header_offset + _LOCAL_HEADER_BYTES - 4)
        lengths = self._file.read(4)
        header = _LOCAL_HEADER_BYTES + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
        end = self._starts[bisect_right(self._starts, info.header_offset)]
        return info.header_offset + header + info.compress_size > end


class _File(io.RawIOBase):
    """An open descriptor, closed with this object, and read from positions of its own.

    A process that was forked shares the descriptor, but cannot disturb the position. One call reads at most
    `most_bytes`, because the reader of a zip archive asks for the whole directory, however long it claims to be.
    """

    most_bytes = _CHUNK_BYTES

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self._position = 0
        self.size = size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}[whence]
        if start + offset < 0:
            raise OSError("a position before the start")
        self._position = start + offset
        return self._position

    def read(self, size: int = -1) -> bytes:
        left = max(self.size - self._position, 0)
        size = left if size < 0 else min(size, left)
        if size > self.most_bytes:
            raise InputError(f"has a directory of more than {self.most_bytes} bytes")
        data = self._read_here(size)
        self._position += len(data)
        return data

    def _read_here(self, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, size, self._position)
        os.lseek(self._descriptor, self._position, os.SEEK_SET)
        return os.read(self._descriptor, size)

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def _members(infos: Sequence[zipfile.ZipInfo]) -> tuple[Member, ...]:
    """Return the files that the directory lists, in its order, each with the first reason to refuse it."""
    members = [
        Member(info.orig_filename, _path(info.orig_filename), info.file_size, _name_fault(info.orig_filename))
        for info in infos
    ]
    well_named = [member.path for member in members if member.refusal is None]
    counts = Counter(well_named)
    spellings: dict[str, dict[str, None]] = {}
    for path in well_named:
        spellings.setdefault(path.casefold(), {})[path] = None
    overlapping = _overlapping(infos)
    for place, (info, member) in enumerate(zip(infos, members, strict=True)):
        refusal = member.refusal or _kind_fault(info)
        if refusal is None and counts[member.path] > 1:
            refusal = f"is {counts[member.path]} times in the archive"
        elif refusal is None and len(others := spellings[member.path.casefold()]) > 1:
            other = next(path for path in others if path != member.path)
            refusal = f"differs only in case from {quoted(other)}"
        elif refusal is None and info.header_offset in overlapping:
            refusal = "shares its bytes with another member of the archive"
        members[place] = member._replace(refusal=refusal)
    return tuple(members)


def _path(name: str) -> str:
    """Return a name with slashes between its parts and nothing superfluous; of an unsafe one, what it pretends."""
    parts = _DRIVE.sub("", name).replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def _name_fault(name: str) -> str | None:
    if "\0" in name:
        return "has a NUL character in its name"
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        return "has an absolute name"
    if ".." in name.replace("\\", "/").split("/"):
        return "has a name that leads out of its folder"
    return "has a backslash in its name" if "\\" in name else None


def _kind_fault(info: zipfile.ZipInfo) -> str | None:
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) and not stat.S_ISREG(mode):
        return f"is {kind_of(mode)}, not a regular file"
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if info.compress_type not in _METHODS:
        return f"is compressed by method {info.compress_type}, expected stored or deflated"
    return None


def _overlapping(infos: Iterable[zipfile.ZipInfo]) -> set[int]:
    """Return where the members begin whose bytes, as far as the directory tells, are another's too."""
    found = set()
    furthest_start, furthest_end = -1, 0
    for start, length in sorted((info.header_offset, len(info.orig_filename) + info.compress_size) for info in infos):
        if start < furthest_end:
            found |= {furthest_start, start}
        if (end := start + _LOCAL_HEADER_BYTES + length) > furthest_end:
            furthest_start, furthest_end = start, end
    return found
