"""Convolutions: torch's modules, which state their channels, and functions, which have them from the weights."""

from __future__ import annotations

import attrs

from opdefs.pnnx.dialect import pnnx
from opdefs.rules.numbers import check_count, read_ints
from opdefs.rules.operands import require_vector
from opdefs.rules.window import Window, same_size, windows
from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@attrs.frozen
class Convolution:
    """The attributes that modules and functions share; `padding` may be "same" or "valid"."""

    stride: object = 1
    padding: object = 0
    dilation: object = 1
    groups: int = 1


@pnnx("nn.Conv1d", "nn.Conv2d", "nn.Conv3d")
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
) -> Shape:
    """[N, C, *S] or [C, *S] -> [N, K, *T] or [K, *T]."""
    kernel = spatial_values(c, kernel_size, "kernel_size", spatial_rank(c))
    weights = Shape((out_channels, in_channels // max(convolution.groups, 1), *kernel))
    if weight is not None:
        weights = c.merge(weight, weights, "the weight must be [out_channels, in_channels / groups, *kernel_size]")
    return conv(c, input, weights, bias, convolution=convolution)


@pnnx("F.conv1d", "F.conv2d", "F.conv3d")
def conv(
    c: InferenceContext, input: Shape, weight: Shape, bias: Shape | None = None, *, convolution: Convolution
) -> Shape:
    """[N, C, *S] or [C, *S] and [K, C/groups, *W] -> [N, K, *T] or [K, *T]."""
    rank = spatial_rank(c)
    w = c.require_rank(weight, rank + 2, "weight")
    lead, channels, sizes = split_axes(c, input, rank)
    groups = convolution.groups
    if groups < 1:
        c.fail("groups must be at least 1", groups)
    c.merge(channels, w[1] * groups, "the channels of the input must equal weight.shape[1] * groups")
    c.divisible(w[0], groups, "groups must divide the output channels")
    require_vector(c, bias, w[0], "the bias must have one element for each output channel")
    return Shape((*lead, w[0], *_convolved(c, sizes, w.require()[2:], convolution)))


def _convolved(
    c: InferenceContext, sizes: tuple[Dim, ...], kernel: tuple[Dim, ...], convolution: Convolution
) -> tuple[Dim, ...]:
    """The sizes of the output along the spatial axes."""
    rank = len(sizes)
    strides = spatial_values(c, convolution.stride, "stride", rank)
    if convolution.padding == "same":
        if any(stride != 1 for stride in strides):
            c.fail("padding=same needs a stride of 1", strides)
        return tuple(same_size(d, 1) for d in sizes)
    amounts = (0,) * rank if convolution.padding == "valid" else spatial_values(c, convolution.padding, "padding", rank)
    dilations = spatial_values(c, convolution.dilation, "dilation", rank)
    window = Window(strides=strides, pads=amounts * 2, dilations=dilations)
    return windows(c, sizes, kernel, window)


def spatial_rank(c: InferenceContext) -> int:
    """The number of spatial axes in the name of an operator, such as 2 of `nn.Conv2d`."""
    return int(c.op_def.name[-2])


def spatial_values(c: InferenceContext, values: object, name: str, rank: int) -> tuple[int, ...]:
    """One integer for each spatial axis; a single one stands for all."""
    listed = read_ints(c, values, name)
    if len(listed) == 1:
        return listed * rank
    check_count(c, listed, name, rank, "spatial axis")
    return listed


def split_axes(c: InferenceContext, input: Shape, rank: int) -> tuple[tuple[Dim, ...], Dim, tuple[Dim, ...]]:
    """The batch axis, which may be missing, the channels and the spatial sizes of an input."""
    if input.dims is None:
        raise c.unknowable("the input may have a batch axis or not")
    if len(input.dims) not in (rank + 1, rank + 2):
        c.fail(f"the input must have rank {rank + 1} or {rank + 2}", input)
    lead = len(input.dims) - rank - 1
    return input.dims[:lead], input.dims[lead], input.dims[lead + 1 :]
