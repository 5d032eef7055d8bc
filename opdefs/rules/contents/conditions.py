"""Undecided conditions as numbers, and choices by them, where an expression of sizes has these values."""

from __future__ import annotations

from math import prod

from opdefs.rules.contents.elements import Operation, logical_and, logical_not, logical_or, map_elements, to_dim
from shapeinf.expr import DimSize, maximum, minimum
from shapeinf.lattice import Condition, Element, PartialTensor, Shape
from shapeinf.ops import InferenceContext

MAX_CHOICES = 16
"""The most elements of a tensor for which expressions of undecided conditions are built."""


def indicator(expression: DimSize) -> DimSize:
    """1 where an integer expression is at least 0, else 0."""
    return minimum(maximum(expression + 1, 0), 1)


def choose(c: InferenceContext, condition: Condition, a: Element, b: Element) -> Element:
    """`a if condition else b` of integers: a maximum or minimum, what both are under the condition, or a sum.

    Any other choice is an unknown between both; None where one of them is unknown.
    """
    if isinstance(a, (bool, Condition)) or isinstance(b, (bool, Condition)):
        return logical_or(logical_and(condition, a), logical_and(logical_not(condition), b))
    left, right = to_dim(a), to_dim(b)
    if left is None or right is None:
        return None
    if c.prove_eq(left, right) is True:
        return a
    distance, expression = left - right, condition.expression
    if expression in (distance, distance - 1):
        return maximum(left, right)
    if expression in (-distance, -distance - 1):
        return minimum(left, right)
    common = c.select(condition, left, right)
    if common is not None:
        return common
    if isinstance(distance, int):
        return right + distance * indicator(expression)
    ends = c.interval(left), c.interval(right)
    lows, highs = [e.lo for e in ends if e.lo is not None], [e.hi for e in ends if e.hi is not None]
    unknown = c.fresh("chosen", min(lows) if len(lows) == 2 else None, max(highs) if len(highs) == 2 else None)
    c.limit(unknown, maximum(left, right))
    return unknown


def selection(c: InferenceContext, count: int = 1) -> Operation:
    """The operation `a if condition else b`, for tensors of so many elements.

    The result is None where the condition is unknown and a and b may differ.
    """

    def select(condition: Element, a: Element, b: Element) -> Element:
        if isinstance(condition, bool):
            return a if condition else b
        if isinstance(condition, Condition) and count <= MAX_CHOICES:
            return choose(c, condition, a, b)
        left, right = to_dim(a), to_dim(b)
        same = left is not None and right is not None and c.prove_eq(left, right) is True
        return a if same else None

    return select


def select_by_condition(
    c: InferenceContext, dtype: str | None, shape: Shape, condition: PartialTensor, a: PartialTensor, b: PartialTensor
) -> PartialTensor:
    """The tensor of `shape` with the elements of `a` where the condition holds, and of `b` elsewhere."""
    count = prod(d for d in shape.dims or () if isinstance(d, int))
    return map_elements(dtype, shape, selection(c, count), condition, a, b)
