"""Graphs as networkx graphs, both ways.

A node of the view is an operation; the head of an edge reads values of its tail, whose names are in `tensors`. Inputs,
declared shapes, constants and versions are attributes of the graph, so a view can be built by hand:

>>> import networkx as nx
>>> g = nx.DiGraph(dialect="onnx", opsets={"": 18}, inputs={"x": ["batch", 3]}, outputs=["y"])
>>> g.add_node("act", op="Relu", inputs=["x"], outputs=["y"])
>>> from shapeinf.graph import Graph
>>> Graph.from_networkx(g).nodes[0].op
'Relu'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import networkx as nx

from shapeinf.errors import ModelError
from shapeinf.graph.node import DeclaredType, Node

if TYPE_CHECKING:
    from shapeinf.graph.model import Graph


def to_networkx(graph: Graph) -> nx.DiGraph[Any]:
    """A view with a node for each operation, under its name (or op and position), with `op`, `node` and `index`."""
    view: nx.DiGraph[Any] = nx.DiGraph(
        name=graph.name,
        dialect=graph.dialect,
        opsets=dict(graph.opsets),
        inputs={name: graph.declared.get(name) for name in graph.inputs},
        outputs=list(graph.outputs),
        constants=dict(graph.constants),
        declared=dict(graph.declared),
        cyclic=graph.cyclic,
        traced=graph.traced,
        strict_inputs=graph.strict_inputs,
        graph=graph,
    )
    keys = _keys(graph)
    producers = {}
    for index, (key, node) in enumerate(zip(keys, graph.nodes, strict=True)):
        view.add_node(key, op=node.op, node=node, index=index)
        producers.update({name: key for name in node.outputs if name})
    for key, node in zip(keys, graph.nodes, strict=True):
        for name in node.inputs:
            if name in producers:
                edge = (producers[name], key)
                if view.has_edge(*edge):
                    view.edges[edge]["tensors"].append(name)
                else:
                    view.add_edge(*edge, tensors=[name])
    return view


def _keys(graph: Graph) -> list[str]:
    """A unique key for each node: its name where that is unique."""
    keys: list[str] = []
    used: set[str] = set()
    for index, node in enumerate(graph.nodes):
        key = node.name or f"{node.op}_{index}"
        while key in used:
            key = f"{key}_{index}"
        used.add(key)
        keys.append(key)
    return keys


def read_networkx(view: nx.DiGraph[Any]) -> dict[str, Any]:
    """The fields of the graph of a view built by `to_networkx` or by hand.

    Raises ModelError for a node without `op`. A node built by hand has `op`, and may have `inputs`, `outputs` (names of
    values), `attrs` and `domain`. Without `inputs` it reads the first output of each predecessor, in edge order;
    without `outputs` it writes one value of its own name.
    """
    data = view.graph
    declared = dict(data.get("declared", {}))
    inputs = data.get("inputs", {})
    if isinstance(inputs, Mapping):
        declared.update({name: _declared_type(spec) for name, spec in inputs.items() if spec is not None})
    return dict(
        name=str(data.get("name", "")),
        dialect=str(data.get("dialect", "")),
        opsets=dict(data.get("opsets", {})),
        inputs=list(inputs),
        outputs=list(data.get("outputs", ())),
        nodes=[_node(view, key) for key in view.nodes],
        declared=declared,
        constants=dict(data.get("constants", {})),
        cyclic=bool(data.get("cyclic", False)),
        traced=bool(data.get("traced", False)),
        strict_inputs=bool(data.get("strict_inputs", False)),
        model=getattr(data.get("graph"), "model", None),
    )


def _declared_type(spec: DeclaredType | Iterable[int | str | None]) -> DeclaredType:
    return spec if isinstance(spec, DeclaredType) else DeclaredType(None, tuple(spec))


def _node(view: nx.DiGraph[Any], key: Any) -> Node:
    data = view.nodes[key]
    if isinstance(data.get("node"), Node):
        node: Node = data["node"]
        return node
    if "op" not in data:
        raise ModelError("a node of a networkx graph needs the attribute 'op'", node=str(key))
    inputs = data.get("inputs")
    if inputs is None:
        inputs = [_outputs(view, producer)[0] for producer in view.predecessors(key)]
    return Node.make(
        str(data["op"]),
        tuple(inputs),
        _outputs(view, key),
        dict(data.get("attrs", {})),
        str(key),
        str(data.get("domain", "")),
    )


def _outputs(view: nx.DiGraph[Any], key: Any) -> tuple[str, ...]:
    node = view.nodes[key].get("node")
    return node.outputs if isinstance(node, Node) else tuple(view.nodes[key].get("outputs", (str(key),)))
