"""`shapeinf infer MODEL`."""

from __future__ import annotations

import json
import sys
from typing import Literal

import click
from rich.console import Console

from shapeinf.cli import options
from shapeinf.cli.codes import FINDINGS
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.listing import print_result
from shapeinf.cli.progress import LateProgress
from shapeinf.driver import infer_shapes
from shapeinf.driver.inputs import input_names
from shapeinf.formats import load
from shapeinf.report import as_json


@click.command()
@click.argument("model", type=click.Path())
@click.option(
    "--dim",
    "dims",
    multiple=True,
    callback=options.dim_ranges,
    metavar="NAME=LO..HI",
    help="Bounds of a named dim; also LO:HI, LO.., ..HI or one number. May be repeated.",
)
@click.option(
    "--bind",
    "-f",
    multiple=True,
    callback=options.bindings,
    metavar="NAME=N,...",
    help="Values of named dims; also NAME:N. May be repeated.",
)
@click.option(
    "--input-shapes",
    "--overwrite-input-shape",
    "-d",
    "shapes",
    multiple=True,
    metavar="[NAME:]SHAPE",
    callback=options.input_shapes,
    help="Shape of an input in place of the declared one, such as 'x:[batch,3,224,224]', 'x:1x3xhxw', "
    "'[1..8,?]'. May be repeated, or hold several.",
)
@click.option("--assume", multiple=True, metavar="RELATION", help="A relation that holds: 'past + seq <= 4096'.")
@click.option(
    "--declared",
    type=click.Choice(["trust", "check", "ignore"]),
    default="trust",
    show_default=True,
    help="What to do with shapes that the file declares for values inside the graph.",
)
@click.option(
    "--min-dim", type=click.IntRange(min=0), default=1, show_default=True, help="The least size of a named dim."
)
@click.option("--strict", is_flag=True, help="Stop at the first error instead of going on with unknown shapes.")
@click.option("--json", "json_wanted", is_flag=True, help="Print JSON; its field `schema` names the version.")
@click.option(
    "--save",
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    metavar="OUT",
    help="Write the model annotated with the inferred shapes; `-` prints an NNEF document in place of the table.",
)
@click.option(
    "--dialect",
    type=click.Choice(["provisional", "final", "tract"]),
    help="The dialect of an NNEF document; told from its text by default.",
)
@click.option(
    "--expand",
    multiple=True,
    metavar="OPERATION",
    help="A compound operation of NNEF to replace by its body, or `all`. May be repeated.",
)
def infer(
    model: str,
    dims: dict[str, options.Range],
    bind: dict[str, int],
    shapes: dict[str | None, str],
    assume: tuple[str, ...],
    declared: Literal["trust", "check", "ignore"],
    min_dim: int,
    strict: bool,
    json_wanted: bool,
    save: str | None,
    dialect: str | None,
    expand: tuple[str, ...],
) -> None:
    """Infer the shape of every tensor of MODEL: an ONNX file, or an NNEF document, folder or archive.

    Exit codes: 0 fine, 1 findings (errors in the model), 2 usage (also a dim or input that the model does not have),
    3 could not run (a file that cannot be read or written).
    """
    options.check_bindings(dims, bind)
    with readable_errors():
        graph = load(model, dialect, "all" if "all" in expand else expand)
        with LateProgress() as progress:
            result = infer_shapes(
                graph,
                dims=dims,
                bind=bind,
                inputs=options.named_inputs(shapes, input_names(graph)),
                assume=assume,
                mode="strict" if strict else "best",
                min_dim=min_dim,
                declared=declared,
                progress=progress,
            )
        if save == "-":
            if json_wanted:
                raise click.UsageError("--save - and --json both print: choose one")
            result.save(sys.stdout)
        elif json_wanted:
            click.echo(json.dumps({"model": model, **as_json(result)}, indent=2))
        else:
            print_result(result, Console())
        if save is not None and save != "-":
            result.save(save)
            click.echo(f"saved {save}", err=True)
    if any(found.severity == "error" for found in result.diagnostics):
        raise click.exceptions.Exit(FINDINGS)
