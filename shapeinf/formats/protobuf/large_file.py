"""The bytes of a file; of a large one only the parts that are accessed are read.

No file of others is mapped into memory: one that becomes shorter would end the process by a signal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, overload

from shapeinf.errors import ChangedFileError

LARGE_FILE = 1 << 24
"""Files of more bytes are read in parts: most of their bytes are weights."""

CHUNK = 1 << 24
"""The most bytes of a file that are in memory at a time when it is copied or searched."""

_WINDOW = 4096
"""Bytes that are read at a time: consecutive fields, or the head of a field whose contents are skipped."""


def file_bytes(file: BinaryIO, size: int, path: str) -> bytes | LargeFile:
    """The first `size` bytes of an open file without a buffer of its own; `path` is its name in errors.

    Raises ChangedFileError, now or at an access, where the file is shorter.
    """
    return LargeFile(file, size, path) if size > LARGE_FILE else b"".join(read_range(file, 0, size, path))


def read_range(file: BinaryIO, start: int, count: int, path: str) -> Iterator[bytes]:
    """A range of bytes, at most `CHUNK` at a time. Raises ChangedFileError if the file has become shorter."""
    file.seek(start)
    remaining = count
    while remaining and (chunk := file.read(min(remaining, CHUNK))):
        yield chunk
        remaining -= len(chunk)
    if remaining:
        raise ChangedFileError(f"became {remaining} bytes shorter while it was read", node=path)


class LargeFile:
    """The bytes of a file, indexed like `bytes`, from 0 on.

    Not a mapped file: for an access to one byte the system maps up to 2 MB, which count as memory of the process.
    """

    def __init__(self, file: BinaryIO, size: int, path: str) -> None:
        """`file` must be open, seekable and without a buffer of its own; its first `size` bytes are indexed."""
        self._file = file
        self._path = path
        self._size = size
        self._start = 0
        self._window = b""

    def __len__(self) -> int:
        """The number of bytes."""
        return self._size

    @overload
    def __getitem__(self, position: int) -> int: ...
    @overload
    def __getitem__(self, position: slice) -> bytes: ...
    def __getitem__(self, position: int | slice) -> int | bytes:
        """One byte, or the bytes of a range; IndexError past the end.

        Raises ChangedFileError where the file has become shorter.
        """
        if isinstance(position, int):
            if not 0 <= position - self._start < len(self._window):
                self._move(position)
            return self._window[position - self._start]
        start, stop, _ = position.indices(self._size)
        if stop - start > _WINDOW:
            return self._read(start, stop - start)
        if not (self._start <= start and stop <= self._start + len(self._window)):
            self._move(start)
        return self._window[start - self._start : stop - self._start] if stop > start else b""

    def find(self, part: bytes, start: int = 0, stop: int | None = None) -> int:
        """The position of the first occurrence of `part` in a range; -1 for none."""
        stop = self._size if stop is None else min(stop, self._size)
        while start + len(part) <= stop:
            end = min(start + CHUNK, stop)
            position = self[start:end].find(part)
            if position >= 0:
                return start + position
            start = end - len(part) + 1 if end < stop else stop
        return -1

    def parts(self, start: int, stop: int) -> Iterator[bytes]:
        """The bytes of a range, at most `CHUNK` at a time."""
        return read_range(self._file, start, stop - start, self._path)

    def _move(self, start: int) -> None:
        self._window = self._read(start, _WINDOW)
        self._start = start

    def _read(self, start: int, count: int) -> bytes:
        return b"".join(read_range(self._file, start, max(0, min(count, self._size - start)), self._path))
