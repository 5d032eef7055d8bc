"""Damaged and hostile files: typed errors, in a time that depends on the size of the file."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest

from shapeinf import infer_shapes
from shapeinf.errors import LimitError, ModelError, ShapeInferenceError
from shapeinf.formats import load
from shapeinf.formats.tflite.flatbuffer import MalformedError
from shapeinf.formats.tflite.flexbuffers import MAX_DEPTH, read_flexbuffer
from tests.formats.damage.tflite import damaged_flatbuffer
from tests.formats.tflite.files import (
    ADD,
    Node,
    Subgraph,
    Table,
    Tensor,
    encode,
    file,
    flattening,
)

HEADS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty|outside of the file"),
    "only the identifier": (b"\x08\0\0\0TFL3", "outside of the file"),
    "no identifier": (file(flattening()).replace(b"TFL3", b"\0\0\0\0"), "has no identifier TFL3|not a"),
    "a root outside": (b"\xff\xff\xff\x7f" + file(flattening())[4:], "outside of the file"),
    "cut": (file(flattening())[:200], "outside of the file"),
    "no subgraph": (file(), "has no subgraph"),
}


@pytest.mark.parametrize("kind", HEADS)
def test_a_damaged_head_is_an_error(tmp_path: Path, kind: str) -> None:
    data, message = HEADS[kind]
    path = tmp_path / "x.tflite"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=message):
        load(path)


def one(tensors: dict[int, Tensor] | None = None, node: Node | None = None) -> Subgraph:
    """A subgraph of one node, with other tensors."""
    listed = [Tensor("x", [2]), Tensor("y", [2])]
    for index, tensor in (tensors or {}).items():
        listed[index] = tensor
    return Subgraph(listed, [0], [1], [node or Node(ADD, [0, 0], [1])])


FIELDS: dict[str, tuple[Subgraph, str]] = {
    "a negative size": (one({0: Tensor("x", [-3])}), "tensor 0: has a negative size"),
    "a size below -1": (one({0: Tensor("x", [3], signature=[-2])}), "tensor 0: has a negative size"),
    "too many elements": (one({0: Tensor("x", [2**31 - 1] * 3)}), "more than 2.*63 - 1 elements"),
    "too many sizes": (one({0: Tensor("x", [1] * 65)}), "has more than 64 sizes"),
    "another buffer": (one({0: Tensor("x", [2], more={2: ("I", 4_000_000_000)})}), "has no buffer 4000000000"),
    "an operand": (one(node=Node(ADD, [0, 99], [1])), "node 0: has no tensor 99: there are 2"),
    "an operand below -1": (one(node=Node(ADD, [0, -5], [1])), "node 0: has no tensor -5"),
    "an operator": (one(node=Node(ADD, [0, 0], [1], {0: ("I", 77)})), "node 0: has no operator code 77"),
    "an output": (Subgraph([Tensor("x", [2])], [0], [4], []), "has no tensor 4"),
    "an input twice": (Subgraph([Tensor("x", [2])], [0, 0], [0], []), "a tensor is two of its inputs"),
    "an absent input": (Subgraph([Tensor("x", [2])], [-1], [0], []), "has no tensor -1"),
}


@pytest.mark.parametrize("kind", FIELDS)
def test_a_number_out_of_range_is_an_error(kind: str) -> None:
    subgraph, message = FIELDS[kind]
    with pytest.raises(ModelError, match=message):
        load(file(subgraph))


def test_shared_tables_are_a_limit_error() -> None:
    """4,000 references to one subgraph, which has 20,000 to one tensor of 60 sizes: 5 billion numbers."""
    tensor = Table({0: [1] * 60, 3: "x"})
    subgraph = Table({0: [tensor] * 20_000, 1: [0], 2: [0]})
    data = encode(Table({0: ("I", 3), 2: [subgraph] * 4_000}))
    with pytest.raises(LimitError, match="refers to its tables too often"):
        load(data)


def examine(seed: int, folder: Path) -> str:
    """Read, infer and write a damaged file: `read`, or the class of a typed error."""
    path = folder / "damaged.tflite"
    path.write_bytes(damaged_flatbuffer(seed))
    try:
        result = infer_shapes(path)
        list(result.diagnostics)
        result.save(folder / "written.tflite")
        infer_shapes(folder / "written.tflite")
    except ShapeInferenceError as error:
        return type(error).__name__
    return "read"


@pytest.mark.parametrize("part", range(4))
def test_a_change_anywhere_is_read_or_a_typed_error(part: int, tmp_path: Path) -> None:
    outcomes = {examine(seed, tmp_path) for seed in range(100 * part, 100 * part + 100)}
    assert {"read", "ModelError"} <= outcomes


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_many_changes_are_read_or_typed_errors(part: int, tmp_path: Path) -> None:
    for seed in range(1000 * part, 1000 * part + 1000):
        examine(seed, tmp_path)


# -- FlexBuffers -------------------------------------------------------------------------------------------------------


def test_nested_options_have_a_limit() -> None:
    data = bytes([0])
    for _ in range(MAX_DEPTH + 2):  # a vector of one vector, each in front of the one that refers to it
        data += bytes([1, len(data) and 2, 10 << 2])
    with pytest.raises(MalformedError):
        read_flexbuffer(data + bytes([2, 10 << 2, 1]))


@pytest.mark.parametrize("seed", range(50))
def test_damaged_options_are_read_or_an_error(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(200):
        data = bytes(draw.randrange(256) for _ in range(draw.randint(0, 24)))
        data += bytes([draw.randrange(256), draw.choice((1, 2, 4, 8, 0, 255))])
        with contextlib.suppress(MalformedError):
            read_flexbuffer(data)
