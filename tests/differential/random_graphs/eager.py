"""Nodes run one by one in onnxruntime while a graph is drawn, so that each fits the values so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from shapeinf.lattice.dtypes import ONNX_CODES
from tests.differential.ort import session_of

Value = Any
"""An array, or a list of arrays for a sequence."""

MS = "com.microsoft"
LOCAL = "local"
MAX_ELEMENTS = 20_000


class Refused(Exception):  # noqa: N818  (not an error: the drawn node does not fit)
    """No value fits, or onnxruntime rejects the node."""


def imports_of(opset: int) -> list[onnx.OperatorSetIdProto]:
    """The operator sets that a drawn model uses."""
    return [helper.make_opsetid("", opset), helper.make_opsetid(MS, 1), helper.make_opsetid(LOCAL, 1)]


def ir_version_of(opset: int) -> int:
    """A version of the file format that supports the operator set."""
    return 8 if opset < 19 else 10


def declared(name: str, value: Value, dims: Sequence[int | str | None] | None = None) -> onnx.ValueInfoProto:
    """The type of a value; a tensor has its real sizes unless `dims` are specified."""
    if isinstance(value, list):
        element = helper.make_tensor_type_proto(_number(value[0]) if value else 1, None)
        return helper.make_value_info(name, helper.make_sequence_type_proto(element))
    return helper.make_tensor_value_info(name, _number(value), list(value.shape) if dims is None else dims)


def _number(array: np.ndarray[Any, Any]) -> int:
    return ONNX_CODES["string" if array.dtype.kind in "OU" else array.dtype.name]


def model_of_nodes(
    nodes: Sequence[onnx.NodeProto],
    known: Mapping[str, Value],
    imports: Sequence[onnx.OperatorSetIdProto],
    ir_version: int,
    functions: Sequence[onnx.FunctionProto] = (),
) -> onnx.ModelProto:
    """Nodes as a model: the known values that they read are inputs, the values that they compute are outputs."""
    outputs = [name for node in nodes for name in node.output if name]
    wanted = [name for name in dict.fromkeys(read(nodes)) if name in known and name not in outputs]
    inputs = [declared(name, known[name]) for name in wanted]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info(name) for name in outputs])
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version, functions=list(functions))


def run(
    nodes: Sequence[onnx.NodeProto],
    known: Mapping[str, Value],
    opset: int,
    functions: Sequence[onnx.FunctionProto] = (),
) -> dict[str, Value]:
    """Run the nodes on known values. Raises Refused."""
    model = model_of_nodes(nodes, known, imports_of(opset), ir_version_of(opset), functions)
    outputs = [info.name for info in model.graph.output]
    try:
        results = session_of(model).run(outputs, {info.name: known[info.name] for info in model.graph.input})
    except Exception as refusal:  # onnxruntime has no class of its own for what fails at run time
        raise Refused(str(refusal)) from None
    computed = dict(zip(outputs, results, strict=True))
    if any(size(value) > MAX_ELEMENTS for value in computed.values()):
        raise Refused("too large")
    return computed


def read(nodes: Sequence[onnx.NodeProto]) -> Iterator[str]:
    """The names that nodes read, also in their bodies."""
    for node in nodes:
        yield from node.input
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from read(attribute.g.node)
                yield from (output.name for output in attribute.g.output)


def size(value: Value) -> int:
    """The number of elements."""
    return sum(map(size, value)) if isinstance(value, list) else int(np.size(value))
