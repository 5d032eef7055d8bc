"""Comparisons, logic and selection; decided where the facts decide them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opdefs.onnx.dialect import onnx
from opdefs.rules.deciding import Verdict, at_most, both, choice, either, negated
from opdefs.rules.elements import folded, mapped, on_dims
from shapeinf.expr import Dim
from shapeinf.lattice import Element, PartialTensor
from shapeinf.ops import InferenceContext, Operand, Value

Compare = Callable[[InferenceContext, Dim, Dim], Verdict]


def _comparison(concrete: Callable[[Any, Any], Any], verdict: Compare) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
        """Broadcasting; each element is true, false or not decided."""
        operation = on_dims(lambda x, y: verdict(c, x, y))
        return folded("bool", c.broadcast(a.shape, b.shape), concrete, operation, a, b)

    return rule


onnx("Equal", since=7)(_comparison(np.equal, lambda c, a, b: c.prove_eq(a, b)))
onnx("Less", since=7)(_comparison(np.less, lambda c, a, b: at_most(c, a + 1, b)))
onnx("Greater", since=7)(_comparison(np.greater, lambda c, a, b: at_most(c, b + 1, a)))
onnx("LessOrEqual")(_comparison(np.less_equal, at_most))
onnx("GreaterOrEqual")(_comparison(np.greater_equal, lambda c, a, b: at_most(c, b, a)))


def _xor(a: Element, b: Element) -> Element:
    return a != b if isinstance(a, bool) and isinstance(b, bool) else None


def _connective(operation: Callable[[Element, Element], Element]) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, a: Value, b: Value) -> PartialTensor:
        """Broadcasting, in three values: true, false, not decided."""
        return mapped("bool", c.broadcast(a.shape, b.shape), operation, a, b)

    return rule


onnx("And", since=7, in_place=(0, 1))(_connective(both))
onnx("Or", since=7, in_place=(0, 1))(_connective(either))
onnx("Xor", since=7, in_place=(0, 1))(_connective(_xor))


@onnx("Not", in_place=(0,))
def negation(c: InferenceContext, x: Operand) -> PartialTensor:
    """Element by element."""
    return mapped("bool", x.shape, negated, x)


@onnx("Where", in_place=(1, 2))
def where(c: InferenceContext, condition: Operand, x: Operand, y: Operand) -> PartialTensor:
    """Broadcasting of all three; elements are chosen where the condition is decided or both choices agree."""
    shape = c.broadcast(condition.shape, x.shape, y.shape)
    return mapped(x.dtype, shape, choice(c), condition, x, y)
