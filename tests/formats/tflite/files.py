"""Builds TensorFlow Lite files: tables of slots as FlatBuffers has them, and a file of tensors and operators."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from shapeinf.lattice.dtypes import DTYPES

CODES = {dtype.name: dtype.tflite for dtype in DTYPES if dtype.tflite is not None}
ADD, CONCATENATION, CONV_2D, RESHAPE, CUSTOM, IF, WHILE, SHAPE, PACK = 0, 2, 3, 22, 32, 118, 119, 77, 83
Value = Any
"""Of a slot: (code of struct, number), a table, a text, bytes, a list of numbers of 32 bits or of tables."""


class Table(dict[int, Value]):
    """A table: values by slot."""


def encode(root: Table, identifier: bytes = b"TFL3") -> bytes:
    """The bytes of a file: objects are written behind those that refer to them."""
    data = bytearray(struct.pack("<I4s", 0, identifier))
    _write(data, 0, root)
    return bytes(data)


def _write(data: bytearray, at: int, value: Value) -> None:
    """Append an object, and let the reference at a position refer to it."""
    if isinstance(value, Table):
        _write_table(data, at, value)
        return
    _align(data, 16 if isinstance(value, bytes) else 4, 4)
    data[at : at + 4] = struct.pack("<I", len(data) - at)
    if isinstance(value, (str, bytes)):
        raw = value.encode() if isinstance(value, str) else value
        data += struct.pack("<I", len(raw)) + raw + bytes(1)
    elif value and not isinstance(value[0], int):
        start = len(data) + 4
        data += struct.pack("<I", len(value)) + bytes(4 * len(value))
        written: dict[int, int] = {}  # several references to one object in a vector share it
        for index, item in enumerate(value):
            if id(item) in written:
                first = written[id(item)]
                target = first + struct.unpack_from("<I", data, first)[0]
                data[start + 4 * index : start + 4 * index + 4] = struct.pack("<I", target - start - 4 * index)
            else:
                written[id(item)] = start + 4 * index
                _write(data, start + 4 * index, item)
    else:
        data += struct.pack(f"<I{len(value)}i", len(value), *value)


def _write_table(data: bytearray, at: int, table: Table) -> None:
    slots = 1 + max(table, default=-1)
    order = sorted(table, key=lambda slot: -_width(table[slot]))
    offsets, size = {}, 4
    for slot in order:
        size += -size % _width(table[slot])
        offsets[slot] = size
        size += _width(table[slot])
    _align(data, 8, 4 + 2 * slots)
    vtable = len(data)
    data += struct.pack("<2H", 4 + 2 * slots, size) + struct.pack(
        f"<{slots}H", *(offsets.get(s, 0) for s in range(slots))
    )
    start = len(data)
    if at or start:
        data[at : at + 4] = struct.pack("<I", start - at)
    data += struct.pack("<i", start - vtable) + bytes(size - 4)
    for slot in order:
        value, field = table[slot], start + offsets[slot]
        if isinstance(value, tuple):
            data[field : field + _width(value)] = struct.pack("<" + value[0], value[1])
        else:
            _write(data, field, value)


def _width(value: Value) -> int:
    return struct.calcsize(value[0]) if isinstance(value, tuple) else 4


def _align(data: bytearray, alignment: int, before: int) -> None:
    data += bytes(-(len(data) + before) % alignment)


@attrs.frozen
class Tensor:
    """A tensor: `data` are the bytes of a constant, `more` further slots."""

    name: str = ""
    dims: Sequence[int] = ()
    dtype: str = "float32"
    signature: Sequence[int] | None = None
    data: bytes | None = None
    more: Mapping[int, Value] = attrs.Factory(dict)


@attrs.frozen
class Node:
    """An operator by its code or the name of a custom one, its operands, and slots such as those of options."""

    op: int | str
    inputs: Sequence[int]
    outputs: Sequence[int]
    more: Mapping[int, Value] = attrs.Factory(dict)


@attrs.frozen
class Subgraph:
    """A subgraph."""

    tensors: Sequence[Tensor]
    inputs: Sequence[int]
    outputs: Sequence[int]
    nodes: Sequence[Node]
    name: str = "main"


def ints(*values: int) -> bytes:
    """The bytes of a constant of int32."""
    return struct.pack(f"<{len(values)}i", *values)


def options(code: int, table: Table) -> Mapping[int, Value]:
    """The slots of builtin options: the code of the table in the union, and the table."""
    return {3: ("B", code), 4: table}


def signature(key: str, subgraph: int, inputs: Mapping[str, int], outputs: Mapping[str, int]) -> Table:
    """A signature."""
    names = [[Table({0: name, 1: ("I", index)}) for name, index in part.items()] for part in (inputs, outputs)]
    return Table({0: names[0], 1: names[1], 2: key, 4: ("I", subgraph)})


def model(*subgraphs: Subgraph, more: Mapping[int, Value] | None = None) -> Table:
    """The root table of a file."""
    codes: list[int | str] = []
    buffers: list[Table] = [Table()]
    tables = []
    for subgraph in subgraphs:
        tensors = [_tensor(tensor, buffers) for tensor in subgraph.tensors]
        operators = []
        for node in subgraph.nodes:
            if node.op not in codes:
                codes.append(node.op)
            slots = {0: ("I", codes.index(node.op)), 1: list(node.inputs), 2: list(node.outputs), **node.more}
            operators.append(Table(slots))
        inputs, outputs = list(subgraph.inputs), list(subgraph.outputs)
        tables.append(Table({0: tensors, 1: inputs, 2: outputs, 3: operators, 4: subgraph.name}))
    return Table({0: ("I", 3), 1: [_code(op) for op in codes], 2: tables, 3: "a test", 4: buffers, **(more or {})})


def file(*subgraphs: Subgraph, more: Mapping[int, Value] | None = None) -> bytes:
    """The bytes of a file."""
    return encode(model(*subgraphs, more=more))


def _tensor(tensor: Tensor, buffers: list[Table]) -> Table:
    slots: dict[int, Value] = {0: list(tensor.dims), 1: ("b", CODES[tensor.dtype]), 3: tensor.name, 8: ("?", True)}
    if tensor.data is not None:
        buffers.append(Table({0: tensor.data} if tensor.data else {}))
        slots[2] = ("I", len(buffers) - 1)
    if tensor.signature is not None:
        slots[7] = list(tensor.signature)
    return Table({**slots, **tensor.more})


def _code(op: int | str) -> Table:
    if isinstance(op, str):
        return Table({0: ("b", CUSTOM), 1: op, 3: ("i", CUSTOM)})
    return Table({0: ("b", min(op, 127)), 3: ("i", op)})


def flattening(batch: int = -1) -> Subgraph:
    """[batch, 4, 4] -> RESHAPE to [-1, 16]."""
    tensors = [
        Tensor("x", [1, 4, 4], signature=[batch, 4, 4] if batch < 0 else None),
        Tensor("target", [2], "int32", data=ints(-1, 16)),
        Tensor("y", [1, 16], signature=[batch, 16] if batch < 0 else None),
    ]
    return Subgraph(tensors, [0], [2], [Node(RESHAPE, [0, 1], [2])])


def doubled(target: Sequence[int], x: Tensor, out: Sequence[int]) -> Subgraph:
    """ADD of x with itself, then RESHAPE by a constant to y, for which the file states the sizes `out`."""
    tensors = [
        x,
        Tensor("sum", x.dims, signature=x.signature),
        Tensor("target", (len(target),), "int32", data=ints(*target)),
        Tensor("y", out),
    ]
    return Subgraph(tensors, [0], [3], [Node(ADD, [0, 0], [1]), Node(RESHAPE, [1, 2], [3])])
