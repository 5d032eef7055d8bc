"""`PlannedArena`: the memory of a runtime that plans an arena, whichever it is."""

from __future__ import annotations

from collections.abc import Mapping

from shapeinf.memory.runtimes.runtime_memory import RuntimeMemory


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
