"""Comparisons, logic and choices of single elements: true, false, a condition, or not decided (None)."""

from __future__ import annotations

from opdefs.rules.elements import Operation, as_dim
from shapeinf.expr import Dim, maximum, minimum
from shapeinf.lattice import Condition, Element
from shapeinf.ops import InferenceContext

Verdict = bool | Condition | None


def at_most(c: InferenceContext, a: Dim, b: Dim) -> Verdict:
    """`a <= b`: decided, or kept as a condition."""
    decided = c.prove_le(a, b)
    if decided is not None:
        return decided
    return at_least_zero(b - a)


def at_least_zero(expression: Dim) -> bool | Condition:
    """`expression >= 0`: decided for an int, else a condition."""
    return expression >= 0 if isinstance(expression, int) else Condition(expression)


def both(a: Element, b: Element) -> Element:
    """`a and b`."""
    if a is True or b is True:
        return b if a is True else a
    if isinstance(a, Condition) and isinstance(b, Condition):
        return at_least_zero(minimum(a.expression, b.expression))
    return False if a is False or b is False else None


def either(a: Element, b: Element) -> Element:
    """`a or b`."""
    if a is False or b is False:
        return b if a is False else a
    if isinstance(a, Condition) and isinstance(b, Condition):
        return at_least_zero(maximum(a.expression, b.expression))
    return True if a is True or b is True else None


def negated(a: Element) -> Element:
    """`not a`."""
    if isinstance(a, Condition):
        return at_least_zero(-a.expression - 1)
    return not a if isinstance(a, bool) else None


def choice(c: InferenceContext) -> Operation:
    """`a if decided else b`, where the condition is decided or both are the same."""

    def choose(decided: Element, a: Element, b: Element) -> Element:
        if isinstance(decided, bool):
            return a if decided else b
        left, right = as_dim(a), as_dim(b)
        same = left is not None and right is not None and c.prove_eq(left, right) is True
        return a if same else None

    return choose
