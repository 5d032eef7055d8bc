"""`allocate_outputs`: runs of onnxruntime and OpenVINO write their outputs into buffers of the inferred sizes."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import onnx
import pytest

from shapeinf import ModelError, ShapeInferenceError, UnknownNameError
from shapeinf.runtime import allocate_outputs
from shapeinf.runtime.allocation_counter import build_library, counter_obstacle
from tests.vectors import PROJECT

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: nothing can run")

OPSETS = '"" : 17'
MATMUL = "g (float[n, 4] x, float[4, k] w) => (float[n, k] y, float[n, 4] r) { y = MatMul(x, w)  r = Relu(x) }"
NONZERO = "g (float[n, m] x) => (int64[2, k] at, float[n, m] r) { at = NonZero(x)  r = Relu(x) }"
EXPAND = "g (float[1] x, int64[2] s) => (float[a, b] y) { y = Expand(x, s) }"
INPUT = "g (float[n] x) => (float[n] x, float[n] y) { y = Relu(x) }"
STRINGS = "g (string[n] x) => (string[n] y) { y = Identity(x) }"
SEQUENCE = "g (float[n] x) => (seq(float[n]) s, float[n] y) { s = SequenceConstruct(x, x)  y = Relu(x) }"
DEFAULT = "g (float[n] x, int64[1] s = {2}) => (float[a] y) { y = Expand(x, s) }"
PLAIN = "g (float[n, 4] x) => (float[n, 4] y, float[n] z) { y = Relu(x)  z = ReduceMax<axes = [1], keepdims = 0>(x) }"
HALF = "g (bfloat16[n] x) => (bfloat16[n] y, float[n] f) { y = Identity(x)  f = Cast<to = 1>(x) }"


def model_bytes(text):
    return onnx.parser.parse_model(f"<ir_version: 8, opset_import: [{OPSETS}]> {text}").SerializeToString()


def ort_session(text):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return ort.InferenceSession(model_bytes(text), options, providers=["CPUExecutionProvider"])


def compile_openvino(text):
    openvino = pytest.importorskip("openvino", reason="OpenVINO is not installed")
    core = openvino.Core()
    return core.compile_model(core.read_model(model_bytes(text)), "CPU")


X = np.array([[0, 1, 2, 0], [0, 0, -3, 4]], np.float32)
W = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("open_session", [ort_session, compile_openvino])
def test_outputs_are_written_into_the_arrays(open_session):
    session = open_session(MATMUL)
    outputs = allocate_outputs(session, {"x": X, "w": W}, model_bytes(MATMUL))
    results = outputs.run()
    assert outputs.unbound == {} and outputs.bounded == ()
    assert {name: array.shape for name, array in outputs.arrays.items()} == {"y": (2, 3), "r": (2, 4)}
    for name, expected in (("y", X @ W), ("r", np.maximum(X, 0))):
        np.testing.assert_array_equal(results[name], expected)
        assert np.shares_memory(results[name], outputs.arrays[name])
        assert outputs.arrays[name].ctypes.data % 64 == 0


@pytest.mark.parametrize("open_session", [ort_session, compile_openvino])
def test_a_second_run_reads_the_inputs_again(open_session):
    session, x = open_session(MATMUL), X.copy()
    outputs = allocate_outputs(session, {"x": x, "w": W}, model_bytes(MATMUL))
    outputs.run()
    x[:] = 1
    outputs.run()
    np.testing.assert_array_equal(outputs.arrays["y"], x @ W)


def test_the_binding_of_onnxruntime_runs():
    session = ort_session(MATMUL)
    outputs = allocate_outputs(session, {"x": X, "w": W})
    session.run_with_iobinding(outputs.binding)
    np.testing.assert_array_equal(outputs.arrays["y"], X @ W)


def test_onnxruntime_allocates_no_output(tmp_path):
    """Outputs of 1,024 and 256 bytes, and no other tensors."""
    if counter_obstacle():
        pytest.skip(counter_obstacle())
    path = tmp_path / "m.onnx"
    path.write_bytes(model_bytes(PLAIN))
    command = [sys.executable, "-P", str(Path(__file__).with_name("preallocation_child.py")), str(path)]
    environment = {**os.environ, "LD_PRELOAD": build_library(str(tmp_path)), "PYTHONPATH": str(PROJECT)}
    child = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(child.stdout) == [1024 + 256, 0]


def test_the_request_of_openvino_runs():
    outputs = allocate_outputs(compile_openvino(MATMUL), {"x": X, "w": W}, model_bytes(MATMUL))
    outputs.binding.infer()
    np.testing.assert_array_equal(outputs.arrays["y"], X @ W)


def test_sizes_that_depend_on_data_are_left_to_onnxruntime():
    outputs = allocate_outputs(ort_session(NONZERO), {"x": X})
    assert list(outputs.arrays) == ["r"]
    assert outputs.unbound == {"at": "its size depends on data; it has at most 128 bytes"}
    np.testing.assert_array_equal(outputs.run()["at"], np.array(np.nonzero(X)))


def test_openvino_writes_into_the_largest_buffer():
    outputs = allocate_outputs(compile_openvino(NONZERO), {"x": X}, model_bytes(NONZERO))
    assert outputs.bounded == ("at",) and outputs.arrays["at"].shape == (2, 8)
    at = outputs.run()["at"]
    np.testing.assert_array_equal(at, np.array(np.nonzero(X)))
    assert np.shares_memory(at, outputs.arrays["at"])


@pytest.mark.parametrize("shape", [(2, 3), (5, 1), (0, 4)])
def test_integer_inputs_that_decide_a_size_are_read(shape):
    outputs = allocate_outputs(ort_session(EXPAND), {"x": X[0, 1:2], "s": np.array(shape)})
    assert outputs.arrays["y"].shape == shape
    np.testing.assert_array_equal(outputs.run()["y"], np.ones(shape, np.float32))


@pytest.mark.parametrize(("feeds", "size"), [({}, 2), ({"s": np.array([4])}, 4)])
def test_a_default_value_holds_where_nothing_is_fed(feeds, size):
    outputs = allocate_outputs(ort_session(DEFAULT), {"x": X[0, 1:2], **feeds})
    assert outputs.run()["y"].shape == outputs.arrays["y"].shape == (size,)


def test_sizes_are_inferred_again_for_other_shapes():
    session = ort_session(MATMUL)
    for rows in (2, 3, 0, 2):
        x = np.ones((rows, 4), np.float32)
        np.testing.assert_array_equal(allocate_outputs(session, {"x": x, "w": W}).run()["y"], x @ W)


def test_types_that_numpy_lacks():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    outputs = allocate_outputs(ort_session(HALF), {"x": np.array([1, 2.5], ml_dtypes.bfloat16)})
    outputs.run()
    assert outputs.arrays["y"].tolist() == outputs.arrays["f"].tolist() == [1, 2.5]


def test_a_sequence_has_no_buffer():
    outputs = allocate_outputs(ort_session(SEQUENCE), {"x": X[0]})
    assert outputs.unbound == {"s": "a sequence has no buffer of its own"}
    results = outputs.run()
    np.testing.assert_array_equal(results["y"], X[0])
    assert "s" in results


def test_an_output_that_is_an_input_has_no_buffer():
    outputs = allocate_outputs(ort_session(INPUT), {"x": X[0]})
    assert outputs.unbound == {"x": "it is an input or a constant, which no node writes"}
    assert list(outputs.run()) == ["y", "x"]


def test_sessions_are_not_kept():
    session = ort_session(MATMUL)
    allocate_outputs(session, {"x": X, "w": W})
    alive = weakref.ref(session)
    del session
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(
    ("text", "feeds", "error", "message"),
    [
        (MATMUL, {"x": X, "v": W}, UnknownNameError, "no input is named 'v'"),
        (MATMUL, {"x": X[0], "w": W}, ShapeInferenceError, "x"),
        (MATMUL, {"x": X}, ModelError, "w"),
        (MATMUL, {"x": X, "w": W[:3]}, ShapeInferenceError, "w"),
        (STRINGS, {"x": np.array(["a"], object)}, ModelError, "has strings, which onnxruntime does not bind"),
    ],
)
def test_errors_name_the_input(text, feeds, error, message):
    with pytest.raises(error, match=message):
        allocate_outputs(ort_session(text), feeds).run()


def test_a_session_of_another_package():
    with pytest.raises(ModelError, match="expected a session of onnxruntime or openvino, not object"):
        allocate_outputs(object(), {})


def test_openvino_needs_the_model():
    with pytest.raises(ModelError, match="specify it as well"):
        allocate_outputs(compile_openvino(MATMUL), {"x": X, "w": W})
