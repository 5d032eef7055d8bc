"""The tail of the arena of TensorFlow Lite Micro: what the interpreter keeps for a model.

Measured on x86-64, where pointers have eight bytes, with tflite-micro 0.dev20261023. Blocks are taken from the end of
the arena in this order.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.memory.runtimes.guarded_sizes import round_up
from shapeinf.memory.runtimes.litert.subgraph import Subgraph
from shapeinf.memory.runtimes.tflite_micro.kernels import MicroNeeds
from shapeinf.memory.runtimes.tflite_micro.planner import ALIGNMENT

INTERPRETER = 488
"""Allocators, planner, and the list of one subgraph."""
SUBGRAPH = 16
"""The list of each other subgraph."""
RESOURCES, RESOURCE = 16, 32
"""The list of the values that resources stand for, and each of them."""
EVALUATED_TENSOR, TENSOR, NODE, POINTER = 24, 64, 64, 8
QUANTIZATION, INTEGERS, INTEGER = 24, 4, 4
"""The scales of an input or output, and the list of its zero points."""


def tail_of(
    subgraphs: Sequence[Subgraph], needs: Sequence[MicroNeeds], variables: Sequence[int], resources: Sequence[int]
) -> int:
    """The bytes of the tail.

    `needs` are those of all nodes, `variables` and `resources` the bytes of each variable and of each resource.
    """
    size = INTERPRETER + SUBGRAPH * (len(subgraphs) - 1)
    if resources:
        size = round_up(size + RESOURCES, ALIGNMENT)
        size = round_up(size + RESOURCE * len(resources), ALIGNMENT)
    size += EVALUATED_TENSOR * sum(len(subgraph.values) for subgraph in subgraphs)
    size += NODE * len(needs) + sum(need.options for need in needs)
    for stored in (*[block for need in needs for block in need.stored], *resources):
        size = round_up(size + stored, ALIGNMENT)
    size += POINTER * sum(len(need.scratch) for need in needs)
    for variable in variables:
        size = round_up(size + variable, ALIGNMENT)
    main = subgraphs[0]
    for indices in (main.inputs, main.outputs):
        if indices:
            size = round_up(size + POINTER * len(indices), ALIGNMENT) + TENSOR * len(indices)
        for index in indices:
            scales = len(main.values[index].scales)
            size += QUANTIZATION + INTEGERS + INTEGER * scales if scales else 0
    return round_up(size, ALIGNMENT)
