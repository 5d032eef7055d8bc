"""A stream that goes forward only and has a limit."""

from __future__ import annotations

from io import SEEK_SET, RawIOBase
from typing import Any

from shapeinf.errors import LimitError, ModelError

MAX_RATIO = 100
"""An archive may become so many times larger, once it is past `FREE_SIZE` bytes."""
FREE_SIZE = 1 << 30
MAX_BLOCK = 1 << 20
"""Bytes that are read at once on behalf of the archive's own headers, whose lengths are not trusted."""


class Guarded(RawIOBase):
    """The bytes of an archive, for tarfile: seeks are reads, and each byte counts.

    Raises LimitError for one that becomes too large, and for a header that wants too many bytes.
    """

    def __init__(self, stream: Any, compressed: int, name: str) -> None:
        """`compressed` is the size of the file, `name` is its name in messages."""
        self._stream = stream
        self._allowed = max(FREE_SIZE, compressed * MAX_RATIO)
        self._name = name
        self._at = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """Forward."""
        return True

    def tell(self) -> int:
        """Bytes read so far."""
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes of a header."""
        if size is None or not 0 <= size <= MAX_BLOCK:
            raise LimitError(f"a header of the archive wants {size} bytes; at most {MAX_BLOCK}", node=self._name)
        return self._next(size)

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        """Go forward to an offset, or to the end of the stream when it lies behind it."""
        if whence != SEEK_SET or offset < self._at:
            raise ModelError("the archive is damaged: its files overlap", node=self._name)
        while self._at < offset:
            if not self._next(min(offset - self._at, MAX_BLOCK)):
                break
        return self._at

    def content(self, start: int, size: int) -> bytes:
        """The bytes of a file. Raises ModelError when the archive ends before."""
        self.seek(start)
        pieces = []
        left = size
        while left:
            piece = self._next(min(left, MAX_BLOCK))
            if not piece:
                raise ModelError("the archive is cut off", node=self._name)
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def _next(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        self._at += len(data)
        if self._at > self._allowed:
            message = f"the archive becomes larger than {self._allowed} bytes, {MAX_RATIO} times its own size"
            raise LimitError(message, node=self._name)
        return data
