"""The small inputs of a model whose values decide what a node computes."""

from __future__ import annotations

from math import prod

from shapeinf.engine.compiled import NodeStep
from shapeinf.explain.points import GraphFrame, tensor_of
from shapeinf.graph import UNUSED
from shapeinf.lattice import TensorType

MAX_SIZE = 8
"""The elements of an input that a user may specify by hand."""
_VISITS = 256
"""The most values that are visited for a node."""


def deciding_inputs(frame: GraphFrame, step: NodeStep) -> tuple[str, ...]:
    """The inputs of at most `MAX_SIZE` elements from which the operands of a node are computed, by small tensors only.

    For a node of a body, those of the node of the main graph that contains it.
    """
    while frame.outer is not None and frame.step is not None:
        step, frame = frame.step, frame.outer
    compiled = frame.inference.compiled
    names: list[str] = []
    pending, seen = list(reversed(step.arguments)), set[int]()
    while pending and len(seen) < _VISITS:
        slot = pending.pop()
        if slot in seen or slot == UNUSED or not _is_small_and_open(tensor_of(frame.inference.type_of(slot))):
            continue
        seen.add(slot)
        producer = compiled.producers[slot]
        if producer is not None:
            pending += reversed(compiled.step(producer).arguments)
        elif compiled.names[slot] in compiled.graph.inputs:
            names.append(compiled.names[slot])
    return tuple(names)


def _is_small_and_open(tensor: TensorType | None) -> bool:
    """Whether a tensor has few elements, some of them unknown."""
    if tensor is None or tensor.shape.dims is None:
        return False
    sizes = [dim for dim in tensor.shape.dims if isinstance(dim, int)]
    if len(sizes) < len(tensor.shape.dims) or not 0 < prod(sizes) <= MAX_SIZE:
        return False
    return tensor.elements is None or any(element is None for element in tensor.elements)
