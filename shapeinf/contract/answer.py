"""`Answer`: whether a graph runs with some sizes."""

from __future__ import annotations

from typing import NamedTuple


class Answer(NamedTuple):
    """Whether the graph runs with some sizes.

    Args:
        verdict: True, False, or None where it depends on data, or on dims without a size.
        reasons: violated constraints, or conditions that remain; for legal sizes, why some runtimes refuse them.
        cut: whether the budget was exhausted: with more work, some remaining conditions may be proved.
    """

    verdict: bool | None
    reasons: tuple[str, ...] = ()
    cut: bool = False

    def __str__(self) -> str:
        """The verdict in words, and the reasons."""
        word = {True: "yes", False: "no", None: "can't tell"}[self.verdict]
        return word + (": " + "; ".join(self.reasons) if self.reasons else "")
