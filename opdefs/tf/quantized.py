"""Layers of quantized tensors, each with the range of its values."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.tf.bias import bias_add
from opdefs.tf.conv import UNIT, conv_2d, depthwise_conv_2d
from opdefs.tf.dialect import tf
from opdefs.tf.normalization import batch_norm
from opdefs.tf.pool import avg_pool, max_pool, pool_3d
from shapeinf.errors import ShapeError
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext, Ints

Ranged = tuple[Shape, Shape, Shape]
"""The shape of a quantized output, and those of its least and its greatest value."""


def with_scalar_range(c: InferenceContext, output: Shape, ranges: Sequence[Shape]) -> Ranged:
    """The output with the scalars of its range; those of the operands are scalars too."""
    for scalar in ranges:
        c.with_rank(scalar, 0)
    return output, c.scalar(), c.scalar()


def _convolved(
    c: InferenceContext, x: Shape, weights: Shape, strides: Ints, padding: str, dilations: Ints, padding_list: Ints
) -> Shape:
    """As Conv2D; the sizes are unknown where `padding_list` adds paddings of its own."""
    shape = conv_2d(c, x, weights, strides=strides, padding=padding, dilations=dilations)
    return Shape((shape[0], c.unknown_dim(), c.unknown_dim(), shape[3])) if padding_list else shape


def _filter_range(c: InferenceContext, weights: Shape, least: Shape, most: Shape) -> Shape:
    """The shape of the range of a filter: a scalar, or a vector of one value an output channel."""
    shape = c.merge(c.with_rank_at_most(least, 1), c.with_rank_at_most(most, 1))
    if shape.dims:
        c.merge(shape[0], weights[3])
    return shape


@tf("QuantizedConv2D")
def quantized_conv_2d(
    c: InferenceContext,
    input_: Shape,
    filter_: Shape,
    *ranges: Shape,
    strides: Ints,
    padding: str,
    dilations: Ints = UNIT,
) -> Ranged:
    """As Conv2D."""
    return with_scalar_range(c, _convolved(c, input_, filter_, strides, padding, dilations, ()), ranges)


@tf("QuantizedConv2DPerChannel")
def quantized_conv_2d_per_channel(
    c: InferenceContext,
    input_: Shape,
    filter_: Shape,
    min_input: Shape,
    max_input: Shape,
    min_filter: Shape,
    max_filter: Shape,
    *,
    strides: Ints,
    padding: str,
    dilations: Ints = UNIT,
) -> Ranged:
    """As Conv2D; the range has one value a channel where that of the filter has."""
    return _conv_2d_with_filter_range(
        c, input_, filter_, min_input, max_input, min_filter, max_filter, strides, padding, dilations, ()
    )


@tf("QuantizedConv2DAndRelu")
def quantized_conv_2d_and_relu(
    c: InferenceContext,
    input_: Shape,
    filter_: Shape,
    min_input: Shape,
    max_input: Shape,
    min_filter: Shape,
    max_filter: Shape,
    *,
    strides: Ints,
    padding: str,
    dilations: Ints = UNIT,
    padding_list: Ints = (),
) -> Ranged:
    """As QuantizedConv2DPerChannel."""
    return _conv_2d_with_filter_range(
        c, input_, filter_, min_input, max_input, min_filter, max_filter, strides, padding, dilations, padding_list
    )


@tf("QuantizedConv2DWithBias", "QuantizedConv2DWithBiasAndRelu", "QuantizedConv2DWithBiasSumAndRelu")
def quantized_conv_2d_with_bias(
    c: InferenceContext,
    input_: Shape,
    filter_: Shape,
    bias: Shape,
    min_input: Shape,
    max_input: Shape,
    min_filter: Shape,
    max_filter: Shape,
    summand: Shape | None = None,
    *,
    strides: Ints,
    padding: str,
    dilations: Ints = UNIT,
    padding_list: Ints = (),
) -> Ranged:
    """As QuantizedConv2DPerChannel."""
    c.with_rank(bias, 1)
    return _conv_2d_with_filter_range(
        c, input_, filter_, min_input, max_input, min_filter, max_filter, strides, padding, dilations, padding_list
    )


def _conv_2d_with_filter_range(
    c: InferenceContext,
    x: Shape,
    weights: Shape,
    min_input: Shape,
    max_input: Shape,
    min_filter: Shape,
    max_filter: Shape,
    strides: Ints,
    padding: str,
    dilations: Ints,
    padding_list: Ints,
) -> Ranged:
    for scalar in (min_input, max_input):
        c.with_rank(scalar, 0)
    shape = _convolved(c, x, weights, strides, padding, dilations, padding_list)
    channels = _filter_range(c, c.with_rank(weights, 4), min_filter, max_filter)
    return shape, channels, channels


@tf(
    "QuantizedConv2DAndRequantize",
    "QuantizedConv2DAndReluAndRequantize",
    "QuantizedConv2DWithBiasAndRequantize",
    "QuantizedConv2DWithBiasAndReluAndRequantize",
    "QuantizedConv2DWithBiasSumAndReluAndRequantize",
    "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
)
def quantized_conv_2d_and_requantize(
    c: InferenceContext,
    input_: Shape,
    filter_: Shape,
    *rest: Shape,
    strides: Ints,
    padding: str,
    dilations: Ints = UNIT,
    padding_list: Ints = (),
) -> Ranged:
    """As Conv2D; the range of the output is an input, two scalars."""
    return _convolved(c, input_, filter_, strides, padding, dilations, padding_list), c.scalar(), c.scalar()


@tf("QuantizedDepthwiseConv2D", "QuantizedDepthwiseConv2DWithBias")
def quantized_depthwise_conv_2d(
    c: InferenceContext,
    input_: Shape,
    filter_: Shape,
    *rest: Shape,
    strides: Ints,
    padding: str,
    dilations: Ints = UNIT,
) -> Ranged:
    """As DepthwiseConv2dNative; the shape of the range is not defined."""
    shape = depthwise_conv_2d(c, input_, filter_, strides=strides, padding=padding, dilations=dilations)
    return shape, c.unknown_shape(), c.unknown_shape()


@tf("QuantizedDepthwiseConv2DWithBiasAndRelu", "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize")
def quantized_depthwise_conv_2d_and_relu(
    c: InferenceContext,
    input_: Shape,
    filter_: Shape,
    *rest: Shape,
    strides: Ints,
    padding: str,
    dilations: Ints = UNIT,
    padding_list: Ints = (),
) -> Ranged:
    """As QuantizedDepthwiseConv2D; the sizes are unknown where `padding_list` adds paddings of its own."""
    shape, least, most = quantized_depthwise_conv_2d(
        c, input_, filter_, strides=strides, padding=padding, dilations=dilations
    )
    if padding_list:
        shape = Shape((shape[0], c.unknown_dim(), c.unknown_dim(), shape[3]))
    return shape, least, most


@tf("QuantizedBiasAdd")
def quantized_bias_add(c: InferenceContext, input_: Shape, bias: Shape, *ranges: Shape) -> Ranged:
    """As BiasAdd."""
    return with_scalar_range(c, bias_add(c, input_, bias), ranges)


@tf("QuantizedRelu", "QuantizedRelu6", "QuantizedReluX")
def quantized_relu(c: InferenceContext, features: Shape, *ranges: Shape) -> Ranged:
    """The shape of the features."""
    return with_scalar_range(c, features, ranges)


@tf("QuantizedAvgPool")
def quantized_avg_pool(
    c: InferenceContext, input_: Shape, *ranges: Shape, ksize: Ints, strides: Ints, padding: str
) -> Ranged:
    """As AvgPool."""
    return with_scalar_range(c, avg_pool(c, input_, ksize=ksize, strides=strides, padding=padding), ranges)


@tf("QuantizedMaxPool")
def quantized_max_pool(
    c: InferenceContext, input_: Shape, *ranges: Shape, ksize: Ints, strides: Ints, padding: str
) -> Ranged:
    """As MaxPool."""
    return with_scalar_range(c, max_pool(c, input_, ksize=ksize, strides=strides, padding=padding), ranges)


@tf("_QuantizedMaxPool3D")
def quantized_max_pool_3d(
    c: InferenceContext,
    input_: Shape,
    *ranges: Shape,
    ksize: Ints,
    strides: Ints,
    padding: str,
    data_format: str = "NDHWC",
) -> Ranged:
    """As MaxPool3D; the shape of the range is not defined."""
    shape = pool_3d(c, input_, ksize=ksize, strides=strides, padding=padding, data_format=data_format)
    return shape, c.unknown_shape(), c.unknown_shape()


@tf("QuantizedBatchNormWithGlobalNormalization")
def quantized_batch_norm(c: InferenceContext, *operands: Shape) -> Ranged:
    """As BatchNormWithGlobalNormalization; every operand has a range of two scalars behind it."""
    if len(operands) != 15:
        raise ShapeError(f"Wrong number of inputs passed: {len(operands)} while 15 expected")
    ranges = [operand for index, operand in enumerate(operands) if index % 3]
    return with_scalar_range(c, batch_norm(c, *operands[::3]), ranges)
