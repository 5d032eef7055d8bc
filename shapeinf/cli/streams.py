"""The standard streams of the process: some may be closed, and writing to standard output may fail."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import NoReturn

import click

from shapeinf.cli.output import CLOSED_PIPE, FAILURE, STDOUT, echo_lines


def open_missing_streams() -> None:
    """Open the standard streams that are closed, so that no file gets their numbers.

    Reading standard input and writing to standard output then raise OSError; what goes to standard error is lost.
    """
    for number, (name, flags) in enumerate((("stdin", os.O_WRONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))):
        if getattr(sys, name) is not None:
            continue
        descriptor = os.open(os.devnull, flags)
        if descriptor != number:
            with suppress(OSError):
                os.fstat(number)
                os.close(descriptor)
                continue
            os.dup2(descriptor, number)
            os.close(descriptor)
        mode = "r" if name == "stdin" else "w"
        setattr(sys, name, open(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False))  # noqa: SIM115


def end_on_failed_output(error: OSError) -> NoReturn:
    """End the process where its output cannot be written; what is buffered goes nowhere."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):  # `shapeinf infer ... | head`
        raise click.exceptions.Exit(CLOSED_PIPE) from None
    text = "it is closed" if error.errno == errno.EBADF else error.strerror or error
    echo_lines(f"error: {error.filename or STDOUT} cannot be written: {text}", err=True)
    raise click.exceptions.Exit(FAILURE) from None
