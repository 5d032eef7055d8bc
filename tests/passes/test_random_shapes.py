"""Random models that compute sizes accept the same sizes after the passes, and have the same numbers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings

from shapeinf.passes import DEFAULT_ORDER, clean
from tests.passes.judge import differ, interface
from tests.passes.random_shapes import shape_models

pytest.importorskip("onnxruntime")

SIZES = (0, 1, 2, 3)
"""The sizes of each open dim; among them some that most models refuse."""

ORDERS = (DEFAULT_ORDER, ("fold_shapes",))


@given(shape_models())
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
def test_random_shapes(model):
    check(model)


@pytest.mark.slow
@given(shape_models())
@settings(max_examples=2000, derandomize=False, suppress_health_check=list(HealthCheck))
def test_many_random_shapes(model):
    check(model)


OPEN_SIZE_NEXT_TO_ZERO = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, n] x, float[m, 6] z, bool p) => (float[] y) <int64[1] open = {-1}> {
  size = Shape <start = 1, end = 2> (x)
  target = Concat <axis = 0> (open, size)
  y = Reshape <allowzero = 1> (x, target)
}"""


def test_what_onnxruntime_accepts_against_the_specification() -> None:
    """With `allowzero` it takes [-1, 0]; without, it takes [-1, 0] only where 0 does not copy a size of 0."""
    check(onnx.parser.parse_model(OPEN_SIZE_NEXT_TO_ZERO))


def check(model: onnx.ModelProto) -> None:
    """Compare the outcome at every size: the numbers, or that the runtime refuses."""
    try:
        before = session(model)
    except Exception:  # onnx's own inference finds that the model is legal at no size
        return
    for order in ORDERS:
        cleaned = clean(model, order)
        if any(entry.outcome == "undone" for entry in cleaned.report.passes):
            continue  # a size gets simpler: max(n, m), of which a Reshape requires that it is n, is n
        after_model = cleaned.to_proto()
        assert interface(after_model) == interface(model)
        after = try_session(after_model)
        for n, m, p in itertools.product(SIZES, SIZES, (False, True)):
            feed = feeds(model, n, m, p)
            want, got = outcome(before, feed), None if after is None else outcome(after, feed)
            where = f"n={n}, m={m}, p={p}"
            assert (want is None) == (got is None), f"{where}: {'refused' if want is None else 'accepted'} before"
            for a, b in zip(want or (), got or (), strict=True):
                assert not differ(a + 0, b + 0, 0, 0), where  # onnxruntime's Where turns -0.0 into 0.0


def feeds(model: onnx.ModelProto, n: int, m: int, p: bool) -> dict[str, Any]:
    """Positive numbers for the inputs at these sizes."""
    sizes = {"n": n, "m": m}
    result: dict[str, Any] = {"p": np.array(p)}
    for value in model.graph.input[:2]:
        dims = value.type.tensor_type.shape.dim
        shape = [dim.dim_value if dim.HasField("dim_value") else sizes[dim.dim_param] for dim in dims]
        result[value.name] = np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)
    return result


def try_session(model: onnx.ModelProto) -> Any:
    """A session; None where onnxruntime refuses to load the model, as it may where the original runs at no size."""
    try:
        return session(model)
    except Exception:
        return None


def session(model: onnx.ModelProto) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def outcome(session: Any, feed: dict[str, Any]) -> list[Any] | None:
    """The outputs; None where the runtime refuses the sizes."""
    try:
        return list(session.run(None, feed))
    except Exception:
        return None
