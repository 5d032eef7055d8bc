"""Questions to isl under a limit. Import this on the first question: loading isl takes tens of milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import islpy as isl

from shapeinf.solver.budget import Budget

Found = TypeVar("Found")

MAX_STEPS = 500_000
"""Steps of one question."""


class IslLimitReached(Exception):  # noqa: N818  (an answer, as StopIteration is)
    """isl needs more operations than it may have."""


def run_isl(budget: Budget, operations: int, size: int, question: Callable[[Any], Found]) -> Found:
    """What isl answers in at most so many of its operations; raises IslLimitReached.

    An operation on a set of `size` variables costs about `size` squared, so large sets get fewer. How many operations
    were needed isl does not tell: the question is asked with a few first, then with more.
    """
    cost = 1 + size * size // 100
    most = min(operations, MAX_STEPS // cost)
    for share in (25, 5, 1):
        if not budget.take(max(1, most // share) * cost):
            break
        context = isl.Context()
        context.set_max_operations(max(1, most // share))
        try:
            return question(context)
        except isl.Error:
            continue
    raise IslLimitReached


def number(value: Any) -> Fraction:
    """A finite number of isl. Past the limit isl has no text for it: that is an error as any other."""
    text = value.to_str()
    if text is None:
        raise isl.Error("past the limit of operations")
    return Fraction(text)
