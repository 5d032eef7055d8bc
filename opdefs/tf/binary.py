"""Element-wise operators of two or more operands. Operands broadcast unless a rule states otherwise."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from opdefs.rules.contents.arithmetic import (
    binary_rule,
    calculate,
    division_rule,
    extreme,
    float_quotient,
    floored_quotient,
    floored_remainder,
    integer_division,
    integer_power,
    total,
    truncated_remainder,
)
from opdefs.rules.contents.bits import bitwise_operation, shift_operation
from opdefs.rules.contents.elements import (
    dim_operation,
    fold_elements,
    integer_operation,
    is_float,
    is_listable,
    list_elements,
    map_elements,
    to_dim,
)
from opdefs.rules.contents.floats import FloatArithmetic, arithmetic, float_operation, fold_floats
from opdefs.rules.contents.numpy_functions import numpy_function
from opdefs.rules.contents.progressions import add, multiply, subtract
from opdefs.rules.contents.truth import is_nonzero
from opdefs.tf.broadcasting import broadcast
from opdefs.tf.common import merge_all
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import declared_shape
from shapeinf.expr import DimSize, maximum, minimum
from shapeinf.graph import DeclaredType
from shapeinf.lattice import Element, HandleType, PartialTensor, Shape
from shapeinf.ops import Operand, Value


@tf(
    *("Atan2", "Igamma", "IgammaGradA", "Igammac", "NextAfter", "Polygamma", "RandomGammaGrad", "Xlog1py"),
    *("Xlogy", "Zeta"),
    *("RiscAdd", "RiscBinaryArithmetic", "RiscDiv", "RiscLogicalAnd", "RiscLogicalOr", "RiscMax", "RiscMin"),
    *("RiscMul", "RiscPow", "RiscRem", "RiscSub"),
    in_place=(0, 1),
)
@tf("Complex", "RiscBinaryComparison")
def broadcasting(c: TensorFlowContext, a: Shape, b: Shape) -> Shape:
    """[*A], [*B] -> [*broadcast(A, B)]."""
    return broadcast(c, a, b)


_arithmetic_rule = partial(binary_rule, broadcast)
tf("Add", "AddV2", in_place=(0, 1))(
    _arithmetic_rule(numpy_function("add"), lambda a, b: a + b, FloatArithmetic.add, add)
)
tf("Sub", in_place=(0, 1))(
    _arithmetic_rule(numpy_function("subtract"), lambda a, b: a - b, FloatArithmetic.subtract, subtract)
)
tf("Mul", in_place=(0, 1))(
    _arithmetic_rule(numpy_function("multiply"), lambda a, b: a * b, FloatArithmetic.multiply, multiply)
)
tf("Div", "RealDiv", "TruncateDiv", in_place=(0, 1))(division_rule(broadcast))


@tf("DivNoNan", "MulNoNan", "Xdivy", in_place=(0, 1))
def zero_for_zero(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]: quotients or products, 0 where `y`, of Xdivy where `x`, is 0."""
    name, shape = c.op_def.name, broadcast(c, x.shape, y.shape)
    if arithmetic(c, x.dtype) is None:
        return PartialTensor(None, shape, None)
    multiply = name == "MulNoNan"
    function = numpy_function("multiply") if multiply else numpy_function("divide")
    method = FloatArithmetic.multiply if multiply else FloatArithmetic.divide
    operation = float_operation(c, x.dtype, function, method)

    def apply(a: Element, b: Element) -> Element:
        deciding = a if name == "Xdivy" else b
        nonzero = is_nonzero(c, deciding)
        return (operation(a, b) if nonzero else 0.0) if nonzero is not None else None

    return map_elements(None, shape, apply, x, y)


@tf("FloorDiv", in_place=(0, 1))
def floor_divide(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]: quotients rounded down; floats are rounded to their type before."""
    shape = broadcast(c, x.shape, y.shape)
    if not is_float(x.dtype):
        return integer_division(c, shape, numpy_function("floor_divide"), floored_quotient(c), x, y)
    quotient = PartialTensor(x.dtype, shape, float_quotient(c, shape, x, y).elements)
    return fold_floats(c, None, shape, numpy_function("floor"), FloatArithmetic.floor, quotient)


@tf("FloorMod", in_place=(0, 1))
def floor_mod(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]: remainders with the sign of the divisor."""
    shape, remainder = broadcast(c, x.shape, y.shape), floored_remainder(c)
    if is_float(x.dtype):
        return fold_elements(None, shape, numpy_function("mod"), dim_operation(remainder), x, y)
    return integer_division(c, shape, numpy_function("mod"), remainder, x, y)


@tf("Mod", "TruncateMod", in_place=(0, 1))
def truncate_mod(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]: remainders with the sign of the dividend."""
    shape, remainder = broadcast(c, x.shape, y.shape), truncated_remainder(c)
    if is_float(x.dtype):
        return fold_elements(None, shape, numpy_function("fmod"), dim_operation(remainder), x, y)
    return integer_division(c, shape, numpy_function("fmod"), remainder, x, y)


@tf("Pow", in_place=(0, 1))
def power(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]; intervals of known floats (the kernel's 9.0 ** 2.0 is not 81)."""
    shape = broadcast(c, x.shape, y.shape)
    floats = arithmetic(c, x.dtype)
    if floats is not None:
        return map_elements(None, shape, floats.approximate_power, x, y)
    if is_float(x.dtype):
        return PartialTensor(x.dtype, shape, None)
    return map_elements(None, shape, integer_operation(c, x.dtype, integer_power), x, y)


@tf("Maximum", in_place=(0, 1))
def elementwise_maximum(c: TensorFlowContext, x: Value, y: Value) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]; an unknown element is at least a known one at its position."""
    shape = broadcast(c, x.shape, y.shape)
    if not _are_bounded(shape, x, y):
        return extreme(c, "Max", shape, x, y)

    def operation(a: DimSize | None, b: DimSize | None) -> DimSize | None:
        if a is None or b is None:
            known = b if a is None else a
            return None if known is None else c.fresh("maximum", c.interval(known).lo)
        return maximum(a, b)

    return map_elements(None, shape, _lift_to_elements(operation), list_elements(x), list_elements(y))


@tf("Minimum", in_place=(0, 1))
def elementwise_minimum(c: TensorFlowContext, x: Value, y: Value) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]; an unknown element is at most a known one at its position."""
    shape = broadcast(c, x.shape, y.shape)
    if not _are_bounded(shape, x, y):
        return extreme(c, "Min", shape, x, y)

    def operation(a: DimSize | None, b: DimSize | None) -> DimSize | None:
        if a is not None and b is not None:
            return minimum(a, b)
        known = b if a is None else a
        if known is None:
            return None
        smallest = c.fresh("minimum", None, c.interval(known).hi)
        c.limit(smallest, known)
        return smallest

    return map_elements(None, shape, _lift_to_elements(operation), list_elements(x), list_elements(y))


_MAX_BOUNDED = 16
"""The most elements of a tensor whose unknown elements get bounds."""


def _are_bounded(shape: Shape, x: PartialTensor, y: PartialTensor) -> bool:
    """Whether known integers bound unknown ones of the other operand, in tensors of few elements."""
    if is_float(x.dtype) or not is_listable(shape) or (x.elements is None and y.elements is None):
        return False
    unknown = any(v.elements is None or None in v.elements for v in (x, y))
    count = 1
    for d in shape:
        count *= d if isinstance(d, int) else 1
    return unknown and count <= _MAX_BOUNDED and all(is_listable(v.shape) for v in (x, y))


def _lift_to_elements(
    operation: Callable[[DimSize | None, DimSize | None], DimSize | None],
) -> Callable[[Element, Element], Element]:
    """An operation on dims, lifted to elements; None stands for an unknown dim."""
    return lambda a, b: operation(to_dim(a), to_dim(b))


@tf("SquaredDifference", in_place=(0, 1))
def squared_difference(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]: `(x - y) ** 2`."""

    def square(floats: FloatArithmetic, a: Element, b: Element) -> Element:
        difference = floats.subtract(a, b)
        return floats.multiply(difference, difference)

    def concrete(a: Any, b: Any) -> Any:
        import numpy as np

        return np.square(a - b)

    return calculate(c, None, broadcast(c, x.shape, y.shape), concrete, lambda a, b: (a - b) * (a - b), square, x, y)


# -- bits --------------------------------------------------------------------------------------------------------------


@tf("BitwiseAnd", "BitwiseOr", "BitwiseXor", in_place=(0, 1))
def bitwise(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]; with a constant of few groups of bits also of sizes."""
    name = c.op_def.name.removeprefix("Bitwise").lower()
    return map_elements(None, broadcast(c, x.shape, y.shape), bitwise_operation(c, x.dtype, name), x, y)


@tf("LeftShift", "RightShift", in_place=(0, 1))
def shift(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]; a shift by a known number of bits is a product or a quotient."""
    operation = shift_operation(c, x.dtype, left=c.op_def.name == "LeftShift", limited=True)
    return map_elements(None, broadcast(c, x.shape, y.shape), operation, x, y)


# -- sums of many, and operands of one shape ---------------------------------------------------------------------------


@tf("AddN", in_place=(0,))
def add_n(c: TensorFlowContext, *inputs: Operand) -> PartialTensor:
    """[*S]... -> [*S]: the sum of inputs of one shape; contents where all are known.

    The sum of equal handles is that handle: lists are added item by item.
    """
    shape = merge_all(c, [x.shape for x in inputs])
    if isinstance(inputs[0], HandleType):
        first = inputs[0]
        return first if all(x == first for x in inputs) else PartialTensor(first.dtype, shape, None)
    return total(c, shape, inputs)


@tf("AccumulateNV2")
def accumulate(c: TensorFlowContext, *inputs: Shape, shape: DeclaredType) -> Shape:
    """[*S]... -> [*S]: the sum of inputs of one shape, the one in the attribute."""
    return c.store.canon_shape(c.merge(merge_all(c, inputs), declared_shape(c, shape)))


@tf("Betainc")
def incomplete_beta(c: TensorFlowContext, a: Shape, b: Shape, x: Shape) -> Shape:
    """[*S], [*S], [*S] -> [*S]; operands may also be scalars. Unknown where all known operands are scalars."""
    shapes = [c.store.canon_shape(s) for s in (a, b, x)]
    wide = [s for s in shapes if s.dims is None or s.dims]
    unknown = [s for s in wide if s.dims is None]
    ranked = [s for s in wide if s.dims is not None]
    if not wide:
        return c.scalar()
    result = ranked[0] if ranked else unknown[0]
    for shape in ranked[1:]:
        result = c.merge(result, shape)
    return result if ranked or len(unknown) == 1 else c.unknown_shape()
