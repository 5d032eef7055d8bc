"""Paths of files, the opening of files that others wrote, and files that are replaced atomically."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from stat import S_ISDIR, S_ISFIFO, S_ISREG
from typing import BinaryIO, Literal, get_args

import attrs

from shapeinf.errors import ModelError
from shapeinf.expr.notations import NotationName

ExternalData = Literal["keep", "copy", "embed"]
"""How to write a model whose weights are in other files.

"keep": they stay where they are, and the new model refers to them. "copy": they are copied to one file, the name of the
new model with `.data` appended. "embed": they are copied into the model.
"""

EXTERNAL_DATA: tuple[ExternalData, ...] = get_args(ExternalData)

Annotate = Literal["chains", "all", "io"]
"""Which inferred types to write into a model, and how.

"chains": those of all values, in texts with which they cost the planner of a runtime no memory. "all": those of all
values, with equal texts for equal dims. "io": those of the outputs of the model; inner values are as they were, without
those that an edit of the model changes.
"""

ANNOTATE: tuple[Annotate, ...] = get_args(Annotate)


@attrs.frozen
class WriteOptions:
    """How to write a model, in a format that has the choice.

    Args:
        external_data: where the weights are that are in other files.
        annotate: which inferred types to write.
        dim_text: the tool in whose notation expressions of dims are written; None for our own.
        order: the order of the nodes, as their indices in the file that was read; None to keep it.
        name_inputs: whether axes of inputs without a size and a name get the name that other values of the size have.
    """

    external_data: ExternalData = "keep"
    annotate: Annotate = "chains"
    dim_text: NotationName | None = None
    order: Sequence[int] | None = None
    name_inputs: bool = False


MAX_CONFIG = 1 << 26
"""Bytes of the largest file of options, plans or other data that is no model."""

MAX_STREAM = (1 << 31) - 1
"""Bytes of the longest model on a pipe: as many as protobuf reads."""

_PIPE_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FLAGS = _PIPE_FLAGS | getattr(os, "O_NONBLOCK", 0)
"""How files are opened that others wrote."""

_ARCHIVES = (".gz", ".tar", ".tgz", ".zip")
"""Suffixes of archives that hold a model."""

_LONGEST_STEM = 64
"""Characters of a file name in the name of its temporary file: names have at most 255 bytes."""


def check_path(path: str | os.PathLike[str]) -> str:
    r"""A path as text. Raises ModelError for a text that is not a path, such as one with a NUL character.

    >>> check_path("model\0.onnx")
    Traceback (most recent call last):
    shapeinf.errors.ModelError: 'model\x00.onnx' is not a file path
    """
    text = os.fsdecode(path)
    if not is_path(text):
        raise ModelError(f"{text!r} is not a file path")
    return text


def is_path(text: str) -> bool:
    """Whether a text can be the path of a file on this system."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def copy_name(path: str) -> str:
    """The name of a copy of a model, by which tools recognize its format; an archive becomes a plain file.

    >>> copy_name("models/lenet.nnef.tgz"), copy_name("models/decoder.onnx")
    ('lenet.nnef', 'decoder.onnx')
    """
    name = os.path.basename(os.path.normpath(path))
    while os.path.splitext(name)[1].lower() in _ARCHIVES:
        name = os.path.splitext(name)[0]
    return name or "model"


def is_same_file(first: str, second: str) -> bool:
    """Whether two paths refer to one file, which may not exist yet: links, case and `..` are resolved."""
    if os.path.exists(first) and os.path.exists(second):
        return os.path.samefile(first, second)
    folder, name = os.path.split(os.path.realpath(first))
    other_folder, other_name = os.path.split(os.path.realpath(second))
    if name == other_name:
        return folder == other_folder
    return name.casefold() == other_name.casefold() and folder == other_folder and _ignores_case(folder)


def _ignores_case(folder: str) -> bool:
    """Whether names of files in a folder ignore case, judged by the name of the folder itself."""
    swapped = os.path.join(os.path.dirname(folder), os.path.basename(folder).swapcase())
    return swapped != folder and os.path.exists(swapped) and os.path.samefile(folder, swapped)


def open_regular(path: str, *, pipe: bool = False, buffered: bool = True) -> BinaryIO:
    """A file to read, which others wrote: a regular file, with `pipe` also a named pipe.

    A device may have no end, and opening a pipe or a device may block or change its state, so none is opened. Raises
    OSError.
    """
    return open(open_descriptor(path, pipe=pipe), "rb", -1 if buffered else 0)


def open_descriptor(path: str, *, pipe: bool = False) -> int:
    """The descriptor of a file as `open_regular` opens it.

    Where another process replaces the file between the check of its kind and its opening, reading does not block, and
    ends at the limit of the reader.
    """
    _check_mode(os.stat(path).st_mode, path, pipe=pipe)
    return os.open(path, _PIPE_FLAGS if pipe else _FLAGS)


def _check_mode(mode: int, path: str, *, pipe: bool) -> None:
    """Raise OSError for a file that is not regular."""
    if S_ISREG(mode) or (pipe and S_ISFIFO(mode)):
        return
    if S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise OSError(errno.EINVAL, "it is not a regular file", path)


def read_regular(path: str | os.PathLike[str], limit: int = MAX_CONFIG) -> bytes:
    """The bytes of a regular file. Raises OSError, also for one of more than `limit` bytes, before it is read."""
    name = os.fspath(path)
    with open_regular(name) as file:
        if os.fstat(file.fileno()).st_size > limit:
            raise OSError(errno.EFBIG, f"it has more than {limit} bytes", name)
        return file.read(limit)


@contextmanager
def replace_file(path: str, check: Callable[[], None] | None = None) -> Iterator[BinaryIO]:
    """A file to write, which replaces the file at `path` when it is complete; an error leaves that file as it was.

    It is written in the same folder, and no other user can read it until it is complete; then it has the permissions of
    the old file, or of a new one. Its bytes are on the disk before it has its name. A symbolic link stays, and the file
    that it refers to is replaced. A device or a pipe is written directly. `check` runs last, and raises where what was
    written is not to replace the file. Raises OSError if the file cannot be written.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:_LONGEST_STEM]}.{os.urandom(4).hex()}.part")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            yield file
            file.flush()
            os.chmod(temporary, _final_mode(target, temporary))
            os.fsync(file.fileno())
        if check is not None:
            check()
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _final_mode(target: str, temporary: str) -> int:
    """The permissions of the file that is replaced; those of a new file in its folder where there is none.

    An empty file shows the latter: the mask of a process can be read only by changing it, for all threads.
    """
    with suppress(FileNotFoundError):
        return os.stat(target).st_mode & 0o7777
    probe = f"{temporary[: -len('.part')]}.new"
    with open(probe, "xb") as file:
        os.unlink(probe)
        return os.fstat(file.fileno()).st_mode & 0o7777


def _sync_folder(folder: str) -> None:
    """Put the names in a folder on the disk, on systems and file systems that can."""
    if hasattr(os, "O_DIRECTORY"):
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8, atomically; characters that UTF-8 does not have are escaped. Raises OSError."""
    with replace_file(os.fspath(path)) as file:
        file.write(text.encode("utf-8", "backslashreplace"))
