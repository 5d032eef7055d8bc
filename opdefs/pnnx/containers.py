"""Tuples and lists of TorchScript: of tensors, of numbers, and of tuples."""

from __future__ import annotations

from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.rules.sequences import create_tuple
from shapeinf.lattice import SCALAR, PartialTensor, SequenceType, Shape, TensorType, Type
from shapeinf.lattice.dtypes import NUMBER_TYPES
from shapeinf.ops import InferenceContext


@pnnx("prim::Constant")
def constant(c: InferenceContext, *, value: object = None) -> PartialTensor:
    """A number, or a list of numbers of one type; unknown for None and texts, which are not tensors."""
    numbers = value if isinstance(value, tuple) else (value,)
    types = {type(number) for number in numbers}
    dtype = NUMBER_TYPES.get(types.pop()) if len(types) == 1 else None
    if dtype is None:
        raise c.unknowable("the constant is neither a number nor a list of numbers of one type")
    return PartialTensor(dtype, Shape((len(numbers),)) if isinstance(value, tuple) else SCALAR, numbers)


@pnnx("prim::TupleConstruct", container="pack")
def tuple_construct(c: InferenceContext, *items: TensorType | SequenceType) -> SequenceType:
    """The tuple of the inputs, which may be tuples."""
    return create_tuple(c, items)


@own_types("prim::ListConstruct", container="pack")
def list_construct(c: InferenceContext, *items: TensorType | SequenceType) -> SequenceType | PartialTensor:
    """The list of the inputs; a list of numbers, such as a computed shape, is a vector of these."""
    tensors = [item for item in items if isinstance(item, TensorType)]
    dtypes = {tensor.dtype for tensor in tensors}
    dtype = dtypes.pop() if len(dtypes) == 1 and len(tensors) == len(items) else None
    if dtype not in NUMBER_TYPES.values() or any(tensor.shape.rank for tensor in tensors):
        return create_tuple(c, items)
    if any(tensor.shape.dims is None for tensor in tensors):
        raise c.unknowable("the items may be numbers or tensors: the rank of one of them is not known")
    contents = [tensor.elements[0] if tensor.elements else None for tensor in tensors]
    return PartialTensor(dtype, Shape((len(items),)), contents)


@own_types("prim::TupleUnpack", "prim::ListUnpack", container="unpack")
def unpack(c: InferenceContext, items: TensorType | SequenceType) -> tuple[Type, ...]:
    """The items of a tuple or list, one per output; the items of a list of numbers are scalars."""
    if isinstance(items, SequenceType):
        if items.length is not None:
            c.merge(items.length, c.num_outputs, "there must be one output per item")
        if items.items is None:
            raise c.unknowable("the items of the list are not known")
        return items.items
    if items.shape.dims is None or len(items.shape.dims) != 1:
        # at optimization level 0 the outputs of a module such as nn.LSTM are a single operand
        raise c.unknowable("the items of the list are not known")
    (count,) = items.shape.dims
    c.merge(count, c.num_outputs, "there must be one output per item")
    contents = items.elements or (None,) * c.num_outputs
    return tuple(PartialTensor(items.dtype, SCALAR, [item]) for item in contents)
