"""Graphs of TensorFlow operators, written by hand: values are `node:k`, and `node` stands for `node:0`."""

from __future__ import annotations

import numpy as np

from shapeinf import infer_shapes
from shapeinf.graph import DeclaredType, FunctionReference, Graph, Node
from shapeinf.lattice import PartialTensor


def value(name):
    return name if ":" in name else f"{name}:0"


def node(op, inputs, name, outputs=1, **attributes):
    return Node.make(op, tuple(map(value, inputs)), tuple(f"{name}:{k}" for k in range(outputs)), attributes, name)


def constant(array):
    return PartialTensor.from_array(np.asarray(array))


def graph(inputs, nodes, outputs, constants=(), functions=(), **fields):
    """`inputs` are types by name: an element type and dims, or None for an argument whose type is that of the call."""
    return Graph(
        dialect="tf",
        opsets={"": 2474},
        inputs=[value(name) for name in inputs],
        outputs=[value(name) for name in outputs],
        nodes=list(nodes),
        declared={value(n): DeclaredType(*type_) for n, type_ in dict(inputs).items() if type_ is not None},
        constants={value(name): constant(array) for name, array in dict(constants).items()},
        functions={("", name, ""): body for name, body in dict(functions).items()},
        **fields,
    )


def function(arguments, nodes, outputs, constants=()):
    return graph(dict.fromkeys(arguments), nodes, outputs, constants)


def ref(name, **attributes):
    return FunctionReference(("", name, ""), attributes)


def infer(model, **options):
    return infer_shapes(model, mode="best", **options)


def types(result, *names):
    return [str(result.tensor(value(name))) for name in names]


def errors(result):
    return [str(note) for note in result.diagnostics if note.severity == "error"]
