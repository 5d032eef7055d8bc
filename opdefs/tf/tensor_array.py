"""Arrays of tensors (TensorArray, versions 1 to 3): the flow has the types of the items and their number.

The types of the items follow the flow: each write returns the flow that later reads take. The items of an array without
a flow, as in the old versions, have the declared types. The handle of version 3 is a scalar, as in the kernel;
TensorFlow's shape function returns [2].
"""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import (
    OPEN,
    Values,
    create_handle,
    declared_shape,
    is_fully_declared,
    join_values,
    length_behind,
    read_value,
    refine,
    values_behind,
)
from opdefs.tf.stored_values import stored_values
from opdefs.tf.tensor_list import concat_items, part_of, stack, tail_of
from shapeinf.expr import DimSize
from shapeinf.graph import DeclaredType
from shapeinf.lattice import SCALAR, HandleType, PartialTensor, Shape, TensorType
from shapeinf.ops import Value


def create_flow(values: Values, length: DimSize | None) -> HandleType:
    """A flow: a scalar of type float32."""
    return HandleType("float32", SCALAR, values, length)


def length_of(handle: TensorType, flow: TensorType) -> DimSize | None:
    """The number of items; that of the handle if the flow has none, and None if unknown."""
    length = length_behind(flow)
    return length_behind(handle) if length is None else length


def store(c: TensorFlowContext, handle: TensorType, flow: TensorType, item: TensorType) -> HandleType:
    """The flow after items of this type are stored."""
    c.with_rank(flow.shape, 0)
    return create_flow(join_values(c, values_behind(flow), (item,)), length_of(handle, flow))


def read_item(c: TensorFlowContext, handle: TensorType, flow: TensorType, declared: Shape) -> TensorType:
    """The type of an item, which agrees with the declarations of the array and of the reader."""
    dtype = c.attr("dtype")
    item = TensorType(dtype, declared)
    for values in (values_behind(handle), values_behind(flow)):
        if values and values[0].dtype in (None, dtype):
            item = values[0].with_type(dtype, refine(c, item.shape, values[0].shape))
    return read_value(c, item)


@tf("TensorArrayV3")
def tensor_array(
    c: TensorFlowContext,
    size: Value,
    *,
    dtype: str,
    element_shape: DeclaredType = OPEN,
    dynamic_size: bool = False,
) -> tuple[HandleType, HandleType]:
    """[] -> the handle [] and the flow [] of an array."""
    handle = old_tensor_array(c, size, dtype=dtype, element_shape=element_shape, dynamic_size=dynamic_size)
    return handle, create_flow(handle.values or (), handle.length)


@tf("TensorArray", "TensorArrayV2")
def old_tensor_array(
    c: TensorFlowContext,
    size: Value,
    *,
    dtype: str,
    element_shape: DeclaredType = OPEN,
    dynamic_size: bool = False,
) -> HandleType:
    """[] -> the handle of an array."""
    c.with_rank(size.shape, 0)
    length = c.make_dim_for_scalar_input(0)
    closed = is_fully_declared(element_shape)
    item = TensorType(dtype, declared_shape(c, element_shape))
    return create_handle(c, (item,) if closed else None, None if dynamic_size else length)


@tf("TensorArrayGradV3")
def gradient_array(
    c: TensorFlowContext, handle: TensorType, flow_in: TensorType, *stored: TensorType
) -> tuple[TensorType, HandleType]:
    """The array of the gradients, with the shapes and the number of the items."""
    items, length = values_behind(handle) or stored_values(c, stored, 1), length_of(handle, flow_in)
    return create_handle(c, items, length), create_flow(values_behind(flow_in), length)


@tf("TensorArrayGradWithShape")
def gradient_array_with_shape(
    c: TensorFlowContext, handle: TensorType, flow_in: TensorType, shape_to_prepend: Value, *stored: TensorType
) -> tuple[TensorType, HandleType]:
    """As TensorArrayGradV3; the axes in `shape_to_prepend` precede those of the items."""
    lead, length = c.make_shape_from_shape_tensor(2), length_of(handle, flow_in)
    items = _prepend(c, lead, values_behind(handle) or stored_values(c, stored, 1))
    return create_handle(c, items, length), create_flow(_prepend(c, lead, values_behind(flow_in)), length)


def _prepend(c: TensorFlowContext, lead: Shape, values: Values) -> Values:
    """The types with leading axes."""
    return values and tuple(TensorType(value.dtype, c.concatenate(lead, value.shape)) for value in values)


@tf("TensorArrayGrad", "TensorArrayGradV2")
def old_gradient_array(c: TensorFlowContext, handle: TensorType, flow_in: TensorType) -> HandleType:
    """The array of the gradients."""
    return create_handle(c, values_behind(handle), length_behind(handle))


# -- write -------------------------------------------------------------------------------------------------------------


@tf("TensorArrayWrite", "TensorArrayWriteV2", "TensorArrayWriteV3")
def write(c: TensorFlowContext, handle: TensorType, index: Shape, value: TensorType, flow_in: TensorType) -> HandleType:
    """A handle, index [], [*S], flow -> flow: writes one item."""
    c.with_rank(index, 0)
    return store(c, handle, flow_in, value)


@tf("TensorArrayScatter", "TensorArrayScatterV2", "TensorArrayScatterV3")
def scatter(
    c: TensorFlowContext, handle: TensorType, indices: Shape, value: TensorType, flow_in: TensorType
) -> HandleType:
    """A handle, indices [n], [n, *S], flow -> flow: writes n items."""
    item = tail_of(c, value)
    c.merge(c.dim(c.with_rank(indices, 1), 0), c.dim(value.shape, 0))
    return store(c, handle, flow_in, item)


@tf("TensorArrayUnpack")
def unpack(c: TensorFlowContext, handle: TensorType, value: TensorType, flow_in: TensorType) -> HandleType:
    """A handle, [n, *S], flow -> flow: writes n items."""
    return store(c, handle, flow_in, tail_of(c, value))


@tf("TensorArraySplit", "TensorArraySplitV2", "TensorArraySplitV3")
def split(
    c: TensorFlowContext, handle: TensorType, value: TensorType, lengths: Value, flow_in: TensorType
) -> HandleType:
    """A handle, [n, *S], lengths [k], flow -> flow: writes k parts [length, *S]."""
    c.with_rank(lengths.shape, 1)
    return store(c, handle, flow_in, part_of(c, value, tail_of(c, value), lengths))


# -- read --------------------------------------------------------------------------------------------------------------


@tf("TensorArrayRead", "TensorArrayReadV2", "TensorArrayReadV3")
def read(c: TensorFlowContext, handle: TensorType, index: Shape, flow_in: TensorType) -> TensorType:
    """A handle, index [], flow -> [*S]: one item."""
    c.with_rank(index, 0)
    return read_item(c, handle, flow_in, c.unknown_shape())


@tf("TensorArrayGather", "TensorArrayGatherV2", "TensorArrayGatherV3")
def gather(
    c: TensorFlowContext,
    handle: TensorType,
    indices: Shape,
    flow_in: TensorType,
    *,
    element_shape: DeclaredType = OPEN,
) -> TensorType:
    """A handle, indices [n], flow -> [n, *S]: the items at these positions."""
    item = read_item(c, handle, flow_in, declared_shape(c, element_shape))
    return stack(c, item, c.with_rank(indices, 1))


@tf("TensorArrayPack")
def pack(
    c: TensorFlowContext, handle: TensorType, flow_in: TensorType, *, element_shape: DeclaredType = OPEN
) -> TensorType:
    """A handle, flow -> [n, *S]: all items."""
    item = read_item(c, handle, flow_in, declared_shape(c, element_shape))
    return stack(c, item, Shape((_count(c, handle, flow_in),)))


@tf("TensorArrayConcat", "TensorArrayConcatV2", "TensorArrayConcatV3")
def concat(
    c: TensorFlowContext, handle: TensorType, flow_in: TensorType, *, element_shape_except0: DeclaredType = OPEN
) -> tuple[TensorType, PartialTensor]:
    """A handle, flow -> [sum, *S], lengths [n]: n items [length, *S], concatenated."""
    tail = declared_shape(c, element_shape_except0)
    declared = c.unknown_shape() if tail.dims is None else c.concatenate(c.vector(None), tail)
    item = read_item(c, handle, flow_in, declared)
    return concat_items(c, item, _count(c, handle, flow_in))


def _count(c: TensorFlowContext, handle: TensorType, flow: TensorType) -> DimSize:
    """The number of items, or an unknown."""
    length = length_of(handle, flow)
    return c.fresh("length") if length is None else length


@tf("TensorArraySize", "TensorArraySizeV2", "TensorArraySizeV3")
def size(c: TensorFlowContext, handle: TensorType, flow_in: TensorType) -> PartialTensor:
    """A handle, flow -> []: the number of items."""
    length = length_of(handle, flow_in)
    return PartialTensor("int32", SCALAR, None if length is None else (length,))


@tf("TensorArrayClose", "TensorArrayCloseV2", "TensorArrayCloseV3")
def close(c: TensorFlowContext, handle: Shape) -> None:
    """A handle -> no outputs."""
