"""Another order of the nodes in which less is alive at once: a heuristic, for one choice of sizes."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence

from shapeinf.engine.compiled import CompiledGraph
from shapeinf.expr import Dim, Dimension, evaluate
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import ShapeStore
from shapeinf.memory.timeline import Timeline

TYPICAL = 64
"""A size that stands for one that is not known, where its bounds allow it."""


def typical_binding(store: ShapeStore, sizes: Sequence[Dim]) -> dict[str, int]:
    """A value for each symbol of these sizes: 64, or the bound that is nearest to it."""
    symbols = {symbol for size in sizes if isinstance(size, Dimension) for symbol in size.symbols()}
    binding = {}
    for symbol in symbols:
        low, high = store.bounds(symbol)
        binding[symbol.name] = int(min(max(TYPICAL, low), high))
    return dict(sorted(binding.items()))


def bytes_at(size: Dim | None, binding: Mapping[str, int]) -> int:
    """A size at a binding; 0 where it has none there, which is good enough to compare orders."""
    if size is None or isinstance(size, int):
        return size or 0
    try:
        return max(int(evaluate(size, binding)), 0)
    except ZeroDivisionError:
        return 0


def peak_at(timeline: Timeline, binding: Mapping[str, int]) -> int:
    """The most bytes of activations and outputs that are alive at one moment."""
    change = [0] * (len(timeline.points) + 1)
    known: dict[Dim | None, int] = {}
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


def candidates(program: CompiledGraph, weights: Sequence[int], kept: Collection[int]) -> Iterator[list[int]]:
    """Topological orders that may need less than that of the file: greedy ones, from the front and from the back.

    `weights` are the bytes of each slot; the slots in `kept` live to the end.
    """
    yield _Forward(program, weights, kept).order()
    yield _Backward(program, weights).order()[::-1]


class _Greedy:
    """Always takes the node that is ready and costs least: bytes that become alive less those that are freed.

    Costs only fall when a node or a value changes its state, which each does once, so a heap with stale entries left in
    it takes O(E log E).
    """

    def __init__(self, program: CompiledGraph) -> None:
        self.reads = [tuple({slot for slot in row[1] if slot != MISSING}) for row in program.rows]
        self.makes = [tuple({slot for slot in row[2] if slot != UNUSED}) for row in program.rows]
        self.makers = program.producers
        self.readers = program.consumers
        self.costs = [0] * len(program.rows)
        self.waits = [0] * len(program.rows)
        self.heap: list[tuple[int, int, int]] = []
        self.clock = 0

    def cheaper(self, place: int, weight: int) -> None:
        """The cost of a node falls."""
        self.costs[place] -= weight
        if weight and self.waits[place] == 0:
            self.push(place)

    def push(self, place: int) -> None:
        """A node that is ready; of equal costs the one that became so last comes first: it goes on where others end."""
        self.clock -= 1
        heapq.heappush(self.heap, (self.costs[place], self.clock, place))

    def released(self, place: int) -> None:
        """A node waits for one thing less."""
        self.waits[place] -= 1
        if self.waits[place] == 0:
            self.push(place)

    def order(self) -> list[int]:
        """All nodes."""
        for place in reversed(range(len(self.costs))):
            if self.waits[place] == 0:
                self.push(place)
        found: list[int] = []
        done = [False] * len(self.costs)
        while self.heap:
            cost, _, place = heapq.heappop(self.heap)
            if not done[place] and cost == self.costs[place]:
                done[place] = True
                found.append(place)
                self.run(place)
        return found

    def run(self, place: int) -> None:
        """What taking a node means for the others."""
        raise NotImplementedError


class _Forward(_Greedy):
    """In the direction of time: outputs become alive, inputs die with the last node that reads them."""

    def __init__(self, program: CompiledGraph, weights: Sequence[int], kept: Collection[int]) -> None:
        super().__init__(program)
        self.weights = weights
        self.left = [0 if slot in kept else len(readers) for slot, readers in enumerate(self.readers)]
        self.done = [False] * len(self.costs)
        for place, (reads, makes) in enumerate(zip(self.reads, self.makes, strict=True)):
            self.waits[place] = sum(self.makers[slot] is not None for slot in reads)
            self.costs[place] = sum(weights[slot] for slot in makes if self.left[slot] or slot in kept)
            self.costs[place] -= sum(weights[slot] for slot in reads if self.left[slot] == 1)

    def run(self, place: int) -> None:
        """Inputs with one reader left make that one cheaper; the readers of outputs wait for less."""
        self.done[place] = True
        for slot in self.reads[place]:
            self.left[slot] -= 1
            if self.left[slot] == 1:
                for reader in self.readers[slot]:
                    if not self.done[reader]:
                        self.cheaper(reader, self.weights[slot])
        for slot in self.makes[place]:
            for reader in self.readers[slot]:
                self.released(reader)


class _Backward(_Greedy):
    """Against time: inputs become alive with the first node that is seen to read them, outputs die."""

    def __init__(self, program: CompiledGraph, weights: Sequence[int]) -> None:
        super().__init__(program)
        self.weights = weights
        self.alive = [False] * len(self.readers)
        for place, (reads, makes) in enumerate(zip(self.reads, self.makes, strict=True)):
            self.waits[place] = sum(len(self.readers[slot]) for slot in makes)
            self.costs[place] = sum(weights[slot] for slot in reads) - sum(weights[slot] for slot in makes)

    def run(self, place: int) -> None:
        """A value that is alive now costs its other readers nothing; the node that makes it waits for less."""
        for slot in self.reads[place]:
            if not self.alive[slot]:
                self.alive[slot] = True
                for reader in self.readers[slot]:
                    if reader != place:
                        self.cheaper(reader, self.weights[slot])
            maker = self.makers[slot]
            if maker is not None:
                self.released(maker)
