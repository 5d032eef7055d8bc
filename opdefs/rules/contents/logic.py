"""Comparisons and logical connectives; elements are true or false where the constraints prove it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opdefs.rules.contents.arithmetic import Broadcast
from opdefs.rules.contents.elements import (
    Verdict,
    compare_eq,
    compare_le,
    fold_dims,
    logical_and,
    logical_not,
    map_elements,
    nonnegative_condition,
)
from opdefs.rules.contents.float_intervals import float_ends
from opdefs.rules.contents.numpy_functions import numpy_function
from shapeinf.expr import DimSize, minimum
from shapeinf.lattice import Condition, Element, FloatInterval, PartialTensor, Shape
from shapeinf.ops import InferenceContext, Operand, Value

Compare = Callable[[InferenceContext, DimSize, DimSize], Verdict]
Comparison = tuple[Callable[[Any, Any], Any], Compare]
"""An operation on numpy arrays, and the same one on dims."""

EQUAL: Comparison = (numpy_function("equal"), lambda c, a, b: compare_eq(c, a, b))
NOT_EQUAL: Comparison = (numpy_function("not_equal"), lambda c, a, b: logical_not(compare_eq(c, a, b)))
LESS: Comparison = (numpy_function("less"), lambda c, a, b: compare_le(c, a + 1, b))
GREATER: Comparison = (numpy_function("greater"), lambda c, a, b: compare_le(c, b + 1, a))
LESS_EQUAL: Comparison = (numpy_function("less_equal"), compare_le)
GREATER_EQUAL: Comparison = (numpy_function("greater_equal"), lambda c, a, b: compare_le(c, b, a))


def compare(
    c: InferenceContext, shape: Shape, comparison: Comparison, a: PartialTensor, b: PartialTensor
) -> PartialTensor:
    """A comparison as a tensor of `shape`: each element is true, false, a condition or unknown."""
    concrete, verdict = comparison

    def decide(x: DimSize, y: DimSize) -> Verdict:
        return verdict(c, x, y)

    if any([FloatInterval in map(type, x.elements or ()) for x in (a, b)]):
        return map_elements("bool", shape, lambda x, y: _compare_floats(concrete, x, y), a, b)
    return fold_dims(c, "bool", shape, concrete, decide, a, b)


def _compare_floats(concrete: Callable[[Any, Any], Any], x: Element, y: Element) -> bool | None:
    """A comparison of numbers or intervals; None unless all numbers that they may be compare alike."""
    left, right = float_ends(x), float_ends(y)
    if left is None or right is None:
        return None
    apart = left[1] < right[0] or right[1] < left[0] or (left == right and left[0] == left[1])
    touching = left[1] == right[0] or right[1] == left[0]
    verdicts = {bool(concrete(a, b)) for a in left for b in right}
    return verdicts.pop() if len(verdicts) == 1 and (apart or touching) else None


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
