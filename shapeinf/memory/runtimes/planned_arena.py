"""`PlannedArena`: the memory of a runtime that plans an arena, whichever it is."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from shapeinf.errors import NotKnown, ShapeInferenceError
from shapeinf.expr import DimSize
from shapeinf.inputs.reader import RangeLike
from shapeinf.memory.peak.query import SizeQuery, merge_specs
from shapeinf.memory.planning import Plan
from shapeinf.memory.runtimes.arena_formulas import ArenaFormula, find_formula
from shapeinf.memory.runtimes.guarded_sizes import Bytes
from shapeinf.memory.runtimes.runtime_memory import RuntimeMemory
from shapeinf.memory.timeline import Role
from shapeinf.solver.budget import Budget

if TYPE_CHECKING:
    from shapeinf.memory.runtimes.tflite_micro.offline import OfflinePlan


class PlannedArena(RuntimeMemory):
    """The tensors of a runtime that plans an arena; `plan` has their offsets."""

    alignment: int
    """Every offset is a multiple of it."""
    planner: str
    """The planner of the runtime."""
    formula_part = "arena"
    """What `formula` has the bytes of."""
    at_bounds = False
    """Whether the arena is planned for upper bounds of sizes, and not for the sizes of a run."""

    def parts(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """What the runtime takes at these sizes besides the arena, or which part of it, by name.

        Raises MissingSizeError.
        """
        return {}

    def arena_bytes(self, planned: int, parts: Mapping[str, int]) -> int:
        """The whole arena, whose tensors have the `planned` bytes."""
        return planned

    def formula(self, ranges: Mapping[str, RangeLike] | None = None, /, **more: RangeLike) -> ArenaFormula:
        """The arena as formulas in the dims of inputs, where these have a size or a range, or any size.

        With one dim that has no size, there is a formula for each of some ranges of it; with several, one formula if
        the planner places tensors in the same order at all sizes. `reason` is why others have none. Raises as
        `Peak.over` does.
        """
        ranges = merge_specs(ranges, more)
        memory = self._memory_for(ranges)
        assert isinstance(memory, PlannedArena)
        query = SizeQuery(memory.store, memory.labels)
        return find_formula(memory._plan_ends, query, query.restrict(ranges), Budget(self.work))

    def _plan_ends(self, bytes_of: Callable[[DimSize], Bytes]) -> Sequence[Bytes]:
        """The ends of all tensors in the arena, whose sizes `bytes_of` returns.

        Raises NotKnown where the planner needs more than sizes.
        """
        raise NotKnown(f"{self.planner} has no formula")

    def plan(
        self,
        sizes: Mapping[str, int] | None = None,
        *,
        alignment: int | None = None,
        planner: str | None = None,
        roles: Collection[Role] | None = None,
    ) -> Plan:
        """The arena as the runtime plans it; with a `planner`, as this one plans the same tensors.

        Raises as `Memory.plan` does, and MissingSizeError for dims without a size, or without an upper bound where the
        arena is planned for these.
        """
        if planner is not None:
            return super().plan(sizes, alignment=alignment or self.alignment, planner=planner, roles=roles)
        return self._plan_as_runtime(sizes or {}, alignment, roles)

    def save_offline(
        self, path: str | os.PathLike[str], sizes: Mapping[str, int] | None = None, *, planner: str = "best"
    ) -> OfflinePlan:
        """Write the file with offsets of its tensors, if the runtime reads them. Raises ShapeInferenceError."""
        raise ShapeInferenceError(f"{self.name} reads no offsets of tensors from a file")

    @abstractmethod
    def _plan_as_runtime(self, sizes: Mapping[str, int], alignment: int | None, roles: Collection[Role] | None) -> Plan:
        """The arena as the runtime plans it."""

    def _require_own(self, alignment: int | None, roles: Collection[Role] | None) -> None:
        """Raise ShapeInferenceError for an alignment or roles that the planner of the runtime does not take."""
        if alignment not in (None, self.alignment) or roles is not None:
            raise ShapeInferenceError(
                f"{self.planner} places all its tensors at multiples of {self.alignment}: choose another planner for "
                "another alignment or other roles"
            )
