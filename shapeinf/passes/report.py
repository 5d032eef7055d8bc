"""What a clean-up did to a model, and what it left alone and why."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import attrs


@attrs.frozen
class Change:
    """One rewrite: the pass, the node (or tensor) that it was applied to, and what happened."""

    pass_name: str
    where: str
    text: str


@attrs.frozen
class Left:
    """A place that a pass looks for and leaves alone, with the reason."""

    pass_name: str
    where: str
    reason: str


@attrs.frozen
class PassReport:
    """One run of one pass; "undone" where its result could not be proved to be the same model, for this reason."""

    name: str
    changes: tuple[Change, ...] = ()
    left: tuple[Left, ...] = ()
    outcome: Literal["changed", "unchanged", "undone"] = "unchanged"
    reason: str = ""


@attrs.frozen
class CleanReport:
    """The runs of all passes, in order, and the opset of the model before and after them."""

    passes: tuple[PassReport, ...]
    opset_before: int
    opset_after: int

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes that are in the result."""
        return tuple(c for run in self.passes if run.outcome == "changed" for c in run.changes)

    @property
    def left(self) -> tuple[Left, ...]:
        """The places that the last run of each pass left alone."""
        last = {run.name: run for run in self.passes}
        return tuple(item for run in last.values() for item in run.left)

    def counts(self) -> dict[str, int]:
        """Changes by pass."""
        return dict(Counter(change.pass_name for change in self.changes))
