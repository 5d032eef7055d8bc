"""Damaged and hostile programs: typed errors that say what is wrong, and nothing of them is executed."""

from __future__ import annotations

import contextlib
import copy
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shapeinf import infer_shapes
from shapeinf.errors import LimitError, ModelError, ShapeInferenceError
from shapeinf.formats import FORMATS
from tests.formats.damage.torch_export import damaged_program
from tests.formats.torch_export.programs import archive, argument, flattening, node, package, size, tensor

Json = dict[str, Any]


def _graph(data: Json) -> Any:
    return data["graph_module"]["graph"]


def _view(data: Json) -> Any:
    return _graph(data)["nodes"][1]


DAMAGES: dict[str, tuple[Callable[[Json], object], str]] = {
    "no graph": (lambda d: d["graph_module"].pop("graph"), "graph must be an object"),
    "a name before its node": (lambda d: _graph(d)["nodes"].reverse(), "at models.py:8: reads 'n', which nothing"),
    "two makers of a name": (lambda d: _view(d).update(outputs=[argument("x")]), "'x' is computed twice"),
    "a negative size": (lambda d: _graph(d)["tensor_values"].update(x=tensor(-1)), "a size must be at least 0"),
    "a huge size": (lambda d: _graph(d)["tensor_values"].update(x=tensor(2**70)), "does not fit into 64 bits"),
    "another major version": (lambda d: d.update(schema_version={"major": 9}), "has version 9.0 of the schema"),
    "an argument of two keys": (
        lambda d: _view(d)["inputs"][0].update(arg={"as_int": 1, "as_none": True}),
        "an object of one key",
    ),
    "a number that is a text": (
        lambda d: _view(d)["inputs"][1].update(arg={"as_int": "1"}),
        "value of as_int has another type",
    ),
    "fewer inputs than specs": (lambda d: _graph(d)["inputs"].clear(), "the signature has 1 inputs"),
    "a spec that is a number": (
        lambda d: d["graph_module"]["signature"]["input_specs"].__setitem__(0, {"parameter": 3}),
        "parameter must be an object",
    ),
    "an output that nothing computes": (lambda d: _graph(d).update(outputs=[argument("q")]), "the outputs: reads 'q'"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_program_has_an_error_that_says_where(kind: str) -> None:
    damage, message = DAMAGES[kind]
    data = copy.deepcopy(flattening())
    damage(data)
    with pytest.raises(ModelError, match=message):
        infer_shapes(json.dumps(data).encode())


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').mkdir('executed')",
        "(lambda: open('executed', 'w'))()",
        "Pow(Integer(9), Pow(Integer(9), Pow(Integer(9), Integer(9))))",
        "Add(" * 100_000,
        "-" * 10_000 + "1",
        "1" * 10_000,
        "Symbol('s0').__class__",
        "[x for x in ().__class__.__bases__]",
    ],
)
def test_a_hostile_expression_is_an_unknown_size(tmp_path: Path, monkeypatch: Any, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    data = flattening()
    _graph(data)["tensor_values"]["x"]["sizes"][0] = size(text)
    data["guards_code"] = [text]
    result = infer_shapes(json.dumps(data).encode(), declared="ignore")
    assert str(result.tensors["y"]) == "float32[x.shape[0], 12]"
    assert FORMATS.input_guards(result.graph).guards[0].condition is None
    assert not list(tmp_path.iterdir())


def test_limits_of_containers(tmp_path: Path) -> None:
    bomb = archive({"p/models/model.json": b" " * ((1 << 28) + 1)}, zipfile.ZIP_DEFLATED)
    with pytest.raises(LimitError, match="of more than 268435456 bytes"):
        infer_shapes(bomb)
    path = tmp_path / "cut.pt2"
    path.write_bytes(package(("model", flattening()))[:-30])
    with pytest.raises(ModelError, match="damaged or cut off"):
        infer_shapes(path)
    moved = bytearray(package(("model", flattening())))
    moved[-6] += 1  # the list of files seems to begin a byte later, so that the first file begins before the archive
    with pytest.raises(ModelError, match="damaged or cut off"):
        infer_shapes(bytes(moved))
    nested = '{"graph_module":' * 100_000
    with pytest.raises(LimitError, match="too many brackets"):
        infer_shapes(nested.encode())


def test_bodies_inside_one_another_have_a_limit() -> None:
    data = flattening()
    inner: Json = {"inputs": [], "outputs": [], "nodes": []}
    for _ in range(40):
        inner = {"inputs": [], "outputs": [], "nodes": [node("x", {"g": {"as_graph": {"name": "g", "graph": inner}}})]}
    _graph(data)["nodes"] = inner["nodes"]
    with pytest.raises(LimitError, match="graphs inside one another"):
        infer_shapes(json.dumps(data).encode())


@pytest.mark.parametrize("seed", range(20))
def test_a_change_anywhere_is_read_or_a_typed_error(seed: int) -> None:
    for number in range(50 * seed, 50 * seed + 50):
        with contextlib.suppress(ShapeInferenceError):
            infer_shapes(b'{"graph_module": 0,' + json.dumps(damaged_program(number)).encode()[1:])
