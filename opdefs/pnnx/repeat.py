"""Tensors repeated: broadcast to sizes, tiled, or element by element; rolled and reversed."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.pnnx.arguments import require_known
from opdefs.pnnx.axes import read_axes
from opdefs.pnnx.dialect import pnnx
from opdefs.rules.elements import MAX_RANK, known_dims, move_elements
from opdefs.rules.numbers import check_count, read_dim, read_dims, read_int, read_ints
from opdefs.rules.numpy_functions import numpy_function
from opdefs.rules.operands import require_broadcast_size, require_broadcast_to
from opdefs.rules.progressions import reshape_elements
from opdefs.rules.repetition import broadcast_elements, repeat_size
from opdefs.rules.repetition import tile as tile_axes
from opdefs.rules.reshaping import flip as flip_axes
from shapeinf.expr import Dim
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value

BROADCAST = "each axis of the input must have size 1 or the requested size"


@pnnx("Tensor.expand")
def expand(c: InferenceContext, input: Value, *, sizes: object) -> PartialTensor:
    """Axes of size 1 repeated to the sizes, and new ones in front; -1 leaves an axis as it is."""
    wanted = read_dims(c, sizes, "sizes")
    if len(wanted) > MAX_RANK:
        c.fail(f"sizes must have at most {MAX_RANK} items", len(wanted))
    if input.shape.dims is None:
        return PartialTensor(input.dtype, _sizes_of_unknown(c, wanted), None)
    lead = len(wanted) - len(input.shape.dims)
    if lead < 0:
        c.fail("there must be a size for each axis of the input", input.shape, wanted)
    new = [_new_axis(c, size, i) for i, size in enumerate(wanted[:lead])]
    old = [_expanded(c, d, size, i) for i, (d, size) in enumerate(zip(input.shape, wanted[lead:], strict=True), lead)]
    return broadcast_elements(input, Shape((*new, *old)))


def _sizes_of_unknown(c: InferenceContext, wanted: Sequence[Dim | None]) -> Shape:
    """The sizes to which a tensor of unknown rank expands: a size that may be -1 is unknown."""
    known = (d is not None and c.prove_le(0, d) is True for d in wanted)
    pairs = zip(wanted, known, strict=True)
    return Shape(d if is_size and d is not None else c.fresh(f"expand.{i}") for i, (d, is_size) in enumerate(pairs))


def _new_axis(c: InferenceContext, size: Dim | None, axis: int) -> Dim:
    if size is None:
        return c.fresh(f"expand.{axis}")
    if c.prove_le(0, size) is not True:
        c.at_least(size, 0, "a new axis must have a size of at least 0")
    return size


def _expanded(c: InferenceContext, d: Dim, size: Dim | None, axis: int) -> Dim:
    """The size of an axis: the requested one, its own where -1 is requested."""
    if size == -1:
        return d
    if isinstance(size, int) and size < 0:
        c.fail("a size must be at least 0, or -1", size)
    if size is None or c.prove_le(0, size) is not True:
        return d if c.prove_eq(d, 1) is False else c.fresh(f"expand.{axis}")
    require_broadcast_size(c, d, size, BROADCAST)
    return size


@pnnx("Tensor.expand_as")
def expand_as(c: InferenceContext, input: Value, other: Shape) -> PartialTensor:
    """Axes of size 1 repeated to the sizes of another tensor, and new ones in front."""
    require_broadcast_to(c, input.shape, other, BROADCAST)
    if other.dims is None or input.shape.dims is None:
        return PartialTensor(input.dtype, other, None)
    return broadcast_elements(input, other)


@pnnx("Tensor.repeat")
def repeat(c: InferenceContext, input: Value, *, sizes: object) -> PartialTensor:
    """Each axis repeated; further numbers in front are for new axes."""
    counts = read_dims(c, sizes, "sizes")
    if input.shape.dims is not None and len(counts) < len(input.shape.dims):
        c.fail("there must be a number of repeats for each axis of the input", input.shape, counts)
    return _repeated(c, input, counts)


@pnnx("torch.tile")
def tile(c: InferenceContext, input: Value, *, dims: object) -> PartialTensor:
    """Each axis repeated; where there are fewer numbers than axes they are for the last ones."""
    counts = read_dims(c, dims, "dims")
    return _repeated(c, input, (*(1,) * (len(input.shape) - len(counts)), *counts))


def _repeated(c: InferenceContext, x: PartialTensor, counts: Sequence[Dim | None]) -> PartialTensor:
    if len(counts) > MAX_RANK:
        c.fail(f"a tensor has at most {MAX_RANK} axes", len(counts))
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
    """Each slice along an axis (of the flattened input without one) repeated a number of times, or one of its own."""
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
        total = _interleaved(c, size, repeats, output_size)
    return PartialTensor(input.dtype, Shape((*shape[:axis], total, *shape[axis + 1 :])), None)


def _interleaved(c: InferenceContext, size: Dim, repeats: PartialTensor, output_size: object) -> Dim:
    """The sum of the numbers of repeats, one for each slice or one for all."""
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
    """The elements along some axes shifted in a circle, without axes those of the flattened tensor."""
    if shifts is None or dims is None:  # computed
        return PartialTensor(input.dtype, input.shape, None)
    amounts, named = read_dims(c, shifts, "shifts"), read_ints(c, dims, "dims")
    if named or len(amounts) != 1:
        check_count(c, amounts, "shifts", len(named), "item of dims")
    if input.shape.dims is None or 0 in input.shape.dims:  # torch checks no axes of an empty tensor
        return PartialTensor(input.dtype, input.shape, None)
    axes = tuple(c.axis(axis, len(input.shape.dims)) for axis in named)
    known = [amount for amount in amounts if isinstance(amount, int)]
    if len(known) < len(amounts) or not input.shape.dims:
        return PartialTensor(input.dtype, input.shape, None)
    turns = known if axes else known[0]
    return move_elements(input, input.shape, lambda array: numpy_function("roll")(array, turns, axes or None))


@pnnx("torch.flip")
def flip(c: InferenceContext, input: Value, *, dims: object) -> PartialTensor:
    """Some axes reversed."""
    axes = read_ints(c, dims, "dims")
    if input.shape.dims is None:
        return PartialTensor(input.dtype, input.shape, None)
    return flip_axes(input, read_axes(c, axes, len(input.shape.dims)))
