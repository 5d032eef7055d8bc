"""`TfliteMicroMemory`: the arena that an interpreter of TensorFlow Lite Micro needs for a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.errors import MissingSizeError, ModelError, NotKnown, ShapeInferenceError
from shapeinf.expr import Dimension, DimSize
from shapeinf.formats.tflite.rewriting import Sizes
from shapeinf.formats.tflite.writer import write_metadata
from shapeinf.inputs.reader import RangeLike, as_sizes
from shapeinf.lattice import Shape, ShapeStore, TensorType
from shapeinf.lattice.dtypes import HANDLES
from shapeinf.memory.memory import Memory
from shapeinf.memory.peak.query import SizeQuery
from shapeinf.memory.planning import Plan, Slot, Unplaced
from shapeinf.memory.runtimes.arena_formulas import ArenaFormula
from shapeinf.memory.runtimes.guarded_sizes import Bytes, value_of
from shapeinf.memory.runtimes.kernels import KernelOptions
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext
from shapeinf.memory.runtimes.litert.model import FileModel, read_model
from shapeinf.memory.runtimes.litert.subgraph import Call, Subgraph, Value
from shapeinf.memory.runtimes.planned_arena import PlannedArena
from shapeinf.memory.runtimes.protocol import TEMPORARIES
from shapeinf.memory.runtimes.runtime_memory import kernels_of
from shapeinf.memory.runtimes.tflite_micro.kernels import MicroKernels, MicroNeeds
from shapeinf.memory.runtimes.tflite_micro.offline import METADATA, OfflinePlan, plan_offline
from shapeinf.memory.runtimes.tflite_micro.options import TfliteMicroOptions
from shapeinf.memory.runtimes.tflite_micro.planner import (
    ALIGNMENT,
    Lifetimes,
    MicroBuffer,
    MicroNode,
    MicroSubgraph,
    find_buffers,
    find_offsets,
    head_of,
)
from shapeinf.memory.runtimes.tflite_micro.tail import tail_of
from shapeinf.memory.timeline import Buffer, ProgramPoint, Role, Timeline
from shapeinf.sharing import synchronized
from shapeinf.solver.budget import WORK

NOTES = (
    "the head is exact for the reference kernels; the kernels of a vendor, such as CMSIS-NN, need other scratch "
    "buffers",
    "the tail is that of a machine with pointers of eight bytes: with four bytes it is smaller",
    "the interpreter plans in the arena too: the smallest one that works is larger by up to 0.5 KiB, or by up to "
    "2 KiB where the head is small",
    "it resizes no inputs: other sizes are another file",
)
PLANNED: tuple[Role, ...] = ("input", "activation", "output", "scratch")
UNKNOWN = 1
"""Stands for the bytes of a tensor whose size is not a number, while lifetimes are found."""


@attrs.frozen
class MicroArena:
    """The arena in bytes, at some sizes of the inputs.

    Args:
        head: tensors and scratch buffers.
        tail: what the interpreter and its kernels keep.
        buffers: the buffers of the head with their offsets.
        at_least: some tensors or kernels have unknown sizes, and are not counted.
    """

    head: int
    tail: int
    buffers: tuple[MicroBuffer, ...]
    at_least: bool

    @property
    def bytes(self) -> int:
        """Head and tail."""
        return self.head + self.tail


@attrs.frozen(eq=False)
class _Layout:
    """A model for the planner: its subgraphs, the needs of their nodes, and why those of others are not known."""

    subgraphs: Sequence[Subgraph]
    needs: Mapping[tuple[int, int], MicroNeeds]
    unknown: Mapping[tuple[int, int], str]

    def micro(self, bytes_of: Callable[[DimSize | None], Bytes] | None = None) -> list[MicroSubgraph]:
        """The subgraphs as the planner takes them; by default a size that is no number is `UNKNOWN`."""
        return [self._subgraph(number, bytes_of or _number) for number in range(len(self.subgraphs))]

    def _subgraph(self, number: int, bytes_of: Callable[[DimSize | None], Bytes]) -> MicroSubgraph:
        subgraph = self.subgraphs[number]
        nodes = [
            MicroNode(
                tuple([i for i in call.inputs if i >= 0]),
                tuple([i for i in call.outputs if i >= 0]),
                tuple(self.needs[number, n].scratch) if (number, n) in self.needs else (),
                tuple([body.index for body in call.bodies]),
            )
            for n, call in enumerate(subgraph.calls)
        ]
        sizes = [bytes_of(value.size) if _is_planned(value) else 0 for value in subgraph.values]
        return MicroSubgraph(tuple(sizes), tuple(nodes), subgraph.inputs, subgraph.outputs)


@synchronized
class TfliteMicroMemory(PlannedArena):
    """The arena of a model: `at` and `plan` at sizes of all dims. Its peak is the most bytes of the head in use."""

    alignment = ALIGNMENT
    planner = "tflite-micro greedy"
    formula_part = "head"

    def __init__(self, inference: Inference, options: TfliteMicroOptions, *, work: int = WORK) -> None:
        """Raises ShapeInferenceError for a model of another dialect, ModelError for one without a file."""
        self.options = options
        kernels = kernels_of(inference, "tflite-micro")
        assert isinstance(kernels, MicroKernels)
        self.kernels = kernels
        self._symbolic = self._layout(inference, inference.store)
        self._begin_run(inference, "tflite-micro", _timeline(self._symbolic), NOTES, work)
        self._planned = PLANNED

    def _with_inference(self, inference: Inference) -> Memory:
        return TfliteMicroMemory(inference, self.options, work=self.work)

    def _layout(self, inference: Inference, store: ShapeStore) -> _Layout:
        model = read_model(inference, store)
        subgraphs = [_subgraph(model, index) for index in range(model.document.num_subgraphs)]
        if all(subgraphs[0].values[index].size == subgraphs[0].values[index].stated for index in subgraphs[0].inputs):
            subgraphs = [_as_stated(subgraph) for subgraph in subgraphs]
        needs: dict[tuple[int, int], MicroNeeds] = {}
        unknown: dict[tuple[int, int], str] = {}
        for number, subgraph in enumerate(subgraphs):
            for position, call in enumerate(subgraph.calls):
                try:
                    needs[number, position] = self.kernels.find_needs(_context(subgraph, call, store))
                except NotKnown as reason:
                    unknown[number, position] = reason.reason
        return _Layout(subgraphs, needs, unknown)

    def at(self, sizes: Mapping[str, int] | None = None, **named: int) -> MicroArena:
        """The arena at sizes of all dims. Raises MissingSizeError, UnknownNameError and Contradiction."""
        layout, placed = self._placed_at({**(sizes or {}), **named})
        values = [value for subgraph in layout.subgraphs for value in subgraph.values]
        variables = [value.stated for value in values if value.is_variable]
        tail = tail_of(layout.subgraphs, list(layout.needs.values()), variables, list(_resources(layout.subgraphs)))
        lacking = any(_is_planned(value) and not isinstance(value.size, int) for value in values)
        return MicroArena(head_of(placed), tail, tuple(placed), lacking or bool(layout.unknown))

    def parts(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Head and tail."""
        arena = self.at(sizes)
        return {"head": arena.head, "tail": arena.tail}

    def arena_bytes(self, planned: int, parts: Mapping[str, int]) -> int:
        """Head and tail are one block of memory."""
        return sum(parts.values())

    def formula(self, ranges: Mapping[str, RangeLike] | None = None, /, **more: RangeLike) -> ArenaFormula:
        """The head as formulas; see `PlannedArena.formula`."""
        formula = super().formula(ranges, **more)
        sizes = self._stated_sizes()
        try:
            agrees = not formula.pieces or formula.at(sizes) in (None, self.at(sizes).head)
        except ShapeInferenceError:  # sizes that the ranges exclude
            agrees = True
        if agrees:
            return formula
        listed = ", ".join(f"{name}={size}" for name, size in sizes.items())
        reason = (
            f"at {listed}, the sizes in the file, its tensors have the sizes that it states, and not the inferred ones"
        )
        return attrs.evolve(formula, excluded=sizes, reason=reason)

    def _stated_sizes(self) -> dict[str, int]:
        """The sizes of dims that the inputs have in the file."""
        document = read_model(self.inference, self.inference.store).document
        main, sizes = self._symbolic.subgraphs[0], dict[str, int]()
        for index in main.inputs:
            value = main.values[index].type
            dims = value.shape.dims if isinstance(value, TensorType) else None
            for dim, size in zip(dims or (), document.subgraph(0).tensors[index].dims, strict=False):
                if isinstance(dim, Dimension) and dim in self.labels:
                    sizes[self.labels[dim]] = size
        return sizes

    def _plan_ends(self, bytes_of: Callable[[DimSize], Bytes]) -> Sequence[Bytes]:
        for cause in self._symbolic.unknown.values():
            raise NotKnown(cause)
        buffers = find_buffers(self._symbolic.micro(lambda size: _require_number(size, bytes_of)))
        return [buffer.end for buffer in find_offsets(buffers)]

    def _plan_as_runtime(self, sizes: Mapping[str, int], alignment: int | None, roles: Collection[Role] | None) -> Plan:
        self._require_own(alignment, roles)
        layout, placed = self._placed_at(sizes)
        slots = [
            Slot(name, max(buffer.first, 0), max(buffer.last, 0) + 1, value_of(buffer.size), value_of(buffer.offset))
            for name, buffer in zip(_names(layout.subgraphs, placed), placed, strict=True)
        ]
        return Plan(slots, head_of(placed), self.alignment, self.planner, list(_unplaced(layout)))

    def save_offline(
        self, path: str | os.PathLike[str], sizes: Mapping[str, int] | None = None, *, planner: str = "best"
    ) -> OfflinePlan:
        """Write the file with offsets of its tensors for the interpreter, and with these sizes.

        Raises MissingSizeError for dims without a size, ModelError for a model of several subgraphs, whose offsets the
        interpreter does not tell apart, or with a tensor of unknown size; else as a writer does.
        """
        layout, buffers = self._buffers_at(sizes or {})
        graph = self.inference.compiled.graph
        if len(layout.subgraphs) > 1:
            raise ModelError(
                f"the file has {len(layout.subgraphs)} subgraphs: offsets exist for a file with a single subgraph"
            )
        problems = list(_unplaced(layout))
        if problems:
            raise ModelError(f"{problems[0].name} has no offset: {problems[0].cause}")
        offline = plan_offline(buffers, planner)
        values = layout.subgraphs[0].values
        write_metadata(graph, os.fspath(path), {METADATA: offline.metadata(len(values))}, dict(_edits(values)))
        return offline

    def _placed_at(self, sizes: Mapping[str, int]) -> tuple[_Layout, list[MicroBuffer]]:
        """The model at some sizes, and its buffers with their offsets."""
        layout, buffers = self._buffers_at(sizes)
        return layout, find_offsets(buffers)

    def _buffers_at(self, sizes: Mapping[str, int]) -> tuple[_Layout, list[MicroBuffer]]:
        """The model at some sizes, and its buffers."""
        memory = self._memory_for(as_sizes(sizes))
        store = SizeQuery(memory.store, memory.labels).bind(sizes)
        layout = self._layout(memory.inference, store)
        planned: list[DimSize | None] = [v.size for s in layout.subgraphs for v in s.values if _is_planned(v)]
        symbols = {symbol for size in planned if isinstance(size, Dimension) for symbol in size.symbols()}
        missing = sorted(memory.labels[symbol] for symbol in symbols if symbol in memory.labels)
        if missing:
            raise MissingSizeError(missing, "the arena depends on all sizes: bind them")
        return layout, find_buffers(layout.micro())


def _subgraph(model: FileModel, index: int) -> Subgraph:
    """A subgraph; one that no run reaches takes part with the sizes in the file."""
    return model.subgraphs.get(index) or Subgraph(index, str(index), (), (), (), ())


def _as_stated(subgraph: Subgraph) -> Subgraph:
    """A subgraph with the sizes in the file, which the interpreter believes where no other file is made of it."""
    return attrs.evolve(subgraph, values=tuple([attrs.evolve(v, size=v.stated, cause="") for v in subgraph.values]))


def _is_planned(value: Value) -> bool:
    """Whether a tensor is in the head: resources have persistent memory."""
    dtype = value.type.dtype if isinstance(value.type, TensorType) else None
    return not value.is_constant and not value.is_variable and dtype not in HANDLES


def _number(size: DimSize | None) -> int:
    return size if isinstance(size, int) else UNKNOWN


def _require_number(size: DimSize | None, bytes_of: Callable[[DimSize], Bytes]) -> Bytes:
    if size is None:
        raise NotKnown("the sizes of some tensors are not known")
    return bytes_of(size)


def _context(subgraph: Subgraph, call: Call, store: ShapeStore) -> LiteRtContext:
    """A node for the rules of kernels. Raises NotKnown for an operator that is not known."""
    if call.op_def is None:
        raise NotKnown("the operator is not known")
    values = subgraph.values
    present = [(position, index) for position, index in enumerate(call.inputs) if index >= 0]
    return LiteRtContext(
        call.op_def,
        [None if index < 0 else values[index].type for index in call.inputs],
        [None if index < 0 else values[index].type for index in call.outputs],
        call.attributes,
        store,
        constants=[position for position, index in present if values[index].is_constant],
        scales={position: values[index].scales for position, index in present},
        options=KernelOptions(),
    )


def _resources(subgraphs: Sequence[Subgraph]) -> Iterator[int]:
    """The bytes of the value that each resource stands for, by the name of the resource."""
    names: dict[tuple[int, int], object] = {}
    values: dict[object, int] = {}
    for number, subgraph in enumerate(subgraphs):
        for call in subgraph.calls:
            for index in call.outputs:
                if _is_handle(subgraph.values[index]):
                    names[number, index] = call.attributes.get("shared_name", "")
                    values.setdefault(names[number, index], 0)
            if len(call.inputs) == 2 and (number, call.inputs[0]) in names:
                size = subgraph.values[call.inputs[1]].size
                values[names[number, call.inputs[0]]] = size if isinstance(size, int) else 0
    yield from values.values()


def _edits(values: Sequence[Value]) -> Iterator[tuple[tuple[int, int], Sizes]]:
    """The sizes of tensors that are not those in the file."""
    for index, value in enumerate(values):
        dims = value.type.shape.dims if isinstance(value.type, TensorType) else None
        sizes = tuple([size for size in dims or () if isinstance(size, int)])
        if dims is not None and len(sizes) == len(dims) and value.size != value.stated:
            yield (0, index), Sizes(sizes, None)


def _is_handle(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.dtype in HANDLES


def _names(subgraphs: Sequence[Subgraph], buffers: Sequence[MicroBuffer]) -> Iterator[str]:
    """A unique name for each buffer: that of its tensor, with its subgraph behind the main one."""
    for number, buffer in enumerate(buffers):
        prefix = f"{buffer.subgraph}/" if buffer.subgraph else ""
        if buffer.tensor is None:
            yield f"{TEMPORARIES}{prefix}{number}"
        else:
            yield prefix + subgraphs[buffer.subgraph].values[buffer.tensor].name


def _unplaced(layout: _Layout) -> Iterator[Unplaced]:
    for subgraph in layout.subgraphs:
        for value in subgraph.values:
            if _is_planned(value) and not isinstance(value.size, int):
                yield Unplaced(value.name, value.cause or "data decide its size")
    for (number, position), cause in layout.unknown.items():
        prefix = f"{number}/" if number else ""
        yield Unplaced(f"{TEMPORARIES}{prefix}{layout.subgraphs[number].calls[position].node}", cause)


def _timeline(layout: _Layout) -> Timeline:
    """The buffers of the head with symbolic sizes; scratch buffers of kernels whose sizes are numbers."""
    lifetimes = Lifetimes(layout.micro())
    buffers = lifetimes.buffers()
    points = [_point(layout.subgraphs, number, position) for number, position in lifetimes.points]
    names = _names(layout.subgraphs, buffers)
    listed = [_buffer(layout.subgraphs, name, buffer, len(points)) for name, buffer in zip(names, buffers, strict=True)]
    weights = [
        Buffer(value.name, value.size, 0, len(points), "weight", None, value.type.shape, (value.name,))
        for value in layout.subgraphs[0].values
        if value.is_constant and isinstance(value.type, TensorType) and value.size is not None
    ]
    times = {point: time for time, point in enumerate(lifetimes.points)}
    unknown = [
        _unknown(f"{TEMPORARIES}{layout.subgraphs[n].calls[p].node}", times.get((n, p), 0), cause)
        for (n, p), cause in layout.unknown.items()
    ]
    return Timeline(tuple(points), (*weights, *listed, *unknown))


def _unknown(name: str, time: int, cause: str) -> Buffer:
    return Buffer(name, None, time, time + 1, "scratch", None, Shape.unknown(), (name,), cause)


def _point(subgraphs: Sequence[Subgraph], number: int, position: int | None) -> ProgramPoint:
    prefix = f"{number}/" if number else ""
    if position is None:
        return ProgramPoint(f"{prefix}inputs", "")
    name, _, op = subgraphs[number].calls[position].node.partition(" ")
    return ProgramPoint(prefix + name, op.strip("()"))


def _buffer(subgraphs: Sequence[Subgraph], name: str, buffer: MicroBuffer, end: int) -> Buffer:
    first, death = max(buffer.first, 0), min(max(buffer.last, 0) + 1, end)
    if buffer.tensor is None:
        return Buffer(name, value_of(buffer.size), first, death, "scratch", None, Shape.unknown(), (name,))
    subgraph = subgraphs[buffer.subgraph]
    value = subgraph.values[buffer.tensor]
    role: Role = "activation"
    if buffer.subgraph == 0:
        role = "input" if buffer.tensor in subgraph.inputs else role
        role = "output" if buffer.tensor in subgraph.outputs and role != "input" else role
    cause = "" if value.size is not None else value.cause or "its size is not known"
    tensor = value.type
    if isinstance(tensor, TensorType):
        return Buffer(name, value.size, first, death, role, tensor.dtype, tensor.shape, (name,), cause)
    return Buffer(name, value.size, first, death, role, None, Shape.unknown(), (name,), cause)
