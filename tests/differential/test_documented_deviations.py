"""Where onnxruntime differs from the specification: what docs/onnx.md states of both, run in onnxruntime."""

import re
from pathlib import Path

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from tests.differential.ort import session_of

PAGE = Path(__file__).parents[2] / "docs" / "onnx.md"
REFUSED = "refused"
"""In place of the shapes of a run: onnxruntime raises an error."""


def longs(*values):
    return np.array(values, np.int64)


def floats(*shape):
    return np.zeros(shape, np.float32)


def number(value, dtype=np.int64):
    return np.array(value, dtype)


# Sizes of inputs are names, and operands are inputs, so that the kernels of the runtime decide, not its inference.
SLICE = """(float[a] x, int64[1] start, int64[1] end) => (y) {
  step = Constant<value_ints = [-1]>() axis = Constant<value_ints = [0]>() y = Slice(x, start, end, axis, step) }"""
CONCAT = "(float[a, b] x, float[c, d] z) => (y) { y = Concat<axis = 0>(x, z) }"
NONZERO = "(float x) => (y) { y = NonZero(x) }"
RANGE = "(float start, float limit, float delta) => (y) { y = Range(start, limit, delta) }"
RESHAPE = "(float[a, b] x, int64[2] target) => (y) { y = Reshape<allowzero = 1>(x, target) }"
WINDOW = "(int64[1, 1] size) => (y) { y = %s(size) }"
RESIZE = """(float[a, b, c, d] x, int64[2] sizes) => (y) {
  y = Resize<axes = [%d, %d], keep_aspect_ratio_policy = "not_larger">(x, , , sizes) }"""
SPLIT = "(float[a, b] x, int64 split) => (y) { y = SplitToSequence<keepdims = 0>(x, split) }"
SPLITS = "(float[a, b] x, int64[2] split) => (y) { y = SplitToSequence<keepdims = 0>(x, split) }"

SCALAR = "`size` must be of rank 0 but is of rank 2"
STEPS = {name: number(value, np.float32) for name, value in {"start": 0, "limit": 0.3, "delta": 0.1}.items()}
IMAGE = {"x": floats(1, 3, 4, 5), "sizes": longs(8, 15)}

CASES = {
    "Slice to 2^31 - 1": (SLICE, {"x": floats(5), "start": longs(4), "end": longs(2**31 - 1)}, (5,), "float32[0]"),
    "Slice to 2^63 - 1": (SLICE, {"x": floats(5), "start": longs(4), "end": longs(2**63 - 1)}, (5,), "float32[0]"),
    "Slice to 2^31 - 2": (SLICE, {"x": floats(5), "start": longs(4), "end": longs(2**31 - 2)}, (0,), "float32[0]"),
    "Concat": (CONCAT, {"x": floats(2, 0), "z": floats(2, 3)}, (4, 3), "axis 1 must be equal in all inputs"),
    "NonZero of 3": (NONZERO, {"x": number(3, np.float32)}, (1, 1), "int64[0, `y.count`]"),
    "NonZero of 0": (NONZERO, {"x": number(0, np.float32)}, (1, 0), "int64[0, `y.count`]"),
    "Range": (RANGE, STEPS, (4,), "float32[`y.range`]"),
    "Reshape of an empty input": (RESHAPE, {"x": floats(0, 4), "target": longs(0, -1)}, (0, 4), "both 0 and -1"),
    "Reshape of another input": (RESHAPE, {"x": floats(2, 4), "target": longs(0, -1)}, REFUSED, "both 0 and -1"),
    "HannWindow": (WINDOW % "HannWindow", {"size": longs(8).reshape(1, 1)}, (8,), SCALAR),
    "HammingWindow": (WINDOW % "HammingWindow", {"size": longs(8).reshape(1, 1)}, (8,), SCALAR),
    "BlackmanWindow": (WINDOW % "BlackmanWindow", {"size": longs(8).reshape(1, 1)}, (8,), SCALAR),
    "Resize": (RESIZE % (-2, -1), IMAGE, (1, 3, 4, 5), "float32[1, 3, 8, 10]"),
    "Resize from the front": (RESIZE % (2, 3), IMAGE, (1, 3, 8, 10), "float32[1, 3, 8, 10]"),
    "SplitToSequence by 1": (SPLIT, {"x": floats(4, 3), "split": number(1)}, [(3,)] * 4, "sequence(float32[1, 3])"),
    "SplitToSequence by 2": (SPLIT, {"x": floats(4, 3), "split": number(2)}, REFUSED, "sequence(float32[2, 3])"),
    "SplitToSequence by 2, 2": (
        SPLITS,
        {"x": floats(4, 3), "split": longs(2, 2)},
        [(2, 3)] * 2,
        "sequence(float32[2, 3])",
    ),
}


def parse(graph):
    return onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 21]> g ' + graph)


def run(model, feeds):
    try:
        (y,) = session_of(model).run(None, feeds)
    except Exception:  # onnxruntime has no class of its own for what fails at run time
        return REFUSED
    return [item.shape for item in y] if isinstance(y, list) else y.shape


@pytest.mark.parametrize("case", CASES)
def test_runtime(case):
    pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of this test")
    graph, feeds, expected, _ = CASES[case]
    assert run(parse(graph), feeds) == expected


@pytest.mark.parametrize("case", CASES)
def test_inference(case):
    graph, feeds, _, expected = CASES[case]
    values = {name: array.tolist() for name, array in feeds.items() if array.dtype == np.int64 or "Range" in graph}
    shapes = {name: list(array.shape) for name, array in feeds.items() if name not in values}
    result = infer_shapes(parse(graph), inputs=shapes, values=values)
    messages = [diagnostic.message for diagnostic in result.diagnostics]
    if messages:
        assert len(messages) == 1 and expected in messages[0]
    else:
        assert str(result.outputs["y"]) == expected


def test_bounds_of_a_range_of_floats():
    result = infer_shapes(parse(RANGE), values={name: float(array) for name, array in STEPS.items()})
    assert str(result.interval(result.outputs["y"].shape[0])) == "3..4"


def test_the_page_names_each_operator():
    section = PAGE.read_text(encoding="utf-8").split("## Where onnxruntime differs")[1].split("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in section.splitlines() if "|" in line)))
    assert {case.split()[0] for case in CASES} <= named
