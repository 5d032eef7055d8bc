"""Graphs as plain records that can be compared: equal records are equal graphs."""

from __future__ import annotations

from typing import Any

from shapeinf import Graph, Node
from shapeinf.lattice import PartialTensor


def record(graph: Graph) -> dict[str, Any]:
    """Everything that a reader finds in a graph; floats as text, so that NaN equals NaN."""
    return {
        "name": graph.name,
        "dialect": graph.dialect,
        "opsets": graph.opsets,
        "inputs": graph.inputs,
        "outputs": graph.outputs,
        "nodes": [_node(node) for node in graph.nodes],
        "declared": graph.declared,
        "constants": {name: _value(constant) for name, constant in graph.constants.items()},
        "unread": set(graph.unread),
        "functions": {key: record(body) for key, body in graph.functions.items()},
        "defaults": {name: _value(value) for name, value in graph.defaults.items()},
        "external": graph.external,
    }


def _node(node: Node) -> tuple[Any, ...]:
    kind = node.kind
    attributes = {name: _value(value) for name, value in kind.attrs.items()}
    references = dict(kind.references)
    return kind.op, kind.domain, kind.overload, attributes, references, node.inputs, node.outputs, node.name


def _value(value: object) -> Any:
    if isinstance(value, Graph):
        return record(value)
    if isinstance(value, PartialTensor):
        return value.dtype, value.shape, repr(value.elements)
    if isinstance(value, tuple):
        return tuple(_value(item) for item in value)
    return type(value).__name__, repr(value)
