"""Attributes that name no element type: a typed error at the node, never a failure of its rule."""

from __future__ import annotations

import pytest

from shapeinf.graph import DeclaredType
from tests.engine.tf.graphs import graph, infer, node, types

INPUTS = {"x": ("float32", ("N", 3))}
SHAPES = (DeclaredType(dims=None),)


@pytest.mark.parametrize("name", ["nonsense", "", 1, ("float32",)])
@pytest.mark.parametrize(
    ("op", "attribute", "others"),
    [
        ("Cast", "DstT", {"SrcT": "float32"}),
        ("Shape", "out_type", {"T": "float32"}),
        ("Relu", "T", {}),
        ("TensorSliceDataset", "Toutput_types", {"output_shapes": SHAPES}),
    ],
)
def test_an_element_type_that_does_not_exist(op, attribute, others, name):
    listed = attribute == "Toutput_types"
    value = (name,) if listed and not isinstance(name, tuple) else 1 if listed else name
    result = infer(graph(INPUTS, [node(op, ["x"], "y", **{attribute: value}, **others)], ["y"]))
    (problem,) = result.diagnostics
    assert (problem.severity, problem.code) in {("error", "S103"), ("error", "S107"), ("error", "S109")}
    assert f"the attribute {attribute!r} must be" in problem.message
    assert "nonsense" not in types(result, "y")[0]
