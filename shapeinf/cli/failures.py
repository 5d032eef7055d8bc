"""Errors as a person reads them, and the exit code of each kind. No traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from shapeinf.algebra import DimSyntaxError
from shapeinf.driver import Diagnostic
from shapeinf.errors import ModelError, ShapeError, ShapeInferenceError, UnknownNameError
from shapeinf.lattice.spec import SpecError

FINDINGS = 1
USAGE = 2
COULD_NOT_RUN = 3


@contextmanager
def readable_errors() -> Iterator[None]:
    """End the command with a readable message and the right exit code for whatever goes wrong inside."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except (UnknownNameError, SpecError, DimSyntaxError) as error:
        raise click.UsageError(str(error)) from None
    except ShapeError as error:
        raise _finding(error) from None
    except ModelError as error:
        raise _failure(str(error), COULD_NOT_RUN) from None
    except ShapeInferenceError as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise _failure(f"{error.filename or 'file'}: {error.strerror or error}", COULD_NOT_RUN) from None
    except Exception as error:
        message = f"this is a bug of shapeinf, not of the model: {type(error).__name__}: {error}"
        raise _failure(message, COULD_NOT_RUN) from error


def _finding(error: ShapeError) -> click.ClickException:
    """A law broken at a node is a finding about the model; one broken by what the user says is a usage error."""
    operands = f": {', '.join(error.operands)}" if error.operands else ""
    if error.node is None:
        because = f" (because {error.because})" if error.because else ""
        return click.UsageError(f"{error.law}{operands}{because}")
    found = Diagnostic(
        "error", error.code, error.law + operands, error.node, error.op or "", (), error.because, error.help
    )
    return _failure(found.render().removeprefix("error"), FINDINGS, "error")


def _failure(message: str, code: int, prefix: str = "error: ") -> click.ClickException:
    return _Failure(prefix + message, code)


class _Failure(click.ClickException):
    """A message that ends the command, as it is."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.exit_code = code  # type: ignore[misc] # click declares it on the class and reads it from the instance

    def show(self, file: object = None) -> None:
        """Print to stderr."""
        click.echo(self.format_message(), err=True)
