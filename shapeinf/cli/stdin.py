"""`-` as a model: standard input, for all formats that are one file."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import click

from shapeinf.errors import LimitError, ModelError

STDIN = "-"
MAX_STDIN = 1 << 31
"""Bytes of a model on standard input: more than protobuf reads."""

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
    data = stream.read(MAX_STDIN + 1)
    if len(data) > MAX_STDIN:
        raise LimitError(f"a model of more than {MAX_STDIN} bytes: save it to a file", node="<stdin>")
    return data
