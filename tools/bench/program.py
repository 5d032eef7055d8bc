"""All shapes at many bindings: one call of `result.program()` against inferring again for each binding.

    python tools/bench/program.py [MODELS...] [--bindings 10000] [--repeats 5]

Without models: a decoder of 3,000 nodes with a cache, in which every layer has widths of its own, and convolutions of
3,000 nodes in which every block has a size of its own. `call` is one call of the program: every distinct dim of all
tensors is evaluated, and every constraint is checked; a shape then only copies its rows. `all arrays` is the
call and then the array of every tensor, `all numbers` that and the elements and bytes of every tensor, and their total.
`again` is the fastest way without a program, for one binding: `infer_shapes` with all sizes bound, of a file (which is
mapped, and takes less than a model in memory), or `result.update` with the shapes of all inputs.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

# Not the folder of this file, whose name is that of a package it imports, but the one above.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

from shapeinf import infer_shapes  # noqa: E402

NODES = 3000


class Builder:
    """Nodes with weights, one after the other."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, *dims: int | str) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))
        return name

    def shape(self, *sizes: int) -> str:
        name = f"shape{len(self.weights)}"
        self.weights.append(helper.make_tensor(name, TensorProto.INT64, [len(sizes)], sizes))
        return name

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def model(self, output: str) -> onnx.ModelProto:
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "bench", self.inputs, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def decoder() -> onnx.ModelProto:
    """Attention with a cache; layer `i` has `i + 1` heads, so that few of its sizes are those of another layer."""
    b = Builder()
    x = b.input("x", "batch", "seq", 512)
    layer = 0
    while len(b.nodes) < NODES:
        heads = layer + 1
        width = heads * 8
        q, k, v = (b.node("MatMul", x, b.input(f"w{layer}{part}", 512, width)) for part in "qkv")
        split = [b.node("Reshape", t, b.shape(0, 0, heads, 8)) for t in (q, k, v)]
        q, k, v = (b.node("Transpose", t, perm=[0, 2, 1, 3]) for t in split)
        k, v = (
            b.node("Concat", b.input(f"past{layer}{part}", "batch", heads, "past", 8), t, axis=2)
            for part, t in (("k", k), ("v", v))
        )
        scores = b.node("Softmax", b.node("MatMul", q, b.node("Transpose", k, perm=[0, 1, 3, 2])), axis=-1)
        mixed = b.node("Transpose", b.node("MatMul", scores, v), perm=[0, 2, 1, 3])
        joined = b.node("Reshape", mixed, b.shape(0, 0, width))
        x = b.node("Add", x, b.node("MatMul", joined, b.input(f"w{layer}o", width, 512)))
        layer += 1
    return b.model(x)


def convolutions() -> onnx.ModelProto:
    """Blocks of 6 nodes, each of an image padded by another size: every block has floor divisions of its own."""
    b = Builder()
    x = b.input("image", "batch", 3, "height", "width")
    weight = b.input("w", 3, 3, 3, 3)
    block = 0
    out = x
    while len(b.nodes) < NODES:
        half = b.node("Conv", x, weight, strides=[2, 2], pads=[block, block, block, block])
        act = b.node("Relu", half)
        pooled = b.node("MaxPool", act, kernel_shape=[2, 2], strides=[2, 2])
        wide = b.node("Concat", b.node("Sigmoid", pooled), pooled, axis=1)
        out = b.node("Flatten", wide)
        block += 1
    return b.model(out)


def median(work: Callable[[], object], repeats: int) -> float:
    """Median seconds of CPU time, after one run that does not count."""
    times = []
    for turn in range(repeats + 1):
        start = time.process_time()
        work()
        if turn:
            times.append(time.process_time() - start)
    return statistics.median(times)


def measure(name: str, model: onnx.ModelProto, bindings: int, repeats: int) -> None:
    """One line about a model."""
    result = infer_shapes(model)
    start = time.process_time()
    program = result.program()
    sizes = draw_sizes(program.inputs, bindings)
    program(sizes)
    built = time.process_time() - start
    again, way = time_inference(model, program(sizes), sizes, repeats)

    def arrays() -> Any:
        shapes = program(sizes)
        for tensor in shapes:
            shapes[tensor]
        return shapes

    def numbers() -> None:
        shapes = arrays()
        for tensor in shapes:
            shapes.elements(tensor)
            shapes.bytes(tensor)
        shapes.total_bytes  # noqa: B018

    print(
        f"{name}: {len(model.graph.node)} nodes, {len(program.tensors)} tensors, {program.distinct_dims} distinct dims"
    )
    print(f"  again       {again * 1e3:10.2f} ms a binding ({way}); the program is built in {built * 1e3:.1f} ms")
    for title, work in (("call", lambda: program(sizes)), ("all arrays", arrays), ("all numbers", numbers)):
        taken = median(work, repeats) / bindings
        print(f"  {title:11} {taken * 1e6:10.3f} us a binding, {again / taken:10,.0f}x faster")


def time_inference(model: onnx.ModelProto, shapes: Any, sizes: dict[str, Any], repeats: int) -> tuple[float, str]:
    """Seconds for one binding, different at each call, and the fastest method."""
    turns = itertools.count()
    inputs = {value.name: shapes[value.name].tolist() for value in model.graph.input}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path)
        latest = [infer_shapes(path)]

        def from_file() -> Any:
            turn = next(turns)
            bound = {label: int(size[turn]) for label, size in sizes.items() if not label.endswith("]")}
            return infer_shapes(path, bind=bound).tensors

        def updated() -> Any:
            turn = next(turns)
            latest[0] = latest[0].update({name: rows[turn] for name, rows in inputs.items()})
            return latest[0].tensors

        ways = {"infer_shapes": median(from_file, repeats), "result.update": median(updated, repeats)}
    way = min(ways, key=ways.__getitem__)
    return ways[way], way


def draw_sizes(inputs: dict[str, Any], bindings: int) -> dict[str, np.ndarray]:
    """Random sizes inside the bounds, of 4 to 4 + 4096."""
    random = np.random.default_rng(0)
    return {
        label: random.integers(max(bounds.lo or 0, 4), min(bounds.hi or 4100, 4100) + 1, bindings)
        for label, bounds in inputs.items()
    }


def main() -> None:
    """Measure the models, by default two of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="files")
    parser.add_argument("--bindings", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (5)")
    options = parser.parse_args()
    models = {os.path.basename(path): onnx.load(path, load_external_data=False) for path in options.models}
    for name, model in (models or {"decoder": decoder(), "convolutions": convolutions()}).items():
        measure(name, model, options.bindings, options.repeats)


if __name__ == "__main__":
    main()
