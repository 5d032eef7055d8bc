"""A program: operators in order, connected by names, run by TensorFlow in one session and inferred as one graph.

Programs test operators that are connected by handles, which a single eager call cannot run.
`python -m tests.differential.tf.record_programs` records the outputs of TensorFlow in `recorded/programs.json`.
"""

from __future__ import annotations

import attrs
import numpy as np

from opdefs.tf import tf
from shapeinf import infer_shapes
from shapeinf.graph import DeclaredType, Graph, Node
from shapeinf.lattice import PartialTensor
from tests.differential.observed import agrees, observed_sizes
from tests.differential.tf.case import _array, _attribute, dtype_name

PRODUCER = 2474


@attrs.frozen
class Step:
    """A node: operands are names of values (`list`, `pop:1`), constants, or lists of these for one argument."""

    name: str
    op: str
    operands: tuple
    attributes: dict


def step(name, op, *operands, **attributes):
    return Step(name, op, operands, attributes)


@attrs.frozen
class Program:
    """`inputs` are texts such as `float32[2, 3]` by name.

    `unknown`: the nodes whose outputs are of unknown rank; `open`: those with sizes that are unknown even where the
    sizes of the inputs are known.
    """

    name: str
    inputs: dict
    steps: list
    unknown: tuple = ()
    open: tuple = ()

    def arrays(self):
        """The contents of the inputs in the run."""
        random = np.random.default_rng(0)
        return {name: _array(text, random) for name, text in self.inputs.items()}


def constant(value):
    array = np.asarray(value)
    if array.dtype == np.float64:
        return array.astype(np.float32)
    return (
        array.astype(np.int32) if array.dtype == np.int64 and not isinstance(value, (np.ndarray, np.generic)) else array
    )


def value_name(text):
    return text if ":" in text else f"{text}:0"


def flatten(op_def, operands):
    """One operand per value: lists for arguments with several values are flattened."""
    pairs = zip(op_def.inputs, operands, strict=True)
    return [o for arg, operand in pairs for o in (operand if arg.repeated else [operand])]


# -- the graph ---------------------------------------------------------------------------------------------------------


def build(program, *, symbolic):
    """The graph, and the value of each of its symbols."""
    graph = Graph(dialect="tf", opsets={"": PRODUCER})
    sizes = {}
    for name, array in program.arrays().items():
        names = [f"{name}{axis}" for axis in range(array.ndim)]
        sizes.update(zip(names, array.shape, strict=True))
        graph.inputs.append(f"{name}:0")
        dims = tuple(names) if symbolic else array.shape
        graph.declared[f"{name}:0"] = DeclaredType(dtype_name(array), dims)
    for current in program.steps:
        graph.nodes.append(_node(graph, current))
    return graph, sizes


def _node(graph, current):
    op_def = tf.lookup("", current.op, PRODUCER)
    assert op_def is not None and op_def.rule is not None, f"no rule for {current.op}"
    attributes = {n: _attribute(op_def.attributes[n].type, v) for n, v in current.attributes.items()}
    inputs = []
    for position, operand in enumerate(flatten(op_def, current.operands)):
        if isinstance(operand, str):
            inputs.append(value_name(operand))
        else:
            inputs.append(f"{current.name}.constant{position}:0")
            graph.constants[inputs[-1]] = PartialTensor.from_array(constant(operand))
    for arg, operand in zip(op_def.inputs, current.operands, strict=True):
        if arg.number_attr:
            attributes[arg.number_attr] = len(operand)
    count = len(op_def.flatten(attributes, len(inputs), 99).outputs)
    outputs = tuple(f"{current.name}:{i}" for i in range(count))
    return Node.make(current.op, tuple(inputs), outputs, attributes, current.name)


def problems(program, recorded, *, symbolic):
    """The differences between inferred and recorded types: what is wrong, and what should be known but is not."""
    graph, sizes = build(program, symbolic=symbolic)
    result = infer_shapes(graph, mode="strict")
    shapes = ((result.tensors[name].shape, dims) for name, (_, dims) in recorded.items())
    sizes = observed_sizes(shapes, sizes)
    for name, (dtype, dims) in recorded.items():
        info, node = result.tensors[name], name.partition(":")[0]
        if info.dtype != dtype:
            yield f"{name} is {info.dtype}, not {dtype}"
        if info.shape.dims is None:
            if node not in program.unknown:
                yield f"{name}: unknown rank, not {dims}"
        elif len(info.shape.dims) != len(dims):
            yield f"{name}: {info.shape} is of another rank than {dims}"
        else:
            may_be_open = symbolic or node in program.open
            for axis, (dim, size) in enumerate(zip(info.shape.dims, dims, strict=True)):
                if not _is_right(result, dim, size, sizes, may_be_open):
                    yield f"{name}, axis {axis}: {dim} is not {size}"


def _is_right(result, dim, size, sizes, may_be_open):
    is_known = isinstance(dim, int) or not dim.is_anonymous
    return (is_known or may_be_open) and agrees(result, dim, size, sizes)
