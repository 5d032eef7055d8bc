"""Tuples and lists of TorchScript: the sizes of their items, and lists of numbers, which decide shapes."""

from __future__ import annotations

import pytest

from shapeinf import infer_shapes
from shapeinf.engine.tensor_info import item_infos
from tests.cli.test_pnnx import network

INPUTS = ("pnnx.Input x 0 1 0 #0=(?,3)f32", "pnnx.Input y 0 1 1 #1=(2,?)i64")
TWO, THREE = "prim::Constant two 0 1 a value=2", "prim::Constant three 0 1 b value=3"


def tensors(*operators):
    result = infer_shapes(network(*INPUTS, *operators, "pnnx.Output out 1 0 0"))
    return {name: str(info) for name, info in result.tensors.items()}, result


X, Y = "float32[x.shape[0], 3]", "int64[2, y.shape[1]]"


@pytest.mark.parametrize(
    ("operators", "expected"),
    [
        (["prim::TupleConstruct t 2 1 0 1 t", "prim::TupleUnpack u 1 2 t p q"], {"p": X, "q": Y}),
        (["prim::ListConstruct t 2 1 1 0 t", "prim::ListUnpack u 1 2 t p q"], {"p": Y, "q": X}),
        (
            [
                "prim::TupleConstruct s 2 1 0 1 s",
                "prim::TupleConstruct t 2 1 s 0 t",
                "prim::TupleUnpack u 1 2 t p q",
                "prim::TupleUnpack v 1 2 p r w",
            ],
            {"q": X, "r": X, "w": Y},
        ),
        (
            [TWO, THREE, "prim::ListConstruct l 2 1 a b l", "torch.zeros z 1 1 l z dtype=None $size=l"],
            {"l": "int64[2]"},
        ),
        (
            [TWO, THREE, "prim::ListConstruct l 2 1 a b l", "torch.zeros z 1 1 l z dtype=None $size=l"],
            {"z": "float32[2, 3]"},
        ),
        (
            [TWO, THREE, "prim::ListConstruct l 2 1 a b l", "prim::ListUnpack u 1 2 l p q"],
            {"p": "int64[]", "q": "int64[]"},
        ),
        (["prim::Constant c 0 1 c value=2.5"], {"c": "float64[]"}),
        (["prim::Constant c 0 1 c value=True"], {"c": "bool[]"}),
        (["prim::Constant c 0 1 c value=(1,2,3)"], {"c": "int64[3]"}),
    ],
)
def test_items(operators, expected):
    inferred, result = tensors(*operators)
    assert {name: inferred[name] for name in expected} == expected
    assert not [d for d in result.diagnostics if d.severity == "error"]


@pytest.mark.parametrize(
    "operators",
    [
        ["prim::Constant c 0 1 c value=None"],
        ["prim::Constant c 0 1 c value=zeros"],
        ["prim::ListUnpack c 1 1 9 c", "my.List l 1 1 0 9"][::-1],
    ],
)
def test_what_is_not_known(operators):
    _, result = tensors(*operators)
    assert result.tensors["c"].shape.dims is None
    assert not [d for d in result.diagnostics if d.severity == "error"]


@pytest.mark.parametrize("count", [1, 3])
def test_a_wrong_number_of_outputs(count):
    names = " ".join("pqr"[:count])
    _, result = tensors("prim::TupleConstruct t 2 1 0 1 t", f"prim::TupleUnpack u 1 {count} t {names}")
    (error,) = [d for d in result.diagnostics if d.severity == "error"]
    assert (error.node, "one output per item" in error.message) == ("u", True)


def test_a_tuple_has_no_unknowns_of_its_own():
    _, result = tensors("prim::TupleConstruct t 2 1 0 1 t")
    assert {str(unknown) for group in result.unknowns() for unknown in group.unknowns} == {"0.shape[0]", "1.shape[1]"}


def test_items_of_a_list_that_an_operator_returns_refer_to_it():
    """The list of an unknown operator owns its items: they take no bytes, and keep the list alive."""
    text = network(
        INPUTS[0],
        "my.Parts parts 1 1 0 1",
        "prim::ListUnpack u 1 2 1 2 3",
        "my.Relu relu 1 1 2 4",
        "my.Relu again 1 1 3 5",
        "my.Relu last 1 1 0 6",
        "pnnx.Output out 1 0 6",
    )
    buffers = {buffer.name: buffer for buffer in infer_shapes(text).memory().timeline.buffers}
    assert not {"2", "3"} & set(buffers)
    assert (buffers["1"].birth, buffers["1"].death) == (0, 4)


@pytest.mark.parametrize("width", [1, 2])
def test_tuples_that_double_are_not_listed(width):
    """45 nested pairs would have 2**45 items; 400 nested tuples of one item exhaust no stack."""
    levels = 400 if width == 1 else 45
    lines = ["pnnx.Input i 0 1 t0 #t0=(?,3)f32", "pnnx.Input j 0 1 u #u=(?,3)f32"]
    lines += [f"prim::TupleConstruct p{k} {width} 1 {' '.join([f't{k}'] * width)} t{k + 1}" for k in range(levels)]
    nested = "[" * 900 + "@0" + "]" * 900
    lines += [f"pnnx.Expression e 1 1 t0 n expr={nested}", "torch.stack a 2 1 t0 u z dim=0"]
    lines += [f"pnnx.Output o 2 0 t{levels} z"]
    result = infer_shapes(f"7767517\n{len(lines)} {levels + 4}\n" + "\n".join(lines) + "\n")
    assert str(result.tensors["z"]) == "float32[2, i.shape[0], 3]"
    assert item_infos(result.engine.inference, f"t{levels}") is None
    assert [str(item) for item in item_infos(result.engine.inference, "t1")] == ["float32[i.shape[0], 3]"] * width
