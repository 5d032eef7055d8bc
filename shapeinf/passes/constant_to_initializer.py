"""`constant_to_initializer`: Constant nodes become initializers of their scope."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from shapeinf.passes.editor import Editor, Skip

_NUMPY = {"value_int": np.int64, "value_ints": np.int64, "value_float": np.float32, "value_floats": np.float32}


def constant_to_initializer(editor: Editor) -> None:
    """Replace every Constant by an initializer, except those of sparse tensors, at outputs and in functions."""
    editor.rewrite_nodes("Constant", _lift)


def _lift(editor: Editor, node: ir.Node) -> None:
    scope, result = node.graph, node.outputs[0]
    assert scope is not None
    if editor.is_function(scope):
        raise Skip("a function has no initializers")
    if result.is_graph_output():
        raise Skip("it is an output")
    tensor = _tensor(node)
    editor.replace_by_constant(node, tensor)
    editor.record_change(node, "is an initializer")


def _tensor(node: ir.Node) -> Any:
    """The tensor of a Constant in any of its forms."""
    (attribute,) = node.attributes.values() if len(node.attributes) == 1 else (None,)
    if attribute is None:
        raise Skip("it does not have exactly one value")
    if attribute.name == "value":
        if attribute.value.dtype == ir.DataType.UNDEFINED:
            raise Skip("the element type of its value is unknown")
        return attribute.as_tensor()
    if attribute.name in _NUMPY:
        return ir.Tensor(np.asarray(attribute.value, dtype=_NUMPY[attribute.name]))
    if attribute.name == "value_string":
        return ir.StringTensor([_bytes(attribute.value)], shape=ir.Shape([]))
    if attribute.name == "value_strings":
        texts = [_bytes(text) for text in attribute.value]
        return ir.StringTensor(texts, shape=ir.Shape([len(texts)]))
    raise Skip(f"its value is a {attribute.name}")


def _bytes(text: str | bytes) -> bytes:
    """The bytes of a text; onnx-ir has a text that is not UTF-8 as bytes."""
    return text.encode() if isinstance(text, str) else bytes(text)
