"""An attribute that the definition of an ONNX operator requires: its absence is an error, whatever the rule does."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from onnx import AttributeProto, TensorProto, defs, helper

from shapeinf import infer_shapes

VALUES: dict[int, Any] = {
    AttributeProto.INT: 1,
    AttributeProto.FLOAT: 1.0,
    AttributeProto.STRING: "a",
    AttributeProto.INTS: [1],
    AttributeProto.FLOATS: [1.0],
    AttributeProto.STRINGS: ["a"],
    AttributeProto.TENSOR: helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0]),
    AttributeProto.GRAPH: helper.make_graph([], "body", [], []),
}


def required(schema: defs.OpSchema) -> list[defs.OpSchema.Attribute]:
    return [attribute for attribute in schema.attributes.values() if attribute.required]


SCHEMAS = [s for s in defs.get_all_schemas_with_history() if not s.deprecated and required(s)]
SCHEMAS.sort(key=lambda schema: (schema.domain, schema.name, schema.since_version))


def model_without(schema: defs.OpSchema, absent: str) -> onnx.ModelProto:
    """A node with all required attributes but one."""
    inputs = [f"i{k}" for k in range(schema.min_input)]
    outputs = [f"o{k}" for k in range(max(1, schema.min_output))]
    node = helper.make_node(schema.name, inputs, outputs, domain=schema.domain)
    for attribute in required(schema):
        if attribute.name != absent:
            node.attribute.append(helper.make_attribute(attribute.name, VALUES[int(attribute.type.value)]))
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["a", "b", "c", "d"]) for name in inputs]
    graph = helper.make_graph([node], "g", values, [helper.make_empty_tensor_value_info(name) for name in outputs])
    opsets = {"": 18, schema.domain: schema.since_version}
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*opset) for opset in opsets.items()])


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda s: f"{s.domain}.{s.name}-{s.since_version}".lstrip("."))
def test_an_absent_attribute_is_an_error(schema: defs.OpSchema) -> None:
    for attribute in required(schema):
        diagnostics = infer_shapes(model_without(schema, attribute.name)).diagnostics
        codes = [(d.severity, d.code) for d in diagnostics if f"required attribute {attribute.name!r}" in d.message]
        assert codes == [("error", "S103")], (attribute.name, diagnostics)
