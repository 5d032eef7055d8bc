"""What a session of onnxruntime holds after it is created: initializers, and weights packed for their kernels.

Data in other files are mapped, not allocated; a packed copy of them is. A packed weight replaces its initializer where
nothing else reads it, and equal packed weights are one buffer: those of the same part of a file. These buffers lie
outside the regions of the arena.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from shapeinf.engine.compiled import NodeStep
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.graph import MISSING
from shapeinf.memory.runtimes.onnxruntime.temporaries import kernel_context
from shapeinf.memory.sizes import Size

if TYPE_CHECKING:
    from shapeinf.memory.runtimes.onnxruntime.walk import GraphRun


@attrs.frozen(eq=False)
class _Uses:
    """The initializers of one graph that kernels use: as they are, and packed for an operator, with the buffers."""

    plain: set[int] = attrs.Factory(set)
    packed: dict[tuple[int, str], list[DimSize]] = attrs.Factory(dict)


class HeldWeights:
    """The weights of the graphs of a model."""

    def __init__(self, external: Mapping[str, object]) -> None:
        """`external` has, by name of an initializer whose data are in another file, the part of the file."""
        self.external = external
        self._shared: set[object] = set()
        """The parts of files that are packed."""

    def buffers(self, runs: Sequence[GraphRun]) -> Iterator[tuple[str, Size]]:
        """The names and bytes of the buffers for the graphs that run; a body may read the initializers of others."""
        uses: dict[GraphRun, _Uses] = {run: _Uses(run.outputs & run.own_constants) for run in runs}
        for run in runs:
            _add_uses(run, uses)
        for run in runs:
            yield from self._buffers_of(run, uses[run])

    def _buffers_of(self, run: GraphRun, uses: _Uses) -> Iterator[tuple[str, Size]]:
        names, path = run.compiled.names, run.instance.path
        for slot in sorted(uses.plain):
            if names[slot] not in self.external:
                yield path + names[slot], run.size(slot)
        for (slot, op), sizes in sorted(uses.packed.items()):
            part = self.external.get(names[slot])
            if part is None or (part, op, tuple(sizes)) not in self._shared:
                self._shared.add((part, op, tuple(sizes)))
                yield from ((f"{path}{names[slot]} packed", Size(amount)) for amount in sizes)


def _add_uses(run: GraphRun, uses: Mapping[GraphRun, _Uses]) -> None:
    """Add the initializers that the nodes of a graph read, each to the graph that it belongs to."""
    for step in run.steps:
        buffers = _packed(run, step)
        for position, slot in enumerate(step.arguments):
            if slot == MISSING or slot not in run.constants:
                continue
            owner, constant = run.owner_of(slot)
            if position in buffers:
                key = (constant, step.operation.kind.op)
                uses[owner].packed.setdefault(key, []).extend(buffers[position])
            else:
                uses[owner].plain.add(constant)


def _packed(run: GraphRun, step: NodeStep) -> Mapping[int, Sequence[DimSize]]:
    """By position, the buffers that replace constant inputs of a kernel; none where it was not measured."""
    walk = run.walk
    try:
        context = kernel_context(run.instance.runs[0], step, run.constants, walk.options)
        return walk.kernels.find_prepacked(context)
    except NotKnown:
        return {}
