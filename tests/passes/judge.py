"""Comparisons of a cleaned model with the original: its form, its interface, and its numbers in onnxruntime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

Feed = Mapping[str, Any]
CORE = ("", "ai.onnx")


def operators(model: onnx.ModelProto) -> Counter[str]:
    """Nodes by operator, in all scopes of the main graph; those of other domains as `domain::operator`."""
    return Counter(_operator(node) for node in _nodes(model.graph))


def opset(model: onnx.ModelProto) -> int:
    return next(entry.version for entry in model.opset_import if entry.domain in CORE)


def attributes(model: onnx.ModelProto) -> set[tuple[str, str]]:
    """Operator and name of each attribute."""
    return {(_operator(node), attribute.name) for node in _nodes(model.graph) for attribute in node.attribute}


def initializers(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    return [tensor for graph in _scopes(model.graph) for tensor in graph.initializer]


def most_readers(model: onnx.ModelProto) -> int:
    """The largest number of readers of one initializer, captures included."""
    counts = (_readers(graph, tensor.name) for graph in _scopes(model.graph) for tensor in graph.initializer)
    return max(counts, default=0)


def signature(model: onnx.ModelProto) -> tuple[Any, ...]:
    """The operators with attributes, the constants and the opset, which a second run must not change; no names."""
    nodes = [
        (
            _operator(node),
            len(node.input),
            len(node.output),
            tuple(sorted(_attribute(attribute) for attribute in node.attribute if not _is_body(attribute))),
        )
        for node in _nodes(model.graph)
    ]
    constants = [(tensor.data_type, tuple(tensor.dims), _numbers(tensor)) for tensor in initializers(model)]
    return Counter(nodes), Counter(constants), opset(model)


def _numbers(tensor: onnx.TensorProto) -> str:
    """The contents, or their place in another file."""
    external = tensor.data_location == onnx.TensorProto.EXTERNAL
    return str(tensor.external_data) if external else repr(numpy_helper.to_array(tensor).tolist())


def interface(model: onnx.ModelProto) -> dict[str, Any]:
    """Inputs, outputs with element types and sizes, and which inputs have a default.

    Before IR version 4 an initializer that is an input is no input of a caller.
    """
    defaults = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if model.ir_version >= 4 or value.name not in defaults]
    return {
        "inputs": [(value.name, _declared(value)) for value in inputs],
        "outputs": [(value.name, _declared(value)) for value in model.graph.output],
        "defaults": sorted(defaults & {value.name for value in inputs}),
    }


def run(model: onnx.ModelProto, feeds: Sequence[Feed]) -> list[dict[str, Any]]:
    """The outputs of a model on each feed, without the optimizations of the runtime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return [dict(zip(names, session.run(None, dict(feed)), strict=True)) for feed in feeds]


def differ(want: Any, got: Any, rtol: float, atol: float) -> str:
    """How two outputs differ; empty where they do not. Both tolerances 0: equal numbers, signs of zeros included."""
    if isinstance(want, list):
        if not isinstance(got, list) or len(want) != len(got):
            return "another number of items"
        return next((text for a, b in zip(want, got, strict=True) if (text := differ(a, b, rtol, atol))), "")
    if want is None or got is None:
        return "" if want is got else "an optional is empty in one of them"
    want, got = np.asarray(want), np.asarray(got)
    if (want.dtype.kind, want.shape) != (got.dtype.kind, got.shape) and want.dtype != got.dtype:
        return f"{want.dtype}{list(want.shape)} and {got.dtype}{list(got.shape)}"
    if want.shape != got.shape:
        return f"{list(want.shape)} and {list(got.shape)}"
    if want.dtype.kind in "OUS":
        return "" if want.astype(str).tolist() == got.astype(str).tolist() else "other texts"
    if want.dtype.kind in "biu":
        return "" if np.array_equal(want, got) else "other values"
    return _differ_floats(want.astype(np.float64), got.astype(np.float64), rtol, atol)


def _differ_floats(want: Any, got: Any, rtol: float, atol: float) -> str:
    with np.errstate(invalid="ignore"):
        same = (want == got) | (np.isnan(want) & np.isnan(got))
        if rtol == atol == 0:
            same &= np.isnan(want) | (np.signbit(want) == np.signbit(got))
        else:
            same |= np.abs(want - got) <= atol + rtol * np.abs(want)
        return "" if same.all() else f"off by {np.nanmax(np.where(same, 0, np.abs(want - got))):.3g}"


def check_same(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    feeds: Sequence[Feed],
    rtol: float,
    atol: float,
    valid: bool = True,
) -> None:
    """Fail unless a cleaned model is as valid as the original, and has its interface and its numbers."""
    if valid:
        onnx.checker.check_model(after, full_check=True)
        assert interface(after) == interface(before)
    if not feeds:
        return
    for feed, want, got in zip(feeds, run(before, feeds), run(after, feeds), strict=True):
        for name, value in want.items():
            text = differ(value, got[name], rtol, atol)
            assert not text, f"{name}: {text} at { ({key: np.shape(array) for key, array in feed.items()}) }"


def _operator(node: onnx.NodeProto) -> str:
    return node.op_type if node.domain in CORE else f"{node.domain}::{node.op_type}"


def _is_body(attribute: onnx.AttributeProto) -> bool:
    return attribute.HasField("g") or bool(attribute.graphs)


def _attribute(attribute: onnx.AttributeProto) -> bytes:
    return bytes(attribute.SerializeToString(deterministic=True))


def _bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for scope in _scopes(graph):
        yield from scope.node


def _scopes(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for body in _bodies(node):
            yield from _scopes(body)


def _readers(graph: onnx.GraphProto, name: str) -> int:
    """Inputs of nodes that read a name of a scope; a body that defines the name itself reads its own."""
    count = sum(list(node.input).count(name) for node in graph.node)
    for node in graph.node:
        for body in _bodies(node):
            own = {tensor.name for tensor in body.initializer} | {value.name for value in body.input}
            own |= {output for inner in body.node for output in inner.output}
            count += 0 if name in own else _readers(body, name)
    return count


def _declared(value: onnx.ValueInfoProto) -> tuple[Any, ...]:
    """Kind, element type, and sizes; the name of an open size does not count."""
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type"):
        return (value.type.WhichOneof("value"), value.type.SerializeToString(deterministic=True))
    if not tensor.HasField("shape"):
        return ("tensor", tensor.elem_type, None)
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
    return ("tensor", tensor.elem_type, sizes)
