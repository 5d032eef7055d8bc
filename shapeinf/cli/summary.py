"""`shapeinf summary MODEL...`."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import json_option
from shapeinf.cli.output import FAILURE, USAGE, VIOLATION, echo, echo_json, echo_rows, echo_wrapped
from shapeinf.cli.sections import SectionedCommand
from shapeinf.formats.model_paths import find_models
from shapeinf.report import Summary, SummaryReport, summarize
from shapeinf.report.summary_text import MARGIN, SUMMARY_COLUMNS, summary_as_lines, summary_cells
from shapeinf.report.usual_sizes import usual_sizes


@click.command(name="summary", cls=SectionedCommand)
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=click.Path())
@model_options()
@click.option("--table", is_flag=True, help="Print one line per model.")
@json_option
def summary_command(models: tuple[str, ...], options: ModelOptions, table: bool, json_wanted: bool) -> None:
    """Show what is in each MODEL: format, inputs, outputs, contract, operators, weights, cost and unknown sizes.

    A MODEL is a file, a folder (searched for models), or a quoted glob pattern.

    Multiply-accumulates (MACs) and the peak of memory are formulas in the dims of the inputs, and numbers at the sizes
    of --bind; other dims have a usual size. `shapeinf infer`, `memory`, `cost` and `explain` have the details.

    Exit codes: 0 no errors, 1 a model has errors or cannot run at the sizes of --bind, 2 usage (such as a dim that a
    model does not have), 3 a file cannot be read; the other models are still shown.
    """
    if table and json_wanted:
        raise click.UsageError("--table and --json are two forms of the output: choose one")
    codes: list[int] = []
    with readable_errors():
        models = find_models(models).paths
    summaries = _summaries(models, options, codes, usual=not (json_wanted or table))
    if json_wanted:
        echo_json(SummaryReport(tuple(attrs.evolve(summary, model=model) for model, summary in summaries)))
    elif table:
        echo_rows(SUMMARY_COLUMNS, (summary_cells(model, summary) for model, summary in summaries))
    else:
        for number, (model, summary) in enumerate(summaries):
            _print(model, summary, number)
    if any(codes):
        raise click.exceptions.Exit(max(codes))


def _summaries(
    models: tuple[str, ...], options: ModelOptions, codes: list[int], usual: bool
) -> Iterator[tuple[str, Summary]]:
    """The summaries of the models that can be read; `codes` gets the exit code of each model.

    With `usual`, dims that --bind does not have get a usual size.
    """
    for model in models:
        try:
            with readable_errors(model if len(models) > 1 else ""):
                result = options.evolve(bind={}).infer(model)
                sizes = dict(options.inference.bind)
                chosen = usual_sizes(result, sizes) if usual else {}
                summary = summarize(result, chosen or sizes, usual=chosen.keys() - sizes.keys())
        except SystemExit as end:  # its message is printed
            codes.append(int(end.code or FAILURE))
            continue
        except click.UsageError as error:
            if len(models) == 1:
                raise
            echo(f"error: {model}: {error.message}", err=True)
            codes.append(USAGE)
            continue
        codes.append(VIOLATION if summary.diagnostics.get("error") else 0)
        yield model, summary


def _print(model: str, summary: Summary, number: int) -> None:
    """Print a summary, after an empty line where another precedes it."""
    if number:
        echo("")
    echo_wrapped((model, *summary_as_lines(summary)), MARGIN + 2)
