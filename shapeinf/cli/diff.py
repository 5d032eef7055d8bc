"""`shapeinf diff A B`."""

from __future__ import annotations

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import json_option
from shapeinf.cli.output import echo, echo_json, fail_on, note_errors
from shapeinf.cli.sections import SectionedCommand
from shapeinf.edit.comparison import diff as compare
from shapeinf.report.diff_report import difference_lines, report_differences


@click.command(cls=SectionedCommand)
@click.argument("before", metavar="A", type=click.Path())
@click.argument("after", metavar="B", type=click.Path())
@model_options(without=("strict", "format_options"))
@click.option("--all", "every", is_flag=True, help="List every tensor that only one model has; JSON always has them.")
@json_option
def diff(before: str, after: str, options: ModelOptions, every: bool, json_wanted: bool) -> None:
    """Compare the shapes and contracts of two models of any formats. The options of dims apply to both models.

    The totals that differ are printed last: nodes, parameters, multiply-accumulates, peak memory at usual sizes, and
    operators.

    Exit codes: 0 no difference, 1 differences, 2 usage, 3 a file cannot be read.
    """
    with readable_errors():
        results = options.infer(before), options.infer(after)
        differences = compare(*results)
        report = report_differences((before, after), results, differences, options.inference.bind)
        if json_wanted:
            echo_json(report)
        else:
            echo(*difference_lines(report, every=every))
    for model, result in zip((before, after), results, strict=True):
        note_errors(model, result.diagnostics)
    fail_on(differences)
