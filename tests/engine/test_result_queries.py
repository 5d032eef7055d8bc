"""Short forms of the queries of a result: all axes, all sizes, names with a hint."""

from pathlib import Path

import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.errors import UnknownNameError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def result():
    return infer_shapes(EXAMPLES / "convnet.onnx")


def test_all_axes_are_explained_without_an_axis(result):
    steps = [step for axis in range(4) for step in result.explain("joined", axis)]
    assert result.explain("joined") == steps and len(steps) > 8
    assert result.explain("joined", 2) != steps


def test_an_unknown_rank_is_explained_without_an_axis():
    text = "g (float[n] x, int64[m] s) => (float[] y) { y = Reshape (x, s) }"
    unknown = infer_shapes(onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]> {text}'))
    assert unknown.tensors["y"].shape.rank is None
    assert unknown.explain("y") == unknown.explain("y", 0) != []


def test_sizes_within_the_bounds_are_solved_for(result):
    assert result.contract.solve("height").values == tuple(range(2, 1025, 2))
    bounded = infer_shapes(EXAMPLES / "convnet.onnx", dims={"height": "5..9"})
    assert bounded.contract.solve("height").values == (6, 8)


def test_a_misspelled_tensor_has_a_hint(result):
    with pytest.raises(KeyError, match="no tensor is named 'maskk'; did you mean 'mask'"):
        result.tensors["maskk"]
    with pytest.raises(UnknownNameError, match="did you mean 'mask'"):
        result.explain("maskk")
    assert result.tensors.get("maskk") is None and "maskk" not in result.tensors
