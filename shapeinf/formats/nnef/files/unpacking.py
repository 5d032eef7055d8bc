"""Recognizes archives by their first bytes, and reads compressed ones as streams."""

from __future__ import annotations

from collections.abc import Callable
from io import SEEK_SET, RawIOBase
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol

from shapeinf.errors import LimitError, ModelError

if TYPE_CHECKING:  # few models are archives
    import bz2
    import lzma

Kind = Literal["tar", "gzip", "xz", "bzip2", "zip"]

MAX_MEMORY = 1 << 28
"""The most bytes of memory for a decompressor: the header of an xz file may request any number."""

MAX_RATIO = 100
"""The largest ratio of decompressed to compressed bytes, for more than `FREE_SIZE` bytes."""
FREE_SIZE = 1 << 30
MAX_BLOCK = 1 << 20
"""The most bytes of a header of an archive, whose length is not trusted."""

_BLOCK = 1 << 16
_TAR_MAGIC = slice(257, 262)
_ZIP_NAME = 30
"""The offset of the name of the first file in a zip archive."""
_MAGIC: dict[bytes, Kind] = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\0": "xz", b"BZh": "bzip2"}
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")  # the second is an empty one


def kind_of(head: bytes) -> Kind | None:
    """The kind of an archive by its first bytes (512 are enough); None for any other file."""
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return kind
    if head.startswith(_ZIP_MAGIC):
        return "zip"
    return "tar" if head[_TAR_MAGIC] == b"ustar" else None


def first_name(head: bytes) -> str:
    """The name of the first file of a zip archive, from its first bytes."""
    length = int.from_bytes(head[_ZIP_NAME - 4 : _ZIP_NAME - 2], "little")
    return head[_ZIP_NAME : _ZIP_NAME + length].decode("utf-8", "replace")


class Readable(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`; empty at the end."""


def unpack(file: BinaryIO, kind: Kind, archive_name: str) -> Readable:
    """The bytes of a tar archive that may be compressed; `archive_name` is its name in messages."""
    if kind == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=file)
    if kind == "xz":
        import lzma

        return _Decompressed(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, MAX_MEMORY), archive_name)
    if kind == "bzip2":
        import bz2

        return _Decompressed(file, bz2.BZ2Decompressor, archive_name)
    return file


class _Decompressed:
    """The decompressed bytes of a file, which may have several compressed streams in sequence."""

    def __init__(
        self, file: BinaryIO, start: Callable[[], lzma.LZMADecompressor | bz2.BZ2Decompressor], archive_name: str
    ) -> None:
        self._file = file
        self._start = start
        self._archive_name = archive_name
        self._stream = start()

    def read(self, size: int, /) -> bytes:
        """`size` bytes, fewer at the end. Raises ModelError for damage, LimitError for too much memory."""
        pieces = []
        while size:
            piece = self._next(size)
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _next(self, size: int) -> bytes:
        """The next bytes, at most `size`; empty at the end."""
        while True:
            if self._stream.eof:
                rest = self._stream.unused_data or self._file.read(_BLOCK)
                if not rest.strip(b"\0"):
                    return b""  # padding, or nothing
                self._stream = self._start()
            else:
                rest = self._file.read(_BLOCK) if self._stream.needs_input else b""
                if not rest and self._stream.needs_input:
                    raise EOFError("the compressed data end too early")
            data = self._decompress(rest, size)
            if data:
                return data

    def _decompress(self, data: bytes, size: int) -> bytes:
        import lzma

        try:
            return self._stream.decompress(data, size)
        except (OSError, lzma.LZMAError) as error:
            if "limit" in str(error):
                message = f"the archive needs more than {MAX_MEMORY} bytes of memory to be unpacked"
                raise LimitError(message, node=self._archive_name) from error
            raise ModelError(f"the archive is damaged: {error}", node=self._archive_name) from error


class Guarded(RawIOBase):
    """The bytes of an archive for tarfile, which only go forward and are counted.

    Raises LimitError for an archive that becomes too large, and for a header that is too long.
    """

    def __init__(self, stream: Any, compressed: int, name: str) -> None:
        """`compressed` is the size of the file, `name` is its name in messages."""
        self._stream = stream
        self._allowed = max(FREE_SIZE, compressed * MAX_RATIO)
        self._name = name
        self._at = 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True, but only forward."""
        return True

    def tell(self) -> int:
        """The number of bytes read so far."""
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes of a header."""
        if size is None or not 0 <= size <= MAX_BLOCK:
            raise LimitError(f"a header of the archive needs {size} bytes; at most {MAX_BLOCK}", node=self._name)
        return self._next(size)

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        """Read up to an offset, or to the end of the stream if that is earlier."""
        if whence != SEEK_SET or offset < self._at:
            raise ModelError("the archive is damaged: its files overlap", node=self._name)
        while self._at < offset:
            if not self._next(min(offset - self._at, MAX_BLOCK)):
                break
        return self._at

    def content(self, start: int, size: int) -> bytes:
        """The bytes of a file. Raises ModelError if the archive ends earlier."""
        self.seek(start)
        pieces = []
        remaining = size
        while remaining:
            piece = self._next(min(remaining, MAX_BLOCK))
            if not piece:
                raise ModelError("the archive is cut off", node=self._name)
            pieces.append(piece)
            remaining -= len(piece)
        return b"".join(pieces)

    def _next(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        self._at += len(data)
        if self._at > self._allowed:
            message = f"the archive becomes larger than {self._allowed} bytes, {MAX_RATIO} times its own size"
            raise LimitError(message, node=self._name)
        return data
