"""`shapeinf rebatch MODEL -o OUT`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.output import VIOLATION, echo, stop
from shapeinf.cli.stdin import path_or_stdin, stdin_errors
from shapeinf.cli.targets import ModelTarget, model_output
from shapeinf.edit.rebatch import Rebatched
from shapeinf.edit.rebatch import rebatch as rebatch_model
from shapeinf.errors import RebatchError

MAX_RANK = 1000


def _parse_axes(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str | None, int]:
    """The axis by the name of the input; the key None is for all other inputs."""
    axes: dict[str | None, int] = {}
    for text in values:
        name, equals, number = text.rpartition("=")
        if not number.isdecimal() or bool(equals) != bool(name) or int(number) > MAX_RANK:
            raise click.BadParameter(f"{text!r}: expected an axis from 0, or NAME=AXIS", param=parameter)
        if axes.setdefault(name or None, int(number)) != int(number):
            raise click.BadParameter(f"{name or 'the axis'} has two different values", param=parameter)
    return axes


@click.command()
@click.argument("model", type=click.Path())
@click.option(
    "--axis",
    "axes",
    multiple=True,
    callback=_parse_axes,
    metavar="K|NAME=K",
    help="The axis to make dynamic (0 by default), or the axis of one input. Repeatable.",
)
@click.option("--name", default="batch", show_default=True, help="The name of the new dim.")
@click.option("--input", "inputs", multiple=True, metavar="NAME", help="An input with the axis; all inputs by default.")
@click.option(
    "--spatial/--batch",
    "spatial",
    default=None,
    help="Whether nodes may combine the items of the axis, as along the height of images. The default is --spatial "
    "for an axis other than 0 that windows move over, else --batch.",
)
@model_output("Write the new model to OUT. Without it nothing is written.")
@click.option(
    "--verify", is_flag=True, help="Run a batch in onnxruntime, and its parts in MODEL, and compare the numbers."
)
@click.option(
    "--seed", type=int, metavar="N", default=0, show_default=True, help="Seed of the random inputs of --verify."
)
def rebatch(
    model: str,
    axes: dict[str | None, int],
    name: str,
    inputs: tuple[str, ...],
    spatial: bool | None,
    target: ModelTarget,
    verify: bool,
    seed: int,
) -> None:
    """Make a fixed axis of the inputs of MODEL dynamic, and rewrite the constants that fix its size.

    Only constants that provably hold the size of the axis are rewritten. The outputs for a batch must be the outputs
    for its items: a node that may combine items is refused. With --verify nothing is written unless the numbers agree.
    The model runs in this process: verify only models that you trust.

    Exit codes: 0 rebatched, 1 a node or constant fixes the axis, a node combines items, or the numbers differ or could
    not be compared (nothing is written), 2 usage, 3 a file cannot be read or written, or a package is missing.
    """
    own = {input_name: axis for input_name, axis in axes.items() if input_name is not None}
    with readable_errors():
        target.check(model)
        try:
            with stdin_errors(model):
                source = path_or_stdin(model)
                rebatched = rebatch_model(
                    source, axis=axes.get(None, 0), axes=own, name=name, inputs=inputs, spatial=spatial
                )
        except RebatchError as error:
            stop(VIOLATION, str(error))
        lines = _verify(source, rebatched, seed) if verify else []
        target.save(rebatched.save)
        _print_changes(rebatched)
        echo(*lines)


def _verify(source: object, rebatched: Rebatched, seed: int) -> list[str]:
    """The lines of a comparison without differences; ends the command for any other."""
    from shapeinf.runtime.rebatched import verify_rebatched

    comparison = verify_rebatched(source, rebatched, seed=seed)
    if not comparison.equal:
        stop(VIOLATION, "; ".join(comparison.differences) or f"not verified: {comparison.refused}")
    if rebatched.spatial:
        sizes = ", ".join(str(size) for run in comparison.bindings for size in run.values())
        return [f"verified: the shapes at {rebatched.name} = {sizes} are as inferred"]
    return ["verified: the outputs for a batch are the outputs for its parts"]


def _print_changes(rebatched: Rebatched) -> None:
    """The types of inputs and outputs, and the rewritten constants."""
    tensors = rebatched.result.tensors
    for heading, names in (("input", rebatched.inputs), ("output", rebatched.result.graph.outputs)):
        for name in names:
            echo(f"{heading:<7}{name}: {tensors[name]}")
    for rewrite in rebatched.rewrites:
        echo(f"rewritten {rewrite}")
    for precondition in rebatched.result.contract.preconditions if rebatched.spatial else ():
        echo(f"requires {precondition}")
