"""The files that a graph was read from, as they were then: what is written later is of what was read, or an error.

A file is the same while its inode, its size and its times are. The time of the last change of a file cannot be set by
a program, unlike that of its contents, but it has the resolution of a clock tick: the bytes of a small file that has
just been written are kept, so that a change within that tick needs no detection.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from stat import S_ISREG
from typing import BinaryIO, NamedTuple

import attrs

from shapeinf.errors import ChangedFileError, LimitError, ModelError, UnknownFormatError
from shapeinf.formats.files import MAX_STREAM, open_regular
from shapeinf.formats.protobuf.large_file import LargeFile, file_bytes
from shapeinf.formats.protobuf.wire import Buffer
from shapeinf.graph import Graph

MAX_STORED = 1 << 20
"""Bytes of the largest file that stays in memory with its graph."""

MAX_RECENT = 1 << 24
"""Bytes of the largest file that stays in memory because it has just been written; a larger one takes several ticks."""

RECENT = 2_000_000_000
"""Nanoseconds: the resolution of the times of any file system."""


class FileState(NamedTuple):
    """What differs between two states of a file."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


def state_of(status: os.stat_result) -> FileState:
    """The state of a file by its status. Windows has the time of creation instead of that of the last change."""
    changed = 0 if os.name == "nt" else status.st_ctime_ns
    return FileState(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, changed)


@attrs.define(eq=False)
class ReadFiles:
    """The files of one model.

    Args:
        path: the absolute path of the model; None for one without a file.
        data: the bytes of a small model, and those of a pipe, which can be read only once.
        states: the files whose contents the graph has, by path, as they were when they were first read.
        read: when the model was read, in nanoseconds.
    """

    path: str | None = None
    data: bytes | None = None
    states: dict[str, FileState] = attrs.Factory(dict)
    read: int = attrs.Factory(time.time_ns)

    @property
    def folder(self) -> str | None:
        """The folder of the model."""
        return None if self.path is None else os.path.dirname(self.path)

    def add(self, path: str, file: BinaryIO, status: os.stat_result | None = None) -> None:
        """Note the state of an open file that is read, of this status if the caller has it.

        Raises ChangedFileError where it was read before in another state.
        """
        state = state_of(os.fstat(file.fileno()) if status is None else status)
        if self.states.setdefault(path, state) != state:
            raise _changed(path)

    def keeps(self, size: int) -> bool:
        """Whether the bytes of a model of this size stay in memory."""
        if size <= MAX_STORED:
            return True
        state = self.states.get(self.path or "")
        return size <= MAX_RECENT and state is not None and max(state.modified, state.changed) > self.read - RECENT

    def check(self) -> None:
        """Raise ChangedFileError where a file other than a model that is in memory has changed since it was read."""
        for path in self.states:
            if path != self.path or self.data is None:
                self.check_file(path)

    def check_file(self, path: str, file: BinaryIO | None = None) -> None:
        """Raise ChangedFileError where a file that was read, or the open `file` under its path, is another one now."""
        try:
            state = state_of(os.stat(path) if file is None else os.fstat(file.fileno()))
        except OSError as error:
            text = f"the file has changed since it was read: {error.strerror or error}"
            raise ChangedFileError(text, node=path) from error
        if state != self.states.get(path, state):
            raise _changed(path)

    def check_weights(self, path: str) -> None:
        """Raise ChangedFileError for a file of weights that was written after the model was read, or the last check.

        Such a file may belong to another model; it was not opened with the model, so its times are all that is known.
        """
        if path in self.states:
            self.check_file(path)
        elif os.path.exists(path):
            state = state_of(os.stat(path))
            if max(state.modified, state.changed) > self.read:
                text = "the file with weights was written after the model was read: infer the shapes again"
                raise ChangedFileError(text, node=path)
            self.states[path] = state

    @contextmanager
    def open(self) -> Iterator[Buffer]:
        """The bytes of the model. Raises ChangedFileError, also while they are read, and OSError."""
        if self.data is not None:
            yield self.data
            return
        assert self.path is not None, "a model without a file is kept"
        self.check_file(self.path)
        with open_regular(self.path, buffered=False) as file:
            self.check_file(self.path, file)
            yield file_bytes(file, os.fstat(file.fileno()).st_size, self.path)


def _changed(path: str) -> ChangedFileError:
    return ChangedFileError("the file has changed since it was read: infer the shapes again", node=path)


def files_of(graph: Graph) -> ReadFiles:
    """The files of a graph; those of a graph in memory are none."""
    files = graph.files
    return files if isinstance(files, ReadFiles) else ReadFiles()


@contextmanager
def open_source(graph: Graph) -> Iterator[Buffer]:
    """The bytes of the file that a graph was read from. Raises ModelError for a graph in memory, ChangedFileError."""
    files = files_of(graph)
    if files.path is None and files.data is None:
        raise ModelError("the graph was not read from a file")
    with files.open() as buffer:
        yield buffer


@contextmanager
def open_file(path: str, files: ReadFiles) -> Iterator[Buffer]:
    """The bytes of the file of a model that is read first, kept in `files` if it is small; those of a pipe are kept.

    Raises UnknownFormatError for an empty file, ModelError for an unreadable one and one that changes meanwhile.
    """
    try:
        with open_regular(path, pipe=True, buffered=False) as file:
            _keep_small(file, path, files)
            if files.data == b"":
                raise UnknownFormatError("is empty (0 bytes): download or export it again", node=path)
            if files.data is not None:
                yield files.data
                return
            yield file_bytes(file, os.fstat(file.fileno()).st_size, path)
            files.check_file(files.path or path, file)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", node=path) from error


def _keep_small(file: BinaryIO, path: str, files: ReadFiles) -> None:
    """Read the bytes of a small file, or of a pipe, into `files`."""
    status = os.fstat(file.fileno())
    if not S_ISREG(status.st_mode):
        files.data = read_stream(file, path)
        return
    files.add(files.path or path, file, status)
    if files.keeps(status.st_size):
        files.data = LargeFile(file, status.st_size, path)[:]


def read_stream(file: BinaryIO, path: str) -> bytes:
    """The bytes of a pipe. Raises LimitError past the limit."""
    data = file.read(MAX_STREAM + 1)
    if len(data) > MAX_STREAM:
        raise LimitError(f"a model of more than {MAX_STREAM} bytes: save it to a file", node=path)
    return data
