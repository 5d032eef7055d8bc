"""`shapeinf infer MODEL`."""

from __future__ import annotations

import click

from shapeinf.cli.codes import FINDINGS
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.listing import print_result, terminal
from shapeinf.cli.model_options import ModelOptions, json_option, model_options
from shapeinf.cli.output import echo, echo_document, echo_json
from shapeinf.report import as_json


@click.command(short_help="Infer the shape of every tensor.")
@click.argument("model", type=click.Path())
@model_options()
@json_option
@click.option(
    "--save",
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    metavar="OUT",
    help="Write the model annotated with the inferred shapes; `-` prints an NNEF document in place of the table.",
)
def infer(model: str, given: ModelOptions, json_wanted: bool, save: str | None) -> None:
    """Infer the shape of every tensor of MODEL: an ONNX file, or an NNEF document, folder or archive.

    Exit codes: 0 fine, 1 findings (errors in the model), 2 usage (also a dim or input that the model does not have),
    3 could not run (a file that cannot be read or written).
    """
    with readable_errors():
        result = given.infer(model)
        if save == "-":
            if json_wanted:
                raise click.UsageError("--save - and --json both print: choose one")
            echo_document(result.save)
        elif json_wanted:
            echo_json({"model": model, **as_json(result)})
        else:
            print_result(result, terminal())
        if save is not None and save != "-":
            result.save(save)
            echo(f"saved {save}", err=True)
    if any(found.severity == "error" for found in result.diagnostics):
        raise click.exceptions.Exit(FINDINGS)
