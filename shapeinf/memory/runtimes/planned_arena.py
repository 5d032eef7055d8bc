"""`PlannedArena`: the memory of a runtime that plans an arena, whichever it is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping

from shapeinf.errors import ShapeInferenceError
from shapeinf.memory.planning import Plan
from shapeinf.memory.runtimes.runtime_memory import RuntimeMemory
from shapeinf.memory.timeline import Role


class PlannedArena(RuntimeMemory):
    """The tensors of a runtime that plans an arena; `plan` has their offsets."""

    alignment: int
    """Every offset is a multiple of it."""
    planner: str
    """The planner of the runtime."""
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
