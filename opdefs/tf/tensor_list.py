"""Lists of tensors: variants with the join of the types of their items, and their number.

The items of a reserved list are zeros at first. Their shape is that of the other items and of `element_shape`, which
the kernels require to agree: so the type of the items covers them. An `element_shape` without open sizes is the shape
of all items; any other is compared with theirs when they are read.
"""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims, known_ints
from opdefs.rules.unknowns import cover_dim, is_steady
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import (
    OPEN,
    Values,
    declared_shape,
    join_values,
    length_behind,
    read_value,
    refine,
    values_behind,
    without_elements,
)
from shapeinf.expr import DimSize, maximum
from shapeinf.graph import DeclaredType
from shapeinf.lattice import SCALAR, HandleType, PartialTensor, Progression, Shape, TensorType
from shapeinf.ops import Value

HANDLES = ("variant", "resource")
"""The types of items that are handles: their declared shape is not that of the values behind them."""


def create_list(values: Values, length: DimSize | None, shape: Shape = SCALAR) -> HandleType:
    """The handle of a list of items; with a shape, a tensor of such lists."""
    return HandleType("variant", shape, values, length)


def list_of(values: Values, length: DimSize | None, shape: Shape = SCALAR) -> HandleType:
    """The handle of a list with items of this type; an empty list has none, so that items of any type may follow."""
    return create_list(() if length == 0 else values, length, shape)


def shape_in(c: TensorFlowContext, index: int) -> Shape:
    """The shape in input `index`, an `element_shape`: a scalar is an unknown rank, -1 an unknown size."""
    return c.make_shape_from_shape_tensor(index, scalar_is_unknown=True)


def declared_items(c: TensorFlowContext, index: int, dtype: str) -> Values:
    """The type of the items of a new list if `element_shape`, input `index`, leaves no size open; else none."""
    shape = shape_in(c, index)
    dims = known_dims(c.value(index))
    closed = dims is not None and all(d is not None and c.prove_le(0, d) is True for d in dims)
    if dtype in HANDLES or shape.dims is None or not (shape.dims == () or closed):
        return ()
    return (TensorType(dtype, shape),)


def item_type(c: TensorFlowContext, handle: TensorType, dtype: str) -> TensorType | None:
    """The type of the items of a list, None if unknown. Raises ShapeError if they have another dtype."""
    values = values_behind(handle)
    if not values:
        return None
    item = values[0]
    if item.dtype is not None and item.dtype != dtype:
        c.fail(
            f"Trying to read from list with wrong element dtype. List has type {item.dtype} but expected type {dtype}"
        )
    return item


def read_item(c: TensorFlowContext, handle: TensorType, declared: Shape, dtype: str) -> TensorType:
    """The type of an item, which agrees with the shape that the reader declares."""
    item = item_type(c, handle, dtype)
    if item is None:
        return TensorType(dtype, declared)
    return read_value(c, item.with_type(dtype, refine(c, declared, item.shape)))


def tail_of(c: TensorFlowContext, tensor: TensorType, declared: Shape | None = None) -> TensorType:
    """[n, *S] -> [*S], merged with a declared shape."""
    tail = c.subshape(c.with_rank_at_least(tensor.shape, 1), 1)
    tail = tail if declared is None else c.merge(tail, declared)
    if isinstance(tensor, HandleType):
        return tensor.with_type(tensor.dtype, tail)
    return TensorType(tensor.dtype, tail)


def stack(c: TensorFlowContext, item: TensorType, lead: Shape) -> TensorType:
    """[*S] -> [*lead, *S]."""
    shape = c.concatenate(lead, item.shape)
    return item.with_type(item.dtype, shape) if isinstance(item, HandleType) else TensorType(item.dtype, shape)


def length_after_writes(c: TensorFlowContext, length: DimSize | None, indices: PartialTensor) -> DimSize | None:
    """The length of a list that grows if items are stored behind its end; None if unknown."""
    known = known_dims(indices)
    if length is None or known is None or any(index is None for index in known):
        last = _last_of_range(c, indices)
        return length if length is not None and last is not None and c.prove_le(last + 1, length) is True else None
    return maximum(length, *(index + 1 for index in known if index is not None))


def _last_of_range(c: TensorFlowContext, indices: PartialTensor) -> DimSize | None:
    """The greatest of evenly spaced indices; None for others."""
    if not isinstance(indices, Progression) or len(indices.steps) != 1:
        return None
    return indices.base + max(indices.steps[0], 0) * (indices.shape[0] - 1)


# -- create ------------------------------------------------------------------------------------------------------------


@tf("EmptyTensorList")
def empty_list(
    c: TensorFlowContext, element_shape: Value, max_num_elements: Shape, *, element_dtype: str
) -> HandleType:
    """element_shape, [] -> a list without items."""
    return create_list(declared_items(c, 0, element_dtype), 0)


@tf("TensorListReserve")
def reserve(c: TensorFlowContext, element_shape: Value, num_elements: Value, *, element_dtype: str) -> HandleType:
    """element_shape, n [] -> a list of n zeros."""
    c.with_rank(num_elements.shape, 0)
    return create_list(declared_items(c, 0, element_dtype), c.make_dim_for_scalar_input(1))


@tf("TensorListFromTensor")
def list_from_tensor(c: TensorFlowContext, tensor: TensorType, element_shape: Value) -> HandleType:
    """[n, *S], element_shape -> a list of n items [*S]."""
    return list_of((tail_of(c, tensor, shape_in(c, 1)),), c.dim(tensor.shape, 0))


@tf("TensorListScatter")
def scatter(c: TensorFlowContext, tensor: TensorType, indices: Value, element_shape: Value) -> HandleType:
    """[n, *S], indices [n], element_shape -> a list of items [*S] up to the largest index."""
    known = known_ints(indices)
    length = None if known is None else max((0, *(index + 1 for index in known)))
    return _scatter(c, tensor, indices, shape_in(c, 2), length)


@tf("TensorListScatterV2")
def scatter_to_length(
    c: TensorFlowContext, tensor: TensorType, indices: Value, element_shape: Value, num_elements: Value
) -> HandleType:
    """As TensorListScatter, with the length as an input; -1 means up to the largest index."""
    c.with_rank(num_elements.shape, 0)
    (length,) = known_dims(num_elements) or (None,)
    if length == -1:
        return scatter(c, tensor, indices, element_shape)
    if length is not None and c.prove_le(0, length) is not True:
        length = None
    return _scatter(c, tensor, indices, shape_in(c, 2), length)


def _scatter(
    c: TensorFlowContext, tensor: TensorType, indices: PartialTensor, declared: Shape, length: DimSize | None
) -> HandleType:
    """The list with the rows of a tensor at these indices."""
    row = tail_of(c, tensor, declared)
    c.merge(c.dim(c.with_rank(indices.shape, 1), 0), c.dim(tensor.shape, 0))
    return list_of(join_values(c, (), (row,)), length)


@tf("TensorListSplit")
def split(c: TensorFlowContext, tensor: TensorType, element_shape: Value, lengths: Value) -> HandleType:
    """[n, *S], element_shape, lengths [k] -> a list of k parts [length, *S]."""
    declared = c.with_rank_at_least(shape_in(c, 1), 1)
    tail = tail_of(c, tensor, None if declared.dims is None else c.subshape(declared, 1))
    return list_of((part_of(c, tensor, tail, lengths),), c.dim(c.with_rank(lengths.shape, 1), 0))


def part_of(c: TensorFlowContext, tensor: TensorType, tail: TensorType, lengths: PartialTensor) -> TensorType:
    """The join of the parts of a tensor along its first axis, for `tail` the type of a row."""
    total = c.dim(tensor.shape, 0)
    known = [length for length in known_dims(lengths) or () if length is not None]
    if isinstance(lengths, Progression) and lengths.steps == (0,):
        known = [lengths.base]
    elif lengths.elements is None or len(known) < len(lengths.elements):
        known = []
    first = cover_dim(c, known, "part") if known else c.fresh_at_most(total, "part")
    return stack(c, tail, Shape((first,)))


# -- change ------------------------------------------------------------------------------------------------------------


@tf("TensorListPushBack")
def push_back(c: TensorFlowContext, input_handle: TensorType, tensor: TensorType, *, element_dtype: str) -> HandleType:
    """A list, [*S] -> the list with one more item."""
    item_type(c, input_handle, element_dtype)
    length, values = length_behind(input_handle), values_behind(input_handle)
    if length == 0:
        values = (_first_item(c, tensor, values),)
    else:
        values = join_values(c, values, (tensor,), with_elements=values != ())
    return create_list(values, None if length is None else length + 1, input_handle.shape)


def _first_item(c: TensorFlowContext, tensor: TensorType, declared: Values) -> TensorType:
    """The first item of a list, with the shape that the list declares, if it agrees."""
    known, dims = declared[0].shape.dims if declared else None, tensor.shape.dims
    if known is None or not all(isinstance(d, int) for d in known):
        return tensor
    if dims is not None and len(dims) != len(known):
        return tensor
    if any(c.prove_eq(a, b) is False for a, b in zip(dims or known, known, strict=True)):
        return tensor
    return tensor.with_type(tensor.dtype, Shape(known))


@tf("TensorListPushBackBatch")
def push_back_batch(
    c: TensorFlowContext, input_handles: TensorType, tensor: TensorType, *, element_dtype: str
) -> HandleType:
    """Lists [*B], [*B, *S] -> [*B]: each list with one more item."""
    item_type(c, input_handles, element_dtype)
    full, lists = c.merge_prefix(tensor.shape, input_handles.shape)
    rank = lists.rank
    row = TensorType(tensor.dtype, c.unknown_shape() if rank is None else c.subshape(full, rank))
    length = length_behind(input_handles)
    values = join_values(c, values_behind(input_handles), (row,))
    return create_list(values, None if length is None else length + 1, lists)


@tf("TensorListSetItem", in_place=(0,))
def set_item(
    c: TensorFlowContext,
    input_handle: TensorType,
    index: Value,
    item: TensorType,
    *,
    element_dtype: str,
    resize_if_index_out_of_bounds: bool = False,
) -> HandleType:
    """A list, index [], [*S] -> the list with another item at an index; it may grow only on request."""
    item_type(c, input_handle, element_dtype)
    c.with_rank(index.shape, 0)
    length = length_behind(input_handle)
    if resize_if_index_out_of_bounds:
        length = length_after_writes(c, length, index)
    return create_list(join_values(c, values_behind(input_handle), (item,)), length, input_handle.shape)


@tf("TensorListScatterIntoExistingList", in_place=(0,))
def scatter_into_list(
    c: TensorFlowContext, input_handle: TensorType, tensor: TensorType, indices: Value, *, element_dtype: str
) -> HandleType:
    """A list, [n, *S], indices [n] -> the list with n other items; it grows for indices behind its end."""
    item_type(c, input_handle, element_dtype)
    row = tail_of(c, tensor)
    c.merge(c.dim(c.with_rank(indices.shape, 1), 0), c.dim(c.with_rank_at_least(tensor.shape, 1), 0))
    length = length_after_writes(c, length_behind(input_handle), indices)
    values = join_values(c, values_behind(input_handle), (row,))
    return create_list(values, length, input_handle.shape)


@tf("TensorListPopBack")
def pop_back(
    c: TensorFlowContext, input_handle: TensorType, element_shape: Value, *, element_dtype: str
) -> tuple[HandleType, TensorType]:
    """A list, element_shape -> the list without its last item, and that item [*S]."""
    length = length_behind(input_handle)
    rest = None if length is None or length == 0 else length - 1
    item = read_item(c, input_handle, shape_in(c, 1), element_dtype)
    return list_of(values_behind(input_handle), rest, input_handle.shape), item


@tf("TensorListResize")
def resize(c: TensorFlowContext, input_handle: TensorType, size: Value) -> HandleType:
    """A list, size [] -> the list with another length; new items are zeros."""
    c.with_rank(size.shape, 0)
    values = values_behind(input_handle)
    values = values and tuple(map(without_elements, values))
    return list_of(values, c.make_dim_for_scalar_input(1), input_handle.shape)


@tf("TensorListConcatLists")
def concat_lists(c: TensorFlowContext, input_a: TensorType, input_b: TensorType, *, element_dtype: str) -> HandleType:
    """Lists [*B], [*B] -> [*B]: the items of both lists of each pair."""
    first, second = item_type(c, input_a, element_dtype), item_type(c, input_b, element_dtype)
    known = values_behind(input_a) is not None and values_behind(input_b) is not None
    values = join_values(c, (), [item for item in (first, second) if item is not None]) if known else None
    lengths = length_behind(input_a), length_behind(input_b)
    total = None if lengths[0] is None or lengths[1] is None else lengths[0] + lengths[1]
    return create_list(values, total, c.merge(input_a.shape, input_b.shape))


# -- read --------------------------------------------------------------------------------------------------------------


@tf("TensorListGetItem")
def get_item(
    c: TensorFlowContext, input_handle: TensorType, index: Shape, element_shape: Value, *, element_dtype: str
) -> TensorType:
    """A list, index [], element_shape -> [*S]: one item."""
    c.with_rank(index, 0)
    return read_item(c, input_handle, shape_in(c, 2), element_dtype)


@tf("TensorListStack")
def stack_list(
    c: TensorFlowContext, input_handle: TensorType, element_shape: Value, *, element_dtype: str, num_elements: int = -1
) -> TensorType:
    """A list, element_shape -> [n, *S]: all items."""
    length = length_behind(input_handle)
    if num_elements >= 0:
        length = num_elements if length is None else c.merge(length, num_elements)
    item = read_item(c, input_handle, shape_in(c, 1), element_dtype)
    return stack(c, item, Shape((c.fresh("length") if length is None else length,)))


@tf("TensorListGather")
def gather_list(
    c: TensorFlowContext, input_handle: TensorType, indices: Shape, element_shape: Value, *, element_dtype: str
) -> TensorType:
    """A list, indices [n], element_shape -> [n, *S]: the items at these indices."""
    item = read_item(c, input_handle, shape_in(c, 2), element_dtype)
    return stack(c, item, Shape((c.num_elements(indices),)))


@tf("TensorListConcat")
def concat_list(
    c: TensorFlowContext,
    input_handle: TensorType,
    *,
    element_dtype: str,
    element_shape: DeclaredType = OPEN,
) -> tuple[TensorType, PartialTensor]:
    """A list -> [sum, *S], lengths [n]: n items [length, *S], concatenated."""
    return _concat(c, input_handle, declared_shape(c, element_shape), element_dtype)


@tf("TensorListConcatV2")
def concat_list_with_shape(
    c: TensorFlowContext, input_handle: TensorType, element_shape: Value, leading_dims: Value, *, element_dtype: str
) -> tuple[TensorType, PartialTensor]:
    """As TensorListConcat; `leading_dims` are the first sizes of items that were never stored."""
    may_differ = leading_dims.shape.dims is None or 0 not in leading_dims.shape.dims
    return _concat(c, input_handle, shape_in(c, 1), element_dtype, may_differ=may_differ)


def _concat(
    c: TensorFlowContext, handle: TensorType, declared: Shape, dtype: str, *, may_differ: bool = False
) -> tuple[TensorType, PartialTensor]:
    """The concatenation of the items of a list, and their sizes along the first axis."""
    item = read_item(c, handle, c.with_rank_at_least(declared, 1), dtype)
    return concat_items(c, item, length_behind(handle), may_differ=may_differ)


def concat_items(
    c: TensorFlowContext, item: TensorType, length: DimSize | None, *, may_differ: bool = False
) -> tuple[TensorType, PartialTensor]:
    """Items concatenated along their first axis, and their sizes along it."""
    shape = c.with_rank_at_least(item.shape, 1)
    count: DimSize = c.fresh("length") if length is None else length
    first = None if shape.dims is None else shape.dims[0]
    if first is None or may_differ or not is_steady(c, first):
        first = None
    total = c.fresh("concat") if first is None else count * first
    rest = TensorType(item.dtype, c.subshape(shape, 1))
    sizes = [first] * count if isinstance(count, int) and first is not None and count <= MAX_LISTED else None
    return stack(c, rest, Shape((total,))), PartialTensor("int64", Shape((count,)), sizes)


MAX_LISTED = 256
"""The sizes of more concatenated items are not listed."""


@tf("TensorListLength")
def list_length(c: TensorFlowContext, input_handle: TensorType) -> PartialTensor:
    """A list -> []: the number of items."""
    length = length_behind(input_handle)
    return PartialTensor("int32", SCALAR, None if length is None else (length,))


@tf("TensorListElementShape")
def list_element_shape(c: TensorFlowContext, input_handle: TensorType) -> Shape:
    """A list -> [*]: the shape that it declares for its items, unknown and less specific than that of the items."""
    raise c.unknowable("the shape that the list declares for its items is unknown")
