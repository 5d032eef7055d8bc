"""Convolutions: torch's modules, whose attributes state the channels, and functions, whose weights do."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.pnnx.dialect import pnnx
from opdefs.pnnx.pad import pad_axis
from opdefs.pnnx.spatial import bounded_sizes, spatial_rank, spatial_values, split_axes
from opdefs.rules.operands import require_elements, require_vector
from opdefs.rules.window import Window, describe_windows, transposed_window_size, window_span, windows
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@attrs.frozen
class Convolution:
    """The attributes that modules and functions share; `padding` is a size per spatial axis, "same" or "valid"."""

    stride: object = 1
    padding: object = 0
    dilation: object = 1
    groups: int = 1


@pnnx("nn.Conv1d", "nn.Conv2d", "nn.Conv3d", "nn.quantized.Conv2d", "nn.intrinsic.quantized.ConvReLU2d")
def conv_module(
    c: InferenceContext,
    input: Shape,
    weight: Shape | None = None,
    bias: Shape | None = None,
    *,
    in_channels: int,
    out_channels: int,
    kernel_size: object,
    convolution: Convolution,
    padding_mode: str = "zeros",
) -> Shape:
    """[N, C, *S] or [C, *S], [K, C/groups, *W] -> [N, K, *T] or [K, *T]."""
    kernel = spatial_values(c, kernel_size, "kernel_size", spatial_rank(c), 1)
    groups = _read_groups(c, convolution.groups)
    if in_channels % groups:
        c.fail("groups must divide in_channels", in_channels, groups)
    weights = Shape((out_channels, in_channels // groups, *kernel))
    if weight is not None:
        weights = c.merge(weight, weights, "the weight must be [out_channels, in_channels / groups, *kernel_size]")
    return conv(c, input, weights, bias, convolution=convolution, padding_mode=padding_mode)


@pnnx("F.conv1d", "F.conv2d", "F.conv3d")
def conv(
    c: InferenceContext,
    input: Shape,
    weight: Shape,
    bias: Shape | None = None,
    *,
    convolution: Convolution,
    padding_mode: str = "zeros",
) -> Shape:
    """[N, C, *S] or [C, *S], [K, C/groups, *W] -> [N, K, *T] or [K, *T]."""
    return convolve(c, spatial_rank(c), input, weight, bias, convolution, padding_mode)


def convolve(
    c: InferenceContext,
    rank: int,
    input: Shape,
    weight: Shape,
    bias: Shape | None,
    convolution: Convolution,
    padding_mode: str = "zeros",
) -> Shape:
    """As `conv`, with `rank` spatial axes."""
    w = c.require_rank(weight, rank + 2, "weight")
    lead, channels, sizes = split_axes(c, input, rank)
    groups = _read_groups(c, convolution.groups)
    c.merge(channels, w[1] * groups, "the channels of the input must equal weight.shape[1] * groups")
    c.divisible(w[0], groups, "groups must divide the output channels")
    _check_weight(c, w)
    require_vector(c, bias, w[0], "the bias must have one element for each output channel")
    return Shape((*lead, w[0], *_conv_sizes(c, sizes, w.require()[2:], convolution, padding_mode)))


def _read_groups(c: InferenceContext, groups: int) -> int:
    if groups < 1:
        c.fail("groups must be at least 1", groups)
    return groups


def _check_weight(c: InferenceContext, weight: Shape) -> None:
    """Require a weight that is not empty, but for its second axis."""
    for size in (weight[0], *weight[2:]):
        c.at_least(size, 1, "the first axis and the spatial axes of the weight must not be empty")


def _conv_sizes(
    c: InferenceContext,
    sizes: Sequence[DimSize],
    kernel: Sequence[DimSize],
    convolution: Convolution,
    padding_mode: str,
) -> tuple[DimSize, ...]:
    """The sizes of the output along the spatial axes."""
    require_elements(c, sizes)
    strides = spatial_values(c, convolution.stride, "stride", len(sizes), 1)
    dilations = spatial_values(c, convolution.dilation, "dilation", len(sizes), 1)
    if convolution.padding == "same":
        if any(stride != 1 for stride in strides):
            c.fail("padding=same requires a stride of 1", strides)
        totals = [window_span(k, dilation) - 1 for k, dilation in zip(kernel, dilations, strict=True)]
        _check_padding(c, sizes, [(total // 2, total - total // 2) for total in totals], padding_mode)
        return tuple(sizes)
    padding = 0 if convolution.padding == "valid" else convolution.padding
    amounts = spatial_values(c, padding, "padding", len(sizes))
    _check_padding(c, sizes, [(amount, amount) for amount in amounts], padding_mode)
    return windows(c, sizes, kernel, Window(strides=strides, pads=amounts * 2, dilations=dilations))


def _check_padding(
    c: InferenceContext, sizes: Sequence[DimSize], pads: Sequence[tuple[DimSize, DimSize]], padding_mode: str
) -> None:
    """Require axes that are long enough for padding that repeats their elements."""
    if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
        c.fail("padding_mode must be zeros, reflect, replicate or circular", padding_mode)
    if padding_mode != "zeros":
        for size, (before, after) in zip(sizes, pads, strict=True):
            pad_axis(c, size, before, after, padding_mode)


@attrs.frozen
class Transposed(Convolution):
    """The attributes of a transposed convolution: those of the inverse convolution, and `output_padding`."""

    output_padding: object = 0


@pnnx("nn.ConvTranspose1d", "nn.ConvTranspose2d", "nn.ConvTranspose3d")
def conv_transpose_module(
    c: InferenceContext,
    input: Shape,
    weight: Shape | None = None,
    bias: Shape | None = None,
    *,
    in_channels: int,
    out_channels: int,
    kernel_size: object,
    output_size: object = (),
    convolution: Transposed,
) -> Shape:
    """[N, C, *S] or [C, *S], [C, K/groups, *W] -> [N, K, *T] or [K, *T]; `output_size` replaces `output_padding`."""
    kernel = spatial_values(c, kernel_size, "kernel_size", spatial_rank(c), 1)
    groups = _read_groups(c, convolution.groups)
    if out_channels % groups:
        c.fail("groups must divide out_channels", out_channels, groups)
    weights = Shape((in_channels, out_channels // groups, *kernel))
    if weight is not None:
        weights = c.merge(weight, weights, "the weight must be [in_channels, out_channels / groups, *kernel_size]")
    if output_size == ():
        return conv_transpose(c, input, weights, bias, convolution=convolution)
    least = conv_transpose(c, input, weights, bias, convolution=attrs.evolve(convolution, output_padding=0))
    rank = len(kernel)
    strides = spatial_values(c, convolution.stride, "stride", rank, 1)
    bounds = [(size, size + step - 1) for size, step in zip(least[-rank:], strides, strict=True)]
    message = "output_size must exceed the size without output_padding by less than a stride"
    return Shape((*least[:-rank], *bounded_sizes(c, output_size, bounds, len(least) - rank, message)))


@pnnx("F.conv_transpose1d", "F.conv_transpose2d", "F.conv_transpose3d")
def conv_transpose(
    c: InferenceContext, input: Shape, weight: Shape, bias: Shape | None = None, *, convolution: Transposed
) -> Shape:
    """[N, C, *S] or [C, *S], [C, K/groups, *W] -> [N, K, *T] or [K, *T]."""
    return convolve_transposed(c, spatial_rank(c), input, weight, bias, convolution)


def convolve_transposed(
    c: InferenceContext, rank: int, input: Shape, weight: Shape, bias: Shape | None, convolution: Transposed
) -> Shape:
    """As `conv_transpose`, with `rank` spatial axes."""
    w = c.require_rank(weight, rank + 2, "weight")
    lead, channels, sizes = split_axes(c, input, rank)
    groups = _read_groups(c, convolution.groups)
    c.merge(channels, w[0], "the channels of the input must equal weight.shape[0]")
    c.divisible(w[0], groups, "groups must divide the input channels")
    _check_weight(c, w)
    c.at_least(w[1], 1, "no axis of the weight may be empty")
    require_vector(c, bias, w[1] * groups, "the bias must have one element for each output channel")
    return Shape((*lead, w[1] * groups, *_transposed_sizes(c, sizes, w.require()[2:], convolution)))


def _transposed_sizes(
    c: InferenceContext, sizes: Sequence[DimSize], kernel: Sequence[DimSize], convolution: Transposed
) -> list[DimSize]:
    """The sizes of the output of a transposed convolution along the spatial axes."""
    rank = len(sizes)
    require_elements(c, sizes)
    strides = spatial_values(c, convolution.stride, "stride", rank, 1)
    dilations = spatial_values(c, convolution.dilation, "dilation", rank, 1)
    padding = spatial_values(c, convolution.padding, "padding", rank)
    extra = spatial_values(c, convolution.output_padding, "output_padding", rank)
    if any(e >= max(s, d) for e, s, d in zip(extra, strides, dilations, strict=True)):
        c.fail("output_padding must be less than the larger of stride and dilation", extra, strides, dilations)
    result = []
    for size, k, stride, amount, dilation, more in zip(sizes, kernel, strides, padding, dilations, extra, strict=True):
        grown = transposed_window_size(size, k, stride, (amount, amount), dilation) + more
        c.at_least(grown, 1, "the padding must leave at least one element of the output")
        result.append(grown)
    describe_windows(c, result, kernel, strides, [(amount, amount) for amount in padding], dilations)
    return result


@pnnx("torchvision.ops.DeformConv2d")
def deform_conv(
    c: InferenceContext,
    input: Shape,
    offset: Shape,
    mask: Shape | None = None,
    weight: Shape | None = None,
    bias: Shape | None = None,
    *,
    in_channels: int,
    out_channels: int,
    kernel_size: object,
    convolution: Convolution,
) -> Shape:
    """[N, C, H, W], offsets [N, 2*G*P, *T], a mask [N, G*P, *T] -> [N, K, *T] for windows of P points and any G."""
    kernel = spatial_values(c, kernel_size, "kernel_size", 2, 1)
    points = kernel[0] * kernel[1]
    result = conv_module(
        c,
        c.require_rank(input, 4),
        weight,
        bias,
        in_channels=in_channels,
        out_channels=out_channels,
        kernel_size=kernel,
        convolution=convolution,
    )
    for values, count, name in ((offset, 2 * points, "offset"), (mask, points, "mask")):
        if values is not None:
            n, rows, *sizes = c.require_rank(values, 4, name)
            c.divisible(
                rows, count, f"axis 1 of {name} must be divisible by {count} for the {points} points of the window"
            )
            message = f"{name} must have the batch size and the spatial sizes of the output"
            c.merge(Shape((n, *sizes)), Shape((result[0], *result[2:])), message)
    return result
