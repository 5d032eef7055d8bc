"""Convolutions (chapter 4.3): [N, C, spatial...] with filters [K, C/groups, window...]."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed
from opdefs.nnef.broadcasting import fit_rank, require_equal_ranks
from opdefs.nnef.dialect import nnef
from opdefs.nnef.sliding import Sliding, slide, unslide
from opdefs.rules.numbers import read_int, read_ints
from opdefs.rules.operands import is_unit, require_broadcast_size, require_multiple
from shapeinf.expr import DimSize
from shapeinf.formats.nnef.versions import TRACT
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

GROUPS = "groups must divide the first extent of the filter"


@nnef("conv")
def conv(
    c: InferenceContext, input: Shape, filter: Shape, bias: Shape | None = None, *, sliding: Sliding, groups: int = 1
) -> Shape:
    """[N, C, *S], [K, C/groups, *W] -> [N, K, *slide(S)]; groups = 0 stands for C groups."""
    x, w = _operands(c, input, filter, "filter")
    count = _group_count(c, groups)
    if count == 0 and c.version != TRACT:
        c.merge(w[1], 1, "with groups = 0 the filter must have 1 channel")
        require_multiple(c, w[0], x[1], GROUPS)
    else:
        _match_channels(c, x[1], w, count)
    _check_bias(c, bias, w[0])
    return Shape((x[0], w[0], *slide(c, x[2:], w[2:], sliding)))


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
    """[N, C, *S], [C, K/groups, *W] -> [N, K, *unslide(S)]: the filter is that of the inverse convolution.

    tract and its exporters write the filter as [K, C/groups, *W].
    """
    x, w = _operands(c, input, filter, "filter")
    channels = _output_channels(c, x[1], w, _group_count(c, groups))
    _check_bias(c, bias, channels)
    requested = _requested_extents(c, output_shape, x[0], channels, len(x))
    return Shape((x[0], channels, *unslide(c, x[2:], w[2:], sliding, requested)))


def _output_channels(c: InferenceContext, channels: DimSize, w: Shape, groups: int) -> DimSize:
    """The output channels of a deconvolution; constrains the channels of input and filter."""
    if c.version == TRACT:
        _match_channels(c, channels, w, groups)
        return w[0]
    c.merge(w[0], channels, "the first extent of the filter must equal the channels of the input")
    count = groups or channels
    require_multiple(c, w[0], count, GROUPS)
    return w[1] * count


def _match_channels(c: InferenceContext, channels: DimSize, w: Shape, groups: int) -> None:
    """Require a filter [K, C/groups, *W]; groups = 0 (tract only) stands for K groups."""
    message = "the second extent of the filter times groups must equal the channels of the input"
    c.merge(w[1] * (groups or w[0]), channels, message)
    require_multiple(c, w[0], groups, GROUPS)


def _requested_extents(
    c: InferenceContext, shape: Listed, batch: DimSize, channels: DimSize, rank: int
) -> tuple[int, ...]:
    """The spatial extents in `output_shape`, () without it; tract writes only the spatial ones."""
    if not shape:
        return ()
    if c.version == TRACT and len(shape) == rank - 2:
        return read_ints(c, shape, "output_shape", 1)
    requested = read_ints(c, shape, "output_shape", 1, rank)
    c.merge(batch, requested[0], "output_shape must have the batch size of the input")
    c.merge(channels, requested[1], "output_shape must have the output channels of the deconvolution")
    return requested[2:]


@nnef("planewise_conv")
def planewise_conv(
    c: InferenceContext, input: Shape, filter: Shape, bias: Shape | None = None, *, sliding: Sliding
) -> Shape:
    """Provisional: [N, C, *S], [K, 1, *W] -> [N, K, *slide(S)], a depth-wise convolution."""
    return conv(c, input, filter, bias, sliding=sliding, groups=0)


@nnef("planewise_deconv")
def planewise_deconv(
    c: InferenceContext, input: Shape, filter: Shape, bias: Shape | None = None, *, sliding: Sliding
) -> Shape:
    """Provisional: [N, C, *S], [C, K/C, *W] -> [N, K, *unslide(S)], a depth-wise deconvolution."""
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
    """[N, C, *S], [P, 1, *W], [K, P/groups, 1...] -> [N, K, *slide(S)]: depth-wise, then point-wise."""
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
    """[N, C, *S], [P, K/P, *W], [C, P/groups, 1...] -> [N, K, *unslide(S)]: point-wise, then depth-wise."""
    _check_points(c, input, point_filter)
    points = deconv(c, input, point_filter, sliding=Sliding(), groups=groups)
    return deconv(c, points, plane_filter, bias, sliding=sliding, output_shape=output_shape, groups=0)


def _operands(c: InferenceContext, x: Shape, w: Shape, name: str) -> tuple[Shape, Shape]:
    """The input and the filter `name`, which have the same rank of at least 2."""
    ranked = require_equal_ranks(c, (x, w), f"input and {name}")
    if len(ranked[0]) < 2:
        c.fail("the input must have rank 2 or more: batch, channels and spatial axes", x)
    return ranked[0], ranked[1]


def _check_points(c: InferenceContext, x: Shape, w: Shape) -> None:
    """Require a point-wise filter."""
    for size in _operands(c, x, w, "point_filter")[1][2:]:
        c.merge(size, 1, "point_filter must have an extent of 1 on every spatial axis")


def _group_count(c: InferenceContext, groups: int) -> int:
    count = read_int(c, groups, "groups")
    if count < 0:
        c.fail("groups must be at least 0", count)
    return count


def _check_bias(c: InferenceContext, bias: Shape | None, channels: DimSize) -> None:
    """Require a bias of one element, or [1, channels]."""
    if bias is None or bias.dims is None or all(map(is_unit, bias)):
        return
    message = "bias must have one item for each output channel, or one for all"
    if c.version == TRACT:  # accepts any shape with this number of elements
        require_broadcast_size(c, c.numel(bias), channels, message)
        return
    bias = fit_rank(c, bias, 2)
    if len(bias) > 2:
        c.fail("bias must have rank 2 at most: [1, channels]", bias)
    if len(bias) == 2:
        c.merge(bias[0], 1, "the first extent of bias must be 1")
    require_broadcast_size(c, bias[-1], channels, message)
