"""`--config shapes.toml`: options of a command in a file; the command line takes precedence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from shapeinf.errors import MissingPackageError, ShapeInferenceError
from shapeinf.inputs.config import Config, load_toml, read_config

T = TypeVar("T")


def load_config(_: click.Context, parameter: click.Parameter, path: str | None) -> Config:
    """Read the file of `--config`; its mistakes are usage errors that name the key."""
    return Config() if path is None else read_file(parameter, path, lambda: read_config(load_toml(path)))


def read_file(parameter: click.Parameter, path: str, read: Callable[[], T]) -> T:
    """What a config file holds; its mistakes are usage errors with the file and the key."""
    try:
        return read()
    except OSError as error:
        raise click.BadParameter(f"{path}: {error.strerror}", param=parameter) from None
    except MissingPackageError as error:
        raise click.UsageError(str(error)) from None
    except ShapeInferenceError as error:
        raise click.BadParameter(f"{path}: {error}", param=parameter) from None
