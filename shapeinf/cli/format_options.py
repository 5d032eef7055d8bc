"""The options of the registered formats, such as `--dialect` and `--expand` of NNEF."""

from __future__ import annotations

from typing import Any

import click

from shapeinf.cli.sections import FORMAT, Command, section_options
from shapeinf.errors import ShapeInferenceError
from shapeinf.formats import FORMATS, FormatOptions


def add_format_options(command: Command) -> Command:
    """Give a command the options of all formats, as their records describe them."""
    for name, option in reversed(FORMATS.command_line().items()):
        decorate = section_options(FORMAT)(
            f"--{name.replace('_', '-')}",
            type=click.Choice(option.choices) if option.choices else None,
            metavar=option.metavar,
            multiple=option.repeated,
            help=option.help,
        )
        command = decorate(command)
    return command


def take_format_options(arguments: dict[str, Any]) -> FormatOptions | None:
    """Remove the options of formats from the arguments of a command, as one record; None where none is typed."""
    values = {name: arguments.pop(name) for name in FORMATS.command_line()}
    try:
        return FORMATS.options(values)
    except ShapeInferenceError as error:
        raise click.UsageError(str(error)) from None
