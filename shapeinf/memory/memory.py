"""`Memory`: what a model needs of memory, from the lifetimes of its values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from threading import RLock
from typing import TYPE_CHECKING, Literal

from shapeinf.engine.inference import Inference
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.errors import UnknownNameError
from shapeinf.expr import Dim, Dimension
from shapeinf.inputs.reader import as_sizes
from shapeinf.lattice import ShapeStore
from shapeinf.memory.buffers import TimelineMaker
from shapeinf.memory.liveness import NOBODY, Flat, flatten
from shapeinf.memory.order import bytes_at, candidates, peak_at, typical_binding
from shapeinf.memory.planning import Plan, PlanFinding, plan, verify_plan
from shapeinf.memory.planning.from_timeline import PLANNED
from shapeinf.memory.timeline import Buffer, Role, Timeline
from shapeinf.sharing import cached_property, synchronized
from shapeinf.solver.budget import WORK
from shapeinf.solver.long_sums import sum_dims

if TYPE_CHECKING:
    from shapeinf.memory.peak import Peak

Order = Literal["file", "least"]
ORDERS = ("file", "least")


@synchronized
class Memory:
    """The blocks of memory that a model uses over time, and their bytes by role.

    Made by `Result.memory`. The totals by role are those of all blocks whose size is known, whether or not they are
    alive at one time; `unsized` has the others.
    """

    def __init__(
        self,
        inference: Inference,
        order: Order = "file",
        *,
        aliases: bool = False,
        in_place: bool = False,
        work: int = WORK,
    ) -> None:
        """See `Result.memory`. Raises UnknownNameError for another order, LimitError for too large a model."""
        if order not in ORDERS:
            raise UnknownNameError("order", order, ORDERS)
        self.inference = inference
        self.work = work
        self._options = (order, aliases, in_place)
        self.chosen_at: dict[str, int] | None = None
        """The sizes for which `order="least"` was chosen; None for the order of the file."""
        maker = TimelineMaker(inference, aliases=aliases, in_place=in_place)
        flat = flatten(inference)
        self.timeline: Timeline = maker.of(flat)
        self._inner = frozenset([life.name for life in flat.lives if life.frame.inner])
        if order == "least":
            self.timeline, self.chosen_at = _least(inference, maker, flat, self.timeline)

    @property
    def lock(self) -> RLock:
        """The lock that all questions take: see `Result.lock`."""
        return self.inference.store.scope.lock

    @property
    def store(self) -> ShapeStore:
        """What is known about the symbols in the sizes."""
        return self.inference.store

    @cached_property
    def labels(self) -> Mapping[Dimension, str]:
        """The symbols that users choose, those of the inputs, with the names that sizes are given by."""
        return input_symbols(self.inference)

    @cached_property
    def peak(self) -> Peak:
        """The most that nodes make and that is in use at once, as a maximum of polynomials in the dims of the inputs.

        Inputs and weights are apart: a `Peak` of this timeline with other roles counts them.
        """
        from shapeinf.memory.peak import Peak

        return Peak(self.timeline, self.store, labels=self.labels, smaller=self._smaller, work=self.work)

    def _smaller(self, lower: Mapping[str, int]) -> Peak | None:
        memory = self._where_smaller(lower)
        return None if memory is None else memory.peak

    def _where_smaller(self, lower: Mapping[str, int]) -> Memory | None:
        """The memory of the same model where dims may be this small; None for a trial."""
        again = self.inference.again
        order, aliases, in_place = self._options
        if again is None:
            return None
        return Memory(again(lower), order, aliases=aliases, in_place=in_place, work=self.work)

    def _for(self, sizes: Mapping[str, int] | None) -> Memory:
        """What can be asked about these sizes: also those below the least that the inference took for granted."""
        from shapeinf.memory.peak.query import Asked

        lower = Asked(self.store, self.labels).below(as_sizes(sizes or {}))
        return (self._where_smaller(lower) if lower is not None else None) or self

    @cached_property
    def unsized(self) -> tuple[Buffer, ...]:
        """The blocks of unknown size; each says why."""
        return tuple([buffer for buffer in self.timeline.buffers if buffer.size is None])

    @cached_property
    def weights(self) -> Dim:
        """The bytes of all constants of known size, those of bodies too."""
        return self._total("weight")

    @cached_property
    def inputs(self) -> Dim:
        """The bytes of all inputs of known size."""
        return self._total("input")

    @cached_property
    def outputs(self) -> Dim:
        """The bytes of all outputs of known size that nodes make."""
        return self._total("output")

    @cached_property
    def activations(self) -> Dim:
        """The bytes of everything else that nodes make, of known size; those inside of bodies too."""
        return self._total("activation")

    @cached_property
    def bodies(self) -> Dim:
        """The bytes of those activations of known size that lie inside of bodies and functions."""
        inner = [b for b in self.timeline.buffers if b.name in self._inner]
        return sum_dims(self.store.scope, [b.size for b in inner if b.role == "activation" and b.size is not None])

    def plan(
        self,
        sizes: Mapping[str, int] | None = None,
        *,
        alignment: int = 64,
        planner: str = "best",
        roles: Collection[Role] = PLANNED,
    ) -> Plan:
        """Offsets in one arena, for these sizes or all that the dims may have; see `shapeinf.memory.planning.plan`."""
        one = self._for(sizes)
        told = one.labels
        return plan(
            one.timeline,
            one.store,
            sizes,
            alignment=alignment,
            planner=planner,
            roles=roles,
            labels=told,
            work=self.work,
        )

    def verify_plan(
        self,
        plan: Plan,
        sizes: Mapping[str, int] | None = None,
        *,
        alignment: int | None = None,
        roles: Collection[Role] = PLANNED,
    ) -> list[PlanFinding]:
        """What is wrong with a plan of any tool; see `shapeinf.memory.planning.verify_plan`."""
        one = self._for(sizes)
        told, work = one.labels, one.work
        return verify_plan(
            plan, one.timeline, one.store, sizes, alignment=alignment, roles=roles, labels=told, work=work
        )

    def _total(self, role: Role) -> Dim:
        sizes = [b.size for b in self.timeline.buffers if b.role == role and b.size is not None]
        return sum_dims(self.store.scope, sizes)


def _least(
    inference: Inference, maker: TimelineMaker, flat: Flat, file: Timeline
) -> tuple[Timeline, dict[str, int] | None]:
    """The best of some orders for typical sizes; that of the file where none is better, or nodes run in cycles."""
    program = inference.program
    if program.groups is not None:
        return file, None
    sizes = [maker.size(life).bytes for life in flat.lives]
    binding = typical_binding(maker.store, [size for size in sizes if size is not None])
    weights = [0] * len(flat.values)
    kept = set()
    for slot, number in enumerate(flat.values):
        if number != NOBODY and flat.lives[number].role in ("activation", "output"):
            weights[slot] = bytes_at(sizes[number], binding)
            if flat.lives[number].role == "output":
                kept.add(slot)
    best, least = file, peak_at(file, binding)
    for order in candidates(program, weights, kept):
        timeline = maker.timeline(order)
        peak = peak_at(timeline, binding)
        if peak < least:
            best, least = timeline, peak
    return best, binding
