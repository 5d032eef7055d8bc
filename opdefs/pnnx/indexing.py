"""Elements at indices: advanced indexing as numpy's, gathering, scattering, masks, diagonals."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.dialect import pnnx
from opdefs.pnnx.operands import convert_operands, tensor_or_number
from opdefs.rules.contents.conditions import select_by_condition
from opdefs.rules.contents.elements import clamp_at_zero, element_array, is_listable, known_ints
from opdefs.rules.contents.rearrangement import choose_slices, diagonal_matrix, diagonal_part, index_array
from opdefs.rules.contents.updates import update_rule
from opdefs.rules.gathering import (
    constrain_index_shape,
    constrain_indices,
    pick_elements,
    scatter_along_axis,
    scatter_tuples,
    take_axis,
)
from opdefs.rules.numbers import read_int
from opdefs.rules.operands import require_broadcast_to
from opdefs.rules.repetition import broadcast_elements
from opdefs.rules.unknowns import fresh_count, nonzero_count
from shapeinf.errors import ModelError, ShapeError
from shapeinf.expr import DimSize, minimum
from shapeinf.formats.pnnx.expression import Expression, ListOf, Literal, parse
from shapeinf.lattice import SCALAR, ChosenIndices, PartialTensor, SequenceType, Shape, TensorType, to_partial
from shapeinf.ops import InferenceContext, Value

MASKS = ("bool", "uint8")
"""The element types of masks; torch reads indices of uint8 as masks."""


@attrs.frozen
class _Index:
    """One tensor of a list of indices: the first axis that it indexes, the number of axes, the shape of the indices.

    `positions` are the contents of the tensor, None for a mask.
    """

    axis: int
    axes: int
    shape: Shape
    positions: PartialTensor | None = None


@pnnx("Tensor.index")
def index(
    c: InferenceContext, input: Value, expr: TensorType | SequenceType | None = None, *, expr_: object = None
) -> PartialTensor:
    """Advanced indexing: the broadcast of all indices replaces the axes that they index.

    Its axes come first if the indexed axes are not adjacent. A mask indexes as many axes as it has, with the positions
    of its true elements.
    """
    return index_by(c, input, _read_list(c, expr, expr_))


def index_by(c: InferenceContext, input: PartialTensor, items: Sequence[PartialTensor | None]) -> PartialTensor:
    """The elements at the indices of a list, None for an axis that is not indexed; see `index`."""
    shape = _indexed_shape(c, input.shape, items)
    if len(items) == 1 and items[0] is not None and items[0].dtype not in MASKS and 0 not in shape:
        return take_axis(input, items[0], 0)
    return input.rearranged(shape)


@pnnx("Tensor.index_put", in_place=(0,))
def index_put(
    c: InferenceContext,
    input: Value,
    indices: TensorType | SequenceType | None = None,
    values: Value | None = None,
    *,
    indices_: object = None,
    values_: object = None,
    accumulate: object = False,
) -> PartialTensor:
    """[*S] -> [*S]; the values broadcast to the indexed elements. Contents for indices of the first axis alone."""
    items = _read_list(c, indices, indices_)
    add = accumulate if isinstance(accumulate, bool) else None
    if values is None:
        return PartialTensor(input.dtype, input.shape, None)
    return put_by(c, input, items, values, accumulate=add)


def put_by(
    c: InferenceContext,
    x: PartialTensor,
    items: Sequence[PartialTensor | None],
    values: PartialTensor,
    *,
    accumulate: bool | None,
) -> PartialTensor:
    """The tensor with values at the indices of a list, None for an axis that is not indexed; see `index_put`."""
    unknown = PartialTensor(x.dtype, x.shape, None)
    if x.shape.dims is None or any(item is not None and item.dtype is None for item in items):
        return unknown
    indexed = _indexed_shape(c, x.shape, items)
    require_broadcast_to(c, values.shape, indexed, "values must broadcast to the shape of the indexed elements")
    only = items[0] if len(items) == 1 else None
    if only is None or only.dtype in MASKS or only.elements is None or values.elements is None or accumulate is None:
        return unknown
    tuples = PartialTensor(only.dtype, Shape((*only.shape, 1)), only.elements)
    updates = broadcast_elements(PartialTensor(x.dtype, values.shape, values.elements), indexed)
    same = values.dtype == x.dtype
    rule = update_rule(c, x.dtype, "add" if accumulate else "none")
    return scatter_tuples(x, tuples, updates, rule) if same else unknown


def _read_list(
    c: InferenceContext, computed: TensorType | SequenceType | None, written: object
) -> list[PartialTensor | None]:
    """The index tensors, None for an axis that is not indexed."""
    if computed is None:
        return _parse_indices(c, written)
    if isinstance(computed, TensorType):
        return [to_partial(computed)]
    if computed.items is None:
        raise c.unknowable("the items of the list of indices are not known")
    return [to_partial(item) if isinstance(item, TensorType) else None for item in computed.items]


def _parse_indices(c: InferenceContext, written: object) -> list[PartialTensor | None]:
    """The indices of a list that is a literal expression, such as `[None,[0,2,1]]`."""
    try:
        tree = parse(written) if isinstance(written, str) else None
    except ModelError as error:
        raise ShapeError(str(error)) from None
    if not isinstance(tree, ListOf):
        c.fail("the argument with the indices must be a list", written)
    return [_literal_index(c, item) for item in tree.items]


def _literal_index(c: InferenceContext, item: Expression) -> PartialTensor | None:
    """The index tensor for a literal number or list of numbers; None for None."""
    if isinstance(item, Literal) and item.value is None:
        return None
    numbers = item.items if isinstance(item, ListOf) else (item,)
    values = [number.value for number in numbers if isinstance(number, Literal)]
    dtype = "bool" if values and all(type(value) is bool for value in values) else "int64"
    if len(values) < len(numbers) or (dtype == "int64" and any(type(value) is not int for value in values)):
        raise c.unknowable("the indices are not a list of integers")
    shape = Shape((len(values),)) if isinstance(item, ListOf) else SCALAR
    return PartialTensor(dtype, shape, values if is_listable(shape) else None)


def _indexed_shape(c: InferenceContext, x: Shape, items: Sequence[PartialTensor | None]) -> Shape:
    """The shape of the indexed elements; requires that known indices lie inside their axes."""
    dims = x.require()
    indices: list[_Index] = []
    axis = 0
    for item in items:
        if item is None:
            axis += 1
            continue
        index = _read_index(c, x, item, axis)
        indices.append(index)
        axis += index.axes
    if axis > len(dims):
        c.fail("there must be at most one index for each axis of the input", x, axis)
    if not indices:
        return x
    common = c.broadcast(*(index.shape for index in indices)).require()
    is_filled = c.store.bounds(c.numel(common))[0] >= 1  # torch reads no indices if the result is empty
    for index in indices:
        if index.positions is not None and (is_filled or isinstance(index.positions, ChosenIndices)):
            constrain_indices(c, index.positions, dims[index.axis])
    indexed = [index.axis + i for index in indices for i in range(index.axes)]
    first, last = indexed[0], indexed[-1]
    if last - first + 1 == len(indexed):
        return Shape((*dims[:first], *common, *dims[last + 1 :]))
    return Shape((*common, *(d for i, d in enumerate(dims) if i not in indexed)))


def _read_index(c: InferenceContext, x: Shape, item: PartialTensor, axis: int) -> _Index:
    """The index of a tensor that indexes the axes from `axis` on."""
    if item.dtype is None:
        raise c.unknowable("it is not known whether an index is a mask")
    if item.dtype not in MASKS:
        return _Index(axis, 1, Shape(item.shape.require()), item)
    sizes = item.shape.require()
    if not sizes:
        raise c.unknowable("an index that is a mask of rank 0 is not analyzed")
    if axis + len(sizes) > len(x):
        c.fail("a mask must have at most as many axes as there are to index", x, item.shape)
    for i, size in enumerate(sizes, axis):
        c.merge(size, x[i], f"a mask must have the size of axis {i} of the input, which it indexes")
    return _Index(axis, len(sizes), Shape((nonzero_count(c, item),)))


@pnnx("torch.gather")
def gather(
    c: InferenceContext, input: Value, index: Value, *, dim: object, sparse_grad: object = False
) -> PartialTensor:
    """[*A, d, *B], indices [*I] -> [*I], which is at most as large as the input along the axes other than `dim`."""
    constrain_positions(c, input.shape, index, dim)
    if not input.shape.dims or input.shape.rank != index.shape.rank:
        return PartialTensor(input.dtype, index.shape, None)
    return pick_elements(input, index, read_axis(c, dim, len(input.shape)))


def constrain_positions(c: InferenceContext, x: Shape, index: PartialTensor, dim: object) -> None:
    """Require that indices address elements along an axis, unless they are empty: torch checks nothing then."""
    axis = None if x.dims is None else read_axis(c, dim, len(x.dims))
    if axis is None or index.shape.dims is None:
        return
    if c.store.bounds(c.numel(index.shape))[0] < 1:
        if isinstance(index, ChosenIndices) and x.dims:
            constrain_indices(c, index, x[axis])
        return
    if max(len(x), 1) != max(len(index.shape), 1):
        c.fail("input and index must have the same rank", x, index.shape)
    if x.dims and index.shape.dims:
        constrain_index_shape(c, index.shape, x, axis)
        constrain_indices(c, index, x[axis], from_end=False)


@pnnx("torch.scatter_add", in_place=(0,))
def scatter_add(c: InferenceContext, input: Value, index: Value, src: Value, *, dim: object) -> PartialTensor:
    """[*S], indices [*I], a source at least as large as the indices -> [*S]."""
    constrain_positions(c, input.shape, index, dim)
    known = constrain_source(c, index.shape, src.shape)
    positions, updates = known_ints(index), element_array(src)
    if not known or not input.shape.dims or positions is None or updates is None or input.dtype != src.dtype:
        return PartialTensor(input.dtype, input.shape, None)
    at = index_array(index, positions)
    part = updates[tuple(slice(size) for size in at.shape)]
    axis = read_axis(c, dim, len(input.shape))
    return scatter_along_axis(input, at, part, axis, update_rule(c, input.dtype, "add"))


def constrain_source(c: InferenceContext, index: Shape, src: Shape) -> bool:
    """Require that a source is at least as large as the indices; whether both ranks are known and equal."""
    if index.dims is None or src.dims is None:
        return False
    if c.store.bounds(c.numel(index))[0] >= 1:
        if max(len(index), 1) != max(len(src), 1):
            c.fail("index and src must have the same rank", index, src)
        for count, size in zip(index, src, strict=False):
            c.at_most(count, size, "index must be at most as large as src along each axis")
    return len(index) == len(src)


@pnnx("torch.index_select")
def index_select(c: InferenceContext, input: Value, index: Value, *, dim: object) -> PartialTensor:
    """[*A, d, *B], indices [n], or a scalar for one -> [*A, n, *B]."""
    axis = read_axis(c, dim, len(input.shape))
    if index.shape.rank == 0:
        index = PartialTensor(index.dtype, Shape((1,)), index.elements)
    indices = PartialTensor(index.dtype, c.require_rank(index.shape, 1, "index"), index.elements)
    if not input.shape.dims:
        c.merge(indices.shape[0], 1, "index must have one element for an input of rank 0")
        return input
    constrain_indices(c, indices if index.elements is not None else index, input.shape[axis], from_end=False)
    return take_axis(input, indices, axis)


@pnnx("torch.masked_select")
def masked_select(c: InferenceContext, input: Value, mask: Value) -> PartialTensor:
    """[*A], a mask [*B] -> [count], the elements of their broadcast where the mask is true."""
    if input.shape.dims is None or mask.shape.dims is None:
        return PartialTensor(input.dtype, Shape((c.fresh("count"),)), None)
    shape = c.broadcast(input.shape, mask.shape)
    flags = broadcast_elements(mask, shape)
    if input.elements is not None and flags.elements is not None and set(flags.elements) <= {True, False}:
        chosen = [i for i, flag in enumerate(flags.elements) if flag]
        return choose_slices(broadcast_elements(input, shape), chosen, None, Shape((len(chosen),)))
    count = nonzero_count(c, mask) if shape == mask.shape else fresh_count(c, c.numel(shape))
    return PartialTensor(input.dtype, Shape((count,)), None)


@pnnx("Tensor.masked_fill", in_place=(0,))
def masked_fill(
    c: InferenceContext, input: Value, mask: Value, value: Value | None = None, *, value_: object = None
) -> PartialTensor:
    """Numpy broadcasting of the input and the mask; the value is a scalar."""
    if value is not None:
        c.require_rank(value.shape, 0, "value")
    shape = c.broadcast(input.shape, mask.shape)
    fill = tensor_or_number(c, value, value_, "value") if not isinstance(value_, str) else None  # such as -inf
    if fill is None or input.elements is None or mask.elements is None:
        return PartialTensor(input.dtype, shape, None)
    return select_by_condition(c, input.dtype, shape, mask, *convert_operands(c, input.dtype, fill, input))


@pnnx("torch.diag")
def diag(c: InferenceContext, input: Value, *, diagonal: object = 0) -> PartialTensor:
    """[n] -> a square matrix with this diagonal, or [M, N] -> its diagonal: the main one, above (> 0) or below it."""
    offset = read_int(c, diagonal, "diagonal")
    shape = _diagonal_shape(c, input.shape, offset)
    return diagonal_matrix(input, shape, offset) if len(input.shape) == 1 else diagonal_part(input, shape, offset)


def _diagonal_shape(c: InferenceContext, input: Shape, offset: int) -> Shape:
    dims = input.require()
    if len(dims) == 1:
        return Shape((dims[0] + abs(offset),) * 2)
    if len(dims) != 2:
        c.fail("the input must be a vector or a matrix", input)
    rows, columns = dims[0] + min(offset, 0), dims[1] - max(offset, 0)
    size: DimSize = rows if rows == columns else minimum(rows, columns)
    return Shape((clamp_at_zero(c, size),))
