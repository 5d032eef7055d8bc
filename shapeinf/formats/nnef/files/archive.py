"""The files of a model: a folder, or an archive that is never unpacked.

Source: NNEF 1.0.5, 5 "Container Organization". Whatever its names say, nothing outside of the model is opened.
"""

from __future__ import annotations

import gzip
import os
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import BinaryIO, Protocol

import attrs

from shapeinf.errors import LimitError, ModelError, UnknownFormatError
from shapeinf.formats.nnef.files.dat import MAX_HEADER, MAX_SMALL
from shapeinf.formats.nnef.files.stream import Guarded
from shapeinf.formats.nnef.files.unpacking import Kind, kind_of, unpacked
from shapeinf.formats.nnef.files.zipped import zip_members

MAX_TEXT = 1 << 28
"""Bytes of a document or of a quantization file."""
MAX_MEMBERS = 100_000
"""Files of an archive."""
MAX_KEPT = 1 << 29
"""Bytes of all that is kept of an archive: texts, headers, small tensors."""

GRAPH, QUANTIZATION, TENSOR = ".nnef", ".quant", ".dat"
KEPT = (GRAPH, QUANTIZATION, TENSOR)
ARCHIVES = (".tgz", ".tar.gz", ".tar", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".zip")


@attrs.frozen
class Entry:
    """A file of a model: its size, its first bytes (at least a header's), and all of them for a small one."""

    size: int
    head: bytes
    read: Callable[[], bytes]


class ModelFiles(Protocol):
    """The files of a model by their path inside of it, with `/` between folders."""

    @property
    def name(self) -> str:
        """The model as messages show it."""

    def text(self, path: str) -> str | None:
        """A text, None when there is no such file."""

    def entry(self, path: str) -> Entry | None:
        """A tensor file, None when there is no such file."""


def unsafe(path: str) -> bool:
    """Whether a path leads out of the model, or is not in its simplest form.

    >>> unsafe("conv1/kernel.dat"), unsafe("../x.dat"), unsafe("/x.dat"), unsafe("a//x.dat")
    (False, True, True, True)
    """
    return "\0" in path or any(part in ("", ".", "..") for part in path.split("/"))


def decoded(data: bytes, name: str) -> str:
    """A file as text. Raises ModelError for one that is not UTF-8."""
    if len(data) > MAX_TEXT:
        raise LimitError(f"a text of {len(data)} bytes; at most {MAX_TEXT} are allowed", node=name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(f"is not UTF-8 text: byte {error.start} is {data[error.start]:#04x}", node=name) from error


@attrs.frozen
class Folder:
    """The folder of a model."""

    name: str
    _root: str = attrs.field(init=False)

    @_root.default
    def _real_path(self) -> str:
        return os.path.realpath(self.name)

    def text(self, path: str) -> str | None:
        """A text, None when there is no such file."""
        found = self._file(path)
        if found is None:
            return None
        with _readable(found), open(found, "rb") as file:
            return decoded(file.read(MAX_TEXT + 1), found)

    def entry(self, path: str) -> Entry | None:
        """A tensor file, None when there is no such file."""
        found = self._file(path)
        if found is None:
            return None
        with _readable(found), open(found, "rb") as file:
            return Entry(os.fstat(file.fileno()).st_size, file.read(MAX_HEADER), lambda: _small(found))

    def _file(self, path: str) -> str | None:
        """Where a regular file lies. Raises ModelError when symbolic links lead out of the folder."""
        outside = ModelError(f"{path!r} lies outside of the model", node=self.name)
        if unsafe(path):
            raise outside
        named = os.path.join(self._root, *path.split("/"))
        if not os.path.exists(named):
            return None
        found = os.path.realpath(named)
        if not _below(found, self._root):
            raise outside
        # A pipe or a device has no size, and to open one may wait for ever.
        return found if stat.S_ISREG(os.stat(found).st_mode) else None


def _below(path: str, root: str) -> bool:
    try:
        return os.path.commonpath((root, path)) == root
    except ValueError:  # on another drive
        return False


def _small(path: str) -> bytes:
    with _readable(path), open(path, "rb") as file:
        return file.read(MAX_SMALL)


@contextmanager
def _readable(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", node=path) from error


@attrs.frozen
class Archive:
    """What is kept of an archive, by path; the document lies at its top."""

    name: str
    kept: Mapping[str, tuple[int, bytes]]

    def text(self, path: str) -> str | None:
        """A text, None when there is no such file."""
        found = self.kept.get(path)
        return None if found is None else decoded(found[1], f"{self.name}:{path}")

    def entry(self, path: str) -> Entry | None:
        """A tensor file, None when there is no such file."""
        found = self.kept.get(path)
        return None if found is None else Entry(found[0], found[1][:MAX_HEADER], lambda: found[1])

    @property
    def documents(self) -> list[str]:
        """The paths of the documents."""
        return [path for path in self.kept if path.endswith(GRAPH)]


def read_archive(source: str | bytes, name: str | None = None) -> Archive:
    """An archive (a tar, compressed or not, or a zip), a path or its bytes, whose document may lie in a folder of it.

    Raises ModelError for what is no such archive, for links, devices and paths that lead out of it, LimitError for
    one that would become too large.
    """
    shown = name or (source if isinstance(source, str) else "the given archive")
    try:
        with open(source, "rb") if isinstance(source, str) else BytesIO(source) as file:
            kind = kind_of(file.read(512)) or "tar"
            found = _of_zip(file, shown) if kind == "zip" else _of_tar(file, kind, shown)
            kept = _collected(found, shown)
    except tarfile.TarError as error:
        raise UnknownFormatError(f"is no archive of an NNEF model: {error}", node=shown) from error
    except (zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise ModelError(f"the archive is damaged or cut off: {error}", node=shown) from error
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror or error}", node=shown) from error
    except (ValueError, RecursionError) as error:  # tarfile's own, of headers that make no sense
        raise ModelError(f"the archive is damaged: {error}", node=shown) from error
    return Archive(shown, _below_the_document(kept))


Found = tuple[str, int, bytes]
"""A file of an archive: its path, its size, and what is kept of it."""


def _collected(found: Iterator[Found], shown: str) -> dict[str, tuple[int, bytes]]:
    kept: dict[str, tuple[int, bytes]] = {}
    total = 0
    for path, size, content in found:
        if path in kept:
            raise ModelError(f"the archive holds {path!r} twice", node=shown)
        kept[path] = size, content
        total += len(content)
        if total > MAX_KEPT:
            raise LimitError(f"texts and headers of more than {MAX_KEPT} bytes", node=shown)
    return kept


def _of_zip(file: BinaryIO, shown: str) -> Iterator[Found]:
    def length_of(name: str, size: int) -> int | None:
        path = _inside(name, shown)
        return _kept_length(path, size) if path.endswith(KEPT) else None

    for name, size, content in zip_members(file, shown, MAX_MEMBERS, length_of):
        yield _inside(name, shown), size, content


def _of_tar(file: BinaryIO, kind: Kind, shown: str) -> Iterator[Found]:
    compressed = file.seek(0, os.SEEK_END)
    file.seek(0)
    stream = Guarded(unpacked(file, kind, shown), compressed, shown)
    count = 0
    with tarfile.open(fileobj=stream, mode="r:") as archive:
        for member in archive:
            count += 1
            if count > MAX_MEMBERS:
                raise LimitError(f"an archive of more than {MAX_MEMBERS} files", node=shown)
            archive.members = []  # type: ignore[attr-defined]  # else it keeps all of them
            if member.isdir():
                continue
            if not member.isreg() or member.issparse():
                raise ModelError(f"the archive holds {member.name!r}, which is no regular file", node=shown)
            path = _inside(member.name, shown)
            if path.endswith(KEPT):
                length = _kept_length(path, member.size)
                yield path, member.size, stream.content(member.offset_data, length)


def _inside(name: str, shown: str) -> str:
    """The path of a file in its simplest form. Raises ModelError for one outside of the archive."""
    path = name
    while path.startswith("./"):
        path = path[2:]
    if unsafe(path):
        raise ModelError(f"the archive holds {name!r}, which lies outside of it", node=shown)
    return path


def _kept_length(path: str, size: int) -> int:
    """How many bytes of a file are kept: all of a text and of a small tensor, else what its header takes."""
    if path.endswith(TENSOR):
        return size if size <= MAX_SMALL else MAX_HEADER
    if size > MAX_TEXT:
        raise LimitError(f"a text of {size} bytes; at most {MAX_TEXT} are allowed", node=path)
    return size


def _below_the_document(kept: dict[str, tuple[int, bytes]]) -> dict[str, tuple[int, bytes]]:
    """All paths relative to the folder of the document, the one nearest to the top."""
    documents = sorted((path for path in kept if path.endswith(GRAPH)), key=lambda path: path.count("/"))
    folder = documents[0].rpartition("/")[0] if documents else ""
    if not folder:
        return kept
    return {path[len(folder) + 1 :]: found for path, found in kept.items() if path.startswith(f"{folder}/")}
