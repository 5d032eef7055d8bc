"""Truths: bools that are decided, or conditions on dims, or unknown (None); and their logical connectives."""

from __future__ import annotations

from shapeinf.expr import DimSize, maximum, minimum
from shapeinf.lattice.types import Condition, Element

Truth = bool | Condition | None
"""The value of a condition: decided, symbolic, or unknown."""


def nonnegative_condition(expression: DimSize) -> bool | Condition:
    """`expression >= 0`, decided for an int, else as a condition."""
    return expression >= 0 if isinstance(expression, int) else Condition(expression)


def logical_and(a: Element, b: Element) -> Element:
    """`a and b` of bools and conditions; None where it is unknown."""
    if a is True or b is True:
        return b if a is True else a
    if isinstance(a, Condition) and isinstance(b, Condition):
        return nonnegative_condition(minimum(a.expression, b.expression))
    return False if a is False or b is False else None


def logical_or(a: Element, b: Element) -> Element:
    """`a or b` of bools and conditions; None where it is unknown."""
    if a is False or b is False:
        return b if a is False else a
    if isinstance(a, Condition) and isinstance(b, Condition):
        return nonnegative_condition(maximum(a.expression, b.expression))
    return True if a is True or b is True else None


def logical_not(a: Element) -> Truth:
    """`not a` of a bool or a condition; None where it is unknown."""
    if isinstance(a, Condition):
        return nonnegative_condition(-a.expression - 1)
    return not a if isinstance(a, bool) else None
