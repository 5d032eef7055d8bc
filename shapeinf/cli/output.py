"""What the commands print and how they end: every text goes through `escape_unprintable`, every exit code is here.

Exit codes: 0 fine, 1 findings (the model or a plan is wrong), 2 usage, 3 a file cannot be read, written or run,
130 Ctrl-C.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from types import TracebackType
from typing import NoReturn, TextIO

import click
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table
from rich.text import Text

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import (
    DimSyntaxError,
    ExpressionError,
    MissingPackageError,
    MissingSizeError,
    ModelError,
    ShapeError,
    ShapeInferenceError,
    SpecError,
    UnknownNameError,
)
from shapeinf.texts import escape_unprintable

VIOLATION = 1
FAILURE = 3
INTERRUPTED = 130

WIDTH = 100_000
"""Columns of an output that is not a terminal: nothing is cut or wrapped in a file or a pipe."""

DELAY = 1.0
"""Seconds before the progress bar appears."""


def echo(*lines: str, err: bool = False) -> None:
    """Print lines. An argument is one line: control characters and line ends in it are escaped."""
    for line in lines:
        click.echo(escape_unprintable(line), err=err)


def echo_lines(text: str, *, err: bool = False) -> None:
    """Print a text whose line ends are line ends."""
    echo(*text.split("\n"), err=err)


def echo_json(data: object) -> None:
    """Print JSON, which is ASCII."""
    click.echo(json.dumps(data, indent=2))


def echo_document(write: Callable[[TextIO], None]) -> None:
    """Print a document: to a file or a pipe unchanged, in UTF-8, to a terminal as lines."""
    text = StringIO()
    write(text)
    if sys.stdout.isatty():
        echo_lines(text.getvalue().removesuffix("\n"))
    else:
        click.echo(text.getvalue().encode("utf-8"), nl=False)


def echo_table(table: Table) -> None:
    """Print a table of printable texts."""
    console = _terminal()
    console.print(table)


def echo_diagnostic(diagnostic: Diagnostic) -> None:
    """Print a diagnostic in the colour of its severity."""
    console = _terminal()
    style = {"error": "red", "warning": "yellow"}.get(diagnostic.severity, "")
    for line in diagnostic.render().split("\n"):
        console.print(Text(escape_unprintable(line), style=style), soft_wrap=True)


def _terminal() -> Console:
    """Standard output; where it is not a terminal, nothing is cut."""
    console = Console()
    if not console.is_terminal:
        console.width = WIDTH
    return console


def fail_on(condition: object) -> None:
    """End the command with the exit code of a violation where the condition holds."""
    if condition:
        raise click.exceptions.Exit(VIOLATION)


@contextmanager
def readable_errors() -> Iterator[None]:
    """End the command with a readable message and the exit code of the error, without a traceback."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except (UnknownNameError, SpecError, DimSyntaxError) as error:
        raise click.UsageError(str(error)) from None
    except MissingSizeError as error:
        missing = ",".join(f"{name}=N" for name in error.names)
        raise click.UsageError(f"this needs a size for every dim: add --bind {missing}") from None
    except ShapeError as error:
        _end_with_violation(error)
    except ExpressionError as error:
        line, caret = error.excerpt()
        stop(FAILURE, f"{error}\n  {line}\n  {caret}")
    except (MissingPackageError, ModelError) as error:
        stop(FAILURE, str(error))
    except ShapeInferenceError as error:
        raise click.UsageError(str(error)) from None
    except BrokenPipeError:  # `shapeinf infer ... | head`: click ends without a message
        raise
    except OSError as error:
        stop(FAILURE, escape_unprintable(f"{error.filename or 'file'}: {error.strerror or error}"))
    except Exception as error:
        stop(
            FAILURE, escape_unprintable(f"this is a bug of shapeinf, not of the model: {type(error).__name__}: {error}")
        )


def _end_with_violation(error: ShapeError) -> NoReturn:
    """A rule violated at a node is a diagnostic of the model; one violated by user values is a usage error."""
    if error.node is None:
        because = f" (because {error.because})" if error.because else ""
        raise click.UsageError(error.headline + because) from None
    echo_lines(error.as_diagnostic(error.node, error.op or "").render(), err=True)
    sys.exit(VIOLATION)


def stop(code: int, message: str) -> NoReturn:
    """Print an error to stderr and exit."""
    echo_lines(f"error: {message}", err=True)
    sys.exit(code)


class LateProgress:
    """Called with (done, total); shows a bar on a terminal's stderr once `DELAY` seconds have passed.

    >>> with LateProgress() as progress:
    ...     progress(1, 2)
    """

    def __init__(self, console: Console | None = None, delay: float = DELAY) -> None:
        """No bar yet; a console that is not a terminal never has one."""
        self._console = console or Console(stderr=True)
        self._start = time.monotonic() + delay
        self._bar: Progress | None = None
        self._task = TaskID(0)

    def __enter__(self) -> LateProgress:
        """The progress itself."""
        return self

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` nodes are inferred."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done)
        elif self._console.is_terminal and time.monotonic() >= self._start:
            self._bar = Progress(console=self._console, transient=True)
            self._task = self._bar.add_task("inferring shapes", total=total, completed=done)
            self._bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
