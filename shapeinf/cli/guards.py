"""`shapeinf guards MODEL`."""

from __future__ import annotations

import attrs
import click

from shapeinf.api import infer
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.format_options import add_format_options, take_format_options
from shapeinf.cli.model_options import read_graph
from shapeinf.cli.options import json_option
from shapeinf.cli.output import echo, echo_json, echo_lines, fail_on
from shapeinf.cli.sections import SectionedCommand
from shapeinf.guards import GuardReport
from shapeinf.inputs.options import InferenceOptions
from shapeinf.report.guards import guard_lines, guards_as_markdown


@click.command(name="guards", cls=SectionedCommand)
@click.argument("model", type=click.Path())
@click.option(
    "--against",
    type=click.Path(),
    metavar="FILE",
    help="Compare with FILE, a model that was made of the program: which guards FILE keeps, and which are lost.",
)
@click.option("--markdown", is_flag=True, help="Print a table of Markdown.")
@json_option
@add_format_options
def guards_command(
    model: str, against: str | None, markdown: bool, json_wanted: bool, **format_options: object
) -> None:
    """Compare the guards of MODEL, a program of torch.export, with what its operators need.

    A guard is a condition on sizes that the exported module checks; the fixed sizes, equal sizes and ranges that the
    program declares are examined as well. A guard is needed by an operator (with the line of the source), needed in
    part, or not needed, with sizes that show this: the operators accept them, and the guard refuses them. A requirement
    of an operator that no guard implies is a missing guard. The last line has the `dynamic_shapes` that leave free
    every size that the operators leave free.

    With --against, a guard is lost where FILE, such as an ONNX file made of the program, accepts sizes that the guard
    and the operators of the program refuse.

    Exit codes: 0 no guard is missing or lost, 1 a guard is missing or lost, 2 usage (such as a model without guards), 3
    a file cannot be read.
    """
    if markdown and json_wanted:
        raise click.UsageError("--json and --markdown are two forms of the report: choose one")
    options = InferenceOptions(format_options=take_format_options(format_options))
    with readable_errors():
        report = attrs.evolve(_examine(model, against, options), model=model)
        if json_wanted:
            echo_json(report)
        elif markdown:
            echo_lines(guards_as_markdown(report))
        else:
            echo(*guard_lines(report))
    fail_on(bool(report.missing or report.lost()))


def _examine(model: str, against: str | None, options: InferenceOptions) -> GuardReport:
    result = infer(read_graph(model, options))
    if against is None:
        return result.guards
    report = result.guards_in(infer(read_graph(against, InferenceOptions())))
    assert report.other is not None
    return attrs.evolve(report, other=attrs.evolve(report.other, model=against))
