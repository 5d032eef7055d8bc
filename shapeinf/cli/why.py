"""`shapeinf why MESSAGE MODEL`."""

from __future__ import annotations

import sys

import attrs
import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import json_option, named_inputs, parse_sizes
from shapeinf.cli.output import echo, echo_json, fail_on
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.stdin import STDIN
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Scope
from shapeinf.inputs.reader import SpecLike, input_names
from shapeinf.inputs.spec import parse_shape_spec
from shapeinf.report.failures import failure_lines
from shapeinf.runtime_messages import MAX_TEXT


@click.command(name="why", cls=SectionedCommand)
@click.argument("message")
@click.argument("model", type=click.Path())
@click.option(
    "--at",
    multiple=True,
    callback=parse_sizes,
    metavar="NAME=N,...",
    help="The sizes of dims in the run that failed; by default the sizes in MESSAGE. Repeatable.",
)
@model_options(without=("strict",))
@json_option
def why_command(message: str, model: str, options: ModelOptions, at: list[dict[str, int]], json_wanted: bool) -> None:
    """Name the condition of MODEL that failed, from the error text of a runtime.

    MESSAGE is an error of onnxruntime, OpenVINO, TensorRT, TensorFlow, torch or LiteRT: the message itself, a traceback
    or a log; `-` is standard input. The report names the node and the condition of the contract that failed, the
    nearest legal sizes, and the way back to an input. State the shapes of the inputs in that run with --input-shapes
    (they may differ from the declared shapes), or the sizes of dims with --at. By default, the sizes in MESSAGE count.

    Exit codes: 0 a cause is named, 1 no cause is explained, 2 usage, 3 a file cannot be read.
    """
    text = _read_message(message, model)
    with readable_errors():
        result = attrs.evolve(options, shapes={}).infer(model)
        shapes = named_inputs(options.shapes, input_names(result.graph))
        sizes = {name: size for part in at for name, size in part.items()}
        report = result.why(text, at=sizes, shapes={name: _sizes_of(name, spec) for name, spec in shapes.items()})
        report = attrs.evolve(report, model=model)
        if json_wanted:
            echo_json(report)
        else:
            echo(*failure_lines(report))
    fail_on(not report.explained)


def _read_message(message: str, model: str) -> str:
    """The text of the message; `-` is standard input."""
    if message != STDIN:
        return message
    if model == STDIN:
        raise click.UsageError("the message and the model are both standard input: name a file for the model")
    stream = sys.stdin.buffer
    if stream.isatty():
        raise click.UsageError("the message - is standard input, which is a terminal: pipe the error text in")
    tail = b""
    while chunk := stream.read(MAX_TEXT):
        tail = (tail + chunk)[-4 * MAX_TEXT :]
    return tail.decode("utf-8", "replace")


def _sizes_of(name: str, spec: SpecLike) -> list[int | None]:
    """The sizes in the shape of an input, which are numbers or `?`."""
    dims = parse_shape_spec(str(spec), Scope()).dims
    if dims is None or not all(dim is None or isinstance(dim, int) for dim in dims):
        raise ShapeInferenceError(f"--input-shapes {name}: the shape of a run has numbers, or ? for an unknown size")
    return [dim if isinstance(dim, int) else None for dim in dims]
