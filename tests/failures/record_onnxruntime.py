"""The messages of onnxruntime and OpenVINO for the cases of ONNX, and for models of the corpus."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.failures.onnx_cases import CASES, NAMES, OnnxCase, build

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


def open_session(model: onnx.ModelProto | str, *, optimized: bool = True) -> Any:
    """A session of onnxruntime with one thread and no log."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimized else level.ORT_DISABLE_ALL
    source = model if isinstance(model, str) else model.SerializeToString()
    return onnxruntime.InferenceSession(source, options, ["CPUExecutionProvider"])


def corpus_messages(load: Callable[[str], Run]) -> Iterator[dict[str, Any]]:
    """The messages of a runtime for models of the corpus, of which one axis of one input has another size.

    The node that fails is the one that onnxruntime names without its optimizations.
    """
    folder = Path(os.environ["SHAPEINF_CONFORMANCE"]) / "models" / "dev"
    for path in sorted(folder.glob("*.onnx"))[::2]:
        truth = json.loads((folder / f"{path.stem}.truth.json").read_text(encoding="utf-8"))
        model = onnx.load(str(path))
        shapes = {name: entry["shapes"][0] for name, entry in truth["inputs"].items()}
        if set(shapes) != {value.name for value in model.graph.input}:
            continue
        try:
            plain = open_session(str(path), optimized=False)
            plain.run(None, make_feed(model, shapes, {}))
            run = load(str(path))
        except Exception:  # some models run at other values only, or in another runtime
            continue
        for changed in list(_changed_shapes(shapes))[:MOST_OF_A_MODEL]:
            node = _failing_node(plain, make_feed(model, changed, {}))
            text = _error(run, make_feed(model, changed, {})) if node else ""
            if node and text:
                yield {
                    "case": path.name,
                    "model": f"models/dev/{path.name}",
                    "sizes": None,
                    "shapes": changed,
                    "values": {},
                    "data": False,
                    "node": node,
                    "runs": [],
                    "text": text,
                }


MOST_OF_A_MODEL = 3


def _changed_shapes(shapes: Mapping[str, Sequence[int]]) -> Iterator[dict[str, list[int]]]:
    """The shapes with one axis larger, of one input after the other."""
    for axis in range(5):
        for name, shape in shapes.items():
            if axis < len(shape):
                changed = [size + (i == len(shape) - 1 - axis) for i, size in enumerate(shape)]
                yield {**{n: list(s) for n, s in shapes.items()}, name: changed}


def _failing_node(session: Any, feed: Feed) -> dict[str, Any] | None:
    """The node that a session names; None where the run succeeds, or an input is refused."""
    text = _error(lambda fed: session.run(None, dict(fed)), feed)
    found = re.findall(r"running (\w+) node\. Name:'([^']*)'", text)
    return {"op": found[-1][0], "name": found[-1][1], "output": ""} if found else None


def _error(run: Run, feed: Feed) -> str:
    try:
        run(feed)
    except Exception as error:  # the runtimes raise RuntimeError and classes of their own
        return str(error)
    return ""


def messages() -> Iterator[dict[str, Any]]:
    """The messages of onnxruntime, with its default optimizations."""
    sessions: dict[bytes, Any] = {}

    def load(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> Run:
        data = model.SerializeToString(deterministic=True)
        if data not in sessions:
            sessions[data] = open_session(model)
        return lambda feed: sessions[data].run(None, dict(feed))

    def load_file(path: str) -> Run:
        session = open_session(path)
        return lambda feed: session.run(None, dict(feed))

    yield from case_messages(load)
    yield from corpus_messages(load_file)
