"""An order of the nodes with a smaller peak: a heuristic, evaluated at one choice of sizes."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence

from shapeinf.engine.compiled import CompiledGraph
from shapeinf.engine.inference import Inference
from shapeinf.expr import Dimension, DimSize, evaluate
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import ShapeStore
from shapeinf.memory.buffers import TimelineBuilder
from shapeinf.memory.liveness import NO_VALUE, Liveness
from shapeinf.memory.timeline import Timeline

TYPICAL = 64
"""The size assumed for an unbound dim, where its bounds allow it."""


def least_timeline(
    inference: Inference, builder: TimelineBuilder, liveness: Liveness, file: Timeline
) -> tuple[Timeline, dict[str, int] | None]:
    """The timeline with the smallest peak of several orders, and the sizes at which they are compared.

    Where nodes run in cycles, the timeline of the file and None.
    """
    compiled = inference.compiled
    if compiled.groups is not None:
        return file, None
    sizes = [builder.size(live_range).bytes for live_range in liveness.live_ranges]
    binding = typical_binding(builder.store, [size for size in sizes if size is not None])
    weights = [0] * len(liveness.values)
    outputs = set()
    for slot, index in enumerate(liveness.values):
        role = "" if index == NO_VALUE else liveness.live_ranges[index].role
        if role in ("activation", "output"):
            weights[slot] = bytes_at(sizes[index], binding)
        if role == "output":
            outputs.add(slot)
    best, least = file, peak_at(file, binding)
    for order in candidates(compiled, weights, outputs):
        timeline = builder.timeline(order)
        peak = peak_at(timeline, binding)
        if peak < least:
            best, least = timeline, peak
    return best, binding


def typical_binding(store: ShapeStore, sizes: Sequence[DimSize]) -> dict[str, int]:
    """A value for each symbol of these sizes: 64, or the bound nearest to it."""
    symbols = {symbol for size in sizes if isinstance(size, Dimension) for symbol in size.symbols()}
    binding = {}
    for symbol in symbols:
        low, high = store.bounds(symbol)
        binding[symbol.name] = int(min(max(TYPICAL, low), high))
    return dict(sorted(binding.items()))


def bytes_at(size: DimSize | None, binding: Mapping[str, int]) -> int:
    """A size at a binding; 0 where it is not defined there, which is good enough to compare orders."""
    if size is None or isinstance(size, int):
        return size or 0
    try:
        return max(int(evaluate(size, binding)), 0)
    except ZeroDivisionError:
        return 0


def peak_at(timeline: Timeline, binding: Mapping[str, int]) -> int:
    """The most bytes of activations and outputs alive at one program point."""
    change = [0] * (len(timeline.points) + 1)
    known: dict[DimSize | None, int] = {}
    for buffer in timeline.buffers:
        if buffer.role in ("activation", "output"):
            size = known.get(buffer.size)
            if size is None:
                size = known[buffer.size] = bytes_at(buffer.size, binding)
            change[buffer.birth] += size
            change[buffer.death] -= size
    most = alive = 0
    for step in change:
        alive += step
        most = max(most, alive)
    return most


def candidates(compiled: CompiledGraph, weights: Sequence[int], outputs: Collection[int]) -> Iterator[list[int]]:
    """Topological orders that may have a smaller peak: greedy ones, from the front and from the back.

    `weights` are the bytes of each slot; the slots in `outputs` live to the end.
    """
    yield _Forward(compiled, weights, outputs).order()
    yield _Backward(compiled, weights).order()[::-1]


class _Greedy:
    """List scheduling: takes the ready node of least cost, which is the bytes that become alive less those freed.

    Costs only fall when a node or a value changes its state, which each does once, so a heap that
    keeps stale entries takes O(E log E).
    """

    def __init__(self, compiled: CompiledGraph) -> None:
        self.reads = [tuple({slot for slot in row[1] if slot != MISSING}) for row in compiled.rows]
        self.writes = [tuple({slot for slot in row[2] if slot != UNUSED}) for row in compiled.rows]
        self.producers = compiled.producers
        self.consumers = compiled.consumers
        self.costs = [0] * len(compiled.rows)
        self.pending = [0] * len(compiled.rows)
        self.heap: list[tuple[int, int, int]] = []
        self.clock = 0

    def lower_cost(self, node: int, weight: int) -> None:
        """Lower the cost of a node."""
        self.costs[node] -= weight
        if weight and self.pending[node] == 0:
            self.push(node)

    def push(self, node: int) -> None:
        """Queue a ready node; of equal costs the one that became ready last comes first."""
        self.clock -= 1
        heapq.heappush(self.heap, (self.costs[node], self.clock, node))

    def release(self, node: int) -> None:
        """Count down the tensors that a node waits for, and queue it when none is left."""
        self.pending[node] -= 1
        if self.pending[node] == 0:
            self.push(node)

    def order(self) -> list[int]:
        """All nodes, in the order in which they are taken."""
        for node in reversed(range(len(self.costs))):
            if self.pending[node] == 0:
                self.push(node)
        schedule: list[int] = []
        done = [False] * len(self.costs)
        while self.heap:
            cost, _, node = heapq.heappop(self.heap)
            if not done[node] and cost == self.costs[node]:
                done[node] = True
                schedule.append(node)
                self.take(node)
        return schedule

    def take(self, node: int) -> None:
        """Update costs and ready nodes after a node is taken."""
        raise NotImplementedError


class _Forward(_Greedy):
    """In the direction of time: outputs become alive, inputs die with their last consumer."""

    def __init__(self, compiled: CompiledGraph, weights: Sequence[int], outputs: Collection[int]) -> None:
        super().__init__(compiled)
        self.weights = weights
        self.uses = [0 if slot in outputs else len(consumers) for slot, consumers in enumerate(self.consumers)]
        self.done = [False] * len(self.costs)
        for node, (reads, writes) in enumerate(zip(self.reads, self.writes, strict=True)):
            self.pending[node] = sum(self.producers[slot] is not None for slot in reads)
            self.costs[node] = sum(weights[slot] for slot in writes if self.uses[slot] or slot in outputs)
            self.costs[node] -= sum(weights[slot] for slot in reads if self.uses[slot] == 1)

    def take(self, node: int) -> None:
        """Lower the cost of the last consumer of each input; release the consumers of the outputs."""
        self.done[node] = True
        for slot in self.reads[node]:
            self.uses[slot] -= 1
            if self.uses[slot] == 1:
                for consumer in self.consumers[slot]:
                    if not self.done[consumer]:
                        self.lower_cost(consumer, self.weights[slot])
        for slot in self.writes[node]:
            for consumer in self.consumers[slot]:
                self.release(consumer)


class _Backward(_Greedy):
    """Against time: inputs become alive with the first consumer that is taken, outputs die."""

    def __init__(self, compiled: CompiledGraph, weights: Sequence[int]) -> None:
        super().__init__(compiled)
        self.weights = weights
        self.alive = [False] * len(self.consumers)
        for node, (reads, writes) in enumerate(zip(self.reads, self.writes, strict=True)):
            self.pending[node] = sum(len(self.consumers[slot]) for slot in writes)
            self.costs[node] = sum(weights[slot] for slot in reads) - sum(weights[slot] for slot in writes)

    def take(self, node: int) -> None:
        """Lower the cost of the other consumers of a value that becomes alive; release its producer."""
        for slot in self.reads[node]:
            if not self.alive[slot]:
                self.alive[slot] = True
                for consumer in self.consumers[slot]:
                    if consumer != node:
                        self.lower_cost(consumer, self.weights[slot])
            producer = self.producers[slot]
            if producer is not None:
                self.release(producer)
