"""The files of a model in a folder, or in an archive, which is not unpacked.

Source: NNEF 1.0.5, 5 "Container Organization". No name in a model can refer to a file outside the model.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import BinaryIO, Protocol

import attrs

from shapeinf.errors import LimitError, ModelError, UnknownFormatError
from shapeinf.formats.files import open_regular
from shapeinf.formats.nnef.files.dat import MAX_HEADER, MAX_SMALL
from shapeinf.formats.nnef.files.unpacking import Guarded, Kind, kind_of, unpack
from shapeinf.formats.read_files import ReadFiles

MAX_TEXT = 1 << 28
"""The most bytes of a document or of a quantization file."""
MAX_MEMBERS = 100_000
"""The most files of an archive."""
MAX_CONTENTS = 1 << 29
"""The most bytes of an archive in memory: texts, headers, small tensors."""

GRAPH, QUANTIZATION, TENSOR = ".nnef", ".quant", ".dat"
MODEL_FILES = (GRAPH, QUANTIZATION, TENSOR)
ARCHIVES = (".tgz", ".tar.gz", ".tar", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".zip")


@attrs.frozen
class Entry:
    """A file of a model: its size, its first bytes (at least a header), and a function that reads a small file."""

    size: int
    head: bytes
    read: Callable[[], bytes]


class ModelFiles(Protocol):
    """The files of a model by their path in it, with `/` between folders."""

    @property
    def name(self) -> str:
        """The name of the model in messages."""

    def text(self, path: str) -> str | None:
        """A text, None when there is no such file."""

    def entry(self, path: str) -> Entry | None:
        """A tensor file, None when there is no such file."""


def is_unsafe(path: str) -> bool:
    """Whether a path refers to a file outside the model, or is not in its simplest form.

    >>> is_unsafe("conv1/kernel.dat"), is_unsafe("../x.dat"), is_unsafe("/x.dat"), is_unsafe("a//x.dat")
    (False, True, True, True)
    """
    return "\0" in path or any(part in ("", ".", "..") for part in path.split("/"))


def decode_text(data: bytes, name: str) -> str:
    """The text of a file. Raises ModelError if it is not UTF-8, LimitError past the limit."""
    if len(data) > MAX_TEXT:
        raise LimitError(f"a text of {len(data)} bytes; at most {MAX_TEXT} are allowed", node=name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(f"is not UTF-8 text: byte {error.start} is {data[error.start]:#04x}", node=name) from error


@attrs.frozen
class Folder:
    """The folder of a model; `read_files` has the tensor files that were read."""

    name: str
    read_files: ReadFiles = attrs.Factory(ReadFiles)
    _root: str = attrs.field(init=False)

    @_root.default
    def _real_path(self) -> str:
        return os.path.realpath(self.name)

    def text(self, path: str) -> str | None:
        """A text, None when there is no such file."""
        real_path = self._file(path)
        if real_path is None:
            return None
        with _report_unreadable(real_path), open_regular(real_path) as file:
            return decode_text(file.read(MAX_TEXT + 1), real_path)

    def entry(self, path: str) -> Entry | None:
        """A tensor file, None when there is no such file."""
        real_path = self._file(path)
        if real_path is None:
            return None
        with _report_unreadable(real_path), open_regular(real_path) as file:
            self.read_files.add(real_path, file)
            return Entry(os.fstat(file.fileno()).st_size, file.read(MAX_HEADER), lambda: self._read_small(real_path))

    def _read_small(self, path: str) -> bytes:
        with _report_unreadable(path), open_regular(path) as file:
            self.read_files.add(path, file)
            return file.read(MAX_SMALL)

    def _file(self, path: str) -> str | None:
        """The real path of a regular file; None if it is missing. Raises ModelError for a file outside the folder."""
        outside = ModelError(f"{path!r} is outside the model", node=self.name)
        if is_unsafe(path):
            raise outside
        named = os.path.join(self._root, *path.split("/"))
        if not os.path.exists(named):
            return None
        real_path = os.path.realpath(named)
        if not _is_below(real_path, self._root):
            raise outside
        # A pipe or a device has no size, and opening one may block for ever.
        return real_path if stat.S_ISREG(os.stat(real_path).st_mode) else None


def _is_below(path: str, root: str) -> bool:
    try:
        return os.path.commonpath((root, path)) == root
    except ValueError:  # on another drive
        return False


@contextmanager
def _report_unreadable(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", node=path) from error


@attrs.frozen
class Archive:
    """The contents of an archive by path, relative to the folder of the document."""

    name: str
    contents: Mapping[str, tuple[int, bytes]]

    def text(self, path: str) -> str | None:
        """A text, None when there is no such file."""
        content = self.contents.get(path)
        return None if content is None else decode_text(content[1], f"{self.name}:{path}")

    def entry(self, path: str) -> Entry | None:
        """A tensor file, None when there is no such file."""
        content = self.contents.get(path)
        return None if content is None else Entry(content[0], content[1][:MAX_HEADER], lambda: content[1])

    @property
    def documents(self) -> list[str]:
        """The paths of the documents."""
        return [path for path in self.contents if path.endswith(GRAPH)]


def read_archive(source: str | bytes, name: str | None = None) -> Archive:
    """The archive at a path or in bytes: a zip, or a tar that may be compressed. The document may be in a folder of it.

    Raises ModelError for a file that is no such archive, and for links, devices and paths outside the archive;
    LimitError for contents that are too large.
    """
    import gzip  # few models are archives
    import tarfile
    import zlib

    archive_name = name or (source if isinstance(source, str) else "<archive>")
    try:
        with open_regular(source) if isinstance(source, str) else BytesIO(source) as file:
            kind = kind_of(file.read(512)) or "tar"
            members = _zip_members(file, archive_name) if kind == "zip" else _tar_members(file, kind, archive_name)
            contents = _collect(members, archive_name)
    except tarfile.TarError as error:
        raise UnknownFormatError(f"is not an archive of an NNEF model: {error}", node=archive_name) from error
    except (zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise ModelError(f"the archive is damaged or cut off: {error}", node=archive_name) from error
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror or error}", node=archive_name) from error
    except (ValueError, RecursionError) as error:  # raised by tarfile for invalid headers
        raise ModelError(f"the archive is damaged: {error}", node=archive_name) from error
    return Archive(archive_name, _relative_to_document(contents))


Member = tuple[str, int, bytes]
"""A file of an archive: its path, its size, and its contents or the start of these."""


def _collect(members: Iterator[Member], archive_name: str) -> dict[str, tuple[int, bytes]]:
    contents: dict[str, tuple[int, bytes]] = {}
    total = 0
    for path, size, content in members:
        if path in contents:
            raise ModelError(f"the archive holds {path!r} twice", node=archive_name)
        contents[path] = size, content
        total += len(content)
        if total > MAX_CONTENTS:
            raise LimitError(f"texts and headers of more than {MAX_CONTENTS} bytes", node=archive_name)
    return contents


def _zip_members(file: BinaryIO, archive_name: str) -> Iterator[Member]:
    from shapeinf.formats.zipped import zip_members

    def length_of(name: str, size: int) -> int | None:
        path = _inside(name, archive_name)
        return _content_length(path, size) if path.endswith(MODEL_FILES) else None

    for name, size, content in zip_members(file, archive_name, MAX_MEMBERS, length_of):
        yield _inside(name, archive_name), size, content


def _tar_members(file: BinaryIO, kind: Kind, archive_name: str) -> Iterator[Member]:
    import tarfile

    compressed = file.seek(0, os.SEEK_END)
    file.seek(0)
    stream = Guarded(unpack(file, kind, archive_name), compressed, archive_name)
    count = 0
    with tarfile.open(fileobj=stream, mode="r:") as archive:
        for member in archive:
            count += 1
            if count > MAX_MEMBERS:
                raise LimitError(f"an archive of more than {MAX_MEMBERS} files", node=archive_name)
            archive.members = []  # type: ignore[attr-defined]  # else the object keeps all of them
            if member.isdir():
                continue
            if not member.isreg() or member.issparse():
                raise ModelError(f"the archive holds {member.name!r}, which is not a regular file", node=archive_name)
            path = _inside(member.name, archive_name)
            if path.endswith(MODEL_FILES):
                length = _content_length(path, member.size)
                yield path, member.size, stream.content(member.offset_data, length)


def _inside(name: str, archive_name: str) -> str:
    """The path of a file in its simplest form. Raises ModelError for one outside the archive."""
    path = name
    while path.startswith("./"):
        path = path[2:]
    if is_unsafe(path):
        raise ModelError(f"the archive holds {name!r}, which is not a simple path inside it", node=archive_name)
    return path


def _content_length(path: str, size: int) -> int:
    """The number of bytes of a file to read: all of a text or a small tensor, else those of a header."""
    if path.endswith(TENSOR):
        return size if size <= MAX_SMALL else MAX_HEADER
    if size > MAX_TEXT:
        raise LimitError(f"a text of {size} bytes; at most {MAX_TEXT} are allowed", node=path)
    return size


def _relative_to_document(contents: dict[str, tuple[int, bytes]]) -> dict[str, tuple[int, bytes]]:
    """The contents by path relative to the folder of the document; of several, the one nearest to the top."""
    documents = sorted((path for path in contents if path.endswith(GRAPH)), key=lambda path: path.count("/"))
    folder = documents[0].rpartition("/")[0] if documents else ""
    if not folder:
        return contents
    return {path[len(folder) + 1 :]: content for path, content in contents.items() if path.startswith(f"{folder}/")}
