"""Pooling: with windows of a fixed size, with adaptive windows, and the inverse of the former."""

from __future__ import annotations

import attrs

from opdefs.pnnx.arguments import require_known
from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.pnnx.promotion import promote
from opdefs.pnnx.spatial import (
    bounded_sizes,
    requested_sizes,
    spatial_rank,
    spatial_values,
    split_axes,
)
from opdefs.rules.operands import is_unit, require_elements
from opdefs.rules.window import Window, transposed_window_size, windows
from shapeinf.expr import DimSize
from shapeinf.graph import InputContents
from shapeinf.lattice import SequenceType, Shape, TensorType
from shapeinf.ops import InferenceContext

Maxima = TensorType | SequenceType | tuple[TensorType, ...]
"""The outputs of a maximum: maxima, maxima and indices, or one pair of both."""


@attrs.frozen
class Pool:
    """The attributes of a pool; the default stride is `kernel_size`."""

    kernel_size: object
    stride: object = ()
    padding: object = 0
    ceil_mode: bool = False


@pnnx("nn.AvgPool1d", "nn.AvgPool2d", "nn.AvgPool3d")
@pnnx("F.avg_pool1d", "F.avg_pool2d", "F.avg_pool3d")
def avg_pool(c: InferenceContext, input: Shape, *, pool: Pool, divisor_override: int | None = None) -> Shape:
    """[N, C, *S] -> [N, C, *windows(S)] or [C, *S] -> [C, *windows(S)]."""
    if divisor_override == 0:
        c.fail("divisor_override must not be 0")
    if spatial_rank(c) == 3:
        kernel = spatial_values(c, pool.kernel_size, "kernel_size", 3, 1)
        for size, least in zip(split_axes(c, input, 3)[2], kernel, strict=True):
            c.at_least(size, least, "kernel_size must be at most the size of the axis without padding")
    return _pool_shape(c, input, pool, 1)


@own_types("nn.LPPool1d", "nn.LPPool2d", "nn.LPPool3d")
@own_types("F.lp_pool1d", "F.lp_pool2d", "F.lp_pool3d")
def lp_pool(c: InferenceContext, input: Shape, *, pool: Pool) -> TensorType:
    """[N, C, *S] -> [N, C, *windows(S)] or [C, *S] -> [C, *windows(S)], in float32 for integers."""
    return TensorType(promote(TensorType(c.dtype(0), input), 1.0), avg_pool(c, input, pool=pool))


@own_types("nn.MaxPool1d", "nn.MaxPool2d", "nn.MaxPool3d")
@own_types("F.max_pool1d", "F.max_pool2d", "F.max_pool3d")
def max_pool(
    c: InferenceContext, input: Shape, *, pool: Pool, dilation: object = 1, return_indices: bool = False
) -> Maxima:
    """[N, C, *S] -> [N, C, *windows(S)] or [C, *S] -> [C, *windows(S)], maxima and, if requested, their indices."""
    return _attach_indices(c, _pool_shape(c, input, pool, dilation), return_indices)


def _pool_shape(c: InferenceContext, input: Shape, pool: Pool, dilation: object) -> Shape:
    rank = spatial_rank(c)
    lead, channels, sizes = split_axes(c, input, rank)
    require_elements(c, (channels, *sizes))
    kernel = spatial_values(c, pool.kernel_size, "kernel_size", rank, 1)
    strides = kernel if pool.stride == () else spatial_values(c, pool.stride, "stride", rank, 1)
    padding = spatial_values(c, pool.padding, "padding", rank)
    if any(2 * amount > k for amount, k in zip(padding, kernel, strict=True)):
        c.fail("padding must be at most half of kernel_size", padding, kernel)
    window = Window(strides=strides, pads=padding * 2, dilations=spatial_values(c, dilation, "dilation", rank, 1))
    return Shape((*lead, channels, *windows(c, sizes, kernel, window, pool.ceil_mode)))


def _attach_indices(c: InferenceContext, shape: Shape, return_indices: bool) -> Maxima:
    """The maxima, with their indices if these are requested: as two outputs, or as a tuple if there is one output."""
    maxima = TensorType(c.dtype(0), shape)
    if not return_indices and c.num_outputs < 2:
        return maxima
    indices = TensorType("int64", shape)
    if c.num_outputs > 1:
        return maxima, indices
    return SequenceType(c.relax_type(maxima, indices, "item"), items=(maxima, indices))


@pnnx("nn.AdaptiveAvgPool1d", "nn.AdaptiveAvgPool2d", "nn.AdaptiveAvgPool3d")
@pnnx("F.adaptive_avg_pool1d", "F.adaptive_avg_pool2d", "F.adaptive_avg_pool3d")
def adaptive_avg_pool(c: InferenceContext, input: Shape, *, output_size: object) -> Shape:
    """[N, C, *S] -> [N, C, *output_size] or [C, *S] -> [C, *output_size].

    torch computes a mean in place of a pool to single elements, and a mean takes empty axes, too.
    """
    is_composite = "._" not in c.op_def.name  # aten._adaptive_avg_pool2d is the pool itself
    return _adaptive_shape(c, input, output_size, spatial_rank(c) < 3, may_be_mean=is_composite)


@own_types("nn.AdaptiveMaxPool1d", "nn.AdaptiveMaxPool2d", "nn.AdaptiveMaxPool3d")
@own_types("F.adaptive_max_pool1d", "F.adaptive_max_pool2d", "F.adaptive_max_pool3d")
def adaptive_max_pool(
    c: InferenceContext, input: Shape, *, output_size: object, return_indices: bool = False
) -> Maxima:
    """[N, C, *S] -> [N, C, *output_size] or [C, *S] -> [C, *output_size], and, if requested, the indices."""
    return _attach_indices(c, _adaptive_shape(c, input, output_size, False), return_indices)


def _adaptive_shape(
    c: InferenceContext, input: Shape, output_size: object, channels_may_be_empty: bool, may_be_mean: bool = False
) -> Shape:
    """The input with the spatial sizes `output_size`.

    PNNX writes 0 for None, which keeps the size of an axis; a computed 0, or the 0 of a single axis, is a size.
    """
    rank = spatial_rank(c)
    lead, channels, sizes = split_axes(c, input, rank)
    requested = requested_sizes(c, output_size, "output_size", rank)
    if not may_be_mean or not all(map(is_unit, requested)):
        require_elements(c, sizes if channels_may_be_empty or not lead else (channels, *sizes))
    if c.op_def.dialect == "pnnx" and rank > 1 and not isinstance(c.written.get("output_size"), InputContents):
        requested = [size if new == 0 else new for size, new in zip(sizes, requested, strict=True)]
    adapted = [_adaptive_size(c, size) for size in requested]
    return Shape((*lead, channels, *adapted))


def _adaptive_size(c: InferenceContext, requested: DimSize | None) -> DimSize:
    if requested is None:
        return c.fresh("adaptive")
    c.at_least(requested, 0, "the items of output_size must be at least 0")
    return requested


@pnnx("nn.MaxUnpool1d", "nn.MaxUnpool2d", "nn.MaxUnpool3d")
def max_unpool(
    c: InferenceContext,
    input: Shape,
    indices: Shape,
    *,
    kernel_size: object,
    stride: object = (),
    padding: object = 0,
    output_size: object = (),
) -> Shape:
    """[N, C, *S], indices [N, C, *S] -> [N, C, *T]: the sizes before the pooling, or `output_size`. N is optional."""
    rank = spatial_rank(c)
    require_known(c, "stride", stride)
    x = c.merge(input, indices, "indices must have the shape of the input")
    lead, channels, sizes = split_axes(c, x, rank)
    require_elements(c, (channels, *sizes))
    kernel = spatial_values(c, kernel_size, "kernel_size", rank, 1)
    strides = kernel if stride == () else spatial_values(c, stride, "stride", rank, 1)
    amounts = spatial_values(c, padding, "padding", rank)
    restored = [
        transposed_window_size(size, k, step, (amount, amount), 1)
        for size, k, step, amount in zip(sizes, kernel, strides, amounts, strict=True)
    ]
    if output_size != ():
        bounds = [(size - step + 1, size + step - 1) for size, step in zip(restored, strides, strict=True)]
        message = "output_size must differ from the default size by less than stride"
        restored = bounded_sizes(c, output_size, bounds, 2, message)
    else:
        for size in restored:
            c.at_least(size, 0, "the size of an output must not be negative")
    return Shape((*lead, channels, *restored))
