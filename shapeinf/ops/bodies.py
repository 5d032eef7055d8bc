"""Graphs that an operator carries as attributes, as its rule sees them: something to run on types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from shapeinf.lattice import Type


class Body(Protocol):
    """A subgraph of the node whose rule runs; what it reads of the outer graph is bound already."""

    @property
    def num_inputs(self) -> int:
        """Number of formal inputs."""

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""

    def declared_rank(self, index: int) -> int | None:
        """The rank that the body declares for a formal input, None where it declares none."""

    def run(self, inputs: Sequence[Type | None], *, certain: bool, accumulate: bool = False) -> list[Type]:
        """The types of its outputs for these inputs.

        What a run finds takes the place of what those before it found, unless it is `accumulate` them: another trip, or
        another element. All of these together are what the body does.

        What its nodes tell the facts is kept only when it is `certain` that the body runs when the outer graph does.
        Raises ShapeError for a broken law inside a body that is certain to run, in strict mode; NotKnown when bodies
        have run so often that this one will not be followed.
        """

    @property
    def failure(self) -> str:
        """Why what was run last is sure to fail when it runs; empty where it is not."""

    def require_common(self, other: Body) -> None:
        """One of two bodies that have run, none of them for certain, does run: what both demand is demanded."""

    def require_inputs(self, inputs: Sequence[Type | None]) -> None:
        """Let its nodes tell what they demand of inputs that are sure to come up in some run of it.

        Nothing else is kept of that. Raises as `run` does where the body is certain to run.
        """
