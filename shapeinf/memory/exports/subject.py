"""What is exported, in the form that all formats are made from."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from shapeinf.expr import Dim, Dimension
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak import Peak
from shapeinf.memory.peak.terms import why_unbounded
from shapeinf.memory.planning import Plan, Slot
from shapeinf.memory.timeline import Buffer, Timeline
from shapeinf.program.bindings import Binder
from shapeinf.sharing import cached_property
from shapeinf.solver.elimination import Elimination
from shapeinf.solver.long_sums import canonical_form


@attrs.frozen(slots=False)
class Subject:
    """The memory of one model.

    Args:
        name: of the model.
        peak: the most memory in use at once; it knows the buffers, their dims and what those are called.
        plan: the places of its buffers, where they have some.
    """

    name: str
    peak: Peak
    plan: Plan | None = None

    @property
    def timeline(self) -> Timeline:
        """Its buffers."""
        return self.peak.timeline

    @property
    def store(self) -> ShapeStore:
        """What is known of its dims."""
        return self.peak.store

    @property
    def labels(self) -> Mapping[Dimension, str]:
        """The symbols of its inputs, with what they are called."""
        return self.peak.labels

    @cached_property
    def binder(self) -> Binder:
        """The names of its dims, and what must hold of them."""
        found = Binder(self.store, self.labels, self.data_dependent)
        found.demands.add_sizes(
            (self.store.canon(d), buffer.name)
            for buffer in self.timeline.buffers
            for d in self.store.canon_shape(buffer.shape).dims or ()
        )
        return found

    @cached_property
    def dims(self) -> list[Dimension]:
        """The symbols on which sizes depend: those of the inputs that do not follow from others."""
        return Binder(self.store, self.labels).needed

    @cached_property
    def data_dependent(self) -> list[Dimension]:
        """The other symbols of sizes and shapes, in the order of the buffers."""
        known = set(self.dims)
        found: dict[Dimension, None] = {}
        for buffer in self.timeline.buffers:
            for d in (buffer.size, *(buffer.shape.dims or ())):
                form = 0 if d is None else canonical_form(self.store, d)
                if isinstance(form, Dimension):
                    found.update(dict.fromkeys(sorted(form.symbols() - known, key=str)))
        return list(found)

    @cached_property
    def without_data(self) -> Elimination:
        """Finds bounds of sizes that depend on data."""
        return Elimination(self.store, set(self.dims).__contains__)

    def size(self, buffer: Buffer) -> Dim | None:
        """The canonical bytes of a buffer; None where they are not known."""
        return None if buffer.size is None else canonical_form(self.store, buffer.size)

    def at_most(self, buffer: Buffer) -> Dim | None:
        """The most bytes that a buffer can have, in the dims of the inputs; None where there is no bound."""
        return None if buffer.size is None else self.without_data.upper(buffer.size)

    def exact(self, buffer: Buffer) -> bool:
        """Whether `at_most` is what it has."""
        size = self.size(buffer)
        return size is not None and self.without_data.stays(size)

    def why_unbounded(self, buffer: Buffer) -> str:
        """Why `at_most` has no answer."""
        return why_unbounded(buffer, self.without_data)

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """The places of buffers, by name."""
        return {} if self.plan is None else {slot.name: slot for slot in self.plan.slots}
