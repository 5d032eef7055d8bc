"""How much work one question may be: counted in steps, so that an answer is the same on every machine.

A step takes a microsecond or less: a coefficient that is looked at, or one operation of isl on a small set. What is
past the budget is not worked out: every caller has an answer that is right without it, and says that it was cut.
"""

from __future__ import annotations

WORK = 5_000_000
"""Steps of one question, where nobody says otherwise: a few seconds at the very worst."""

CUT = "the budget of work was reached"
"""What is said of answers that more work might improve."""


def cut_text(remedy: str) -> str:
    """The same with what there is to do about it.

    >>> cut_text("memory(work=...)")
    'the budget of work was reached; memory(work=...) takes a larger one'
    """
    return f"{CUT}; {remedy} takes a larger one"


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

    def spend(self, steps: int) -> None:
        """Take steps that are done: how many it took is known only now. What is past the budget is not worked out."""
        self.left = max(0, self.left - steps)
