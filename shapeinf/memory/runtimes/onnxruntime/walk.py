"""One run of a model in onnxruntime: what its kernels allocate and free, node by node.

A buffer is allocated by the first node that writes a value of it, and freed after the last node that reads one. So a
buffer that is used again stays allocated in between. A value that nothing reads stays until the graph ends.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.expr import DimSize, ceildiv
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import Shape, TensorType, element_bits
from shapeinf.memory.buffers import TimelineBuilder
from shapeinf.memory.liveness import GraphInstance, LiveRange
from shapeinf.memory.runtimes.kernels import RuntimeKernels
from shapeinf.memory.runtimes.onnxruntime.known_shapes import KnownShapes
from shapeinf.memory.runtimes.onnxruntime.node_inference import PlannerShape
from shapeinf.memory.runtimes.onnxruntime.order import execution_order
from shapeinf.memory.runtimes.onnxruntime.sharing import PlannedGraph, plan_buffers
from shapeinf.memory.runtimes.onnxruntime.temporaries import Temporaries, find_temporaries
from shapeinf.memory.runtimes.protocol import RuntimeOptions
from shapeinf.memory.timeline import Buffer, ProgramPoint, Role, Timeline


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


class Walk:
    """The program points and allocations of a run."""

    def __init__(self, inference: Inference, kernels: RuntimeKernels, options: RuntimeOptions) -> None:
        """Nothing has run."""
        self.inference = inference
        self.kernels = kernels
        self.options = options
        self.builder = TimelineBuilder(inference)
        self.points: list[ProgramPoint] = []
        self.allocations: list[Allocation] = []

    def timeline(self) -> Timeline:
        """The whole run of the model."""
        instance = GraphInstance((self.inference,))
        GraphRun(self, instance, KnownShapes.of_model(self.inference, self.kernels)).run()
        end = len(self.points)
        return Timeline(tuple(self.points), tuple([_buffer(item, end) for item in self.allocations]))

    @property
    def now(self) -> int:
        """The index of the next program point."""
        return len(self.points)

    def allocate(self, allocation: Allocation) -> Allocation:
        """Add a buffer, whose size is rounded up as the allocator does."""
        if allocation.size is not None:
            allocation.size = self.kernels.alignment * ceildiv(allocation.size, self.kernels.alignment)
        self.allocations.append(allocation)
        return allocation

    def add_temporaries(self, node: str, sizes: Sequence[DimSize | None], cause: str = "") -> None:
        """Add the temporaries of a node at the next program point."""
        for size in sizes:
            name = f"temporaries of {node}"
            self.allocate(Allocation(name, size, self.now, "scratch", cause=cause, death=self.now + 1))


class GraphRun:
    """A run of one graph: of the model, or of a body."""

    def __init__(self, walk: Walk, instance: GraphInstance, known: KnownShapes) -> None:
        """Plans the buffers; nothing has run."""
        self.walk = walk
        self.instance = instance
        self.known = known
        self.compiled = compiled = instance.compiled
        stored = {i for i in range(len(compiled.rows)) if _is_stored(compiled.step(i))}
        order = execution_order(compiled, stored, as_file=walk.options.file_order)
        self.steps = [compiled.step(index) for index in order]
        self.outputs = {compiled.slots[name] for name in compiled.graph.outputs}
        computed = {slot for step in self.steps for slot in step.outputs if slot != UNUSED}
        self.held = set(range(len(compiled.names))) - computed
        self.constants = self._constants(stored)
        planned = PlannedGraph(self.steps, len(compiled.names), self.outputs, self.held)
        self.buffer = plan_buffers(planned, self, walk.kernels, reuse=walk.options.reuse)
        self.last_reader = self._last_readers()
        self.allocated: dict[int, Allocation] = {}
        """By buffer, the last allocation of it."""

    def _constants(self, stored: Collection[int]) -> set[int]:
        """The slots of the initializers."""
        graph, slots = self.compiled.graph, self.compiled.slots
        inputs = set(graph.inputs)
        constants = {slots[name] for name in graph.constants if name not in inputs}
        return constants | {slot for index in stored for slot in self.compiled.rows[index][2] if slot != UNUSED}

    # -- what the plan reads -----------------------------------------------------------------------------------------

    def shape(self, slot: int) -> PlannerShape:
        """See `PlannedValues`."""
        return self.known.find(slot)

    def width(self, slot: int) -> int | None:
        """See `PlannedValues`."""
        tensor = self._tensor(slot)
        return None if tensor is None else element_bits(tensor.dtype)

    def _tensor(self, slot: int) -> TensorType | None:
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
        """Run all nodes; buffers that remain are freed at the end of the graph."""
        for position, step in enumerate(self.steps):
            self._run_node(position, step)

    def _run_node(self, position: int, step: NodeStep) -> None:
        walk, name = self.walk, self.instance.path + step.site
        point = ProgramPoint(name, step.operation.kind.op)
        temporaries = find_temporaries(walk.kernels, self.instance, step, self.constants, walk.options)
        if temporaries.before:
            walk.add_temporaries(name, temporaries.before)
            walk.points.append(point)
        for slot in step.outputs:
            if slot != UNUSED:
                self._write(slot, position)
        walk.add_temporaries(name, temporaries.beside, temporaries.cause)
        walk.points.append(point)
        self._free(position)

    def _write(self, slot: int, position: int) -> None:
        """Allocate the buffer of an output, unless it exists."""
        buffer = self.buffer[slot]
        if buffer in self.held:
            return
        known = self.allocated.get(buffer)
        if known is not None and known.death is None:
            known.values.append(self.compiled.names[slot])
            return
        self.allocated[buffer] = self.walk.allocate(self._allocation(slot))

    def _free(self, position: int) -> None:
        """Free the buffers that no later node reads."""
        step = self.steps[position]
        for slot in step.inputs:
            if slot == MISSING:
                continue
            buffer = self.buffer[slot]
            allocation = self.allocated.get(buffer)
            if allocation is not None and allocation.death is None and self.last_reader[buffer] == position:
                if buffer not in self.outputs:
                    allocation.death = self.walk.now

    def _allocation(self, slot: int) -> Allocation:
        name = self.instance.path + self.compiled.names[slot]
        role: Role = "output" if slot in self.outputs and not self.instance.inner else "activation"
        size, tensor = self.walk.builder.size(LiveRange(name, self.instance, slot, role, 0, 0)), self._tensor(slot)
        dtype, shape = (None, Shape.unknown()) if tensor is None else (tensor.dtype, tensor.shape)
        return Allocation(name, size.bytes, self.walk.now, role, dtype, shape, size.cause, None, [name])


def _is_stored(step: NodeStep) -> bool:
    """Whether a node is a constant, which a session stores as an initializer."""
    op_def = step.operation.op_def
    return op_def is not None and op_def.stored


def _buffer(item: Allocation, end: int) -> Buffer:
    death = end if item.death is None else item.death
    values = tuple(item.values) or (item.name,)
    return Buffer(item.name, item.size, item.birth, death, item.role, item.dtype, item.shape, values, item.cause)
