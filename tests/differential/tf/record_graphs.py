"""Run whole graphs in TensorFlow and record them with their shapes: `python -m tests.differential.tf.record_graphs`.

With arguments, only the cases whose names contain one of them run, and the archive keeps its other records.
"""

from __future__ import annotations

import os
import sys
import traceback
from zlib import crc32

import numpy as np

from tests.differential.tf.graphs import store
from tests.differential.tf.graphs.case import BINDINGS, REQUIRED, Input
from tests.differential.tf.graphs.families import CASES

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # oneDNN's kernels return the input for empty results

RUNS = 2
"""Runs at each binding, with different data: a size that differs between them depends on the data."""
FLOAT, WEIGHT = 1, 40
"""TensorFlow's number of float32, and the largest constant in bytes that is recorded unchanged."""
TIMEOUT = 20_000
"""Milliseconds after which a graph counts as hanging, such as one that waits for an empty queue."""
SOURCES = ("Placeholder", "Const", "NoOp")
HANDLES = ("resource", "variant", "string_ref")


def record(case):
    """The graph of a case and the shapes of all its tensors at all bindings that run."""
    graph = (_legacy_graph if case.legacy else _function_graph)(case, _inputs(case))
    _shorten(graph)
    model = graph.SerializeToString(deterministic=True)
    return store.Record(model, *shapes_of(case, model))


def _shorten(graph):
    """Replace the contents of large weights by one number, so that the archive stays small."""
    bodies = [graph.node, *(function.node_def for function in graph.library.function)]
    for node in (node for body in bodies for node in body if node.op == "Const"):
        tensor = node.attr["value"].tensor
        if tensor.dtype == FLOAT and len(tensor.tensor_content) > WEIGHT:
            tensor.ClearField("tensor_content")
            tensor.float_val.append(0.125)


def _inputs(case):
    return [Input.parse(text) for text in case.inputs]


def shapes_of(case, model):
    """The bindings at which a graph runs, and the element type and dims of each tensor, in the form of `store`."""
    inputs = _inputs(case)
    random = np.random.default_rng(crc32(case.name.encode()))
    bindings, shapes = [], []
    for index, binding in enumerate(_distinct_bindings(inputs, case.extreme)):
        feeds = [{f"x{i}:0": x.array(binding, random) for i, x in enumerate(inputs)} for _ in range(RUNS)]
        try:
            shapes.append(run(model, feeds, static=case.static))
            bindings.append(binding)
        except Exception:
            if index < REQUIRED:
                raise
    return bindings, _join_bindings(shapes)


def _distinct_bindings(inputs, extreme):
    """The distinct bindings of the symbols of these inputs; without `extreme`, only the required ones."""
    symbols = sorted({dim for x in inputs for dim in x.dims if isinstance(dim, str)})
    bindings = [
        {symbol: binding[symbol] for symbol in symbols} for binding in BINDINGS[: None if extreme else REQUIRED]
    ]
    return [binding for i, binding in enumerate(bindings) if i < REQUIRED or binding not in bindings[:i]]


def _function_graph(case, inputs):
    """The GraphDef of a tf.function, its variables as constants."""
    import tensorflow
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    signature = [
        tensorflow.TensorSpec(x.shape() if x.ranked else None, x.dtype, name=f"x{i}") for i, x in enumerate(inputs)
    ]
    function = tensorflow.function(case.build, input_signature=signature).get_concrete_function()
    if function.graph.variables or len(function.inputs) > len(inputs):
        function = convert_variables_to_constants_v2(function, lower_control_flow=False)
    assert len(function.inputs) == len(inputs), f"captures {function.inputs[len(inputs) :]}"
    return function.graph.as_graph_def()


def _legacy_graph(case, inputs):
    """The GraphDef of a function as TensorFlow 1 traces it."""
    import tensorflow

    v1 = tensorflow.compat.v1
    v1.disable_control_flow_v2()
    try:
        with tensorflow.Graph().as_default() as graph:
            shapes = [x.shape() if x.ranked else None for x in inputs]
            case.build(*(v1.placeholder(x.dtype, s, f"x{i}") for i, (x, s) in enumerate(zip(inputs, shapes))))  # noqa: B905
        return graph.as_graph_def()
    finally:
        v1.enable_control_flow_v2()


def run(model, feeds, *, static=True):
    """{name: (element type, [shape of each run])} of all tensors that are no handles."""
    import tensorflow

    v1 = tensorflow.compat.v1
    options = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    options.operation_timeout_in_ms = TIMEOUT
    options.graph_options.rewrite_options.disable_meta_optimizer = True
    options.graph_options.optimizer_options.opt_level = -1
    with tensorflow.Graph().as_default() as graph:
        graph_def = v1.GraphDef.FromString(model)
        tensorflow.import_graph_def(_static(graph_def, feeds[0]) if static else graph_def, name="")
        tensors = [tensor for op in _unconditional(graph) for tensor in op.outputs if _is_recorded(graph, tensor)]
        fetches = {tensor.name: tensorflow.raw_ops.Shape(input=tensor) for tensor in tensors}
        with v1.Session(graph=graph, config=options) as session:
            runs = [session.run(fetches, feed) for feed in feeds]
    return {t.name: (t.dtype.base_dtype.name, [shapes[t.name].tolist() for shapes in runs]) for t in tensors}


def _static(graph, feed):
    """The graph with the sizes of its inputs: TensorFlow's shape functions then reject what its kernels may run."""
    for node in graph.node:
        if node.op == "Placeholder":
            shape = node.attr["shape"].shape
            shape.Clear()
            for size in feed[f"{node.name}:0"].shape:
                shape.dim.add().size = size
    return graph


def _unconditional(graph):
    """The operations outside the loops and the branches of switches, in the order of the graph."""
    frames, branches = {}, {}
    for op in graph.get_operations():  # an operation stands behind its inputs, but for what goes back in a loop
        data = [tensor.op for tensor in op.inputs]
        sources = data if op.type in ("Exit", "Merge") else [*data, *op.control_inputs]
        frames[op] = max((frames.get(source, 0) for source in sources), default=0)
        frames[op] += {"Enter": 1, "Exit": -1}.get(op.type, 0)
        branches[op] = max((branches.get(source, 0) for source in sources), default=0)
        if not frames[op]:
            branches[op] += {"Switch": 1, "Merge": -1}.get(op.type, 0)
    return [op for op in graph.get_operations() if not frames[op] and branches[op] <= 0]


def _is_recorded(graph, tensor):
    return tensor.op.type not in SOURCES and tensor.dtype.name not in HANDLES and graph.is_fetchable(tensor)


def _join_bindings(bindings):
    """[element type, dims] of each tensor, in the form of `store`."""
    joined = {}
    for name, (dtype, _) in bindings[0].items():
        shapes = [binding[name][1] for binding in bindings]
        ranks = {len(shape) for runs in shapes for shape in runs}
        joined[name] = [dtype, None if len(ranks) > 1 else [_dim(column) for column in zip(*map(_columns, shapes))]]  # noqa: B905
    return joined


def _columns(runs):
    """Of each axis the sizes of all runs at a binding."""
    return list(zip(*runs, strict=True))


def _dim(column):
    """One dim: an int, or an item for each binding."""
    items = [[min(runs), max(runs)] if len(set(runs)) > 1 else runs[0] for runs in column]
    if any(isinstance(item, list) for item in items):
        return [item if isinstance(item, list) else [item, item] for item in items]
    return items[0] if len(set(items)) == 1 else items


def main(words):
    records = {n: store.read(n) for n in store.names() if n in CASES} if words and store.ARCHIVE.exists() else {}
    for name, case in CASES.items():
        if words and not any(word in name for word in words):
            continue
        try:
            records[name] = record(case)
        except Exception as error:
            traceback.print_exc(limit=-3)
            print(f"FAILED {name}: {type(error).__name__}: {str(error)[:300]}")
            continue
        print(name, len(records[name].tensors), "tensors at", len(records[name].bindings), "bindings", flush=True)
    store.write(records)


if __name__ == "__main__":
    main(sys.argv[1:])
