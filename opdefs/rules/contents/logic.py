"""Comparisons and logical connectives; elements are true or false where the constraints prove it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opdefs.rules.contents.arithmetic import Broadcast
from opdefs.rules.contents.elements import (
    Verdict,
    compare_le,
    fold_dims,
    logical_and,
    map_elements,
    nonnegative_condition,
)
from opdefs.rules.contents.numpy_functions import numpy_function
from shapeinf.expr import Dim, minimum
from shapeinf.lattice import Condition, Element, PartialTensor, Shape
from shapeinf.ops import InferenceContext, Operand, Value

Compare = Callable[[InferenceContext, Dim, Dim], Verdict]
Comparison = tuple[Callable[[Any, Any], Any], Compare]
"""An operation on numpy arrays, and the same one on dims."""

EQUAL: Comparison = (numpy_function("equal"), lambda c, a, b: c.prove_eq(a, b))
NOT_EQUAL: Comparison = (numpy_function("not_equal"), lambda c, a, b: _negate(c.prove_eq(a, b)))
LESS: Comparison = (numpy_function("less"), lambda c, a, b: compare_le(c, a + 1, b))
GREATER: Comparison = (numpy_function("greater"), lambda c, a, b: compare_le(c, b + 1, a))
LESS_EQUAL: Comparison = (numpy_function("less_equal"), compare_le)
GREATER_EQUAL: Comparison = (numpy_function("greater_equal"), lambda c, a, b: compare_le(c, b, a))


def _negate(verdict: bool | None) -> bool | None:
    return None if verdict is None else not verdict


def compare(
    c: InferenceContext, shape: Shape, comparison: Comparison, a: PartialTensor, b: PartialTensor
) -> PartialTensor:
    """A comparison as a tensor of `shape`: each element is true, false, a condition or unknown."""
    concrete, verdict = comparison

    def decide(x: Dim, y: Dim) -> Verdict:
        return verdict(c, x, y)

    return fold_dims("bool", shape, concrete, decide, a, b)


def comparison_rule(broadcast: Broadcast, comparison: Comparison) -> Callable[..., PartialTensor]:
    """The rule of a comparison of two operands."""

    def rule(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
        """[*A], [*B] -> [*broadcast(A, B)]; each element is true, false or undecided."""
        return compare(c, broadcast(c, a.shape, b.shape), comparison, a, b)

    return rule


def logical_xor(a: Element, b: Element) -> Element:
    """`a != b` of two bools; None for others."""
    return a != b if isinstance(a, bool) and isinstance(b, bool) else None


def connective_rule(broadcast: Broadcast, operation: Callable[[Element, Element], Element]) -> Callable[..., object]:
    """The rule of a logical connective."""

    def rule(c: InferenceContext, a: Value, b: Value) -> PartialTensor:
        """[*A], [*B] -> [*broadcast(A, B)]; each element is true, false or undecided."""
        return map_elements("bool", broadcast(c, a.shape, b.shape), operation, a, b)

    return rule


def conjunction_rule(broadcast: Broadcast) -> Callable[..., object]:
    """The rule of `and`."""
    connect = connective_rule(broadcast, logical_and)

    def rule(c: InferenceContext, a: Value, b: Value) -> PartialTensor:
        """[*A], [*B] -> [*broadcast(A, B)]; each element is true, false or undecided.

        An unknown scalar and a condition give a condition that implies the known one, so that the known one limits the
        trips of a loop that may also end early.
        """
        result = connect(c, a, b)
        assert isinstance(result, PartialTensor)
        known = [x.elements[0] for x in (a, b) if x.shape.dims == () and x.elements and x.elements[0] is not None]
        if result.shape.dims != () or result.elements not in (None, (None,)) or len(known) != 1:
            return result
        (condition,) = known
        if not isinstance(condition, Condition):
            return result
        early = c.fresh("undecided", 0, 1) - 1
        return PartialTensor("bool", result.shape, (nonnegative_condition(minimum(early, condition.expression)),))

    return rule
