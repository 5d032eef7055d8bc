"""Element-wise operators of two or more operands: arithmetic, comparisons, connectives, selection."""

from __future__ import annotations

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
    numpy_broadcast,
    total,
)
from opdefs.rules.contents.bits import bitwise_operation, shift_operation
from opdefs.rules.contents.elements import (
    dim_operation,
    fold_elements,
    integer_operation,
    is_float,
    logical_not,
    logical_or,
    map_elements,
)
from opdefs.rules.contents.floats import FloatArithmetic, arithmetic, fold_floats
from opdefs.rules.contents.logic import (
    EQUAL,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    comparison_rule,
    conjunction_rule,
    connective_rule,
)
from opdefs.rules.contents.numpy_functions import numpy_function
from opdefs.rules.contents.progressions import add, multiply, subtract
from opdefs.rules.operands import is_unit
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.logic import select as choose_rows
from opdefs.tf.logic import select_with_broadcast
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import drop_quantized, merge_shapes, rule_of_numbers
from shapeinf.graph import DeclaredType
from shapeinf.lattice import Element, PartialTensor, Shape
from shapeinf.ops import InferenceContext, Operand, Value

Shapes = tuple[DeclaredType, ...]

_ADD = numpy_function("add"), lambda a, b: a + b, FloatArithmetic.add, add
_SUBTRACT = numpy_function("subtract"), lambda a, b: a - b, FloatArithmetic.subtract, subtract
_MULTIPLY = numpy_function("multiply"), lambda a, b: a * b, FloatArithmetic.multiply, multiply

_arithmetic_rule = partial(binary_rule, numpy_broadcast)
tflite("ADD", in_place=(0, 1))(rule_of_numbers(_arithmetic_rule(*_ADD)))
tflite("SUB", in_place=(0, 1))(rule_of_numbers(_arithmetic_rule(*_SUBTRACT)))
tflite("MUL", in_place=(0, 1))(rule_of_numbers(_arithmetic_rule(*_MULTIPLY)))
tflite("DIV", in_place=(0, 1))(rule_of_numbers(division_rule(numpy_broadcast)))


def equal_shapes(c: InferenceContext, a: Shape, b: Shape) -> Shape:
    """The shape of operands that do not broadcast."""
    return c.merge(a, b, "the operands must have equal shapes")


_equal_rule = partial(binary_rule, equal_shapes)
tflite("STABLEHLO_ADD")(rule_of_numbers(_equal_rule(*_ADD)))
tflite("STABLEHLO_SUBTRACT")(rule_of_numbers(_equal_rule(*_SUBTRACT)))
tflite("STABLEHLO_MULTIPLY")(rule_of_numbers(_equal_rule(*_MULTIPLY)))
tflite("STABLEHLO_DIVIDE")(rule_of_numbers(division_rule(equal_shapes)))


@tflite("STABLEHLO_POWER", "STABLEHLO_REMAINDER", "STABLEHLO_AND", "STABLEHLO_OR")
def equal_operands(c: TensorFlowContext, a: Shape, b: Shape) -> Shape:
    """[*S], [*S] -> [*S]."""
    return equal_shapes(c, a, b)


@tflite("STABLEHLO_SHIFT_LEFT")
def shift_left(c: TensorFlowContext, a: Shape, b: Shape) -> Shape:
    """[*S], [*T] -> [*S]; the kernel does not compare the shapes."""
    return a


@tflite("STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM")
def equal_extreme(c: TensorFlowContext, a: Value, b: Value) -> PartialTensor:
    """[*S], [*S] -> [*S]: the larger or smaller elements."""
    name = "Max" if c.op_def.name.endswith("MAXIMUM") else "Min"
    return extreme(c, name, equal_shapes(c, a.shape, b.shape), drop_quantized(a), drop_quantized(b))


@tflite("ATAN2", in_place=(0, 1))
def atan2(c: TensorFlowContext, y: Shape, x: Shape) -> Shape:
    """[*S], [*T] of the same rank -> [*S]; the kernel compares ranks alone."""
    c.require_rank(x, len(y), "x")
    return y


@tflite("FLOOR_DIV", in_place=(0, 1))
@rule_of_numbers
def floor_div(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]: quotients rounded down; floats are rounded to their type before."""
    shape = c.broadcast(x.shape, y.shape)
    if not is_float(x.dtype):
        return integer_division(c, shape, numpy_function("floor_divide"), floored_quotient(c), x, y)
    quotient = PartialTensor(x.dtype, shape, float_quotient(c, shape, x, y).elements)
    return fold_floats(c, x.dtype, shape, numpy_function("floor"), FloatArithmetic.floor, quotient)


@tflite("FLOOR_MOD", in_place=(0, 1))
@rule_of_numbers
def floor_mod(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]: remainders with the sign of the divisor."""
    shape, remainder = c.broadcast(x.shape, y.shape), floored_remainder(c)
    if is_float(x.dtype):
        return fold_elements(x.dtype, shape, numpy_function("mod"), dim_operation(remainder), x, y)
    return integer_division(c, shape, numpy_function("mod"), remainder, x, y)


@tflite("POW", in_place=(0, 1))
@rule_of_numbers
def power(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]; intervals of known floats."""
    shape = c.broadcast(x.shape, y.shape)
    floats = arithmetic(c, x.dtype)
    if floats is not None:
        return map_elements(x.dtype, shape, floats.approximate_power, x, y)
    if is_float(x.dtype):
        return PartialTensor(x.dtype, shape, None)
    return map_elements(x.dtype, shape, integer_operation(c, x.dtype, integer_power), x, y)


@tflite("MAXIMUM", "MINIMUM", in_place=(0, 1))
@rule_of_numbers
def extremum(c: TensorFlowContext, x: Value, y: Value) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]: the larger or smaller elements."""
    return extreme(c, "Max" if c.op_def.name == "MAXIMUM" else "Min", c.broadcast(x.shape, y.shape), x, y)


@tflite("SQUARED_DIFFERENCE", in_place=(0, 1))
@rule_of_numbers
def squared_difference(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]: `(x - y) ** 2`."""

    def square(floats: FloatArithmetic, a: Element, b: Element) -> Element:
        difference = floats.subtract(a, b)
        return floats.multiply(difference, difference)

    def concrete(a: Any, b: Any) -> Any:
        difference = a - b
        return difference * difference

    shape = c.broadcast(x.shape, y.shape)
    return calculate(c, x.dtype, shape, concrete, lambda a, b: (a - b) * (a - b), square, x, y)


@tflite("BITWISE_XOR", in_place=(0, 1))
def bitwise_xor(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]: the bits of which one is set."""
    return map_elements(x.dtype, c.broadcast(x.shape, y.shape), bitwise_operation(c, x.dtype, "xor"), x, y)


@tflite("RIGHT_SHIFT", in_place=(0, 1))
def right_shift(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]; a shift by a known number of bits is a quotient."""
    operation = shift_operation(c, x.dtype, left=False, limited=True)
    return map_elements(x.dtype, c.broadcast(x.shape, y.shape), operation, x, y)


@tflite("ADD_N", in_place=(0,))
def add_n(c: TensorFlowContext, *inputs: Operand) -> PartialTensor:
    """[*S]... -> [*S]: the sum of inputs of one shape."""
    if not inputs:
        c.fail("takes at least 1 input, got 0")
    shape = merge_shapes(c, [x.shape for x in inputs], "the inputs must have equal shapes")
    return total(c, shape, [drop_quantized(x) for x in inputs])


# -- comparisons and selection -----------------------------------------------------------------------------------------

_COMPARISONS = {
    "LESS": LESS,
    "LESS_EQUAL": LESS_EQUAL,
    "GREATER": GREATER,
    "GREATER_EQUAL": GREATER_EQUAL,
    "EQUAL": EQUAL,
}


def _comparison(rule: Any) -> Any:
    """The rule of a comparison of numbers."""

    def compare_numbers(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
        """[*A], [*B] -> [*broadcast(A, B)]: bools."""
        result: PartialTensor = rule(c, drop_quantized(x), drop_quantized(y))
        return result

    return compare_numbers


for _name, _order in _COMPARISONS.items():
    tflite(_name)(_comparison(comparison_rule(numpy_broadcast, _order)))
tflite("LOGICAL_AND", in_place=(0, 1))(conjunction_rule(numpy_broadcast))
tflite("LOGICAL_OR", in_place=(0, 1))(connective_rule(numpy_broadcast, logical_or))


@tflite("NOT_EQUAL")
def not_equal(c: TensorFlowContext, x: Operand, y: Operand) -> PartialTensor:
    """[*A], [*B] -> [*broadcast(A, B)]: bools."""
    equal: PartialTensor = comparison_rule(numpy_broadcast, EQUAL)(c, drop_quantized(x), drop_quantized(y))
    return map_elements("bool", equal.shape, logical_not, equal)


@tflite("STABLEHLO_COMPARE")
def stablehlo_compare(c: TensorFlowContext, a: Shape, b: Shape) -> Shape:
    """[*S], [*S] -> [*S]: bools."""
    return equal_shapes(c, a, b)


@tflite("SELECT", in_place=(1, 2))
def select(c: TensorFlowContext, condition: Value, x: Value, y: Value, *, output_shapes: Shapes = ()) -> PartialTensor:
    """[*S] or [] or [n], [n, *Q], [n, *Q] -> [n, *Q]; a vector of conditions selects rows. Nothing broadcasts."""
    stated = _single_elements(c, output_shapes, condition, x, y)
    if stated is not None:
        return stated
    shape = condition.shape
    if len(shape) and not (len(shape) == 1 and len(x.shape)):
        c.merge(shape, x.shape, "the condition must be a scalar, or have the shape of x")
    return choose_rows(c, condition, x, y)


def _single_elements(c: TensorFlowContext, declared: Shapes, *operands: PartialTensor) -> PartialTensor | None:
    """The output as the file states it, where it and all operands have one element each; None elsewhere."""
    dims = declared[0].dims if declared else None
    alone = all(is_unit(c.numel(operand.shape)) for operand in operands)
    if not alone or dims is None or not all(isinstance(d, int) and is_unit(d) for d in dims):
        return None
    return PartialTensor(operands[-1].dtype, Shape(1 for _ in dims), None)


@tflite("STABLEHLO_SELECT", in_place=(1, 2))
def stablehlo_select(c: TensorFlowContext, condition: Value, x: Value, y: Value) -> PartialTensor:
    """[*S] or [], [*S], [*S] -> [*S]."""
    if len(condition.shape):
        c.merge(condition.shape, x.shape, "the condition must be a scalar, or have the shape of x")
    return choose_rows(c, condition, x, y)


@tflite("STABLEHLO_CLAMP")
def stablehlo_clamp(c: TensorFlowContext, low: Shape, x: Shape, high: Shape) -> Shape:
    """[] or [*S], [*S], [] or [*S] -> [*S]."""
    for limit in (low, high):
        if len(limit):
            c.merge(limit, x, "a limit must be a scalar, or have the shape of the operand")
    return x


@tflite("SELECT_V2", in_place=(1, 2))
def select_v2(
    c: TensorFlowContext, condition: Value, x: Value, y: Value, *, output_shapes: Shapes = ()
) -> PartialTensor:
    """[*C], [*A], [*B] -> [*broadcast(C, A, B)]."""
    stated = _single_elements(c, output_shapes, condition, x, y)
    return select_with_broadcast(c, condition, x, y) if stated is None else stated
