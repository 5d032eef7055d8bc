"""The budget of work in bodies."""

from __future__ import annotations

import attrs

from shapeinf.errors import NotKnown

MAX_WORK_IN_BODIES = 300_000
"""Nodes of bodies that one inference runs, in all iterations and calls: a few seconds of work."""


@attrs.define
class BodyBudget:
    """The number of nodes of bodies that an inference may still run: nested loops run theirs many times."""

    left: int = attrs.Factory(lambda: MAX_WORK_IN_BODIES)

    def spend(self, nodes: int) -> bool:
        """Count a run of this number of nodes, and 30 for its start; False when the budget is exhausted."""
        self.left -= nodes + 30
        return self.left >= 0

    def require(self, nodes: int) -> None:
        """Count a run. Raises NotKnown when the budget is exhausted."""
        if not self.spend(nodes):
            raise NotKnown("the bodies of this model run too many nodes to be inferred")
