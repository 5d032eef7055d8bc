"""Operators whose output shapes depend on no input: handles, datasets, states, summaries; and those without outputs.

The sizes are in `fixed_shapes.json`, which its key `format` describes. Its key `rules` lists the operators whose rule
is here; other operators of the table have a more precise rule in another module.
"""

from __future__ import annotations

import json
from typing import Any

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape
from shapeinf.ops.package_data import read_package_text
from shapeinf.sharing import build_once

Sizes = list[int | None] | None
"""The sizes of a tensor, None for each unknown one; None for an unknown rank."""


@build_once
def _file() -> dict[str, Any]:
    """The contents of `fixed_shapes.json`."""
    content: dict[str, Any] = json.loads(read_package_text(__package__, "fixed_shapes.json"))
    return content


def table() -> dict[str, list[Sizes]]:
    """The shape of each output argument, by operator."""
    shapes: dict[str, list[Sizes]] = _file()["shapes"]
    return shapes


@tf(*_file()["rules"])
def fixed_shape(c: TensorFlowContext, *inputs: Shape) -> tuple[Shape, ...]:
    """Shapes from the table of fixed shapes."""
    arguments = {arg.name: sizes for arg, sizes in zip(c.op_def.outputs, table()[c.op_def.name], strict=True)}
    outputs = c.op_def.flatten(c.attributes, len(inputs), c.num_outputs).outputs
    return tuple(_shape(c, arguments[arg.name]) for arg in outputs)


@tf(*_file()["without_outputs"])
def no_outputs(c: TensorFlowContext, *inputs: Shape) -> tuple[Shape, ...]:
    """No outputs."""
    return ()


def _shape(c: TensorFlowContext, sizes: Sizes) -> Shape:
    return c.unknown_shape() if sizes is None else c.make_shape(sizes)
