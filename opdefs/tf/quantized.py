"""Layers of quantized tensors, with the range of each tensor as two more inputs or outputs."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.tf.bias import bias_add
from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.conv import conv_2d, depthwise_conv_2d
from opdefs.tf.dialect import tf
from opdefs.tf.normalization import batch_norm
from opdefs.tf.pool import PoolWindow, VolumePool, avg_pool, max_pool, pool_3d
from opdefs.tf.windows import ConvWindow
from shapeinf.errors import ShapeError
from shapeinf.lattice import Shape
from shapeinf.ops import Ints

Ranged = tuple[Shape, Shape, Shape]
"""The shape of a quantized output, and those of its least and its greatest value."""


def with_scalar_range(c: TensorFlowContext, output: Shape, ranges: Sequence[Shape]) -> Ranged:
    """The output and its range [], []. Requires that the ranges of the operands are scalars."""
    require_scalars(c, *ranges)
    return output, c.scalar(), c.scalar()


@attrs.frozen
class QuantizedWindow:
    """The attributes of quantized convolutions."""

    strides: Ints
    padding: str
    dilations: Ints = (1, 1, 1, 1)

    def convolution(self) -> ConvWindow:
        """The attributes of the convolution of unquantized tensors."""
        return ConvWindow(self.strides, self.padding, dilations=self.dilations)


@attrs.frozen
class PaddedWindow(QuantizedWindow):
    """The attributes of fused quantized convolutions, whose `padding_list` adds explicit padding."""

    padding_list: Ints = ()


def _with_own_padding(c: TensorFlowContext, shape: Shape, window: QuantizedWindow) -> Shape:
    """The shape; with unknown sizes where there is a `padding_list`."""
    if isinstance(window, PaddedWindow) and window.padding_list:
        return Shape((shape[0], c.unknown_dim(), c.unknown_dim(), shape[3]))
    return shape


def _convolve(c: TensorFlowContext, x: Shape, weights: Shape, window: QuantizedWindow) -> Shape:
    """The shape of a quantized convolution."""
    return _with_own_padding(c, conv_2d(c, x, weights, window=window.convolution()), window)


def _filter_range(c: TensorFlowContext, weights: Shape, least: Shape, most: Shape) -> Shape:
    """The shape of the range of a filter: [], or [D] for D output channels."""
    shape = c.merge(c.with_rank_at_most(least, 1), c.with_rank_at_most(most, 1))
    if shape.dims:
        c.merge(shape[0], weights[3])
    return shape


@tf("QuantizedConv2D")
def quantized_conv_2d(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    *ranges: Shape,
    window: QuantizedWindow,
) -> Ranged:
    """[N, H, W, C], [h, w, C, D], ranges -> [N, H', W', D], and its range [], []."""
    return with_scalar_range(c, _convolve(c, input_, filter_, window), ranges)


@tf("QuantizedConv2DPerChannel")
def quantized_conv_2d_per_channel(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    min_input: Shape,
    max_input: Shape,
    min_filter: Shape,
    max_filter: Shape,
    *,
    window: QuantizedWindow,
) -> Ranged:
    """As QuantizedConv2D; the ranges of filter and output may be [D]."""
    require_scalars(c, min_input, max_input)
    shape = _convolve(c, input_, filter_, window)
    channels = _filter_range(c, c.with_rank(filter_, 4), min_filter, max_filter)
    return shape, channels, channels


@tf("QuantizedConv2DAndRelu")
def quantized_conv_2d_and_relu(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    min_input: Shape,
    max_input: Shape,
    min_filter: Shape,
    max_filter: Shape,
    *,
    window: PaddedWindow,
) -> Ranged:
    """As QuantizedConv2DPerChannel."""
    return quantized_conv_2d_per_channel(
        c, input_, filter_, min_input, max_input, min_filter, max_filter, window=window
    )


@tf("QuantizedConv2DWithBias", "QuantizedConv2DWithBiasAndRelu", "QuantizedConv2DWithBiasSumAndRelu")
def quantized_conv_2d_with_bias(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    bias: Shape,
    min_input: Shape,
    max_input: Shape,
    min_filter: Shape,
    max_filter: Shape,
    summand: Shape | None = None,
    *,
    window: PaddedWindow,
) -> Ranged:
    """As QuantizedConv2DPerChannel."""
    c.with_rank(bias, 1)
    return quantized_conv_2d_per_channel(
        c, input_, filter_, min_input, max_input, min_filter, max_filter, window=window
    )


@tf(
    "QuantizedConv2DAndRequantize",
    "QuantizedConv2DAndReluAndRequantize",
    "QuantizedConv2DWithBiasAndRequantize",
    "QuantizedConv2DWithBiasAndReluAndRequantize",
    "QuantizedConv2DWithBiasSumAndReluAndRequantize",
    "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
)
def quantized_conv_2d_and_requantize(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    *rest: Shape,
    window: PaddedWindow,
) -> Ranged:
    """As QuantizedConv2D; the range of the output is an input."""
    return _convolve(c, input_, filter_, window), c.scalar(), c.scalar()


@tf("QuantizedDepthwiseConv2D", "QuantizedDepthwiseConv2DWithBias")
def quantized_depthwise_conv_2d(
    c: TensorFlowContext, input_: Shape, filter_: Shape, *rest: Shape, window: QuantizedWindow
) -> Ranged:
    """[N, H, W, C], [h, w, C, M], ranges -> [N, H', W', C*M], and its range, of undefined shape."""
    shape = depthwise_conv_2d(c, input_, filter_, window=window.convolution())
    return _with_own_padding(c, shape, window), c.unknown_shape(), c.unknown_shape()


@tf("QuantizedDepthwiseConv2DWithBiasAndRelu", "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize")
def quantized_depthwise_conv_2d_and_relu(
    c: TensorFlowContext, input_: Shape, filter_: Shape, *rest: Shape, window: PaddedWindow
) -> Ranged:
    """As QuantizedDepthwiseConv2D."""
    return quantized_depthwise_conv_2d(c, input_, filter_, window=window)


@tf("QuantizedBiasAdd")
def quantized_bias_add(c: TensorFlowContext, input_: Shape, bias: Shape, *ranges: Shape) -> Ranged:
    """[*S, C], [C], ranges -> [*S, C], and its range [], []."""
    return with_scalar_range(c, bias_add(c, input_, bias), ranges)


@tf("QuantizedRelu", "QuantizedRelu6", "QuantizedReluX")
def quantized_relu(c: TensorFlowContext, features: Shape, *ranges: Shape) -> Ranged:
    """[*S], range -> [*S], and its range [], []."""
    return with_scalar_range(c, features, ranges)


@tf("QuantizedAvgPool")
def quantized_avg_pool(c: TensorFlowContext, input_: Shape, *ranges: Shape, window: PoolWindow) -> Ranged:
    """[N, H, W, C], range -> [N, H', W', C], and its range [], []."""
    return with_scalar_range(c, avg_pool(c, input_, window=window.of_images()), ranges)


@tf("QuantizedMaxPool")
def quantized_max_pool(c: TensorFlowContext, input_: Shape, *ranges: Shape, window: PoolWindow) -> Ranged:
    """[N, H, W, C], range -> [N, H', W', C], and its range [], []."""
    return with_scalar_range(c, max_pool(c, input_, window=window.of_images()), ranges)


@tf("_QuantizedMaxPool3D")
def quantized_max_pool_3d(c: TensorFlowContext, input_: Shape, *ranges: Shape, window: VolumePool) -> Ranged:
    """[N, D, H, W, C], range -> [N, D', H', W', C], and its range, of undefined shape."""
    return pool_3d(c, input_, window=window), c.unknown_shape(), c.unknown_shape()


@tf("QuantizedBatchNormWithGlobalNormalization")
def quantized_batch_norm(c: TensorFlowContext, *operands: Shape) -> Ranged:
    """[N, H, W, C], four vectors [C], each with its range [], [] -> [N, H, W, C], and its range [], []."""
    if len(operands) != 15:
        raise ShapeError(f"Wrong number of inputs passed: {len(operands)} while 15 expected")
    ranges = [operand for index, operand in enumerate(operands) if index % 3]
    return with_scalar_range(c, batch_norm(c, *operands[::3]), ranges)
