"""Quantization: fake quantization in training, and tensors with a range."""

from __future__ import annotations

from opdefs.tf.common import require_scalars
from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@tf("FakeQuantWithMinMaxArgs", in_place=(0,))
def fake_quantize(c: InferenceContext, inputs: Shape) -> Shape:
    """The shape of the input."""
    return inputs


@tf("FakeQuantWithMinMaxArgsGradient", in_place=(0,))
def fake_quantize_grad(c: InferenceContext, gradients: Shape, inputs: Shape) -> Shape:
    """The common shape of both inputs."""
    return c.merge(gradients, inputs)


@tf("FakeQuantWithMinMaxVars", in_place=(0,))
def fake_quantize_by_scalars(c: InferenceContext, inputs: Shape, low: Shape, high: Shape) -> Shape:
    """The shape of the input; the limits are scalars."""
    require_scalars(c, low, high)
    return inputs


@tf("FakeQuantWithMinMaxVarsGradient")
def fake_quantize_by_scalars_grad(
    c: InferenceContext, gradients: Shape, inputs: Shape, low: Shape, high: Shape
) -> tuple[Shape, ...]:
    """The common shape of gradient and input, and a scalar for each limit."""
    values = c.merge(gradients, inputs)
    require_scalars(c, low, high)
    return values, c.scalar(), c.scalar()


@tf("FakeQuantWithMinMaxVarsPerChannel", in_place=(0,))
def fake_quantize_by_channel(c: InferenceContext, inputs: Shape, low: Shape, high: Shape) -> Shape:
    """The shape of the input; each limit is a vector with a value for each channel."""
    values = c.with_rank_at_least(inputs, 1)
    limits = c.merge(c.with_rank(high, 1)[0], c.with_rank(low, 1)[0])
    if values.dims is not None:
        c.merge(values.dims[-1], limits)
    return values


@tf("FakeQuantWithMinMaxVarsPerChannelGradient")
def fake_quantize_by_channel_grad(
    c: InferenceContext, gradients: Shape, inputs: Shape, low: Shape, high: Shape
) -> tuple[Shape, ...]:
    """The common shape of gradient and input, and a vector for each limit."""
    values = c.with_rank_at_least(c.merge(c.with_rank_at_most(c.with_rank_at_least(inputs, 1), 4), gradients), 1)
    limits = c.merge(c.with_rank(low, 1), high)
    if values.dims is not None:
        c.merge(values.dims[-1], limits[0])
    return values, limits, limits


@tf("QuantizeAndDequantize", in_place=(0,))
def quantize_and_dequantize(c: InferenceContext, x: Shape) -> Shape:
    """The shape of the input."""
    return x


@tf("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4", in_place=(0,))
def quantize_and_dequantize_in_range(
    c: InferenceContext, x: Shape, low: Shape, high: Shape, *, axis: int = -1
) -> Shape:
    """The shape of the input; the limits are scalars, or vectors along an axis."""
    _check_limits(c, x, low, high, axis)
    return x


@tf("QuantizeAndDequantizeV3", in_place=(0,))
def quantize_and_dequantize_of_bits(
    c: InferenceContext, x: Shape, low: Shape, high: Shape, num_bits: Shape, *, axis: int = -1
) -> Shape:
    """As QuantizeAndDequantizeV2; the number of bits is a scalar input."""
    _check_limits(c, x, low, high, axis)
    c.with_rank(num_bits, 0)
    return x


@tf("QuantizeAndDequantizeV4Grad")
def quantize_and_dequantize_grad(
    c: InferenceContext, gradients: Shape, x: Shape, low: Shape, high: Shape, *, axis: int = -1
) -> tuple[Shape, ...]:
    """The common shape of gradient and input, and the shape of the limits."""
    _check_limits(c, x, low, high, axis)
    return c.merge(gradients, x), low, high


def _check_limits(c: InferenceContext, x: Shape, low: Shape, high: Shape, axis: int) -> Shape:
    """The shape of both limits: a scalar, or a vector with a value for each slice along the axis."""
    if axis < -1:
        c.fail(f"axis should be at least -1, got {axis}")
    limits = c.merge(high, c.with_rank(low, 0 if axis == -1 else 1))
    if axis != -1 and x.dims is not None:
        c.with_rank_at_least(x, axis + 1)
        c.merge(limits[0], x.dims[axis])
    return limits


@tf("Dequantize")
def dequantize(c: InferenceContext, x: Shape, low: Shape, high: Shape, *, axis: int = -1) -> Shape:
    """The shape of the input; the limits are scalars, or vectors along an axis."""
    c.with_rank(high, 0 if axis == -1 else 1)
    _check_limits(c, x, low, high, axis)
    return x


@tf("QuantizeV2")
def quantize(c: InferenceContext, x: Shape, low: Shape, high: Shape, *, axis: int = -1) -> tuple[Shape, ...]:
    """The shape of the input, and the limits: scalars, or vectors along an axis."""
    limits = _check_limits(c, x, low, high, axis)
    return x, limits, limits


@tf("QuantizedInstanceNorm")
def quantized_instance_norm(c: InferenceContext, x: Shape, low: Shape, high: Shape) -> tuple[Shape, ...]:
    """The shape of the input, of rank 4, and its range."""
    values = c.with_rank(x, 4)
    require_scalars(c, low, high)
    return values, c.scalar(), c.scalar()
