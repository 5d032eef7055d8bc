"""Zip archives of SavedModels: the message is read where it lies, and nothing is unpacked to disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import BinaryIO

from shapeinf.errors import LimitError, ModelError, ShapeInferenceError, UnknownFormatError

MAX_FILES = 100_000
"""Files of an archive."""

MAX_MESSAGE = (1 << 31) - 1
"""Bytes of a message: protocol buffers have no longer ones."""

MAX_RATIO = 100
"""The largest factor by which a message may be longer than its archive, past `FREE_SIZE` bytes."""

FREE_SIZE = 1 << 26
MAX_FOLDERS = 2
"""How deeply the folder of the model may lie in the archive."""

NAMES = ("saved_model.pb", "saved_model.pbtxt")
"""The files that hold the message of a SavedModel, the preferred one first."""

MAGIC = b"PK\x03\x04"


def message_name(source: str | bytes) -> str | None:
    """The path of the message of a SavedModel in an archive, None where there is none or the archive is damaged."""
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
    """The message of the SavedModel in an archive, given by its path or its bytes.

    Raises UnknownFormatError for an archive without one, LimitError for one that is too long, ModelError for a damaged
    archive.
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
    with open(source, "rb") as file:
        yield file, source
