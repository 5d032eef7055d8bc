"""The declared types of outputs, as attributes of their nodes: LiteRT takes element types from the file."""

from __future__ import annotations

import attrs

from shapeinf.graph import DeclaredType, Graph, Node, NodeKind

TYPES, SHAPES = "output_types", "output_shapes"

SIZED_BY_FILE = frozenset({"READ_VARIABLE", "SELECT", "SELECT_V2", "STABLEHLO_RNG_BIT_GENERATOR"})
"""Operators whose kernels leave the sizes of their outputs as the file states them, in some cases."""

_UNDECLARED = DeclaredType()


def declare_outputs(graph: Graph) -> Graph:
    """The graph whose nodes have the element types of their outputs as an attribute."""
    kinds: dict[tuple[NodeKind, tuple[DeclaredType, ...]], NodeKind] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        declared = tuple([graph.declared.get(name, _UNDECLARED) for name in node.outputs])
        if TYPES in node.attrs or all(d.dtype is None for d in declared):
            nodes.append(node)
            continue
        if node.op not in SIZED_BY_FILE:
            declared = tuple([DeclaredType(d.dtype) for d in declared])
        key = node.kind, declared
        if key not in kinds:
            kinds[key] = _with_types(node.kind, declared)
        nodes.append(node._replace(kind=kinds[key]))
    return attrs.evolve(graph, nodes=nodes)


def _with_types(kind: NodeKind, declared: tuple[DeclaredType, ...]) -> NodeKind:
    added: dict[str, object] = {TYPES: tuple([d.dtype for d in declared])}
    if kind.op in SIZED_BY_FILE:
        added[SHAPES] = declared
    return attrs.evolve(kind, attrs={**kind.attrs, **added})
