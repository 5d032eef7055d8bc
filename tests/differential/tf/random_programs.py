"""Random programs of operators, run eagerly by TensorFlow at several bindings and inferred with symbolic sizes.

`python -m tests.differential.tf.random_programs FIRST SECONDS` draws programs from a seed on until the time is
over, and prints the smallest part of each program for which inference is wrong.
"""

from __future__ import annotations

import inspect
import random
import sys
import time

import attrs
import numpy as np

from opdefs.tf import tf as dialect
from shapeinf import infer_shapes
from shapeinf.errors import ShapeInferenceError
from shapeinf.graph import DeclaredType, Graph
from shapeinf.ops import OpRegistry
from tests.differential.observed import agrees, observed_sizes
from tests.differential.tf.program import PRODUCER, _node, constant, step, value_name
from tests.differential.tf.random_kinds import KINDS, NoOperandError, Pool
from tests.differential.tf.record import RENAMED

SIZES = (1, 2, 3, 4, 5, 6, 8)
BINDINGS, TRIES = 3, 120
LARGE_RANK, LARGE_TENSOR, LARGE_NUMBER = 8, 5000, 1e6
"""Nodes are left out where a tensor has more axes or elements, or an element is larger."""
REGISTRY = OpRegistry(dialect)


@attrs.frozen
class RandomProgram:
    """A program with symbolic inputs; `values` are its tensors by name, at each binding."""

    inputs: dict
    bindings: list
    steps: list
    values: list


def draw(seed):
    """A program all of whose steps run at all of its bindings."""
    source = random.Random(seed)
    drawn = _inputs(source)
    length = source.randint(6, 22)
    for _ in range(TRIES):
        if len(drawn.steps) >= length:
            break
        try:
            nodes = source.choice(KINDS)(Pool(source, drawn.values[0]))
        except NoOperandError:
            continue
        _extend(drawn, nodes)
    return drawn


def _inputs(source):
    import tensorflow

    inputs = {}
    for name in ("x", "y"):
        symbols = [f"{name}{axis}" for axis in range(source.randint(1, 3))]
        inputs[name] = [source.choice((s, s, s, source.choice((1, 2, 4)))) for s in symbols]
    if source.random() < 0.5:
        inputs["y"][0] = inputs["x"][0]
    symbols = sorted({dim for dims in inputs.values() for dim in dims if isinstance(dim, str)})
    bindings = [{symbol: source.choice(SIZES) for symbol in symbols} for _ in range(BINDINGS)]
    contents = np.random.default_rng(0)
    values = [
        {
            f"{name}:0": tensorflow.constant(contents.random([b.get(d, d) for d in dims]).astype(np.float32))
            for name, dims in inputs.items()
        }
        for b in bindings
    ]
    return RandomProgram(inputs, bindings, [], values)


def _extend(drawn, nodes):
    """Add nodes to a program, if they run at all bindings."""
    count = len(drawn.steps)
    steps = [
        step(f"n{count + i}", op, *(_rename(operand, count) for operand in operands), **attributes)
        for i, (op, operands, attributes) in enumerate(nodes)
    ]
    results = [dict(values) for values in drawn.values]
    for values in results:
        for current in steps:
            try:
                outputs = run(current, values)
            except Exception:  # TensorFlow rejects the operands in many ways, and Python some
                return
            if any(_is_large(tensor) for tensor in outputs):
                return
            values.update({f"{current.name}:{i}": tensor for i, tensor in enumerate(outputs)})
    drawn.steps.extend(steps)
    for values, new in zip(drawn.values, results, strict=True):
        values.update(new)


def _rename(operand, count):
    if isinstance(operand, list):
        return [_rename(item, count) for item in operand]
    return f"n{count + int(operand[1:])}" if isinstance(operand, str) and operand.startswith("@") else operand


def _is_large(tensor):
    if len(tensor.shape) > LARGE_RANK or tensor.shape.num_elements() > LARGE_TENSOR:
        return True
    array = tensor.numpy()
    return array.dtype.kind == "i" and array.size > 0 and np.abs(array.astype(np.float64)).max() > LARGE_NUMBER


def run(current, values):
    """The outputs of TensorFlow's kernel."""
    import tensorflow

    def value(operand):
        if isinstance(operand, list):
            return [value(item) for item in operand]
        return values[value_name(operand)] if isinstance(operand, str) else tensorflow.constant(constant(operand))

    function = getattr(tensorflow.raw_ops, current.op)
    accepted = inspect.signature(function).parameters
    names = [arg.name for arg in dialect.lookup("", current.op, 0).inputs]
    arguments = dict(zip(names, map(value, current.operands), strict=True)) | current.attributes
    if "DstT" in arguments:
        arguments["DstT"] = tensorflow.as_dtype(arguments["DstT"])
    return tensorflow.nest.flatten(
        function(**{name if name in accepted else RENAMED[name]: argument for name, argument in arguments.items()})
    )


def graph_of(drawn):
    graph = Graph(dialect="tf", opsets={"": PRODUCER})
    for name, dims in drawn.inputs.items():
        graph.inputs.append(f"{name}:0")
        graph.declared[f"{name}:0"] = DeclaredType("float32", tuple(dims))
    graph.nodes.extend(_node(graph, current) for current in drawn.steps)
    return graph


def problem(drawn):
    """The contradiction between the runs and inference or its contract; None where they agree."""
    try:
        result = infer_shapes(graph_of(drawn), mode="strict", registry=REGISTRY)
    except ShapeInferenceError as error:
        return f"{type(error).__name__}: {error}"
    names = {dim for dims in drawn.inputs.values() for dim in dims if isinstance(dim, str)}
    steps = {current.name for current in drawn.steps}
    for binding, values in zip(drawn.bindings, drawn.values, strict=True):
        verdict = result.contract.check({name: binding[name] for name in names})
        if verdict.verdict is False:
            return f"the contract at {binding}: {verdict}"
        computed = {name: tensor for name, tensor in values.items() if name.partition(":")[0] in steps}
        sizes = observed_sizes(((result.tensors[name].shape, t.shape) for name, t in computed.items()), binding)
        for name, tensor in computed.items():
            if not _agrees(result, name, tensor, sizes):
                return f"{name} is {result.tensors[name]}, but {tensor.dtype.name}{tensor.shape} at {binding}"
    return None


def _agrees(result, name, tensor, sizes):
    info = result.tensors[name]
    if info.dtype != tensor.dtype.name:
        return False
    if info.shape.dims is None:
        return True
    if len(info.shape.dims) != len(tensor.shape):
        return False
    return all(agrees(result, dim, size, sizes) for dim, size in zip(info.shape.dims, tensor.shape, strict=True))


def shrink(drawn):
    """The smallest part of the program that still has a problem."""
    for current in reversed(list(drawn.steps)):
        rest = [other for other in drawn.steps if other is not current]
        smaller = attrs.evolve(drawn, steps=rest)
        if current.name not in _read(rest) and problem(smaller) is not None:
            drawn = smaller
    return drawn


def _read(steps):
    """The names of the nodes that steps read."""
    operands = [operand for current in steps for operand in current.operands]
    flat = [item for operand in operands for item in (operand if isinstance(operand, list) else [operand])]
    return {value_name(item).partition(":")[0] for item in flat if isinstance(item, str)}


def describe(drawn):
    lines = [f"{s.name} = {s.op}{s.operands} {s.attributes or ''}" for s in drawn.steps]
    return "\n".join([f"inputs {drawn.inputs}", *lines])


def report(seed):
    """The problem of the program of a seed, with the smallest part that has it; None where there is no problem."""
    drawn = draw(seed)
    if problem(drawn) is None:
        return None
    smaller = shrink(drawn)
    return f"seed {seed}: {problem(smaller)}\n{describe(smaller)}"


def main(first, seconds):
    seed, end = int(first), time.monotonic() + float(seconds)
    while time.monotonic() < end:
        text = report(seed)
        if text is not None:
            print(text, flush=True)
        seed += 1
    print(seed - int(first), "programs")


if __name__ == "__main__":
    main(*sys.argv[1:])
