"""Slices and selections along axes, and assignments to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import attrs

from opdefs.pnnx.arguments import require_known
from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.rules.elements import MAX_RANK, known_dims
from opdefs.rules.gathering import constrain_indices
from opdefs.rules.numbers import check_count, read_dim, read_dims
from opdefs.rules.operands import require_broadcast_to
from opdefs.rules.parts import HUGE, select_index, slice_axes
from opdefs.rules.reshaping import shape_of_sizes
from shapeinf.expr import Dim
from shapeinf.lattice import SCALAR, Element, PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value

MISFIT = "the source must broadcast to the slice"


@pnnx("Tensor.select")
def select(c: InferenceContext, input: Value, *, dim: object, index: object) -> PartialTensor:
    """The slice at one index of an axis, without the axis."""
    if input.shape.dims == ():
        c.fail("a tensor without axes has no elements to select")
    axis = read_axis(c, dim, len(input.shape))
    return _select(c, input, axis, read_dim(c, index, "index"))


def _select(c: InferenceContext, x: PartialTensor, axis: int, index: Dim | None) -> PartialTensor:
    constrain_indices(c, PartialTensor("int64", SCALAR, (index,)), x.shape[axis])
    return select_index(c, x, axis, index)


@attrs.frozen
class Slices:
    """The arguments of a slice: of one axis, or lists with an item for each of several axes.

    A start or end that is not written is that of the axis. A `select` is an index instead of a slice; `HUGE` is none.
    """

    open_to_unknowns: ClassVar[bool] = True

    dim: object = 0
    start: object = 0
    end: object = HUGE
    step: object = 1
    select: object = HUGE
    dims: object = None
    starts: object = None
    ends: object = None
    steps: object = None
    selects: object = None


@attrs.frozen
class _Axis:
    """What is taken of one axis: a slice, or the element at an index; None is unknown."""

    axis: int
    start: Dim | None
    end: Dim | None
    step: int | None
    index: Dim | None = None
    selects: bool = False


@pnnx("Tensor.slice")
def slice_(c: InferenceContext, input: Value, *, slices: Slices) -> PartialTensor:
    """Slices as Python's, and indices, which remove their axes."""
    if input.shape.dims == ():
        c.fail("a tensor without axes has no slices")
    return _slice(c, input, _read_slices(c, slices, len(input.shape)))


def _slice(c: InferenceContext, x: PartialTensor, parts: Sequence[_Axis]) -> PartialTensor:
    sliced = [part for part in parts if not part.selects]
    columns = ([getattr(part, name) for part in sliced] for name in ("axis", "start", "end", "step"))
    result = slice_axes(c, x, *columns, as_python=True)
    for part in sorted((part for part in parts if part.selects), key=lambda part: -part.axis):
        result = _select(c, result, part.axis, part.index)
    return result


def _read_slices(c: InferenceContext, slices: Slices, rank: int) -> list[_Axis]:
    """What is taken of each axis that the arguments name."""
    require_known(c, "dims", slices.dims)
    if slices.dims is None:
        rows = [(slices.dim, slices.start, slices.end, slices.step, slices.select)]
    else:
        dims = read_dims(c, slices.dims, "dims")
        lists = [_read_list(c, slices, name, len(dims), default) for name, default in _LISTS.items()]
        rows = list(zip(dims, *lists, strict=True))
    parts = [_read_axis_part(c, rank, *row) for row in rows]
    c.axes([part.axis for part in parts], rank)
    return parts


_LISTS = {"starts": 0, "ends": HUGE, "steps": 1, "selects": HUGE}
"""The lists with an item for each axis, and the items of a missing one."""


def _read_list(c: InferenceContext, slices: Slices, name: str, count: int, default: int) -> Sequence[Dim | None]:
    value = getattr(slices, name)
    if value is None:
        return (None if name in c.written else default,) * count
    values = read_dims(c, value, name)
    check_count(c, values, name, count, "item of dims")
    return values


def _read_axis_part(
    c: InferenceContext, rank: int, dim: object, start: object, end: object, step: object, select: object
) -> _Axis:
    axis = read_axis(c, dim, rank)
    index, stride = read_dim(c, select, "select"), read_dim(c, step, "step")
    if index != HUGE and (index is not None or stride == 0):
        return _Axis(axis, None, None, None, index, selects=True)
    if index is None:
        raise c.unknowable("it is not known whether an axis is sliced or selected")
    if stride is not None and c.prove_le(stride, 0) is True:
        c.fail("the step of a slice must be at least 1", stride)
    known = stride if isinstance(stride, int) else None
    return _Axis(axis, read_dim(c, start, "start"), read_dim(c, end, "end"), known)


@own_types("pnnx.SliceIndexes")
def slice_indexes(c: InferenceContext, *inputs: Value, indexes: object) -> PartialTensor:
    """A list of numbers, some of them inputs: `@0` is the first one."""
    items = indexes if isinstance(indexes, tuple) else (indexes,)
    return PartialTensor("int64", Shape((len(items),)), [_read_index(c, item, inputs) for item in items])


def _read_index(c: InferenceContext, item: object, inputs: Sequence[PartialTensor]) -> Element:
    if isinstance(item, int):
        return int(item)
    position = item[1:] if isinstance(item, str) and item[:1] == "@" else ""
    if not position.isdecimal() or int(position) >= len(inputs):
        c.fail("each index must be an integer or an input such as @0", item)
    known = known_dims(inputs[int(position)])
    return known[0] if known is not None and len(known) == 1 else None


@pnnx("Tensor.slice_copy", in_place=(0,))
def slice_copy(c: InferenceContext, self: Shape, src: Shape | None = None, *, slices: Slices) -> Shape:
    """The first tensor, in which the source, broadcast to the slice, replaces the slice."""
    if self.dims is not None and src is not None:
        part = _slice(c, PartialTensor(None, self, None), _read_slices(c, slices, len(self.dims)))
        require_broadcast_to(c, _without_unit_axes(src, part.shape), part.shape, MISFIT)
    return self


def _without_unit_axes(src: Shape, target: Shape) -> Shape:
    """The source without axes of size 1 in front that the slice does not have: an assignment ignores these."""
    dims = src.dims
    while dims is not None and target.dims is not None and len(dims) > len(target.dims) and dims[0] == 1:
        dims = dims[1:]
    return src if dims is None else Shape(dims)


@pnnx("torch.slice_scatter", in_place=(0,))
def slice_scatter(
    c: InferenceContext,
    input: Shape,
    src: Shape,
    *,
    dim: object = 0,
    start: object = 0,
    end: object = HUGE,
    step: object = 1,
) -> Shape:
    """The first tensor, in which the source replaces a slice of equal shape."""
    if input.dims is not None:
        slices = Slices(dim, start, end, step)
        part = _slice(c, PartialTensor(None, input, None), _read_slices(c, slices, len(input.dims)))
        c.expect(src, part.shape, "the source must have the shape of the slice")
    return input


@pnnx("torch.narrow")
def narrow(c: InferenceContext, input: Value, *, dim: object, start: object, length: object) -> PartialTensor:
    """`length` elements of an axis from `start` on, all of which must exist."""
    if input.shape.dims == ():
        c.fail("a tensor without axes cannot be narrowed")
    axis = read_axis(c, dim, len(input.shape))
    size = input.shape[axis]
    count = shape_of_sizes(c, (read_dim(c, length, "length"),), "length")[0]
    first = _count_from_front(c, read_dim(c, start, "start"), size)
    shape = Shape((*input.shape[:axis], count, *input.shape[axis + 1 :]))
    if first is None:
        c.at_most(count, size, "the axis must have `length` elements")
        return PartialTensor(input.dtype, shape, None)
    c.at_least(first, 0, "start must lie inside the axis")
    c.at_most(first + count, size, "the axis must have `length` elements from `start` on")
    part = slice_axes(c, input, [axis], [first], [first + count], [1])
    return part if part.shape == shape else PartialTensor(input.dtype, shape, None)


def _count_from_front(c: InferenceContext, index: Dim | None, size: Dim) -> Dim | None:
    """A position counted from the front; None if it or its sign is unknown."""
    if index is None or c.prove_le(0, index) is True:
        return index
    return index + size if c.prove_le(index, -1) is True else None


@pnnx("torch.as_strided")
def as_strided(c: InferenceContext, input: Shape, *, size: object, stride: object, storage_offset: object = 0) -> Shape:
    """Any sizes with any strides: the storage behind the input, which may be larger than it, must have the elements."""
    sizes = read_dims(c, size, "size")
    if len(sizes) > MAX_RANK:
        c.fail(f"size must have at most {MAX_RANK} items", len(sizes))
    check_count(c, read_dims(c, stride, "stride"), "stride", len(sizes), "item of size")
    return shape_of_sizes(c, sizes, "size")
