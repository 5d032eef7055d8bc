"""Tensors put together, taken apart and made larger (chapter 4.5)."""

from __future__ import annotations

import numpy as np

from opdefs.nnef.dialect import nnef
from opdefs.nnef.laws import Listed, axis_of, check_count, dims_of, extended, int_of, ints_of, of_one_rank
from opdefs.nnef.sliding import check_border, pairs_of
from opdefs.rules.concatenation import concat as concatenation
from opdefs.rules.concatenation import repeated
from opdefs.rules.elements import moved
from opdefs.rules.progressions import kept
from opdefs.rules.slicing import part
from shapeinf.expr import Dim, exact_quotient
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


@nnef("concat")
def concat(c: InferenceContext, *values: Value, axis: int) -> PartialTensor:
    """The extents along `axis` add up; all others are equal."""
    if not values:
        c.fail("values must have at least one item")
    at = int_of(c, axis, "axis")
    xs = _of_one_rank(c, values, at + 1)
    axis_of(c, at, len(xs[0].shape))
    return concatenation(c, xs, at)


def _of_one_rank(c: InferenceContext, values: tuple[PartialTensor, ...], least: int) -> list[PartialTensor]:
    shapes = of_one_rank(c, [v.shape for v in values], "values")
    return [kept(v, extended(c, s, least)) for v, s in zip(values, shapes, strict=True)]


@nnef("stack")
def stack(c: InferenceContext, *values: Value, axis: int) -> PartialTensor:
    """One new axis, along which the values of equal shape lie."""
    if not values:
        c.fail("values must have at least one item")
    shape = values[0].shape
    for value in values[1:]:
        shape = c.merge(shape, value.shape, "values must be of equal shape")
    at = axis_of(c, axis, len(shape) + 1)
    single = Shape((*shape[:at], 1, *shape[at:]))
    return concatenation(c, [kept(value, single) for value in values], at)


@nnef("split")
def split(c: InferenceContext, value: Value, *, axis: int, ratios: Listed) -> tuple[PartialTensor, ...]:
    """Parts along an axis whose extents have these ratios."""
    shares = ints_of(c, ratios, "ratios", 1)
    if len(shares) != c.num_outputs:
        c.fail("ratios must have one item for each result", shares, c.num_outputs)
    shape = extended(c, value.shape, int_of(c, axis, "axis") + 1)
    at, total = axis_of(c, axis, len(shape)), sum(shares)
    c.divisible(shape[at], total, f"the sum of ratios must divide the extent of axis {at}")
    unit = exact_quotient(shape[at], total)
    unit = shape[at] // total if unit is None else unit
    return _parts(kept(value, shape), at, [unit * share for share in shares])


def _parts(x: PartialTensor, at: int, sizes: list[Dim]) -> tuple[PartialTensor, ...]:
    found = []
    offset: Dim = 0
    for size in sizes:
        shape = Shape((*x.shape[:at], size, *x.shape[at + 1 :]))
        found.append(part(x, shape, at, offset, size))
        offset = offset + size
    return tuple(found)


@nnef("unstack")
def unstack(c: InferenceContext, value: Value, *, axis: int) -> tuple[PartialTensor, ...]:
    """As many parts as the axis is long, without the axis."""
    at = axis_of(c, axis, len(value.shape))
    message = f"there must be as many results as axis {at} of the value is long"
    c.merge(value.shape[at], c.num_outputs, message)
    shape = Shape((*value.shape[:at], *value.shape[at + 1 :]))
    return tuple(kept(one, shape) for one in _parts(value, at, [1] * c.num_outputs))


@nnef("tile")
def tile(c: InferenceContext, input: Value, *, repeats: Listed) -> PartialTensor:
    """Every extent times its number of repeats."""
    counts = dims_of(c, repeats, "repeats")
    if any(isinstance(n, int) and n < 1 for n in counts):
        c.fail("the items of repeats must be at least 1", counts)
    x = c.require_rank(input.shape, len(counts), "input") if input.shape.dims is None else input.shape
    check_count(c, counts, "repeats", len(x))
    shape = Shape(repeated(c, d, n, i) for i, (d, n) in enumerate(zip(x, counts, strict=True)))
    known = [n for n in counts if isinstance(n, int)]
    if len(known) < len(counts):
        return PartialTensor(input.dtype, shape, None)
    return moved(input, shape, lambda array: np.tile(array, known))


@nnef("pad")
def pad(c: InferenceContext, input: Shape, *, padding: Listed, border: str = "constant", value: float = 0.0) -> Shape:
    """Every extent plus what is put before and after it (taken away, if negative)."""
    check_border(c, border)
    x = c.require_rank(input, len(padding), "input") if input.dims is None else input
    pairs = pairs_of(c, padding, len(x))
    return Shape(_grown(c, d, before + after) for d, (before, after) in zip(x, pairs, strict=True))


def _grown(c: InferenceContext, size: Dim, amount: int) -> Dim:
    extent = size + amount
    if c.prove_le(1, extent) is not True and amount:
        c.at_least(extent, 1, "padding must leave something of each axis")
    return extent
