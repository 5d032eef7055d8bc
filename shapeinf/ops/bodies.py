"""The interface of an operator's subgraphs to its rule: they run on types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from shapeinf.expr import Dim, Dimension
from shapeinf.lattice import Type


class Body(Protocol):
    """A subgraph of the node whose rule runs; values of the outer graph that it reads are bound already."""

    @property
    def num_inputs(self) -> int:
        """Number of formal inputs."""

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""

    def declared_rank(self, index: int) -> int | None:
        """The declared rank of a formal input, None without a declaration."""

    def run(
        self, inputs: Sequence[Type | None], *, certain: bool, accumulate: bool = False, trip: int | None = None
    ) -> list[Type]:
        """The types of its outputs for these inputs.

        A run replaces the results of earlier runs; with `accumulate` it is one more iteration, or element, and the body
        is all of them together. The constraints of its nodes stay only when the body is `certain` to run. `trip` is the
        number of the iteration or element that this run stands for, None where it stands for any of them: sizes of
        different trips are different unknowns.

        Raises ShapeError for a violation inside a body that is certain to run, in strict mode; NotKnown past the limit
        on the number of runs.
        """

    def repeat(self, trips: Dim, number: Dimension | None = None) -> None:
        """Note that the last run stands for this many, numbered from 0; without this it is one.

        `number` is the symbol in it that stands for the number of a trip, from 0 on.
        """

    @property
    def failure(self) -> str:
        """Why the last run is certain to fail at run time; empty where it is not."""

    def require_common(self, other: Body) -> None:
        """Add the constraints that two bodies share, of which exactly one runs."""

    def require_inputs(self, inputs: Sequence[Type | None]) -> None:
        """Add the constraints of its nodes on inputs that certainly occur in some iteration, and nothing else.

        Raises as `run` does where the body is certain to run.
        """
