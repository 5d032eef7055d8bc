"""Square blocks of pixels that are moved between the spatial axes and the channels."""

from __future__ import annotations

from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def channels_to_blocks(c: InferenceContext, x: Shape, block: int, name: str) -> Shape:
    """[*N, C, H, W] -> [*N, C/b^2, H*b, W*b] for a block of b*b pixels; messages call the block size `name`."""
    *lead, channels, h, w = x.require()
    _check_block(c, block, name)
    c.divisible(channels, block**2, f"channels must be divisible by {name} squared")
    return Shape((*lead, channels // block**2, h * block, w * block))


def blocks_to_channels(c: InferenceContext, x: Shape, block: int, name: str) -> Shape:
    """[*N, C, H, W] -> [*N, C*b^2, H/b, W/b] for a block of b*b pixels; messages call the block size `name`."""
    *lead, channels, h, w = x.require()
    _check_block(c, block, name)
    for d in (h, w):
        c.divisible(d, block, f"height and width must be divisible by {name}")
    return Shape((*lead, channels * block**2, h // block, w // block))


def _check_block(c: InferenceContext, block: int, name: str) -> None:
    if block < 1:
        c.fail(f"{name} must be at least 1", block)
