"""Shapes as tensors, and the broadcast of shapes."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import known_dims
from opdefs.rules.operands import prove_unit
from opdefs.tf.common import align_dims
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import declared_shape, read_value
from opdefs.tf.variables import variable_value
from shapeinf.expr import DimSize
from shapeinf.graph import DeclaredType
from shapeinf.lattice import BroadcastAxes, PartialTensor, Shape, TensorType
from shapeinf.ops import Value


@tf("Shape")
def shape(c: TensorFlowContext, x: Shape) -> PartialTensor:
    """[*S] -> [rank]: the sizes of the input."""
    if x.dims is None:
        return PartialTensor(None, c.vector(c.fresh("rank")), None)
    return PartialTensor(None, Shape((len(x.dims),)), x.dims)


@tf("ShapeN")
def shapes(c: TensorFlowContext, *xs: Shape) -> tuple[PartialTensor, ...]:
    """[*S]... -> [rank]...: the sizes of each input."""
    return tuple(shape(c, x) for x in xs)


@tf("VariableShape")
def variable_shape(c: TensorFlowContext, handle: TensorType) -> PartialTensor:
    """[] -> [rank]: the sizes of the variable behind a handle."""
    return shape(c, variable(c, handle).shape)


def variable(c: TensorFlowContext, handle: TensorType) -> TensorType:
    """The type of the variable behind a handle; of unknown rank if that is unknown."""
    value = variable_value(c, handle, None)
    return TensorType(None, c.unknown_shape()) if value is None else read_value(c, value)


@tf("Size")
def size(c: TensorFlowContext, x: Shape) -> PartialTensor:
    """[*S] -> []: the number of elements."""
    return PartialTensor(None, c.scalar(), None if x.dims is None else (c.num_elements(x),))


@tf("Rank")
def rank(c: TensorFlowContext, x: Shape) -> PartialTensor:
    """[*S] -> []: the number of axes."""
    return PartialTensor(None, c.scalar(), None if x.dims is None else (len(x.dims),))


@tf("EnsureShape", views={0: 0})
def ensure_shape(c: TensorFlowContext, x: Value, *, shape: DeclaredType) -> PartialTensor:
    """[*S] -> [*S]: the input, which must have the shape in the attribute."""
    if shape.dims is None:
        return x
    if x.shape.dims is not None:
        c.with_rank(x.shape, len(shape.dims))
    result = c.merge(x.shape, declared_shape(c, shape))
    return PartialTensor(x.dtype, result, x.elements) if x.contents is None or x.elements is not None else x


@tf("BroadcastArgs")
def broadcast_args(c: TensorFlowContext, s0: Value, s1: Value) -> PartialTensor:
    """[R], [S] -> [max(R, S)]: the shape to which two shapes broadcast."""
    first, second = c.with_rank(s0.shape, 1)[0], c.with_rank(s1.shape, 1)[0]
    pairs = _align_sizes(s0, s1)
    if pairs is None:
        if isinstance(first, int) and isinstance(second, int):
            return PartialTensor(None, c.vector(max(first, second)), None)
        return PartialTensor(None, c.vector(c.max(first, second)), None)
    sizes = [_broadcast_size(c, a, b) for a, b in pairs]
    return PartialTensor(None, c.vector(len(sizes)), sizes)


def _align_sizes(s0: PartialTensor, s1: PartialTensor) -> list[tuple[DimSize | None, DimSize | None]] | None:
    """The pairs of sizes of two shapes, aligned for broadcasting; None where one of the shapes is unknown."""
    left, right = known_dims(s0), known_dims(s1)
    return None if left is None or right is None else align_dims(left, right)


def _broadcast_size(c: TensorFlowContext, a: DimSize | None, b: DimSize | None) -> DimSize | None:
    """The broadcast of two sizes. If one is unknown: the other one, unless that may be 1, else None."""
    if a is not None and b is not None:
        return c.broadcast_dim(a, b)
    known = a if b is None else b
    return known if known is not None and prove_unit(c, known) is False else None


@tf("BroadcastGradientArgs")
def broadcast_gradient_args(c: TensorFlowContext, s0: Value, s1: Value) -> tuple[PartialTensor, ...]:
    """[R], [S] -> [A], [B]: the axes along which the gradient of each operand of a broadcast is summed.

    These are the axes of size 1 in the operand, or missing in it. There are none if both shapes are equal; otherwise an
    axis of size 1 in both operands counts for both.
    """
    first, second = c.with_rank(s0.shape, 1)[0], c.with_rank(s1.shape, 1)[0]
    pairs = _align_sizes(s0, s1)
    if pairs is None:
        longest = c.max(first, second)
        return tuple(PartialTensor(None, c.vector(c.fresh_at_most(longest, f"axes.{i}")), None) for i in (0, 1))
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    equal = _are_equal(c, first, second, left, right)
    return _summed_axes(c, left, right, equal, 0), _summed_axes(c, right, left, equal, 1)


def _are_equal(
    c: TensorFlowContext,
    first: DimSize,
    second: DimSize,
    left: Sequence[DimSize | None],
    right: Sequence[DimSize | None],
) -> bool | None:
    """Whether two shapes, of lengths `first` and `second`, are equal; None where that is undecided."""
    if first != second:
        return False
    verdicts = [None if a is None or b is None else c.prove_eq(a, b) for a, b in zip(left, right, strict=True)]
    return False if False in verdicts else None if None in verdicts else True


def _summed_axes(
    c: TensorFlowContext,
    sizes: Sequence[DimSize | None],
    others: Sequence[DimSize | None],
    equal: bool | None,
    index: int,
) -> PartialTensor:
    """The axes of size 1 of an operand, none if the shapes are equal; of unknown length where either is undecided."""
    if equal:
        return PartialTensor(None, c.vector(0), ())
    verdicts = [None if size is None else prove_unit(c, size) for size in sizes]
    least, most = verdicts.count(True), len(sizes) - verdicts.count(False)
    if most == 0 or (equal is False and least == most):
        axes = [axis for axis, verdict in enumerate(verdicts) if verdict]
        return PartialTensor(None, c.vector(len(axes)), axes)
    count = c.fresh_at_most(most, f"axes.{index}", 0 if equal is None else least)
    return BroadcastAxes(None, c.vector(count), sizes, others)
