"""Normalization of batches and local responses."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.windows import TensorFormat, tensor_format
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape


@attrs.frozen
class Normalization:
    """The attributes of fused batch normalization."""

    exponential_avg_factor: float = 1.0
    data_format: str = "NHWC"
    is_training: bool = True


def image_format(data_format: str) -> TensorFormat:
    """The format of images, or of volumes if its name has a D."""
    return tensor_format(data_format, 3 if "D" in data_format else 2)


def merge_channels(c: TensorFlowContext, channels: DimSize, vectors: Sequence[Shape]) -> DimSize:
    """The number of channels, which is the length of each vector."""
    for vector in vectors:
        channels = c.merge(channels, c.with_rank(vector, 1)[0])
    return channels


@tf("FusedBatchNorm", "FusedBatchNormV2")
def fused_batch_norm(
    c: TensorFlowContext,
    x: Shape,
    scale: Shape,
    offset: Shape,
    mean: Shape,
    variance: Shape,
    *,
    attributes: Normalization,
) -> tuple[Shape, ...]:
    """[*S] with C channels, four vectors [C] -> [*S], and four vectors [C].

    In training, mean and variance are ignored, and not constrained, unless they are averaged.
    """
    layout = image_format(attributes.data_format)
    x = c.with_rank(x, layout.rank)
    is_averaged = attributes.exponential_avg_factor != 1.0
    statistics = (mean, variance) if is_averaged or not attributes.is_training else ()
    channels = merge_channels(c, x[layout.channels], (scale, offset, *statistics))
    vector = c.vector(channels)
    return (c.replace_dim(x, layout.channels, channels), vector, vector, vector, vector)


@tf("FusedBatchNormV3")
def fused_batch_norm_with_reserve(
    c: TensorFlowContext,
    x: Shape,
    scale: Shape,
    offset: Shape,
    mean: Shape,
    variance: Shape,
    *,
    attributes: Normalization,
) -> tuple[Shape, ...]:
    """As FusedBatchNorm, and values that the device keeps for the gradient, of unknown rank."""
    return (*fused_batch_norm(c, x, scale, offset, mean, variance, attributes=attributes), c.unknown_shape())


@tf("_FusedBatchNormEx")
def fused_batch_norm_with_activation(
    c: TensorFlowContext,
    x: Shape,
    scale: Shape,
    offset: Shape,
    mean: Shape,
    variance: Shape,
    *side_input: Shape,
    attributes: Normalization,
) -> tuple[Shape, ...]:
    """As FusedBatchNormV3, with side inputs and an activation; cuDNN takes channels in groups of 4."""
    layout = image_format(attributes.data_format)
    x = c.with_rank(x, layout.rank)
    channels = x[layout.channels]
    message = "_FusedBatchNormEx channel dimension must be divisible by 4."
    if isinstance(channels, int) and channels % 4:
        raise ShapeError(message)
    if not isinstance(channels, int):
        c.divisible(channels, 4, message)
    return fused_batch_norm_with_reserve(
        c,
        x,
        scale,
        offset,
        mean,
        variance,
        attributes=attributes,
    )


@tf("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def fused_batch_norm_grad(
    c: TensorFlowContext,
    y_backprop: Shape,
    x: Shape,
    scale: Shape,
    mean: Shape,
    variance: Shape,
    reserve: Shape | None = None,
    *,
    data_format: str = "NHWC",
) -> tuple[Shape, ...]:
    """[*S], [*S] with C channels, three vectors [C] -> [*S], two vectors [C], two vectors [0].

    The last two are those of TensorFlow's shape function; some kernels return scalars.
    """
    layout = image_format(data_format)
    gradients = c.merge(c.with_rank(y_backprop, layout.rank), c.with_rank(x, layout.rank))
    axis = layout.channels
    channels = merge_channels(c, gradients[axis], (scale, mean, variance))
    vector, empty = c.vector(channels), c.vector(0)
    return (c.replace_dim(gradients, axis, channels), vector, vector, empty, empty)


@tf("_FusedBatchNormGradEx")
def fused_batch_norm_grad_with_activation(
    c: TensorFlowContext,
    y_backprop: Shape,
    x: Shape,
    scale: Shape,
    mean: Shape,
    variance: Shape,
    reserve: Shape,
    offset: Shape,
    y: Shape,
    *,
    data_format: str = "NHWC",
    num_side_inputs: int = 0,
) -> tuple[Shape, ...]:
    """As FusedBatchNormGradV3, and gradients [*S] of side inputs."""
    outputs = fused_batch_norm_grad(c, y_backprop, x, scale, mean, variance, data_format=data_format)
    return (*outputs, *(outputs[0] for _ in range(c.num_outputs - len(outputs))))


@tf("BatchNormWithGlobalNormalization")
def batch_norm(c: TensorFlowContext, t: Shape, m: Shape, v: Shape, beta: Shape, gamma: Shape) -> Shape:
    """[N, H, W, C], four vectors [C] -> [N, H, W, C]."""
    t = c.with_rank(t, 4)
    return c.replace_dim(t, 3, merge_channels(c, t[3], (m, v, beta, gamma)))


@tf("BatchNormWithGlobalNormalizationGrad")
def batch_norm_grad(
    c: TensorFlowContext, t: Shape, m: Shape, v: Shape, gamma: Shape, backprop: Shape
) -> tuple[Shape, ...]:
    """[N, H, W, C], three vectors [C], [N, H, W, C] -> [N, H, W, C], and four vectors [C]."""
    t = c.merge(c.with_rank(t, 4), backprop)
    channels = merge_channels(c, t[3], (m, v, gamma))
    vector = c.vector(channels)
    return (c.replace_dim(t, 3, channels), vector, vector, vector, vector)


@tf("LRN")
def local_response_normalization(c: TensorFlowContext, input_: Shape) -> Shape:
    """[N, H, W, C] -> [N, H, W, C]."""
    return c.with_rank(input_, 4)


@tf("LRNGrad")
def local_response_normalization_grad(
    c: TensorFlowContext, input_grads: Shape, input_image: Shape, output_image: Shape
) -> Shape:
    """[N, H, W, C], [N, H, W, C], [N, H, W, C] -> [N, H, W, C]."""
    return c.merge(c.merge(c.with_rank(input_grads, 4), input_image), output_image)
