"""Comparisons, connectives and selection; elements are known where the constraints prove them."""

from __future__ import annotations

from opdefs.rules.contents.conditions import select_by_condition
from opdefs.rules.contents.elements import list_elements, logical_not, logical_or, map_elements
from opdefs.rules.contents.logic import (
    EQUAL,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    compare,
    comparison_rule,
    conjunction_rule,
    connective_rule,
)
from opdefs.rules.contents.progressions import broadcast_progression
from opdefs.tf.broadcasting import broadcast, broadcast_if_compatible
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lattice import HandleType, PartialTensor, Progression, Shape
from shapeinf.ops import Operand, Value

tf("Less")(comparison_rule(broadcast, LESS))
tf("LessEqual")(comparison_rule(broadcast, LESS_EQUAL))
tf("Greater")(comparison_rule(broadcast, GREATER))
tf("GreaterEqual")(comparison_rule(broadcast, GREATER_EQUAL))
tf("LogicalAnd", in_place=(0, 1))(conjunction_rule(broadcast))
tf("LogicalOr", in_place=(0, 1))(connective_rule(broadcast, logical_or))


@tf("Equal")
def equal(c: TensorFlowContext, x: Operand, y: Operand, *, incompatible_shape_error: bool = True) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]; if shapes do not broadcast and that is allowed, a false []."""
    if incompatible_shape_error:
        return compare(c, broadcast(c, x.shape, y.shape), EQUAL, x, y)
    shape = broadcast_if_compatible(c, x.shape, y.shape)
    if shape.dims == () and (x.shape.dims or y.shape.dims):
        return PartialTensor("bool", shape, (False,))
    return compare(c, shape, EQUAL, x, y)


@tf("NotEqual")
def not_equal(c: TensorFlowContext, x: Operand, y: Operand, *, incompatible_shape_error: bool = True) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]; if shapes do not broadcast and that is allowed, a true []."""
    result = equal(c, x, y, incompatible_shape_error=incompatible_shape_error)
    return map_elements("bool", result.shape, logical_not, result)


@tf("ApproximateEqual")
def approximately_equal(c: TensorFlowContext, x: Shape, y: Shape) -> Shape:
    """[*S], [*S] -> [*S]."""
    return c.store.canon_shape(c.merge(x, y))


# -- selection ---------------------------------------------------------------------------------------------------------


@tf("Select", in_place=(1, 2))
def select(c: TensorFlowContext, condition: Value, t: Value, e: Value) -> PartialTensor:
    """[*S] or [] or [n], [*S], [*S] -> [*S]; a vector [n] selects rows along axis 0."""
    data, shape = c.merge(t.shape, e.shape), c.store.canon_shape(condition.shape)
    data = c.store.canon_shape(data)
    if shape.dims and data.dims is not None:
        if len(shape) == 1 and data.dims:
            c.merge(data[0], shape[0])
        else:
            c.merge(data, shape)
        data = c.store.canon_shape(data)
    if shape.rank == 1 and data.rank != 1:
        condition = _row_conditions(condition, data)
    return _choose(c, data, condition, t, e)


def _row_conditions(condition: PartialTensor, data: Shape) -> PartialTensor:
    """The conditions of rows as a tensor that broadcasts along them."""
    if data.dims is None or condition.elements is None:
        return PartialTensor("bool", condition.shape, None)
    return PartialTensor("bool", Shape((*condition.shape, *(1 for _ in data.dims[1:]))), condition.elements)


@tf("SelectV2", in_place=(1, 2))
def select_with_broadcast(c: TensorFlowContext, condition: Value, t: Value, e: Value) -> PartialTensor:
    """[*C], [*A], [*B] -> [*broadcast(C, A, B)]; elements are known if the condition is, or both choices agree."""
    return _choose(c, broadcast(c, broadcast(c, t.shape, e.shape), condition.shape), condition, t, e)


def _choose(
    c: TensorFlowContext, shape: Shape, condition: PartialTensor, t: PartialTensor, e: PartialTensor
) -> PartialTensor:
    """The tensor of `shape` that is `t` where the condition holds, else `e`."""
    if isinstance(t, HandleType):
        return t if t == e else PartialTensor(t.dtype, shape, None)
    decided = condition.elements[0] if condition.elements and len(set(condition.elements)) == 1 else None
    if isinstance(decided, bool):
        chosen = t if decided else e
        if chosen.shape == shape:
            return chosen
        if isinstance(chosen, Progression):
            return broadcast_progression(chosen, shape)
    if t == e and t.shape == shape:
        return t
    if condition.elements is None or (t.elements is None and e.elements is None):
        return PartialTensor(t.dtype, shape, None)
    return select_by_condition(c, t.dtype, shape, condition, list_elements(t), list_elements(e))
