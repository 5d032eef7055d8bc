"""Requested shapes of inputs are compared with the declarations that they replace (S123)."""

from pathlib import Path

import pytest

from shapeinf import infer_shapes

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CONVNET, PNNX = EXAMPLES / "convnet.onnx", EXAMPLES / "pnnx" / "cnn.pnnx.param"


@pytest.mark.parametrize(
    ("path", "shape", "codes"),
    [
        (CONVNET, [1, 3, 64, 64], []),
        (CONVNET, "[n, 3, 64, ?]", []),
        (CONVNET, [1, 64, 64, 3], ["S123", "S101"]),  # the axes are in another order
        (CONVNET, [3, 64, 64], ["S123", "S101"]),
        (CONVNET, [1, 3, 7, 8], ["S101"]),  # the declared numbers are those of the request
        (EXAMPLES / "recurrent.pbtxt", [2, 3], []),
        (PNNX, [2, 3, 40, 40], []),
    ],
)
def test_requests(path, shape, codes):
    graph = infer_shapes(path).graph
    result = infer_shapes(path, inputs={graph.inputs[0]: shape})
    assert [d.code for d in result.diagnostics if d.code in ("S123", "S101")] == codes


def test_the_message_has_both_shapes():
    result = infer_shapes(CONVNET, inputs={"image": [3, 64, 64]})
    (warning,) = [d for d in result.diagnostics if d.code == "S123"]
    assert warning.severity == "warning" and warning.tensor == "image"
    assert (
        warning.message == "the requested shape of image is [3, 64, 64], the model declares [batch, 3, height, width]"
    )
