"""Convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.onnx.dialect import onnx
from opdefs.rules.operands import require_groups, require_single, require_vector
from opdefs.rules.scales import constrain_filter_scales, require_single_scale
from opdefs.rules.window import (
    Window,
    advise_no_cropping,
    describe_windows,
    pad_pairs,
    spatial_attribute,
    transposed_window_size,
    windows,
)
from shapeinf.expr import DimSize, minimum
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
    _match_kernel(c, kernel, window.kernel_shape)
    return Shape((samples, filters, *windows(c, sizes, kernel, window)))


def _match_kernel(c: InferenceContext, kernel: Sequence[DimSize], kernel_shape: Ints) -> None:
    """Require the attribute `kernel_shape`, if it is set, to equal the spatial axes of the weights."""
    for known, size in zip(kernel_shape, kernel, strict=False):
        c.merge(size, known, "kernel_shape must equal the spatial axes of w")


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
    """[N, C, *S], [M, C/group, *K] -> [N, M, *window(S)] in int32."""
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
    """[N, C, *S], [M, C/group, *K] -> [N, M, *window(S)] of quantized elements."""
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
    """[N, C, *S], [M, C/group, *K] -> [N, M, *T]; offsets [N, G*prod(K)*len(K), *T], a mask [N, G*prod(K), *T].

    T is the spatial sizes of the convolution, G is `offset_group`.
    """
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
    """[N, C, *S], [C, M/group, *K] -> [N, M, *T]: the sizes T of which a convolution with this window returns S."""
    x, w = _transposed_operands(c, x, w, window.kernel_shape)
    rank = len(w) - 2
    require_groups(c, w[0], group, "input channels w[0] must be divisible by group")
    kernel = window.kernel_shape and spatial_attribute(window.kernel_shape, rank, 1, c, "kernel_shape")
    _match_kernel(c, w[2:], kernel)
    channels = w[1] * group
    require_vector(c, b, channels, "the bias length must equal the output channels w[1] * group")
    if window.auto_pad not in ("", "NOTSET") and any(window.pads):
        c.fail("pads and auto_pad cannot both be set", window.auto_pad, window.pads)
    steps = spatial_attribute(window.strides, rank, 1, c, "strides")
    spread = spatial_attribute(window.dilations, rank, 1, c, "dilations")
    full = [
        transposed_window_size(size, kernel_size, step, (0, 0), dilation)
        for size, kernel_size, step, dilation in zip(x[2:], w[2:], steps, spread, strict=True)
    ]
    if output_shape:
        return Shape((x[0], channels, *_requested_transposed(c, full, steps, output_shape)))
    extra = spatial_attribute(output_padding, rank, 0, c, "output_padding")
    _constrain_output_padding(c, x[2:], extra, steps, spread)
    padded = [size + more for size, more in zip(full, extra, strict=True)]
    cropped, pairs = _crop_transposed(c, x[2:], padded, steps, window)
    describe_windows(c, cropped, w[2:], steps, pairs, spread)
    return Shape((x[0], channels, *cropped))


def _constrain_output_padding(
    c: InferenceContext, sizes: Sequence[DimSize], extra: Sequence[int], steps: Sequence[int], spread: Sequence[int]
) -> None:
    """Require that a convolution of the padded output returns the size of the input."""
    for size, more, step, dilation in zip(sizes, extra, steps, spread, strict=True):
        if more >= max(step, dilation, 1):
            c.fail("output_padding must be less than the stride or the dilation", more, step, dilation)
        if more:
            c.at_least(size, 1, "output_padding requires an input that is not empty")
            c.advise_at_most(more, step - 1, "onnxruntime requires an output_padding that is less than the stride")


def _transposed_operands(c: InferenceContext, x: Shape, w: Shape, kernel_shape: Ints) -> tuple[Shape, Shape]:
    """The input [N, C, *S] and the weights [C, M/group, *K], whose unknown ranks follow from one another."""
    if w.dims is None and kernel_shape:
        w = c.require_rank(w, 2 + len(kernel_shape), "w")
    if len(w) < 3:
        c.fail("a convolution requires weights [C, M/group, kernel...]: rank 3 or more", w)
    x = c.require_rank(x, len(w), "x")
    c.merge(x[1], w[0], "input channels x[1] must equal w[0]")
    return x, w


def _requested_transposed(
    c: InferenceContext, full: Sequence[DimSize], steps: Sequence[int], output_shape: Ints
) -> tuple[int, ...]:
    """The spatial sizes in `output_shape`; each is less than a stride above the size without padding."""
    requested = spatial_attribute(output_shape[-len(full) :], len(full), 0, c, "output_shape")
    for size, step, most in zip(full, steps, requested, strict=True):
        message = "a convolution of output_shape with the same window must return the size of the input"
        c.at_least(size + (step - 1), most, message)
    return requested


def _crop_transposed(
    c: InferenceContext, sizes: Sequence[DimSize], full: Sequence[DimSize], steps: Sequence[int], window: Window
) -> tuple[list[DimSize], list[tuple[int, int]] | None]:
    """The output sizes of a transposed convolution, cropped by its pads, and the pads; None for SAME padding."""
    same = window.auto_pad in ("SAME_UPPER", "SAME_LOWER")
    no_pads = same or window.auto_pad == "VALID"
    pairs = [(0, 0)] * len(full) if no_pads else pad_pairs(window.pads, len(full), c)
    cropped: list[DimSize] = []
    for size, total, step, (before, after) in zip(sizes, full, steps, pairs, strict=True):
        # SAME padding requests `size * stride`, but only crops: with a large stride the output is smaller
        rest = minimum(total, size * step) if same else total - before - after
        c.at_least(rest, 1, "the pads must leave at least one element of the output")
        cropped.append(rest)
    return cropped, None if same else pairs


@onnx("AveragePool", "LpPool")
def pool(c: InferenceContext, x: Shape, *, window: Window, ceil_mode: int = 0) -> Shape:
    """[N, C, *S] -> [N, C, *window(S)]."""
    kernel = window.kernel_shape
    if not kernel:
        c.fail("kernel_shape must have a size for each spatial axis")
    x = c.require_rank(x, len(kernel) + 2, "x")
    _advise_elements(c, x)
    return Shape((*x[:2], *windows(c, x[2:], kernel, window, bool(ceil_mode), must_fit=False)))


@onnx("MaxPool")
def max_pool(c: InferenceContext, x: Shape, *, window: Window, ceil_mode: int = 0) -> tuple[Shape, TensorType]:
    """[N, C, *S] -> [N, C, *window(S)] maxima and their indices."""
    shape = pool(c, x, window=window, ceil_mode=ceil_mode)
    advise_no_cropping(c, x, window)
    return shape, TensorType("int64", shape)


@onnx("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(c: InferenceContext, x: Shape) -> Shape:
    """[N, C, *S] -> [N, C, 1...]."""
    if len(x) < 2:
        c.fail("pooling requires [N, C, spatial...]: rank 2 or more", x)
    _advise_elements(c, x)
    return Shape((*x[:2], *(1 for _ in x[2:])))


def _advise_elements(c: InferenceContext, x: Shape) -> None:
    """Advise that onnxruntime rejects pooling of empty images; the batch may be empty."""
    for size in x[1:]:
        if not isinstance(size, int) or size < 1:
            c.advise_at_most(1, size, "some runtimes reject pooling of empty images")
