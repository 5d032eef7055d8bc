"""Operators with bodies in programs made by hand, which need no torch."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shapeinf import infer_shapes
from tests.formats.torch_export.programs import argument, graph, node, program, tensor, unnamed


def _body(name: str, target: str, **arguments: Any) -> dict[str, Any]:
    return {"as_graph": {"name": name, "graph": graph(["a"], [node(target, {"self": "a", **arguments}, "r")], ["r"])}}


@pytest.mark.parametrize("operator", ["run_const_graph", "strict_mode"])
def test_a_body_with_a_list_of_operands_is_called(operator: str) -> None:
    call = unnamed(
        f"torch.ops.higher_order.{operator}",
        [_body("body_0", "torch.ops.aten.t.default"), {"as_tensors": [{"name": "x"}]}],
        "y",
    )
    top = graph(["x"], [call], ["y"], tensors={"x": tensor(2, 3)})
    assert str(infer_shapes(json.dumps(program(top)).encode()).tensors["y"]) == "float32[3, 2]"


def test_tensors_that_an_operator_writes_keep_their_types() -> None:
    call = unnamed(
        "torch.ops.higher_order.auto_functionalized_v2", [{"as_operator": "torch.ops.m.f.default"}], "r", "y"
    )
    for name, value in (("other", argument("x")), ("_all_bases", {"as_tensors": [{"name": "x"}]})):
        call["inputs"].append({"name": name, "arg": value, "kind": 2})
    top = graph(["x"], [call], ["y"], tensors={"x": tensor(2, 3), "r": tensor(7)})
    result = infer_shapes(json.dumps(program(top)).encode())
    assert str(result.tensors["y"]) == "float32[2, 3]" and str(result.tensors["r"]) == "float32[7]"


def test_a_scan_of_rows_keeps_the_types_of_its_tensors() -> None:
    rows = graph(["a", "b"], [node("torch.ops.aten.add.Tensor", {"self": "a", "other": "b"}, "r")], ["r"])
    arguments = [
        {"as_graph": {"name": "combine_0", "graph": rows}},
        {"as_tensors": [{"name": "x"}]},
        {"as_tensors": []},
    ]
    call = unnamed("torch.ops.higher_order.associative_scan", arguments, "y")
    top = graph(["x"], [call], ["y"], tensors={"x": tensor(5, 3)})
    assert str(infer_shapes(json.dumps(program(top)).encode()).tensors["y"]) == "float32[5, 3]"


def test_a_called_graph_has_a_name() -> None:
    body = _body("body_0", "torch.ops.aten.t.default")
    call = unnamed("torch.ops.higher_order.invoke_subgraph", [body, {"as_string": "body_0"}, "x"], "y")
    top = graph(["x"], [call], ["y"], tensors={"x": tensor(2, 3)})
    assert str(infer_shapes(json.dumps(program(top)).encode()).tensors["y"]) == "float32[3, 2]"


def _with_effects(target: str, *arguments: Any) -> dict[str, Any]:
    """A program with a call that takes and returns a token, and with a call after it."""
    first = unnamed("torch.ops.higher_order.with_effects", ["token", {"as_operator": target}, *arguments], "t1", "r")
    second = unnamed(
        "torch.ops.higher_order.with_effects",
        ["t1", {"as_operator": "torch.ops.aten._print.default"}, {"as_string": "text"}],
        "t2",
        {"as_none": True},
    )
    top = graph(["token", "x"], [first, second], ["t2", "r"], tensors={"x": tensor(2, 3), "r": tensor(7)})
    made = program(top)
    signature = made["graph_module"]["signature"]
    signature["input_specs"][0] = {"token": {"arg": {"name": "token"}}}
    signature["output_specs"][0] = {"token": {"arg": {"name": "t2"}}}
    return made


def test_an_operator_with_effects_has_its_rule() -> None:
    made = _with_effects("torch.ops.aten.transpose.int", "x", {"as_int": 0}, {"as_int": 1})
    result = infer_shapes(json.dumps(made).encode(), declared="ignore")
    assert str(result.tensors["r"]) == "float32[3, 2]"
    assert list(result.inputs) == ["x"] and list(result.outputs) == ["r"] and not result.diagnostics


def test_an_operator_with_effects_and_without_a_rule_has_its_declared_types() -> None:
    result = infer_shapes(json.dumps(_with_effects("torch.ops.mine.send.default", "x")).encode())
    assert str(result.tensors["r"]) == "float32[7]"
    assert [d.code for d in result.diagnostics] == ["S201"]


@pytest.mark.parametrize("operator", ["auto_functionalized", "run_and_save_rng_state", "flex_attention", "no_such"])
def test_an_operator_with_bodies_and_without_a_rule_has_its_declared_types(operator: str) -> None:
    call = unnamed(f"torch.ops.higher_order.{operator}", [_body("b", "torch.ops.aten.t.default"), "x"], "r", "y")
    top = graph(["x"], [call], ["y"], tensors={"x": tensor(2, 3), "r": tensor(7), "y": tensor(2, 4)})
    result = infer_shapes(json.dumps(program(top)).encode())
    assert [str(result.tensors[name]) for name in ("r", "y")] == ["float32[7]", "float32[2, 4]"]
    assert [d.code for d in result.diagnostics] == ["S201"]


def test_outputs_are_those_of_the_function_and_not_the_buffers_that_it_changes() -> None:
    add = node("torch.ops.aten.add.Tensor", {"self": "b", "other": "x"}, "changed")
    result = node("torch.ops.aten.relu.default", {"self": "changed"}, "y")
    top = graph(["b", "x"], [add, result], ["changed", "y"], tensors={"b": tensor(3), "x": tensor(3)})
    made = program(top, {"b": ("buffer", "total")})
    specs = made["graph_module"]["signature"]["output_specs"]
    specs[0] = {"buffer_mutation": {"arg": {"name": "changed"}, "buffer_name": "total"}}
    inferred = infer_shapes(json.dumps(made).encode())
    assert list(inferred.outputs) == ["y"] and str(inferred.tensors["changed"]) == "float32[3]"
