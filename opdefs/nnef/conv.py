"""Convolutions (chapter 4.3): [N, C, spatial...] with filters [K, C/groups, window...]."""

from __future__ import annotations

from opdefs.nnef.dialect import nnef
from opdefs.nnef.laws import Listed, fitted, int_of, ints_of, of_one_rank
from opdefs.nnef.sliding import Sliding, slid, unslid
from shapeinf.expr import Dim
from shapeinf.formats.nnef.versions import TRACT
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@nnef("conv")
def conv(
    c: InferenceContext, input: Shape, filter: Shape, bias: Shape | None = None, *, sliding: Sliding, groups: int = 1
) -> Shape:
    """[N, C, *S], [K, C/groups, *W] -> [N, K, *slid(S)]; groups = 0 stands for C."""
    x, w = _operands(c, input, filter, "filter")
    count = _group_count(c, groups)
    if count == 0 and c.version != TRACT:
        c.merge(w[1], 1, "with groups = 0 the filter must have 1 channel")
        _divides(c, x[1], w[0])
    else:
        _match_channels(c, x[1], w, count)
    _check_bias(c, bias, w[0])
    return Shape((x[0], w[0], *slid(c, x[2:], w[2:], sliding)))


@nnef("deconv")
def deconv(
    c: InferenceContext,
    input: Shape,
    filter: Shape,
    bias: Shape | None = None,
    *,
    sliding: Sliding,
    output_shape: Listed = (),
    groups: int = 1,
) -> Shape:
    """[N, C, *S], [C, K/groups, *W] -> [N, K, *unslid(S)]: the filter of the convolution that it undoes.

    tract and its exporters write the filter as [K, C/groups, *W].
    """
    x, w = _operands(c, input, filter, "filter")
    channels = _made_channels(c, x[1], w, _group_count(c, groups))
    _check_bias(c, bias, channels)
    wanted = _wanted(c, output_shape, x[0], channels, len(x))
    return Shape((x[0], channels, *unslid(c, x[2:], w[2:], sliding, wanted)))


def _made_channels(c: InferenceContext, channels: Dim, w: Shape, groups: int) -> Dim:
    """The channels that a deconvolution gives."""
    if c.version == TRACT:
        _match_channels(c, channels, w, groups)
        return w[0]
    c.merge(w[0], channels, "the first extent of the filter must be the channels of the input")
    count = groups or channels
    _divides(c, count, w[0])
    return w[1] * count


def _match_channels(c: InferenceContext, channels: Dim, w: Shape, groups: int) -> None:
    """A filter [K, C/groups, *W]; without groups, which only tract takes for it, each of its K is a group."""
    message = "the channels of the filter, times groups, must be those of the input"
    c.merge(w[1] * (groups or w[0]), channels, message)
    _divides(c, groups, w[0])


def _wanted(c: InferenceContext, shape: Listed, batch: Dim, channels: Dim, rank: int) -> tuple[int, ...]:
    """The spatial extents that `output_shape` asks for, if it does; tract writes these alone."""
    if not shape:
        return ()
    if c.version == TRACT and len(shape) == rank - 2:
        return ints_of(c, shape, "output_shape", 1)
    wanted = ints_of(c, shape, "output_shape", 1, rank)
    c.merge(batch, wanted[0], "output_shape must have the batch of the input")
    c.merge(channels, wanted[1], "output_shape must have the channels that the filter makes")
    return wanted[2:]


@nnef("planewise_conv")
def planewise_conv(
    c: InferenceContext, input: Shape, filter: Shape, bias: Shape | None = None, *, sliding: Sliding
) -> Shape:
    """Provisional: a convolution of each channel on its own."""
    return conv(c, input, filter, bias, sliding=sliding, groups=0)


@nnef("planewise_deconv")
def planewise_deconv(
    c: InferenceContext, input: Shape, filter: Shape, bias: Shape | None = None, *, sliding: Sliding
) -> Shape:
    """Provisional: a deconvolution of each channel on its own."""
    return deconv(c, input, filter, bias, sliding=sliding, groups=0)


@nnef("separable_conv")
def separable_conv(
    c: InferenceContext,
    input: Shape,
    plane_filter: Shape,
    point_filter: Shape,
    bias: Shape | None = None,
    *,
    sliding: Sliding,
    groups: int = 1,
) -> Shape:
    """A convolution of each channel on its own, then one of each place on its own."""
    _check_points(c, input, point_filter)
    planes = conv(c, input, plane_filter, sliding=sliding, groups=0)
    return conv(c, planes, point_filter, bias, sliding=Sliding(), groups=groups)


@nnef("separable_deconv")
def separable_deconv(
    c: InferenceContext,
    input: Shape,
    plane_filter: Shape,
    point_filter: Shape,
    bias: Shape | None = None,
    *,
    sliding: Sliding,
    output_shape: Listed = (),
    groups: int = 1,
) -> Shape:
    """A deconvolution of each place on its own, then one of each channel on its own."""
    _check_points(c, input, point_filter)
    points = deconv(c, input, point_filter, sliding=Sliding(), groups=groups)
    return deconv(c, points, plane_filter, bias, sliding=sliding, output_shape=output_shape, groups=0)


def _operands(c: InferenceContext, x: Shape, w: Shape, what: str) -> tuple[Shape, Shape]:
    ranked = of_one_rank(c, (x, w), f"input and {what}")
    if len(ranked[0]) < 2:
        c.fail("the input must be of rank 2 or more: a batch, channels and spatial axes", x)
    return ranked[0], ranked[1]


def _check_points(c: InferenceContext, x: Shape, w: Shape) -> None:
    for size in _operands(c, x, w, "point_filter")[1][2:]:
        c.merge(size, 1, "point_filter must have an extent of 1 on every spatial axis")


def _group_count(c: InferenceContext, groups: int) -> int:
    count = int_of(c, groups, "groups")
    if count < 0:
        c.fail("groups must be at least 0", count)
    return count


def _divides(c: InferenceContext, groups: Dim, count: Dim) -> None:
    if isinstance(groups, int) and groups > 1:
        c.divisible(count, groups, "groups must divide the first extent of the filter")


def _check_bias(c: InferenceContext, bias: Shape | None, channels: Dim) -> None:
    """One number for all, or [1, channels]."""
    if bias is None or bias.dims is None or all(d == 1 for d in bias):
        return
    message = "bias must have one item for each output channel, or one for all"
    if c.version == TRACT:  # takes any shape with so many elements
        c.merge(c.numel(bias), channels, message)
        return
    bias = fitted(c, bias, 2)
    if len(bias) > 2:
        c.fail("bias must be of rank 2 at most: [1, channels]", bias)
    if len(bias) == 2:
        c.merge(bias[0], 1, "the first extent of bias must be 1")
    if c.prove_le(2, bias[-1]) is True:
        c.merge(bias[-1], channels, message)
