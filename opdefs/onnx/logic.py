"""Comparisons, logic and selection; decided where the constraints decide them."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.arithmetic import numpy_broadcast
from opdefs.rules.contents.conditions import select_by_condition
from opdefs.rules.contents.elements import logical_not, logical_or, map_elements
from opdefs.rules.contents.logic import (
    EQUAL,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    comparison_rule,
    conjunction_rule,
    connective_rule,
    logical_xor,
)
from shapeinf.lattice import PartialTensor
from shapeinf.ops import InferenceContext, Operand

onnx("Equal", since=7)(comparison_rule(numpy_broadcast, EQUAL))
onnx("Less", since=7)(comparison_rule(numpy_broadcast, LESS))
onnx("Greater", since=7)(comparison_rule(numpy_broadcast, GREATER))
onnx("LessOrEqual")(comparison_rule(numpy_broadcast, LESS_EQUAL))
onnx("GreaterOrEqual")(comparison_rule(numpy_broadcast, GREATER_EQUAL))
onnx("And", since=7, in_place=(0, 1))(conjunction_rule(numpy_broadcast))
onnx("Or", since=7, in_place=(0, 1))(connective_rule(numpy_broadcast, logical_or))
onnx("Xor", since=7, in_place=(0, 1))(connective_rule(numpy_broadcast, logical_xor))


@onnx("Not", in_place=(0,))
def negation(c: InferenceContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]."""
    return map_elements("bool", x.shape, logical_not, x)


@onnx("Where", in_place=(1, 2))
def where(c: InferenceContext, condition: Operand, x: Operand, y: Operand) -> PartialTensor:
    """Numpy broadcasting of all three; elements are known where the condition is, or where both choices are equal."""
    shape = c.broadcast(condition.shape, x.shape, y.shape)
    return select_by_condition(c, x.dtype, shape, condition, x, y)
