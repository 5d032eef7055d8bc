"""Operators whose output shapes need no input: handles, datasets, states, summaries; and those without outputs.

The sizes are in `fixed_shapes.json`, whose key `format` describes it. `register` adds them after all rules of the other
modules, which know more.
"""

from __future__ import annotations

import json
from importlib.resources import files

from opdefs.tf.dialect import tf
from opdefs.tf.schemas import names, schema
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext
from shapeinf.sharing import build_once

Sizes = list[int | None] | None
"""Sizes of a tensor, None for unknown ones; None for an unknown rank."""


@build_once
def table() -> dict[str, list[Sizes]]:
    """The shape of each output argument, by operator."""
    shapes: dict[str, list[Sizes]] = json.loads(files(__package__).joinpath("fixed_shapes.json").read_bytes())["shapes"]
    return shapes


def fixed_shape(c: InferenceContext, *inputs: Shape) -> tuple[Shape, ...]:
    """Sizes that depend on no input."""
    arguments = {arg.name: sizes for arg, sizes in zip(c.op_def.outputs, table()[c.op_def.name], strict=True)}
    outputs = c.op_def.flatten(c.attributes, len(inputs), c.num_outputs).outputs
    return tuple(_shape(c, arguments[arg.name]) for arg in outputs)


def no_outputs(c: InferenceContext, *inputs: Shape) -> tuple[Shape, ...]:
    """Nothing."""
    return ()


def _shape(c: InferenceContext, sizes: Sizes) -> Shape:
    return c.unknown_shape() if sizes is None else c.make_shape(sizes)


def register() -> None:
    """Add the rules of all operators of the table, and of those without outputs, that have no other rule."""
    defined = {op for _, op, _ in tf}
    tf(*(op for op in table() if op not in defined))(fixed_shape)
    tf(*(op for op in names() if op not in defined and _is_silent(op)))(no_outputs)


def _is_silent(op: str) -> bool:
    definition = schema("", op, 0)
    return definition is not None and not definition.outputs
