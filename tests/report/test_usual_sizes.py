"""Sizes where the user names none: legal, of a usual magnitude, the same for the same model."""

from pathlib import Path

import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.report.usual_sizes import usual_sizes

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

MODELS = [
    ("float[n, 3, h, w] x", {"n": 1, "h": 640, "w": 640}),
    ("float[n, h, w, 3] x", {"n": 1, "h": 640, "w": 640}),
    ("float[n, c, h, w] x", {"n": 1, "c": 128, "h": 128, "w": 128}),
    ("float[n, 8, past, 4] x", {"n": 1, "past": 128}),
    ("float[n, 3] x", {"n": 1}),
    ("float[1, n] x", {"n": 128}),
    ("float[2, 3] x", {}),
]


@pytest.mark.parametrize(("inputs", "expected"), MODELS)
def test_sizes_by_the_shape_of_the_input(inputs, expected):
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 20]> g ({inputs}) => (float[] y) {{ y = Relu (x) }}'
    )
    assert usual_sizes(infer_shapes(model)) == expected


@pytest.mark.parametrize(
    ("dims", "sizes", "expected"),
    [
        ({}, {}, {"batch": 1, "seq": 128}),
        ({"seq": "1..16", "batch": "4.."}, {}, {"batch": 4, "seq": 16}),
        ({}, {"seq": 7}, {"batch": 1, "seq": 7}),
        ({}, {"seq": 513}, {}),  # the model has positions for 512
        ({}, {"sequence": 7}, {}),  # whoever uses the sizes reports the name
    ],
)
def test_sizes_are_legal(dims, sizes, expected):
    result = infer_shapes(EXAMPLES / "decoder.onnx", dims=dims)
    assert usual_sizes(result, sizes) == expected
    if expected:
        assert result.contract.check(expected).verdict


def test_a_mask_over_past_and_new_tokens():
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 20]>
        g (float[n, past, 4] old, float[n, seq, 4] new, float[n, all, 4] mask) => (float[] y) {
            cache = Concat <axis = 1> (old, new)
            y = Mul (cache, mask)
        }"""
    )
    sizes = usual_sizes(infer_shapes(model))
    assert sizes["n"] == 1 and infer_shapes(model).contract.check(sizes).verdict


def test_a_dim_has_the_requested_size_under_any_of_its_names():
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 20]> g (float[n, 3, h, 5] x) => (float[] y) { y = Relu (x) }'
    )
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "Dyn.0"
    result = infer_shapes(model)
    for name in ("Dyn.0", "`Dyn.0`"):
        assert usual_sizes(result, {name: 7}) == {"n": 1, "`Dyn.0`": 7}
