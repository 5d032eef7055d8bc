"""Comparisons, logic and selection; decided where the facts decide them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import as_dim, folded, mapped, on_dims
from shapeinf.algebra import Dim, maximum, minimum
from shapeinf.lattice import Condition, Element, PartialTensor
from shapeinf.ops import InferenceContext, Operand, Value

Verdict = bool | Condition | None
Compare = Callable[[InferenceContext, Dim, Dim], Verdict]


def _comparison(concrete: Callable[[Any, Any], Any], verdict: Compare) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
        """Broadcasting; each element is true, false or not decided."""
        operation = on_dims(lambda x, y: verdict(c, x, y))
        return folded("bool", c.broadcast(a.shape, b.shape), concrete, operation, a, b)

    return rule


def _at_most(c: InferenceContext, a: Dim, b: Dim) -> Verdict:
    """`a <= b`: decided, or kept as a condition."""
    decided = c.prove_le(a, b)
    if decided is not None:
        return decided
    return _at_least_zero(b - a)


onnx("Equal", since=7)(_comparison(np.equal, lambda c, a, b: c.prove_eq(a, b)))
onnx("Less", since=7)(_comparison(np.less, lambda c, a, b: _at_most(c, a + 1, b)))
onnx("Greater", since=7)(_comparison(np.greater, lambda c, a, b: _at_most(c, b + 1, a)))
onnx("LessOrEqual")(_comparison(np.less_equal, _at_most))
onnx("GreaterOrEqual")(_comparison(np.greater_equal, lambda c, a, b: _at_most(c, b, a)))


def _at_least_zero(expression: Dim) -> bool | Condition:
    return expression >= 0 if isinstance(expression, int) else Condition(expression)


def _and(a: Element, b: Element) -> Element:
    if a is True or b is True:
        return b if a is True else a
    if isinstance(a, Condition) and isinstance(b, Condition):
        return _at_least_zero(minimum(a.expression, b.expression))
    return False if a is False or b is False else None


def _or(a: Element, b: Element) -> Element:
    if a is False or b is False:
        return b if a is False else a
    if isinstance(a, Condition) and isinstance(b, Condition):
        return _at_least_zero(maximum(a.expression, b.expression))
    return True if a is True or b is True else None


def _xor(a: Element, b: Element) -> Element:
    return a != b if isinstance(a, bool) and isinstance(b, bool) else None


def _connective(operation: Callable[[Element, Element], Element]) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, a: Value, b: Value) -> PartialTensor:
        """Broadcasting, in three values: true, false, not decided."""
        return mapped("bool", c.broadcast(a.shape, b.shape), operation, a, b)

    return rule


onnx("And", since=7)(_connective(_and))
onnx("Or", since=7)(_connective(_or))
onnx("Xor", since=7)(_connective(_xor))


@onnx("Not")
def negation(c: InferenceContext, x: Operand) -> PartialTensor:
    """Element by element."""
    return mapped("bool", x.shape, _not, x)


def _not(a: Element) -> Element:
    if isinstance(a, Condition):
        return _at_least_zero(-a.expression - 1)
    return not a if isinstance(a, bool) else None


@onnx("Where")
def where(c: InferenceContext, condition: Operand, x: Operand, y: Operand) -> PartialTensor:
    """Broadcasting of all three; elements are chosen where the condition is decided or both choices agree."""

    def choose(decided: Element, a: Element, b: Element) -> Element:
        if isinstance(decided, bool):
            return a if decided else b
        left, right = as_dim(a), as_dim(b)
        same = left is not None and right is not None and c.prove_eq(left, right) is True
        return a if same else None

    shape = c.broadcast(condition.shape, x.shape, y.shape)
    return mapped(x.dtype, shape, choose, condition, x, y)
