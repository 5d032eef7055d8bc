"""The command line: `shapeinf COMMAND ...`, a module a command.

Exit codes: 0 fine, 1 findings (errors in the model), 2 usage (also a dim or input name that the model does not have),
3 could not run (a file that cannot be read or written, or a bug of shapeinf).
"""

from __future__ import annotations

import click

import shapeinf
from shapeinf.cli.infer import infer

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(shapeinf.__version__, prog_name="shapeinf")
def main() -> None:
    """Shapes of every tensor of a model: symbolic, explained, sound.

    Exit codes: 0 fine, 1 findings, 2 usage, 3 could not run.
    """


main.add_command(infer)
