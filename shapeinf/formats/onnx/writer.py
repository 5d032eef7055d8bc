"""An ONNX model annotated with inferred shapes. Weights are neither opened nor changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Protocol

import onnx

from shapeinf.algebra import Dimension, format_dim
from shapeinf.errors import ModelError
from shapeinf.formats.onnx.names import DTYPE_NUMBERS
from shapeinf.graph import Graph
from shapeinf.lattice import Shape


class Info(Protocol):
    """What the writer needs to know of a value."""

    @property
    def dtype(self) -> str | None:
        """Element type."""

    @property
    def shape(self) -> Shape:
        """Inferred shape."""

    @property
    def kind(self) -> str:
        """tensor, sequence, optional or map."""


def write(graph: Graph, tensors: Mapping[str, Info], path: str | os.PathLike[str]) -> None:
    """Write the model that `graph` was read from, with `value_info` and outputs filled in.

    Declarations of inputs stay as they are. Raises ModelError for a graph that was not read from an ONNX model.
    """
    if not isinstance(graph.model, onnx.ModelProto):
        raise ModelError("the graph was not read from an ONNX model: there is nothing to annotate")
    model = onnx.ModelProto()
    model.CopyFrom(graph.model)
    known = {value.name for value in (*model.graph.input, *model.graph.output)}
    del model.graph.value_info[:]
    for node in model.graph.node:
        for name in node.output:
            if name and name not in known and name in tensors:
                _describe(model.graph.value_info.add(name=name).type, tensors[name])
    for output in model.graph.output:
        if output.name in tensors:
            _describe(output.type, tensors[output.name])
    _keep_external_data(graph, path)
    with open(path, "wb") as file:
        file.write(model.SerializeToString())


def _keep_external_data(graph: Graph, path: str | os.PathLike[str]) -> None:
    """External data are named relative to the model: the copy must lie beside the original."""
    external = any(t.data_location == onnx.TensorProto.EXTERNAL for t in graph.model.graph.initializer)
    if not external or graph.source is None:
        return
    here, there = (os.path.realpath(os.path.dirname(os.path.abspath(p))) for p in (graph.source, path))
    if here != there:
        raise ModelError(
            f"its weights lie in other files beside {graph.source}: save into the same folder", node=str(path)
        )


def _describe(proto: onnx.TypeProto, info: Info) -> None:
    if info.kind == "map" or info.dtype is None:
        return
    if info.kind == "sequence":
        proto = proto.sequence_type.elem_type
    elif info.kind == "optional":
        proto = proto.optional_type.elem_type
    proto.tensor_type.elem_type = DTYPE_NUMBERS[info.dtype]
    if info.shape.dims is None:
        return
    proto.tensor_type.shape.Clear()
    proto.tensor_type.shape.SetInParent()
    for d in info.shape.dims:
        dim = proto.tensor_type.shape.dim.add()
        if isinstance(d, Dimension):
            if not d.is_anonymous:
                dim.dim_param = d.name if d.is_symbol else format_dim(d)
        else:
            dim.dim_value = d
