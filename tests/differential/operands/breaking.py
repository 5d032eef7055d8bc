"""Nodes with one size of one input changed: by one, to 1, doubled; or with an axis removed or added."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from shapeinf.testing.operands import changed_arrays
from tests.differential.operands.nodes import Node


@attrs.frozen(eq=False)
class Broken:
    """A node with one changed input, and a text of the change."""

    node: Node
    index: int
    change: str

    def __str__(self) -> str:
        shapes = ", ".join("_" if a is None else str(list(a.shape)) for a in self.node.arrays)
        return (
            f"{self.node.op} (opset {self.node.version}) {self.node.name}: input {self.index} {self.change}: {shapes}"
        )


def break_inputs(node: Node) -> Iterator[Broken]:
    """All changes of all inputs of a node, one at a time."""
    for index, array in enumerate(node.arrays):
        if array is not None:
            for change, changed in changed_arrays(array):
                yield Broken(node.with_array(index, changed), index, change)
