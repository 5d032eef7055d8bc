"""Operators without a rule that onnx defines as functions of other operators: the function body as a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import onnx
import onnx.defs

from shapeinf.formats.onnx.reader import read_function
from shapeinf.graph import Graph, bind_attributes
from shapeinf.lattice import PartialTensor, TensorType, Type
from shapeinf.lattice.dtypes import ONNX_CODES


def expand_function(
    operator: tuple[str, str, int], attributes: Mapping[str, object], inputs: Sequence[Type | None], outputs: int
) -> Graph | None:
    """The function body of an operator (domain, name, first version); None if the installed onnx has none."""
    schema = _schema(*operator)
    if schema is None:
        return None
    if schema.has_function:
        return _apply_defaults(read_function(schema.function_body)[1], schema, attributes)
    if schema.has_context_dependent_function:
        return _expand_in_context(schema, attributes, inputs, outputs)
    return None


def _schema(domain: str, name: str, since: int) -> Any:
    """The `OpSchema` introduced in this version, whose stubs lack functions; None where the installed onnx is older."""
    try:
        schema: Any = onnx.defs.get_schema(name, since, domain)
    except onnx.defs.SchemaError:
        return None
    return schema if schema.since_version == since else None


def _apply_defaults(body: Graph, schema: Any, attributes: Mapping[str, object]) -> Graph:
    defaults = {
        name: _attribute_value(a.default_value) for name, a in schema.attributes.items() if a.default_value.type
    }
    return bind_attributes(body, {**defaults, **attributes})


def _attribute_value(proto: onnx.AttributeProto) -> object:
    value = onnx.helper.get_attribute_value(proto)
    return value.decode() if isinstance(value, bytes) else tuple(value) if isinstance(value, list) else value


def _expand_in_context(
    schema: Any, attributes: Mapping[str, object], inputs: Sequence[Type | None], outputs: int
) -> Graph | None:
    """The function body for inputs of these types; None where onnx needs more types, or an attribute has no proto."""
    node = onnx.NodeProto(op_type=schema.name, domain=schema.domain)
    node.input.extend("" if t is None else f"x{i}" for i, t in enumerate(inputs))
    node.output.extend(f"y{i}" for i in range(outputs))
    for name, value in attributes.items():
        proto = _attribute(name, value)
        if proto is None:
            return None
        node.attribute.append(proto)
    types = [_type(t).SerializeToString() for t in inputs]
    version = schema.context_dependent_function_opset_versions[-1]
    data = schema.get_context_dependent_function_with_opset_version(version, node.SerializeToString(), types)
    body = read_function(onnx.FunctionProto.FromString(data))[1]
    graph = attrs.evolve(
        body, outputs=body.outputs[:outputs]
    )  # the body also lists outputs that the node does not have
    return _apply_defaults(graph, schema, attributes) if body.nodes else None


def _attribute(name: str, value: object) -> onnx.AttributeProto | None:
    if isinstance(value, PartialTensor):
        import numpy as np

        array = value.array()
        value = None if array is None else onnx.numpy_helper.from_array(np.asarray(array))
    if isinstance(value, (int, float, str, onnx.TensorProto)) or (isinstance(value, tuple) and value):
        return onnx.helper.make_attribute(name, value)
    return None


def _type(value: Type | None) -> onnx.TypeProto:
    proto = onnx.TypeProto()
    if isinstance(value, TensorType):
        proto.tensor_type.elem_type = ONNX_CODES.get(value.dtype or "", 0)
        if value.shape.dims is not None:
            proto.tensor_type.shape.SetInParent()
            for d in value.shape.dims:
                dim = proto.tensor_type.shape.dim.add()
                if isinstance(d, int):
                    dim.dim_value = d
    return proto
