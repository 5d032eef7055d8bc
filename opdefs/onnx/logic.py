"""Comparisons, logic and selection; decided where the facts decide them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import as_dim, folded, mapped, on_dims
from shapeinf.algebra import Dim
from shapeinf.lattice import Element, PartialTensor
from shapeinf.ops import InferenceContext, Operand, Value

Verdict = Callable[[InferenceContext, Dim, Dim], "bool | None"]


def _comparison(concrete: Callable[[Any, Any], Any], verdict: Verdict) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
        """Broadcasting; each element is true, false or not decided."""
        operation = on_dims(lambda x, y: verdict(c, x, y))
        return folded("bool", c.broadcast(a.shape, b.shape), concrete, operation, a, b)

    return rule


def _less(c: InferenceContext, a: Dim, b: Dim) -> bool | None:
    at_least = c.prove_le(b, a)
    return None if at_least is None else not at_least


onnx("Equal", since=7)(_comparison(np.equal, lambda c, a, b: c.prove_eq(a, b)))
onnx("Less", since=7)(_comparison(np.less, _less))
onnx("Greater", since=7)(_comparison(np.greater, lambda c, a, b: _less(c, b, a)))
onnx("LessOrEqual")(_comparison(np.less_equal, lambda c, a, b: c.prove_le(a, b)))
onnx("GreaterOrEqual")(_comparison(np.greater_equal, lambda c, a, b: c.prove_le(b, a)))


def _and(a: Element, b: Element) -> Element:
    return False if a is False or b is False else True if a is True and b is True else None


def _or(a: Element, b: Element) -> Element:
    return True if a is True or b is True else False if a is False and b is False else None


def _xor(a: Element, b: Element) -> Element:
    return None if a is None or b is None else a != b


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
    return mapped("bool", x.shape, lambda e: None if e is None else not e, x)


@onnx("Where")
def where(c: InferenceContext, condition: Operand, x: Operand, y: Operand) -> PartialTensor:
    """Broadcasting of all three; elements are chosen where the condition is decided or both choices agree."""

    def choose(decided: Element, a: Element, b: Element) -> Element:
        if decided is not None:
            return a if decided else b
        left, right = as_dim(a), as_dim(b)
        same = left is not None and right is not None and c.prove_eq(left, right) is True
        return a if same else None

    shape = c.broadcast(condition.shape, x.shape, y.shape)
    return mapped(x.dtype, shape, choose, condition, x, y)
