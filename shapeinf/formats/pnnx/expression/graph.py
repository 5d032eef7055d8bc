"""An expression as a graph of its own: its inputs, and the node that evaluates it."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.formats.pnnx.expression.parser import parse
from shapeinf.graph import DeclaredType, Graph, Node

EXPRESSION = "pnnx.Expression"
"""The operator whose attribute `expr` is an expression."""

VALUE = "value"
"""The name of the result."""


def expression_graph(text: str, shapes: Sequence[Sequence[int | str | None] | None]) -> Graph:
    """A graph with the float32 inputs `@0`, `@1`, ... of these shapes, and the node. Raises ExpressionError."""
    parse(text)
    graph = Graph(dialect="pnnx", opsets={"": 1})
    graph.inputs = [f"@{index}" for index in range(len(shapes))]
    for name, shape in zip(graph.inputs, shapes, strict=True):
        graph.declared[name] = DeclaredType("float32", None if shape is None else tuple(shape))
    graph.nodes = [Node.make(EXPRESSION, tuple(graph.inputs), (VALUE,), {"expr": text}, "expression")]
    graph.outputs = [VALUE]
    return graph
