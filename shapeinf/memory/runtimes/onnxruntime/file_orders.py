"""Orders of the nodes in a file with which onnxruntime may run them in an order that needs less memory.

A session runs nodes depth first, see `order`: of several producers the last one in the file runs first. So a file that
has early nodes as late as their readers allow runs nearly in the wanted order; what a session does with it is predicted
anew.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

from shapeinf.engine.compiled import CompiledGraph
from shapeinf.graph import UNUSED
from shapeinf.memory.order import candidates
from shapeinf.memory.runtimes.onnxruntime.order import depth_first, execution_order, producers_of
from shapeinf.memory.timeline import Buffer


def node_orders(compiled: CompiledGraph, buffers: Sequence[tuple[Buffer, int]]) -> Iterator[list[int]]:
    """Orders of the rows of a graph that may have a smaller peak; `buffers` are those of a run, with their bytes."""
    bytes_of = {name: (size, name == buffer.values[0]) for buffer, size in buffers for name in buffer.values}
    held = [bytes_of.get(name, (0, False)) for name in compiled.names]
    new = [size if is_first else 0 for size, is_first in held]
    outputs = {compiled.slots[name] for name in compiled.graph.outputs}
    yield _larger_branch_first(compiled, new, [size for size, _ in held])
    if compiled.groups is None:
        yield from candidates(compiled, new, outputs)


def _larger_branch_first(compiled: CompiledGraph, new: Sequence[int], held: Sequence[int]) -> list[int]:
    """Depth first, and of the producers of a node first the one that needs the most besides its result.

    This is least for trees (Sethi and Ullman); values with several readers are counted for each of them. `new` are the
    bytes that a node allocates for a value, `held` those of the buffer that the value is in.
    """
    order = execution_order(compiled)
    producers = producers_of(compiled, order)
    written = {row: [slot for slot in compiled.rows[row][2] if slot != UNUSED] for row in order}
    result = {row: sum(held[slot] for slot in written[row]) for row in order}
    need: dict[int, int] = {}
    for row in order:
        producers[row].sort(key=lambda other: need[other] - result[other])
        alive = most = 0
        for producer in reversed(producers[row]):
            most = max(most, alive + need[producer])
            alive += result[producer]
        need[row] = max(most, alive + sum(new[slot] for slot in written[row]))
    read = {row for inputs in producers.values() for row in inputs}
    sinks = sorted((row for row in order if row not in read), key=lambda row: need[row] - result[row])
    return depth_first(sinks, producers)


def file_order(compiled: CompiledGraph, ranks: Mapping[str, int]) -> tuple[int, ...]:
    """The indices of the nodes of a file in an order with which their values are computed by their `ranks`.

    A value without a rank, which a session removes, has that of its first reader.
    """
    files = compiled.file_order
    positions = {row: position for position, row in enumerate(files)}
    producers = producers_of(compiled, files)
    rank = dict.fromkeys(files, len(files))
    readers: dict[int, list[int]] = {row: [] for row in files}
    for row in reversed(execution_order(compiled)):
        names = (compiled.names[slot] for slot in compiled.rows[row][2] if slot != UNUSED)
        known = [ranks[name] for name in names if name in ranks]
        rank[row] = min(known or [rank[row]])
        for producer in producers[row]:
            rank[producer] = min(rank[producer], rank[row])
            readers[producer].append(row)
    waiting = {row: len(producers[row]) for row in files}
    ready = [(-rank[row], positions[row], row) for row in files if not waiting[row]]
    heapq.heapify(ready)
    order = []
    while ready:
        _, position, row = heapq.heappop(ready)
        order.append(position)
        for reader in readers[row]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, (-rank[reader], positions[reader], reader))
    return tuple(order)
