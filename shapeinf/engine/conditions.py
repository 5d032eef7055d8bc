"""Nodes that may not run: those behind a node that makes its readers conditional, such as a switch of TensorFlow.

They add no constraints, and their errors are warnings. `OpDef.conditions` states how many more conditions the readers
of a node depend on than the node itself: 1 for a switch, -1 for the join of its branches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapeinf.graph import Row, RowKey
from shapeinf.ops import OpDef

_Guard = tuple[int, "_Guard | None"]
"""The conditions that a row depends on, as a linked list: the slot of the innermost one, and the guard around it."""


def conditional_rows(rows: Sequence[Row], op_defs: Mapping[RowKey, OpDef | None]) -> list[bool]:
    """For each row whether it may not run.

    The depth of a row is the number of conditions that must hold for it to run: the largest of the depths behind its
    inputs. A join of inputs under the same condition ends that condition; of different conditions none may hold.
    """
    producers = {slot: index for index, row in enumerate(rows) for slot in row[2] if slot >= 0}
    back_edges = {index for index, row in enumerate(rows) if _is_back_edge(op_defs[row[0]])}
    depths, after = [1] * len(rows), [1] * len(rows)  # in a cycle without a back edge nothing is certain to run
    guards: list[_Guard | None] = [None] * len(rows)
    for index in _sort_rows(rows, producers, back_edges):
        key, inputs, _, _ = rows[index]
        sources = [producers[slot] for slot in inputs if slot in producers]
        outer = [source for source in sources if source not in back_edges]
        depths[index] = max((after[source] for source in outer), default=0)
        deepest = [guards[source] for source in outer if after[source] == depths[index]]
        guard = deepest[0] if deepest else None
        same = len({innermost and innermost[0] for innermost in deepest}) <= 1
        op_def = op_defs[key]
        change = 0 if op_def is None else op_def.conditions
        joins_iterations = change < 0 and len(outer) < len(sources)
        if change < 0 and not joins_iterations and same:
            depths[index] = max(depths[index] + change, 0)
            for _ in range(-change):
                guard = guard and guard[1]
        elif guard is not None and not same:
            guard = -index - 1, guard[1]  # several conditions count as one that no other row has
        after[index] = depths[index] + max(change, 0)
        guards[index] = (inputs[-1], guard) if change > 0 else guard
    return [depth > 0 for depth in depths]


def _is_back_edge(op_def: OpDef | None) -> bool:
    return op_def is not None and op_def.back_edge


def _sort_rows(rows: Sequence[Row], producers: Mapping[int, int], back_edges: set[int]) -> list[int]:
    """The indices of the rows, each after its producers but for back edges; without rows of other cycles."""
    waiting = [0] * len(rows)
    readers: list[list[int]] = [[] for _ in rows]
    for index, (_, inputs, _, _) in enumerate(rows):
        for source in {producers[slot] for slot in inputs if slot in producers} - back_edges:
            waiting[index] += 1
            readers[source].append(index)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    for index in ready:
        for reader in readers[index]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                ready.append(reader)
    return ready
