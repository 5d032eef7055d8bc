"""Files with damaged bytes: a result or a typed error, and never a rule that fails."""

import contextlib
import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from shapeinf import ModelError, ShapeInferenceError, infer_shapes
from shapeinf.formats.onnx.external_contents import external_contents
from tests.differential.random_graphs import bodies
from tests.formats.damage.wire import damage_bytes

EXAMPLES = [path.read_bytes() for path in sorted((Path(__file__).parents[2] / "examples").glob("*.onnx"))]


@pytest.mark.parametrize("times", [600, pytest.param(60_000, marks=pytest.mark.slow)])
def test_a_result_or_an_error_of_ours(times):
    draw = random.Random(times)
    originals = [*EXAMPLES, *(bodies.drawn(seed).SerializeToString() for seed in range(12))]
    results = 0
    for _ in range(times):
        with contextlib.suppress(ShapeInferenceError):
            result = infer_shapes(damage_bytes(draw, draw.choice(originals)))
            assert not [str(note) for note in result.diagnostics if note.code == "S301"]
            results += 1
    assert results > times / 20


def single_node(node, *inputs, opset=17):
    graph = helper.make_graph([node], "g", list(inputs), [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


X, FLAG = helper.make_tensor_value_info("x", 1, ["N", 4]), helper.make_tensor_value_info("flag", TensorProto.BOOL, [])
EMPTY = helper.make_graph([], "body", [], [])
SCALES = helper.make_node("Constant", [], ["s"], value=numpy_helper.from_array(np.float32([1, "inf"])))


def node_of(op, *inputs, **attributes):
    return helper.make_node(op, inputs, ["y"], **attributes)


BROKEN = [
    (node_of("If", "flag", else_branch=EMPTY), 17, "S103", "the required attribute 'then_branch' is missing"),
    (node_of("If", "flag", then_branch=1, else_branch=EMPTY), 17, "S109", "'then_branch' must be of the kind graph"),
    (node_of("Loop", "", "flag", "x", body="x"), 17, "S109", "'body' must be of the kind graph"),
    (node_of("Max"), 17, "S103", "takes at least 1 input, got 0"),
    (node_of("Concat", "x", "", "x", axis=0), 17, "S103", "the required input 'xs' is missing"),
    (node_of("Loop", "", "flag", body=EMPTY), 17, "S103", "0 inputs and 0 outputs for 0 values"),
    (node_of("LayerNormalization", "x", "x", axis=[1]), 14, "S103", "'axis' must be of the kind int"),
]


@pytest.mark.parametrize(("node", "opset", "code", "message"), BROKEN)
def test_errors_of_a_node_are_reported(node, opset, code, message):
    (error,) = infer_shapes(single_node(node, X, FLAG, opset=opset)).diagnostics
    assert (error.severity, error.code) == ("error", code)
    assert message in str(error)


def test_an_infinite_scale_is_an_error():
    model = single_node(node_of("Resize", "x", "", "s"), X)
    model.graph.node.insert(0, SCALES)
    (error,) = infer_shapes(model).diagnostics
    assert "finite and greater than 0" in error.message


def test_an_external_tensor_that_cannot_be_read_is_an_error():
    tensor = onnx.TensorProto(name="t", dims=[2], data_type=TensorProto.INT64, data_location=onnx.TensorProto.EXTERNAL)
    broken_entry = b"\x6a\x02\xff\xff"
    with pytest.raises(ModelError, match="cannot be read"):
        external_contents(tensor.SerializeToString() + broken_entry, None)
