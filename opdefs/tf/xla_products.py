"""XLA's products and gathers, whose dimension numbers specify the meaning of each axis."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.dimension_numbers import parse_numbers
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import Value


@tf("XlaDot", "XlaDotV2")
def xla_dot(c: TensorFlowContext, lhs: Shape, rhs: Shape, *, dimension_numbers: str) -> Shape:
    """[*B, *M, *K], [*B, *K, *N] in any order -> [*B, *M, *N]."""
    numbers = parse_numbers(c, dimension_numbers)
    if lhs.dims is None or rhs.dims is None or numbers is None:
        return c.unknown_shape()
    contracted = numbers.get(1, []), numbers.get(2, [])
    batches = numbers.get(3, []), numbers.get(4, [])
    for pair, name in ((contracted, "contracted"), (batches, "batch")):
        if len(pair[0]) != len(pair[1]):
            c.fail(f"both operands must have the same number of {name} axes", *pair)
    left, right = c.axes((*batches[0], *contracted[0]), len(lhs)), c.axes((*batches[1], *contracted[1]), len(rhs))
    common = [c.merge(lhs[a], rhs[b]) for a, b in zip(left, right, strict=True)][: len(batches[0])]
    return Shape(
        (
            *common,
            *(size for axis, size in enumerate(lhs) if axis not in left),
            *(size for axis, size in enumerate(rhs) if axis not in right),
        )
    )


@tf("XlaGather")
def xla_gather(
    c: TensorFlowContext, operand: Shape, start_indices: Shape, slice_sizes: Value, *, dimension_numbers: str
) -> Shape:
    """[*S], indices, sizes [R] -> the axes of the indices except that of the coordinates, and those of a slice."""
    numbers = parse_numbers(c, dimension_numbers)
    sizes = known_dims(slice_sizes)
    if start_indices.dims is None or numbers is None or (sizes is None and operand.dims is None):
        return c.unknown_shape()
    slices = sizes if sizes is not None else (None,) * len(operand)
    offsets, collapsed = numbers.get(1, []), numbers.get(2, [])
    coordinates = (numbers.get(4) or [0])[-1]
    dropped = c.axes((*collapsed, *numbers.get(5, [])), len(slices))
    sliced = [size for axis, size in enumerate(slices) if axis not in dropped]
    batches = [size for axis, size in enumerate(start_indices) if axis != coordinates]
    if len(sliced) != len(offsets):
        c.fail("there must be an offset axis for each axis of a slice that is not collapsed", offsets, collapsed)
    rank = len(sliced) + len(batches)
    positions = c.axes(offsets, rank)
    dims: list[DimSize] = []
    for axis in range(rank):
        size = sliced[positions.index(axis)] if axis in positions else batches.pop(0)
        dims.append(c.unknown_dim() if size is None or c.prove_le(0, size) is not True else size)
    return Shape(dims)
