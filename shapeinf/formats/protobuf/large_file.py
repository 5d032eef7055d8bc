"""The bytes of a large file, of which only the parts that are accessed are read."""

from __future__ import annotations

from typing import BinaryIO, overload

_WINDOW = 4096
"""Bytes that are read at a time: consecutive fields, or the head of a field whose contents are skipped."""


class LargeFile:
    """The bytes of a file, indexed like `bytes`, from 0 on.

    Not a mapped file: for an access to one byte the system maps up to 2 MB, which count as memory of the process.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        """`file` must be open, seekable and without a buffer of its own; its first `size` bytes are indexed."""
        self._file = file
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
        """One byte, or the bytes of a range; IndexError past the end, also where the file has become shorter."""
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

    def _move(self, start: int) -> None:
        self._window = self._read(start, _WINDOW)
        self._start = start

    def _read(self, start: int, count: int) -> bytes:
        self._file.seek(start)
        return self._file.read(min(count, self._size - start)) if start < self._size else b""
