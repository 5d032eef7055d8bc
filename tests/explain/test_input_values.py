"""The small inputs whose values decide an unknown size: with such a value the size is known."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from shapeinf import infer_shapes
from shapeinf.report.text import unknown_lines

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
BRANCHES = """g (float[n, 8] x, int64 sr, int64 other) => (float[] y) {
    wanted = Constant <value = int64 {16000}> ()
    flag = Equal (sr, wanted)
    y = If (flag) <
        then_branch = t () => (float[] p) { p = Concat <axis = 0> (x, x) },
        else_branch = e () => (float[] q) { q = Identity (x) }
    >
}"""
COUNTS = """g (float[n, 8] x, int64[1] first, int64[1] second) => (float[] y) {
    end = Add (first, second)
    zero = Constant <value = int64[1] {0}> ()
    y = Slice (x, zero, end)
}"""
DATA = "g (float[n] x) => (int64[] y) { y = NonZero (x) }"
KNOWN = """g (float[n] x) => (float[] y) {
    s = Shape (x)
    y = Expand (x, s)
}"""
CASES = [
    (BRANCHES, ("sr",), {"sr": 16000}),
    (COUNTS, ("first", "second"), {"first": [1], "second": [2]}),
    (DATA, (), None),
]


@pytest.mark.parametrize(("text", "inputs", "values"), CASES)
def test_the_value_makes_the_size_known(text, inputs, values):
    model = onnx.parser.parse_model(f"{HEAD} {text}")
    (group,) = infer_shapes(model).unknowns()
    assert group.inputs == inputs
    if values is not None:
        assert not infer_shapes(model, values=values).unknowns()


def test_nothing_is_hinted_at_where_all_is_known():
    assert infer_shapes(onnx.parser.parse_model(f"{HEAD} {KNOWN}")).unknowns() == []


def test_an_initializer_is_no_input():
    model = onnx.parser.parse_model(f"{HEAD} {COUNTS}")
    model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "first"))
    (group,) = infer_shapes(model).unknowns()
    assert group.inputs == ("second",)
    assert list(unknown_lines([group]))[-1] == "  second decides it: try --value second=..."
