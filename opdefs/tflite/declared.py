"""The sizes that the file states of outputs, as attributes of the nodes whose kernels leave them as they are."""

from __future__ import annotations

import attrs

from shapeinf.graph import DeclaredType, Graph, Node, NodeKind

SHAPES = "output_shapes"

SIZED_BY_FILE = frozenset({"READ_VARIABLE", "SELECT", "SELECT_V2", "STABLEHLO_RNG_BIT_GENERATOR"})
"""Operators whose kernels leave the sizes of their outputs as the file states them, in some cases."""

_UNDECLARED = DeclaredType()


def declare_outputs(graph: Graph) -> Graph:
    """The graph whose nodes of these operators have the declared types of their outputs as an attribute."""
    nodes: list[Node] = []
    changed = False
    for node in graph.nodes:
        if node.op in SIZED_BY_FILE and SHAPES not in node.attrs:
            declared = tuple([graph.declared.get(name, _UNDECLARED) for name in node.outputs])
            kind = NodeKind(node.op, node.domain, {**node.attrs, SHAPES: declared})
            node, changed = node._replace(kind=kind), True
        nodes.append(node)
    return attrs.evolve(graph, nodes=nodes) if changed else graph
