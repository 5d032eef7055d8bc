"""Reductions along axes, positions of extremes, and running totals."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_ints, name_scalar
from opdefs.rules.contents.ordering import extreme_positions
from opdefs.rules.reduction import (
    reduce_broadcast_axes,
    reduce_elements,
    reduce_unknown_axes,
    reduced_shape,
    running_total,
)
from opdefs.rules.unknowns import cover_dim
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.lattice import BroadcastAxes, PartialTensor, Shape
from shapeinf.ops import Value

_FIRST_WITH_VECTORS = 21
"""The first version of graphs whose axes are a scalar or a vector; older ones may have any shape."""


@tf("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")
def reduce(c: TensorFlowContext, input: Value, reduction_indices: Value, *, keep_dims: bool = False) -> PartialTensor:
    """[*P, n, *Q], axes -> [*P, *Q], or [*P, 1, *Q] with `keep_dims`."""
    operation = c.op_def.name
    if not 0 < c.version < _FIRST_WITH_VECTORS:
        c.with_rank_at_most(reduction_indices.shape, 1)
    x = PartialTensor(input.dtype, c.store.canon_shape(input.shape), input.elements)
    axes = known_ints(reduction_indices)
    if axes is not None and x.shape.dims is not None:
        rank = len(x.shape)
        gone = {_reduced_axis(axis, rank) for axis in axes}
        source = input if input.shape is x.shape else x
        return name_scalar(c, reduce_elements(c, source, gone, reduced_shape(x.shape, gone, keep_dims), operation))
    indices = c.store.canon_shape(reduction_indices.shape)
    if keep_dims and isinstance(reduction_indices, BroadcastAxes) and x.shape.dims is not None:
        return PartialTensor(x.dtype, reduce_broadcast_axes(c, x.shape, reduction_indices), None)
    return PartialTensor(x.dtype, _reduce_unknown(c, x.shape, indices, axes, keep_dims), None)


def _reduce_unknown(
    c: TensorFlowContext, shape: Shape, indices: Shape, axes: tuple[int, ...] | None, keep_dims: bool
) -> Shape:
    """The shape of a reduction with unknown axes or of an input of unknown rank."""
    if shape.dims is None:
        return c.unknown_shape()
    count = len(axes) if axes is not None else None
    if count is None and indices.dims is not None:
        count = c.concrete(c.numel(indices.dims))
    if count is not None:
        count = min(count, len(shape))
    if count is None and not keep_dims:
        return c.unknown_shape()
    return reduce_unknown_axes(c, shape, count, keep_dims)


def _reduced_axis(axis: int, rank: int) -> int:
    """The axis, counted from the front. Raises ShapeError, with TensorFlow's text, if it is out of range."""
    if not -rank <= axis < rank:
        raise ShapeError(f"Invalid reduction dimension {axis} for input with {rank} dimensions.")
    return axis % rank


@tf("ArgMax", "ArgMin")
def arg_extreme(c: TensorFlowContext, input: Value, dimension: Value) -> PartialTensor:
    """[*P, n, *Q], axis [] -> [*P, *Q]; [] for a scalar."""
    c.with_rank(dimension.shape, 0)
    known = known_ints(dimension)
    shape = _arg_shape(c, c.store.canon_shape(input.shape), known[0] if known else None)
    if not known or input.elements is None or not input.shape.dims:
        return PartialTensor(None, shape, None)
    largest = c.op_def.name == "ArgMax"
    positions = extreme_positions(c, input, known[0] % len(input.shape), shape, largest=largest)
    return PartialTensor(None, shape, positions)


def _arg_shape(c: TensorFlowContext, shape: Shape, axis: int | None) -> Shape:
    """The shape without an axis (None: unknown)."""
    if shape.dims is None:
        return c.unknown_shape()
    rank = len(shape)
    if rank <= 1:
        return c.scalar()
    if axis is None:
        return Shape(cover_dim(c, shape[at : at + 2], f"axis.{at}") for at in range(rank - 1))
    if not -rank <= axis < rank:
        raise ShapeError(
            f"Dimension ({axis}) must be in the range [{-rank}, {rank}), where {rank} is the number of dimensions"
        )
    return reduced_shape(shape, {axis % rank}, False)


@tf("Cumprod", "Cumsum")
def cumulative(
    c: TensorFlowContext, x: Value, axis: Value, *, exclusive: bool = False, reverse: bool = False
) -> PartialTensor:
    """[*S], axis [] -> [*S]; contents for vectors."""
    along = _running_axis(c, x.shape, axis)
    operation = "Sum" if c.op_def.name == "Cumsum" else "Prod"
    return running_total(c, x, along, exclusive=exclusive, reverse=reverse, operation=operation)


@tf("CumulativeLogsumexp")
def cumulative_log_sum_exp(
    c: TensorFlowContext, x: Shape, axis: Value, *, exclusive: bool = False, reverse: bool = False
) -> Shape:
    """[*S], axis [] -> [*S]."""
    _running_axis(c, x, axis)
    return x


def _running_axis(c: TensorFlowContext, x: Shape, axis: PartialTensor) -> int | None:
    """The axis in a scalar input, None if unknown."""
    known, rank = known_ints(axis), c.rank(x)
    if not known or rank is None or len(known) != 1:
        return None
    if not -rank <= known[0] < rank:
        raise ShapeError(f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {known[0]}")
    return known[0] % rank
