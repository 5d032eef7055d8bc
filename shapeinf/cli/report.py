"""`shapeinf report MODEL -o report.html`."""

from __future__ import annotations

from pathlib import Path

import click

from shapeinf.checks import check
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import Lifetimes, check_bindings, lifetime_options
from shapeinf.cli.output import VIOLATION, echo, fail_on, stop
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.targets import check_outputs, output_option
from shapeinf.formats.files import is_same_file
from shapeinf.report import severity_counts
from shapeinf.report.live import save_report


@click.command(name="report", cls=SectionedCommand)
@click.argument("model", type=click.Path())
@model_options()
@lifetime_options
@output_option("The page to write; required.")
def report_command(
    model: str,
    options: ModelOptions,
    lifetimes: Lifetimes,
    output: str | None,
) -> None:
    """Write one HTML page about MODEL that needs no network: shapes, requirements, findings, memory and cost.

    The page has a field and a slider for each dim, and evaluates all sizes exactly as they move. --bind sets the sizes
    that it starts with, --dim the ranges of the sliders.

    Exit codes: 0 no errors, 1 the model has errors or cannot run at the sizes of --bind, 2 usage, 3 a file cannot be
    read or written.
    """
    if output is None:
        raise click.UsageError("name the page to write: -o report.html")
    if is_same_file(model, output):
        raise click.UsageError(f"{output} is the model itself: name another file for the page")
    check_outputs(output=output)
    with readable_errors():
        sizes = dict(options.inference.bind)
        check_bindings(options.dims, sizes)
        symbolic = options.evolve(bind={})
        result = symbolic.infer(model)
        answer = result.contract.check(sizes) if sizes else None
        if answer is not None and answer.verdict is False:
            text = ", ".join(f"{name}={size}" for name, size in sizes.items())
            stop(VIOLATION, f"the model cannot run with {text}: {'; '.join(answer.reasons)}")
        memory = lifetimes.memory(result)
        diagnostics = check(symbolic.compare_declarations(result), options.dims)
        save_report(result, output, title=Path(model).name, sizes=sizes, diagnostics=diagnostics, memory=memory)
        echo(f"saved {output}: {severity_counts(diagnostics)}", err=True)
    fail_on(any(diagnostic.severity == "error" for diagnostic in (*result.diagnostics, *diagnostics)))
