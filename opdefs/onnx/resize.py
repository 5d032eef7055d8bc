"""Padding and resampling."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

import numpy as np

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import known_dims, known_ints
from shapeinf.algebra import Dim
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Ints, Value


@onnx("Pad", since=11)
def pad(c: InferenceContext, x: Shape, pads: Value, fill: Shape | None = None, axes: Value | None = None) -> Shape:
    """Every named axis grows by its begin and end (negative ones crop)."""
    rank = len(x)
    named = tuple(range(rank)) if axes is None else known_ints(axes)
    if named is None:
        return Shape(c.fresh(f"pad.{i}") for i in range(rank))
    amounts = known_dims(pads) or (None,) * (2 * len(named))
    return _padded(c, x, c.axes(named, rank), amounts)


@onnx("Pad", since=2)
def pad_by_attribute(c: InferenceContext, x: Shape, *, pads: Ints) -> Shape:
    """Before opset 11 the amounts are an attribute."""
    return _padded(c, x, range(len(x)), pads)


def _padded(c: InferenceContext, x: Shape, axes: Sequence[int], amounts: Sequence[Dim | None]) -> Shape:
    if len(amounts) != 2 * len(axes):
        c.fail("pads must have a begin and an end for each axis", tuple(amounts))
    dims = list(x)
    for i, axis in enumerate(axes):
        begin, end = amounts[i], amounts[i + len(axes)]
        dims[axis] = c.fresh(f"pad.{axis}") if begin is None or end is None else dims[axis] + begin + end
    return Shape(dims)


@onnx("Resize", since=11)
def resize(
    c: InferenceContext,
    x: Shape,
    roi: Shape | None = None,
    scales: Value | None = None,
    sizes: Value | None = None,
    *,
    axes: Ints | None = None,
    keep_aspect_ratio_policy: str = "stretch",
    coordinate_transformation_mode: str = "half_pixel",
) -> Shape:
    """The given sizes, or the floor of each size times its scale; of the named axes, all without `axes`."""
    named = c.axes(axes, len(x)) if axes is not None else tuple(range(len(x)))
    dims = list(x)
    if sizes is not None and sizes.shape.dims != (0,):
        wanted: Sequence[Dim | None] = known_dims(sizes) or (None,) * len(named)
        if keep_aspect_ratio_policy != "stretch":
            wanted = _kept_ratio(x, named, wanted, keep_aspect_ratio_policy)
        for axis, size in zip(named, wanted, strict=True):
            dims[axis] = c.fresh(f"resize.{axis}") if size is None else size
        return Shape(dims)
    factors = None if scales is None else scales.array()
    values = [None] * len(named) if factors is None or factors.size != len(named) else factors.tolist()
    for axis, factor in zip(named, values, strict=True):
        cropped = coordinate_transformation_mode == "tf_crop_and_resize" and factor != 1
        dims[axis] = c.fresh(f"resize.{axis}") if factor is None or cropped else scaled(c, dims[axis], factor)
    return Shape(dims)


@onnx("Resize", since=10)
@onnx("Upsample", since=9)
def resize_by_scales(c: InferenceContext, x: Shape, scales: Value) -> Shape:
    """The floor of each size times its scale."""
    return resize(c, x, None, scales)


@onnx("Upsample", since=7)
def upsample_by_attribute(c: InferenceContext, x: Shape, *, scales: tuple[float, ...]) -> Shape:
    """Before opset 9 the scales are an attribute."""
    return resize(c, x, None, PartialTensor("float32", Shape((len(scales),)), scales))


def scaled(c: InferenceContext, size: Dim, scale: float) -> Dim:
    """`floor(size * scale)`, exact for known sizes and for scales that are fractions with a power of two below.

    Runtimes multiply in float32: other scales (such as a third) may round a symbolic product either way, so they
    give an unknown.
    """
    exact = Fraction(scale)
    if exact.denominator <= 1024 and exact.numerator <= 1 << 20:
        return (size * exact.numerator) // exact.denominator
    if isinstance(size, int):
        return floor(float(np.float32(size) * np.float32(scale)))
    high = c.interval(size).hi
    return c.fresh("resize", 0, None if high is None else floor(high * exact) + 1)


def _kept_ratio(x: Shape, axes: Sequence[int], wanted: Sequence[Dim | None], policy: str) -> list[Dim | None]:
    """All named axes by one scale: the smallest (`not_larger`) or largest (`not_smaller`) that is wanted."""
    known = [(w, x[a]) for w, a in zip(wanted, axes, strict=True)]
    ratios = [Fraction(w, d) for w, d in known if isinstance(w, int) and isinstance(d, int) and d]
    if len(ratios) < len(axes):
        return [None] * len(axes)
    scale = min(ratios) if policy == "not_larger" else max(ratios)
    return [_round_half_up(scale * d) for _, d in known if isinstance(d, int)]


def _round_half_up(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


@onnx("DepthToSpace")
def depth_to_space(c: InferenceContext, x: Shape, *, blocksize: int) -> Shape:
    """[N, C, H, W] -> [N, C/b^2, H*b, W*b]."""
    n, channels, h, w = c.require_rank(x, 4, "input")
    c.divisible(channels, blocksize**2, "channels must be divisible by blocksize squared")
    return Shape((n, channels // blocksize**2, h * blocksize, w * blocksize))


@onnx("SpaceToDepth")
def space_to_depth(c: InferenceContext, x: Shape, *, blocksize: int) -> Shape:
    """[N, C, H, W] -> [N, C*b^2, H/b, W/b]."""
    n, channels, h, w = c.require_rank(x, 4, "input")
    for d in (h, w):
        c.divisible(d, blocksize, "height and width must be divisible by blocksize")
    return Shape((n, channels * blocksize**2, h // blocksize, w // blocksize))
