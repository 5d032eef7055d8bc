"""The limit on the work of a query, in steps, so that the answer is the same on every machine.

A step takes a microsecond or less: a visited coefficient, or one operation of isl on a small set. Past the budget a
caller takes a coarser answer that is correct too, and reports that it was cut.
"""

from __future__ import annotations

WORK = 5_000_000
"""Steps of one query by default: a few seconds in the worst case."""

CUT = "the work budget was reached"
"""The note on answers that more work might improve."""


def cut_text(remedy: str) -> str:
    """The note `CUT` with the option that raises the budget.

    >>> cut_text("memory(work=...)")
    'the work budget was reached; memory(work=...) sets a larger one'
    """
    return f"{CUT}; {remedy} sets a larger one"


class Budget:
    """The remaining steps of a query, shared by all its parts.

    >>> budget = Budget(10)
    >>> budget.take(8), budget.take(8), budget.take(1), budget.cut
    (True, False, False, True)
    """

    def __init__(self, steps: int = WORK) -> None:
        """A budget of this number of steps."""
        self.left = steps
        self.cut = False
        """Whether a request was refused: from then on every request is."""

    def take(self, steps: int) -> bool:
        """Take steps before they are done; False where too few are left."""
        if self.cut or steps > self.left:
            self.cut = True
            return False
        self.left -= steps
        return True

    def spend(self, steps: int) -> None:
        """Take steps that are already done, of work whose cost is known only afterwards."""
        self.left = max(0, self.left - steps)
