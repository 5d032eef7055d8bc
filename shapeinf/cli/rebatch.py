"""`shapeinf rebatch MODEL -o OUT`."""

from __future__ import annotations

import click

from shapeinf.cli.output import VIOLATION, echo, readable_errors, stop
from shapeinf.cli.stdin import path_or_stdin, stdin_errors
from shapeinf.cli.targets import ModelTarget, model_output
from shapeinf.edit.rebatch import Rebatched
from shapeinf.edit.rebatch import rebatch as rebatch_model
from shapeinf.errors import RebatchError


@click.command()
@click.argument("model", type=click.Path())
@click.option("--axis", type=click.IntRange(min=0), default=0, show_default=True, help="The axis to make dynamic.")
@click.option("--name", default="batch", show_default=True, help="The name of the new dim.")
@click.option("--input", "inputs", multiple=True, metavar="NAME", help="An input with the axis; all inputs by default.")
@model_output("Write the new model to OUT. Without it nothing is written.")
def rebatch(model: str, axis: int, name: str, inputs: tuple[str, ...], target: ModelTarget) -> None:
    """Make a fixed axis of the inputs of MODEL dynamic, and rewrite the constants that fix its size.

    Only constants that provably hold the size of the axis are rewritten.

    Exit codes: 0 rebatched, 1 a node or constant fixes the axis (nothing is written), 2 usage, 3 a file cannot be read
    or written.
    """
    with readable_errors():
        target.check(model)
        try:
            with stdin_errors(model):
                rebatched = rebatch_model(path_or_stdin(model), axis=axis, name=name, inputs=inputs)
        except RebatchError as error:
            stop(VIOLATION, str(error))
        target.save(rebatched.save)
        _print_changes(rebatched)


def _print_changes(rebatched: Rebatched) -> None:
    """The types of inputs and outputs, and the rewritten constants."""
    tensors = rebatched.result.tensors
    for heading, names in (("input", rebatched.inputs), ("output", rebatched.result.graph.outputs)):
        for name in names:
            echo(f"{heading:<7}{name}: {tensors[name]}")
    for rewrite in rebatched.rewrites:
        echo(f"rewritten {rewrite}")
