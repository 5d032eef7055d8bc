"""Concatenation, splits, tiles, padding, gathering and casts (chapter 4.5)."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, read_flat_dims, read_front_axis
from opdefs.nnef.broadcasting import extend_rank, require_equal_ranks
from opdefs.nnef.dialect import nnef
from opdefs.nnef.schemas import TYPE_ARGUMENT
from opdefs.nnef.sliding import check_border, read_pairs
from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.elements import move_elements
from opdefs.rules.contents.numpy_functions import numpy_function
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.gathering import gather as gather_tensor
from opdefs.rules.numbers import check_count, read_int, read_ints
from opdefs.rules.parts import split_axis
from opdefs.rules.repetition import concat as concatenation
from opdefs.rules.repetition import repeat_size
from shapeinf.expr import DimSize, exact_quotient
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


@nnef("concat")
def concat(c: InferenceContext, *values: Value, axis: int) -> PartialTensor:
    """[*A, n, *B], [*A, m, *B], ... -> [*A, n + m + ..., *B]."""
    if not values:
        c.fail("values must have at least one item")
    at = read_int(c, axis, "axis")
    xs = _align_ranks(c, values, at + 1)
    read_front_axis(c, at, len(xs[0].shape))
    return concatenation(c, xs, at)


def _align_ranks(c: InferenceContext, values: tuple[PartialTensor, ...], least: int) -> list[PartialTensor]:
    """The values with one rank; in the provisional dialect of at least `least`."""
    shapes = require_equal_ranks(c, [v.shape for v in values], "values")
    return [reshape_elements(v, extend_rank(c, s, least)) for v, s in zip(values, shapes, strict=True)]


@nnef("stack")
def stack(c: InferenceContext, *values: Value, axis: int) -> PartialTensor:
    """[*A, *B], n of them -> [*A, n, *B] with the new axis at `axis`."""
    if not values:
        c.fail("values must have at least one item")
    shape = values[0].shape
    for value in values[1:]:
        shape = c.merge(shape, value.shape, "values must have the same shape")
    at = read_front_axis(c, axis, len(shape) + 1)
    single = Shape((*shape[:at], 1, *shape[at:]))
    return concatenation(c, [reshape_elements(value, single) for value in values], at)


@nnef("split")
def split(c: InferenceContext, value: Value, *, axis: int, ratios: Listed) -> tuple[PartialTensor, ...]:
    """[*A, d, *B] -> parts [*A, p, *B] whose extents have these ratios."""
    shares = read_ints(c, ratios, "ratios", 1)
    if len(shares) != c.num_outputs:
        c.fail("ratios must have one item per result", shares, c.num_outputs)
    shape = extend_rank(c, value.shape, read_int(c, axis, "axis") + 1)
    at, total = read_front_axis(c, axis, len(shape)), sum(shares)
    c.divisible(shape[at], total, f"the sum of ratios must divide the extent of axis {at}")
    unit = exact_quotient(shape[at], total)
    unit = shape[at] // total if unit is None else unit
    return split_axis(reshape_elements(value, shape), at, [unit * share for share in shares])


@nnef("unstack")
def unstack(c: InferenceContext, value: Value, *, axis: int) -> tuple[PartialTensor, ...]:
    """[*A, n, *B] -> n slices [*A, *B]."""
    at = read_front_axis(c, axis, len(value.shape))
    message = f"the number of results must equal the extent of axis {at}"
    c.merge(value.shape[at], c.num_outputs, message)
    shape = Shape((*value.shape[:at], *value.shape[at + 1 :]))
    return tuple(reshape_elements(part, shape) for part in split_axis(value, at, [1] * c.num_outputs))


@nnef("tile")
def tile(c: InferenceContext, input: Value, *, repeats: Listed) -> PartialTensor:
    """[d, ...], repeats [r, ...] -> [d*r, ...]."""
    counts = read_flat_dims(c, repeats, "repeats")
    if any(isinstance(n, int) and n < 1 for n in counts):
        c.fail("the items of repeats must be at least 1", counts)
    x = c.require_rank(input.shape, len(counts), "input") if input.shape.dims is None else input.shape
    check_count(c, counts, "repeats", len(x))
    shape = Shape(repeat_size(c, d, n, i) for i, (d, n) in enumerate(zip(x, counts, strict=True)))
    known = [n for n in counts if isinstance(n, int)]
    if len(known) < len(counts):
        return PartialTensor(input.dtype, shape, None)
    return move_elements(input, shape, lambda array: numpy_function("tile")(array, known))


@nnef("pad")
def pad(c: InferenceContext, input: Shape, *, padding: Listed, border: str = "constant", value: float = 0.0) -> Shape:
    """[d, ...] -> [before + d + after, ...]; negative padding crops."""
    check_border(c, border)
    x = c.require_rank(input, len(padding), "input") if input.dims is None else input
    pairs = read_pairs(c, padding, len(x))
    return Shape(_pad_extent(c, d, before + after) for d, (before, after) in zip(x, pairs, strict=True))


def _pad_extent(c: InferenceContext, size: DimSize, amount: int) -> DimSize:
    extent = size + amount
    if c.prove_le(1, extent) is not True and amount:
        c.at_least(extent, 1, "padding must leave at least one element of each axis")
    return extent


@nnef("gather")
def gather(c: InferenceContext, input: Value, indices: Value, *, axis: int = 0) -> PartialTensor:
    """[*A, d, *B], indices [*I] -> [*A, *I, *B]."""
    return gather_tensor(c, input, indices, axis=read_front_axis(c, axis, len(input.shape)))


@nnef("cast")
def cast(c: InferenceContext, input: Value) -> PartialTensor:
    """[*S] -> [*S] in the type argument of the invocation."""
    dtype = c.attributes.get(TYPE_ARGUMENT)
    if not isinstance(dtype, str):
        c.fail("cast requires a type argument, such as cast<integer>")
    return convert(c, input, dtype)
