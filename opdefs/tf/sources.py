"""Tensors of a requested shape: constants, placeholders, fills and empty tensors."""

from __future__ import annotations

from opdefs.rules.contents.constants import constant_tensor, number_of, zero_of
from opdefs.rules.reshaping import shape_from_sizes
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import OPEN, declared_shape
from shapeinf.errors import ShapeError
from shapeinf.graph import DeclaredType
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import Value
from shapeinf.ops.context import tf_shape

SCALAR_MEANS_UNKNOWN = 24
"""Before this version of graphs, the shape attribute [] of a placeholder means an unknown rank."""


@tf("Const", "HostConst")
def constant(c: TensorFlowContext, *, value: PartialTensor) -> PartialTensor:
    """The tensor in the attribute."""
    if not value.shape.is_concrete:
        c.fail(f"Shape {tf_shape(value.shape)} is not fully defined")
    return value


@tf("ImmutableConst", "PlaceholderV2", "_ParallelConcatStart", "XlaRecv", "XlaRecvFromHost", "FakeParam")
@tf("InfeedDequeue", "_ScopedAllocator")
def tensor_of_declared_shape(c: TensorFlowContext, *, shape: DeclaredType) -> Shape:
    """The shape in the attribute."""
    return declared_shape(c, shape)


@tf("Placeholder")
def placeholder(c: TensorFlowContext, *, shape: DeclaredType = OPEN) -> Shape:
    """The declared shape. In graphs of old versions, [] means an unknown rank."""
    if 0 < c.version < SCALAR_MEANS_UNKNOWN and shape.dims == ():
        return c.unknown_shape()
    return declared_shape(c, shape)


@tf("PlaceholderWithDefault")
def placeholder_with_default(c: TensorFlowContext, default: Shape, *, shape: DeclaredType) -> Shape:
    """[*S] -> the declared shape: sizes that it leaves open may differ from those of the default."""
    declared = declared_shape(c, shape)
    if default.dims is None or declared.dims is None:
        return declared
    if len(default.dims) != len(declared.dims):
        raise ShapeError(f"Shapes must be equal rank, but are {len(default.dims)} and {len(declared.dims)}")
    for size, wanted in zip(default.dims, declared.dims, strict=True):
        if isinstance(wanted, int):
            c.merge(size, wanted)
    return declared


@tf("Empty")
def empty(c: TensorFlowContext, shape: Value, *, dtype: str, init: bool = False) -> PartialTensor:
    """[R] -> the sizes in `shape`; of zeros with `init`."""
    result = shape_from_sizes(c, shape, "shape")
    return constant_tensor(dtype, result, zero_of(dtype)) if init else PartialTensor(dtype, result, None)


@tf("Fill")
def fill(c: TensorFlowContext, dims: Value, value: Value) -> PartialTensor:
    """[R], [] -> the sizes in `dims`, filled with the value."""
    c.with_rank(value.shape, 0)
    return constant_tensor(
        value.dtype, shape_from_sizes(c, dims, "dims"), value.elements[0] if value.elements else None
    )


@tf("ZerosLike", in_place=(0,))
def zeros_like(c: TensorFlowContext, x: TensorType) -> TensorType:
    """[*S] -> [*S]; the zeros of a handle are a handle of the same types."""
    return x if x.dtype in ("variant", "resource") else constant_tensor(x.dtype, x.shape, zero_of(x.dtype))


@tf("OnesLike", in_place=(0,))
def units_like(c: TensorFlowContext, x: Shape) -> PartialTensor:
    """[*S] -> [*S]: ones."""
    dtype = c.dtype(0)
    return constant_tensor(dtype, x, number_of(dtype, 1))
