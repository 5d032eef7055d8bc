"""`shapeinf bind MODEL NAME=VALUE... -o OUT`."""

from __future__ import annotations

import click

from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import bind_requests, output_option
from shapeinf.cli.output import VIOLATION, LateProgress, echo, echo_document, echo_lines, readable_errors
from shapeinf.edit.bind import Bound
from shapeinf.edit.bind import bind as bind_model
from shapeinf.errors import BindError


@click.command(short_help="Freeze, re-range or rename dims.")
@click.argument("model", type=click.Path())
@click.argument("requests", nargs=-1, metavar="[NAME=VALUE]...")
@model_options(without=("dims", "bind", "values", "strict"))
@output_option(
    "Write the new model to OUT; `-` prints a document in text form. Without it nothing is written.",
    stream=True,
    folder=True,
)
def bind(model: str, requests: tuple[str, ...], options: ModelOptions, output: str | None) -> None:
    """Freeze, re-range or rename dims of MODEL, where its graph allows it.

    A VALUE is a size (batch=4), bounds (seq=1..512), another dim or an expression of dims (past=2*seq), or a new name
    (seq=tokens). Dims without a name get their sizes from --input-shapes.

    Exit codes: 0 bound, 1 the graph cannot run with these values (nothing is written), 2 usage (also an unknown dim or
    input), 3 a file cannot be read or written.
    """
    with readable_errors():
        values = bind_requests(requests)
        graph = options.read(model)
        try:
            with LateProgress() as progress:
                bound = bind_model(graph, values, options=options.options_for(graph, progress))
        except BindError as error:
            echo_lines(str(error), err=True)
            raise click.exceptions.Exit(VIOLATION) from None
        _print_signature(bound, err=output == "-")
        if output == "-":
            echo_document(bound.save)
        elif output is not None:
            bound.save(output)
            echo(f"saved {output}", err=True)


def _print_signature(bound: Bound, err: bool) -> None:
    """The types of inputs and outputs, and the preconditions."""
    for name, info in bound.inputs.items():
        echo(f"input  {name}: {info}", err=err)
    for name in bound.result.graph.outputs:
        echo(f"output {name}: {bound.tensors[name]}", err=err)
    for precondition in bound.result.contract.preconditions:
        echo(f"note   {precondition}", err=err)
