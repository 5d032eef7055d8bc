"""The entry point: one group, one file a sub-command, exit codes.

0 fine, 1 findings, 2 usage (also an unknown dim or input name), 3 the model could not be read or run.
"""

from __future__ import annotations

import importlib
import sys
from io import TextIOWrapper
from typing import Any

import click

from shapeinf.texts import escape_unprintable

COMMANDS = {
    "infer": "infer.infer",
    "check": "check.check_command",
    "explain": "explain.explain",
    "diff": "diff.diff",
    "bind": "bind.bind",
    "rebatch": "rebatch.rebatch",
    "memory": "memory.memory_command",
    "plan": "plan.plan",
    "verify": "verify.verify_command",
}
"""The sub-commands in the order in which they are listed: what asks first, then what changes, then memory."""


class Commands(click.Group):
    """A group that loads a sub-command when it is asked for: none waits for what the others need."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A sub-command by its name; None where there is no such."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name].split(".")
        command: click.Command = getattr(importlib.import_module(f"shapeinf.cli.{module}"), attribute)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a sub-command; what it says of its usage may name parts of a file."""
        for stream in (sys.stdout, sys.stderr):  # names may have characters that the terminal does not
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            error.message = escape_unprintable(error.message)  # type: ignore[misc]
            raise


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="shapeinf")
def main() -> None:
    """Shape inference for model graphs: symbolic, explained, sound."""
