"""`shapeinf memory MODEL`."""

from __future__ import annotations

from pathlib import Path

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import Lifetimes, json_option, lifetime_options
from shapeinf.cli.output import echo, echo_json, fail_on, note_errors
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.targets import check_outputs, output_option, saving
from shapeinf.formats.files import write_text
from shapeinf.memory.sizes import parse_bytes
from shapeinf.report.memory_report import memory_lines, report_memory
from shapeinf.report.memory_summary import MemorySummary, summarize_memory, view_of_summary


@click.command(name="memory", cls=SectionedCommand)
@click.argument("model", type=click.Path())
@model_options()
@lifetime_options
@click.option(
    "--memory-limit", metavar="AMOUNT", help="Exit with 1 where the peak is not known to fit: 64MiB, 1.5GB, or bytes."
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    metavar="N",
    default=10,
    show_default=True,
    help="How many of the tensors in use at the peak are listed.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, writable=True),
    metavar="FILE",
    help="Write a page with a picture of memory over time.",
)
@click.option(
    "--png",
    type=click.Path(dir_okay=False, writable=True),
    metavar="FILE",
    help="Write the picture as PNG; needs matplotlib.",
)
@click.option(
    "--plan",
    type=click.Path(),
    metavar="PLAN",
    help="A plan to draw below the picture: JSON or CSV, as `shapeinf plan` writes it.",
)
@output_option(
    "Write all buffers with their lifetimes and sizes to OUT, which ends in .json, .csv, .parquet, or .h for C.",
    "--export",
)
@json_option
def memory_command(
    model: str,
    options: ModelOptions,
    lifetimes: Lifetimes,
    memory_limit: str | None,
    top: int,
    html: str | None,
    png: str | None,
    plan: str | None,
    output: str | None,
    json_wanted: bool,
) -> None:
    """Compute how much memory MODEL needs at run time: the peak as a formula, and in bytes at the sizes of --bind.

    The peak counts the outputs of nodes; inputs and weights have lines of their own. Without the sizes of all dims, the
    peak is bounded over their ranges (--dim, --assume). A picture needs all sizes.

    Exit codes: 0 the peak fits, 1 the peak may exceed --memory-limit, or the model has errors or cannot run at the
    sizes of --bind, 2 usage, 3 a file cannot be read or written.
    """
    check_outputs(html=html, png=png, output=output)
    if plan is not None and html is None and png is None:
        raise click.UsageError("--plan is drawn into a picture: add --html or --png")
    with readable_errors():
        limit = None if memory_limit is None else parse_bytes(memory_limit)
        result, bound = options.infer_unbound(model)
        summary = summarize_memory(
            lifetimes.memory(result), bound, limit, lambda: lifetimes.memory(options.infer(model))
        )
        if html is not None or png is not None:
            _draw(summary, model, html, png, plan)
        if output is not None:
            from shapeinf.memory.exports import export

            with saving(output):
                export(summary.memory, output, sizes=summary.sizes)
        if json_wanted:
            echo_json(report_memory(model, summary))
        else:
            echo(*memory_lines(summary, top))
    fail_on(note_errors(model, result.diagnostics) or not summary.fits)


def _draw(summary: MemorySummary, model: str, html: str | None, png: str | None, plan: str | None) -> None:
    from shapeinf.memory.planning import load_plan
    from shapeinf.report.memory_picture import memory_page

    view = view_of_summary(summary, Path(model).name, () if plan is None else load_plan(plan).slots)
    if html is not None:
        with saving(html):
            write_text(html, memory_page(view))
    if png is not None:
        from shapeinf.report.memory_png import save_png

        with saving(png):
            save_png(view, png)
