"""The files of a zip archive, read without unpacking it.

Its list of files is at its end, so it is not read as a stream, as a tar is. Sizes, names and kinds of files in the list
are not trusted.
"""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from shapeinf.errors import LimitError, ModelError

MAX_LIST = 1 << 26
"""The most bytes of the list of files."""

_END, _LOCATOR_64 = b"PK\x05\x06", b"PK\x06\x07"
_END_LENGTH, _LOCATOR_LENGTH, _END_64_LENGTH, _LONGEST_COMMENT = 22, 20, 56, 1 << 16
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1
_BLOCK = 1 << 20
_DAMAGES = (
    *(zipfile.BadZipFile, zlib.error, EOFError, struct.error, NotImplementedError, OverflowError),
    *(ValueError, OSError),  # a position before the beginning of the file
)
"""What Python's reader raises for a damaged archive."""


def zip_members(
    file: BinaryIO, archive_name: str, most: int, length_of: Callable[[str, int], int | None]
) -> Iterator[tuple[str, int, bytes]]:
    """Name, size and first bytes of the files of an archive.

    `length_of` returns the number of bytes to read of a file, for its name and size; None skips it. `most` is the
    largest number of files. Raises ModelError for an illegal archive, LimitError past a limit.
    """
    _check_list(file, archive_name)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if len(members) > most:
                raise LimitError(f"an archive of more than {most} files", node=archive_name)
            for member in members:
                name = member.filename
                if name.endswith("/"):  # a folder
                    continue
                _check(member, archive_name)
                length = length_of(name, member.file_size)
                if length is not None:
                    yield name, member.file_size, _content(archive, member, length)
    except _DAMAGES as error:
        raise ModelError(f"the archive is damaged or cut off: {error}", node=archive_name) from error


def _check(member: zipfile.ZipInfo, archive_name: str) -> None:
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise ModelError(f"the archive holds {member.filename!r}, which is not a regular file", node=archive_name)
    if member.flag_bits & _ENCRYPTED:
        raise ModelError(f"the archive holds {member.filename!r}, which is encrypted", node=archive_name)
    if member.compress_type not in _METHODS:
        raise ModelError(
            f"the archive holds {member.filename!r}, which is not compressed by deflate", node=archive_name
        )


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, length: int) -> bytes:
    """The first `length` bytes of a file, which must have them."""
    pieces = []
    remaining = min(length, member.file_size)
    with archive.open(member) as file:
        while remaining:
            piece = file.read(min(remaining, _BLOCK))
            if not piece:
                raise EOFError(f"{member.filename!r} is shorter than its size")
            pieces.append(piece)
            remaining -= len(piece)
    return b"".join(pieces)


def _check_list(file: BinaryIO, archive_name: str) -> None:
    """Raise LimitError for a list of files that takes too much memory, before it is read."""
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - _LONGEST_COMMENT - _END_LENGTH - _LOCATOR_LENGTH)
    file.seek(start)
    tail = file.read()
    end = tail.rfind(_END)
    if end < 0 or len(tail) < end + _END_LENGTH:
        raise ModelError("the archive is damaged or cut off: it has no list of its files", node=archive_name)
    (length,) = struct.unpack_from("<I", tail, end + 12)
    locator = tail[max(0, end - _LOCATOR_LENGTH) : end]
    if locator.startswith(_LOCATOR_64) and len(locator) == _LOCATOR_LENGTH:
        (record,) = struct.unpack_from("<Q", locator, 8)
        file.seek(min(record, size))
        fields = file.read(_END_64_LENGTH)
        length = struct.unpack_from("<Q", fields, 40)[0] if len(fields) == _END_64_LENGTH else 0
    file.seek(0)
    if min(length, size) > MAX_LIST:
        raise LimitError(f"the list of files of the archive has more than {MAX_LIST} bytes", node=archive_name)
