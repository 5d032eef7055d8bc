"""Convolution and pooling: fused, channels last, dynamic padding, and the blocked channels of `com.microsoft.nchwc`."""

from __future__ import annotations

import attrs

from opdefs.microsoft.dialect import MS, NCHWC, onnx
from opdefs.onnx import conv as base
from opdefs.onnx.conv import global_pool, pool
from opdefs.rules.contents.elements import known_ints
from opdefs.rules.operands import require_vector
from opdefs.rules.window import Window
from shapeinf.expr import DimSize, ceildiv
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Ints, Value


def move_channels_first(x: Shape) -> Shape:
    """[N, *S, C] -> [N, C, *S].

    >>> move_channels_first(Shape((1, 8, 9, 3)))
    Shape([1, 3, 8, 9])
    """
    dims = x.require()
    return Shape((*dims[:1], *dims[-1:], *dims[1:-1])) if len(dims) > 1 else x


def move_channels_last(x: Shape) -> Shape:
    """[N, C, *S] -> [N, *S, C].

    >>> move_channels_last(Shape((1, 3, 8, 9)))
    Shape([1, 8, 9, 3])
    """
    dims = x.require()
    return Shape((*dims[:1], *dims[2:], *dims[1:2]))


@onnx("FusedConv", domain=MS)
def fused_conv(
    c: InferenceContext,
    x: Shape,
    w: Shape,
    b: Shape | None = None,
    z: Shape | None = None,
    *,
    window: Window,
    group: int = 1,
) -> Shape:
    """[N, C, *S], [M, C/group, *K], [M], Z [N, M, *T] -> [N, M, *T] with T = window(S); Z is added to the result."""
    result = base.conv(c, x, w, b, window=window, group=group)
    return result if z is None else c.merge(result, z, "Z must have the shape of the result")


@onnx("NhwcConv", "NhwcFusedConv", domain=MS)
def channels_last_conv(
    c: InferenceContext,
    x: Shape,
    w: Shape,
    b: Shape | None = None,
    z: Shape | None = None,
    *,
    window: Window,
    group: int = 1,
) -> Shape:
    """[N, *S, C], [M, C/group, *K], [M], Z [N, *T, M] -> [N, *T, M] with T = window(S); Z is added to the result."""
    x = c.require_rank(x, len(w), "X")
    result = fused_conv(c, move_channels_first(x), w, b, window=window, group=group)
    last = move_channels_last(result)
    return last if z is None else c.merge(last, z, "Z must have the shape of the result")


@onnx("QLinearConv", domain=MS)
def quantized_conv(
    c: InferenceContext,
    x: Shape,
    x_scale: Shape,
    x_zero: Shape,
    w: Shape,
    w_scale: Shape,
    w_zero: Shape,
    y_scale: Shape,
    y_zero: Shape,
    b: Shape | None = None,
    *,
    window: Window,
    group: int = 1,
    channels_last: int = 0,
) -> TensorType:
    """[N, C, *S], [M, C/group, *K] -> [N, M, *window(S)] of quantized elements, or [N, *S, C] -> [N, *window(S), M]."""
    if channels_last:
        x = move_channels_first(c.require_rank(x, len(w), "x"))
    operands = x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b
    result = base.qlinear_conv(c, *operands, window=window, group=group)
    return TensorType(result.dtype, move_channels_last(result.shape)) if channels_last else result


@onnx("ConvTransposeWithDynamicPads", domain=MS)
def conv_transpose_with_dynamic_pads(
    c: InferenceContext,
    x: Shape,
    w: Shape,
    pads: Value | None = None,
    b: Shape | None = None,
    *,
    window: Window,
    group: int = 1,
    output_padding: Ints = (),
) -> Shape:
    """[N, C, *S], [C, M/group, *K] -> [N, M, *T]; T is unknown where the contents of `Pads` are."""
    if pads is not None:
        require_vector(c, pads.shape, 2 * (len(w) - 2), "Pads must have a begin and an end for each spatial axis")
    known = known_ints(pads) if pads is not None else ()
    padded = attrs.evolve(window, pads=known or ())
    result = base.conv_transpose(c, x, w, b, window=padded, group=group, output_padding=output_padding)
    if known is not None:
        return result
    return Shape((*result[:2], *(c.fresh(f"size.{i}") for i in range(len(result) - 2))))


@onnx("NhwcMaxPool", domain=MS)
def channels_last_max_pool(c: InferenceContext, x: Shape, *, window: Window, ceil_mode: int = 0) -> Shape:
    """[N, *S, C] -> [N, *window(S), C]."""
    x = c.require_rank(x, len(window.kernel_shape) + 2, "x")
    return move_channels_last(pool(c, move_channels_first(x), window=window, ceil_mode=ceil_mode))


@onnx("MaxpoolWithMask", domain=MS)
def max_pool_with_mask(c: InferenceContext, x: Shape, mask: Shape, *, window: Window) -> Shape:
    """[N, C, *S], a mask [*, *, *S] -> [N, C, *window(S)]."""
    if mask.dims is not None:
        c.same_rank(x, mask)
        c.merge(Shape(x[2:]), Shape(mask[2:]), "M must have the spatial sizes of X")
    return pool(c, x, window=window)


BLOCKS = (4, 8, 16)
"""The sizes that a block of channels may have; the machine determines which one."""

onnx("Conv", domain=NCHWC)(fused_conv)
onnx("MaxPool", "AveragePool", domain=NCHWC)(pool)
onnx("GlobalAveragePool", "GlobalMaxPool", domain=NCHWC)(global_pool)


@onnx("ReorderInput", domain=NCHWC)
def reorder_input(c: InferenceContext, x: Shape, *, channels_last: int = 0) -> Shape:
    """[N, C, H, W] (or [N, H, W, C] with `channels_last`) -> [N, padded(C), H, W]."""
    x = c.require_rank(x, 4, "X")
    n, channels, *sizes = move_channels_first(x) if channels_last else x
    return Shape((n, _pad_channels(c, channels), *sizes))


def _pad_channels(c: InferenceContext, channels: DimSize) -> DimSize:
    """The channels rounded up to blocks; a new unknown where this depends on the size of a block."""
    low, *_, high = (ceildiv(channels, block) * block for block in BLOCKS)
    if c.prove_eq(low, high) is True:
        return low
    return c.fresh("channels", c.interval(low).lo, c.interval(high).hi)


@onnx("ReorderOutput", domain=NCHWC)
def reorder_output(c: InferenceContext, x: Shape, *, channels: int = 0, channels_last: int = 0) -> Shape:
    """[N, padded(C), H, W] -> [N, C, H, W], or [N, H, W, C] with `channels_last`."""
    x = c.require_rank(x, 4, "X")
    if channels < 1:
        c.fail("channels must be at least 1", channels)
    c.at_least(x[1], channels, "channels must be at most X[1], the padded channels")
    result = Shape((x[0], channels, x[2], x[3]))
    return move_channels_last(result) if channels_last else result


@onnx("Upsample", domain=NCHWC)
def blocked_upsample(c: InferenceContext, x: Shape, *, scales: Ints = ()) -> Shape:
    """[N, C, H, W] -> [N*s0, C*s1, H*s2, W*s3] for the four `scales`."""
    x = c.require_rank(x, 4, "X")
    if scales and (len(scales) != 4 or min(scales) < 1):
        c.fail("scales must have 4 items of at least 1", scales)
    return Shape(d * s for d, s in zip(x, scales or (1, 1, 1, 1), strict=True))
