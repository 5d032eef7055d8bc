"""Inputs with one size changed: one more, one less, 1, twice as many, an axis less or one more."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np

from tests.differential.operands.nodes import Node


@attrs.frozen(eq=False)
class Broken:
    """A node with one input that is changed, and how."""

    node: Node
    index: int
    how: str

    def __str__(self) -> str:
        shapes = ", ".join("_" if a is None else str(list(a.shape)) for a in self.node.arrays)
        return f"{self.node.op} (opset {self.node.version}) {self.node.name}: input {self.index} {self.how}: {shapes}"


def broken(node: Node) -> Iterator[Broken]:
    """Every input of a node changed in every way, one at a time."""
    for index, array in enumerate(node.arrays):
        if array is not None:
            for how, changed in _changed(array):
                yield Broken(node.with_array(index, changed), index, how)


def _changed(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
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
