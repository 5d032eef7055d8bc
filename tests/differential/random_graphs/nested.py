"""Families of nodes with bodies, sequences, and functions of the model."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

from tests.differential.random_graphs import bodies
from tests.differential.random_graphs.eager import LOCAL, Refused, imports_of
from tests.differential.random_graphs.net import Net


def body(n: Net) -> None:
    """A loop, scan or branch over the matrices."""
    if n.opset < 13:
        raise Refused("bodies are drawn for later opsets")
    matrices = [name for name in n.matrices if n.values[name].dtype == np.float32 and n.values[name].size < 200]
    if not matrices:
        raise Refused("no matrix")
    inner = bodies.Matrices(n.draw, matrices, n.draw.choice((1, 1, 2)))
    result = n.draw.choice((bodies.loop, bodies.loop, bodies.branch, bodies.scan))(inner)
    n.append(inner.nodes)
    if result not in n.pool:
        n.pool.append(result)


def sequence(n: Net) -> None:
    x = n.floats(least=1)
    n.add("SequenceConstruct", x, *(n.floats(rank=len(n.shape(x))) for _ in range(n.draw.choice((0, 1, 2)))))


def parts(n: Net) -> None:
    """By the specification `keepdims` has no effect if sizes are specified; in onnxruntime it has one."""
    x = n.floats(least=1)
    if n.draw.random() < 0.5:
        n.add("SplitToSequence", x, axis=n.axis(x), keepdims=n.draw.randrange(2))
    else:
        n.add("SplitToSequence", x, n.known(n.draw.choice((1, 2))), axis=n.axis(x))


def of_sequence(n: Net) -> None:
    if n.draw.random() < 0.5 or not n.has_sequences:
        n.draw.choice((sequence, parts))(n)
    some = n.sequence()
    op = n.draw.choice(("SequenceAt", "SequenceAt", "SequenceInsert", "SequenceErase", "SequenceLength", "joined"))
    position = [n.known(n.draw.choice((0, -1, 0, 1)))] if op != "SequenceErase" or n.draw.random() < 0.5 else []
    if op == "SequenceLength":
        n.add(op, some)
    elif op == "SequenceInsert":
        n.add(op, some, n.floats(rank=n.values[some][0].ndim), *position[: n.draw.randrange(2)])
    elif op == "joined":
        n.add("ConcatFromSequence", some, axis=n.draw.choice((0, 0, 1, -1)), new_axis=n.draw.randrange(2))
    else:
        n.add(op, some, *position)


def call(n: Net) -> None:
    """A call of a function of the model; the function has an attribute."""
    if n.opset < 13:
        raise Refused("functions are drawn for later opsets")
    if not n.functions or n.draw.random() < 0.3:
        n.functions.append(_function(n))
    function = n.draw.choice(n.functions)
    x = n.floats(least=1)
    axis = n.draw.randrange(len(n.shape(x)))
    n.split(function.name, 2, x, n.like(x), domain=LOCAL, axis=axis)


def _function(n: Net) -> onnx.FunctionProto:
    """A few nodes on `(p, q)` of one shape, for any shape and axis."""
    nodes, names = [], ["p", "q"]
    for i in range(n.draw.choice((1, 2, 3))):
        op = n.draw.choice(("Relu", "Add", "Concat", "Softmax", "Reshape", "Transpose"))
        x = n.draw.choice(names)
        output = f"f{i}"
        if op == "Add":
            nodes.append(helper.make_node(op, [x, x], [output]))
        elif op == "Reshape":
            nodes += [
                helper.make_node("Shape", [x], [f"{output}.shape"]),
                helper.make_node(op, [x, f"{output}.shape"], [output]),
            ]
        elif op in ("Concat", "Softmax"):
            node = helper.make_node(op, [x, x] if op == "Concat" else [x], [output])
            named = onnx.AttributeProto(name="axis", type=onnx.AttributeProto.INT, ref_attr_name="axis")
            node.attribute.append(named)
            nodes.append(node)
        else:
            nodes.append(helper.make_node(op, [x], [output]))
        names.append(output)
    nodes.append(helper.make_node("Identity", ["q"], ["last"]))
    name = f"F{len(n.functions)}"
    return helper.make_function(
        LOCAL, name, ["p", "q"], [names[-1], "last"], nodes, imports_of(n.opset)[:2], attributes=["axis"]
    )


FAMILIES = (*(body,) * 4, sequence, parts, of_sequence, of_sequence, of_sequence, call, call)
