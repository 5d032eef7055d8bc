"""Damaged files of TensorFlow Lite, and archives with such files."""

from __future__ import annotations

import random
import struct
from functools import cache

from tests.formats.tflite.files import (
    CONCATENATION,
    CONV_2D,
    PACK,
    RESHAPE,
    SHAPE,
    Node,
    Subgraph,
    Table,
    Tensor,
    file,
    flattening,
    ints,
    options,
)
from tests.formats.tflite.test_reading import archive, branches, language_model, two_signatures


def window() -> Subgraph:
    """A convolution, a reshape by sizes of tensors, and a custom operator."""
    tensors = [
        Tensor("x", [1, 8, 8, 3], signature=[-1, -1, 8, 3]),
        Tensor("w", [4, 3, 3, 3], data=bytes(432)),
        Tensor("c", [1, 6, 6, 4], signature=[-1, -1, 6, 4]),
        Tensor("s", [4], "int32"),
        Tensor("axis", [1], "int32", data=ints(1)),
        Tensor("rest", [1], "int32", data=ints(-1)),
        Tensor("p", [2], "int32"),
        Tensor("y", [1, 144]),
        Tensor("z", [1, 144]),
    ]
    nodes = [
        Node(CONV_2D, [0, 1, -1], [2], options(1, Table({0: ("b", 1), 1: ("i", 1), 2: ("i", 1)}))),
        Node(SHAPE, [2], [3], options(55, Table({0: ("b", 2)}))),
        Node(CONCATENATION, [4, 5], [6], options(10, Table({0: ("i", 0)}))),
        Node(RESHAPE, [2, 6], [7], options(17, Table({0: [1, -1]}))),
        Node("TFLite_Detection_PostProcess", [7], [8], {5: bytes([4, 6, 97, 0, 1, 3, 1, 1, 1, 7, 4, 2, 36, 1])}),
        Node(PACK, [4, 5], [6], options(59, Table({0: ("i", 2), 1: ("i", 0)}))),
    ]
    return Subgraph(tensors, [0], [8], nodes)


@cache
def originals() -> list[bytes]:
    return [
        file(window()),
        file(window()),
        file(flattening()),
        file(branches(), flattening(), window()),
        two_signatures(),
        archive({"a.tflite": file(flattening())}),
        language_model(("main", file(flattening()), 3)).replace(bytes(8000), b""),
    ]


NUMBERS = (0, 1, 2, 4, 8, 127, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 4, 2**32 - 60)


def damaged_flatbuffer(seed: int) -> bytes:
    """A file with up to 4 changes: bytes, numbers of 32 bits, cuts, and copies of parts."""
    draw = random.Random(f"tflite {seed}")
    data = bytearray(draw.choice(originals()))
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(data))
        kind = draw.random()
        if kind < 0.35:
            data[at] = draw.randrange(256)
        elif kind < 0.75:
            at -= at % 4
            data[at : at + 4] = struct.pack("<I", draw.choice((*NUMBERS, draw.randrange(len(data)))))[: len(data) - at]
        elif kind < 0.85:
            data[at : at + draw.choice((1, 4, 16))] = b""
        elif kind < 0.95:
            other = draw.randrange(len(data))
            data[at : at + 8] = data[other : other + 8]
        else:
            del data[at:]
        if not data:
            break
    return bytes(data)
