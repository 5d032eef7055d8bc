"""What kernels take from the file of their outputs, and what they do not: sizes, element types, outputs never written.

Some kernels leave the sizes of their outputs as the file states them; their nodes get these as an attribute. Most leave
the element types; some have that of an operand, whatever the file states. A loop does not write an output that no node
reads and that no trip changes: it keeps the sizes in the file too.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from opdefs.tflite.schemas import OUTPUT_TYPES
from shapeinf.graph import DeclaredType, FunctionReference, Graph, Node, NodeKind

SHAPES = "output_shapes"

SIZED_BY_FILE = frozenset(
    {
        *("READ_VARIABLE", "SELECT", "SELECT_V2", "STABLEHLO_RNG_BIT_GENERATOR"),
        *("TransformTensor", "TransformTensorBilinear"),
    }
)
"""Operators whose kernels leave the sizes of their outputs as the file states them, in some cases."""

TYPED_BY_OPERAND = {
    **dict.fromkeys(
        ("FLOOR", "CEIL", "ROUND", "EXP", "NEG", "ZEROS_LIKE", "FAKE_QUANT", "PRELU", "ADD", "SUB", "DIV"), 0
    ),
    **dict.fromkeys(("FLOOR_DIV", "FLOOR_MOD", "POW", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "ADD_N", "RANGE"), 0),
    **dict.fromkeys(("LOGICAL_AND", "LOGICAL_OR", "BITWISE_XOR", "RIGHT_SHIFT", "EXPAND_DIMS", "SPLIT_V"), 0),
    **dict.fromkeys(("DYNAMIC_UPDATE_SLICE", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "GATHER", "GATHER_ND"), 0),
    **dict.fromkeys(("MATRIX_DIAG", "MATRIX_SET_DIAG", "STABLEHLO_SHIFT_LEFT"), 0),
    **dict.fromkeys(("SELECT", "SELECT_V2", "SPLIT", "FILL", "SCATTER_ND"), 1),
    **dict.fromkeys(("ONE_HOT", "SPARSE_TO_DENSE"), 2),
}
"""By operator, the operand whose element type the outputs have, whatever the file states."""

TYPED = {
    **dict.fromkeys(("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"), "bool"),
    **{"DEQUANTIZE": "float32", "BUCKETIZE": "int32", "RANK": "int32", "RFFT2D": "complex64"},
}
"""By operator, the element type that the output always has. All other kernels refuse another type than the one that
they compute, or keep it."""

_UNDECLARED = DeclaredType()


def declare_outputs(graph: Graph) -> Graph:
    """The graph with the declared sizes of outputs that kernels leave so, and the element types that they compute."""
    listed: list[Node] = []
    types: dict[str, str] = {}
    """The element types that are not those of the file."""
    for node in graph.nodes:
        node = _with_types(graph, node, types)
        if node.op in SIZED_BY_FILE and SHAPES not in node.attrs:
            node = _with_sizes(graph, node)
        elif node.op == "WHILE" and SHAPES not in node.attrs:
            node = _with_unwritten(graph, node)
        listed.append(node)
    changed = any(new is not old for new, old in zip(listed, graph.nodes, strict=True))
    return attrs.evolve(graph, nodes=listed) if changed else graph


def _with_sizes(graph: Graph, node: Node) -> Node:
    declared = tuple([graph.declared.get(name, _UNDECLARED) for name in node.outputs])
    if node.op == "READ_VARIABLE" and not (declared and declared[0].dims):
        declared = (DeclaredType(None, _assigned_sizes(graph, node.inputs[0] if node.inputs else "")),)
    return node._replace(kind=NodeKind(node.op, node.domain, {**node.attrs, SHAPES: declared}))


def _with_types(graph: Graph, node: Node, types: dict[str, str]) -> Node:
    """The node with the element types that its kernel computes; `types` has those of earlier nodes."""
    stated, dtype = node.attrs.get(OUTPUT_TYPES), TYPED.get(node.op)
    position = TYPED_BY_OPERAND.get(node.op, len(node.inputs))
    if dtype is None and position < len(node.inputs):
        name = node.inputs[position]
        dtype = types.get(name) or _stated_type(graph, name)
    if dtype is None or not isinstance(stated, tuple) or all(other == dtype for other in stated):
        return node
    types.update(dict.fromkeys(node.outputs, dtype))
    return node._replace(kind=NodeKind(node.op, node.domain, {**node.attrs, OUTPUT_TYPES: (dtype,) * len(stated)}))


def _stated_type(graph: Graph, name: str) -> str | None:
    """The element type that the file states of a value."""
    constant = graph.constants.get(name)
    return graph.declared.get(name, _UNDECLARED).dtype if constant is None else constant.dtype


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


def _with_unwritten(graph: Graph, node: Node) -> Node:
    """The loop, with the declared sizes of outputs that it does not write.

    These are outputs that no node reads and for which the body returns its own input: their tensors keep the sizes that
    the file states.
    """
    reference = node.attrs.get("body_subgraph_index")
    body = graph.functions.get(reference.function) if isinstance(reference, FunctionReference) else None
    if body is None or len(body.inputs) != len(node.outputs) or len(body.outputs) != len(node.outputs):
        return node
    read = {*graph.outputs, *(name for other in graph.nodes for name in other.inputs)}
    pairs = zip(node.outputs, body.inputs, body.outputs, strict=True)
    unwritten = [name not in read and start == end for name, start, end in pairs]
    if not any(unwritten):
        return node
    declared = {**graph.declared, **graph.planned}  # an unknown size is 1 before a run
    sizes = [
        declared.get(name, _UNDECLARED) if is_unwritten else None
        for name, is_unwritten in zip(node.outputs, unwritten, strict=True)
    ]
    return node._replace(kind=NodeKind(node.op, node.domain, {**node.attrs, SHAPES: tuple(sizes)}))
