"""Sizes of outputs that kernels leave as the file states them, and outputs that are never written.

Some kernels leave the sizes of their outputs as the file states them; their nodes get these as an attribute. A loop
does not write an output that no node reads and that no trip changes.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from shapeinf.graph import DeclaredType, FunctionReference, Graph, Node, NodeKind

SHAPES = "output_shapes"

SIZED_BY_FILE = frozenset(
    {
        *("READ_VARIABLE", "SELECT", "SELECT_V2", "STABLEHLO_RNG_BIT_GENERATOR"),
        *("TransformTensor", "TransformTensorBilinear"),
    }
)
"""Operators whose kernels leave the sizes of their outputs as the file states them, in some cases."""

_UNDECLARED = DeclaredType()


def declare_outputs(graph: Graph) -> Graph:
    """The graph with the declared sizes of outputs that kernels leave so, and without outputs that are not written."""
    listed: list[Node] = []
    for node in graph.nodes:
        if node.op in SIZED_BY_FILE and SHAPES not in node.attrs:
            node = _with_sizes(graph, node)
        elif node.op == "WHILE":
            node = _without_unwritten(graph, node)
        listed.append(node)
    changed = any(new is not old for new, old in zip(listed, graph.nodes, strict=True))
    return attrs.evolve(graph, nodes=listed) if changed else graph


def _with_sizes(graph: Graph, node: Node) -> Node:
    declared = tuple([graph.declared.get(name, _UNDECLARED) for name in node.outputs])
    if node.op == "READ_VARIABLE" and not (declared and declared[0].dims):
        declared = (DeclaredType(None, _assigned_sizes(graph, node.inputs[0] if node.inputs else "")),)
    return node._replace(kind=NodeKind(node.op, node.domain, {**node.attrs, SHAPES: declared}))


def _assigned_sizes(graph: Graph, handle: str) -> tuple[int, ...] | None:
    """The sizes of a variable that is only assigned constants of one shape, in all subgraphs; None for another one."""
    names = [node.attrs.get("shared_name") for node in graph.nodes if node.outputs[:1] == (handle,)]
    sizes: set[tuple[int, ...] | None] = set()
    for owner in (graph, *graph.functions.values()):
        for node in _assignments(owner, names[0] if names else None):
            constant = owner.constants.get(node.inputs[1])
            dims = None if constant is None else constant.shape.dims
            sizes.add(None if dims is None else tuple(d for d in dims if isinstance(d, int)))
    return sizes.pop() if len(sizes) == 1 else None


def _assignments(graph: Graph, shared_name: object) -> Iterator[Node]:
    """The nodes that assign a variable of this name."""
    handles = {node.outputs[0]: node.attrs.get("shared_name") for node in graph.nodes if node.op == "VAR_HANDLE"}
    for node in graph.nodes:
        if node.op == "ASSIGN_VARIABLE" and len(node.inputs) > 1:
            name = handles.get(node.inputs[0])
            if shared_name is None or name is None or name == shared_name:
                yield node


def _without_unwritten(graph: Graph, node: Node) -> Node:
    """The loop; an output that no node reads is absent where the body returns its own input for it."""
    reference = node.attrs.get("body_subgraph_index")
    body = graph.functions.get(reference.function) if isinstance(reference, FunctionReference) else None
    if body is None or len(body.inputs) != len(node.outputs) or len(body.outputs) != len(node.outputs):
        return node
    read = {*graph.outputs, *(name for other in graph.nodes for name in other.inputs)}
    pairs = zip(node.outputs, body.inputs, body.outputs, strict=True)
    outputs = tuple(["" if name not in read and start == end else name for name, start, end in pairs])
    return node if outputs == node.outputs else node._replace(outputs=outputs)
