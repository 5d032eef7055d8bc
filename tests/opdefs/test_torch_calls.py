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
