"""`shapeinf cost MODEL`."""

from __future__ import annotations

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import json_option
from shapeinf.cli.output import echo, echo_json, fail_on, note_errors
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.targets import check_outputs, saving
from shapeinf.cost import Cost
from shapeinf.formats.files import write_text
from shapeinf.report.cost_report import By, cost_as_csv, cost_lines, least_depth, report_cost, summarize_cost


@click.command(name="cost", cls=SectionedCommand)
@click.argument("model", type=click.Path())
@model_options()
@click.option(
    "--by",
    type=click.Choice(["operator", "module", "node"]),
    default="operator",
    show_default=True,
    help="What the rows of the table are.",
)
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --by module, how many parts of the path in a node's name form its module; by default the fewest that "
    "give several modules.",
)
@click.option(
    "--top", type=click.IntRange(min=0), metavar="N", default=20, show_default=True, help="The number of listed rows."
)
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(dir_okay=False, writable=True),
    metavar="FILE",
    help="Write a row for every node.",
)
@json_option
def cost_command(
    model: str, options: ModelOptions, by: By, depth: int | None, top: int, csv_file: str | None, json_wanted: bool
) -> None:
    """Count what MODEL computes: multiply-accumulates (MACs), floating-point operations, parameters and bytes moved.

    The totals are formulas, and numbers at the sizes of --bind. What is not counted is listed, with the reason.

    Exit codes: 0 counted, 1 the model has errors or cannot run at the sizes of --bind, 2 usage, 3 a file cannot be read
    or written.
    """
    check_outputs(csv=csv_file)
    with readable_errors():

        def infer(options: ModelOptions) -> Cost:
            return options.infer(model).cost()

        result = options.evolve(bind={}).infer(model)
        summary = summarize_cost(result.cost(), dict(options.inference.bind), lambda: infer(options))
        level = least_depth(summary) if depth is None else depth
        if csv_file is not None:
            with saving(csv_file):
                write_text(csv_file, cost_as_csv(summary))
        if json_wanted:
            echo_json(report_cost(model, summary, by, level))
        else:
            echo(*cost_lines(summary, by, level, top))
    fail_on(note_errors(model, result.diagnostics))
