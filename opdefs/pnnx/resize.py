"""Resizing of spatial axes, by sizes or by scales."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.pnnx.dialect import pnnx
from opdefs.pnnx.spatial import requested_sizes
from opdefs.rules.numbers import check_count
from opdefs.rules.operands import require_elements
from opdefs.rules.resize import scale_by_text
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

RANKS = {"linear": 1, "bilinear": 2, "bicubic": 2, "lanczos": 2, "trilinear": 3}
"""The number of spatial axes that a mode requires; other modes accept any."""


@pnnx("nn.Upsample", "F.upsample", "F.interpolate")
def interpolate(
    c: InferenceContext, input: Shape, *, size: object = (), scale_factor: object = (), mode: str = "nearest"
) -> Shape:
    """[N, C, *S] -> [N, C, *T], where T is `size`, or the floor of S times `scale_factor`; () if it is absent."""
    if (size == ()) == (scale_factor == ()):
        c.fail("exactly one of size and scale_factor is required")
    if input.dims is None:
        raise c.unknowable("the rank of the input is not known")
    rank = len(input) - 2
    if rank not in (1, 2, 3):
        c.fail("the input must have rank 3, 4 or 5", input)
    if RANKS.get(mode, rank) != rank:
        c.fail(f"mode={mode} requires an input of rank {RANKS[mode] + 2}", input)
    sizes = input.dims[2:]
    require_elements(c, sizes if mode == "area" else input.dims[1:])
    resized = _scale_sizes(c, sizes, scale_factor) if size == () else _read_sizes(c, size, rank)
    if mode != "area":
        for new in resized:
            c.at_least(new, 1, "the output must not be empty")
            most = None if isinstance(new, int) else c.limit_of(new)
            if most is not None:
                c.at_least(most, 1, "the output must not be empty")
    return Shape((*input.dims[:2], *resized))


@pnnx("F.upsample_nearest", "nn.UpsamplingNearest2d")
def upsample_nearest(c: InferenceContext, input: Shape, *, size: object = (), scale_factor: object = ()) -> Shape:
    """[N, C, *S] -> [N, C, *T]."""
    return interpolate(c, input, size=size, scale_factor=scale_factor)


@pnnx("F.upsample_bilinear", "nn.UpsamplingBilinear2d")
def upsample_bilinear(c: InferenceContext, input: Shape, *, size: object = (), scale_factor: object = ()) -> Shape:
    """[N, C, H, W] -> [N, C, *T]."""
    return interpolate(c, input, size=size, scale_factor=scale_factor, mode="bilinear")


def _read_sizes(c: InferenceContext, size: object, rank: int) -> list[DimSize]:
    return [c.fresh("resize", 1) if new is None else new for new in requested_sizes(c, size, "size", rank)]


def _scale_sizes(c: InferenceContext, sizes: Sequence[DimSize], scale_factor: object) -> list[DimSize]:
    scales = scale_factor if isinstance(scale_factor, tuple) else (scale_factor,) * len(sizes)
    check_count(c, scales, "scale_factor", len(sizes), "spatial axis")
    scaled = [_scale_size(c, size, scale) for size, scale in zip(sizes, scales, strict=True)]
    return [c.fresh("resize") if new is None else new for new in scaled]


def _scale_size(c: InferenceContext, size: DimSize, scale: object) -> DimSize | None:
    if type(scale) is int or isinstance(scale, float):
        return scale_by_text(c, size, float(scale))
    if scale is None or not isinstance(scale, (bool, str, tuple)):
        return None
    c.fail("scale_factor must be a number, or a list of numbers", scale)
