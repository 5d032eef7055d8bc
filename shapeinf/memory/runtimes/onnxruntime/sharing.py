"""Which values of a graph share a buffer: the plan that a session of onnxruntime makes once, before it knows any size.

It walks the nodes in the order of execution and counts the readers that remain of each buffer. A value shares the
buffer of an input (an alias, or a kernel that writes in place), or the first free buffer of the same size.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import attrs

from shapeinf.engine.compiled import NodeStep
from shapeinf.graph import MISSING, UNUSED
from shapeinf.memory.runtimes.kernels import RuntimeKernels
from shapeinf.memory.runtimes.onnxruntime.node_inference import PlannerShape

_Size = tuple[int, tuple[int | str | None, ...]]
"""The bits of an element and the shape of a value; values of equal sizes may share a buffer."""


class PlannedValues(Protocol):
    """What the plan reads of the values of a graph, by slot."""

    def shape(self, slot: int) -> PlannerShape:
        """The shape that the session knows; None for an unknown rank."""

    def width(self, slot: int) -> int | None:
        """The bits of an element; None for texts, and for values that are not tensors."""


@attrs.frozen
class PlannedGraph:
    """A graph to plan.

    Args:
        steps: the nodes in the order of execution.
        slots: the number of values.
        outputs: the outputs of the graph.
        held: the values that are not computed here: inputs, initializers, outer values.
        passed_on: the inputs of a body whose copies share their buffer, also as outputs of the body.
    """

    steps: Sequence[NodeStep]
    slots: int
    outputs: Collection[int]
    held: Collection[int]
    passed_on: Collection[int] = ()


def plan_buffers(
    graph: PlannedGraph, values: PlannedValues, kernels: RuntimeKernels, *, reuse: bool = True
) -> list[int]:
    """For each value the one whose buffer it uses: itself, or an earlier one.

    `reuse` is for free buffers (`enable_mem_reuse`); aliases and kernels that write in place share without it.
    """
    plan = _Plan(graph, values, kernels, reuse)
    for step in graph.steps:
        plan.visit(step)
    return plan.buffer


class _Plan:
    """The buffer of each value, the readers that remain of each buffer, and the free buffers by their size."""

    def __init__(self, graph: PlannedGraph, values: PlannedValues, kernels: RuntimeKernels, reuse: bool) -> None:
        self.graph = graph
        self.values = values
        self.kernels = kernels
        self.reuse = reuse
        self.buffer = list(range(graph.slots))
        self.free: dict[_Size, list[int]] = {}
        """The newest buffers of a size are last; those of an unknown size are never used again."""
        self.uses = [1] * graph.slots
        for slot in (*graph.outputs, *graph.held):
            self.uses[slot] += 1
        for step in graph.steps:
            for slot in step.inputs:
                if slot != MISSING:
                    self.uses[slot] += 1

    def visit(self, step: NodeStep) -> None:
        """Choose the buffers of the outputs of a node, then release what it reads and defines."""
        for position, slot in enumerate(step.outputs):
            if slot != UNUSED:
                self._share(slot, self._source(step, position, slot))
        for slot in (*step.inputs, *step.outputs):
            if slot >= 0:
                self._release(self.buffer[slot])

    def _source(self, step: NodeStep, position: int, slot: int) -> int:
        """The value whose buffer an output uses."""
        kind, version = step.operation.kind, step.operation.version
        alias = self.kernels.find_alias(kind.domain, kind.op, version) if position == 0 else None
        source = _input(step, alias)
        if slot in self.graph.outputs:
            passes_on = source in self.graph.passed_on and self.kernels.is_passing_on(kind.domain, kind.op)
            return source if passes_on else slot
        if source != MISSING:
            return source
        in_place = self.kernels.find_in_place(kind.domain, kind.op, version) if position == 0 else None
        source = _input(step, in_place)
        if source != MISSING and self.uses[self.buffer[source]] == 1 and self._have_same_size(source, slot):
            return source
        return self._free_buffer(slot) if self.reuse else slot

    def _free_buffer(self, slot: int) -> int:
        """The newest free buffer of the size of a value, which is then in use; the value itself without one."""
        size = self._size(slot)
        if size is None or not size[1]:  # of an unknown size, or a scalar
            return slot
        buffers = self.free.get(size)
        return buffers.pop() if buffers else slot

    def _share(self, slot: int, source: int) -> None:
        if source != slot:
            buffer = self.buffer[slot] = self.buffer[source]
            self.uses[buffer] += self.uses[slot]

    def _release(self, buffer: int) -> None:
        self.uses[buffer] -= 1
        if self.uses[buffer] == 0:
            size = self._size(buffer)
            if size is not None:
                self.free.setdefault(size, []).append(buffer)

    def _have_same_size(self, a: int, b: int) -> bool:
        """Whether elements have one width, and all dims are equal numbers or equal names."""
        size = self._size(a)
        return size is not None and size == self._size(b)

    def _size(self, slot: int) -> _Size | None:
        """The width of the elements and the shape of a value; None where the session does not know them."""
        width, shape = self.values.width(slot), self.values.shape(slot)
        return None if width is None or shape is None or None in shape else (width, shape)


def _input(step: NodeStep, position: int | None) -> int:
    """The slot of an input; MISSING where the node has none there."""
    arguments = step.arguments
    return MISSING if position is None or position >= len(arguments) else arguments[position]
