"""Loops out of single nodes, as of TensorFlow's version 1: cycles of nodes that have the form of a loop.

The nodes of a cycle that is a loop form two bodies: the condition, and a trip. Both read the values of the *headers*,
the joins at the top of the loop, which have the first value from outside and later ones over a back edge. A switch of
each header passes its value on to the trip where the condition holds, and out of the loop where it does not.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from shapeinf.engine.compiled import CompiledGraph
from shapeinf.graph import MISSING


@attrs.frozen
class Header:
    """A join at the top of a loop: its row, and the slots of its value in a trip, before and after it.

    `exits` are the slots of the value where the condition does not hold.
    """

    row: int
    value: int
    first: int
    next: int
    exits: tuple[int, ...]


@attrs.frozen
class Frame:
    """A loop: its headers, the slot of its condition, and the rows of a trip, those of the condition included."""

    headers: list[Header]
    condition: int
    rows: list[int]


def find_frame(compiled: CompiledGraph, group: Sequence[int]) -> Frame | None:
    """The loop that the rows of a cycle form; None where they form none, or more than one side by side.

    Loops inside of it are cycles of the rows of a trip.
    """
    inside = set(group)
    headers: list[Header] = []
    conditions: set[int] = set()
    for index in group:
        key, inputs, _, _ = compiled.rows[index]
        op_def = compiled.operations[key].op_def
        if op_def is None or op_def.conditions >= 0 or len(inputs) != 2 or MISSING in inputs:
            continue
        backs = [slot for slot in inputs if _is_back_edge(compiled, slot)]
        outer = [slot for slot in inputs if compiled.producers[slot] not in inside]
        if len(backs) != 1 or len(outer) != 1:
            continue
        header, condition = _header(compiled, index, outer[0], backs[0])
        headers.append(header)
        conditions.add(condition)
    if not headers or len(conditions) != 1 or MISSING in conditions:
        return None
    excluded = {header.row for header in headers}
    return Frame(headers, conditions.pop(), [index for index in group if index not in excluded])


def _is_back_edge(compiled: CompiledGraph, slot: int) -> bool:
    producer = compiled.producers[slot]
    op_def = None if producer is None else compiled.operations[compiled.rows[producer][0]].op_def
    return op_def is not None and op_def.back_edge


def _header(compiled: CompiledGraph, index: int, first: int, back: int) -> tuple[Header, int]:
    """The header in a row, and the slot by which its switches choose; MISSING where it has not one such slot."""
    value = compiled.rows[index][2][0]
    exits: list[int] = []
    conditions: set[int] = set()
    for reader in compiled.consumers[value]:
        key, inputs, outputs, _ = compiled.rows[reader]
        op_def = compiled.operations[key].op_def
        if op_def is not None and op_def.selector is not None and inputs[0] == value:
            conditions.add(inputs[op_def.selector])
            exits.append(outputs[0])
    producer = compiled.producers[back]
    assert producer is not None
    header = Header(index, value, first, compiled.rows[producer][1][0], tuple(exits))
    return header, conditions.pop() if len(conditions) == 1 else MISSING
