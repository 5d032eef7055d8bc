"""Nodes that may not run: those behind a node that makes its readers conditional, such as a switch of TensorFlow.

They add no constraints, and their errors are warnings. `OpDef.conditions` states how many more conditions the readers
of a node depend on than the node itself: 1 for a switch, -1 for the join of its branches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from shapeinf.graph import Row, RowKey
from shapeinf.lattice import Condition, Element, TensorType, Type
from shapeinf.lattice.truths import Truth, logical_and, logical_not
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
        condition = inputs[-1] if inputs else -index - 1  # a malformed node may have no inputs
        guards[index] = (condition, guard) if change > 0 else guard
    return [depth > 0 for depth in depths]


Selection = tuple[int, bool]
"""A slot with a bool, and the value of it under which a row runs."""

Guard = frozenset[Selection]
"""The selections that must hold for a row to run, or for a value to exist."""


class Guards(NamedTuple):
    """The guards of the rows of a graph, without those that are empty.

    Args:
        rows: for each row its guard.
        joins: for each row that joins branches, for each input what must hold for it besides the guard of the row.
        readers: for each slot with a bool the rows that depend on it.
    """

    rows: Mapping[int, Guard]
    joins: Mapping[int, Sequence[Guard]]
    readers: Mapping[int, Sequence[int]]


def find_guards(rows: Sequence[Row], op_defs: Mapping[RowKey, OpDef | None]) -> Guards:
    """The guards of all rows: a value exists where all inputs of its node do, of a join where one of them does.

    A value that leaves a loop exists where the loop does. Rows in other cycles have no guard.
    """
    producers = {slot: index for index, row in enumerate(rows) for slot in row[2] if slot >= 0}
    back_edges = {index for index, row in enumerate(rows) if _is_back_edge(op_defs[row[0]])}
    none: Guard = frozenset()
    values: dict[int, Guard] = {}
    guards: dict[int, Guard] = {}
    joins: dict[int, Sequence[Guard]] = {}
    for index in _sort_rows(rows, producers, back_edges):
        key, inputs, outputs, _ = rows[index]
        op_def = op_defs[key]
        outer = [values.get(slot, none) for slot in inputs if producers.get(slot) not in back_edges]
        guard = none.union(*outer)
        change = 0 if op_def is None else op_def.conditions
        if change < -1 and inputs:  # it reads a switch of the loop, which runs whenever the loop does
            guard = guards.get(producers.get(inputs[0], -1), none)
        elif change < 0 and outer:
            guard = outer[0].intersection(*outer)
            if len(outer) == len(inputs):
                joins[index] = [each - guard for each in outer]
        guards[index] = guard
        selector = None if op_def is None else op_def.selector
        for position, slot in enumerate(outputs):
            chosen = selector is not None and selector < len(inputs)
            values[slot] = guard | {(inputs[selector], position == 1)} if chosen else guard  # type: ignore[index]
    readers: dict[int, list[int]] = {}
    for index in range(len(rows)):
        needed = guards.get(index, none).union(*joins.get(index, ()))
        for slot in {slot for slot, _ in needed}:
            readers.setdefault(slot, []).append(index)
    return Guards({index: guard for index, guard in guards.items() if guard}, joins, readers)


def truths_of_join(index: int, guards: Guards, type_of: Callable[[int], Type | None]) -> list[Truth]:
    """What holds where each input of a join has a value, by the types of slots; empty for other rows.

    An input without a guard may have one by control edges, which graphs do not keep: of two inputs one has a value.
    """
    inputs = guards.joins.get(index, ())
    truths = [truth_of(guard, type_of) if guard else None for guard in inputs]
    if len(inputs) == 2 and bool(inputs[0]) != bool(inputs[1]):
        guarded = truths[0] if inputs[0] else truths[1]
        truths = [guarded if guard else logical_not(guarded) for guard in inputs]
    return truths


def truth_of(guard: Iterable[Selection], type_of: Callable[[int], Type | None]) -> Truth:
    """Whether all parts of a guard hold, by the types of slots; None where nothing is known of them."""
    result: Element = True
    for slot, value in sorted(guard):
        selected = type_of(slot)
        known = selected.elements if isinstance(selected, TensorType) else None
        part = known[0] if known and len(known) == 1 else None
        truth = part if isinstance(part, (bool, Condition)) else None
        result = logical_and(result, truth if value else logical_not(truth))
    return result if isinstance(result, (bool, Condition)) else None


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
