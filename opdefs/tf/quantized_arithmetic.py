"""Sums, products and changes of range of quantized tensors. A range is two scalars."""

from __future__ import annotations

from opdefs.tf.broadcasting import broadcast
from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape


@tf("QuantizedAdd", "QuantizedMul")
def broadcasting_with_range(
    c: TensorFlowContext, x: Shape, y: Shape, min_x: Shape, max_x: Shape, min_y: Shape, max_y: Shape
) -> tuple[Shape, Shape, Shape]:
    """[*A], [*B], ranges -> [*broadcast(A, B)], and its range [], []."""
    require_scalars(c, min_x, max_x, min_y, max_y)
    return broadcast(c, x, y), c.scalar(), c.scalar()


@tf("Requantize")
def requantize(
    c: TensorFlowContext,
    input: Shape,
    input_min: Shape,
    input_max: Shape,
    requested_output_min: Shape,
    requested_output_max: Shape,
) -> tuple[Shape, Shape, Shape]:
    """[*S], range, requested range -> [*S], and its range [], []."""
    require_scalars(c, input_min, input_max, requested_output_min, requested_output_max)
    return input, c.scalar(), c.scalar()


@tf("RequantizePerChannel")
def requantize_by_channel(
    c: TensorFlowContext,
    input: Shape,
    input_min: Shape,
    input_max: Shape,
    requested_output_min: Shape,
    requested_output_max: Shape,
) -> tuple[Shape, Shape, Shape]:
    """[*S], range [] or [C], requested range -> [*S], and its range [], []."""
    c.with_rank_at_most(input_min, 1)
    c.with_rank_at_most(input_max, 1)
    require_scalars(c, requested_output_min, requested_output_max)
    return input, c.scalar(), c.scalar()


@tf("RequantizationRange")
def requantization_range(c: TensorFlowContext, input: Shape, input_min: Shape, input_max: Shape) -> tuple[Shape, Shape]:
    """[*S], range -> the range [], [] of its values."""
    require_scalars(c, input_min, input_max)
    return c.scalar(), c.scalar()


@tf("RequantizationRangePerChannel")
def requantization_range_by_channel(
    c: TensorFlowContext, input: Shape, input_min: Shape, input_max: Shape
) -> tuple[Shape, Shape]:
    """[*S], range [] or [C] -> the range [], [] of its values."""
    c.with_rank_at_most(input_min, 1)
    c.with_rank_at_most(input_max, 1)
    return c.scalar(), c.scalar()


@tf("QuantizeDownAndShrinkRange")
def shrink_range(c: TensorFlowContext, input: Shape, input_min: Shape, input_max: Shape) -> tuple[Shape, Shape, Shape]:
    """[*S], range -> [*S], and its smaller range [], []."""
    require_scalars(c, input_min, input_max)
    return input, c.scalar(), c.scalar()
