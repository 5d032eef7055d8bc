"""Paths of model files, and files that are replaced as a unit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from shapeinf.errors import ModelError


def check_path(path: str | os.PathLike[str]) -> str:
    r"""A path as text. Raises ModelError for a text that cannot be one, such as a text with a NUL in it.

    >>> check_path("model\0.onnx")
    Traceback (most recent call last):
    shapeinf.errors.ModelError: 'model\x00.onnx' is not a file path
    """
    text = os.fsdecode(path)
    if not is_path(text):
        raise ModelError(f"{text!r} is not a file path")
    return text


def is_path(text: str) -> bool:
    """Whether the system could have a file of this name."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


@contextmanager
def replace_file(path: str) -> Iterator[BinaryIO]:
    """A file to write that appears under its path when it is complete, or not at all."""
    temporary = f"{path}.part"
    try:
        with open(temporary, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
