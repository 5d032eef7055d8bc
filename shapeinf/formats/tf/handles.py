"""The types behind handles that are inputs of a graph, as declared by the functions that the graph passes them to."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from shapeinf.graph import DeclaredType, FunctionReference, Graph, Node

MAX_CALLS = 16
"""The most nested calls that are followed."""


def declare_handles(graph: Graph) -> None:
    """Declare the types behind inputs that are handles, from functions that take such an input and declare its type."""
    unknown = {name for name in graph.inputs if _is_unknown(graph.declared.get(name))}
    for name, handle in _handles_of(graph, graph, unknown, {}, 0):
        declared = graph.declared[name]
        if declared.of is None:
            graph.declared[name] = attrs.evolve(declared, dims=declared.dims or (), of=handle)


def _is_unknown(declared: DeclaredType | None) -> bool:
    return declared is not None and declared.dtype == "resource" and declared.of is None


_Known = dict[tuple[str, int], "DeclaredType | None"]
"""The types behind arguments, by function and position; None during the search, and for an unknown type."""


def _handles_of(
    model: Graph, graph: Graph, names: set[str], known: _Known, depth: int
) -> Iterator[tuple[str, DeclaredType]]:
    """The types behind the values `names` of a graph, as far as functions that it calls declare them."""
    if not names or depth > MAX_CALLS:
        return
    for node in graph.nodes:
        if names.intersection(node.inputs):
            for function in _functions(model, node):
                offset = len(node.inputs) - len(function.inputs)
                for position, name in enumerate(node.inputs):
                    handle = None
                    if name in names and position >= offset >= 0:
                        handle = _type_behind(model, function, position - offset, known, depth)
                    if handle is not None:
                        yield name, handle


def _functions(model: Graph, node: Node) -> Iterator[Graph]:
    """The functions that a node calls, whose arguments are its last inputs."""
    keys = [value.function for value in node.attrs.values() if isinstance(value, FunctionReference)]
    for key in (*keys, ("", node.op, "")):
        if key in model.functions:
            yield model.functions[key]


def _type_behind(model: Graph, function: Graph, position: int, known: _Known, depth: int) -> DeclaredType | None:
    """The type behind an argument of a function; None if unknown."""
    name, key = function.inputs[position], (function.name, position)
    declared = function.declared.get(name)
    if declared is not None and declared.of is not None:
        return declared.of
    if key not in known:
        known[key] = None
        known[key] = next((handle for _, handle in _handles_of(model, function, {name}, known, depth + 1)), None)
    return known[key]
