"""The one way to the terminal: whatever a file calls its parts, a terminal only shows it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from io import StringIO
from typing import TextIO

import click

from shapeinf.texts import escape_unprintable


def echo(*lines: str, err: bool = False) -> None:
    """Print lines. An argument is one line, whatever is in it."""
    for line in lines:
        click.echo(escape_unprintable(line), err=err)


def echo_lines(text: str, *, err: bool = False) -> None:
    """Print a text of several lines, which was made of printable ones."""
    echo(*text.split("\n"), err=err)


def echo_json(data: object) -> None:
    """Print JSON, which is ASCII."""
    click.echo(json.dumps(data, indent=2))


def echo_document(write: Callable[[TextIO], None]) -> None:
    """Print a document: to a file or a pipe as it is, in UTF-8, to a terminal as lines."""
    text = StringIO()
    write(text)
    if sys.stdout.isatty():
        echo_lines(text.getvalue().removesuffix("\n"))
    else:
        click.echo(text.getvalue().encode("utf-8"), nl=False)
