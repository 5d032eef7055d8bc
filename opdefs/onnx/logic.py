"""Comparisons, logic and selection; decided where the constraints decide them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import (
    Verdict,
    compare_le,
    dim_operation,
    fold_elements,
    logical_and,
    logical_not,
    logical_or,
    map_elements,
    selection,
)
from shapeinf.expr import Dim
from shapeinf.lattice import Element, PartialTensor
from shapeinf.ops import InferenceContext, Operand, Value

Compare = Callable[[InferenceContext, Dim, Dim], Verdict]


def _comparison_rule(concrete: Callable[[Any, Any], Any], verdict: Compare) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
        """Broadcasting; each element is true, false or not decided."""
        operation = dim_operation(lambda x, y: verdict(c, x, y))
        return fold_elements("bool", c.broadcast(a.shape, b.shape), concrete, operation, a, b)

    return rule


onnx("Equal", since=7)(_comparison_rule(np.equal, lambda c, a, b: c.prove_eq(a, b)))
onnx("Less", since=7)(_comparison_rule(np.less, lambda c, a, b: compare_le(c, a + 1, b)))
onnx("Greater", since=7)(_comparison_rule(np.greater, lambda c, a, b: compare_le(c, b + 1, a)))
onnx("LessOrEqual")(_comparison_rule(np.less_equal, compare_le))
onnx("GreaterOrEqual")(_comparison_rule(np.greater_equal, lambda c, a, b: compare_le(c, b, a)))


def _xor(a: Element, b: Element) -> Element:
    return a != b if isinstance(a, bool) and isinstance(b, bool) else None


def _connective_rule(operation: Callable[[Element, Element], Element]) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, a: Value, b: Value) -> PartialTensor:
        """Broadcasting, in three values: true, false, not decided."""
        return map_elements("bool", c.broadcast(a.shape, b.shape), operation, a, b)

    return rule


onnx("And", since=7, in_place=(0, 1))(_connective_rule(logical_and))
onnx("Or", since=7, in_place=(0, 1))(_connective_rule(logical_or))
onnx("Xor", since=7, in_place=(0, 1))(_connective_rule(_xor))


@onnx("Not", in_place=(0,))
def negation(c: InferenceContext, x: Operand) -> PartialTensor:
    """Element by element."""
    return map_elements("bool", x.shape, logical_not, x)


@onnx("Where", in_place=(1, 2))
def where(c: InferenceContext, condition: Operand, x: Operand, y: Operand) -> PartialTensor:
    """Broadcasting of all three; elements are chosen where the condition is decided or both choices agree."""
    shape = c.broadcast(condition.shape, x.shape, y.shape)
    return map_elements(x.dtype, shape, selection(c), condition, x, y)
