"""Repetition: broadcasts to sizes, tiles, repeated elements; rolled and reversed axes."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.pnnx.arguments import require_known
from opdefs.pnnx.axes import read_axes
from opdefs.pnnx.dialect import pnnx
from opdefs.rules.contents.elements import MAX_RANK, known_dims, known_ints, move_elements
from opdefs.rules.contents.numpy_functions import numpy_function
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.contents.rearrangement import repeat_slices
from opdefs.rules.numbers import check_count, read_dim, read_dims, read_int, read_ints
from opdefs.rules.operands import prove_unit, require_broadcast_size, require_broadcast_to
from opdefs.rules.repetition import broadcast_elements, repeat_size
from opdefs.rules.repetition import tile as tile_axes
from opdefs.rules.reshaping import flip as flip_axes
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value

BROADCAST = "each axis of the input must have size 1 or the requested size"


@pnnx("Tensor.expand")
def expand(c: InferenceContext, input: Value, *, sizes: object) -> PartialTensor:
    """Axes of size 1 repeated to the sizes, and new axes in front; -1 keeps the size of an axis."""
    requested = read_dims(c, sizes, "sizes")
    if len(requested) > MAX_RANK:
        c.fail(f"sizes must have at most {MAX_RANK} items", len(requested))
    if input.shape.dims is None:
        return PartialTensor(input.dtype, _expand_unknown_rank(c, requested), None)
    lead = len(requested) - len(input.shape.dims)
    if lead < 0:
        c.fail("sizes must have at least one item for each axis of the input", input.shape, requested)
    new = [_new_axis(c, size, i) for i, size in enumerate(requested[:lead])]
    old = [
        _expand_size(c, d, size, i) for i, (d, size) in enumerate(zip(input.shape, requested[lead:], strict=True), lead)
    ]
    return broadcast_elements(input, Shape((*new, *old)))


def _expand_unknown_rank(c: InferenceContext, requested: Sequence[DimSize | None]) -> Shape:
    """The sizes to which a tensor of unknown rank expands; a new unknown for a size that may be -1."""
    known = (d is not None and c.prove_le(0, d) is True for d in requested)
    pairs = zip(requested, known, strict=True)
    return Shape(d if is_size and d is not None else c.fresh(f"expand.{i}") for i, (d, is_size) in enumerate(pairs))


def _new_axis(c: InferenceContext, size: DimSize | None, axis: int) -> DimSize:
    if size is None:
        return c.fresh(f"expand.{axis}")
    if c.prove_le(0, size) is not True:
        c.at_least(size, 0, "the items of sizes for new axes must be at least 0")
    return size


def _expand_size(c: InferenceContext, d: DimSize, size: DimSize | None, axis: int) -> DimSize:
    """The requested size of an axis; its own size for a requested -1."""
    if size == -1:
        return d
    if isinstance(size, int) and size < 0:
        c.fail("the items of sizes must be at least 0, or -1", size)
    if size is None or c.prove_le(0, size) is not True:
        return d if prove_unit(c, d) is False else c.fresh(f"expand.{axis}")
    require_broadcast_size(c, d, size, BROADCAST)
    return size


@pnnx("Tensor.expand_as")
def expand_as(c: InferenceContext, input: Value, other: Shape) -> PartialTensor:
    """Axes of size 1 repeated to the sizes of `other`, and new axes in front."""
    require_broadcast_to(c, input.shape, other, BROADCAST)
    if other.dims is None or input.shape.dims is None:
        return PartialTensor(input.dtype, other, None)
    return broadcast_elements(input, other)


@pnnx("Tensor.repeat")
def repeat(c: InferenceContext, input: Value, *, sizes: object) -> PartialTensor:
    """[d, ...], sizes [r, ...] -> [d*r, ...]; items of `sizes` in front of those of the axes are new axes."""
    counts = read_dims(c, sizes, "sizes")
    if input.shape.dims is not None and len(counts) < len(input.shape.dims):
        c.fail("sizes must have at least one item for each axis of the input", input.shape, counts)
    return _repeat_axes(c, input, counts)


@pnnx("torch.tile")
def tile(c: InferenceContext, input: Value, *, dims: object) -> PartialTensor:
    """[d, ...], dims [r, ...] -> [d*r, ...]; aligned at the last axis, with 1 for missing items."""
    counts = read_dims(c, dims, "dims")
    return _repeat_axes(c, input, (*(1,) * (len(input.shape) - len(counts)), *counts))


def _repeat_axes(c: InferenceContext, x: PartialTensor, counts: Sequence[DimSize | None]) -> PartialTensor:
    if len(counts) > MAX_RANK:
        c.fail(f"the output must have at most {MAX_RANK} axes", len(counts))
    if x.shape.dims is None:
        return PartialTensor(x.dtype, Shape(c.fresh(f"repeat.{i}") for i in range(len(counts))), None)
    lead = (1,) * (len(counts) - len(x.shape.dims))
    return tile_axes(c, reshape_elements(x, Shape((*lead, *x.shape.dims))), counts)


@pnnx("torch.repeat_interleave")
def repeat_interleave(
    c: InferenceContext,
    input: Value,
    repeats: Value | None = None,
    *,
    repeats_: object = None,
    dim: object = None,
    output_size: object = None,
) -> PartialTensor:
    """[*A, d, *B] -> [*A, total, *B]: each slice repeated `repeats` times; without `dim`, of the flattened input."""
    require_known(c, "dim", dim)
    if dim is None and input.shape.dims is None:
        shape, axis = Shape((c.fresh("size"),)), 0
    elif dim is None:
        shape, axis = Shape((c.numel(input.shape),)), 0
    else:
        shape, axis = input.shape, c.axis(read_int(c, dim, "dim"), len(input.shape))
    size = shape[axis]
    if repeats is None:
        total = repeat_size(c, size, read_dim(c, repeats_, "repeats"), axis)
    else:
        total = _interleaved_size(c, size, repeats, output_size)
    result = Shape((*shape[:axis], total, *shape[axis + 1 :]))
    number = repeats_ if type(repeats_) is int else None
    counts = known_ints(repeats) if repeats is not None else None if number is None else (number,)
    if counts is None or input.elements is None or min(counts, default=0) < 0:
        return PartialTensor(input.dtype, result, None)
    return repeat_slices(input, counts, None if dim is None else axis, result)


def _interleaved_size(c: InferenceContext, size: DimSize, repeats: PartialTensor, output_size: object) -> DimSize:
    """The sum of `repeats`, which has one item for each slice or one for all."""
    counts = known_dims(repeats)
    stated = read_dim(c, output_size, "output_size")
    if repeats.shape.dims is not None and len(repeats.shape.dims) > 1:
        c.fail("repeats must be a number or a vector", repeats.shape)
    single = repeats.shape.dims in ((), (1,))
    if repeats.shape.rank == 1 and not single:
        require_broadcast_size(c, repeats.shape[0], size, "repeats must have one element, or one for each slice")
    if counts is None or None in counts:
        return c.fresh("size") if stated is None else stated
    known = [repeat_size(c, 1, n, 0) for n in counts]
    return known[0] * size if single else sum(known)


@pnnx("torch.roll")
def roll(c: InferenceContext, input: Value, *, shifts: object, dims: object = ()) -> PartialTensor:
    """[*S] -> [*S] with elements shifted in a circle along `dims`, without `dims` in the flattened input."""
    if shifts is None or dims is None:  # computed
        return PartialTensor(input.dtype, input.shape, None)
    amounts, named = read_dims(c, shifts, "shifts"), read_ints(c, dims, "dims")
    if named or len(amounts) != 1:
        check_count(c, amounts, "shifts", len(named), "item of dims")
    if input.shape.dims is None or 0 in input.shape.dims:  # torch does not check the axes of an empty tensor
        return PartialTensor(input.dtype, input.shape, None)
    axes = tuple(c.axis(axis, len(input.shape.dims)) for axis in named)
    known = [amount for amount in amounts if isinstance(amount, int)]
    if len(known) < len(amounts) or not input.shape.dims:
        return PartialTensor(input.dtype, input.shape, None)
    turns = known if axes else known[0]
    return move_elements(input, input.shape, lambda array: numpy_function("roll")(array, turns, axes or None))


@pnnx("torch.flip")
def flip(c: InferenceContext, input: Value, *, dims: object) -> PartialTensor:
    """[*S] -> [*S] with the axes `dims` reversed."""
    axes = read_ints(c, dims, "dims")
    if input.shape.dims is None:
        return PartialTensor(input.dtype, input.shape, None)
    return flip_axes(input, read_axes(c, axes, len(input.shape.dims)))
