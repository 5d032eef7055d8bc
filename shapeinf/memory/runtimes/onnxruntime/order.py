"""The order in which onnxruntime runs the nodes of a graph: depth first from the nodes without readers.

Measured with `execution_order` at its default; docs/runtime-memory.md describes it. A file that a session wrote after
it changed the graph is in this order already, but the order is found again when that file is loaded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from shapeinf.engine.compiled import CompiledGraph, NodeStep
from shapeinf.graph import MISSING
from shapeinf.memory.runtimes.onnxruntime.options import Outline


def execution_order(compiled: CompiledGraph, dropped: Collection[int] = (), *, as_file: bool = False) -> list[int]:
    """The indices of the rows in the order of execution, without the rows of `dropped`, which the session removes.

    `as_file` is for a session that runs the nodes in the order of the file.
    """
    rows = [index for index in compiled.file_order if index not in dropped]
    if as_file:
        return rows
    producers = producers_of(compiled, rows)
    read = {row for inputs in producers.values() for row in inputs}
    return depth_first([row for row in rows if row not in read], producers)


def is_stored(step: NodeStep) -> bool:
    """Whether a node is a constant, which a session stores as an initializer."""
    op_def = step.operation.op_def
    return op_def is not None and op_def.stored


def outlines(compiled: CompiledGraph) -> Iterator[Outline]:
    """The outlines of a graph and of all bodies in it."""
    yield outline_of(compiled)
    for key, *_ in compiled.rows:
        for body in compiled.operations[key].bodies.values():
            if isinstance(body, CompiledGraph):
                yield from outlines(body)


def outline_of(compiled: CompiledGraph) -> Outline:
    """The nodes of a graph in the order of the file, but constants: operators and values, without attributes."""
    names = compiled.names
    steps = [step for index in compiled.file_order if not is_stored(step := compiled.step(index))]
    return tuple(
        [
            (
                step.operation.kind.domain,
                step.operation.kind.op,
                tuple(["" if slot < 0 else names[slot] for slot in step.arguments]),
                tuple(["" if slot < 0 else names[slot] for slot in step.outputs]),
            )
            for step in steps
        ]
    )


def producers_of(compiled: CompiledGraph, rows: Sequence[int]) -> dict[int, list[int]]:
    """For each row those that compute what it or its bodies read, in the order of the file."""
    positions = {row: position for position, row in enumerate(rows)}
    writers = compiled.producers
    producers: dict[int, list[int]] = {}
    for row in rows:
        sources = {writers[slot] for slot in compiled.rows[row][1] if slot != MISSING}
        producers[row] = sorted((r for r in sources if r is not None and r in positions), key=positions.__getitem__)
    return producers


def depth_first(sinks: Sequence[int], producers: Mapping[int, Sequence[int]]) -> list[int]:
    """The post-order from the rows that no other reads; the last of these first, and the last producer first."""
    stack = [(row, False) for row in sinks]
    visited: set[int] = set()
    order: list[int] = []
    while stack:
        row, leave = stack.pop()
        if leave:
            order.append(row)
        elif row not in visited:
            visited.add(row)
            stack.append((row, True))
            stack.extend((producer, False) for producer in producers[row] if producer not in visited)
    return order
