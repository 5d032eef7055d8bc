"""Cycles of a graph, such as the loops of TensorFlow's version 1: their nodes run until no type changes (a fixpoint).

An inference runs the nodes of a cycle again and again, in order, where an input has changed; a value that no node has
computed yet is absent (bottom). Joins relax the types of iterations at *join points*, whose bounds widen a few
times at most, and the outputs of a node that still changes are joined at the node itself, so that the iterations end.

The values behind a cycle that is a loop (see `frames`) follow by the rule of loops of functions.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence

import attrs

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.frames import Frame, find_frame
from shapeinf.engine.inference import Inference
from shapeinf.engine.type_table import unknown_type
from shapeinf.errors import NotKnown, ShapeError, Source
from shapeinf.expr import Dimension, DimSize
from shapeinf.graph import MISSING, components_of
from shapeinf.lattice import Condition, ShapeStore, TensorType, Type
from shapeinf.ops import Body, InferenceContext
from shapeinf.ops.opdef import LoopRule

MAX_VISITS = 64
"""Visits of one node after which its outputs are joined at the node itself."""


def run_group(inference: Inference, group: list[int]) -> None:
    """Run a single node, or the nodes of a cycle."""
    if inference.compiled.is_cycle(group):
        run_cycle(inference, group)
    else:
        inference.visit(inference.compiled.step(group[0]))


def run_cycle(inference: Inference, group: list[int]) -> None:
    """Run the nodes of a cycle, by index, to their fixpoint; then infer the values behind a loop."""
    relaxer = inference.store.relaxer
    relaxer.cycles += 1
    try:
        _iterate(inference, group)
    finally:
        relaxer.cycles -= 1
    share_exit_types(inference, group)
    leave_loop(inference, group)


def _iterate(inference: Inference, group: list[int]) -> None:
    """Visit the nodes of a worklist, in order, until it is empty.

    When the bounds of a join point widen, what was proved under the narrower ones may not hold: the store returns to
    its state at the start, and all nodes run again.
    """
    store, before = inference.store, inference.store.copy()
    consumers = inference.compiled.dependents
    widenings = store.relaxer.widenings
    inside = set(group)
    heap, queued = sorted(group), set(group)
    visits = dict.fromkeys(group, 0)
    while heap:
        index = heapq.heappop(heap)
        queued.discard(index)
        step = inference.compiled.step(index)
        if not _is_ready(inference, step):
            continue
        visits[index] += 1
        changed = inference.visit(step, relax=visits[index] > MAX_VISITS)
        readers = {reader for slot in changed for reader in consumers[slot] if reader in inside}
        if store.relaxer.widenings != widenings:
            widenings = store.relaxer.widenings
            store.reset(before)
            inference.forget_calls()
            readers = inside
        for reader in readers - queued:
            queued.add(reader)
            heapq.heappush(heap, reader)


def _is_ready(inference: Inference, step: NodeStep) -> bool:
    """Whether a node can run: with all inputs present, a join (a variadic rule of optional inputs) with one."""
    present = [inference.numbers[slot] != 0 for slot in step.inputs if slot != MISSING]
    call = step.operation.call
    joins = call is not None and call.rule.variadic and call.rule.params[-1].optional
    return any(present) if joins else all(present)


def leave_loop(inference: Inference, group: list[int]) -> None:
    """Infer the values behind the loop that a cycle is, whose nodes have run; other cycles are skipped."""
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
    c = context(op_def, (), {}, inference.store, f"{inference.path}{step.node_name}")
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
                run_group(child, group)
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
        pending = [compiled.producers[slot] for slot in self.outputs]
        while pending:
            index = pending.pop()
            if index in rows and index not in needed:
                assert index is not None
                needed.add(index)
                pending += [compiled.producers[slot] for slot in compiled.rows[index][1] if slot != MISSING]
                pending += [compiled.producers[slot] for slot, _ in compiled.guards.rows.get(index, ())]
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

    def repeat(self, trips: DimSize, number: Dimension | None = None) -> None:
        """See `shapeinf.ops.Body`; reports have the nodes of the loop itself."""

    def require_common(self, other: Body) -> None:
        """See `shapeinf.ops.Body`; nodes behind a switch require nothing."""

    def require_inputs(self, inputs: Sequence[Type | None]) -> None:
        """See `shapeinf.ops.Body`; nodes behind a switch require nothing."""
