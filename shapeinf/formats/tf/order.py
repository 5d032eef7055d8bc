"""The order of nodes: each one after the nodes whose values it reads and those of its control edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shapeinf.errors import CyclicGraphError
from shapeinf.formats.tf.attributes import text
from shapeinf.formats.tf.nodes import Record

_MERGES = frozenset({"Merge", "RefMerge"})
_BACK_EDGES = frozenset({"NextIteration", "RefNextIteration"})
_MAX_NAMES = 8


def producer_of(name: bytes) -> bytes:
    """The node in an input of a node: `node`, `node:1`, `node:output:0` or, for a control edge, `^node`."""
    return name.removeprefix(b"^").partition(b":")[0]


def execution_order(records: Sequence[Record]) -> tuple[Sequence[Record], bool]:
    """The nodes in an order of execution, and whether loops feed values back (NextIteration to Merge).

    Nodes that are in order stay as they are, and the others move as little as possible. Raises CyclicGraphError for a
    cycle of any other kind.
    """
    if _is_ordered(records):
        return records, False
    indices = {record.name: index for index, record in enumerate(records)}
    back_edges = False
    producers: list[list[int]] = []
    for record in records:
        listed = [indices[name] for name in map(producer_of, record.inputs) if name in indices]
        if record.attributes.kind.op in _MERGES:
            forward = [index for index in listed if records[index].attributes.kind.op not in _BACK_EDGES]
            back_edges |= len(forward) < len(listed)
            listed = forward
        producers.append(listed)
    return [records[index] for index in _sort_depth_first(records, producers)], back_edges


def _is_ordered(records: Iterable[Record]) -> bool:
    previous: set[bytes] = set()
    for name, inputs, _ in records:
        for value in inputs:
            if value not in previous and producer_of(value) not in previous:
                return False
        previous.add(name)
    return True


def _sort_depth_first(records: Sequence[Record], producers: Sequence[Sequence[int]]) -> list[int]:
    """The indices in depth-first order, from each node in the order of the file."""
    order: list[int] = []
    reached, done = [False] * len(records), [False] * len(records)
    for root in range(len(records)):
        path = [] if done[root] else [(root, iter(producers[root]))]
        while path:
            node, rest = path[-1]
            reached[node] = True
            waiting = next((index for index in rest if not done[index]), None)
            if waiting is None:
                path.pop()
                done[node] = True
                order.append(node)
            elif reached[waiting]:
                members = [index for index, _ in path]
                raise _cycle(records, members[members.index(waiting) :])
            else:
                path.append((waiting, iter(producers[waiting])))
    return order


def _cycle(records: Sequence[Record], members: Sequence[int]) -> CyclicGraphError:
    names = [text(records[index].name) for index in members]
    return CyclicGraphError(f"the graph has a cycle through {', '.join(names[:_MAX_NAMES])}", node=names[0])
