"""Files that hold several TensorFlow Lite files: zip archives (`.task`), and `.litertlm` files of language models.

A member is recognized by its bytes; archives in archives are searched too. Members that are stored without compression
are read in place.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

import attrs

from shapeinf.errors import LimitError, ModelError, UnknownNameError
from shapeinf.formats.files import open_regular
from shapeinf.formats.protobuf.wire import Buffer
from shapeinf.formats.tflite.flatbuffer import Reader, Table
from shapeinf.formats.zipped import zip_members

ZIP = b"PK\x03\x04"
LANGUAGE_MODEL = b"LITERTLM"
"""The first bytes of a `.litertlm` file; versions and the end of the header follow, then the header at 32."""
IDENTIFIER = b"TFL3"
MAX_MEMBERS = 1 << 12
MAX_DEPTH = 3
"""Archives inside one another."""
MAX_MEMBER = 1 << 28
"""Bytes of a compressed member, or of an archive in an archive."""
MAX_HEADER = 1 << 24

_HEADER = 32
_MODEL_SECTION, _TEXT_VALUE = 3, 9
_NAME_KEY = "model_type"
_NAMES = (".tflite", ".task")


@attrs.frozen
class Member:
    """A model in a container: its name, and the range of its bytes, or the bytes themselves."""

    name: str
    start: int
    length: int
    data: bytes | None = attrs.field(default=None, repr=False)


class Part:
    """A range of a buffer, as a buffer."""

    def __init__(self, buffer: Buffer, start: int, length: int) -> None:
        """`length` bytes from `start` on."""
        self._buffer = buffer
        self._start = start
        self._length = length

    def __len__(self) -> int:
        """The number of bytes."""
        return self._length

    def __getitem__(self, part: slice) -> bytes:
        """The bytes of a range."""
        start, stop, _ = part.indices(self._length)
        return bytes(self._buffer[self._start + start : self._start + max(start, stop)])


def is_container(head: bytes) -> bool:
    """Whether a file that begins with these bytes may be a container."""
    return head.startswith((ZIP, LANGUAGE_MODEL))


def has_models(model: str | bytes) -> bool:
    """Whether an archive, a path or bytes, has a file with the name of a model; False for one that is damaged."""
    names: list[str] = []
    try:
        with io.BytesIO(model) if isinstance(model, bytes) else open_regular(model) as file:
            for _ in zip_members(file, "", 1 << 20, lambda name, size: names.append(name)):
                pass
    except (OSError, ModelError):
        return False
    return any(name.endswith(_NAMES) or name.rpartition("/")[2].startswith("TF_LITE_") for name in names)


def open_member(buffer: Buffer, name: str | None, where: str) -> tuple[str, Buffer]:
    """The name and the bytes of a model in a container, by default of its only one.

    Raises UnknownNameError for a name that it does not have, ModelError for a damaged container, for one without
    models, and without a name for one with several; LimitError past a limit.
    """
    members = list(_members(buffer, where))
    if not members:
        raise ModelError("has no TensorFlow Lite model", node=where)
    names = [member.name for member in members]
    if name is None and len(members) > 1:
        raise ModelError(
            f"has several models, and one of them must be chosen: {', '.join(map(repr, names))}", node=where
        )
    if name not in (None, *names):
        raise UnknownNameError("member", str(name), names)
    member = members[names.index(name)] if name is not None else members[0]
    if member.data is not None:
        return member.name, member.data
    return member.name, cast("Buffer", Part(buffer, member.start, member.length))


def _members(buffer: Buffer, where: str) -> Iterator[Member]:
    if buffer[: len(ZIP)] == ZIP:
        return _zip_members(_BufferFile(buffer), where, "", 0)
    return _sections(buffer, where)


# -- zip archives ------------------------------------------------------------------------------------------------------


class _BufferFile(io.RawIOBase):
    """A buffer as a file to read."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + (0, self._at, len(self._buffer))[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, target: Any) -> int:
        data = bytes(self._buffer[self._at : self._at + len(target)])
        target[: len(data)] = data
        self._at += len(data)
        return len(data)


def _zip_members(raw: io.RawIOBase, where: str, prefix: str, depth: int) -> Iterator[Member]:
    """The models in an archive, and those in archives in it, whose names they follow."""
    if depth > MAX_DEPTH:
        raise LimitError(f"has more than {MAX_DEPTH} archives inside one another", node=where)
    file = cast("BinaryIO", io.BufferedReader(raw))
    heads = list(zip_members(file, where, MAX_MEMBERS, lambda name, size: min(size, 8)))
    for name, size, head in heads:
        if head[4:8] == IDENTIFIER:
            start = None if prefix else _stored_at(file, name)
            data = _content(file, where, name, size) if start is None else None
            yield Member(prefix + name, start or 0, size, data)
        elif head.startswith(ZIP):
            inner = _BufferFile(_content(file, where, name, size))
            yield from _zip_members(inner, where, f"{prefix}{name}/", depth + 1)


def _content(file: BinaryIO, where: str, name: str, size: int) -> bytes:
    """The bytes of a member. Raises LimitError for a long one."""
    if size > MAX_MEMBER:
        raise LimitError(f"holds {name!r} of more than {MAX_MEMBER} bytes: unpack it", node=where)
    wanted = zip_members(file, where, MAX_MEMBERS, lambda other, length: length if other == name else None)
    return next(data for _, _, data in wanted)


def _stored_at(file: BinaryIO, name: str) -> int | None:
    """The position of a member in its archive; None for a compressed one."""
    with zipfile.ZipFile(file) as archive:
        info = archive.getinfo(name)
        if info.compress_type != zipfile.ZIP_STORED:
            return None
        file.seek(info.header_offset + 26)
        lengths = file.read(4)
    return info.header_offset + 30 + sum(struct.unpack("<HH", lengths)) if len(lengths) == 4 else None


# -- files of language models ------------------------------------------------------------------------------------------


def _sections(buffer: Buffer, where: str) -> Iterator[Member]:
    """The models of a `.litertlm` file; one without a name has that of its section."""
    end = int.from_bytes(buffer[24:32], "little")
    if end < _HEADER or end > len(buffer):
        raise ModelError("has a header that ends outside of the file", node=where)
    if end - _HEADER > MAX_HEADER:
        raise LimitError(f"has a header of more than {MAX_HEADER} bytes", node=where)
    metadata = Reader(bytes(buffer[_HEADER:end])).root().table(1)
    names: set[str] = set()
    for number, section in enumerate(metadata.tables(0) if metadata is not None else ()):
        if section.integer(3, "uint8") != _MODEL_SECTION:
            continue
        start, stop = section.integer(1, "uint64"), section.integer(2, "uint64")
        if not 0 <= start <= stop <= len(buffer):
            raise ModelError(f"has section {number} outside of the file", node=where)
        name = _section_name(section)
        name = name if name and name not in names else f"section {number}"
        names.add(name)
        yield Member(name, start, stop - start)


def _section_name(section: Table) -> str:
    """The kind of model that a section has, as its metadata state it; empty where they do not."""
    for item in section.tables(0):
        value = item.table(2) if item.text(0) == _NAME_KEY and item.integer(1, "uint8") == _TEXT_VALUE else None
        if value is not None:
            return value.text(0)
    return ""
