"""`shapeinf infer MODEL`."""

from __future__ import annotations

import click

from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import json_option, output_option
from shapeinf.cli.output import (
    echo,
    echo_diagnostic,
    echo_document,
    echo_json,
    echo_table,
    fail_on,
    readable_errors,
)
from shapeinf.report import ModelReport, build_report, report_as_json, summary_lines, tensor_table


@click.command(short_help="Infer the shape of every tensor.")
@click.argument("model", type=click.Path())
@model_options()
@json_option
@click.option("--bodies", is_flag=True, help="List the tensors inside of functions, loops and branches too.")
@output_option(
    "Write the model annotated with the inferred shapes to OUT; `-` prints a document in text form, not the table.",
    "--save",
    stream=True,
    folder=True,
)
def infer(model: str, options: ModelOptions, json_wanted: bool, bodies: bool, output: str | None) -> None:
    """Infer the shape of every tensor of MODEL.

    MODEL is an ONNX file, an NNEF document, folder or archive, a network of PNNX, or a GraphDef, SavedModel or
    TensorFlow.js model.

    Exit codes: 0 no errors, 1 errors in the model, 2 usage (also an unknown dim or input), 3 a file cannot be read or
    written.
    """
    if output == "-" and json_wanted:
        raise click.UsageError("-o - and --json both print to stdout: choose one")
    with readable_errors():
        result = options.infer(model)
        if output == "-":
            echo_document(result.save)
        elif json_wanted:
            echo_json({"model": model, **report_as_json(build_report(result, bodies=bodies))})
        else:
            _print_report(build_report(result, bodies=bodies))
        if output is not None and output != "-":
            result.save(output)
            echo(f"saved {output}", err=True)
    fail_on(any(diagnostic.severity == "error" for diagnostic in result.diagnostics))


def _print_report(report: ModelReport) -> None:
    echo_table(tensor_table(report))
    echo(*summary_lines(report))
    for diagnostic in report.diagnostics:
        echo("")
        echo_diagnostic(diagnostic)
