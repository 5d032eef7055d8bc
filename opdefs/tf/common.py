"""TensorFlow's common shape functions (`tensorflow/core/framework/common_shape_fns.cc`), on symbolic dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from opdefs.rules.operands import is_unit
from opdefs.tf.context import TensorFlowContext
from shapeinf.errors import ShapeError
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext


def warn(c: TensorFlowContext, message: str, *operands: object) -> None:
    """Warn of a violation that TensorFlow detects only when the node runs, which then certainly fails."""
    c.warnings = (*c.warnings, ShapeError(message, operands=tuple(map(str, operands))))


def no_outputs(c: TensorFlowContext) -> None:
    """No outputs."""


def scalar_shape(c: TensorFlowContext) -> None:
    """[]: one scalar."""
    c.set_output(0, c.scalar())


def require_scalars(c: TensorFlowContext, *shapes: Shape) -> None:
    """Require rank 0 of each shape."""
    for shape in shapes:
        c.with_rank(shape, 0)


def share_rank(c: TensorFlowContext, first: Shape, second: Shape) -> tuple[Shape, Shape] | None:
    """Two shapes of one rank, which is required of a shape of unknown rank; None if both ranks are unknown."""
    rank = first.rank if first.rank is not None else second.rank
    return None if rank is None else (c.with_rank(first, rank), c.with_rank(second, rank))


def shape_of_rank(c: TensorFlowContext, index: int, rank: int) -> Shape:
    """The shape of this rank in the vector input `index`, whose length must be the rank."""
    shape = c.with_rank(c.make_shape_from_shape_tensor(index), rank)
    c.with_value(c.with_rank(c.input(index), 1)[0], rank)
    return shape


def size_from_scalar(c: TensorFlowContext, size: PartialTensor, index: int) -> DimSize:
    """The size in input `index`, the scalar `size`; requires that it is at least 0."""
    known = size.elements[0] if size.shape.dims == () and size.elements else None
    if not isinstance(known, Dimension):
        return c.make_dim_for_scalar_input(index)
    c.at_least(known, 0, "a size must be at least 0")
    return known


def merge_all(c: TensorFlowContext, shapes: Sequence[Shape]) -> Shape:
    """The common shape of all inputs, merged from the last to the first as in TensorFlow's shape functions."""
    result = shapes[-1]
    for index in range(len(shapes) - 2, -1, -1):
        try:
            result = c.merge(shapes[index], result)
        except ShapeError as error:
            message = f"{error.message} From merging shape {index} with other shapes."
            raise ShapeError(message, because=error.because) from None
    return c.store.canon_shape(result)


Size = TypeVar("Size")


def align_dims(first: Sequence[Size | int], second: Sequence[Size | int]) -> list[tuple[Size | int, Size | int]]:
    """The pairs of sizes of two shapes that are aligned for broadcasting: the shorter one gets leading ones."""
    rank = max(len(first), len(second))
    left: list[Size | int] = [1] * (rank - len(first))
    right: list[Size | int] = [1] * (rank - len(second))
    return list(zip([*left, *first], [*right, *second], strict=True))


def broadcast_binary_op_output_shape(
    c: InferenceContext, first: Shape, second: Shape, incompatible_shape_error: bool = True
) -> Shape:
    """The broadcast of two shapes. Without `incompatible_shape_error`, a scalar for shapes that do not broadcast."""
    a, b = c.store.canon_shape(first), c.store.canon_shape(second)
    if a.dims is None or b.dims is None:
        return c.unknown_shape()
    dims: list[DimSize] = []
    for x, y in align_dims(a.dims, b.dims):
        size = _broadcast(c, x, y, incompatible_shape_error)
        if size is None:
            return Shape(())
        dims.append(size)
    return Shape(dims)


def _broadcast(c: InferenceContext, x: DimSize, y: DimSize, must_broadcast: bool) -> DimSize | None:
    """The broadcast of two sizes; None for ints that do not broadcast, unless they must."""
    if x is y or is_unit(y):
        return x
    if is_unit(x):
        return y
    if isinstance(x, int) and isinstance(y, int):
        return c.merge(x, y) if must_broadcast or x == y else None
    return c.broadcast_dim(x, y) if must_broadcast else c.fresh("dim")
