"""`-` as a model: standard input, for all formats that are one file."""

from __future__ import annotations

import errno
import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import click

from shapeinf.errors import ModelError
from shapeinf.formats.read_files import read_stream

STDIN = "-"

_LABELS = ("<bytes>", "<text>", "<archive>")
"""Names that readers give to a model without a path."""


def path_or_stdin(model: str) -> str | bytes:
    """The path of a model; for `-` the bytes of standard input, which are read once."""
    return _read(sys.stdin.buffer) if model == STDIN else model


@contextmanager
def stdin_errors(model: str) -> Iterator[None]:
    """Replace the label of a model without a path by `<stdin>` in errors of readers."""
    try:
        yield
    except ModelError as error:
        if model == STDIN and error.node in _LABELS:
            raise ModelError(error.cause, node="<stdin>") from error
        raise


@functools.lru_cache(maxsize=1)
def _read(stream: BinaryIO) -> bytes:
    if stream.isatty():
        raise click.UsageError("the model - is standard input, which is a terminal: pipe a model in, or name a file")
    try:
        return read_stream(stream, "<stdin>")
    except OSError as error:
        cause = "it is closed" if error.errno == errno.EBADF else error.strerror or error
        raise ModelError(f"cannot be read: {cause}", node="<stdin>") from error
