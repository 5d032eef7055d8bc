"""Slices and selections along axes, and assignments to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import attrs

from opdefs.pnnx.arguments import require_known
from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.rules.contents.elements import MAX_RANK, broadcast_list, known_dims, known_ints, move_elements
from opdefs.rules.contents.updates import replace_element, update_elements
from opdefs.rules.gathering import constrain_indices
from opdefs.rules.numbers import check_count, read_dim, read_dims
from opdefs.rules.operands import is_unit, require_broadcast_to
from opdefs.rules.parts import HUGE, count_from_front, select_index, slice_axes
from opdefs.rules.reshaping import shape_of_sizes
from shapeinf.expr import DimSize
from shapeinf.lattice import SCALAR, Element, PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


@pnnx("Tensor.select")
def select(c: InferenceContext, input: Value, *, dim: object, index: object) -> PartialTensor:
    """[*A, d, *B] -> [*A, *B]: the slice at one index of an axis."""
    if input.shape.dims == ():
        c.fail("the input must have rank 1 or more")
    axis = read_axis(c, dim, len(input.shape))
    return _select(c, input, axis, read_dim(c, index, "index"))


def _select(c: InferenceContext, x: PartialTensor, axis: int, index: DimSize | None) -> PartialTensor:
    constrain_indices(c, PartialTensor("int64", SCALAR, (index,)), x.shape[axis])
    return select_index(c, x, axis, index)


@attrs.frozen
class Slices:
    """The arguments of a slice: those of one axis, or lists with an item for each of several axes.

    An absent start or end is that of the axis. `select` is an index, which replaces the slice unless it is `HUGE`.
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
    """The part of one axis: a slice, or, if it `selects`, the element at an index. None is unknown."""

    axis: int
    start: DimSize | None
    end: DimSize | None
    step: int | None
    index: DimSize | None = None
    selects: bool = False


@pnnx("Tensor.slice")
def slice_(c: InferenceContext, input: Value, *, slices: Slices) -> PartialTensor:
    """Slices as in Python, and indices, which remove their axes."""
    if input.shape.dims == ():
        c.fail("the input must have rank 1 or more")
    return _slice(c, input, _read_slices(c, slices, len(input.shape)))


def _slice(c: InferenceContext, x: PartialTensor, parts: Sequence[_Axis]) -> PartialTensor:
    sliced = [part for part in parts if not part.selects]
    columns = ([getattr(part, name) for part in sliced] for name in ("axis", "start", "end", "step"))
    result = slice_axes(c, x, *columns, as_python=True)
    for part in sorted((part for part in parts if part.selects), key=lambda part: -part.axis):
        result = _select(c, result, part.axis, part.index)
    return result


def _read_slices(c: InferenceContext, slices: Slices, rank: int) -> list[_Axis]:
    """The part of each axis that the arguments name."""
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
"""The arguments that are lists with an item for each axis, and the items of an absent list."""


def _read_list(c: InferenceContext, slices: Slices, name: str, count: int, default: int) -> Sequence[DimSize | None]:
    """The items of a list, None for unknown ones."""
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
        raise c.unknowable("it is unknown whether an axis is sliced or indexed")
    if stride is not None and c.prove_le(stride, 0) is True:
        c.fail("step must be at least 1", stride)
    known = stride if isinstance(stride, int) else None
    return _Axis(axis, read_dim(c, start, "start"), read_dim(c, end, "end"), known)


@own_types("pnnx.SliceIndexes")
def slice_indexes(c: InferenceContext, *inputs: Value, indexes: object) -> PartialTensor:
    """A list of numbers, some of which are inputs: `@0` is the first input."""
    items = indexes if isinstance(indexes, tuple) else (indexes,)
    return PartialTensor("int64", Shape((len(items),)), [_read_index(c, item, inputs) for item in items])


def _read_index(c: InferenceContext, item: object, inputs: Sequence[PartialTensor]) -> Element:
    if isinstance(item, int):
        return int(item)
    position = item[1:] if isinstance(item, str) and item[:1] == "@" else ""
    if not position.isdecimal() or int(position) >= len(inputs):
        c.fail("each item of indexes must be an integer or an input such as @0", item)
    known = known_dims(inputs[int(position)])
    return known[0] if known is not None and len(known) == 1 else None


@pnnx("Tensor.slice_copy", in_place=(0,))
def slice_copy(c: InferenceContext, self: Value, src: Value | None = None, *, slices: Slices) -> PartialTensor:
    """[*S], a source that broadcasts to the slice -> [*S]."""
    if self.shape.dims is None or src is None:
        return PartialTensor(self.dtype, self.shape, None)
    part = _slice(c, _numbered(self), _read_slices(c, slices, len(self.shape.dims)))
    source = _drop_unit_axes(src.shape, part.shape)
    require_broadcast_to(c, source, part.shape, "src must broadcast to the slice")
    return _assign(self, part, PartialTensor(src.dtype, source, src.elements))


def _numbered(x: PartialTensor) -> PartialTensor:
    """A tensor of the same shape with the position of each element, where the contents are known."""
    return PartialTensor("int64", x.shape, None if x.elements is None else range(len(x.elements)))


def _assign(x: PartialTensor, part: PartialTensor, src: PartialTensor) -> PartialTensor:
    """The tensor with a source at the positions that a slice of `_numbered` has."""
    positions = known_ints(part)
    if x.elements is None or positions is None or src.elements is None or src.dtype != x.dtype:
        return PartialTensor(x.dtype, x.shape, None)
    updates = broadcast_list(src, part.shape)
    return move_elements(x, x.shape, lambda array: update_elements(array, positions, updates, replace_element))


def _drop_unit_axes(src: Shape, target: Shape) -> Shape:
    """The source without leading axes of size 1 that the slice does not have: an assignment ignores these."""
    dims = src.dims
    while dims is not None and target.dims is not None and len(dims) > len(target.dims) and is_unit(dims[0]):
        dims = dims[1:]
    return src if dims is None else Shape(dims)


@pnnx("torch.slice_scatter", in_place=(0,))
def slice_scatter(
    c: InferenceContext,
    input: Value,
    src: Value,
    *,
    dim: object = 0,
    start: object = 0,
    end: object = HUGE,
    step: object = 1,
) -> PartialTensor:
    """[*S], a source of the shape of the slice -> [*S]."""
    if input.shape.dims is None:
        return PartialTensor(input.dtype, input.shape, None)
    slices = Slices(dim, start, end, step)
    part = _slice(c, _numbered(input), _read_slices(c, slices, len(input.shape.dims)))
    c.merge(src.shape, part.shape, "src must have the shape of the slice")
    return _assign(input, part, src)


@pnnx("torch.narrow")
def narrow(c: InferenceContext, input: Value, *, dim: object, start: object, length: object) -> PartialTensor:
    """[*A, d, *B] -> [*A, length, *B]: `length` elements of an axis from `start` on, all inside the axis."""
    if input.shape.dims == ():
        c.fail("the input must have rank 1 or more")
    axis = read_axis(c, dim, len(input.shape))
    size = input.shape[axis]
    count = shape_of_sizes(c, (read_dim(c, length, "length"),), "length")[0]
    first = count_from_front(c, read_dim(c, start, "start"), size)
    shape = Shape((*input.shape[:axis], count, *input.shape[axis + 1 :]))
    if first is None:
        c.at_most(count, size, "length must be at most the size of the axis")
        return PartialTensor(input.dtype, shape, None)
    c.at_least(first, 0, "start must be at least 0, or count from the end of the axis")
    c.at_most(first + count, size, "start + length must be at most the size of the axis")
    part = slice_axes(c, input, [axis], [first], [first + count], [1])
    return part if part.shape == shape else PartialTensor(input.dtype, shape, None)


@pnnx("torch.as_strided")
def as_strided(c: InferenceContext, input: Shape, *, size: object, stride: object, storage_offset: object = 0) -> Shape:
    """The sizes in `size`. Left open where the strides reach past the elements of the input.

    The storage behind the input may be larger than the input.
    """
    sizes = read_dims(c, size, "size")
    if len(sizes) > MAX_RANK:
        c.fail(f"size must have at most {MAX_RANK} items", len(sizes))
    strides = read_dims(c, stride, "stride")
    check_count(c, strides, "stride", len(sizes), "item of size")
    offset = 0 if storage_offset is None else read_dim(c, storage_offset, "storage_offset")
    last = _last_position(sizes, [offset, *strides])
    if input.dims is not None and 0 not in sizes and (last is None or c.prove_le(last + 1, c.numel(input)) is not True):
        reason = "the strides reach past the elements of the input, whose storage may be larger"
        c.store.add_disjunction("the storage must have the elements that the strides reach", c.source(reason))
    return shape_of_sizes(c, sizes, "size")


def _last_position(sizes: Sequence[DimSize | None], distances: Sequence[DimSize | None]) -> DimSize | None:
    """The position in storage of the last element; `distances` are the offset and the strides."""
    total: DimSize = 0
    for size, distance in zip((2, *sizes), distances, strict=True):
        if size is None or distance is None:
            return None
        total += (size - 1) * distance
    return total
