"""`shapeinf explain MODEL`."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import json_option
from shapeinf.cli.output import echo, echo_json, note_errors
from shapeinf.cli.sections import SectionedCommand
from shapeinf.errors import UnknownNameError
from shapeinf.explain.unknowns import UnknownsReport
from shapeinf.report.explanations import (
    DimExplanation,
    TensorExplanation,
    dim_lines,
    explain_dim,
    explain_tensor,
    explanation_lines,
    is_tensor,
    parse_target,
)
from shapeinf.report.node_explanation import NodeExplanation, explain_node, node_lines, node_names
from shapeinf.report.text import unknown_lines
from shapeinf.result import Result

Explanation = TensorExplanation | DimExplanation | NodeExplanation | UnknownsReport

DIM = "dim:"
"""The prefix of a target that is a dim, where a tensor has the same name."""

NODE = "node:"
"""The prefix of a target that is a node, where a tensor has the same name."""


@click.command(cls=SectionedCommand)
@click.argument("model", type=click.Path())
@click.argument("target", metavar="[TENSOR[.AXIS]|DIM|NODE]", required=False)
@click.option("--tensor", "-t", metavar="NAME", help="The tensor to explain, instead of the argument.")
@click.option("--axis", "-k", type=int, metavar="K", help="The axis to explain, from 0; all axes by default.")
@click.option(
    "--all", "every", is_flag=True, help="List every step, including steps that keep a size; JSON has all steps."
)
@model_options()
@json_option
def explain(
    model: str,
    options: ModelOptions,
    target: str | None,
    tensor: str | None,
    axis: int | None,
    every: bool,
    json_wanted: bool,
) -> None:
    """Explain why an axis of a tensor of MODEL has its size: one line per step, back to the first cause.

    TENSOR[AXIS] means the same as TENSOR.AXIS, and TENSOR alone explains all axes. A named DIM is explained by its
    constraints (`dim:NAME` where a tensor has the name too). A NODE is shown with its attributes, inputs, outputs and
    conditions (`node:NAME` where a tensor has the name too). Without a target, all unknown axes and ranks are listed,
    grouped by the node or input that causes them.

    Exit codes: 0 explained, 1 with --strict, the model has errors, 2 usage (such as an unknown tensor or axis), 3 a
    file cannot be read.
    """
    if tensor is not None and target is not None:
        raise click.UsageError(f"the tensor is named twice: {target} and --tensor {tensor}")
    if tensor is None and target is None and axis is not None:
        raise click.UsageError("--axis needs a tensor: add its name")
    with readable_errors():
        result = options.infer(model)
        if tensor is not None:
            record, lines = _explain_tensor(model, result, tensor, axis, every)
        elif target is not None:
            record, lines = _explain_target(model, result, target, axis, every)
        else:
            groups = result.unknowns()
            record, lines = UnknownsReport(model, tuple(groups)), unknown_lines(groups)
        if json_wanted:
            echo_json(record)
        else:
            echo(*lines)
        note_errors(model, result.diagnostics)


def _explain_target(
    model: str, result: Result, target: str, axis: int | None, every: bool
) -> tuple[Explanation, Iterable[str]]:
    dim = explain_dim(result, target.removeprefix(DIM))
    if is_tensor(result, target):
        if dim is not None:
            echo(f"note: {target} is also a dim: {DIM}{target} explains it", err=True)
    elif dim is not None:
        if axis is not None:
            raise click.UsageError(f"--axis needs a tensor: {target} is a dim")
        return attrs.evolve(dim, model=model), dim_lines(dim)
    node = None if is_tensor(result, target) else explain_node(result, target.removeprefix(NODE))
    if node is not None:
        if axis is not None:
            raise click.UsageError(f"--axis needs a tensor: {target} is a node")
        return attrs.evolve(node, model=model), node_lines(node)
    if target.startswith(NODE) and not is_tensor(result, target):
        raise UnknownNameError("node", target.removeprefix(NODE), node_names(result))
    name, own = parse_target(result, target)
    if own is not None and axis is not None:
        raise click.UsageError(f"the axis is named twice: {target} and --axis {axis}")
    return _explain_tensor(model, result, name, axis if own is None else own, every)


def _explain_tensor(
    model: str, result: Result, tensor: str, axis: int | None, every: bool
) -> tuple[Explanation, Iterable[str]]:
    explanation = attrs.evolve(explain_tensor(result, tensor, axis), model=model)
    return explanation, explanation_lines(explanation, every=every)
