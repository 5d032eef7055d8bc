"""The graph of a PNNX network."""

from __future__ import annotations

import os
from typing import Any

from shapeinf.formats.files import check_path
from shapeinf.formats.pnnx.document import Operator, parse
from shapeinf.formats.pnnx.sniffing import MAGIC
from shapeinf.formats.pnnx.values import TensorText
from shapeinf.graph import DeclaredType, Graph, InputContents, Node
from shapeinf.lattice import PartialTensor, Shape

INPUT, OUTPUT, CONSTANT, TUPLE = "pnnx.Input", "pnnx.Output", "pnnx.Attribute", "prim::TupleConstruct"
"""The operators of the file that are no nodes of the graph, and the one that lists several outputs."""


def read(model: Any) -> Graph:
    """Read a path, the bytes of a file or its text. Raises ModelError for a malformed one."""
    if isinstance(model, bytes):
        return build(parse(model.decode("utf-8", "replace"), "<bytes>"))
    text = os.fsdecode(model)
    if text.startswith(MAGIC + "\n"):
        return build(parse(text, "<text>"))
    path = check_path(text)
    with open(path, encoding="utf-8", errors="replace") as file:
        return build(parse(file.read(), path))


def build(operators: list[Operator]) -> Graph:
    """The graph of the operators of a file."""
    graph = Graph(dialect="pnnx", opsets={"": 1})
    nodes = []
    tuples: dict[str, tuple[str, ...]] = {}
    for operator in operators:
        for blob, declared in operator.types.items():
            graph.declared.setdefault(blob, DeclaredType(declared.dtype, declared.dims))
        if operator.type == INPUT:
            graph.inputs += operator.outputs
            graph.aliases.update(dict.fromkeys([operator.name], operator.outputs[0]))
        elif operator.type == OUTPUT:
            graph.outputs += operator.inputs
        elif operator.type == CONSTANT:
            graph.constants[operator.outputs[0]] = _constant(next(iter(operator.weights.values())))
        else:
            if operator.type == TUPLE:
                tuples[operator.outputs[0]] = operator.inputs
            nodes.append(_node(operator, graph))
    graph.nodes = nodes
    graph.outputs = list(dict.fromkeys(item for name in graph.outputs for item in _items(name, tuples)))
    return graph


def _items(name: str, tuples: dict[str, tuple[str, ...]]) -> list[str]:
    """The values of a tuple, with those of the tuples in it; any other value is one of its own."""
    if name not in tuples:
        return [name]
    return [value for item in tuples[name] for value in _items(item, tuples)]


def _constant(tensor: TensorText) -> PartialTensor:
    return PartialTensor(tensor.dtype, Shape(tuple(d if isinstance(d, int) else 0 for d in tensor.dims)), None)


def _node(operator: Operator, graph: Graph) -> Node:
    """The node of an operator: its weights are inputs too, and the arguments with a name refer to inputs."""
    inputs = list(operator.inputs)
    attributes: dict[str, object] = dict(operator.parameters)
    left = list(enumerate(inputs))
    for argument, blob in operator.arguments.items():
        position = next((at for at in left if at[1] == blob), None)
        if position is not None:
            left.remove(position)
            attributes[argument] = InputContents(position[0])
    for name, tensor in operator.weights.items():
        weight = f"{operator.name}.{name}"
        graph.constants[weight] = _constant(tensor)
        attributes[name] = InputContents(len(inputs))
        inputs.append(weight)
    return Node.make(operator.type, tuple(inputs), operator.outputs, attributes, operator.name)
