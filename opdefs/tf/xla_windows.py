"""XLA's windows: reductions and convolutions whose strides, dilations and paddings are tensors."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import known_ints
from opdefs.tf.common import share_rank
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.dimension_numbers import XLA_FIELDS, convolution_axes, convolved_shape, dilated_window_count
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import Value


def _steps(c: TensorFlowContext, values: Value, rank: int, name: str) -> Sequence[int | None]:
    """Positive numbers, one per axis; None for unknown ones."""
    known = known_ints(values)
    if known is None:
        return (None,) * rank
    if len(known) != rank or min(known, default=1) < 1:
        c.fail(f"{name} must have {rank} positive values", known)
    return known


def _pads(c: TensorFlowContext, padding: Value, rank: int) -> Sequence[int | None]:
    """The sums of the paddings before and after each axis; None for unknown ones."""
    known = known_ints(padding)
    if known is None:
        return (None,) * rank
    if len(known) != 2 * rank:
        c.fail(f"padding must have {rank} rows of two values", known)
    return [known[2 * axis] + known[2 * axis + 1] for axis in range(rank)]


def _size(
    c: TensorFlowContext,
    size: DimSize,
    kernel: DimSize | None,
    stride: int | None,
    pads: int | None,
    base: int | None,
    dilation: int | None,
) -> DimSize:
    """The number of windows along an axis; an unknown if any of the attributes is."""
    if kernel is None or stride is None or pads is None or base is None or dilation is None:
        return c.unknown_dim()
    return dilated_window_count(c, size, kernel, stride, pads, base, dilation)


@tf("XlaReduceWindow")
def xla_reduce_window(
    c: TensorFlowContext,
    input_: Shape,
    init_value: Shape,
    window_dimensions: Value,
    window_strides: Value,
    base_dilations: Value,
    window_dilations: Value,
    padding: Value,
) -> Shape:
    """[*S] -> [*S'], the number of windows along each axis."""
    if input_.dims is None:
        return c.unknown_shape()
    rank = len(input_)
    kernel = _steps(c, window_dimensions, rank, "window_dimensions")
    strides = _steps(c, window_strides, rank, "window_strides")
    bases = _steps(c, base_dilations, rank, "base_dilations")
    spreads = _steps(c, window_dilations, rank, "window_dilations")
    axes = zip(input_, kernel, strides, _pads(c, padding, rank), bases, spreads, strict=True)
    return Shape(_size(c, *axis) for axis in axes)


@tf("XlaConv")
def xla_conv(
    c: TensorFlowContext,
    lhs: Shape,
    rhs: Shape,
    window_strides: Value,
    padding: Value,
    lhs_dilation: Value,
    rhs_dilation: Value,
    feature_group_count: Shape,
    *,
    dimension_numbers: str,
) -> Shape:
    """[N, C, *S], [D, C/groups, *K] -> [N, D, *S'], with axes in the order of `dimension_numbers`."""
    return _conv(c, lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, 1)


@tf("XlaConvV2")
def xla_conv_with_batch_groups(
    c: TensorFlowContext,
    lhs: Shape,
    rhs: Shape,
    window_strides: Value,
    padding: Value,
    lhs_dilation: Value,
    rhs_dilation: Value,
    feature_group_count: Shape,
    *,
    dimension_numbers: str,
    batch_group_count: int = 1,
) -> Shape:
    """As XlaConv, with [N/batch groups, D, *S'] as the output."""
    if batch_group_count < 1:
        c.fail("batch_group_count must be at least 1", batch_group_count)
    return _conv(c, lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, batch_group_count)


def _conv(
    c: TensorFlowContext,
    lhs: Shape,
    rhs: Shape,
    window_strides: Value,
    padding: Value,
    lhs_dilation: Value,
    rhs_dilation: Value,
    dimension_numbers: str,
    batch_groups: int,
) -> Shape:
    """The shape of a convolution."""
    operands = share_rank(c, lhs, rhs)
    if operands is None:
        return c.unknown_shape()
    lhs, rhs = operands
    rank = len(lhs)
    axes = convolution_axes(c, dimension_numbers, XLA_FIELDS, rank)
    if axes is None:
        return c.unknown_shape_of_rank(rank)
    strides = _steps(c, window_strides, rank - 2, "window_strides")
    bases = _steps(c, lhs_dilation, rank - 2, "lhs_dilation")
    spreads = _steps(c, rhs_dilation, rank - 2, "rhs_dilation")
    sizes, kernel = axes.spatial_sizes(lhs, rhs)
    spatial = zip(sizes, kernel, strides, _pads(c, padding, rank - 2), bases, spreads, strict=True)
    return convolved_shape(c, lhs, rhs, axes, [_size(c, *axis) for axis in spatial], batch_groups)
