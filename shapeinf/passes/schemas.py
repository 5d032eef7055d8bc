"""Whether a node fits the schema of its operator: models may be hostile, and inference is lenient."""

from __future__ import annotations

from functools import cache
from typing import Any

import onnx.defs
import onnx_ir as ir


def fits_schema(node: ir.Node, opset: int) -> bool:
    """Whether a node of ONNX has the inputs, outputs and types of attributes of its operator's schema.

    The first output must have a name. Attributes that are not in the schema are ignored.
    """
    schema = _schema(node.op_type, opset)
    if schema is None or not schema.min_input <= len(node.inputs) <= schema.max_input:
        return False
    if not max(schema.min_output, 1) <= len(node.outputs) <= schema.max_output or not node.outputs[0].name:
        return False
    single = onnx.defs.OpSchema.FormalParameterOption.Single
    if any(value is None and of.option == single for value, of in zip(node.inputs, schema.inputs, strict=False)):
        return False
    return all(_is_legal(node, name, attribute) for name, attribute in schema.attributes.items())


def _is_legal(node: ir.Node, name: str, attribute: onnx.defs.OpSchema.Attribute) -> bool:
    present = node.attributes.get(name)
    kind: Any = attribute.type  # an enumeration whose stub has no numbers
    return not attribute.required if present is None else int(present.type) == int(kind)


MAX_OPSET = 1 << 31
"""The onnx package takes versions below this number."""


@cache
def _schema(operator: str, opset: int) -> onnx.defs.OpSchema | None:
    if not 0 < opset < MAX_OPSET:
        return None
    try:
        return onnx.defs.get_schema(operator, max_inclusive_version=opset, domain="")
    except onnx.defs.SchemaError:
        return None
