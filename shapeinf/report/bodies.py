"""The bodies and functions of a graph."""

from __future__ import annotations

from collections.abc import Iterator

from shapeinf.graph import Graph, subgraphs


def inner_graphs(graph: Graph) -> Iterator[Graph]:
    """The functions of a model, and all bodies of its nodes and of those in bodies and functions, each once."""
    yield from graph.functions.values()
    pending = [graph, *graph.functions.values()]
    while pending:
        bodies = [body for node in pending.pop().nodes for _, body in subgraphs(node.kind)]
        yield from bodies
        pending += bodies
