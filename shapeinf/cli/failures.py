"""Errors that end a command: a readable message and an exit code, without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from shapeinf.cli.output import FAILURE, STDOUT, USAGE, VIOLATION, echo_lines, stop
from shapeinf.errors import (
    Contradiction,
    DimSyntaxError,
    ExpressionError,
    MissingPackageError,
    MissingSizeError,
    ModelError,
    PageError,
    ScanError,
    ShapeError,
    ShapeInferenceError,
    SpecError,
    UnknownNameError,
)
from shapeinf.texts import escape_unprintable, shell_word

_VIOLATED_RULE = "S101"
"""The code of an error of sizes; without a node, it is one of the user's values."""


@contextmanager
def readable_errors(model: str = "") -> Iterator[None]:
    """End the command with a readable message and the exit code of the error, without a traceback.

    `model` is named in messages that name no file: for commands that take several.
    """
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except (UnknownNameError, SpecError, DimSyntaxError) as error:
        raise click.UsageError(str(error)) from None
    except MissingSizeError as error:
        missing = shell_word(",".join(f"{name}=N" for name in error.names))
        if error.bounds:
            ranges = " ".join(f"--dim {shell_word(f'{name}=1..N')}" for name in error.names)
            raise click.UsageError(
                f"this needs an upper bound of every dim: add {ranges}, or --bind {missing}"
            ) from None
        raise click.UsageError(f"this needs a size for every dim: add --bind {missing}") from None
    except ShapeError as error:
        _end_with_violation(error, model)
    except ExpressionError as error:
        line, caret = error.excerpt()
        stop(USAGE, f"{error}\n  {line}\n  {caret}")
    except (MissingPackageError, ModelError, PageError, ScanError) as error:
        stop(FAILURE, str(error))
    except ShapeInferenceError as error:
        raise click.UsageError(str(error)) from None
    except BrokenPipeError:  # `shapeinf infer ... | head`: click ends without a message
        raise
    except OSError as error:
        if error.filename == STDOUT:  # the group ends the process, without what is buffered
            raise
        stop(FAILURE, escape_unprintable(f"{error.filename or 'file'}: {error.strerror or error}"))
    except Exception as error:
        stop(
            FAILURE, escape_unprintable(f"this is a bug of shapeinf, not of the model: {type(error).__name__}: {error}")
        )


def _end_with_violation(error: ShapeError, model: str) -> NoReturn:
    """End with 1 where a node does not allow the sizes, or no runtime loads the model.

    Contradictory values of the user are usage errors.
    """
    if error.node is not None or error.code != _VIOLATED_RULE:
        echo_lines(error.as_diagnostic(error.node or "", error.op or "").render(), err=True)
        sys.exit(VIOLATION)
    because = f" (because {error.because})" if error.because else ""
    if isinstance(error, Contradiction) and error.second is not None and error.second.node:
        stop(VIOLATION, (f"{model}: " if model else "") + error.headline + because)
    raise click.UsageError(error.headline + because) from None
