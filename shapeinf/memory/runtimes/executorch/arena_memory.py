"""`ArenaMemory`: the arena that ExecuTorch plans for a model when a program is made of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf, prod

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.errors import MissingSizeError
from shapeinf.expr import Dimension
from shapeinf.inputs.reader import as_sizes
from shapeinf.lattice import ShapeStore, element_bits
from shapeinf.memory.memory import Memory
from shapeinf.memory.peak.query import SizeQuery
from shapeinf.memory.planning import Plan, Problem, Request, Slot, Unplaced
from shapeinf.memory.planning.from_timeline import end_of, required_bytes
from shapeinf.memory.runtimes.executorch.algorithms import ALGORITHMS
from shapeinf.memory.runtimes.executorch.options import Algorithm, ExecuTorchOptions
from shapeinf.memory.runtimes.executorch.storages import PlannedGraph, find_storages
from shapeinf.memory.runtimes.planned_arena import PlannedArena
from shapeinf.memory.runtimes.runtime_memory import kernels_of
from shapeinf.memory.timeline import Buffer, Role
from shapeinf.sharing import synchronized
from shapeinf.solver.budget import WORK, Budget

NOTES = (
    "the arena is that of this graph: ExecuTorch lowers operators first, and delegates take parts of the graph",
    "the temporaries of kernels and the memory of delegates are not in the arena, and are not known",
    "buffers that a program mutates are in its arena, and are not counted",
)


@synchronized
class ArenaMemory(PlannedArena):
    """The tensors in the arena of a program, and their offsets: `plan()`.

    Its peak is the most bytes in use at once, which no arena is smaller than. The arena is planned for upper bounds:
    each dim of a tensor has its largest size under the constraints, and at smaller sizes a program has the same arena.
    """

    at_bounds = True

    def __init__(self, inference: Inference, options: ExecuTorchOptions, *, work: int = WORK) -> None:
        """Raises ShapeInferenceError for a model of a dialect that ExecuTorch does not run."""
        self.options = options
        kernels = kernels_of(inference, "executorch")
        self.alignment = kernels.alignment
        self.planner = f"executorch {options.algorithm}"
        timeline, self._graph = find_storages(inference, kernels, outputs=options.outputs)
        self._begin_run(inference, "executorch", timeline, NOTES, work)
        in_arena: dict[Role, bool] = {"input": options.inputs, "activation": True, "output": options.outputs}
        self._planned = tuple([role for role, is_planned in in_arena.items() if is_planned])

    def _with_inference(self, inference: Inference) -> Memory:
        return ArenaMemory(inference, self.options, work=self.work)

    def _plan_as_runtime(self, sizes: Mapping[str, int], alignment: int | None, roles: Collection[Role] | None) -> Plan:
        memory = self._memory_for(as_sizes(sizes))
        assert isinstance(memory, ArenaMemory)
        return memory._plan(sizes, alignment or self.alignment, roles or self._planned)

    def _plan(self, sizes: Mapping[str, int], alignment: int, roles: Collection[Role]) -> Plan:
        buffers = [buffer for buffer in self.timeline.buffers if buffer.role in roles]
        needs = self._upper_bounds(buffers, sizes)
        requests = {
            buffer.name: Request(buffer.name, buffer.birth, end_of(buffer), need)
            for buffer, need in needs
            if isinstance(need, int)
        }
        Problem(tuple(requests.values()), alignment)  # checks the limits
        slots, arena = _slots_of(self._graph, requests, alignment, self.options.algorithm)
        unplaced = [Unplaced(buffer.name, need) for buffer, need in needs if isinstance(need, str)]
        return Plan(slots, arena, alignment, self.planner, unplaced)

    def _upper_bounds(self, buffers: Sequence[Buffer], sizes: Mapping[str, int]) -> list[tuple[Buffer, int | str]]:
        """The bytes of buffers whose dims have their largest sizes, each for itself; or the cause where one has none.

        Raises MissingSizeError for the dims of users.
        """
        store = SizeQuery(self.store, self.labels).bind(sizes)
        known = {buffer.name: _largest_bytes(store, buffer) for buffer in buffers}
        others = attrs.evolve(self.timeline, buffers=tuple([b for b in buffers if known[b.name] is None]))
        rest = required_bytes(others, self.store, sizes, self._planned, self.labels, Budget(self.work))
        needs = {buffer.name: need for buffer, need in rest}
        missing = [b for b in buffers if isinstance(needs.get(b.name), str)]
        names = dict.fromkeys(name for buffer in missing for name in self._unbounded_dims(store, buffer))
        if names:
            raise MissingSizeError(
                names, "the arena is planned for upper bounds: bind them, or specify ranges", bounds=True
            )
        return [(b, size if (size := known[b.name]) is not None else needs[b.name]) for b in buffers]

    def _unbounded_dims(self, store: ShapeStore, buffer: Buffer) -> list[str]:
        """The dims of users without an upper bound that a size depends on."""
        dims = [store.canon(d) for d in buffer.shape.dims or ()]
        symbols = sorted({s for d in dims if isinstance(d, Dimension) for s in d.symbols()}, key=str)
        return [self.labels[s] for s in symbols if s in self.labels and store.bounds(s)[1] == inf]


def _largest_bytes(store: ShapeStore, buffer: Buffer) -> int | None:
    """The bytes of a tensor whose dims have their largest sizes; None where one has no upper bound."""
    bits = element_bits(buffer.dtype)
    highest = [store.interval(store.canon(d)).hi for d in buffer.shape.dims or ()]
    if bits is None or buffer.shape.dims is None or None in highest:
        return None
    return -(-bits * prod(size for size in highest if size is not None) // 8)


def _slots_of(
    graph: PlannedGraph, requests: Mapping[str, Request], alignment: int, algorithm: Algorithm
) -> tuple[list[Slot], int]:
    """The slots of a graph and of its bodies, and the bytes of its arena."""
    bodies = [_slots_of(body, requests, alignment, algorithm) for body in graph.bodies]
    begin = max((arena for _, arena in bodies), default=0)
    own = [requests[buffer.name] for buffer in graph.buffers if buffer.name in requests]
    offsets, size = ALGORITHMS[algorithm](own, alignment)
    slots = [Slot(r.name, r.lower, r.upper, r.size, begin + at) for r, at in zip(own, offsets, strict=True)]
    return [slot for inner, _ in bodies for slot in inner] + slots, begin + size
