"""Loops out of single nodes, as of TensorFlow's version 1: the values behind a loop by the rule of loops of functions.

The nodes of a cycle that is a loop form two bodies: the condition, and a trip. Both read the values of the *headers*,
the joins at the top of the loop, which have the first value from outside and later ones over a back edge. A switch of
each header passes its value on to the trip where the condition holds, and out of the loop where it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from shapeinf.engine.compiled import CompiledGraph
from shapeinf.engine.inference import Inference
from shapeinf.engine.type_table import unknown_type
from shapeinf.errors import NotKnown, ShapeError, Source
from shapeinf.expr import Dim, Dimension
from shapeinf.graph import MISSING, components_of
from shapeinf.lattice import Condition, ShapeStore, TensorType, Type
from shapeinf.ops import Body, InferenceContext
from shapeinf.ops.opdef import LoopRule


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


def leave_loop(inference: Inference, group: list[int]) -> None:
    """Infer the values behind the loop that a cycle is, whose nodes have run; other cycles are left alone."""
    frame = find_frame(inference.compiled, group)
    if frame is None:
        return
    step = inference.compiled.step(frame.headers[0].row)
    op_def = step.operation.op_def
    first = [inference.type_of(header.first) for header in frame.headers]
    entering = [value for value in first if value is not None]
    if op_def is None or op_def.loop is None or len(entering) < len(first):
        return
    rule: LoopRule = op_def.loop
    context = op_def.context or InferenceContext
    c = context(op_def, (), {}, inference.store, f"{inference.path}{step.site}")
    test = FrameBody(inference, frame, [frame.condition])
    trip = FrameBody(inference, frame, [header.next for header in frame.headers])
    before = inference.store.copy()
    try:
        results = rule(c, test, trip, entering)
    except (ShapeError, NotKnown):  # what is known without the rule stays
        inference.store.reset(before)
        return
    for header, value in zip(frame.headers, results, strict=True):
        number = inference.table.add_any(value)
        inference.exits.update(dict.fromkeys(header.exits, number))


def share_exit_types(inference: Inference, rows: Iterable[int]) -> None:
    """Give what leaves a loop the type behind it already at its switch: it has a value only after the last trip."""
    compiled = inference.compiled
    for index in rows:
        key, inputs, outputs, _ = compiled.rows[index]
        if compiled.operations[key].leaves_loop and len(inputs) == len(outputs) == 1 and MISSING not in inputs:
            inference.numbers[inputs[0]] = inference.numbers[outputs[0]]


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


@attrs.define(eq=False)
class FrameBody:
    """Part of a loop as a body, see `shapeinf.ops.Body`: it takes the values of the headers and returns some slots."""

    outer: Inference
    frame: Frame
    outputs: list[int]
    last: Inference | None = None

    @property
    def num_inputs(self) -> int:
        """The number of loop variables."""
        return len(self.frame.headers)

    @property
    def num_outputs(self) -> int:
        """The number of outputs."""
        return len(self.outputs)

    def declared_rank(self, index: int) -> int | None:
        """See `shapeinf.ops.Body`."""
        return None

    def run(
        self,
        inputs: Sequence[Type | None],
        *,
        certain: bool,
        accumulate: bool = False,
        trip: int | None = None,
        condition: Condition | None = None,
    ) -> list[Type]:
        """See `shapeinf.ops.Body`. The rows of a trip have the condition of the loop as their guard in any case."""
        outer = self.outer
        outer.require_run(len(self.frame.rows))
        child = self.last = outer.what_if_copy()
        for header, value in zip(self.frame.headers, inputs, strict=True):
            child.numbers[header.value] = 0 if value is None else outer.table.add_any(value)
        with outer.store.relaxer.inside(f"{self.frame.headers[0].row}:{'any' if trip is None else trip};"):
            for group in self._groups():
                child.run_group(group)
        return self.returned

    @property
    def returned(self) -> list[Type]:
        """See `shapeinf.ops.Body`."""
        if self.last is None:
            return []
        outputs = (self.last.type_of(slot) for slot in self.outputs)
        return [unknown_type() if output is None else output for output in outputs]

    def _groups(self) -> Iterator[list[int]]:
        """The rows that the outputs need, in order; those of an inner loop together."""
        compiled, rows = self.outer.compiled, set(self.frame.rows)
        needed: set[int] = set()
        left = [compiled.producers[slot] for slot in self.outputs]
        while left:
            index = left.pop()
            if index in rows and index not in needed:
                assert index is not None
                needed.add(index)
                left += [compiled.producers[slot] for slot in compiled.rows[index][1] if slot != MISSING]
                left += [compiled.producers[slot] for slot, _ in compiled.guards.rows.get(index, ())]
        readers = {
            index: [
                reader
                for slot in compiled.rows[index][2]
                if slot >= 0
                for reader in compiled.dependents[slot]
                if reader in needed
            ]
            for index in needed
        }
        yield from components_of(readers)

    def preview(self, inputs: Sequence[Type | None]) -> list[Type]:
        """See `shapeinf.ops.Body`."""
        return self.run(inputs, certain=False)

    @property
    def store(self) -> ShapeStore:
        """See `shapeinf.ops.Body`."""
        store = self.outer.store
        value = None if self.last is None else self.last.type_of(self.frame.condition)
        holds = value.elements[0] if isinstance(value, TensorType) and value.elements else None
        if not isinstance(holds, Condition):
            return store
        return store.under(holds.expression, Source("", "the condition of the loop"))

    @property
    def failure(self) -> str:
        """See `shapeinf.ops.Body`."""
        return ""

    def repeat(self, trips: Dim, number: Dimension | None = None) -> None:
        """See `shapeinf.ops.Body`; reports have the nodes of the loop itself."""

    def require_common(self, other: Body) -> None:
        """See `shapeinf.ops.Body`; nodes behind a switch require nothing."""

    def require_inputs(self, inputs: Sequence[Type | None]) -> None:
        """See `shapeinf.ops.Body`; nodes behind a switch require nothing."""
