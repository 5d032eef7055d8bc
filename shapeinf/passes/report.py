"""The report of a clean-up: the changes of a model, and what was skipped and why."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import attrs

from shapeinf.schemas import json_record


@attrs.frozen
class Change:
    """A change of a model.

    Args:
        pass_name: the pass.
        where: the node or tensor.
        text: the change.
    """

    pass_name: str
    where: str
    text: str


@attrs.frozen
class SkippedChange:
    """A node or tensor that a pass leaves alone.

    Args:
        pass_name: the pass.
        where: the node or tensor.
        reason: why it stays unchanged.
    """

    pass_name: str
    where: str
    reason: str


@json_record(omit=("changes", "skipped"))
@attrs.frozen
class PassReport:
    """One run of a pass; "undone" where, for the `reason`, its result is not proved to be the same model."""

    name: str
    changes: tuple[Change, ...] = ()
    skipped: tuple[SkippedChange, ...] = ()
    outcome: Literal["changed", "unchanged", "undone"] = "unchanged"
    reason: str = ""


@json_record(omit=("passes",), add=("changes", "skipped", "undone"))
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
    def skipped(self) -> tuple[SkippedChange, ...]:
        """The nodes and tensors that the last run of each pass skipped."""
        last = {run.name: run for run in self.passes}
        return tuple(item for run in last.values() for item in run.skipped)

    @property
    def undone(self) -> tuple[PassReport, ...]:
        """The runs whose result could not be proved, each once: all passes run until they change nothing."""
        undone = {(run.name, run.changes, run.reason): run for run in self.passes if run.outcome == "undone"}
        return tuple(undone.values())

    def counts(self) -> dict[str, int]:
        """The number of changes of each pass."""
        return dict(Counter(change.pass_name for change in self.changes))
