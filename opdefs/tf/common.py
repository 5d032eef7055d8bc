"""TensorFlow's common shape functions (`tensorflow/core/framework/common_shape_fns.cc`), on symbolic dims."""

from __future__ import annotations

from shapeinf.errors import ShapeError
from shapeinf.expr import Dim, Dimension
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext


def warn(c: InferenceContext, message: str, *operands: object) -> None:
    """Warn of a violated requirement that TensorFlow checks only when the node runs: it fails for certain."""
    c.warnings = (*c.warnings, ShapeError(message, operands=tuple(map(str, operands))))


def no_outputs(c: InferenceContext) -> None:
    """An op without outputs."""


def scalar_shape(c: InferenceContext) -> None:
    """One scalar."""
    c.set_output(0, c.scalar())


def require_scalars(c: InferenceContext, *shapes: Shape) -> None:
    """Require rank 0 of each shape."""
    for shape in shapes:
        c.with_rank(shape, 0)


def size_from_scalar(c: InferenceContext, size: PartialTensor, index: int) -> Dim:
    """The size in a scalar input, which must be at least 0."""
    known = size.elements[0] if size.shape.dims == () and size.elements else None
    if not isinstance(known, Dimension):
        return c.make_dim_for_scalar_input(index)
    if c.prove_le(0, known) is not True:
        c.at_least(known, 0, "a size must be at least 0")
    return known


def broadcast_binary_op_output_shape(
    c: InferenceContext, first: Shape, second: Shape, incompatible_shape_error: bool = True
) -> Shape:
    """The broadcast of two shapes; without `incompatible_shape_error` shapes that do not broadcast give a scalar."""
    a, b = c.store.canon_shape(first), c.store.canon_shape(second)
    if a.dims is None or b.dims is None:
        return c.unknown_shape()
    rank = max(len(a.dims), len(b.dims))
    left = (*(1 for _ in range(rank - len(a.dims))), *a.dims)
    right = (*(1 for _ in range(rank - len(b.dims))), *b.dims)
    dims: list[Dim] = []
    for x, y in zip(left, right, strict=True):
        size = _broadcast(c, x, y, incompatible_shape_error)
        if size is None:
            return c.scalar()
        dims.append(size)
    return Shape(dims)


def _broadcast(c: InferenceContext, x: Dim, y: Dim, must_broadcast: bool) -> Dim | None:
    """One axis; None where the sizes are known not to broadcast and that is allowed."""
    if x is y or y == 1:
        return x
    if x == 1:
        return y
    if isinstance(x, int) and isinstance(y, int):
        return c.merge(x, y) if must_broadcast or x == y else None
    return c.broadcast_dim(x, y) if must_broadcast else c.unknown_dim()
