"""Variables: resources and references with the types of their values, and assignments to them."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import Dtypes, Shapes, declared_shape, declared_values, read_value, values_behind
from shapeinf.expr import DimSize
from shapeinf.graph import DeclaredType
from shapeinf.lattice import SCALAR, HandleType, Shape, TensorType


@tf("VarHandleOp", "_XlaAotOnlyVarHandleOp", stored=True)
def variable_handle(c: TensorFlowContext, *, dtype: str, shape: DeclaredType) -> HandleType:
    """[]: the handle of a variable of this type."""
    return HandleType("resource", SCALAR, (TensorType(dtype, declared_shape(c, shape)),))


@tf("_VarHandlesOp", stored=True)
def variable_handles(c: TensorFlowContext, *, dtypes: Dtypes, shapes: Shapes) -> tuple[HandleType, ...]:
    """[]...: a handle for each type."""
    return tuple(HandleType("resource", SCALAR, (value,)) for value in declared_values(c, dtypes, shapes))


def variable_value(c: TensorFlowContext, resource: TensorType, dtype: str | None) -> TensorType | None:
    """The type behind the handle of a variable, None if unknown. Raises ShapeError if it has another dtype."""
    values = values_behind(resource)
    if values is None or len(values) != 1:
        return None
    (value,) = values
    if dtype is not None and value.dtype is not None and value.dtype != dtype:
        c.fail(f"Trying to read variable with wrong dtype. Expected {value.dtype} got {dtype}")
    return value


@tf("ReadVariableOp", stored=True)
def read_variable(c: TensorFlowContext, resource: TensorType, *, dtype: str) -> TensorType:
    """A handle -> [*S], not copied; a size that the declaration leaves open may differ between reads."""
    value = variable_value(c, resource, dtype)
    if value is None:
        raise c.unknowable("the variable behind the handle is unknown")
    return read_value(c, value)


@tf("_ReadVariablesOp", stored=True)
def read_variables(c: TensorFlowContext, *resources: TensorType, dtypes: Dtypes) -> tuple[TensorType | None, ...]:
    """Handles -> [*S]...: the values of several variables."""
    values = [variable_value(c, resource, dtype) for resource, dtype in zip(resources, dtypes, strict=False)]
    return tuple(None if value is None else read_value(c, value) for value in values)


@tf("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
def assign_variable(c: TensorFlowContext, resource: TensorType, value: Shape, *, dtype: str) -> None:
    """A handle, [*S] -> no outputs."""
    variable = variable_value(c, resource, dtype)
    if variable is not None:
        c.merge(read_value(c, variable).shape, value)


@tf("VarIsInitializedOp", "IsResourceHandleRefCounting", "IsVariableInitialized")
def is_initialized(c: TensorFlowContext, resource: Shape) -> Shape:
    """A handle -> []."""
    return SCALAR


@tf("DisableCopyOnRead", "DestroyResourceOp")
def no_outputs_of_a_handle(c: TensorFlowContext, resource: Shape) -> None:
    """No outputs."""


@tf("MakeWeakResourceHandle")
def weak_handle(c: TensorFlowContext, handle: TensorType) -> TensorType:
    """A handle -> another handle of the same resource."""
    return handle


@tf("ResourceCountUpTo")
def resource_count_up_to(c: TensorFlowContext, resource: TensorType) -> Shape:
    """The handle of a variable [] -> []."""
    variable = variable_value(c, resource, c.attr("T"))
    if variable is not None:
        c.with_rank(variable.shape, 0)
    return SCALAR


@tf("ReadVariableXlaSplitND")
def read_split_variable(
    c: TensorFlowContext,
    resource: TensorType,
    *,
    num_splits: tuple[int, ...],
    paddings: tuple[int, ...] = (),
) -> tuple[Shape, ...]:
    """A handle -> blocks of one shape: the variable, padded and split along all axes."""
    variable = variable_value(c, resource, c.attr("T"))
    if variable is None or variable.shape.dims is None:
        raise c.unknowable("the rank of the variable is unknown")
    if any(count < 1 for count in num_splits):
        c.fail("num_splits must be at least 1", num_splits)
    dims = c.with_rank(variable.shape, len(num_splits)).require()
    padded: list[DimSize] = [d + p for d, p in zip(dims, paddings, strict=False)] if paddings else list(dims)
    if len(padded) != len(dims):
        c.fail(f"paddings must have {len(dims)} entries", paddings)
    parts = [c.divide(d, count, evenly_divisible=True) for d, count in zip(padded, num_splits, strict=True)]
    return (Shape(parts),) * c.num_outputs


@tf("AssignVariableXlaConcatND")
def assign_concatenation(c: TensorFlowContext, resource: TensorType, *inputs: Shape) -> None:
    """A handle, blocks -> no outputs."""


# -- references --------------------------------------------------------------------------------------------------------


@tf("VariableV2", stored=True)
def variable(c: TensorFlowContext, *, shape: DeclaredType) -> Shape:
    """The declared shape."""
    return declared_shape(c, shape)


@tf("Variable", stored=True)
def old_variable(c: TensorFlowContext, *, shape: DeclaredType) -> Shape:
    """The declared shape. Files with this operator have no dims for an unknown rank."""
    return declared_shape(c, shape) if shape.dims else c.unknown_shape()


@tf("TemporaryVariable")
def temporary_variable(c: TensorFlowContext, *, shape: DeclaredType) -> Shape:
    """The declared shape."""
    return declared_shape(c, shape)


@tf("DestroyTemporaryVariable")
def destroy_temporary_variable(c: TensorFlowContext, ref: Shape) -> Shape:
    """[*S] -> [*S]: the last value."""
    return ref


@tf("Assign")
def assign(c: TensorFlowContext, ref: Shape, value: Shape, *, validate_shape: bool = True) -> Shape:
    """[*S], [*S] -> [*S]; without `validate_shape`, the shape of the value."""
    return c.merge(ref, value) if validate_shape else value


@tf("AssignAdd", "AssignSub", in_place=(0,))
def assign_add(c: TensorFlowContext, ref: Shape, value: Shape) -> Shape:
    """[*S], [*S] -> [*S]."""
    return c.merge(ref, value)


@tf("CountUpTo")
def count_up_to(c: TensorFlowContext, ref: Shape) -> Shape:
    """[] -> []."""
    return c.with_rank(ref, 0)
