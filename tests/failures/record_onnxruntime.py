"""The messages of onnxruntime and OpenVINO for the cases of ONNX, and for models of the corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.failures.onnx_cases import CASES, NAMES, OnnxCase, build, target

Feed = Mapping[str, Any]
Run = Callable[[Feed], object]

GRID = (1, 2, 3, 4, 5, 6, 8, 9)
"""The sizes of each dim in turn at which a model is run, besides those of the case."""


def declared_shapes(model: onnx.ModelProto) -> dict[str, list[int | str]]:
    """The declared dims of all inputs."""
    return {
        value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in model.graph.input
    }


def make_feed(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]], values: Mapping[str, Any]) -> Feed:
    """Arrays for all inputs: floats are ones, integers zeros, where `values` does not have them."""
    feed = {}
    for value in model.graph.input:
        dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        shape = tuple(shapes[value.name])
        if value.name in values:
            feed[value.name] = np.broadcast_to(np.asarray(values[value.name], dtype), shape).copy()
        elif value.type.tensor_type.elem_type in (TensorProto.FLOAT, TensorProto.UINT8, TensorProto.BOOL):
            feed[value.name] = np.ones(shape, dtype)
        else:
            feed[value.name] = np.zeros(shape, dtype)
    return feed


def shapes_at(model: onnx.ModelProto, sizes: Mapping[str, int]) -> dict[str, list[int]]:
    """The shapes of the inputs at sizes of the dims."""
    return {
        name: [sizes[dim] if isinstance(dim, str) else dim for dim in dims]
        for name, dims in declared_shapes(model).items()
    }


def case_messages(
    load: Callable[[onnx.ModelProto, Mapping[str, Sequence[int]]], Run], versions: Sequence[str] = NAMES
) -> Iterator[dict[str, Any]]:
    """The messages of a runtime for all cases. `load` makes the function that runs a model, which raises the error."""
    for number, case in enumerate(CASES):
        names = versions[number % len(versions)]
        model = build(case, names)
        attempts = [({**case.legal, **sizes}, None) for sizes in case.illegal]
        for sizes, fed in [*attempts, *((None, shapes) for shapes in case.fed)]:
            shapes = fed if sizes is None else shapes_at(model, sizes)
            text = run_text(load, model, shapes, case.values)
            if not text:
                continue
            yield {
                "case": case.name,
                "model": model.SerializeToString(deterministic=True),
                "sizes": sizes,
                "shapes": {name: list(shape) for name, shape in shapes.items()},
                "values": {name: np.asarray(value).tolist() for name, value in case.values.items()},
                "data": case.data,
                "node": node_of(model),
                "runs": [] if sizes is None else list(grid_runs(load, model, case, sizes)),
                "text": text,
            }


def node_of(model: onnx.ModelProto) -> dict[str, Any]:
    """The node that can fail: in the graph, or in a body."""
    nodes = list(model.graph.node)
    for node in nodes:
        nodes += [inner for attribute in node.attribute for inner in attribute.g.node]
    node = next(n for n in nodes if any(o.startswith("target") for o in n.output))
    return {"op": node.op_type, "name": node.name, "output": node.output[0]}


def grid_runs(
    load: Callable[[onnx.ModelProto, Mapping[str, Sequence[int]]], Run],
    model: onnx.ModelProto,
    case: OnnxCase,
    sizes: Mapping[str, int],
) -> Iterator[tuple[dict[str, int], bool]]:
    """Sizes in which one dim differs, each with whether the runtime runs the model."""
    for name in case.legal:
        for size in GRID:
            at = {**sizes, name: size}
            yield at, not run_text(load, model, shapes_at(model, at), case.values)


def run_text(
    load: Callable[[onnx.ModelProto, Mapping[str, Sequence[int]]], Run],
    model: onnx.ModelProto,
    shapes: Mapping[str, Sequence[int]],
    values: Mapping[str, Any],
) -> str:
    """The error text of a run; empty where it succeeds."""
    try:
        load(model, shapes)(make_feed(model, shapes, values))
    except Exception as error:  # the runtimes raise RuntimeError and classes of their own
        return str(error)
    return ""


def messages() -> Iterator[dict[str, Any]]:
    """The messages of onnxruntime, with its default optimizations."""
    import onnxruntime

    sessions: dict[bytes, Any] = {}

    def load(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> Run:
        data = model.SerializeToString(deterministic=True)
        if data not in sessions:
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            options.intra_op_num_threads = 1
            sessions[data] = onnxruntime.InferenceSession(data, options, ["CPUExecutionProvider"])
        return lambda feed: sessions[data].run(None, dict(feed))

    yield from case_messages(load)


__all__ = ["case_messages", "messages", "target"]
