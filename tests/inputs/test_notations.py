"""Dims in the notation of any tool, wherever a dim is stated: one reader serves all of these."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from shapeinf import bind, diff, infer_shapes

TEXTS = [
    "(h + 3)//4",
    "ceildiv(h, 4)",
    "floor(h/4 - 1/4) + 1",  # sympy, as onnxruntime's tool writes it
    "ceiling(h/4)",
    "((h - 1)//4) + 1",  # torch
    "CeilToInt(IntTrueDiv(h, 4))",
    "floordiv(h + 3, 4)",  # jax
    "- floordiv(- h, 4)",
    "CeilToInt(h, 4)",  # the proposal for ONNX
    "(h + (-h)%4)/:4",
]


def network(second, inner=None, output=None, op="Add"):
    """x [1, h] and z [1, second], joined; the operators of the domain `my` have no rule."""
    domain = "" if op in ("Add", "Relu") else "my"
    node = helper.make_node(op, ["a", "z"] if op == "Add" else ["a"], ["y"], domain=domain)
    nodes = [helper.make_node("Shrink" if domain else "Relu", ["x"], ["a"], domain=domain), node]
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in (("x", [1, "h"]), ("z", [1, second]))]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, output] if output else None)
    a = helper.make_tensor_value_info("a", TensorProto.FLOAT, [1, inner])
    graph = helper.make_graph(nodes, "g", values, [y], value_info=[a] if inner else [])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("my", 1)]
    return helper.make_model(graph, opset_imports=opsets)


def quarter(result):
    return (result.engine.scope.symbol("h") + 3) // 4


@pytest.mark.parametrize("text", TEXTS)
def test_a_declared_input(text) -> None:
    result = infer_shapes(network(text))
    assert result.inputs["z"].shape[1] == quarter(result)


@pytest.mark.parametrize("text", TEXTS)
def test_declared_outputs_and_inner_values(text) -> None:
    result = infer_shapes(network("k", inner=text, output=text, op="Unknown"))
    assert result.tensors["a"].shape[1] == result.tensors["y"].shape[1] == quarter(result)


@pytest.mark.parametrize("text", TEXTS)
def test_the_shape_of_a_user(text) -> None:
    for spec in (f"[1, {text}]", {1: text}, [1, text]):
        result = infer_shapes(network("k"), inputs={"z": spec})
        assert result.inputs["z"].shape[1] == quarter(result)


@pytest.mark.parametrize("text", TEXTS)
def test_assumptions(text) -> None:
    result = infer_shapes(network("k"), assume=[f"k == {text}"])
    assert result.engine.store.prove_eq(result.inputs["z"].shape[1], quarter(result)) is True


@pytest.mark.parametrize("text", TEXTS)
def test_bound_dims(text) -> None:
    bound = bind(network("k", op="Relu"), {"k": text})
    assert str(bound.inputs["z"].shape) == "[1, (h + 3)//4]"


@pytest.mark.parametrize("text", TEXTS)
def test_compared_models(text) -> None:
    first = network("k", inner=TEXTS[0], output=TEXTS[0], op="Unknown")
    assert not diff(first, network("k", inner=text, output=text, op="Unknown"))
    other = network("k", inner=text, output=f"{text} + 1", op="Unknown")
    assert diff(first, other)
