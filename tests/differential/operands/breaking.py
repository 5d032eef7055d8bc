"""Nodes with one size of one input changed: by one, to 1, doubled; or with an axis removed or added."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np

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
            for change, changed in _changes(array):
                yield Broken(node.with_array(index, changed), index, change)


def _changes(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """A text of each change, and the changed array."""
    for axis, size in enumerate(array.shape):
        for new in dict.fromkeys((size + 1, size - 1, 1, 2 * size)):
            if new > 0 and new != size and size > 0:
                yield f"axis {axis}: {size} -> {new}", np.take(array, np.arange(new) % size, axis=axis)
        if size:
            yield f"without axis {axis}", np.asarray(np.take(array, 0, axis=axis), dtype=array.dtype)
    yield "with a first axis", array[None]
    if not array.ndim:
        yield "of two elements", np.stack([array, array])
    else:
        yield "with a last axis", array[..., None]
