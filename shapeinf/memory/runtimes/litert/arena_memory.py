"""`LiteRtMemory`: the arenas that the interpreter of LiteRT plans for a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.errors import MissingSizeError, NotKnown
from shapeinf.expr import Dimension, DimSize
from shapeinf.inputs.reader import as_sizes
from shapeinf.lattice import ShapeStore
from shapeinf.memory.memory import Memory
from shapeinf.memory.peak.query import SizeQuery
from shapeinf.memory.planning import Plan, Slot, Unplaced
from shapeinf.memory.runtimes.guarded_sizes import Bytes, value_of
from shapeinf.memory.runtimes.kernels import KernelOptions
from shapeinf.memory.runtimes.litert.delegation import delegate
from shapeinf.memory.runtimes.litert.kernels import LiteRtKernels
from shapeinf.memory.runtimes.litert.model import read_model
from shapeinf.memory.runtimes.litert.options import LiteRtOptions
from shapeinf.memory.runtimes.litert.planner import ALIGNMENT, IN_ARENA, ArenaPlan, Placed, plan_arena
from shapeinf.memory.runtimes.litert.subgraph import PreparedGraph, PreparedTensor, prepare
from shapeinf.memory.runtimes.litert.timeline import timeline_of
from shapeinf.memory.runtimes.planned_arena import PlannedArena
from shapeinf.memory.runtimes.protocol import TEMPORARIES
from shapeinf.memory.runtimes.runtime_memory import kernels_of
from shapeinf.memory.timeline import Role
from shapeinf.sharing import synchronized
from shapeinf.solver.budget import WORK

NOTES = (
    "the arena is that of the main subgraph after one run, without a delegate",
    "buffers of the file, and what kernels take from the system for themselves, are not counted",
)
XNNPACK_NOTES = (
    "the arena is that of the main subgraph after one run; which operators XNNPACK runs is a prediction",
    "the workspace of XNNPACK and the weights that it packs are not in the arena, and are not known",
)
IN_THE_ARENA: tuple[Role, ...] = ("input", "activation", "output", "scratch")


@attrs.frozen
class LiteRtArenas:
    """The memory of an interpreter in bytes, at some sizes of the inputs.

    Args:
        allocated: the arena after `allocate_tensors`.
        arena: the arena after a run: tensors whose sizes only a run decides have been placed.
        persistent: the arena of variables and of what kernels keep.
        heap: tensors in blocks of their own.
        subgraphs: the arenas of the subgraphs that operators run.
        stages: the nodes after which preparation stops until they have run, by name.
        at_least: some tensors or temporaries have unknown sizes, and are not counted.
    """

    allocated: int
    arena: int
    persistent: int
    heap: int
    subgraphs: int
    stages: tuple[str, ...]
    at_least: bool

    @property
    def bytes(self) -> int:
        """All of them."""
        return self.arena + self.persistent + self.heap + self.subgraphs


@synchronized
class LiteRtMemory(PlannedArena):
    """The arena of the main subgraph and its tensors: `at` and `plan` at sizes of all dims.

    Its peak is the most bytes in use at once, for all sizes.
    """

    alignment = ALIGNMENT
    planner = "litert"

    def __init__(
        self, inference: Inference, options: LiteRtOptions, *, xnnpack: bool = False, work: int = WORK
    ) -> None:
        """With `xnnpack`, this delegate runs the operators that it has.

        Raises ShapeInferenceError for a model of another dialect, ModelError for one without a file.
        """
        self.options = options
        self.xnnpack = xnnpack
        kernels = kernels_of(inference, "litert")
        assert isinstance(kernels, LiteRtKernels)
        self.kernels = kernels
        self._prepared = prepared = self._prepare(inference, inference.store)
        name = "litert-xnnpack" if xnnpack else "litert"
        self.sized_in_runs = _sized_in_runs(prepared)
        notes = (*(XNNPACK_NOTES if xnnpack else NOTES), *_notes(prepared))
        self._begin_run(inference, name, timeline_of(prepared), notes, work)
        self._planned = IN_THE_ARENA

    def _prepare(self, inference: Inference, store: ShapeStore) -> PreparedGraph:
        model = read_model(inference, store)
        options = KernelOptions(threads=self.options.threads)
        prepared = prepare(model.main, self.kernels, store, options)
        if not self.xnnpack:
            return prepared
        return prepare(delegate(model.main, prepared.delegated), self.kernels, store, options)

    def _with_inference(self, inference: Inference) -> Memory:
        return LiteRtMemory(inference, self.options, xnnpack=self.xnnpack, work=self.work)

    def at(self, sizes: Mapping[str, int] | None = None, **named: int) -> LiteRtArenas:
        """The arenas at sizes of all dims. Raises MissingSizeError, UnknownNameError and Contradiction."""
        prepared, plan = self._planned_at({**(sizes or {}), **named})
        bodies = [graph for graphs in prepared.bodies.values() for graph in graphs]
        heap = [prepared.tensors[i].size for i in _heap(prepared, plan)]
        subgraphs = list(_arenas_of(bodies))
        lacking = [tensor for tensor in prepared.tensors if not isinstance(tensor.size, int) and _is_counted(tensor)]
        calls = prepared.subgraph.calls
        return LiteRtArenas(
            plan.allocated,
            plan.invoked,
            plan.persistent,
            sum(size for size in heap if isinstance(size, int)),
            sum(size for size in subgraphs if size is not None),
            tuple([calls[number].node for number in plan.stages[:-1]]),
            bool(lacking or prepared.unknown) or None in subgraphs,
        )

    def parts(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """The parts of `at`."""
        arenas = self.at(sizes)
        parts = {
            "after allocation": arenas.allocated,
            "persistent": arenas.persistent,
            "heap": arenas.heap,
            "arenas of subgraphs": arenas.subgraphs,
        }
        return {name: size for name, size in parts.items() if size or name == "after allocation"}

    def _plan_as_runtime(self, sizes: Mapping[str, int], alignment: int | None, roles: Collection[Role] | None) -> Plan:
        self._require_own(alignment, roles)
        prepared, plan = self._planned_at(sizes)
        end = len(prepared.nodes)
        slots = [_slot(_name(prepared, i), placed, end) for i, placed in plan.placed.items()]
        return Plan(slots, plan.invoked, self.alignment, self.planner, list(_unplaced(prepared)))

    def _plan_ends(self, bytes_of: Callable[[DimSize], Bytes]) -> Sequence[Bytes]:
        prepared = self._prepared
        _require_formula(prepared, self.xnnpack)
        sizes = [_planned_bytes(tensor, bytes_of) for tensor in prepared.tensors]
        plan = plan_arena(prepared.arena_graph(sizes), sharing=self.options.sharing)
        return [placed.end for placed in plan.placed.values()]

    def _planned_at(self, sizes: Mapping[str, int]) -> tuple[PreparedGraph, ArenaPlan]:
        """The main subgraph at some sizes, and its arenas."""
        memory = self._memory_for(as_sizes(sizes))
        store = SizeQuery(memory.store, memory.labels).bind(sizes)
        prepared = self._prepare(memory.inference, store)
        missing = _missing_dims(prepared.tensors, memory.labels)
        if missing:
            raise MissingSizeError(missing, "the arena depends on all sizes: bind them")
        return prepared, _plan_of(prepared, self.options.sharing)


def _require_formula(graph: PreparedGraph, delegated: bool) -> None:
    """Raise NotKnown where numbers decide more than the order in which tensors are placed."""
    if delegated:
        raise NotKnown("which operators the delegate runs depends on sizes")
    if graph.bodies:
        raise NotKnown("the operators of subgraphs compare sizes")
    for cause in graph.unknown.values():
        raise NotKnown(cause)


def _planned_bytes(tensor: PreparedTensor, bytes_of: Callable[[DimSize], Bytes]) -> Bytes:
    """The bytes of a tensor for the planner."""
    if tensor.size is not None:
        return bytes_of(tensor.size)
    if tensor.storage in (*IN_ARENA, "persistent"):
        raise NotKnown(tensor.cause or f"the size of {tensor.name} is not known")
    return 0


def _sized_in_runs(graph: PreparedGraph) -> tuple[str, ...]:
    written = [index for node in graph.nodes for index in node.outputs]
    return tuple([graph.tensors[index].name for index in written if _is_sized_in_run(graph, index)])


def _notes(graph: PreparedGraph) -> Iterator[str]:
    calls = zip(graph.subgraph.calls, graph.nodes, strict=True)
    stops = [call.node for call, node in calls if any(_is_sized_in_run(graph, index) for index in node.outputs)]
    if stops:
        listed = ", ".join(stops[:4]) + (f" and {len(stops) - 4} more" if len(stops) > 4 else "")
        yield f"dynamic in LiteRT: the outputs of {listed} get their sizes when they run"
    if graph.bodies:
        yield "subgraphs that operators run have arenas of their own"


def _is_sized_in_run(graph: PreparedGraph, index: int) -> bool:
    return graph.tensors[index].storage in ("heap", "late")


def _is_counted(tensor: PreparedTensor) -> bool:
    return tensor.storage in (*IN_ARENA, "persistent", "heap")


def _plan_of(graph: PreparedGraph, sharing: bool = True) -> ArenaPlan:
    """The arenas of a subgraph; a tensor of unknown size is in none."""
    sizes = [tensor.size if isinstance(tensor.size, int) else 0 for tensor in graph.tensors]
    return plan_arena(graph.arena_graph(sizes), sharing=sharing)


def _arenas_of(graphs: Sequence[PreparedGraph]) -> Iterator[int | None]:
    """The arenas of subgraphs, and of those that they run; None for one with a tensor of unknown size."""
    for graph in graphs:
        if any(tensor.storage in IN_ARENA and not isinstance(tensor.size, int) for tensor in graph.tensors):
            yield None
        plan = _plan_of(graph)
        yield plan.invoked + plan.persistent
        yield from _arenas_of([body for bodies in graph.bodies.values() for body in bodies])


def _heap(graph: PreparedGraph, plan: ArenaPlan) -> Iterator[int]:
    """The tensors in blocks of their own; one whose size a run decides is in the memory of its input where it may."""
    for index, tensor in enumerate(graph.tensors):
        if tensor.storage == "heap" or (tensor.storage == "late" and index not in plan.shared):
            yield index


def _missing_dims(tensors: Sequence[PreparedTensor], labels: Mapping[Dimension, str]) -> list[str]:
    """The dims of users that sizes depend on."""
    sizes: list[DimSize | None] = [tensor.size for tensor in tensors if _is_counted(tensor)]
    symbols = {symbol for size in sizes if isinstance(size, Dimension) for symbol in size.symbols()}
    return sorted(labels[symbol] for symbol in symbols if symbol in labels)


def _name(graph: PreparedGraph, index: int) -> str:
    tensor = graph.tensors[index]
    return tensor.name if tensor.node is None else f"{TEMPORARIES}{tensor.name}:{index}"


def _slot(name: str, placed: Placed, end: int) -> Slot:
    last = placed.last
    return Slot(
        name,
        placed.first,
        max(end, placed.first + 1) if last is None else last + 1,
        value_of(placed.size),
        value_of(placed.offset),
    )


def _unplaced(graph: PreparedGraph) -> Iterator[Unplaced]:
    for tensor in graph.tensors:
        if tensor.storage in IN_ARENA and not isinstance(tensor.size, int):
            yield Unplaced(tensor.name, tensor.cause or "data decide its size")
    for number, cause in graph.unknown.items():
        yield Unplaced(f"{TEMPORARIES}{graph.subgraph.calls[number].node}", cause)
