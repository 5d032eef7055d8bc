"""Conditions of branches that are tried: whether they can hold together with the constraints of a store."""

from __future__ import annotations

from shapeinf.constraints.store import ConstraintStore
from shapeinf.errors import Contradiction, Source
from shapeinf.expr.dimension import Dimension, DimSize


def excludes(store: ConstraintStore, expression: DimSize) -> bool:
    """Whether `expression >= 0` contradicts the constraints."""
    if isinstance(expression, int) or store.prove_le(0, expression) is False:
        return isinstance(expression, Dimension) or expression < 0
    return not try_condition(store.copy(), expression, Source("", "a condition"))


def try_condition(store: ConstraintStore, expression: DimSize, source: Source) -> bool:
    """Add the condition `expression >= 0`; False, and nothing is added, where it cannot hold."""
    try:
        store.add_condition(expression, source)
    except Contradiction:
        return False
    return True
