"""`shapeinf rebatch MODEL -o OUT`."""

from __future__ import annotations

import sys

import click

from shapeinf.cli.codes import FINDINGS
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.output import echo, echo_lines
from shapeinf.edit.rebatch import Rebatched
from shapeinf.edit.rebatch import rebatch as rebatched_model
from shapeinf.errors import RebatchError


@click.command(short_help="Make a fixed axis dynamic.")
@click.argument("model", type=click.Path())
@click.option("--axis", type=click.IntRange(min=0), default=0, show_default=True, help="The axis to make dynamic.")
@click.option("--name", default="batch", show_default=True, help="What the dim is to be called.")
@click.option("--input", "inputs", multiple=True, metavar="NAME", help="An input that has the axis; all by default.")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, writable=True),
    metavar="OUT",
    help="Where to write the model. Without it nothing is written.",
)
def rebatch(model: str, axis: int, name: str, inputs: tuple[str, ...], output: str | None) -> None:
    """Make a fixed axis of the inputs of MODEL dynamic, and rewrite the constants that pin it.

    Only constants that provably mean the size of the axis are rewritten.

    Exit codes: 0 fine, 1 something keeps the axis as it is (nothing is written), 2 usage, 3 could not run.
    """
    with readable_errors():
        try:
            found = rebatched_model(model, axis=axis, name=name, inputs=inputs)
        except RebatchError as error:
            echo_lines(f"error: {error}", err=True)
            sys.exit(FINDINGS)
        _report(found)
        if output is not None:
            found.save(output)
            echo(f"saved {output}", err=True)


def _report(found: Rebatched) -> None:
    """The inputs and outputs as they are now, and the constants that are others."""
    tensors = found.result.tensors
    for heading, names in (("input", found.inputs), ("output", found.result.graph.outputs)):
        for name in names:
            echo(f"{heading:<7}{name}: {tensors[name]}")
    for one in found.rewrites:
        echo(f"rewritten {one}")
