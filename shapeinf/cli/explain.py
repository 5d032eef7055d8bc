"""`shapeinf explain MODEL`."""

from __future__ import annotations

from typing import Any

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, json_option, model_options
from shapeinf.cli.output import echo, echo_json
from shapeinf.report import explanations, unknowns_as_json
from shapeinf.result import Result

MOST_SHOWN = 8
"""Unknowns of one cause that are named; the rest is counted."""


@click.command(short_help="Say why a size is what it is, or why it is not known.")
@click.argument("model", type=click.Path())
@click.option("--tensor", "-t", metavar="NAME", help="The tensor to explain; without it, what is unknown and why.")
@click.option("--axis", "-k", type=int, metavar="K", help="The axis to explain, from 0; all of them by default.")
@model_options()
@json_option
def explain(model: str, given: ModelOptions, tensor: str | None, axis: int | None, json_wanted: bool) -> None:
    """Say why a size in MODEL is what it is, or why it is not known: a line a step, back to the first cause.

    Without --tensor: all that is unknown, grouped by the node or input that first did not know.

    Exit codes: 0 fine, 2 usage (also a tensor or axis that the model does not have), 3 could not run.
    """
    if tensor is None and axis is not None:
        raise click.UsageError("--axis is an axis of a tensor: say which with --tensor")
    with readable_errors():
        result = given.infer(model)
        if json_wanted:
            found = unknowns_as_json(result) if tensor is None else explanations(result, tensor, axis)
            echo_json({"model": model, **found})
        elif tensor is None:
            _print_unknowns(result)
        else:
            _print_chains(explanations(result, tensor, axis))


def _print_chains(found: dict[str, Any]) -> None:
    """Each chain, the steps after the first one indented."""
    if not found["axes"]:
        echo(f"{found['tensor']} is a scalar: it has no axes")
    for one in found["axes"]:
        first, *rest = one["steps"]
        echo(first)
        for step in rest:
            echo(f"  {step}")


def _print_unknowns(result: Result) -> None:
    groups = result.unknowns()
    if not groups:
        echo("nothing is unknown")
    for group in groups:
        echo(str(group))
        names = [str(unknown) for unknown in group.unknowns[:MOST_SHOWN]]
        more = f" and {group.count - MOST_SHOWN} more" if group.count > MOST_SHOWN else ""
        echo(f"  {', '.join(names)}{more}")
