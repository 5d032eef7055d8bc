"""`--config shapes.toml`: options of a command in a file; the command line takes precedence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from shapeinf.errors import MissingPackageError, ShapeInferenceError

if TYPE_CHECKING:
    from shapeinf.checks.config import CheckConfig


def load_config(_: click.Context, parameter: click.Parameter, path: str | None) -> CheckConfig | None:
    """Read the file of `--config`; its errors are usage errors that name the key."""
    return None if path is None else read_config_file(path, parameter)


def read_config_file(path: str, parameter: click.Parameter | None = None) -> CheckConfig:
    """The config of a file; its errors are usage errors with the file and the key."""
    from shapeinf.checks.config import load_check_config  # commands without a config do not import the checks

    try:
        return load_check_config(path)
    except OSError as error:
        raise click.BadParameter(f"{path}: {error.strerror}", param=parameter) from None
    except MissingPackageError as error:
        raise click.UsageError(str(error)) from None
    except ShapeInferenceError as error:
        raise click.BadParameter(f"{path}: {error}", param=parameter) from None
