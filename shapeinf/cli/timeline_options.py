"""The options that say when what lives, shared by the commands about memory."""

from __future__ import annotations

import click

from shapeinf.cli.model_options import Command
from shapeinf.solver.budget import WORK

_ORDER = click.option(
    "--order",
    type=click.Choice(["file", "least"]),
    default="file",
    show_default=True,
    help="The order in which the nodes run: that of the file, or one that needs less.",
)
_ALIASES = click.option("--aliases", is_flag=True, help="Outputs that only view an input take no memory of their own.")
_IN_PLACE = click.option("--in-place", is_flag=True, help="Nodes write over an input that dies, where they may.")
_WORK = click.option(
    "--work",
    type=click.IntRange(min=0),
    default=WORK,
    show_default=True,
    help="The budget of each question, in steps that are the same on every machine; answers say where it was reached.",
)


def timeline_options(command: Command) -> Command:
    """The options that say when what lives."""
    for option in (_WORK, _IN_PLACE, _ALIASES, _ORDER):
        command = option(command)
    return command
