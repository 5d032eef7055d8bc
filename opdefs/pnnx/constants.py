"""Constants that are nodes of a network: expressions without inputs, and `prim::Constant` where it is not optimized."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import attrs

from shapeinf.graph import Graph, InputContents, Node, NodeKind

_NO_CONSTANT = object()


def constant_of(node: Node | None) -> object:
    """The value of a constant: a number, a text, None, or a tuple of numbers. `is_constant` is for other nodes."""
    value = _value(node)
    return None if value is _NO_CONSTANT else value


def is_constant(node: Node | None) -> bool:
    """Whether a node is a constant."""
    return _value(node) is not _NO_CONSTANT


def _value(node: Node | None) -> object:
    if node is not None and node.op == "prim::Constant":
        return node.attrs.get("value")
    if node is not None and node.op == "pnnx.Expression" and not node.inputs:
        return _literal(str(node.attrs.get("expr")))
    return _NO_CONSTANT


def _literal(text: str) -> object:
    """A literal of Python, or a text."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text
    return tuple(value) if isinstance(value, list) else value


def producers_of(graph: Graph) -> Mapping[str, Node]:
    """The nodes by the values that they compute."""
    return {name: node for node in graph.nodes for name in node.outputs}


def inline_texts(graph: Graph) -> Graph:
    """The graph with texts and None as attributes of the nodes that take them by name: they are no tensors."""
    producers = producers_of(graph)
    texts = {
        name
        for name, node in producers.items()
        if is_constant(node) and (constant_of(node) is None or isinstance(constant_of(node), str))
    }
    if not texts:
        return graph
    return attrs.evolve(graph, nodes=[_inline(node, producers, texts) for node in graph.nodes])


def _inline(node: Node, producers: Mapping[str, Node], texts: set[str]) -> Node:
    written = {
        name: constant_of(producers[node.inputs[value.input]])
        for name, value in node.attrs.items()
        if isinstance(value, InputContents) and node.inputs[value.input] in texts
    }
    if not written:
        return node
    dropped = {value.input for value in map(node.attrs.get, written) if isinstance(value, InputContents)}
    remaining = [at for at in range(len(node.inputs)) if at not in dropped]
    moved = {
        name: InputContents(remaining.index(value.input))
        for name, value in node.attrs.items()
        if isinstance(value, InputContents) and value.input not in dropped
    }
    attributes = {**node.attrs, **moved, **written}
    inputs = tuple(node.inputs[at] for at in remaining)
    return Node(NodeKind(node.op, node.kind.domain, attributes), inputs, node.outputs, node.name)


def without_unread(graph: Graph, before: Graph) -> Graph:
    """The graph without the constants that nodes read in the graph `before`, and none reads now."""
    used = {name for node in graph.nodes for name in node.inputs} | {*graph.outputs}
    read = {name for node in before.nodes for name in node.inputs}
    remaining = [n for n in graph.nodes if not is_constant(n) or used & {*n.outputs} or not read & {*n.outputs}]
    return attrs.evolve(graph, nodes=remaining)
