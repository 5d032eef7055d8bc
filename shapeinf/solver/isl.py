"""Queries to isl, an optional package, under a limit; without it, each query ends as one that reaches its limit.

Import this on the first query: loading isl takes tens of milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from shapeinf.solver.budget import Budget


def _load_isl() -> Any:
    """The package, None where it is not installed."""
    try:
        import islpy
    except ImportError:
        return None
    return islpy


isl: Any = _load_isl()

ISL_INSTALLED = isl is not None
"""Whether isl is installed: `pip install 'shapeinf[proofs]'`."""

Answer = TypeVar("Answer")

MAX_STEPS = 500_000
"""Steps of one query."""

SHARES = (25, 5, 1)
"""A query runs with these shares of its steps, one after the other: the first answer counts."""


class IslLimitReached(Exception):  # noqa: N818  (internal, no error)
    """isl needs more operations than it is allowed.

    Internal: caught in `solver.polytopes` and `solver.isl_sets`.
    """


def run_isl(budget: Budget, operations: int, size: int, query: Callable[[Any], Answer]) -> Answer:
    """The answer of isl within this number of its operations; raises IslLimitReached, also where it is not installed.

    An operation on a set of `size` variables costs about `size` squared, so large sets get fewer. isl does not report
    how many operations it used: the query runs with few first, then with more.
    """
    cost = 1 + size * size // 100
    limit = min(operations, MAX_STEPS // cost)
    if not ISL_INSTALLED:  # the query takes the steps of a short one, so that a search with many queries ends
        budget.needs_isl = True
        budget.take(max(1, limit // SHARES[0]) * cost)
        raise IslLimitReached
    for share in SHARES:
        if not budget.take(max(1, limit // share) * cost):
            break
        context = isl.Context()
        context.set_max_operations(max(1, limit // share))
        try:
            return query(context)
        except isl.Error:
            continue
    raise IslLimitReached


def number(value: Any) -> Fraction:
    """A finite number of isl. Past the limit isl has no text for it: raises isl.Error, as every operation then does."""
    text = value.to_str()
    if text is None:
        raise isl.Error("past the limit of operations")
    return Fraction(text)
