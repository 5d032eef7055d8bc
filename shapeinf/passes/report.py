"""The report of a clean-up: the changes of a model, and what was left alone and why."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import attrs


@attrs.frozen
class Change:
    """One change: the pass, the node or tensor, and the change as text."""

    pass_name: str
    where: str
    text: str


@attrs.frozen
class Left:
    """A node or tensor that a pass leaves alone, with the reason."""

    pass_name: str
    where: str
    reason: str


@attrs.frozen
class PassReport:
    """One run of a pass; "undone" where, for the `reason`, its result is not proved to be the same model."""

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
        """The changes of all runs that were not undone."""
        return tuple(c for run in self.passes if run.outcome == "changed" for c in run.changes)

    @property
    def left(self) -> tuple[Left, ...]:
        """The nodes and tensors that the last run of each pass left alone."""
        last = {run.name: run for run in self.passes}
        return tuple(item for run in last.values() for item in run.left)

    def counts(self) -> dict[str, int]:
        """The number of changes of each pass."""
        return dict(Counter(change.pass_name for change in self.changes))
