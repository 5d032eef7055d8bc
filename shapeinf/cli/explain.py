"""`shapeinf explain MODEL`."""

from __future__ import annotations

import click

from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import json_option
from shapeinf.cli.output import echo, echo_json, readable_errors
from shapeinf.report import (
    explain_tensor,
    explanation_as_json,
    explanation_lines,
    unknown_lines,
    unknowns_as_json,
)


@click.command(short_help="Explain the size of an axis, or list unknown sizes.")
@click.argument("model", type=click.Path())
@click.option("--tensor", "-t", metavar="NAME", help="The tensor to explain; without it, the unknowns of the model.")
@click.option("--axis", "-k", type=int, metavar="K", help="The axis to explain, from 0; all axes by default.")
@model_options()
@json_option
def explain(model: str, options: ModelOptions, tensor: str | None, axis: int | None, json_wanted: bool) -> None:
    """Explain why an axis of a tensor of MODEL has its size: a line a step, back to the first cause.

    Without --tensor, list all unknown axes and ranks, grouped by the node or input that causes them.

    Exit codes: 0 explained, 2 usage (also an unknown tensor or axis), 3 the model cannot be read.
    """
    if tensor is None and axis is not None:
        raise click.UsageError("--axis needs a tensor: add --tensor NAME")
    with readable_errors():
        result = options.infer(model)
        if tensor is None:
            groups = result.unknowns()
            data, lines = unknowns_as_json(groups), unknown_lines(groups)
        else:
            explanation = explain_tensor(result, tensor, axis)
            data, lines = explanation_as_json(explanation), explanation_lines(explanation)
        if json_wanted:
            echo_json({"model": model, **data})
        else:
            echo(*lines)
