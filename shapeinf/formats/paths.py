"""Paths that users and files name."""

from __future__ import annotations

import os

from shapeinf.errors import ModelError


def path_of(named: str | os.PathLike[str]) -> str:
    r"""A path as text. Raises ModelError for what can be no path, such as a text with a NUL in it.

    >>> path_of("model\0.onnx")
    Traceback (most recent call last):
    shapeinf.errors.ModelError: 'model\x00.onnx' is no path of a file
    """
    path = os.fsdecode(named)
    if not is_path(path):
        raise ModelError(f"{path!r} is no path of a file")
    return path


def is_path(text: str) -> bool:
    """Whether the system could have a file of this name."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False
