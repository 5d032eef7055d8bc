"""Operators that onnx defines in terms of others: the definition as a graph, for those without a rule of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import onnx
import onnx.defs

from shapeinf.formats.onnx.reader import read_function
from shapeinf.graph import Graph, bind_attributes
from shapeinf.lattice import PartialTensor, TensorType, Type
from shapeinf.lattice.dtypes import ONNX_CODES
from shapeinf.ops.opdef import Expansion


def expansion(schema: Any) -> Expansion | None:
    """How to get the definition of an `onnx.defs.OpSchema` (whose type stubs lack functions), None when it has none."""
    if schema.has_function:
        return lambda attributes, inputs, outputs: _with_defaults(
            read_function(schema.function_body)[1], schema, attributes
        )
    if schema.has_context_dependent_function:
        return lambda attributes, inputs, outputs: _in_context(schema, attributes, inputs, outputs)
    return None


def _with_defaults(body: Graph, schema: Any, attributes: Mapping[str, object]) -> Graph:
    given = {name: _value(a.default_value) for name, a in schema.attributes.items() if a.default_value.type}
    return bind_attributes(body, {**given, **attributes})


def _value(proto: onnx.AttributeProto) -> object:
    value = onnx.helper.get_attribute_value(proto)
    return value.decode() if isinstance(value, bytes) else tuple(value) if isinstance(value, list) else value


def _in_context(
    schema: Any, attributes: Mapping[str, object], inputs: Sequence[Type | None], outputs: int
) -> Graph | None:
    """The definition for inputs of these types; None where onnx needs to know more, or an attribute cannot be shown."""
    node = onnx.NodeProto(op_type=schema.name, domain=schema.domain)
    node.input.extend("" if t is None else f"x{i}" for i, t in enumerate(inputs))
    node.output.extend(f"y{i}" for i in range(outputs))
    for name, value in attributes.items():
        shown = _attribute(name, value)
        if shown is None:
            return None
        node.attribute.append(shown)
    types = [_type(t).SerializeToString() for t in inputs]
    version = schema.context_dependent_function_opset_versions[-1]
    data = schema.get_context_dependent_function_with_opset_version(version, node.SerializeToString(), types)
    body = read_function(onnx.FunctionProto.FromString(data))[1]
    made = attrs.evolve(body, outputs=body.outputs[:outputs])  # a definition lists outputs that it was not asked for
    return _with_defaults(made, schema, attributes) if body.nodes else None


def _attribute(name: str, value: object) -> onnx.AttributeProto | None:
    if isinstance(value, PartialTensor):
        array = value.array()
        value = None if array is None else onnx.numpy_helper.from_array(np.asarray(array))
    if isinstance(value, (int, float, str, onnx.TensorProto)) or (isinstance(value, tuple) and value):
        return onnx.helper.make_attribute(name, value)
    return None


def _type(found: Type | None) -> onnx.TypeProto:
    proto = onnx.TypeProto()
    if isinstance(found, TensorType):
        proto.tensor_type.elem_type = ONNX_CODES.get(found.dtype or "", 0)
        if found.shape.dims is not None:
            proto.tensor_type.shape.SetInParent()
            for d in found.shape.dims:
                dim = proto.tensor_type.shape.dim.add()
                if isinstance(d, int):
                    dim.dim_value = d
    return proto
