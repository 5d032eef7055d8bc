"""Messages of onnx annotated in place: a message without its weights is read and written, and the new types move over.

So weights are neither copied nor encoded, and a message may be larger than protobuf can write.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import onnx

from shapeinf.formats.annotation import Annotation
from shapeinf.formats.contents import wants_contents
from shapeinf.formats.files import WriteOptions
from shapeinf.formats.onnx.writer import annotated_bytes
from shapeinf.formats.ranges import wants_range
from shapeinf.graph import Graph, has_bodies, subgraphs
from shapeinf.lattice.dtypes import ONNX_NAMES

_LARGE = 1 << 14
"""Tensors of more elements have no contents in an outline, unless inference reads these."""

_SMALL_MODEL = 1 << 20
"""A model with fewer elements in its initializers is encoded as it is: that is faster than an outline."""

_WITH_TENSORS = frozenset({"GraphProto", "NodeProto", "AttributeProto", "FunctionProto", "TensorProto"})
"""The messages that are or contain tensors, and are copied in parts."""

_TENSOR_ATTRIBUTES = frozenset(
    (
        *(onnx.AttributeProto.TENSOR, onnx.AttributeProto.TENSORS),
        *(onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS),
    )
)


def outline_bytes(model: onnx.ModelProto) -> bytes:
    """A model in binary form; unless it is small, its large tensors refer to a file that is never opened."""
    if sum(prod(tensor.dims) for tensor in model.graph.initializer) > _SMALL_MODEL:
        outline = onnx.ModelProto()
        _copy(model, outline)
        model = outline
    return bytes(model.SerializeToString())


def annotate(model: onnx.ModelProto, graph: Graph, annotation: Annotation, options: WriteOptions) -> None:
    """Write types into a model; `graph` was read from `outline_bytes(model)`."""
    annotated = onnx.ModelProto.FromString(annotated_bytes(graph, annotation, options))
    _move_types(annotated.graph, model.graph, graph)
    for function, old in zip(annotated.functions, model.functions, strict=True):
        _replace(old.value_info, function.value_info)
    _replace(model.metadata_props, annotated.metadata_props)


def _copy(message: Any, copy: Any) -> None:
    """Copy a message without the contents of large tensors."""
    for field, value in message.ListFields():
        target = getattr(copy, field.name)
        kind = None if field.message_type is None else field.message_type.name
        if kind not in _WITH_TENSORS:
            _set(copy, field.name, value)
        elif hasattr(value, "extend"):
            for inner in value:
                _copy_part(inner, target.add())
        else:
            target.SetInParent()
            _copy_part(value, target)


def _copy_part(message: Any, copy: Any) -> None:
    if isinstance(message, onnx.TensorProto):
        _copy_tensor(message, copy)
    elif isinstance(message, onnx.NodeProto) and not any(map(_has_tensors, message.attribute)):
        copy.CopyFrom(message)
    else:
        _copy(message, copy)


def _has_tensors(attribute: onnx.AttributeProto) -> bool:
    return attribute.type in _TENSOR_ATTRIBUTES


def _copy_tensor(tensor: onnx.TensorProto, copy: onnx.TensorProto) -> None:
    """Copy a tensor; a large one without its contents, in a form for which no reader looks for them."""
    dtype, dims = ONNX_NAMES.get(tensor.data_type), tensor.dims
    is_small = prod(dims) <= _LARGE or dtype == "string"
    if is_small or wants_contents(dtype, dims) or wants_range(dtype, dims):
        copy.CopyFrom(tensor)
        return
    copy.name, copy.data_type = tensor.name, tensor.data_type  # to read `raw_data` would copy it
    copy.dims.extend(dims)
    copy.data_location = onnx.TensorProto.EXTERNAL
    copy.external_data.add(key="location", value="weights")


def _set(message: Any, name: str, value: Any) -> None:
    field = getattr(message, name)
    if hasattr(field, "extend"):
        field.extend(value)
    elif hasattr(field, "CopyFrom"):
        field.CopyFrom(value)
    else:
        setattr(message, name, value)


def _move_types(annotated: onnx.GraphProto, message: onnx.GraphProto, graph: Graph) -> None:
    """Give a graph the declarations of an annotated copy, and those of the bodies in it."""
    _replace(message.value_info, annotated.value_info)
    for old, new in zip((*message.input, *message.output), (*annotated.input, *annotated.output), strict=True):
        if old.type != new.type:
            old.type.CopyFrom(new.type)
    if not has_bodies(graph):
        return
    for index, node in enumerate(graph.nodes):
        for name, body in subgraphs(node.kind):
            _move_types(_body(annotated.node[index], name), _body(message.node[index], name), body)


def _body(node: onnx.NodeProto, name: str) -> onnx.GraphProto:
    """The graph in an attribute, whose name is as `subgraphs` has it: that of one in a list ends in its index."""
    attributes = {attribute.name: attribute for attribute in node.attribute}
    owner, _, index = (name, "", "") if name in attributes else name.removesuffix("]").rpartition("[")
    body: onnx.GraphProto = attributes[owner].graphs[int(index)] if index else attributes[owner].g
    return body


def _replace(field: Any, values: Iterable[Any]) -> None:
    del field[:]
    field.extend(values)
