"""The entry point: a group with a module for every command; `output` has the exit codes."""

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
    "clean": "clean.clean_command",
    "cost": "cost.cost_command",
    "memory": "memory.memory_command",
    "plan": "plan.plan",
    "verify": "verify.verify_command",
    "expression": "expression.expression",
}
"""The commands in the order of the help: inference, edits, cost and memory, runs, texts of formats."""


class Commands(click.Group):
    """A group that imports a command when it is used, without the packages of the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name].split(".")
        command: click.Command = getattr(importlib.import_module(f"shapeinf.cli.{module}"), attribute)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; its usage errors may hold names of a file."""
        for stream in (sys.stdout, sys.stderr):  # names may have characters that the terminal lacks
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
    """Shape inference for model graphs: symbolic, explained, sound.

    Models are those of ONNX, TensorFlow (GraphDef, SavedModel, TensorFlow.js), NNEF and PNNX.
    """
