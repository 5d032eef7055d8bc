"""Convolution and pooling: fused, channels last, with amounts of padding that are an input."""

from __future__ import annotations

import attrs

from opdefs.microsoft.dialect import MS, onnx
from opdefs.microsoft.layout import channels_first, channels_last_again
from opdefs.onnx import conv as base
from opdefs.onnx.pool import pool
from opdefs.rules.elements import known_ints
from opdefs.rules.operands import vector
from opdefs.rules.quantization import one_scale, tell_filter_scales
from opdefs.rules.window import Window
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Ints, Value


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
    """[N, C, *S], [M, C/group, *K] -> [N, M, *window(S)]; `Z` is added to the result and has its shape."""
    result = base.conv(
        c,
        x,
        w,
        b,
        window=window,
        group=group,
    )
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
    """[N, *S, C], [M, C/group, *K] -> [N, *window(S), M]; `Z` is added to the result and has its shape."""
    x = c.require_rank(x, len(w), "X")
    result = fused_conv(
        c,
        channels_first(x),
        w,
        b,
        window=window,
        group=group,
    )
    last = channels_last_again(result)
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
    """A convolution of quantized tensors, [N, C, *S] or [N, *S, C]."""
    convolve = channels_last_conv if channels_last else fused_conv
    shape = convolve(
        c,
        x,
        w,
        b,
        window=window,
        group=group,
    )
    one_scale(c, x_scale, x_zero, "x")
    one_scale(c, y_scale, y_zero, "y")
    for v, name in ((w_scale, "w_scale"), (w_zero, "w_zero_point")):
        tell_filter_scales(c, w, v, name)
    return TensorType(c.dtype(7), shape)


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
    """[N, C, *S], [C, M/group, *K] -> [N, M, *T]; T is open where the contents of `Pads` are not known."""
    if pads is not None:
        vector(c, pads.shape, 2 * (len(w) - 2), "Pads must hold a begin and an end for each spatial axis")
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
    return channels_last_again(pool(c, channels_first(x), window=window, ceil_mode=ceil_mode))


@onnx("MaxpoolWithMask", domain=MS)
def max_pool_with_mask(c: InferenceContext, x: Shape, mask: Shape, *, window: Window) -> Shape:
    """[N, C, *S] and a mask -> [N, C, *window(S)]."""
    if mask.dims is not None:
        c.same_rank(x, mask)
        c.merge(Shape(x[2:]), Shape(mask[2:]), "the mask must have the spatial axes of the input")
    return pool(c, x, window=window)
