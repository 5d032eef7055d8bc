"""The arena planner of LiteRT: which tensors share memory, how long each is needed, and its offset.

Read in LiteRT (tflite/arena_planner.cc, tflite/simple_memory_arena.cc, tflite/core/subgraph.cc, August 2026). Each
subgraph has a planner of its own with two arenas. Nodes run in the order of the file.

1. Nodes are prepared in order. After a node with an output whose size only its run decides preparation stops, and goes
   on after this node has run: a stage. Tensors of a stage are placed among those placed before.
2. Which tensors share memory, and the last use of each, is decided once, after the first stage was prepared. Tensors of
   later stages then still have the sizes that the file states.
3. Of the tensors of a stage, those in use from the first node to the end are placed first, by index, then all others
   by falling size, of equal ones the earlier first. Each goes into the smallest gap that is large enough.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Literal

import attrs

from shapeinf.memory.runtimes.guarded_sizes import Bytes, round_up, value_of

ALIGNMENT = 64
"""Offsets are multiples of it."""
SCALAR_BYTES = 4
"""Results of at most so many bytes have memory of their own (`kScalarTensorBytes`)."""

Storage = Literal["arena", "late", "persistent", "heap", "read_only", "constant", "caller"]
"""Where a tensor is: in the arena, in the arena until its node has run and then in a block of its own (`late`), in the
arena of tensors that outlive a run, in a block of its own that is allocated when its size is known or (`read_only`)
when its contents are, in the file, or in a tensor of another subgraph."""
UNSIZED: tuple[Storage, ...] = ("heap", "late")
"""Outputs after which preparation stops: their sizes are not known."""
IN_ARENA: tuple[Storage, ...] = ("arena", "late")


@attrs.frozen
class ArenaTensor:
    """A tensor of a subgraph, or a temporary of a kernel.

    Args:
        size: bytes, as they are when the node that writes it was prepared.
        storage: where it is, as the node that writes it decides.
        stated: the bytes that the file states.
        initial: where it is before the node that writes it was prepared.
    """

    size: Bytes
    storage: Storage = "arena"
    stated: int = 0
    initial: Storage = "arena"


@attrs.frozen
class ArenaNode:
    """A node of a subgraph, with indices of tensors.

    Args:
        inputs: the tensors that it reads.
        outputs: the tensors that it writes.
        temporaries: the tensors that it needs while it runs.
        shared: the inputs whose memory its first output may use, in the order in which they are tried.
        copies: whether the first output has other contents than the input that it shares memory with.
    """

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    temporaries: tuple[int, ...] = ()
    shared: tuple[int, ...] = ()
    copies: bool = True


@attrs.frozen
class ArenaGraph:
    """A subgraph. Its inputs, outputs and variables are in use from the first node to the end."""

    tensors: tuple[ArenaTensor, ...]
    nodes: tuple[ArenaNode, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    variables: tuple[int, ...] = ()


@attrs.frozen(order=False)
class Placed:
    """A tensor at an offset of an arena, in use from node `first` to node `last`; None for one that is to the end."""

    tensor: int
    size: Bytes
    offset: Bytes
    first: int
    last: int | None

    @property
    def end(self) -> Bytes:
        """The byte after it."""
        return self.offset + self.size

    def overlaps(self, first: int, last: int | None) -> bool:
        """Whether it is in use at one of these nodes."""
        return (self.last is None or self.last >= first) and (last is None or self.first <= last)


@attrs.frozen
class ArenaPlan:
    """The arenas of a subgraph.

    Args:
        allocated: the bytes of the arena after its tensors are allocated (`AllocateTensors`): those of the first stage.
        invoked: its bytes after a run.
        persistent: the bytes of the arena of tensors that outlive a run, after a run.
        placed: the tensors with an offset, by index; of two in one memory the first.
        persistently: those of the second arena.
        shared: by tensor without memory of its own the one whose memory it uses.
        stages: the last node of each stage.
    """

    allocated: int
    invoked: int
    allocated_persistent: int
    persistent: int
    placed: dict[int, Placed]
    persistently: dict[int, Placed]
    shared: dict[int, int]
    stages: tuple[int, ...]


@attrs.frozen
class Lifetimes:
    """When tensors are in use.

    Args:
        first: by tensor, the first node.
        last: the last node that reads its memory; no node for one that is in use to the end.
        shared: by tensor without memory of its own the one whose memory it uses.
    """

    first: dict[int, int]
    last: dict[int, int]
    shared: dict[int, int]


class Arena:
    """Memory in which tensors are placed; it grows and never shrinks."""

    def __init__(self) -> None:
        self.size = 0
        self._placed: list[Placed] = []

    def add(self, tensor: int, size: Bytes, first: int, last: int | None) -> Placed:
        """Place a tensor in the smallest gap between those in use at the same time, else behind them.

        As in LiteRT, a gap counts from the end of the tensor below it, and a smaller one is found by its aligned size.
        """
        best: Bytes | None = None
        smallest: Bytes | None = None
        end: Bytes = 0
        for other in self._placed:
            if not other.overlaps(first, last):
                continue
            start = round_up(end, ALIGNMENT)
            if start + size <= other.offset and (smallest is None or other.offset - start < smallest):
                best, smallest = start, other.offset - end
            end = max(end, other.end)
            if smallest == 0:
                break
        placed = Placed(tensor, size, round_up(end, ALIGNMENT) if best is None else best, first, last)
        self.size = max(self.size, value_of(placed.end))
        insort(self._placed, placed, key=attrgetter("offset"))
        return placed


def plan_arena(graph: ArenaGraph, *, sharing: bool = True) -> ArenaPlan:
    """The arenas of a subgraph that is allocated and runs once; without `sharing`, all tensors are preserved.

    >>> tensors = (ArenaTensor(100, stated=100), ArenaTensor(40, stated=40), ArenaTensor(40, stated=40))
    >>> plan = plan_arena(ArenaGraph(tensors, (ArenaNode((0,), (1,)), ArenaNode((1,), (2,))), (0,), (2,)))
    >>> [plan.placed[i].offset for i in range(3)], plan.allocated
    ([0, 128, 192], 232)
    """
    return _Planner(graph, sharing).plan()


def find_lifetimes(graph: ArenaGraph, *, sharing: bool = True) -> Lifetimes:
    """When the tensors of a subgraph are in use; sizes are only compared for equality."""
    planner = _Planner(graph, sharing)
    planner.decide()
    shared = {i: root for i, root in planner.shared.items() if graph.tensors[i].size == graph.tensors[root].size}
    return Lifetimes(planner.first, planner.last, shared)


class _Planner:
    """The state of a planner: lifetimes and shared memory, which are decided once, and the two arenas."""

    def __init__(self, graph: ArenaGraph, sharing: bool) -> None:
        self.graph = graph
        self.sharing = sharing
        self.stages = list(_stages(graph))
        self.first: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self.shared: dict[int, int] = {}
        self.arena, self.persistent = Arena(), Arena()
        self.placed: dict[int, Placed] = {}
        self.persistently: dict[int, Placed] = {}
        self.writer = {i: number for number, node in enumerate(graph.nodes) for i in node.outputs}
        """By tensor, the node that writes it."""

    def decide(self) -> None:
        """Decide which tensors share memory, and how long each is in use."""
        prepared = self.stages[0][1] if self.stages else -1
        if self.sharing:
            self._share(self._references(), prepared)
        self._find_lifetimes()

    def plan(self) -> ArenaPlan:
        """Decide lifetimes, then place the tensors of each stage."""
        self.decide()
        sizes: list[tuple[int, int]] = []
        for begin, end in self.stages or [(0, 0)]:
            self._allocate_stage(begin, end)
            sizes.append((self.arena.size, self.persistent.size))
        ends = tuple([end for _, end in self.stages])
        (allocated, stored), (invoked, persistent) = sizes[0], sizes[-1]
        return ArenaPlan(allocated, invoked, stored, persistent, self.placed, self.persistently, self.shared, ends)

    # -- lifetimes ---------------------------------------------------------------------------------------------------

    def _held(self) -> dict[int, int]:
        """By tensor, how often the subgraph itself refers to it."""
        held: dict[int, int] = {}
        for index in (*self.graph.outputs, *self.graph.variables, *self.graph.inputs):
            held[index] = held.get(index, 0) + 1
        return held

    def _references(self) -> dict[int, int]:
        """By tensor, the number of its readers, the subgraph itself included."""
        references = self._held()
        for node in self.graph.nodes:
            for index in node.inputs:
                references[index] = references.get(index, 0) + 1
        return references

    def _share(self, references: dict[int, int], prepared: int) -> None:
        """Let results use the memory of an input, where the node allows it."""
        for node in self.graph.nodes:
            if not node.outputs or not node.shared:
                continue
            source = next((i for i in node.shared if self._may_share(node, i, references, prepared)), None)
            if source is None:
                continue
            root = self.shared.get(source, source)
            if node.copies and references.get(root, 0) > 1:
                continue
            self.shared[node.outputs[0]] = root

    def _may_share(self, node: ArenaNode, source: int, references: dict[int, int], prepared: int) -> bool:
        """Whether the first output of a node may use the memory of this input."""
        output = node.outputs[0]
        if node.copies:
            size, result = self._size_at_sharing(source, prepared), self._size_at_sharing(output, prepared)
            if size != result or size <= SCALAR_BYTES or references.get(source, 0) > 1:
                return False
        if source in self.graph.inputs or output in self.graph.outputs:
            return False
        source_storage, storage = (self._storage_at_sharing(index, prepared) for index in (source, output))
        return source_storage in ("arena", storage)

    def _is_prepared(self, index: int, prepared: int) -> bool:
        return self.writer.get(index, -1) <= prepared

    def _size_at_sharing(self, index: int, prepared: int) -> Bytes:
        tensor = self.graph.tensors[index]
        return tensor.size if self._is_prepared(index, prepared) else tensor.stated

    def _storage_at_sharing(self, index: int, prepared: int) -> Storage:
        tensor = self.graph.tensors[index]
        storage = tensor.storage if self._is_prepared(index, prepared) else tensor.initial
        return "arena" if storage == "late" else storage

    def _find_lifetimes(self) -> None:
        """The first node of each tensor, and the last one that reads its memory; no last one: in use to the end."""
        references = self._held()
        for index in (*self.graph.variables, *self.graph.inputs):
            self.first.setdefault(index, 0)
        for node in self.graph.nodes:
            for index in node.inputs:
                root = self.shared.get(index, index)
                references[root] = references.get(root, 0) + 1
        for number, node in enumerate(self.graph.nodes):
            for index in node.outputs:
                self.first.setdefault(index, number)
            for index in node.inputs if self.sharing else ():
                root = self.shared.get(index, index)
                references[root] -= 1
                if references[root] == 0 and root in self.first:
                    self.last[root] = number

    # -- placement ---------------------------------------------------------------------------------------------------

    def _allocate_stage(self, begin: int, end: int) -> None:
        """Place the tensors that the nodes from `begin` to `end` write or need."""
        tensors = self.graph.tensors
        for index in self._order(self._born(begin, end)):
            root = self.shared.get(index)
            if root is not None:
                if tensors[root].storage == "arena" and tensors[root].size == tensors[index].size:
                    continue
                del self.shared[index]
            first, last = self.first[index], self.last.get(index)
            if tensors[index].storage in IN_ARENA:
                self.placed[index] = self.arena.add(index, tensors[index].size, first, last)
            elif index not in self.persistently and tensors[index].size:
                self.persistently[index] = self.persistent.add(index, tensors[index].size, first, None)

    def _born(self, begin: int, end: int) -> list[int]:
        """The tensors of these nodes that an arena holds; the inputs and variables belong to the first node."""
        born: list[int] = []
        if begin == 0:
            born += sorted({*self.graph.variables, *self.graph.inputs})
        for number in range(begin, min(end + 1, len(self.graph.nodes))):
            node = self.graph.nodes[number]
            for index in node.temporaries:
                self.first[index] = number
                if self.sharing:
                    self.last[index] = number
            born += sorted({*node.outputs, *node.temporaries})
        tensors = self.graph.tensors
        return [
            index
            for index in dict.fromkeys(born)
            if (tensors[index].storage in IN_ARENA and tensors[index].size > 0)
            or tensors[index].storage == "persistent"
        ]

    def _order(self, indices: Sequence[int]) -> list[int]:
        """The order in which tensors are placed."""
        lasting = [i for i in indices if self.first[i] == 0 and i not in self.last]
        rest = [i for i in indices if not (self.first[i] == 0 and i not in self.last)]
        return sorted(lasting) + sorted(rest, key=lambda i: (-self.graph.tensors[i].size, self.first[i]))


def _stages(graph: ArenaGraph) -> Iterator[tuple[int, int]]:
    """The first and the last node of each stage."""
    begin = 0
    for number, node in enumerate(graph.nodes):
        is_last = number == len(graph.nodes) - 1
        if is_last or any(graph.tensors[index].storage in UNSIZED for index in node.outputs):
            yield begin, number
            begin = number + 1
