"""The same elements with other axes (chapter 4.5)."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, read_flat_dims, read_front_axes
from opdefs.nnef.broadcasting import extend_rank
from opdefs.nnef.dialect import nnef
from opdefs.rules.contents.elements import move_elements
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.numbers import read_int, read_ints
from opdefs.rules.reshaping import reshape_dims
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


@nnef("reshape", views={0: 0})
def reshape(
    c: InferenceContext, input: Value, *, shape: Listed, axis_start: int = 0, axis_count: int = -1
) -> PartialTensor:
    """`axis_count` axes from `axis_start` on replaced by those in `shape`: 0 keeps an extent, -1 is inferred."""
    requested = read_flat_dims(c, shape, "shape")
    start, count = read_int(c, axis_start, "axis_start"), read_int(c, axis_count, "axis_count")
    known = [d for d in requested if isinstance(d, int)]
    if any(d < -1 for d in known):
        c.fail("the items of shape must be at least -1", requested)
    if known.count(-1) > 1:
        c.fail("only one item of shape may be -1", requested)
    if input.shape.dims is None:
        return PartialTensor(input.dtype, _reshape_unknown_rank(c, input.shape, requested, start, count), None)
    x = extend_rank(c, input.shape, start + len(requested)) if 0 in known else input.shape
    end = _range_end(c, len(x), start, count)
    dims = [_extent(c, x, start + i, d) for i, d in enumerate(requested)]
    middle = reshape_dims(c, Shape(x[start:end]), dims, False)
    return reshape_elements(input, Shape((*x[:start], *middle, *x[end:])))


def _range_end(c: InferenceContext, rank: int, start: int, count: int) -> int:
    """The end of the replaced axes; a count of -1 stands for all axes from the start on."""
    if not 0 <= start <= rank:
        c.fail(f"axis_start must lie in 0..{rank}", start)
    if count < -1:
        c.fail("axis_count must be at least -1", count)
    end = rank if count == -1 else start + count
    if end > rank:
        c.fail(f"axis_start + axis_count must be at most {rank}, the rank of the input", start, count)
    return end


def _extent(c: InferenceContext, x: Shape, axis: int, d: DimSize | None) -> DimSize | None:
    """An item of `shape`, or the extent that a 0 keeps."""
    if not isinstance(d, int) or d != 0:
        return d
    if axis >= len(x):
        c.fail(f"an item of shape is 0, but the input has no axis {axis} to keep", x)
    return x[axis]


def _reshape_unknown_rank(
    c: InferenceContext, x: Shape, requested: tuple[DimSize | None, ...], start: int, count: int
) -> Shape:
    if start != 0 or count != -1:
        raise c.unknowable("the rank of the input is not known")
    return reshape_dims(c, x, requested, True)


@nnef("transpose")
def transpose(
    c: InferenceContext, input: Value, *, axes: Listed | None = None, perm: Listed | None = None
) -> PartialTensor:
    """The first axes in the order of `axes`, named `perm` in the provisional dialect."""
    named = axes if axes is not None else perm
    if named is None:
        c.fail("the required attribute 'axes' is missing")
    order = read_ints(c, named, "axes")
    x = extend_rank(c, input.shape, len(order))
    if sorted(order) != list(range(len(order))):
        c.fail(f"axes must contain each of 0..{len(order) - 1} once", order)
    if len(order) > len(x):
        c.fail("the length of axes must be at most the rank of the input", order, x)
    full = (*order, *range(len(order), len(x)))
    shape = Shape(x[i] for i in full)
    if len(x) > len(input.shape):
        return PartialTensor(input.dtype, shape, None)
    return move_elements(input, shape, lambda array: array.transpose(full))


@nnef("squeeze", views={0: 0})
def squeeze(c: InferenceContext, input: Value, *, axes: Listed) -> PartialTensor:
    """Axes of extent 1 removed."""
    removed = read_front_axes(c, axes, len(input.shape))
    for axis in removed:
        c.merge(input.shape[axis], 1, f"axis {axis} must have an extent of 1 to be squeezed")
    return reshape_elements(input, Shape(d for i, d in enumerate(input.shape) if i not in removed))


@nnef("unsqueeze", views={0: 0})
def unsqueeze(c: InferenceContext, input: Value, *, axes: Listed) -> PartialTensor:
    """Axes of extent 1 inserted at the positions `axes` of the output."""
    rank = len(input.shape) + len(axes)
    new = read_front_axes(c, axes, rank)
    rest = iter(input.shape)
    return reshape_elements(input, Shape(1 if i in new else next(rest) for i in range(rank)))
