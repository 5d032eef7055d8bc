"""`shapeinf triton MODEL`."""

from __future__ import annotations

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.output import VIOLATION, echo, echo_lines
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.targets import check_outputs, output_option, saving
from shapeinf.deployment import make_serving_config
from shapeinf.errors import BindError
from shapeinf.formats.files import write_text


@click.command(name="triton", cls=SectionedCommand)
@click.argument("model", type=click.Path())
@click.option(
    "--max-batch",
    type=click.IntRange(min=0),
    default=8,
    show_default=True,
    metavar="N",
    help="The largest batch of a request; 0 for a config without a batch axis.",
)
@output_option("Write the config to OUT, usually config.pbtxt, instead of standard output.")
@model_options(without=("dims", "bind", "declared", "strict"))
def triton_command(model: str, options: ModelOptions, max_batch: int, output: str | None) -> None:
    """Write a serving config of Triton for MODEL: inputs, outputs, types, dims and the largest batch.

    The config has a batch axis where the first axis of all inputs and outputs is the same free size, and lets Triton
    batch requests where no node mixes the items of a batch; else a comment in it states why. `shapeinf check MODEL
    --triton OUT` reports nothing for the written config.

    Exit codes: 0 written, 1 the graph cannot run with a batch of some sizes up to N (nothing is written), 2 usage (such
    as a format that Triton has no backend for), 3 a file cannot be read or written.
    """
    check_outputs(output=output)
    with readable_errors():
        graph = options.read(model)
        try:
            config = make_serving_config(graph, max_batch, options=options.options_for(graph))
        except BindError as error:
            echo_lines(str(error), err=True)
            raise click.exceptions.Exit(VIOLATION) from None
        if output is not None:
            with saving(output):
                write_text(output, str(config))
            echo(*(f"note: {note}" for note in config.notes), err=True)
        else:
            echo_lines(str(config).removesuffix("\n"))
