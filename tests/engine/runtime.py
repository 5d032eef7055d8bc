"""Models as text, run by onnxruntime: inferred sizes must contain those of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from shapeinf import Result, infer_shapes
from tests.differential.ort import contains, sizes_in_run

F32 = "float32"


def ones(*shape: int) -> np.ndarray:
    """An array of ones."""
    return np.ones(shape, F32)


def parsed(text: str, opset: int = 19, header: str = "") -> onnx.ModelProto:
    """A model in ONNX's text form, without its header; node outputs have no declarations."""
    opsets = f'"" : {opset}, "my" : 1' if header == "" else header
    model = onnx.parser.parse_model(f"<ir_version: 10, opset_import: [{opsets}]>\n{text}")
    return model


def inferred(text: str, opset: int = 19, **options: Any) -> Result:
    """The result for a model as text."""
    return infer_shapes(parsed(text, opset), **options)


def shapes(result: Result, *names: str) -> list[str]:
    """The types of these values as text."""
    return [str(result.tensors[name]) for name in names]


def run(model: onnx.ModelProto, feeds: dict[str, Any]) -> dict[str, Any]:
    """The results of onnxruntime."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    names = [output.name for output in model.graph.output]
    return dict(zip(names, session.run(names, feeds), strict=True))


def check(text: str, *runs: dict[str, Any], opset: int = 19, **options: Any) -> Result:
    """The result for a model as text; see `check_model`."""
    return check_model(parsed(text, opset), *runs, **options)


def check_model(model: onnx.ModelProto, *runs: dict[str, Any], **options: Any) -> Result:
    """The result for a model, which must allow every run; a run is its inputs, arrays or lists of them.

    Named dims get the sizes that the inputs of the run have.
    """
    result = infer_shapes(model, **options)
    assert not [d for d in result.diagnostics if d.severity == "error"], result.diagnostics
    for feeds in runs:
        arrays = {name: np.asarray(value) for name, value in feeds.items()}
        computed = run(model, arrays)
        binding = sizes(model, arrays)
        everywhere = sizes_in_run(result, computed, binding)
        for name, real in computed.items():
            agree(result, name, real, binding if isinstance(real, list) else everywhere)
    return result


def sizes(model: onnx.ModelProto, arrays: dict[str, Any]) -> dict[str, int]:
    """The sizes of the named dims in a run."""
    sizes = {}
    for value in model.graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, arrays[value.name].shape, strict=False):
            if dim.dim_param:
                sizes[dim.dim_param] = size
    return sizes


def agree(result: Result, name: str, real: Any, binding: dict[str, int]) -> None:
    """The inferred type of a value contains the value of a run."""
    info = result.tensors[name]
    assert (info.kind == "sequence") == isinstance(real, list), name
    for item in real if isinstance(real, list) else [real]:
        array = np.asarray(item)
        assert info.dtype in (None, array.dtype.name), f"{name}: {info} is not {array.dtype.name}"
        assert contains(result, info.shape, array.shape, binding, False), f"{name}: {info} is not {array.shape}"
