"""`Body`, the interface through which a rule runs a subgraph of its node on types; `engine.bodies` implements it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import Condition, ShapeStore, Type


class Body(Protocol):
    """A subgraph of the node whose rule runs, with the values of the outer graph that it captures."""

    @property
    def num_inputs(self) -> int:
        """The number of formal inputs."""

    @property
    def num_outputs(self) -> int:
        """The number of outputs."""

    def declared_rank(self, index: int) -> int | None:
        """The declared rank of a formal input; None where none is declared."""

    def run(
        self,
        inputs: Sequence[Type | None],
        *,
        certain: bool,
        accumulate: bool = False,
        trip: int | None = None,
        condition: Condition | None = None,
    ) -> list[Type]:
        """Run the body on inputs of these types; the types of its outputs.

        A run replaces the earlier ones of this body; with `accumulate` it is added to them, as one more iteration. The
        constraints of its nodes stay only if the body is `certain` to run. `trip` is the number of the iteration or
        element that this run stands for, None for any of them: sizes of different trips are different unknowns.
        `condition` holds whenever a body runs that is not certain to: it may decide sizes inside, and the outputs are
        in the form that it allows. It must not contradict the constraints.

        Raises ShapeError in strict mode, for a violation in a body that is certain to run, and NotKnown when the budget
        of runs is exhausted.
        """

    def repeat(self, trips: DimSize, number: Dimension | None = None) -> None:
        """Record that the last run stands for `trips` runs instead of one.

        `number` is the symbol in it that stands for the number of a trip, from 0 on.
        """

    def preview(self, inputs: Sequence[Type | None]) -> list[Type]:
        """The types of the outputs for inputs of these types; the run is not recorded, and adds no constraint.

        Raises what `run` does.
        """

    @property
    def returned(self) -> Sequence[Type]:
        """The types of the outputs of the last run; none where the body never ran."""

    @property
    def store(self) -> ShapeStore:
        """The constraints that hold where the last run takes place; see `Alternatives`."""

    @property
    def failure(self) -> str:
        """Why the last run is certain to fail at run time; empty where that is not certain."""

    def require_common(self, other: Body) -> None:
        """Add the constraints that the last runs of this body and of `other` share, of which exactly one runs."""

    def require_inputs(self, inputs: Sequence[Type | None]) -> None:
        """Add the constraints of the body for inputs that are certain to occur in some iteration.

        Raises ShapeError in strict mode for a violation, if the node is certain to run.
        """
