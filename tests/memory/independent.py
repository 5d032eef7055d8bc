"""Lifetimes computed independently from a ModelProto, with plain sets: the live names when each node runs.

Shapes are concrete: onnx's own inference of a model with numbers instead of names. Bodies follow docs/memory.md.
"""

from __future__ import annotations

import math

import onnx
import onnx.shape_inference

from tests.memory.storage import VIEWS

BITS = {
    "FLOAT": 32,
    "DOUBLE": 64,
    "FLOAT16": 16,
    "INT64": 64,
    "INT32": 32,
    "INT8": 8,
    "UINT8": 8,
    "BOOL": 8,
    "UINT4": 4,
}


def bound(model, binding):
    """The model with numbers for names, and the types of all values as onnx infers them."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    for value in (*copy.graph.input, *copy.graph.output):
        concrete(value, binding)
    for node in copy.graph.node:
        for body in bodies(node):
            for value in body.input:
                concrete(value, binding)
    return onnx.shape_inference.infer_shapes(copy, strict_mode=True, data_prop=True)


def concrete(value, binding):
    tensor = value.type.tensor_type
    if any(dim.dim_param and dim.dim_param not in binding for dim in tensor.shape.dim):
        tensor.ClearField("shape")  # an expression: onnx infers it
    for dim in tensor.shape.dim:
        if dim.dim_param:
            dim.dim_value = binding[dim.dim_param]


def bodies(node):
    return [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]


def size(value):
    tensor = value.type.tensor_type
    assert tensor.HasField("shape"), f"onnx does not know the shape of {value.name}"
    bits = BITS[onnx.TensorProto.DataType.Name(tensor.elem_type)]
    assert all(d.HasField("dim_value") for d in tensor.shape.dim), f"onnx does not know the shape of {value.name}"
    return math.ceil(math.prod(d.dim_value for d in tensor.shape.dim) * bits / 8)


def sizes(graph, path=""):
    """The bytes of all values; those of a body have the path of their node in front."""
    actual = {path + v.name: size(v) for v in (*graph.value_info, *graph.output, *graph.input)}
    for node in graph.node:
        for body in bodies(node):
            actual.update(sizes(body, f"{path}{node.name or node.output[0]}/"))
    return actual


def free(graph):
    """The names that a body reads of the graphs around it."""
    defined = {v.name for v in graph.input} | {t.name for t in graph.initializer}
    defined |= {name for node in graph.node for name in node.output}
    read = {name for node in graph.node for name in reads(node)} | {v.name for v in graph.output}
    return read - defined - {""}


def reads(node):
    return {name for name in node.input if name} | {name for body in bodies(node) for name in free(body)}


def stored(graph, outer=None):
    """The names stored in the file: weights, constants, and values that share the elements of one.

    `outer` are those of the graphs around it; None for the model's own graph, of which an output has memory of its own.
    """
    handed_out = {v.name for v in graph.output} if outer is None else set()
    actual = set(outer or ()) | {t.name for t in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            actual |= set(node.output)
        elif node.op_type in VIEWS and node.input[0] in actual:
            actual |= set(node.output) - handed_out
    return actual


def alive(graph, path="", formals=frozenset(), outer=None):
    """For each program point the live names of node outputs.

    A value is needed from its node to the last that reads it, an output to the end. Outer values that a body
    reads are read by its node, whose outputs are live from the body's first program point on; inputs of the body are
    live while it runs, its outputs until its node is done.
    """
    outputs, held = {v.name for v in graph.output}, stored(graph, outer)
    nodes, points = list(graph.node), []
    last = {name: at for at, node in enumerate(nodes) for name in reads(node)} | dict.fromkeys(outputs, len(nodes))
    needed = set()
    for at, node in enumerate(nodes):
        needed = {name for name in needed if last.get(name, -1) >= at}
        defined = {name for name in node.output if name and name not in held}
        here = {path + name for name in needed | defined} | set(formals)
        needed |= defined
        inner_path, handed = f"{path}{node.name or node.output[0]}/", set()
        for body in bodies(node):
            taken = {inner_path + v.name for v in body.input}
            points += [here | handed | inside for inside in alive(body, inner_path, frozenset(taken), held)]
            own = {v.name for v in body.input} | {name for n in body.node for name in n.output}
            handed |= {inner_path + v.name for v in body.output if v.name in own - stored(body, held)}
        points.append(here | handed)
    return points
