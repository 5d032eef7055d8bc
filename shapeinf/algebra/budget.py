"""How much work one question may be: counted in steps, so that an answer is the same on every machine.

A step takes a microsecond or less: a coefficient that is looked at, or one operation of isl on a small set. What is
past the budget is not worked out: every caller has an answer that is right without it, and says that it was cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Found = TypeVar("Found")

WORK = 5_000_000
"""Steps of one question, where nobody says otherwise: a few seconds at the very worst."""

MAX_STEPS = 500_000
"""Steps of one question to isl."""


class Budget:
    """What is left of the work that a question may be; shared by all its parts.

    >>> budget = Budget(10)
    >>> budget.take(8), budget.take(8), budget.take(1), budget.cut
    (True, False, False, True)
    """

    def __init__(self, steps: int = WORK) -> None:
        """So many steps."""
        self.left = steps
        self.cut = False
        """Whether something was left out: from then on everything is."""

    def take(self, steps: int) -> bool:
        """Whether there is work left for so many steps; they are taken."""
        if self.cut or steps > self.left:
            self.cut = True
            return False
        self.left -= steps
        return True


class TooMuch(Exception):  # noqa: N818  (an answer, as StopIteration is)
    """isl needs more operations than it may have."""


def ask_isl(budget: Budget, operations: int, size: int, question: Callable[[Any], Found]) -> Found:
    """What isl answers in at most so many of its operations; raises TooMuch.

    An operation on a set of `size` variables costs about `size` squared, so large sets get fewer. How many operations
    were needed isl does not tell: the question is asked with a few first, then with more.
    """
    import islpy as isl  # loading isl takes a while

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
    raise TooMuch
