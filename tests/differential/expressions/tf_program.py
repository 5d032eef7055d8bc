"""Programs of expressions as TensorFlow graphs, and their runs by TensorFlow's kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from opdefs.tf import tf as dialect
from shapeinf.graph import DeclaredType, Graph
from shapeinf.graph import Node as GraphNode
from shapeinf.lattice import PartialTensor
from tests.differential.expressions.drawing import FLOATS, Node, Program, clamp, numpy_type

PRODUCER = 2474
OPERATORS = {
    **{"Add": "AddV2", "Sub": "Sub", "Mul": "Mul", "Max": "Maximum", "Min": "Minimum", "Neg": "Neg", "Abs": "Abs"},
    **{"Sign": "Sign", "Mod": "FloorMod", "Pow": "Pow", "Less": "Less", "Where": "SelectV2", "Exp": "Exp"},
    **{"Log": "Log", "Sqrt": "Sqrt", "Reciprocal": "Reciprocal", "Floor": "Floor", "Ceil": "Ceil", "Round": "Rint"},
    "Cast": "Cast",
}


def operator_of(node: Node) -> str:
    """TensorFlow's operator; of a quotient by the element type."""
    if node.op == "Div":
        return "RealDiv" if node.dtype in FLOATS else "TruncateDiv"
    return OPERATORS[node.op]


def graph_of(program: Program, sizes: tuple[int, int] | None = None) -> Graph:
    """The graph; its inputs are vectors of symbolic sizes, or of these."""
    graph = Graph(dialect="tf", opsets={"": PRODUCER})
    for axis, name in enumerate("ab"):
        graph.inputs.append(f"{name}:0")
        graph.declared[f"{name}:0"] = DeclaredType("float32", (name.upper() if sizes is None else sizes[axis],))
    for name, number in (("low", 0), ("high", 7)):
        graph.constants[f"{name}:0"] = PartialTensor.from_array(np.array([number]))
    graph.constants["zero:0"] = PartialTensor.from_array(np.array(0, np.float32))
    for number, node in enumerate(program.nodes):
        _extend(graph, number, node, program)
    return graph


def _extend(graph: Graph, number: int, node: Node, program: Program) -> None:
    name, operands = f"v{number}", [f"v{operand}:0" for operand in node.operands]
    if node.op == "size":
        _add(graph, "Shape", name, ["ab"[int(node.value or 0)] + ":0"], {"T": "float32", "out_type": "int64"})
    elif node.op == "constant":
        graph.constants[f"{name}:0"] = PartialTensor.from_array(np.array([node.value], numpy_type(node.dtype)))
    elif node.op == "Cast":
        _add(graph, "Cast", name, operands, {"SrcT": program.nodes[node.operands[0]].dtype, "DstT": node.dtype})
    elif node.op == "result":
        _add(graph, "Minimum", f"m{number}", [*operands, "high:0"], {"T": "int64"})
        _add(graph, "Maximum", name, [f"m{number}:0", "low:0"], {"T": "int64"})
        _add(graph, "Fill", f"t{number}", [f"{name}:0", "zero:0"], {"T": "float32", "index_type": "int64"})
    else:
        dtype = program.nodes[node.operands[-1]].dtype
        _add(graph, operator_of(node) if _allows(node, dtype) else "Identity", name, operands, {"T": dtype})


def _allows(node: Node, dtype: str) -> bool:
    """Whether the operator of a node is defined for a type; signs are not for unsigned ones, and there is no value."""
    op_def = dialect.lookup("", operator_of(node), PRODUCER)
    allowed = None if op_def is None else op_def.attributes["T"].allowed
    return allowed is None or dtype in allowed


def _add(graph: Graph, op: str, name: str, operands: list[str], attributes: dict[str, Any]) -> None:
    graph.nodes.append(GraphNode.make(op, tuple(operands), (f"{name}:0",), attributes, name))


def run(program: Program) -> list[list[Any]]:
    """The values of all nodes at each binding, None where TensorFlow has no kernel for the element type."""
    return [_run(program, binding) for binding in program.bindings]


def _run(program: Program, binding: tuple[int, int]) -> list[Any]:
    import tensorflow

    tensors: list[Any] = []
    for node in program.nodes:
        operands = [tensors[operand] for operand in node.operands]
        if any(operand is None for operand in operands):
            tensors.append(None)
        elif node.op == "size":
            tensors.append(tensorflow.constant([binding[int(node.value or 0)]], "int64"))
        elif node.op == "constant":
            tensors.append(tensorflow.constant(np.array([node.value], numpy_type(node.dtype))))
        elif node.op == "result":
            tensors.append(tensorflow.constant([clamp(operands[0].numpy()[0])], "int64"))
        else:
            tensors.append(_call(node, operands))
    return [None if tensor is None else tensor.numpy()[0].item() for tensor in tensors]


def _call(node: Node, operands: list[Any]) -> Any:
    import tensorflow

    op = operator_of(node)
    names = [argument.name for argument in dialect.lookup("", op, PRODUCER).inputs]
    arguments = dict(zip(names, operands, strict=True))
    if op == "Cast":
        arguments["DstT"] = tensorflow.as_dtype(node.dtype)
    try:
        return getattr(tensorflow.raw_ops, op)(**arguments)
    except (tensorflow.errors.OpError, TypeError):  # no kernel for this type
        return None
