"""Operators of uniformly quantized tensors, with one scale per tensor, or one per channel."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.tf.common import share_rank
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.dimension_numbers import (
    UNIFORM_FIELDS,
    ConvolutionAxes,
    convolution_axes,
    convolved_shape,
    dilated_window_count,
    same_window_count,
)
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import Ints


@attrs.frozen
class DilatedWindow:
    """The attributes of convolutions of uniformly quantized tensors; an empty list means 1 for each spatial axis."""

    padding: str
    window_strides: Ints = ()
    explicit_padding: Ints = ()
    lhs_dilation: Ints = ()
    rhs_dilation: Ints = ()
    batch_group_count: int = 1
    dimension_numbers: str = ""


def constrain_uniform_scales(c: TensorFlowContext, scales: Shape, zero_points: Shape, channels: DimSize | None) -> None:
    """Require that scales and zero points are both [], or, if there are `channels`, may both be [channels]."""
    rank = 0 if channels is None else 1
    scales, zero_points = c.with_rank_at_most(scales, rank), c.with_rank_at_most(zero_points, rank)
    if None in (scales.rank, zero_points.rank):
        return
    if scales.rank != zero_points.rank:
        raise ShapeError("scales and zero_points must have same rank.")
    if scales.rank == 1 and channels is not None:
        c.merge(c.merge(scales[0], zero_points[0]), channels)


def _constrain_axis(c: TensorFlowContext, x: Shape, axis: int, scales: Shape, zero_points: Shape) -> None:
    """As `constrain_uniform_scales`, for the channels at an axis; -1 means no channels."""
    if axis == -1:
        constrain_uniform_scales(c, scales, zero_points, None)
    elif x.dims is not None:
        if not 0 <= axis < len(x):
            c.fail(f"quantization_axis must be -1 or an axis of rank {len(x)}", axis)
        constrain_uniform_scales(c, scales, zero_points, x[axis])


@tf("UniformQuantize", "UniformDequantize")
def uniform_quantize(
    c: TensorFlowContext, input_: Shape, scales: Shape, zero_points: Shape, *, quantization_axis: int = -1
) -> Shape:
    """[*S], scales, zero points -> [*S]."""
    _constrain_axis(c, input_, quantization_axis, scales, zero_points)
    return input_


@tf("UniformQuantizedClipByValue")
def uniform_quantized_clip_by_value(
    c: TensorFlowContext,
    operand: Shape,
    least: Shape,
    most: Shape,
    scales: Shape,
    zero_points: Shape,
    *,
    quantization_axis: int = -1,
) -> Shape:
    """[*S], limits, scales, zero points -> [*S]."""
    _constrain_axis(c, operand, quantization_axis, scales, zero_points)
    return operand


@tf("UniformRequantize")
def uniform_requantize(
    c: TensorFlowContext,
    input_: Shape,
    input_scales: Shape,
    input_zero_points: Shape,
    output_scales: Shape,
    output_zero_points: Shape,
    *,
    input_quantization_axis: int = -1,
    output_quantization_axis: int = -1,
) -> Shape:
    """[*S], scales and zero points of input and output -> [*S]."""
    _constrain_axis(c, input_, input_quantization_axis, input_scales, input_zero_points)
    _constrain_axis(c, input_, output_quantization_axis, output_scales, output_zero_points)
    return input_


@tf("UniformQuantizedAdd")
def uniform_quantized_add(c: TensorFlowContext, lhs: Shape, rhs: Shape, *scales: Shape) -> Shape:
    """[*A], [*B], scales and zero points -> [*broadcast(A, B)]."""
    return c.broadcast(lhs, rhs)


@tf("UniformQuantizedDot")
def uniform_quantized_dot(
    c: TensorFlowContext,
    lhs: Shape,
    rhs: Shape,
    lhs_scales: Shape,
    lhs_zero_points: Shape,
    rhs_scales: Shape,
    rhs_zero_points: Shape,
    output_scales: Shape,
    output_zero_points: Shape,
) -> Shape:
    """[M, K], [K, N], scales and zero points -> [M, N]."""
    product = uniform_quantized_dot_hybrid(c, lhs, rhs, rhs_scales, rhs_zero_points)
    constrain_uniform_scales(c, lhs_scales, lhs_zero_points, None)
    constrain_uniform_scales(c, output_scales, output_zero_points, product[1])
    return product


@tf("UniformQuantizedDotHybrid")
def uniform_quantized_dot_hybrid(
    c: TensorFlowContext, lhs: Shape, rhs: Shape, rhs_scales: Shape, rhs_zero_points: Shape
) -> Shape:
    """[M, K], [K, N], scales and zero points -> [M, N]."""
    lhs, rhs = c.with_rank(lhs, 2), c.with_rank(rhs, 2)
    c.merge(lhs[1], rhs[0])
    constrain_uniform_scales(c, rhs_scales, rhs_zero_points, rhs[1])
    return Shape((lhs[0], rhs[1]))


@tf("UniformQuantizedConvolution")
def uniform_quantized_convolution(
    c: TensorFlowContext,
    lhs: Shape,
    rhs: Shape,
    lhs_scales: Shape,
    lhs_zero_points: Shape,
    rhs_scales: Shape,
    rhs_zero_points: Shape,
    output_scales: Shape,
    output_zero_points: Shape,
    *,
    window: DilatedWindow,
) -> Shape:
    """As UniformQuantizedConvolutionHybrid."""
    result = uniform_quantized_convolution_hybrid(c, lhs, rhs, rhs_scales, rhs_zero_points, window=window)
    constrain_uniform_scales(c, lhs_scales, lhs_zero_points, None)
    axes = None if result.dims is None else _axes(c, window, len(result))
    if axes is not None:
        constrain_uniform_scales(c, output_scales, output_zero_points, result[axes.output_feature])
    return result


@tf("UniformQuantizedConvolutionHybrid")
def uniform_quantized_convolution_hybrid(
    c: TensorFlowContext,
    lhs: Shape,
    rhs: Shape,
    rhs_scales: Shape,
    rhs_zero_points: Shape,
    *,
    window: DilatedWindow,
) -> Shape:
    """[N, C, *S], [D, C/groups, *K] -> [N/batch groups, D, *S'], or in the order of `dimension_numbers`."""
    operands = share_rank(c, lhs, rhs)
    if operands is None:
        return c.unknown_shape()
    lhs, rhs = operands
    rank = len(lhs)
    if rank < 2 or window.batch_group_count < 1:
        c.fail(
            "a convolution requires rank 2 or more, and a batch_group_count of 1 or more", lhs, window.batch_group_count
        )
    axes = _axes(c, window, rank)
    if axes is None:
        return c.unknown_shape_of_rank(rank)
    _constrain_features(lhs[axes.input_feature], rhs[axes.kernel_input])
    constrain_uniform_scales(c, rhs_scales, rhs_zero_points, rhs[axes.kernel_output])
    sizes, kernel = axes.spatial_sizes(lhs, rhs)
    return convolved_shape(c, lhs, rhs, axes, _sizes(c, sizes, kernel, window), window.batch_group_count)


def _axes(c: TensorFlowContext, window: DilatedWindow, rank: int) -> ConvolutionAxes | None:
    """The axes of the operands: by default those of [N, C, *S]."""
    if not window.dimension_numbers:
        return ConvolutionAxes.first(rank)
    return convolution_axes(c, window.dimension_numbers, UNIFORM_FIELDS, rank)


def _constrain_features(lhs: DimSize, rhs: DimSize) -> None:
    """Raise ShapeError if the input features of the kernel do not divide those of the input."""
    if isinstance(lhs, int) and isinstance(rhs, int) and (rhs == 0 or lhs % rhs):
        message = "rhs input feature dimension must divide lhs feature dimension size"
        raise ShapeError(f"{message}, but {rhs} does not divide {lhs}")


def _explicit_pads(c: TensorFlowContext, padding: str, explicit: Ints, rank: int) -> list[int]:
    """The total padding of each spatial axis; 0 unless it is explicit."""
    if padding not in ("SAME", "VALID", "EXPLICIT"):
        c.fail("padding must be SAME, VALID or EXPLICIT", padding)
    if padding != "EXPLICIT":
        return [0] * rank
    if len(explicit) != 2 * rank:
        c.fail(f"explicit_padding must have {2 * rank} values", explicit)
    return [explicit[2 * axis] + explicit[2 * axis + 1] for axis in range(rank)]


def _values(c: TensorFlowContext, values: Ints, rank: int, name: str) -> Ints:
    """The values of an attribute, one per spatial axis; 1 for each if it is empty."""
    if values and (len(values) != rank or min(values) < 1):
        c.fail(f"{name} must have {rank} positive values", values)
    return values or (1,) * rank


def _sizes(
    c: TensorFlowContext, sizes: Sequence[DimSize], kernel: Sequence[DimSize], window: DilatedWindow
) -> list[DimSize]:
    """The output sizes of the spatial axes."""
    rank = len(sizes)
    strides = _values(c, window.window_strides, rank, "window_strides")
    bases = _values(c, window.lhs_dilation, rank, "lhs_dilation")
    spreads = _values(c, window.rhs_dilation, rank, "rhs_dilation")
    pads = _explicit_pads(c, window.padding, window.explicit_padding, rank)
    if window.padding == "SAME":
        return [same_window_count(c, *axis) for axis in zip(sizes, strides, bases, strict=True)]
    axes = zip(sizes, kernel, strides, pads, bases, spreads, strict=True)
    return [dilated_window_count(c, *axis) for axis in axes]
