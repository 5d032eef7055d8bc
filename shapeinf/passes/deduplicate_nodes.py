"""`deduplicate_nodes`: nodes of one scope with equal operator, attributes and inputs become one.

Only operators of ONNX whose results are determined by their inputs. Small constants with equal contents are equal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

import onnx_ir as ir

from shapeinf.errors import ModelError
from shapeinf.passes.editor import Editor, Skip
from shapeinf.passes.outline import MAX_CONTENTS, sizes
from shapeinf.passes.types import bodies
from shapeinf.passes.weights import raw_bytes

_RANDOM = frozenset(
    ["Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"]
)
"""Operators with other results at each call. Dropout is one of them where it trains."""

_DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
"""The domains whose operators are deterministic and without state, apart from the random ones."""


def deduplicate_nodes(editor: Editor) -> None:
    """Make all readers of equal nodes read the first one, in every scope."""
    constants: dict[ir.Value, Hashable] = {}
    for scope in list(editor.scopes()):
        alike: dict[Hashable, dict[Hashable, ir.Node]] = defaultdict(dict)
        alone: dict[Hashable, ir.Node] = {}
        for node in list(scope):
            if not _is_deterministic(editor, node):
                continue
            key = _key(editor, node)
            other = alone.setdefault(key, node)
            if other is node:  # no contents are read: they may lie in another file
                continue
            alike[key].setdefault(_inputs(editor, other, constants), other)
            original = alike[key].setdefault(_inputs(editor, node, constants), node)
            if original is not node:
                try:
                    _merge(editor, original, node)
                except Skip as reason:
                    editor.skip(node, reason)


def _is_deterministic(editor: Editor, node: ir.Node) -> bool:
    if (
        node.domain not in _DOMAINS
        or node.op_type in (*_RANDOM, "Constant")
        or node.op_identifier() in editor.model.functions
    ):
        return False
    return not any(True for _ in bodies(node))


def _key(editor: Editor, node: ir.Node) -> Hashable:
    """A key that is equal for nodes that are equal but for the contents of their constants."""
    inputs = tuple(_type(value) if editor.is_constant(value) else value for value in node.inputs)
    outputs = tuple(bool(output.name) for output in node.outputs)
    return node.op_identifier(), node.version, _attributes(node), inputs, outputs


def _type(value: ir.Value | None) -> Hashable:
    """The element type and the sizes of a constant."""
    assert value is not None and value.const_value is not None
    return value.const_value.dtype, sizes(value.const_value)


def _inputs(editor: Editor, node: ir.Node, constants: dict[ir.Value, Hashable]) -> Hashable:
    """The inputs of a node, small constants by their contents."""
    return tuple(None if value is None else _input_key(editor, value, constants) for value in node.inputs)


def _attributes(node: ir.Node) -> Hashable:
    return tuple((name, _attribute(attribute)) for name, attribute in sorted(node.attributes.items()))


def _attribute(attribute: ir.Attr) -> Hashable:
    """The contents of an attribute, or the attribute of a function that it refers to."""
    if attribute.is_ref():
        return attribute.ref_attr_name, attribute.type
    return bytes(ir.serde.serialize_attribute(attribute).SerializeToString(deterministic=True))


def _input_key(editor: Editor, value: ir.Value, constants: dict[ir.Value, Hashable]) -> Hashable:
    """The value itself, or the contents of a small constant."""
    if not editor.is_constant(value):
        return value
    if value not in constants:
        constants[value] = _contents(value)
    return constants[value]


def _contents(value: ir.Value) -> Hashable:
    tensor = value.const_value
    assert tensor is not None
    if isinstance(tensor, ir.StringTensor) or tensor.nbytes > MAX_CONTENTS:
        return value
    try:
        return _type(value), raw_bytes(tensor)
    except ModelError:
        return value


def _merge(editor: Editor, original: ir.Node, node: ir.Node) -> None:
    """Make the readers of a node read an equal one before it. Raises Skip where the scope needs both as outputs."""
    pairs = [(a, b) for a, b in zip(original.outputs, node.outputs, strict=True) if b.name]
    for equal, gone in pairs:
        editor.check_replaceable(gone, equal)
    for equal, gone in pairs:
        editor.replace_value(gone, equal)
    editor.remove(node)
    editor.record_change(node, f"is {original.op_type} '{original.name or original.outputs[0].name}'")
