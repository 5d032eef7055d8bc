"""`Memory`: the memory that a model needs, from the live ranges of its values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from threading import RLock
from typing import TYPE_CHECKING, Literal, cast, get_args

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.cases import Cases
from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.engine.inference import Inference
from shapeinf.errors import UnknownNameError
from shapeinf.expr import Dimension, DimSize
from shapeinf.inputs.reader import RangeLike, as_sizes
from shapeinf.lattice import ShapeStore
from shapeinf.memory.buffers import TimelineBuilder
from shapeinf.memory.layouts import LayoutAssignment, Layouts
from shapeinf.memory.liveness import flatten
from shapeinf.memory.order import least_timeline
from shapeinf.memory.pickled import PickledMemory, memory_html, memory_text
from shapeinf.memory.planning.from_timeline import PLANNED, plan
from shapeinf.memory.planning.problem import Plan
from shapeinf.memory.planning.verification import verify_plan
from shapeinf.memory.timeline import Buffer, Role, Timeline
from shapeinf.pickling import Reduced, reduce_record
from shapeinf.sharing import cached_property, synchronized
from shapeinf.solver.budget import WORK
from shapeinf.solver.long_dims import sum_dims

if TYPE_CHECKING:
    from shapeinf.memory.kv_cache import KvCache
    from shapeinf.memory.peak import Peak
    from shapeinf.memory.peak.pickled import PickledPeak

Order = Literal["file", "least"]
ORDERS: tuple[Order, ...] = get_args(Order)
MAX_POINTS = 1000
"""A `repr` computes no peak over more program points, which may take seconds."""


@attrs.frozen
class _Options:
    """Options of `Memory`, as a user requests them."""

    order: Order
    aliases: bool
    in_place: bool
    layouts: Layouts | None


@synchronized
class Memory:
    """The buffers that a model uses over time, and their bytes by role.

    `Result.memory` creates it. The totals by role are those of all buffers of known size, whether or not they are
    alive at one time; `unsized` has the others.
    """

    timeline: Timeline
    _planned: Collection[Role] = PLANNED
    chosen_at: dict[str, int] | None
    """The sizes for which `order="least"` was chosen; None for the order of the file."""
    _inner: frozenset[str] = frozenset()

    def __init__(
        self,
        inference: Inference,
        order: Order = "file",
        *,
        aliases: bool = False,
        in_place: bool = False,
        layouts: Layouts | None = None,
        work: int = WORK,
    ) -> None:
        """Options as in `Result.memory`, which lists the errors too."""
        if order not in ORDERS:
            raise UnknownNameError("order", order, ORDERS)
        self._begin(inference, work)
        self._options = _Options(order, aliases, in_place, layouts)
        with pause_garbage_collection():
            self._build_timeline(order, None if layouts is None else LayoutAssignment(layouts))

    def _build_timeline(self, order: Order, assignment: LayoutAssignment | None) -> None:
        inference, aliases, in_place = self.inference, self._options.aliases, self._options.in_place
        builder = TimelineBuilder(inference, aliases=aliases, in_place=in_place, layouts=assignment)
        liveness = flatten(inference)
        if assignment is not None:
            assignment.check_names([live_range.name for live_range in liveness.live_ranges])
        self.timeline = builder.timeline_of(liveness)
        self._inner = frozenset([value.name for value in liveness.live_ranges if value.instance.inner])
        if order == "least":
            self.timeline, self.chosen_at = least_timeline(inference, builder, liveness, self.timeline)

    def _begin(self, inference: Inference, work: int) -> None:
        self.inference = inference
        self.work = work
        self.chosen_at = None
        self._cases = Cases(inference)

    @property
    def _lock(self) -> RLock:
        return self.inference.store.scope.lock

    @property
    def store(self) -> ShapeStore:
        """The constraints on the symbols in the sizes."""
        return self.inference.store

    @property
    def labels(self) -> Mapping[Dimension, str]:
        """The symbols of the inputs, with the names that users bind them by."""
        return self._cases.labels

    @cached_property
    def peak(self) -> Peak:
        """The most bytes of activations and outputs in use at once, as a maximum of polynomials in the input dims.

        Inputs and weights are not counted: a `Peak` of this timeline with other roles counts them.
        """
        from shapeinf.memory.peak import Peak

        return Peak(
            self.timeline, self.store, self._planned, labels=self.labels, peak_for=self._peak_for, work=self.work
        )

    def _peak_for(self, ranges: Mapping[str, RangeLike]) -> Peak:
        return self._memory_for(ranges).peak

    def _memory_for(self, ranges: Mapping[str, RangeLike]) -> Memory:
        """The memory by the inference that holds for these sizes or ranges."""
        inference = self._cases.inference_for(ranges)
        return self if inference is self.inference else self._with_inference(inference)

    def _with_inference(self, inference: Inference) -> Memory:
        """The memory with the same options by another inference of the model."""
        return Memory(inference, work=self.work, **attrs.asdict(self._options, recurse=False))

    @cached_property
    def kv_caches(self) -> tuple[KvCache, ...]:
        """The caches of keys and values among the inputs and outputs, one for each number of tokens; mostly one."""
        from shapeinf.memory.kv_cache import find_kv_caches
        from shapeinf.memory.peak.query import SizeQuery

        return find_kv_caches(self.inference, SizeQuery(self.store, self.labels))

    @cached_property
    def unsized(self) -> tuple[Buffer, ...]:
        """The buffers of unknown size; each has a `cause`."""
        return tuple([buffer for buffer in self.timeline.buffers if buffer.size is None])

    @cached_property
    def weights(self) -> DimSize:
        """The bytes of all constants of known size, in bodies too."""
        return self._total("weight")

    @cached_property
    def inputs(self) -> DimSize:
        """The bytes of all inputs of known size."""
        return self._total("input")

    @cached_property
    def outputs(self) -> DimSize:
        """The bytes of all outputs of known size that nodes compute."""
        return self._total("output")

    @cached_property
    def activations(self) -> DimSize:
        """The bytes of all other computed values of known size, in bodies too."""
        return self._total("activation")

    @cached_property
    def upper_bounds(self) -> dict[Role, int | None]:
        """The upper bounds of the totals by role, in bytes; None for one without."""
        totals: dict[Role, DimSize] = {
            "weight": self.weights,
            "input": self.inputs,
            "output": self.outputs,
            "activation": self.activations,
        }
        return {role: self.store.interval(total).hi for role, total in totals.items()}

    @cached_property
    def scratch(self) -> DimSize:
        """The bytes of all temporaries of kernels of known size; 0 without a runtime."""
        return self._total("scratch")

    @cached_property
    def bodies(self) -> DimSize:
        """The bytes of the activations of known size inside bodies and functions."""
        inner = [b for b in self.timeline.buffers if b.name in self._inner]
        return sum_dims(self.store.scope, [b.size for b in inner if b.role == "activation" and b.size is not None])

    @pause_garbage_collection()
    def plan(
        self,
        sizes: Mapping[str, int] | None = None,
        *,
        alignment: int | None = None,
        planner: str | None = None,
        roles: Collection[Role] | None = None,
    ) -> Plan:
        """Offsets in one arena, valid at these sizes or at all legal ones; see `shapeinf.memory.planning.plan`.

        By default by the planner `best` at multiples of 64; a runtime that plans an arena has its own.
        """
        memory = self._memory_for(as_sizes(sizes or {}))
        return plan(
            memory.timeline,
            memory.store,
            sizes,
            alignment=64 if alignment is None else alignment,
            planner=planner or "best",
            roles=self._planned if roles is None else roles,
            labels=memory.labels,
            work=memory.work,
        )

    def verify_plan(
        self,
        plan: Plan,
        sizes: Mapping[str, int] | None = None,
        *,
        alignment: int | None = None,
        roles: Collection[Role] | None = None,
    ) -> list[Diagnostic]:
        """The violations of a plan, whichever tool wrote it; see `shapeinf.memory.planning.verify_plan`."""
        memory = self._memory_for(as_sizes(sizes or {}))
        return verify_plan(
            plan,
            memory.timeline,
            memory.store,
            sizes,
            alignment=alignment,
            roles=self._planned if roles is None else roles,
            labels=memory.labels,
            work=memory.work,
        )

    def __repr__(self) -> str:
        """The peak and the totals by role."""
        return memory_text("Memory", self, self._has_cheap_peak())

    def _repr_html_(self) -> str:
        """The same as a table."""
        with self._lock:
            return memory_html("Memory", self, self._has_cheap_peak())

    def _has_cheap_peak(self) -> bool:
        return "peak" in self.__dict__ or len(self.timeline.points) <= MAX_POINTS

    def __copy__(self) -> Memory:
        """Itself: queries do not change it."""
        return self

    def __deepcopy__(self, memo: object) -> Memory:
        """Itself."""
        return self

    @property
    def planned(self) -> Collection[Role]:
        """The roles of the buffers that the peak counts and a plan places."""
        return self._planned

    def __reduce__(self) -> Reduced:
        """A pickle has the formula of the peak and the totals."""
        totals = (self.weights, self.inputs, self.outputs, self.activations, self.bodies)
        peak = cast("PickledPeak", self.peak)  # loaded as one
        return reduce_record(
            PickledMemory(peak, *totals, self.unsized, self.upper_bounds, self.chosen_at, tuple(self._planned))
        )

    def _total(self, role: Role) -> DimSize:
        sizes = [b.size for b in self.timeline.buffers if b.role == role and b.size is not None]
        return sum_dims(self.store.scope, sizes)
