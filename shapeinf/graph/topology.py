"""Well-formedness of a graph, the order of its nodes, its cycles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from shapeinf.errors import CyclicGraphError, ModelError
from shapeinf.graph.model import Graph
from shapeinf.graph.rows import UNUSED, Row
from shapeinf.texts import MISSPELT, nearest_names


def validate(graph: Graph, captures: Iterable[str] = (), *, allow_cycles: bool = False) -> None:
    """Raise ModelError for duplicate or dangling values, CyclicGraphError for a cycle; O(edges).

    `captures` are names of the outer graph that the nodes may read too.
    """
    producers = _producers(graph)
    outer = set(captures)
    for index, node in enumerate(graph.nodes):
        for name in node.inputs:
            if name and name not in producers and name not in outer:
                cause = f"reads {name!r}, which is neither an input, a constant nor an output of a node"
                near = nearest_names(name, (*producers, *outer), MISSPELT)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ModelError(cause + hint, node=node_label(graph, index))
    for name in graph.outputs:
        if name not in producers and name not in outer:
            raise ModelError(f"no node produces the graph output {name!r}")
    if not allow_cycles and topological_order(graph) is None:
        cycle = next(group for group in components(graph) if len(group) > 1 or _reads_itself(graph, group[0]))
        names = ", ".join(node_label(graph, i) for i in cycle[:8])
        raise CyclicGraphError(f"the graph has a cycle through {names}", node=node_label(graph, cycle[0]))


def _producers(graph: Graph) -> dict[str, int]:
    """The index of the node that produces each value, -1 for inputs and constants."""
    producers = dict.fromkeys((*graph.inputs, *graph.constants), -1)
    if len(set(graph.inputs)) != len(graph.inputs):
        twice = next(n for i, n in enumerate(graph.inputs) if n in graph.inputs[:i])
        raise ModelError(f"the graph input {twice!r} is declared twice")
    for index, node in enumerate(graph.nodes):
        for name in node.outputs:
            if not name:
                continue
            if name in producers:
                producer = producers[name]
                first = "a graph input or constant" if producer < 0 else f"node {node_label(graph, producer)}"
                raise ModelError(f"output {name!r} is produced twice, first by {first}", node=node_label(graph, index))
            producers[name] = index
    return producers


def node_label(graph: Graph, index: int) -> str:
    """The text for a node in messages: its name, else operator and position."""
    node = graph.nodes[index]
    return node.name or f"{node.op} (node {index})"


def topological_order(graph: Graph) -> Sequence[int] | None:
    """An order in which every node follows its producers, None for a graph with a cycle. O(edges)."""
    producers = _indices(graph)
    inputs = ({producers[n] for n in node.inputs if n in producers} for node in graph.nodes)
    return _sort(list(inputs))


def sort_rows(rows: Sequence[Row], values: int) -> Sequence[int] | None:
    """`topological_order` of the rows of a table; `values` is the number of its values.

    The inputs of a row include the values that its subgraphs capture.
    """
    producers = [-1] * (values + 1)  # MISSING is the last one
    for index, row in enumerate(rows):
        for slot in row[2]:
            if slot != UNUSED:
                producers[slot] = index
    producer_of = producers.__getitem__
    inputs = [set(map(producer_of, row[1])) for row in rows]
    for sources in inputs:
        sources.discard(-1)
    return _sort(inputs)


def _sort(inputs: Sequence[set[int]]) -> Sequence[int] | None:
    """A topological order of nodes, from the producers whose outputs each node reads; None for a cycle."""
    if all(max(producers, default=-1) < index for index, producers in enumerate(inputs)):
        return range(len(inputs))
    readers: list[list[int]] = [[] for _ in inputs]
    for index, producers in enumerate(inputs):
        for producer in producers:
            readers[producer].append(index)
    waiting = list(map(len, inputs))
    ready = [index for index, count in enumerate(waiting) if count == 0]
    order = []
    while ready:
        index = ready.pop()
        order.append(index)
        for reader in readers[index]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                ready.append(reader)
    return order if len(order) == len(inputs) else None


def _indices(graph: Graph) -> dict[str, int]:
    return {name: index for index, node in enumerate(graph.nodes) for name in node.outputs if name}


def _readers(graph: Graph, producers: dict[str, int]) -> list[list[int]]:
    readers: list[list[int]] = [[] for _ in graph.nodes]
    for index, node in enumerate(graph.nodes):
        for producer in {producers[n] for n in node.inputs if n in producers}:
            readers[producer].append(index)
    return readers


def _reads_itself(graph: Graph, index: int) -> bool:
    node = graph.nodes[index]
    return any(name in node.outputs for name in node.inputs if name)


def components(graph: Graph, together: Iterable[Sequence[int]] = ()) -> list[list[int]]:
    """The strongly connected components in topological order, each in reverse postorder from its entries.

    The nodes of each sequence in `together` belong to one component.
    """
    readers: dict[int, list[int]] = {i: list(nodes) for i, nodes in enumerate(_readers(graph, _indices(graph)))}
    for nodes in together:
        for index, other in zip(nodes, [*nodes[1:], nodes[0]], strict=True):
            readers[index].append(other)
    return components_of(readers)


def components_of(readers: Mapping[int, Iterable[int]]) -> list[list[int]]:
    """As `components`, for numbers with their readers."""
    import networkx as nx

    view: nx.DiGraph[int] = nx.DiGraph()
    view.add_nodes_from(readers)
    for index, others in readers.items():
        view.add_edges_from((index, reader) for reader in others)
    condensed = nx.condensation(view)
    return [_reverse_postorder(view, condensed.nodes[c]["members"]) for c in nx.topological_sort(condensed)]


def _reverse_postorder(view: object, members: set[int]) -> list[int]:
    import networkx as nx

    assert isinstance(view, nx.DiGraph)
    if len(members) == 1:
        return list(members)
    entries = [n for n in sorted(members) if any(p not in members for p in view.predecessors(n))] or [min(members)]
    inside = view.subgraph(members)
    seen: list[int] = []
    for entry in entries:
        seen += [n for n in nx.dfs_postorder_nodes(inside, entry) if n not in seen]
    return seen[::-1]
