"""Convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.onnx.dialect import onnx
from opdefs.rules.operands import constrain_filter_scales, require_single, require_single_scale, require_vector
from opdefs.rules.window import (
    Window,
    advise_no_cropping,
    describe_windows,
    pad_pairs,
    spatial_attribute,
    transposed_window_size,
    windows,
)
from shapeinf.expr import Dim, minimum
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Ints


@onnx("Conv")
def conv(c: InferenceContext, x: Shape, w: Shape, b: Shape | None = None, *, window: Window, group: int = 1) -> Shape:
    """[N, C, *S], [M, C/group, *K] -> [N, M, *window(S)]; the weights fix an unknown rank and channel count."""
    x = c.require_rank(x, len(w), "x")
    if len(w) < 3:
        c.fail("a convolution requires [N, C, spatial...]: rank 3 or more", x)
    samples, channels, *sizes = x.require()
    filters, channels_of_group, *kernel = w.require()
    c.merge(channels, channels_of_group * group, "input channels x[1] must equal w[1] * group")
    require_groups(c, filters, group, "output channels w[0] must be divisible by group")
    require_vector(c, b, filters, "the bias length must equal the output channels w[0]")
    for known, size in zip(window.kernel_shape, kernel, strict=False):
        c.merge(size, known, "kernel_shape must equal the spatial axes of w")
    return Shape((samples, filters, *windows(c, sizes, kernel, window)))


def require_groups(c: InferenceContext, channels: Dim, group: int, message: str) -> None:
    """Require groups of equal size."""
    if group < 1:
        c.fail("group must be at least 1", group)
    if group > 1:
        c.divisible(channels, group, message)


@onnx("ConvInteger")
def conv_integer(
    c: InferenceContext,
    x: Shape,
    w: Shape,
    x_zero: Shape | None = None,
    w_zero: Shape | None = None,
    *,
    window: Window,
    group: int = 1,
) -> TensorType:
    """A convolution of integers, summed in int32."""
    shape = conv(c, x, w, window=window, group=group)
    require_single(c, x_zero, "x_zero_point must have exactly one element")
    constrain_filter_scales(c, w, w_zero, "w_zero_point")
    return TensorType("int32", shape)


@onnx("QLinearConv")
def qlinear_conv(
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
) -> TensorType:
    """A convolution of quantized tensors."""
    shape = conv(c, x, w, b, window=window, group=group)
    require_single_scale(c, x_scale, x_zero, "x")
    require_single_scale(c, y_scale, y_zero, "y")
    for v, name in ((w_scale, "w_scale"), (w_zero, "w_zero_point")):
        constrain_filter_scales(c, w, v, name)
    return TensorType(c.dtype(7), shape)


@onnx("DeformConv")
def deform_conv(
    c: InferenceContext,
    x: Shape,
    w: Shape,
    offset: Shape,
    b: Shape | None = None,
    mask: Shape | None = None,
    *,
    window: Window,
    group: int = 1,
    offset_group: int = 1,
) -> Shape:
    """A convolution with offsets [N, groups*prod(K)*len(K), *T] and a mask [N, groups*prod(K), *T]."""
    result = conv(c, x, w, b, window=window, group=group)
    points = c.numel(w[2:]) * offset_group
    message = "offset and mask must have a value for each kernel element of each window"
    c.merge(offset, Shape((result[0], points * (len(w) - 2), *result[2:])), message)
    if mask is not None:
        c.merge(mask, Shape((result[0], points, *result[2:])), message)
    return result


@onnx("ConvTranspose")
def conv_transpose(
    c: InferenceContext,
    x: Shape,
    w: Shape,
    b: Shape | None = None,
    *,
    window: Window,
    group: int = 1,
    output_padding: Ints = (),
    output_shape: Ints = (),
) -> Shape:
    """[N, C, *S], [C, M/group, *K] -> [N, M, *T]: the inverse of a convolution's sizes."""
    kernel, auto_pad = window.kernel_shape, window.auto_pad
    if w.dims is None and kernel:
        w = c.require_rank(w, 2 + len(kernel), "w")
    if len(w) < 3:
        c.fail("a convolution requires weights [C, M/group, kernel...]: rank 3 or more", w)
    x = c.require_rank(x, len(w), "x")
    rank = len(w) - 2
    c.merge(x[1], w[0], "input channels x[1] must equal w[0]")
    require_groups(c, w[0], group, "input channels w[0] must be divisible by group")
    for known, size in zip(
        spatial_attribute(kernel, rank, 1, c, "kernel_shape") if kernel else (), w[2:], strict=False
    ):
        c.merge(size, known, "kernel_shape must equal the spatial axes of w")
    channels = w[1] * group
    require_vector(c, b, channels, "the bias length must equal the output channels w[1] * group")
    if auto_pad not in ("", "NOTSET") and any(window.pads):
        c.fail("pads and auto_pad cannot both be set", auto_pad, window.pads)
    steps = spatial_attribute(window.strides, rank, 1, c, "strides")
    spread = spatial_attribute(window.dilations, rank, 1, c, "dilations")
    full = [
        transposed_window_size(size, kernel_size, step, (0, 0), dilation)
        for size, kernel_size, step, dilation in zip(x[2:], w[2:], steps, spread, strict=True)
    ]
    if not output_shape:
        extra = spatial_attribute(output_padding, rank, 0, c, "output_padding")
        padded = [size + more for size, more in zip(full, extra, strict=True)]
        cropped, pairs = _crop_transposed(c, x[2:], padded, steps, window)
        describe_windows(c, cropped, w[2:], steps, pairs, spread)
        return Shape((x[0], channels, *cropped))
    wanted = spatial_attribute(output_shape[-rank:], rank, 0, c, "output_shape")
    for size, step, most in zip(full, steps, wanted, strict=True):
        message = "a convolution of output_shape with the same window must give the size of the input"
        c.at_least(size + (step - 1), most, message)
    return Shape((x[0], channels, *wanted))


def _crop_transposed(
    c: InferenceContext, sizes: Sequence[Dim], full: Sequence[Dim], steps: Sequence[int], window: Window
) -> tuple[list[Dim], list[tuple[int, int]] | None]:
    """The full output sizes of a transposed convolution, cropped by its padding; and the pads, None for SAME ones."""
    same = window.auto_pad in ("SAME_UPPER", "SAME_LOWER")
    no_pads = same or window.auto_pad == "VALID"
    pairs = [(0, 0)] * len(full) if no_pads else pad_pairs(window.pads, len(full), c)
    cropped: list[Dim] = []
    for size, total, step, (before, after) in zip(sizes, full, steps, pairs, strict=True):
        # SAME padding gives `size * stride`, but it only crops: with a large stride the output is smaller
        left = minimum(total, size * step) if same else total - before - after
        c.at_least(left, 1, "the pads must leave at least one element of the output")
        cropped.append(left)
    return cropped, None if same else pairs


@onnx("AveragePool", "LpPool")
def pool(c: InferenceContext, x: Shape, *, window: Window, ceil_mode: int = 0) -> Shape:
    """[N, C, *S] -> [N, C, *window(S)]."""
    kernel = window.kernel_shape
    if not kernel:
        c.fail("the required attribute 'kernel_shape' is missing")
    x = c.require_rank(x, len(kernel) + 2, "x")
    _advise_elements(c, x)
    return Shape((*x[:2], *windows(c, x[2:], kernel, window, bool(ceil_mode), must_fit=False)))


@onnx("MaxPool")
def max_pool(c: InferenceContext, x: Shape, *, window: Window, ceil_mode: int = 0) -> tuple[Shape, TensorType]:
    """[N, C, *S] -> [N, C, *window(S)], and the indices of the maxima."""
    shape = pool(c, x, window=window, ceil_mode=ceil_mode)
    advise_no_cropping(c, x, window)
    return shape, TensorType("int64", shape)


@onnx("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(c: InferenceContext, x: Shape) -> Shape:
    """[N, C, *S] -> [N, C, 1...]."""
    if len(x) < 2:
        c.fail("pooling requires [N, C, spatial...]", x)
    _advise_elements(c, x)
    return Shape((*x[:2], *(1 for _ in x[2:])))


def _advise_elements(c: InferenceContext, x: Shape) -> None:
    """Advise that onnxruntime rejects pooling of empty images; the batch may be empty."""
    for size in x[1:]:
        if not isinstance(size, int) or size < 1:
            c.advise_at_most(1, size, "some runtimes reject pooling of empty images")
