"""What a runtime knows of the tensors of a subgraph besides their types: scales, sparsity, and counts.

Inference needs none of it; it is read where memory is counted.
"""

from __future__ import annotations

import attrs

from shapeinf.formats.tflite.document import Document

QUANTIZATION, SPARSITY, SCALE = 4, 6, 2
"""Slots of the tables of a tensor and of its quantization."""
INTERMEDIATES = 8
"""The slot of an operator with the tensors that only have scales."""


@attrs.frozen
class SubgraphStorage:
    """The tensors and nodes of a subgraph.

    Args:
        scales: by tensor, its scales; none for one that is not quantized.
        sparse: the tensors of which the file has only some elements.
        intermediates: by node, the number of tensors that only have scales.
    """

    scales: tuple[tuple[float, ...], ...]
    sparse: frozenset[int]
    intermediates: tuple[int, ...]


def read_storage(document: Document, subgraph: int) -> SubgraphStorage:
    """The storage of a subgraph. Raises MalformedError."""
    table = document.table(subgraph)
    scales: list[tuple[float, ...]] = []
    sparse = set()
    for index, tensor in enumerate(table.tables(0)):
        quantization = tensor.table(QUANTIZATION)
        numbers = None if quantization is None else quantization.numbers(SCALE, "float32")
        scales.append(tuple([float(number) for number in numbers or ()]))
        if tensor.has(SPARSITY):
            sparse.add(index)
    intermediates = tuple([len(node.integers(INTERMEDIATES)) for node in table.tables(3)])
    return SubgraphStorage(tuple(scales), frozenset(sparse), intermediates)
