"""Quantization: fake quantization in training, and quantized tensors with a range."""

from __future__ import annotations

from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape


@tf("FakeQuantWithMinMaxArgs", in_place=(0,))
def fake_quantize(c: TensorFlowContext, inputs: Shape) -> Shape:
    """[*S] -> [*S]."""
    return inputs


@tf("FakeQuantWithMinMaxArgsGradient", in_place=(0,))
def fake_quantize_grad(c: TensorFlowContext, gradients: Shape, inputs: Shape) -> Shape:
    """[*S], [*S] -> [*S]."""
    return c.merge(gradients, inputs)


@tf("FakeQuantWithMinMaxVars", in_place=(0,))
def fake_quantize_by_scalars(c: TensorFlowContext, inputs: Shape, low: Shape, high: Shape) -> Shape:
    """[*S], [], [] -> [*S]."""
    require_scalars(c, low, high)
    return inputs


@tf("FakeQuantWithMinMaxVarsGradient")
def fake_quantize_by_scalars_grad(
    c: TensorFlowContext, gradients: Shape, inputs: Shape, low: Shape, high: Shape
) -> tuple[Shape, ...]:
    """[*S], [*S], [], [] -> [*S], [], []."""
    values = c.merge(gradients, inputs)
    require_scalars(c, low, high)
    return values, c.scalar(), c.scalar()


@tf("FakeQuantWithMinMaxVarsPerChannel", in_place=(0,))
def fake_quantize_by_channel(c: TensorFlowContext, inputs: Shape, low: Shape, high: Shape) -> Shape:
    """[*S, C], [C], [C] -> [*S, C]."""
    values = c.with_rank_at_least(inputs, 1)
    limits = c.merge(c.with_rank(high, 1)[0], c.with_rank(low, 1)[0])
    if values.dims is not None:
        c.merge(values.dims[-1], limits)
    return values


@tf("FakeQuantWithMinMaxVarsPerChannelGradient")
def fake_quantize_by_channel_grad(
    c: TensorFlowContext, gradients: Shape, inputs: Shape, low: Shape, high: Shape
) -> tuple[Shape, ...]:
    """[*S, C], [*S, C], [C], [C] -> [*S, C], [C], [C]."""
    values = c.with_rank_at_least(c.merge(c.with_rank_at_most(c.with_rank_at_least(inputs, 1), 4), gradients), 1)
    limits = c.merge(c.with_rank(low, 1), high)
    if values.dims is not None:
        c.merge(values.dims[-1], limits[0])
    return values, limits, limits


@tf("QuantizeAndDequantize", in_place=(0,))
def quantize_and_dequantize(c: TensorFlowContext, x: Shape) -> Shape:
    """[*S] -> [*S]."""
    return x


@tf("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4", in_place=(0,))
def quantize_and_dequantize_in_range(
    c: TensorFlowContext, x: Shape, low: Shape, high: Shape, *, axis: int = -1
) -> Shape:
    """[*S], limits -> [*S]; the limits are [], or [n] for an axis of size n."""
    _check_limits(c, x, low, high, axis)
    return x


@tf("QuantizeAndDequantizeV3", in_place=(0,))
def quantize_and_dequantize_of_bits(
    c: TensorFlowContext, x: Shape, low: Shape, high: Shape, num_bits: Shape, *, axis: int = -1
) -> Shape:
    """[*S], limits, [] -> [*S], as QuantizeAndDequantizeV2."""
    _check_limits(c, x, low, high, axis)
    c.with_rank(num_bits, 0)
    return x


@tf("QuantizeAndDequantizeV4Grad")
def quantize_and_dequantize_grad(
    c: TensorFlowContext, gradients: Shape, x: Shape, low: Shape, high: Shape, *, axis: int = -1
) -> tuple[Shape, ...]:
    """[*S], [*S], limits -> [*S], and the gradients of the limits in their shapes."""
    _check_limits(c, x, low, high, axis)
    return c.merge(gradients, x), low, high


def _check_limits(c: TensorFlowContext, x: Shape, low: Shape, high: Shape, axis: int) -> Shape:
    """The common shape of both limits: [], or [n] for an axis of size n."""
    if axis < -1:
        c.fail(f"axis should be at least -1, got {axis}")
    limits = c.merge(high, c.with_rank(low, 0 if axis == -1 else 1))
    if axis != -1 and x.dims is not None:
        c.with_rank_at_least(x, axis + 1)
        c.merge(limits[0], x.dims[axis])
    return limits


@tf("Dequantize")
def dequantize(c: TensorFlowContext, x: Shape, low: Shape, high: Shape, *, axis: int = -1) -> Shape:
    """[*S], limits -> [*S]; the limits are [], or [n] for an axis of size n."""
    c.with_rank(high, 0 if axis == -1 else 1)
    _check_limits(c, x, low, high, axis)
    return x


@tf("QuantizeV2")
def quantize(c: TensorFlowContext, x: Shape, low: Shape, high: Shape, *, axis: int = -1) -> tuple[Shape, ...]:
    """[*S], limits -> [*S], and the limits: [], or [n] for an axis of size n."""
    limits = _check_limits(c, x, low, high, axis)
    return x, limits, limits


@tf("QuantizedInstanceNorm")
def quantized_instance_norm(c: TensorFlowContext, x: Shape, low: Shape, high: Shape) -> tuple[Shape, ...]:
    """[N, H, W, C], [], [] -> [N, H, W, C], and its range [], []."""
    values = c.with_rank(x, 4)
    require_scalars(c, low, high)
    return values, c.scalar(), c.scalar()
