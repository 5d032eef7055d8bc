"""Convolutions."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.operands import one_value, vector
from opdefs.rules.quantization import one_scale, tell_filter_scales
from opdefs.rules.window import Window, pad_pairs, spatial, window_span, windows
from shapeinf.expr import Dim, minimum
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Ints


@onnx("Conv")
def conv(
    c: InferenceContext,
    x: Shape,
    w: Shape,
    b: Shape | None = None,
    *,
    window: Window,
    group: int = 1,
) -> Shape:
    """[N, C, *S], [M, C/group, *K] -> [N, M, *window(S)]; the weights fix an unknown rank and channel count."""
    x = c.require_rank(x, len(w), "x")
    if len(w) < 3:
        c.fail("a convolution needs [N, C, spatial...]: rank 3 or more", x)
    c.merge(x[1], w[1] * group, "input channels x[1] must equal w[1] * group")
    tell_groups(c, w[0], group, "the groups must be of equally many output channels w[0]")
    vector(c, b, w[0], "the bias length must equal the output channels w[0]")
    for known, size in zip(window.kernel_shape, w[2:], strict=False):
        c.merge(size, known, "kernel_shape must equal the spatial axes of w")
    return Shape((x[0], w[0], *windows(c, x[2:], w[2:], window)))


def tell_groups(c: InferenceContext, channels: Dim, group: int, message: str) -> None:
    """Tell that channels fall into groups of equal size."""
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
    one_value(c, x_zero, "x_zero_point must be one value")
    tell_filter_scales(c, w, w_zero, "w_zero_point")
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
    one_scale(c, x_scale, x_zero, "x")
    one_scale(c, y_scale, y_zero, "y")
    for v, name in ((w_scale, "w_scale"), (w_zero, "w_zero_point")):
        tell_filter_scales(c, w, v, name)
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
    """A convolution whose sampling places move: offset [N, groups*prod(K)*len(K), *T], mask [N, groups*prod(K), *T]."""
    result = conv(c, x, w, b, window=window, group=group)
    places = c.numel(w[2:]) * offset_group
    message = "there must be an offset (and a mask) for every place of the kernel in every window"
    c.merge(offset, Shape((result[0], places * (len(w) - 2), *result[2:])), message)
    if mask is not None:
        c.merge(mask, Shape((result[0], places, *result[2:])), message)
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
        c.fail("a convolution needs weights [C, M/group, kernel...]: rank 3 or more", w)
    x = c.require_rank(x, len(w), "x")
    rank = len(w) - 2
    c.merge(x[1], w[0], "input channels x[1] must equal w[0]")
    tell_groups(c, w[0], group, "the groups must be of equally many input channels w[0]")
    for known, size in zip(spatial(kernel, rank, 1, c, "kernel_shape") if kernel else (), w[2:], strict=False):
        c.merge(size, known, "kernel_shape must equal the spatial axes of w")
    channels = w[1] * group
    vector(c, b, channels, "the bias must hold one value an output channel, w[1] * group")
    if auto_pad not in ("", "NOTSET") and any(window.pads):
        c.fail("pads and auto_pad cannot both be given", auto_pad, window.pads)
    steps = spatial(window.strides, rank, 1, c, "strides")
    spread = spatial(window.dilations, rank, 1, c, "dilations")
    if output_shape:
        wanted = spatial(output_shape[-rank:], rank, 0, c, "output_shape")
        for size, kernel_size, step, dilation, most in zip(x[2:], w[2:], steps, spread, wanted, strict=True):
            whole = (size - 1) * step + window_span(kernel_size, dilation)
            message = "a convolution of output_shape with the same window must give the size of the input"
            c.at_least(whole + (step - 1), most, message)
        return Shape((x[0], channels, *wanted))
    extra = spatial(output_padding, rank, 0, c, "output_padding")
    same = auto_pad in ("SAME_UPPER", "SAME_LOWER")
    pairs = [(0, 0)] * rank if same or auto_pad == "VALID" else pad_pairs(window.pads, rank, c)
    sizes: list[Dim] = []
    for i, size in enumerate(x[2:]):
        span = window_span(w[2 + i], spread[i])
        whole = (size - 1) * steps[i] + extra[i] + span
        # padding called SAME makes `size * stride` of it; it only takes away, so a large stride leaves less
        left = minimum(whole, size * steps[i]) if same else whole - pairs[i][0] - pairs[i][1]
        c.at_least(left, 1, "the pads must leave something of the output")
        sizes.append(left)
    return Shape((x[0], channels, *sizes))
