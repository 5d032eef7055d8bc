"""Output and exit codes of commands: every text goes through `escape_unprintable`, every exit code is here.

Exit codes: 0 fine, 1 findings (the model or a plan is wrong), 2 usage, 3 a file cannot be read, written or run,
130 Ctrl-C, 141 the reader of standard output has closed it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, TextIO

import click

from shapeinf.texts import display_width, escape_unprintable, format_count

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from shapeinf.diagnostics import Diagnostic
    from shapeinf.report.table import Column

VIOLATION = 1
USAGE = 2
FAILURE = 3
INTERRUPTED = 130
CLOSED_PIPE = 141

_LINES = 200
"""Lines of a table that are printed at a time."""

DELAY = 1.0
"""Seconds before the progress bar appears."""


STDOUT = "<stdout>"
"""The name of standard output in messages."""


def _print(text: str | bytes, *, err: bool = False, nl: bool = True, color: bool | None = None) -> None:
    """Print a text. Raises OSError that names standard output; what cannot be written to stderr is lost."""
    try:
        click.echo(text, err=err, nl=nl, color=color)
    except OSError as error:
        if not err:
            error.filename = STDOUT
            raise


def hide_library_logs() -> None:
    """Print no log records of libraries: names of the model are in them with their control characters."""
    import logging

    logging.getLogger().addHandler(logging.NullHandler())


def echo(*lines: str, err: bool = False) -> None:
    """Print lines. An argument is one line: control characters and line ends in it are escaped."""
    for line in lines:
        _print(escape_unprintable(line), err=err)


def echo_lines(text: str, *, err: bool = False) -> None:
    """Print a text whose line ends are line ends."""
    echo(*text.split("\n"), err=err)


def echo_wrapped(lines: Iterable[str], indent: int) -> None:
    """Print lines; one that is wider than the output continues below its text, after `indent` blanks."""
    import textwrap

    width = output_width()
    for line in map(escape_unprintable, lines):
        if width is None or display_width(line) <= width:
            _print(line)
        else:
            blanks = " " * min(indent, width // 2)
            broken = textwrap.wrap(
                line, width, subsequent_indent=blanks, break_long_words=False, break_on_hyphens=False
            )
            _print("\n".join(broken))


def echo_json(record: object) -> None:
    """Print the JSON of a record, which is ASCII."""
    from shapeinf.schemas import json_text

    _print(json_text(record))


def echo_json_line(record: object) -> None:
    """Print the JSON of a record on one line."""
    import json

    from shapeinf.schemas import to_json

    _print(json.dumps(to_json(record)))


def echo_status(text: str) -> None:
    """Print a line to stderr, a terminal, in the place of the last one; an empty text ends it."""
    _print(f"\r\x1b[K{escape_unprintable(text)}", err=True, nl=not text)


def echo_document(write: Callable[[TextIO], object]) -> None:
    """Print a document: to a file or a pipe unchanged, in UTF-8, to a terminal as lines."""
    text = StringIO()
    write(text)
    if sys.stdout.isatty():
        echo_lines(text.getvalue().removesuffix("\n"))
    else:
        _print(text.getvalue().encode("utf-8"), nl=False)


def echo_rows(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print a table while its rows are made; a terminal, and a pipe where COLUMNS is set, cut long cells."""
    from shapeinf.report.table import table_lines

    lines = table_lines(columns, rows, width=output_width(), rule=_rule())
    for heading in islice(lines, 1):
        _print(_style(heading, bold=True), color=use_color())
    while chunk := list(islice(lines, _LINES)):
        _print("\n".join(chunk))


def output_width() -> int | None:
    """The columns of standard output: COLUMNS, else those of the terminal; None for a file or a pipe."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    if not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size

    return get_terminal_size().columns


def use_color() -> bool:
    """Whether standard output has colors: never with NO_COLOR, always with FORCE_COLOR, else on a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _style(text: str, *, bold: bool | None = None, color: str | None = None) -> str:
    return click.style(text, fg=color, bold=bold) if use_color() else text


def _rule() -> str:
    """A horizontal line, or a hyphen where the encoding of standard output has none."""
    try:
        "\u2500".encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return "-"
    return "\u2500"


def echo_diagnostic(diagnostic: Diagnostic) -> None:
    """Print a diagnostic in the color of its severity."""
    color = {"error": "red", "warning": "yellow"}.get(diagnostic.severity)
    for line in diagnostic.render().split("\n"):
        _print(_style(escape_unprintable(line), color=color), color=use_color())


def note_errors(model: str, diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether a model has errors, which a note on stderr states: for commands that do not print them."""
    count = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
    if count:
        echo(
            f"note: {model} has {format_count(count, 'error')}: shapeinf infer, with these options, prints them",
            err=True,
        )
    return count > 0


def fail_on(condition: object) -> None:
    """End the command with the exit code of a violation where the condition holds."""
    if condition:
        raise click.exceptions.Exit(VIOLATION)


def stop(code: int, message: str) -> NoReturn:
    """Print an error to stderr and exit."""
    echo_lines(f"error: {message}", err=True)
    sys.exit(code)


class LateProgress:
    """A listener to the progress of an inference: a bar on a terminal's stderr once `DELAY` seconds have passed.

    >>> with LateProgress() as progress:
    ...     progress(1, 2)
    """

    def __init__(self, console: Console | None = None, delay: float = DELAY) -> None:
        """No bar yet; a console that is not a terminal never has one."""
        self._console = console
        self._terminal = sys.stderr.isatty() if console is None else console.is_terminal
        self._start = time.monotonic() + delay
        self._bar: Progress | None = None

    def __enter__(self) -> LateProgress:
        """The progress itself."""
        return self

    @property
    def listener(self) -> LateProgress | None:
        """The progress itself; None off a terminal, so that an inference need not call it."""
        return self if self._terminal else None

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` nodes are inferred."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)
        elif self._terminal and time.monotonic() >= self._start:
            from rich.console import Console  # only slow inferences need rich, which takes long to import
            from rich.progress import Progress

            self._bar = Progress(console=self._console or Console(stderr=True), transient=True)
            self._bar.add_task("inferring shapes", total=total, completed=done)
            self._bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
