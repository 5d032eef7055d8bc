"""`shapeinf bind MODEL NAME=VALUE... -o OUT`."""

from __future__ import annotations

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import bind_requests
from shapeinf.cli.output import VIOLATION, LateProgress, echo, echo_document, echo_lines
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.targets import ModelTarget, model_output
from shapeinf.edit.bind import Bound
from shapeinf.edit.bind import bind as bind_model
from shapeinf.errors import BindError


@click.command(cls=SectionedCommand)
@click.argument("model", type=click.Path())
@click.argument("requests", nargs=-1, metavar="[NAME=VALUE]...")
@model_options(without=("dims", "bind", "values", "strict"))
@model_output(
    "Write the new model to OUT; `-` prints a document in text form. Without it nothing is written.",
    stream=True,
    folder=True,
)
def bind(model: str, requests: tuple[str, ...], options: ModelOptions, target: ModelTarget) -> None:
    """Freeze, re-range or rename dims of MODEL, where its graph allows it.

    A VALUE is a size (batch=4), bounds (seq=1..512), another dim or an expression of dims (past=2*seq), or a new name
    (seq=tokens). Dims without a name get their sizes from --input-shapes.

    Exit codes: 0 bound, 1 the graph cannot run with these values (nothing is written), 2 usage (such as an unknown dim
    or input), 3 a file cannot be read or written.
    """
    with readable_errors():
        target.check(model)
        values = bind_requests(requests)
        graph = options.read(model)
        try:
            with LateProgress() as progress:
                bound = bind_model(graph, values, options=options.options_for(graph, progress))
        except BindError as error:
            echo_lines(str(error), err=True)
            raise click.exceptions.Exit(VIOLATION) from None
        target.save(bound.save)
        _print_signature(bound, err=target.is_stdout)
        if target.is_stdout:
            echo_document(bound.save)


def _print_signature(bound: Bound, err: bool) -> None:
    """The types of inputs and outputs, and the preconditions."""
    for name, info in bound.inputs.items():
        echo(f"input  {name}: {info}", err=err)
    for name in bound.result.graph.outputs:
        echo(f"output {name}: {bound.tensors[name]}", err=err)
    for precondition in bound.result.contract.preconditions:
        echo(f"note   {precondition}", err=err)
