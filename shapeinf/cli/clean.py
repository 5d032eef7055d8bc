"""`shapeinf clean MODEL -o OUT`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.options import json_option, parse_sizes
from shapeinf.cli.output import VIOLATION, echo, echo_json, echo_rows, hide_library_logs
from shapeinf.cli.stdin import path_or_stdin, stdin_errors
from shapeinf.cli.targets import ModelTarget, model_output
from shapeinf.report.clean_report import CLEAN_COLUMNS, clean_rows, clean_summary

if TYPE_CHECKING:
    from shapeinf.passes import Cleaned


def _parse_passes(_: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """The names in `a,b,c`."""
    names = tuple(name.strip() for name in value.split(",")) if value is not None else None
    if names is not None and not all(names):
        raise click.BadParameter("expected names of passes, such as fuse_bn,remove_dead", param=parameter)
    return names


@click.command(name="clean")
@click.argument("model", type=click.Path())
@model_output("Write the cleaned model to OUT, which may be MODEL itself.", annotated=False)
@click.option(
    "--passes",
    callback=_parse_passes,
    metavar="NAME,...",
    help="The passes to run, in this order, instead of the default ones.",
)
@click.option("--verify", is_flag=True, help="Run both models in onnxruntime at two bindings and compare the numbers.")
@click.option(
    "--at",
    multiple=True,
    callback=parse_sizes,
    metavar="NAME=N,...",
    help="Sizes for --verify, instead of small legal sizes. Repeatable: each is a run.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would be done.")
@click.option(
    "--seed", type=int, metavar="N", default=0, show_default=True, help="Seed of the random inputs of --verify."
)
@json_option
def clean_command(
    model: str,
    target: ModelTarget,
    passes: tuple[str, ...] | None,
    verify: bool,
    at: list[dict[str, int]],
    dry_run: bool,
    seed: int,
    json_wanted: bool,
) -> None:
    """Clean up the ONNX file MODEL and write it to OUT.

    Each pass is proved to keep all shapes and the interface; a pass without a proof is undone and reported. With
    --verify nothing is written unless the numbers agree. The model runs in this process: verify only models that you
    trust.

    Exit codes: 0 cleaned, 1 the numbers differ or could not be compared (nothing is written), 2 usage (such as an
    unknown pass), 3 a file cannot be read or written, or a package is missing.
    """
    if (target.path is None) == (not dry_run):
        raise click.UsageError("name the file to write: -o OUT, or add --dry-run")
    if at and not verify:
        raise click.UsageError("--at has the sizes of the runs of --verify: add --verify")
    with readable_errors():
        from shapeinf.passes import clean

        hide_library_logs()
        target.check(model)
        with stdin_errors(model):
            cleaned = clean(path_or_stdin(model), passes, verify=verify, at=at, seed=seed)
        failed = cleaned.comparison is not None and not cleaned.comparison.equal
        written = None if dry_run or failed else target.path
        if written is not None:
            target.save(cleaned.save)
        _print(model, cleaned, written, json_wanted)
    if failed:
        raise click.exceptions.Exit(VIOLATION)


def _print(model: str, cleaned: Cleaned, written: str | None, json_wanted: bool) -> None:
    if json_wanted:
        from shapeinf.passes.cleaning import CleanDocument

        echo_json(CleanDocument(model, written, cleaned.report, cleaned.comparison))
        return
    rows = clean_rows(cleaned)
    if rows:
        echo_rows(CLEAN_COLUMNS, rows)
        echo("")
    echo(*clean_summary(cleaned))
