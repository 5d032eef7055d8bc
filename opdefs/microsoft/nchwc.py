"""The blocked layout of ONNX Runtime's CPU kernels: channels are padded to a multiple of the machine's block."""

from __future__ import annotations

from opdefs.microsoft.conv import fused_conv
from opdefs.microsoft.dialect import NCHWC, onnx
from opdefs.microsoft.layout import channels_first, channels_last_again
from opdefs.onnx.pool import global_pool, pool
from shapeinf.expr import Dim, ceildiv
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext, Ints

BLOCKS = (4, 8, 16)
"""The sizes of a block of channels; which one, the machine decides."""

onnx("Conv", domain=NCHWC)(fused_conv)
onnx("MaxPool", "AveragePool", domain=NCHWC)(pool)
onnx("GlobalAveragePool", "GlobalMaxPool", domain=NCHWC)(global_pool)


@onnx("ReorderInput", domain=NCHWC)
def reorder_input(c: InferenceContext, x: Shape, *, channels_last: int = 0) -> Shape:
    """[N, C, H, W] (or [N, H, W, C] with `channels_last`) -> [N, padded(C), H, W]."""
    x = c.require_rank(x, 4, "X")
    n, channels, *sizes = channels_first(x) if channels_last else x
    return Shape((n, _padded(c, channels), *sizes))


def _padded(c: InferenceContext, channels: Dim) -> Dim:
    """The channels in whole blocks: open where the sizes of blocks give different results."""
    low, *_, high = (ceildiv(channels, block) * block for block in BLOCKS)
    if c.prove_eq(low, high) is True:
        return low
    return c.fresh("channels", c.interval(low).lo, c.interval(high).hi)


@onnx("ReorderOutput", domain=NCHWC)
def reorder_output(c: InferenceContext, x: Shape, *, channels: int = 0, channels_last: int = 0) -> Shape:
    """[N, padded(C), H, W] -> [N, C, H, W], or [N, H, W, C] with `channels_last`."""
    x = c.require_rank(x, 4, "X")
    if channels < 1:
        c.fail("the number of channels must be at least 1", channels)
    c.at_least(x[1], channels, "there must not be more channels than the input has")
    result = Shape((x[0], channels, x[2], x[3]))
    return channels_last_again(result) if channels_last else result


@onnx("Upsample", domain=NCHWC)
def blocked_upsample(c: InferenceContext, x: Shape, *, scales: Ints = ()) -> Shape:
    """[N, C, H, W] -> every axis repeated as often as `scales` says."""
    x = c.require_rank(x, 4, "X")
    if scales and (len(scales) != 4 or min(scales) < 1):
        c.fail("scales must have 4 values of at least 1, one an axis", scales)
    return Shape(d * s for d, s in zip(x, scales or (1, 1, 1, 1), strict=True))
