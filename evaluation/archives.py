"""A zip archive as a set of files, read without unpacking it to disk and without believing what it says of itself.

The format is read here and not by `zipfile`, because what that refuses, warns of and reads of a malformed archive
differs from one version of Python to the next. Of the format (PKWARE, APPNOTE.TXT 6.3) only what the limits allow is
known: one disk, no ZIP64, members stored or deflated.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from .errors import InputError, quoted
from .files import kind_of, open_regular_file

_MEBIBYTE = 1 << 20
_CHUNK_BYTES = _MEBIBYTE
_STORED, _DEFLATED = 0, 8
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_NAME_IS_UTF_8 = 0x800
_SATURATED = 0xFFFFFFFF
_DRIVE = re.compile("^[A-Za-z]:")

# Signature; then of the end record: entries on all disks, bytes and place of the directory, length of the comment.
_END = struct.Struct("<4s6xHIIH")
# Of an entry: flags, method, checksum, both sizes, lengths of name, extra field and comment, attributes, place.
_ENTRY = struct.Struct("<4s4xHH4xIIIHHH4xII")
# Of a member's own header: lengths of name and extra field.
_HEADER = struct.Struct("<4s22xHH")
_LONGEST_COMMENT = 0xFFFF
_BROKEN = "is not a zip archive, or a broken one"
_DAMAGED = "is damaged in the archive"
_SHARED = "shares its bytes with another member of the archive"


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
    """What an archive holds under a name: its path in clean form, its size once inflated, whether it is a directory.

    `refusal` says why it cannot be used as a file, as a predicate such as "is encrypted"; None where it can.
    """

    name: str
    path: str
    size: int
    is_directory: bool
    refusal: str | None


class _Entry(NamedTuple):
    flags: int
    method: int
    checksum: int
    packed_size: int
    size: int
    attributes: int
    start: int
    raw_name: bytes
    name: str

    @property
    def mode(self) -> int:
        return self.attributes >> 16

    @property
    def is_directory(self) -> bool:
        return self.name.endswith("/")


class ZipArchive:
    """The members of the zip archive at `path`, in the order of its directory.

    Raises FileNotFoundError when nothing is there, and InputError, whose text is a predicate, when it is no regular
    file, no sound zip archive, or beyond `limits`.
    """

    def __init__(self, path: str | os.PathLike[str], limits: ArchiveLimits = DEFAULT_ARCHIVE_LIMITS) -> None:
        descriptor, status = open_regular_file(path, follow_links=True)
        self._file = _File(descriptor, status.st_size)
        entries = list(self._read_directory(limits))
        _check_total(entries, status.st_size, limits)
        self._entries = {entry.name: entry for entry in entries}
        starts = sorted({entry.start for entry in entries})
        self._ends = dict(pairwise([*starts, self._directory_start]))
        self.members = _members(entries)

    def _read_directory(self, limits: ArchiveLimits) -> Iterator[_Entry]:
        count, length, place, end = self._find_end()
        if count == 0xFFFF or _SATURATED in (length, place):
            raise InputError("is a ZIP64 archive, which is beyond the limits")
        if length > limits.directory_bytes:
            raise InputError(f"has a directory of more than {limits.directory_bytes} bytes")
        if count > limits.members:
            raise InputError(f"has {count} members, more than the {limits.members} allowed")
        self._directory_start = end - length
        # What was put in front of the archive, such as a program that unpacks it, shifts every place.
        shift = self._directory_start - place
        if shift < 0:
            raise InputError(_BROKEN)
        data = self._file.read(self._directory_start, length)
        at = 0
        for _ in range(count):
            entry, at = _read_entry(data, at, shift)
            if entry.start >= self._directory_start:
                raise InputError(_BROKEN)
            yield entry
        if at != length:
            raise InputError(_BROKEN)

    def _find_end(self) -> tuple[int, int, int, int]:
        """Return from the end record the number of entries, the directory's bytes and place, and where itself is."""
        tail_start = max(0, self._file.size - _END.size - _LONGEST_COMMENT)
        tail = self._file.read(tail_start, self._file.size - tail_start)
        at = len(tail)
        while (at := tail.rfind(b"PK\5\6", 0, at)) >= 0:
            if at + _END.size > len(tail):
                continue
            _, count, length, place, comment = _END.unpack_from(tail, at)
            # The comment may hold what looks like an end record; the real one's comment ends with the file.
            if at + _END.size + comment == len(tail):
                return count, length, place, tail_start + at
        raise InputError(_BROKEN)

    def read(self, name: str, max_bytes: int) -> bytes:
        """Return the content of the member called `name`, which was not refused.

        Raises InputError, whose text is a predicate, when it is damaged or longer than `max_bytes`.
        """
        entry = self._entries[name]
        if entry.size > max_bytes:
            raise InputError(f"is longer than {max_bytes} bytes")
        header = self._file.read(entry.start, _HEADER.size)
        if len(header) < _HEADER.size or header[:4] != b"PK\3\4":
            raise InputError(_DAMAGED)
        _, name_length, extra_length = _HEADER.unpack(header)
        start = entry.start + _HEADER.size
        if self._file.read(start, name_length) != entry.raw_name:
            raise InputError(_DAMAGED)
        start += name_length + extra_length
        if start + entry.packed_size > self._ends[entry.start]:
            raise InputError(_SHARED)
        chunks = self._file.chunks(start, entry.packed_size)
        data = b"".join(chunks) if entry.method == _STORED else _inflated(chunks, entry.size)
        if len(data) != entry.size or zlib.crc32(data) != entry.checksum:
            raise InputError(_DAMAGED)
        return data


class _File:
    """An open descriptor, closed with this object. Every read names its place, so processes can share it."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self.size = size

    def __del__(self) -> None:
        os.close(self._descriptor)

    def read(self, start: int, length: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, length, start)
        os.lseek(self._descriptor, start, os.SEEK_SET)
        return os.read(self._descriptor, length)

    def chunks(self, start: int, length: int) -> Iterator[bytes]:
        while length > 0 and (chunk := self.read(start, min(length, _CHUNK_BYTES))):
            yield chunk
            start += len(chunk)
            length -= len(chunk)


def _inflated(chunks: Iterator[bytes], size: int) -> bytes:
    """Return what a deflated stream holds. Raises InputError when it is damaged, or more than `size` bytes."""
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    parts = []
    left = size + 1
    try:
        for chunk in chunks:
            more = True
            while more and left and not stream.eof:
                wanted = min(left, _CHUNK_BYTES)
                part = stream.decompress(chunk, wanted)
                parts.append(part)
                left -= len(part)
                chunk = stream.unconsumed_tail
                # What filled the room that it was given may go on, even where no input is left.
                more = bool(chunk) or len(part) == wanted
            if stream.eof or not left:
                break
    except zlib.error:
        raise InputError(_DAMAGED) from None
    if not stream.eof:
        raise InputError(_DAMAGED)
    return b"".join(parts)


def _read_entry(data: bytes, at: int, shift: int) -> tuple[_Entry, int]:
    """Return the entry of the directory that starts at a place, and where the next one does."""
    if at + _ENTRY.size > len(data) or data[at : at + 4] != b"PK\1\2":
        raise InputError(_BROKEN)
    _, flags, method, checksum, packed, size, name_length, extra, comment, attributes, start = _ENTRY.unpack_from(
        data, at
    )
    at += _ENTRY.size
    raw_name = data[at : at + name_length]
    # Bytes that are not UTF-8 become escapes, so that the name can be written; it is refused all the same.
    name = raw_name.decode("utf-8" if flags & _NAME_IS_UTF_8 else "cp437", "backslashreplace")
    return (
        _Entry(flags, method, checksum, packed, size, attributes, start + shift, raw_name, name),
        at + name_length + extra + comment,
    )


def _check_total(entries: Sequence[_Entry], archive_bytes: int, limits: ArchiveLimits) -> None:
    total = sum(entry.size for entry in entries)
    if total > limits.total_bytes:
        raise InputError(f"would inflate to {total} bytes, more than the {limits.total_bytes} allowed")
    if total > max(limits.free_bytes, limits.ratio * archive_bytes):
        raise InputError(f"would inflate to more than {limits.ratio} times its size ({total} bytes)")


def _members(entries: Sequence[_Entry]) -> tuple[Member, ...]:
    """Return the members, each with the first reason to refuse it."""
    members = [
        Member(entry.name, _path(entry.name), entry.size, entry.is_directory, _name_fault(entry)) for entry in entries
    ]
    well_named = [member.path for member in members if member.refusal is None and not member.is_directory]
    counts = Counter(well_named)
    spellings: dict[bytes, dict[str, None]] = {}
    for path in well_named:
        spellings.setdefault(_without_case(path), {})[path] = None
    overlapping = _overlapping(entries)
    for place, (entry, member) in enumerate(zip(entries, members, strict=True)):
        refusal = member.refusal or _kind_fault(entry)
        if refusal is None and counts[member.path] > 1:
            refusal = f"is {counts[member.path]} times in the archive"
        elif refusal is None and len(others := spellings[_without_case(member.path)]) > 1:
            other = next(path for path in others if path != member.path)
            refusal = f"differs only in case from {quoted(other)}"
        elif refusal is None and entry.start in overlapping:
            refusal = _SHARED
        members[place] = member._replace(refusal=refusal)
    return tuple(members)


def _path(name: str) -> str:
    """Return a name with slashes between its parts and nothing superfluous; of an unsafe one, what it pretends."""
    parts = _DRIVE.sub("", name).replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def _without_case(path: str) -> bytes:
    # Of ASCII letters only: what else has two cases depends on the version of Unicode.
    return path.encode("utf-8").lower()


def _name_fault(entry: _Entry) -> str | None:
    name = entry.name
    if "\0" in name:
        return "has a NUL character in its name"
    if entry.flags & _NAME_IS_UTF_8 and name.encode("utf-8") != entry.raw_name:
        return "has a name that is not UTF-8"
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        return "has an absolute name"
    if ".." in name.replace("\\", "/").split("/"):
        return "has a name that leads out of its folder"
    return "has a backslash in its name" if "\\" in name else None


def _kind_fault(entry: _Entry) -> str | None:
    if entry.is_directory:
        return "is a directory, not a regular file"
    if stat.S_IFMT(entry.mode) and not stat.S_ISREG(entry.mode):
        return f"is {kind_of(entry.mode)}, not a regular file"
    if entry.flags & _ENCRYPTED:
        return "is encrypted"
    if entry.method not in (_STORED, _DEFLATED):
        return f"is compressed by method {entry.method}, expected stored or deflated"
    if _SATURATED in (entry.size, entry.packed_size):
        return "is a ZIP64 member, which is beyond the limits"
    return None


def _overlapping(entries: Sequence[_Entry]) -> set[int]:
    """Return where the members begin whose bytes, as far as the directory tells, are another's too."""
    found = set()
    furthest_start, furthest_end = -1, 0
    for start, length in sorted((entry.start, len(entry.raw_name) + entry.packed_size) for entry in entries):
        if start < furthest_end:
            found |= {furthest_start, start}
        if (end := start + _HEADER.size + length) > furthest_end:
            furthest_start, furthest_end = start, end
    return found
