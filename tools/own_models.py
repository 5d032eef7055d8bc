"""Models of this project with the shapes that onnxruntime computes, for `tools/measure_damage.py`.

A model is used if onnxruntime runs it at three bindings of its named dims.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

ROOT = Path(__file__).resolve().parent.parent
SIZES = (64, 1, 128, 192, 32, 96, 8, 16, 24, 28, 56, 84)
"""Sizes to try: those of images are often multiples of powers of two, and 1 distinguishes names from equal sizes."""
KINDS = {1: "float", 7: "int", 6: "int", 9: "bool"}
BINDINGS = 3


def own_models() -> Iterator[tuple[str, onnx.ModelProto, dict[str, Any]]]:
    """Name, model and truth of the examples, and of the models of `tests/differential/test_legal_sizes.py`."""
    for path in sorted((ROOT / "examples").glob("*.onnx")):
        yield from with_truth(path.stem, onnx.load(str(path)))
    sys.path.insert(0, str(ROOT))
    factories: Mapping[str, Callable[[], onnx.ModelProto]] = import_module("tests.differential.test_legal_sizes").CASES
    for name, factory in factories.items():
        yield from with_truth(name, factory())


def with_truth(name: str, model: onnx.ModelProto) -> Iterator[tuple[str, onnx.ModelProto, dict[str, Any]]]:
    """The model with its truth, if it runs at enough bindings."""
    truth = record_truth(model)
    if truth is not None:
        yield name, model, truth


def record_truth(model: onnx.ModelProto) -> dict[str, Any] | None:
    """The shapes of all values at three bindings, in the form of a `.truth.json` file; None if fewer run."""
    session = create_session(model)
    inputs = {i.name: [d.dim_param or d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input}
    types = {i.name: KINDS[i.type.tensor_type.elem_type] for i in model.graph.input}
    names = sorted({d for dims in inputs.values() for d in dims if isinstance(d, str)})
    bindings, runs = [], []
    for start in range(len(SIZES)):
        binding = {name: SIZES[(start + i) % len(SIZES)] for i, name in enumerate(names)}
        binding.update({name: start + 2 for name in names if name == "batch"})
        shapes = {name: [binding.get(d, d) for d in dims] for name, dims in inputs.items()}
        feeds = {
            n: np.zeros(s, {"float": np.float32, "int": np.int64, "bool": bool}[types[n]]) for n, s in shapes.items()
        }
        try:
            values = session.run(None, feeds)
        except Exception:
            continue
        bindings.append(binding)
        results = {o.name: list(np.shape(v)) for o, v in zip(session.get_outputs(), values, strict=True)}
        runs.append({**shapes, **results})
        if len(runs) == BINDINGS:
            break
    if len(runs) < BINDINGS:
        return None
    generator = [{"name": n, "kind": types[n], "lo": 0, "hi": 1} for n in inputs]
    dtypes = {"float": "float32", "int": "int64", "bool": "bool"}
    observed = {n: {"shapes": [run[n] for run in runs], "dtype": dtypes.get(types.get(n, ""), "")} for n in runs[0]}
    tensors = {n: value for n, value in observed.items() if n not in inputs}
    known = {n: observed[n] for n in inputs}
    return {"bindings": bindings, "gen_bindings": bindings, "generator": generator, "inputs": known, "tensors": tensors}


def create_session(model: onnx.ModelProto) -> ort.InferenceSession:
    """A session that returns the value of every node too."""
    extended = onnx.ModelProto()
    extended.CopyFrom(model)
    known = {value.name for value in extended.graph.output}
    names = [o for node in extended.graph.node for o in node.output if o and o not in known]
    extended.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return ort.InferenceSession(extended.SerializeToString(), options, providers=["CPUExecutionProvider"])
