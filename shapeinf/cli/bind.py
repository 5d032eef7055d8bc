"""`shapeinf bind MODEL NAME=VALUE... -o OUT`."""

from __future__ import annotations

import sys

import click

from shapeinf.cli import options
from shapeinf.cli.codes import FINDINGS
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.output import echo, echo_document, echo_lines
from shapeinf.cli.progress import LateProgress
from shapeinf.edit.bind import BindError, Bound
from shapeinf.edit.bind import bind as bound_model


@click.command(short_help="Freeze, re-range or rename dims.")
@click.argument("model", type=click.Path())
@click.argument("wanted", nargs=-1, metavar="[NAME=VALUE]...")
@model_options(without=("dims", "bind", "strict"))
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    metavar="OUT",
    help="Where to write the model; `-` prints an NNEF document. Without it nothing is written.",
)
def bind(model: str, wanted: tuple[str, ...], given: ModelOptions, output: str | None) -> None:
    """Freeze, re-range or rename dims of MODEL, where its graph allows it.

    A VALUE is a size (batch=4), bounds (seq=1..512), another dim or an expression of dims (past=2*seq), or a new name
    (seq=tokens). Dims without a name are given by --input-shapes.

    Exit codes: 0 fine, 1 the graph cannot run with that (nothing is written), 2 usage (also a dim or input that the
    model does not have), 3 could not run (a file that cannot be read or written).
    """
    with readable_errors():
        try:
            bound = _bound(model, options.wishes(wanted), given)
        except BindError as error:
            echo_lines(str(error), err=True)
            sys.exit(FINDINGS)
        _report(bound, err=output == "-")
        if output is not None:
            if output == "-":
                echo_document(bound.save)
            else:
                bound.save(output)
                echo(f"saved {output}", err=True)


def _bound(model: str, wanted: dict[str, str], given: ModelOptions) -> Bound:
    graph = given.read(model)
    with LateProgress() as progress:
        return bound_model(graph, wanted, options=given.options_for(graph, progress))


def _report(bound: Bound, err: bool) -> None:
    """The inputs and outputs as they are now, and what the graph still demands of them."""
    inputs, tensors = bound.inputs, bound.tensors
    outputs = {name: tensors[name] for name in bound.result.graph.outputs}
    for heading, found in (("input", inputs), ("output", outputs)):
        for name, info in found.items():
            echo(f"{heading:<7}{name}: {info}", err=err)
    for condition in bound.result.contract.preconditions:
        echo(f"note   {condition}", err=err)
