"""`Answer`: whether a graph runs with some sizes."""

from __future__ import annotations

from typing import NamedTuple

from shapeinf.html import html_rows
from shapeinf.texts import object_text


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

    def __repr__(self) -> str:
        """The verdict, and the first reasons."""
        return object_text(f"Answer: {Answer(self.verdict)}", self.reasons)

    def _repr_html_(self) -> str:
        """The verdict, and a table of the reasons."""
        return html_rows([str(Answer(self.verdict))], [[reason] for reason in self.reasons])
