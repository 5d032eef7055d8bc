"""Small files whose arenas are known."""

from __future__ import annotations

import struct
from pathlib import Path

from tests.formats.tflite.files import (
    ADD,
    PACK,
    RESHAPE,
    SHAPE,
    Node,
    Subgraph,
    Table,
    Tensor,
    encode,
    ints,
    model,
    options,
)

FULLY_CONNECTED, STRIDED_SLICE = 9, 45


def dense(folder: Path) -> Path:
    """Two layers of 16 units on [n, 8]; the arena of LiteRT 2.3.0 has 256 bytes for n = 1, and 704 for n = 3."""
    weights = [struct.pack(f"<{n}f", *[1.0] * n) for n in (128, 16, 256, 16)]
    tensors = [
        Tensor("x", (1, 8), signature=(-1, 8)),
        Tensor("w1", (16, 8), data=weights[0]),
        Tensor("b1", (16,), data=weights[1]),
        Tensor("h", (1, 16), signature=(-1, 16)),
        Tensor("w2", (16, 16), data=weights[2]),
        Tensor("b2", (16,), data=weights[3]),
        Tensor("g", (1, 16), signature=(-1, 16)),
        Tensor("y", (1, 16), signature=(-1, 16)),
    ]
    kind = options(8, Table())
    nodes = [Node(FULLY_CONNECTED, [0, 1, 2], [3], kind), Node(FULLY_CONNECTED, [3, 4, 5], [6], kind)]
    nodes.append(Node(ADD, [3, 6], [7], options(11, Table())))
    return written(folder / "dense.tflite", Subgraph(tensors, [0], [7], nodes))


def flattened(folder: Path) -> Path:
    """`reshape(x, [shape(x)[0], -1])` of [n, 4, 4]: an output whose size LiteRT finds out in a run."""
    tensors = [
        Tensor("x", (1, 4, 4), signature=(-1, 4, 4)),
        Tensor("zero", (1,), "int32", data=ints(0)),
        Tensor("one", (1,), "int32", data=ints(1)),
        Tensor("shape", (3,), "int32"),
        Tensor("n", (), "int32", more={8: ("B", 1)}),
        Tensor("rest", (), "int32", data=ints(-1), more={8: ("B", 1)}),
        Tensor("sizes", (2,), "int32"),
        Tensor("y", (1, 16), signature=(-1, 16)),
    ]
    nodes = [
        Node(SHAPE, [0], [3], options(55, Table({0: ("b", 2)}))),
        Node(STRIDED_SLICE, [3, 1, 2, 2], [4], options(32, Table({4: ("i", 1)}))),
        Node(PACK, [4, 5], [6], options(59, Table({0: ("i", 2)}))),
        Node(RESHAPE, [0, 6], [7], options(17, Table())),
    ]
    return written(folder / "flattened.tflite", Subgraph(tensors, [0], [7], nodes))


def written(path: Path, *subgraphs: Subgraph) -> Path:
    """A file of these subgraphs."""
    path.write_bytes(encode(model(*subgraphs)))
    return path
