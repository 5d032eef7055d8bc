"""Zip archives of SavedModels: the message is read from the archive, which is not unpacked to disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import BinaryIO

from shapeinf.errors import LimitError, ModelError, ShapeInferenceError, UnknownFormatError
from shapeinf.formats.files import open_regular

MAX_FILES = 100_000
"""The most files of an archive."""

MAX_MESSAGE = (1 << 31) - 1
"""Bytes of the longest message of protocol buffers."""

MAX_RATIO = 100
"""The largest ratio of a message to its archive, for messages of more than `FREE_SIZE` bytes."""

FREE_SIZE = 1 << 26
MAX_FOLDERS = 2
"""The most folders around the message in an archive."""

NAMES = ("saved_model.pb", "saved_model.pbtxt")
"""The files that hold the message of a SavedModel, the preferred one first."""

MAGIC = b"PK\x03\x04"


def message_name(source: str | bytes) -> str | None:
    """The path of the message of a SavedModel in an archive; None if it has none or is damaged."""
    from shapeinf.formats.zipped import zip_members

    names: list[str] = []
    try:
        with _open_archive(source) as (file, where):
            for _ in zip_members(file, where, MAX_FILES, lambda name, _: names.append(name)):
                pass
    except (ShapeInferenceError, OSError):
        return None
    models = [name for name in names if name.rpartition("/")[2] in NAMES and name.count("/") <= MAX_FOLDERS]
    return min(models, key=lambda name: (name.count("/"), NAMES.index(name.rpartition("/")[2]), name), default=None)


def read_message(source: str | bytes) -> bytes:
    """The message of the SavedModel in an archive; `source` is a path or bytes.

    Raises UnknownFormatError for an archive without a SavedModel, LimitError for a message that is too long, ModelError
    for a damaged archive.
    """
    from shapeinf.formats.zipped import zip_members

    wanted = message_name(source)
    with _open_archive(source) as (file, where):
        if wanted is None:
            raise UnknownFormatError("is an archive without a SavedModel", node=where)
        size = file.seek(0, os.SEEK_END)
        limit = min(MAX_MESSAGE, max(FREE_SIZE, MAX_RATIO * size))

        def length(name: str, length: int) -> int | None:
            if name != wanted:
                return None
            if length > limit:
                raise LimitError(f"{name} has {length} bytes; at most {limit} are allowed", node=where)
            return length

        messages = [data for _, _, data in zip_members(file, where, MAX_FILES, length)]
        if len(messages) != 1:
            raise ModelError(f"the archive has {len(messages)} files {wanted}", node=where)
        return messages[0]


@contextmanager
def _open_archive(source: str | bytes) -> Iterator[tuple[BinaryIO, str]]:
    """The archive as a file, and its name in messages."""
    if isinstance(source, bytes):
        yield BytesIO(source), "<bytes>"
        return
    with open_regular(source) as file:
        yield file, source
