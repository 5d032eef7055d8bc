"""The source of all export formats: buffers, peak and plan of one model, with their dims and bounds."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak import Peak
from shapeinf.memory.peak.terms import why_unbounded
from shapeinf.memory.planning import Plan, Slot
from shapeinf.memory.timeline import Buffer, Timeline
from shapeinf.program.bindings import Binder
from shapeinf.sharing import cached_property
from shapeinf.solver.elimination import Elimination
from shapeinf.solver.long_dims import canonical_form


@attrs.frozen(slots=False)
class MemoryExport:
    """The memory of one model.

    Args:
        name: the name of the model.
        peak: its peak, which has the buffers, the constraints and the labels of the dims.
        plan: the slots of its buffers, if there is a plan.
    """

    name: str
    peak: Peak
    plan: Plan | None = None

    @property
    def timeline(self) -> Timeline:
        """The program points and buffers."""
        return self.peak.timeline

    @property
    def store(self) -> ShapeStore:
        """The constraints on the dims."""
        return self.peak.store

    @property
    def labels(self) -> Mapping[Dimension, str]:
        """The symbols of the inputs, with their labels."""
        return self.peak.labels

    @cached_property
    def binder(self) -> Binder:
        """The labels of the dims, and the preconditions on them."""
        binder = Binder(self.store, self.labels, self.data_dependent)
        binder.requirements.add_sizes(
            (self.store.canon(d), buffer.name)
            for buffer in self.timeline.buffers
            for d in self.store.canon_shape(buffer.shape).dims or ()
        )
        return binder

    @cached_property
    def dims(self) -> list[Dimension]:
        """The independent symbols of the inputs, on which all sizes depend."""
        return Binder(self.store, self.labels).needed

    @cached_property
    def data_dependent(self) -> list[Dimension]:
        """The other symbols of sizes and shapes, in the order of the buffers."""
        known = set(self.dims)
        symbols: dict[Dimension, None] = {}
        for size, dims in dict.fromkeys([(buffer.size, buffer.shape.dims) for buffer in self.timeline.buffers]):
            for d in (size, *(dims or ())):
                form = 0 if d is None else canonical_form(self.store, d)
                if isinstance(form, Dimension):
                    symbols.update(dict.fromkeys(sorted(form.symbols() - known - symbols.keys(), key=str)))
        return list(symbols)

    @cached_property
    def elimination(self) -> Elimination:
        """Bounds of sizes that depend on data, by elimination of their symbols."""
        return Elimination(self.store, set(self.dims).__contains__)

    def size(self, buffer: Buffer) -> DimSize | None:
        """The canonical bytes of a buffer; None where they are not known."""
        return None if buffer.size is None else canonical_form(self.store, buffer.size)

    def upper_bound(self, buffer: Buffer) -> DimSize | None:
        """The upper bound of the bytes of a buffer, in the dims of the inputs; None where it has none."""
        return None if buffer.size is None else self.elimination.upper(buffer.size)

    def is_exact(self, buffer: Buffer) -> bool:
        """Whether `upper_bound` is the exact size."""
        size = self.size(buffer)
        return size is not None and self.elimination.is_retained(size)

    def why_unbounded(self, buffer: Buffer) -> str:
        """Why `upper_bound` is None."""
        return why_unbounded(buffer, self.elimination)

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """The slots of the plan, by name."""
        return {} if self.plan is None else {slot.name: slot for slot in self.plan.slots}
