"""What a session of onnxruntime holds after it is created: initializers, and weights packed for their kernels.

Data in other files are mapped, not allocated; a packed copy of them is. A packed weight replaces its initializer where
nothing else reads it, and equal packed weights are one buffer: those of the same part of a file. These buffers lie
outside the regions of the arena.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from shapeinf.engine.compiled import NodeStep
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.graph import MISSING
from shapeinf.memory.runtimes.onnxruntime.temporaries import kernel_context
from shapeinf.memory.sizes import Size

if TYPE_CHECKING:
    from shapeinf.memory.runtimes.onnxruntime.walk import GraphRun


class HeldWeights:
    """The weights of the graphs of a model."""

    def __init__(self, external: Mapping[str, object]) -> None:
        """`external` has, by name of an initializer whose data are in another file, the part of the file."""
        self.external = external
        self._shared: set[object] = set()
        """The parts of files that are packed."""

    def buffers(self, run: GraphRun) -> Iterator[tuple[str, Size]]:
        """The names and bytes of the buffers for one graph."""
        names, path = run.compiled.names, run.instance.path
        plain, packed = _uses(run)
        for slot in sorted(plain):
            if names[slot] not in self.external:
                yield path + names[slot], run.size(slot)
        for (slot, op), sizes in sorted(packed.items()):
            part = self.external.get(names[slot])
            if part is None or (part, op, tuple(sizes)) not in self._shared:
                self._shared.add((part, op, tuple(sizes)))
                yield from ((f"{path}{names[slot]} packed", Size(amount)) for amount in sizes)


def _uses(run: GraphRun) -> tuple[set[int], dict[tuple[int, str], list[DimSize]]]:
    """The initializers that kernels read as they are, and by initializer and operator the buffers of packed ones."""
    plain, packed = run.outputs & run.constants, dict[tuple[int, str], list[DimSize]]()
    for step in run.steps:
        buffers = _packed(run, step)
        for position, slot in enumerate(step.inputs):
            if slot == MISSING or slot not in run.constants:
                continue
            if position in buffers:
                packed.setdefault((slot, step.operation.kind.op), []).extend(buffers[position])
            else:
                plain.add(slot)
    return plain, packed


def _packed(run: GraphRun, step: NodeStep) -> Mapping[int, Sequence[DimSize]]:
    """By position, the buffers that replace constant inputs of a kernel; none where it was not measured."""
    walk = run.walk
    try:
        context = kernel_context(run.instance.runs[0], step, run.constants, walk.options)
        return walk.kernels.find_prepacked(context)
    except NotKnown:
        return {}
