"""Errors as a person reads them, and the exit code of each kind. No traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from shapeinf.cli.codes import FAILED, FINDINGS, stop
from shapeinf.cli.output import echo_lines
from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import (
    MissingPackageError,
    MissingSizeError,
    ModelError,
    ShapeError,
    ShapeInferenceError,
    UnknownNameError,
)
from shapeinf.expr import DimSyntaxError
from shapeinf.inputs.spec import SpecError
from shapeinf.texts import escape_unprintable


@contextmanager
def readable_errors() -> Iterator[None]:
    """End the command with a readable message and the right exit code for whatever goes wrong inside."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except (UnknownNameError, SpecError, DimSyntaxError) as error:
        raise click.UsageError(str(error)) from None
    except MissingSizeError as error:
        missing = ",".join(f"{name}=N" for name in error.names)
        raise click.UsageError(f"this needs one size of every dim: add --bind {missing}") from None
    except ShapeError as error:
        _finding(error)
    except (MissingPackageError, ModelError) as error:
        stop(FAILED, str(error))
    except ShapeInferenceError as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        stop(FAILED, escape_unprintable(f"{error.filename or 'file'}: {error.strerror or error}"))
    except Exception as error:
        stop(
            FAILED, escape_unprintable(f"this is a bug of shapeinf, not of the model: {type(error).__name__}: {error}")
        )


def _finding(error: ShapeError) -> None:
    """A law broken at a node is a finding about the model; one broken by what the user says is a usage error."""
    message = error.message + (f": {', '.join(error.operands)}" if error.operands else "")
    if error.node is None:
        because = f" (because {error.because})" if error.because else ""
        raise click.UsageError(message + because) from None
    found = Diagnostic(
        "error", error.code, message, error.node, error.op or "", (), error.because, error.help, error.location
    )
    echo_lines(found.render(), err=True)
    sys.exit(FINDINGS)
