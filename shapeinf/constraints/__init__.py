"""The constraints on the symbols of one inference: equalities, ranges, congruences, relations, disjunctions."""

from shapeinf.constraints.store import ConstraintStore

__all__ = ["ConstraintStore"]
