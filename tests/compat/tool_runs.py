"""Runs of onnxruntime's tools on one model, for a process of its own with a folder of its own as its current one.

    python -m tests.compat.tool_runs MODEL TRUTH RESULTS.npz [--patched]

It prints, for each tool, "ok" or the error, as JSON, and writes what the models that the tools wrote compute.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process
from onnxruntime.transformers import optimizer

from shapeinf.compat import patched

Feed = dict[str, Any]


def with_weights(path: Path) -> onnx.ModelProto:
    """A model of the corpus, whose weights in the file of zeros become small numbers that depend on their names."""
    model = onnx.load(str(path))
    external = {t.name for t in onnx.load(str(path), load_external_data=False).graph.initializer if t.external_data}
    for tensor in model.graph.initializer:
        if tensor.name in external and onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type) == np.float32:
            generator = np.random.default_rng([*tensor.name.encode()])
            array = generator.normal(scale=0.1, size=tuple(tensor.dims)).astype(np.float32)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return model


def feeds(truth: Mapping[str, Any]) -> list[Feed]:
    """Inputs at each binding of the truth."""
    return [_feed(truth, run) for run in range(len(truth["bindings"]))]


def _feed(truth: Mapping[str, Any], run: int) -> Feed:
    generator = np.random.default_rng(run)
    return {spec["name"]: _array(spec, truth["inputs"][spec["name"]], run, generator) for spec in truth["generator"]}


def _array(spec: Mapping[str, Any], known: Mapping[str, Any], run: int, generator: np.random.Generator) -> Any:
    shape, kind = known["shapes"][run], spec["kind"]
    if kind == "str":
        return np.asarray(generator.choice(spec["hi"], shape), object)
    if kind in ("int", "scalar_int"):
        array: Any = generator.integers(spec["lo"], spec["hi"], shape)
    elif kind == "float":
        array = generator.normal(size=shape)
    elif kind == "arange_past":
        array = np.broadcast_to(np.arange(shape[-1]), shape)
    else:
        array = np.ones(shape)
    dtype = {"float": "float32", "double": "float64"}.get(known["dtype"], known["dtype"])
    return np.asarray(array).astype(dtype)


class Calibration(quantization.CalibrationDataReader):  # type: ignore[misc]
    """One run for each binding."""

    def __init__(self, inputs: list[Feed]) -> None:
        self._inputs: Iterator[Feed] = iter(inputs)

    def get_next(self) -> Feed | None:
        return next(self._inputs, None)


def run(path: str, inputs: list[Feed]) -> dict[str, Any]:
    """The outputs of a model at the first inputs."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    values = session.run(None, inputs[0])
    return {meta.name: value for meta, value in zip(session.get_outputs(), values, strict=True)}


def quantize_static(source: str, target: str, inputs: list[Feed]) -> None:
    quantization.quantize_static(source, target, Calibration(inputs))


def optimize(source: str, target: str) -> None:
    optimizer.optimize_model(source, "bert", opt_level=0).save_model_to_file(target)


def tools(inputs: list[Feed]) -> dict[str, Callable[[], object]]:
    """The runs by name, in order: the quantizers read what `quant_pre_process` wrote."""
    return {
        "quant_pre_process": lambda: quant_pre_process("model.onnx", "quant_pre_process.onnx", auto_merge=True),
        "quantize_dynamic": lambda: quantization.quantize_dynamic("quant_pre_process.onnx", "quantize_dynamic.onnx"),
        "quantize_static": lambda: quantize_static("quant_pre_process.onnx", "quantize_static.onnx", inputs),
        "optimize_model": lambda: optimize("model.onnx", "optimize_model.onnx"),
    }


def outcome(name: str, tool: Callable[[], object], inputs: list[Feed], results: dict[str, Any]) -> str:
    """ "ok", or the error of the tool or of the run of the model that it wrote; the outputs go into `results`."""
    try:
        tool()
        results[f"{name}/number of nodes"] = np.array(len(onnx.load(f"{name}.onnx").graph.node))
        results.update((f"{name}/{output}", value) for output, value in run(f"{name}.onnx", inputs).items())
    except Exception as error:
        return " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return "ok"


def main(model: str, truth: str, target: str, *, patch: bool) -> None:
    logging.disable(logging.CRITICAL)
    inputs = feeds(json.loads(Path(truth).read_text(encoding="utf-8")))
    onnx.save(with_weights(Path(model)), "model.onnx")
    run("model.onnx", inputs)
    results: dict[str, Any] = {}
    with redirect_stdout(sys.stderr), patched() if patch else nullcontext():
        outcomes = {name: outcome(name, tool, inputs, results) for name, tool in tools(inputs).items()}
    arrays = {name: value for name, value in results.items() if isinstance(value, np.ndarray)}
    texts = {name: value.astype(str) for name, value in arrays.items() if value.dtype == object}
    np.savez(target, **{**arrays, **texts})
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:4], patch="--patched" in sys.argv)
