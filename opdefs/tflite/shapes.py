"""Shapes as tensors, ranges, filled tensors, and requested shapes."""

from __future__ import annotations

from opdefs.rules.contents.constants import constant_tensor
from opdefs.rules.contents.progressions import arithmetic_range
from opdefs.rules.ranges import require_order, step_sign
from opdefs.rules.reshaping import shape_from_sizes
from opdefs.tf.concat import broadcast_to as broadcast_to_shape
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.shapes import broadcast_args
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import drop_quantized, output_type
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


@tflite("SHAPE")
def shape(c: TensorFlowContext, x: Shape, *, out_type: str = "float32") -> PartialTensor:
    """[*S] -> [rank]: the sizes of the input."""
    dtype = output_type(c) or out_type
    if x.dims is None:
        return PartialTensor(dtype, Shape((c.fresh("rank"),)), None)
    return PartialTensor(dtype, Shape((len(x.dims),)), x.dims)


@tflite("RANK")
def rank(c: TensorFlowContext, x: Shape) -> PartialTensor:
    """[*S] -> []: the number of axes."""
    return PartialTensor(output_type(c) or "int32", Shape(()), None if x.dims is None else (len(x.dims),))


@tflite("RANGE")
def range_(c: TensorFlowContext, start: Value, limit: Value, delta: Value) -> PartialTensor:
    """[], [], [] -> [ceil((limit - start) / delta)]. The step must lead from the start to the limit."""
    for value, name in ((start, "start"), (limit, "limit"), (delta, "delta")):
        c.require_rank(value.shape, 0, name)
    first, last, step = (v.elements[0] if v.elements else None for v in (start, limit, delta))
    direction = step_sign(c, step)
    if direction == 0:
        c.fail("delta must not be 0")
    if direction is not None:
        require_order(c, first, last, direction, "delta must lead from start to limit", first, last)
    return arithmetic_range(c, start, limit, delta)


@tflite("FILL")
def fill(c: TensorFlowContext, dims: Value, value: Value) -> PartialTensor:
    """Sizes [R], [] -> [*sizes]: the value."""
    c.require_rank(value.shape, 0, "the value")
    return constant_tensor(
        value.dtype, shape_from_sizes(c, dims, "dims"), value.elements[0] if value.elements else None
    )


tflite("BROADCAST_ARGS")(broadcast_args)

MAX_BROADCAST_RANK = 8


@tflite("BROADCAST_TO")
def broadcast_to(c: TensorFlowContext, x: Value, sizes: Value) -> PartialTensor:
    """[*A], sizes [R] -> [*sizes], to which A must broadcast; of rank 8 at most."""
    count = c.concrete(c.require_rank(sizes.shape, 1, "the sizes")[0])
    if count is not None and count > MAX_BROADCAST_RANK:
        c.fail(f"BROADCAST_TO takes a rank of at most {MAX_BROADCAST_RANK}", count)
    rank_limit(c, x.shape)
    return broadcast_to_shape(c, drop_quantized(x), sizes)


def rank_limit(c: TensorFlowContext, x: Shape) -> None:
    """Require a rank of at most 8."""
    if x.dims is not None and len(x.dims) > MAX_BROADCAST_RANK:
        c.fail(f"BROADCAST_TO takes a rank of at most {MAX_BROADCAST_RANK}", x)
