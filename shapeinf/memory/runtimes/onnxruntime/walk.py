"""One run of a model in onnxruntime: what its kernels allocate and free, node by node.

A buffer is allocated by the first node that writes a value of it, and freed after the last node that reads one. So a
buffer that is used again stays allocated in between. A value that nothing reads stays until the graph ends.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import attrs

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.expr import DimSize, ceildiv, maximum
from shapeinf.formats.onnx.external_tensors import external_parts
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import SequenceType, Shape, TensorType, element_bits
from shapeinf.memory.buffers import TimelineBuilder
from shapeinf.memory.liveness import GraphInstance, LiveRange
from shapeinf.memory.runtimes.kernels import RuntimeKernels
from shapeinf.memory.runtimes.onnxruntime.blocks import Block, is_repeated, size_in_last_trip, varies
from shapeinf.memory.runtimes.onnxruntime.held import HeldWeights
from shapeinf.memory.runtimes.onnxruntime.known_shapes import KnownShapes
from shapeinf.memory.runtimes.onnxruntime.node_inference import PlannerShape
from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions
from shapeinf.memory.runtimes.onnxruntime.order import execution_order, is_stored, outline_of
from shapeinf.memory.runtimes.onnxruntime.sharing import PlannedGraph, plan_buffers
from shapeinf.memory.runtimes.onnxruntime.temporaries import Temporaries, find_temporaries
from shapeinf.memory.runtimes.protocol import TEMPORARIES
from shapeinf.memory.sizes import Size, size_of
from shapeinf.memory.timeline import Buffer, ProgramPoint, Role, Timeline
from shapeinf.sharing import cached_property
from shapeinf.solver.long_dims import product_of, sum_dims

MAX_LISTED = 4
"""Limit on the listed nodes of one note."""


@attrs.define(eq=False)
class Allocation:
    """A buffer while the run is walked; `death` is None until it is freed."""

    name: str
    size: DimSize | None
    birth: int
    role: Role = "activation"
    dtype: str | None = None
    shape: Shape = attrs.Factory(Shape.unknown)
    cause: str = ""
    death: int | None = None
    values: list[str] = attrs.Factory(list)
    needed: dict[int, list[int]] = attrs.Factory(dict)
    """By value, the program points of its producer and of its last reader."""
    is_bound: bool = False
    """As for a `Buffer`."""

    def gaps(self) -> tuple[tuple[int, int], ...]:
        """The ranges of program points at which no value is needed, although it is not freed."""
        covered = self.birth
        gaps: list[tuple[int, int]] = []
        for first, last in sorted(self.needed.values()):
            if first > covered:
                gaps.append((covered, first))
            covered = max(covered, last + 1)
        return tuple(gaps)


@attrs.frozen
class Caller:
    """The node that runs a body.

    Args:
        run: the run of its graph.
        index: its index in the graph.
        captures: by slot in the body, the slots of the outer values that it reads.
        results: by output of the body, the outer values into whose buffers the body writes them.
        is_loop: whether the node runs the body in trips.
    """

    run: GraphRun
    index: int
    captures: Mapping[int, int]
    results: Mapping[int, int] = attrs.Factory(dict)
    is_loop: bool = False


@attrs.frozen
class Run:
    """One run of a model.

    Args:
        timeline: the nodes in the order in which they run, and the buffers in the order of their allocation: with the
            roles "weight" and "scratch", those that a session holds and the temporaries of kernels.
        idle: by name of a buffer, the ranges of program points in which no value of it is needed, though it is kept for
            a value that is computed later.
        blocks: those of a later run, of the model first.
        notes: why a session may differ from this prediction.
    """

    timeline: Timeline
    idle: Mapping[str, tuple[tuple[int, int], ...]]
    blocks: tuple[Block, ...] = ()
    notes: tuple[str, ...] = ()


class Walk:
    """The program points and allocations of a run."""

    def __init__(
        self,
        inference: Inference,
        kernels: RuntimeKernels,
        options: OnnxRuntimeOptions,
        run_bodies: Callable[[GraphRun, NodeStep], list[Allocation]],
    ) -> None:
        """Nothing has run. `run_bodies` runs those of a node, and returns the buffers in use until the node ends."""
        self.run_bodies = run_bodies
        self.inference = inference
        self.kernels = kernels
        self.options = options
        self.builder = TimelineBuilder(inference)
        self.points: list[ProgramPoint] = []
        self.allocations: list[Allocation] = []
        self.graphs: list[GraphRun] = []
        """The graphs that ran, bodies included."""
        self.bounded: list[str] = []
        """The nodes whose kernels may need less than the temporaries that are counted."""
        self.undecided: list[str] = []
        """The nodes of which data choose the branch."""
        self.limits: dict[str, str] = {}
        """By loop, the input whose value, which is not known, is the number of its trips."""
        self.in_branch = False
        """Whether what runs is in a branch that data may not choose."""

    def run(self) -> Run:
        """The whole run of the model."""
        instance = GraphInstance((self.inference,))
        GraphRun(self, instance, KnownShapes.of_model(self.inference, self.kernels)).run()
        end = len(self.points)
        held = HeldWeights(self, external_parts(self.inference.compiled.graph))
        self._add_inputs(instance, held)
        buffers = tuple([_buffer(item, end) for item in self.allocations if item.death != item.birth])
        gaps = {item.name: item.gaps() for item in self.allocations}
        idle = {name: ranges for name, ranges in gaps.items() if ranges}
        blocks = tuple([block for run in self.graphs if (block := run.block(end, held)) is not None])
        return Run(Timeline(tuple(self.points), buffers), idle, blocks, tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        if any(step.operation.body is not None for run in self.graphs for step in run.steps):
            yield "the session inlines functions, which changes the order: name the file that it writes"
        if self.graphs[0].known.proto is None:
            yield "the onnx package does not read this model: the rules of shapeinf decide what a session knows"
        if self.bounded:
            yield f"the temporaries are upper bounds: {_listed(self.bounded)}"
        for node, name in self.limits.items():
            yield f"the number of trips of {node} is the value of the input {name}"
        if self.undecided:
            yield f"data choose the branch, and the branch that needs the most is counted: {_listed(self.undecided)}"

    def _add_inputs(self, instance: GraphInstance, held: HeldWeights) -> None:
        """Add the buffers of the caller, which are not rounded up, and those that the session holds."""
        graph, slots = self.inference.compiled.graph, self.inference.compiled.slots
        for name in graph.inputs:
            if name not in graph.constants:
                size = self.builder.size(LiveRange(name, instance, slots[name], "input", 0, 0))
                self.allocations.append(Allocation(name, size.bytes, 0, "input", cause=size.cause))
        for name, size in held.buffers():
            self.allocate(Allocation(name, size.bytes, 0, "weight", cause=size.cause))

    @property
    def now(self) -> int:
        """The index of the next program point."""
        return len(self.points)

    def round_up(self, size: DimSize) -> DimSize:
        """The bytes that the allocator takes."""
        return self.kernels.alignment * ceildiv(size, self.kernels.alignment)

    def allocate(self, allocation: Allocation) -> Allocation:
        """Add a buffer, whose size is rounded up as the allocator does."""
        allocation.size = None if allocation.size is None else self.round_up(allocation.size)
        allocation.is_bound |= self.in_branch
        self.allocations.append(allocation)
        return allocation


class GraphRun:
    """A run of one graph: of the model, or of a body."""

    def __init__(
        self,
        walk: Walk,
        instance: GraphInstance,
        known: KnownShapes,
        caller: Caller | None = None,
        *,
        passed_on: Collection[int] = (),
        allocates_outputs: bool = True,
    ) -> None:
        """Plans the buffers; nothing has run. `caller` is the node that runs a body, `passed_on` as in `PlannedGraph`.

        The node of a body that does not allocate its outputs has buffers for them.
        """
        self.walk = walk
        self.instance = instance
        self.caller = caller
        self.known = known
        self.compiled = compiled = instance.compiled
        stored = {i for i in range(len(compiled.rows)) if is_stored(compiled.step(i))}
        options = walk.options
        as_file = options.file_order and not (options.unchanged and outline_of(compiled) in options.unchanged)
        order = execution_order(compiled, stored, as_file=as_file)
        self.steps = [compiled.step(index) for index in order]
        self.outputs = {compiled.slots[name] for name in compiled.graph.outputs}
        computed = {slot for step in self.steps for slot in step.outputs if slot != UNUSED}
        self.held = set(range(len(compiled.names))) - computed
        self.own_constants = self._constants(stored)
        self.constants = self.own_constants | self._captured_constants()
        planned = PlannedGraph(self.steps, len(compiled.names), self.outputs, self.held, passed_on)
        self.buffer = plan_buffers(planned, self, walk.kernels, reuse=options.reuse)
        self.external = self.held | (set() if allocates_outputs else self.outputs)
        self.copied = self.outputs & self.own_constants if allocates_outputs else set()
        """The outputs that are initializers, each of which is copied into a buffer of its own."""
        self.last_reader = self._last_readers()
        self.allocated: dict[int, Allocation] = {}
        """By buffer, the last allocation of it."""
        self.placed: dict[int, Allocation] = {}
        """By their first values, the buffers that a later run places in the block of this graph."""
        self.span = (0, -1)
        """The first program point of the run, and the one after the last; -1 for the end of the model."""
        walk.graphs.append(self)

    def _constants(self, stored: Collection[int]) -> set[int]:
        """The slots of the initializers."""
        graph, slots = self.compiled.graph, self.compiled.slots
        inputs = set(graph.inputs)
        constants = {slots[name] for name in graph.constants if name not in inputs}
        return constants | {slot for index in stored for slot in self.compiled.rows[index][2] if slot != UNUSED}

    def _captured_constants(self) -> set[int]:
        """The slots of the outer values that are initializers."""
        if self.caller is None:
            return set()
        return {slot for slot, outer in self.caller.captures.items() if outer in self.caller.run.constants}

    # -- what the plan reads -----------------------------------------------------------------------------------------

    def shape(self, slot: int) -> PlannerShape:
        """See `PlannedValues`."""
        return self.known.find(slot)

    def width(self, slot: int) -> int | None:
        """See `PlannedValues`."""
        tensor = self.tensor(slot)
        return None if tensor is None else element_bits(tensor.dtype)

    def tensor(self, slot: int) -> TensorType | None:
        """The type of a value; None unless it is a tensor."""
        run = self.instance.runs[0]
        value = run.table.types[run.table.canonical[run.numbers[slot]]]
        return value if isinstance(value, TensorType) else None

    def _last_readers(self) -> dict[int, int]:
        """For each buffer the position of the last node that reads a value of it."""
        return {
            self.buffer[slot]: position
            for position, step in enumerate(self.steps)
            for slot in step.inputs
            if slot != MISSING
        }

    # -- the run -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run all nodes, after initializers that are outputs are copied."""
        self.span = (self.walk.now, -1)
        for slot in sorted(self.copied):
            self.write(slot)
        for position, step in enumerate(self.steps):
            self._run_node(position, step)

    def end(self, retained: Collection[int] = ()) -> None:
        """Free all buffers at the end of a body, but those of the `retained` values."""
        self.span = (self.span[0], self.walk.now)
        keep = {self.buffer[slot] for slot in retained}
        for buffer, allocation in self.allocated.items():
            if allocation.death is None and buffer not in keep:
                allocation.death = self.walk.now

    def block(self, end: int, held: HeldWeights) -> Block | None:
        """The block of a later run; None without buffers in it. `end` is that of the run of the model.

        A graph that reads a weight of which the session `held` only packed copies is called with no tensor for it,
        and has no block then.
        """
        if self.caller is not None and not self.caller.captures.keys().isdisjoint(held.released(self)):
            return None
        first, last = self.span
        trips = self.instance.runs
        members = frozenset([(item.name, item.birth) for item in self.placed.values()])
        varying = frozenset([(item.name, item.birth) for slot, item in self.placed.items() if varies(trips, slot)])
        last = end if last < 0 else last
        return Block(self.instance.path, first, last, members, varying, self.is_repeated) if members else None

    @property
    def is_repeated(self) -> bool:
        """Whether a run of the model runs this graph again, with inputs of the same shapes."""
        if self.caller is None:
            return False
        return (self.caller.is_loop and is_repeated(self.instance.runs)) or self.caller.run.is_repeated

    @cached_property
    def _has_block(self) -> bool:
        """Whether later runs have a block: all values that the graph is called with are tensors."""
        graph, slots = self.compiled.graph, self.compiled.slots
        called = [slots[name] for name in graph.inputs] + ([] if self.caller is None else [*self.caller.captures])
        return all(not isinstance(run.type_of(slot), SequenceType) for run in self.instance.runs for slot in called)

    def _run_node(self, position: int, step: NodeStep) -> None:
        point = ProgramPoint(self.instance.path + step.node_name, step.operation.kind.op)
        held = self._run_bodies(step)
        temporaries = Temporaries() if held is not None else self._temporaries(step)
        if temporaries.is_bound:
            self.walk.bounded.append(point.node)
        if temporaries.before:
            self._add_temporaries(point, temporaries.before, is_bound=temporaries.is_bound)
            self.walk.points.append(point)
        if temporaries.first:
            self._add_temporaries(point, temporaries.during, is_bound=temporaries.is_bound)
        self.write_outputs(step)
        if not temporaries.first:
            self._add_temporaries(point, temporaries.during, temporaries.cause, is_bound=temporaries.is_bound)
        self.walk.points.append(point)
        for allocation in held or ():
            allocation.death = self.walk.now
        self._free(position)

    def _run_bodies(self, step: NodeStep) -> list[Allocation] | None:
        """Run the bodies of a node; what they leave until the node ends, None for a node without bodies."""
        has_bodies = step.operation.bodies or any(step.index in run.children for run in self.instance.runs)
        return self.walk.run_bodies(self, step) if has_bodies else None

    def _temporaries(self, step: NodeStep) -> Temporaries:
        return find_temporaries(self.walk.kernels, self.instance, step, self.constants, self.walk.options)

    def _add_temporaries(
        self, point: ProgramPoint, sizes: Sequence[DimSize | None], cause: str = "", *, is_bound: bool = False
    ) -> None:
        """Add the temporaries of a node at the next program point."""
        name, now = TEMPORARIES + point.node, self.walk.now
        for size in sizes:
            self.walk.allocate(
                Allocation(name, size, now, "scratch", cause=cause, death=now + 1, is_bound=is_bound and size != 0)
            )

    def write_outputs(self, step: NodeStep) -> None:
        """Allocate the buffers of the outputs of a node, unless they exist."""
        for slot in step.outputs:
            if slot != UNUSED:
                self.write(slot)

    def write(self, slot: int) -> None:
        """Allocate the buffer of a value, unless it exists; for a result of a body that is a buffer of its caller."""
        buffer = self.buffer[slot]
        if self.caller is not None and slot in self.caller.results:
            self.caller.run.write(self.caller.results[slot])
            return
        if buffer in self.external and slot not in self.copied:
            return
        known = self.allocated.get(buffer)
        if known is None or known.death is not None:
            known = self.allocated[buffer] = self.walk.allocate(self.allocation(slot))
            if self._is_placed(buffer):
                self.placed[slot] = known
        elif slot not in known.needed:
            known.values.append(self.instance.path + self.compiled.names[slot])
        known.needed.setdefault(slot, [self.walk.now, self.walk.now])

    def _is_placed(self, buffer: int) -> bool:
        """Whether the block of a later run has this buffer: that of a tensor that is not an output."""
        return buffer not in self.outputs and self._has_block and self.tensor(buffer) is not None

    def _free(self, position: int) -> None:
        """Free the buffers that no later node reads, after the node at this position."""
        for slot in self.steps[position].inputs:
            allocation = None if slot == MISSING else self.allocated.get(self.buffer[slot])
            if allocation is None or allocation.death is not None:
                continue
            allocation.needed.setdefault(slot, [self.walk.now - 1, 0])[1] = self.walk.now - 1
            if self.last_reader[self.buffer[slot]] == position and self.buffer[slot] not in self.outputs:
                allocation.death = self.walk.now

    def allocation(self, slot: int, name: str = "") -> Allocation:
        """A buffer of the size of a value, from the next program point on."""
        name = name or self.instance.path + self.compiled.names[slot]
        role: Role = "output" if slot in self.outputs and not self.instance.inner else "activation"
        size, tensor = self.size(slot), self.tensor(slot)
        dtype, shape = (None, Shape.unknown()) if tensor is None else (tensor.dtype, tensor.shape)
        return Allocation(name, size.bytes, self.walk.now, role, dtype, shape, size.cause, None, [name])

    def size(self, slot: int, trips: Sequence[Inference] = ()) -> Size:
        """The bytes of a value, the most of these trips or of all; each item of a sequence is a buffer of its own."""
        instance = attrs.evolve(self.instance, runs=tuple(trips)) if trips else self.instance
        size = self.walk.builder.size(LiveRange("", instance, slot, "activation", 0, 0))
        values = [run.type_of(slot) for run in instance.runs]
        totals = [self._rounded_items(value) for value in values if isinstance(value, SequenceType)]
        if size.bytes is None or not totals or None in totals:
            return Size(size_in_last_trip(size.bytes, instance.runs), size.cause)
        return Size(maximum(*[total for total in totals if total is not None]))

    def _rounded_items(self, value: SequenceType) -> DimSize | None:
        """The bytes of the items of a sequence in buffers of their own; None where they are not known."""
        store = self.walk.inference.store
        items = [size_of(store, item).bytes for item in value.items or (value.element,)]
        if None in items:
            return None
        total = sum_dims(store.scope, [self.walk.round_up(amount) for amount in items if amount is not None])
        if value.items is not None:
            return total
        return None if value.length is None else product_of(store, (total, value.length))


def _listed(nodes: Sequence[str]) -> str:
    more = f" and {len(nodes) - MAX_LISTED} more" if len(nodes) > MAX_LISTED else ""
    return ", ".join(nodes[:MAX_LISTED]) + more


def _buffer(item: Allocation, end: int) -> Buffer:
    death = end if item.death is None else item.death
    values = tuple(item.values) or (item.name,)
    return Buffer(
        *(item.name, item.size, item.birth, death, item.role, item.dtype, item.shape, values, item.cause),
        is_bound=item.is_bound,
    )
