"""Symbolic multiply-accumulates at three bindings, against the formulas of onnx-tool, on models of the corpus.

onnx-tool counts with the shapes that onnxruntime returned: its own inference fails for most models.
"""

from __future__ import annotations

import json
import random
import re
from math import prod
from pathlib import Path
from typing import NamedTuple

import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.cost import NodeCost
from tests.vectors import ROOT

onnx_tool = pytest.importorskip("onnx_tool", reason="onnx-tool is not installed: costs are not compared with it")

MODELS = sorted((ROOT / "models" / "dev").glob("*.onnx"))

SAME = ("MatMul", "MatMulInteger", "QLinearMatMul")
"""Operators with the same multiply-accumulates."""
CONVENTIONS = {
    "Conv": "it adds the sum with a bias, one for each element; for us that is an operation",
    "Gemm": "it adds the sum with a bias, one for each element; for us that is an operation",
    "Einsum": "an outer product has no sum: multiply-accumulates for onnx-tool, operations for us",
}
DEFECTS = {
    "Conv": "it counts 0 where a convolution is fused with a sum",
    "ConvTranspose": "it multiplies the elements of the output, not those of the input, by the kernel",
    "LSTM": "it adds the activations of one direction, an exponential as 16 multiply-accumulates",
    "GRU": "it adds the activations of one direction, an exponential as 16 multiply-accumulates",
}
"""The errors of onnx-tool; tests/cost compares our rules with closed forms."""


class Count(NamedTuple):
    """onnx-tool's multiply-accumulates of a node, the elements of its output, and the number of its inputs."""

    macs: int
    elements: int
    inputs: int


def counts_of_tool(path: Path, truth: dict, binding: int) -> dict[str, Count]:
    """The counts of onnx-tool by node, at the shapes of a run."""
    try:
        graph = onnx_tool.Model(str(path), {"verbose": False}).graph
    except IndexError:  # an einsum of one operand
        return {}
    every = {**truth["tensors"], **truth["inputs"]}
    shapes = {name: item["shapes"][binding] for name, item in every.items() if item.get("shapes")}
    for name, shape in shapes.items():
        if name in graph.tensormap and shape is not None:
            graph.tensormap[name].update_shape(list(shape))
    counts = {}
    for name, node in graph.nodemap.items():
        if node.op_type not in SAME and node.op_type not in CONVENTIONS:
            continue
        inputs, outputs = ([graph.tensormap[n] for n in side if n] for side in (node.input, node.output))
        if all(tensor.name in shapes or tensor.name in graph.initials for tensor in (*inputs, *outputs)):
            try:
                macs = int(node.profile(inputs, outputs)[0])
            except IndexError:  # an einsum with an ellipsis
                continue
            counts[name] = Count(macs, prod(shapes[outputs[0].name]), len(inputs))
    return counts


def agrees(node: NodeCost, count: Count) -> bool:
    """Whether both counts are equal, but for `CONVENTIONS` and `DEFECTS`."""
    if node.op in SAME:
        return count.macs == node.macs
    if node.op == "Einsum":
        return count.macs == (node.macs or node.operations)
    if node.op == "Conv" and count.inputs > 3:
        return count.macs == 0  # see DEFECTS
    return count.macs - node.macs == (count.elements if count.inputs == 3 else 0)


def compare(path: Path) -> int:
    """The number of nodes whose counts are compared."""
    truth = json.loads(path.with_suffix(".truth.json").read_text(encoding="utf-8"))
    cost = infer_shapes(path).cost()
    compared = 0
    for binding, sizes in enumerate(truth["bindings"]):
        nodes = {node.name: node for node in cost.at(sizes).nodes}
        for name, count in counts_of_tool(path, truth, binding).items():
            if name in nodes:
                assert agrees(nodes[name], count), f"{path.name} at {sizes}: {nodes[name]} and {count}"
                compared += 1
    return compared


def require_models() -> None:
    if not MODELS:
        pytest.skip("the models do not exist: set SHAPEINF_CONFORMANCE to their folder")


@pytest.mark.filterwarnings("ignore:node .* is not registed")
def test_some_models_agree_with_onnx_tool():
    require_models()
    chosen = random.Random(18).sample(MODELS, 10)
    assert sum(compare(path) > 0 for path in chosen) >= 5


INTEGERS = re.compile(r"qdq|qop|dynq|bert.dyn|sk_voting")
"""Models with weights that are integers: biases of quantized operators, tables, classes of a vote."""


def float_weights(graph: onnx.GraphProto | onnx.FunctionProto) -> int:
    """The elements of all initializers and constants that are floats of rank 1 or more, in bodies too."""
    constants = [a.t for node in graph.node for a in node.attribute if node.op_type == "Constant" and a.name == "value"]
    initializers = getattr(graph, "initializer", ())  # a function has none
    floats = [t for t in (*initializers, *constants) if t.dims and t.data_type in (1, 2, 3, 10, 11, 16, 21, 22)]
    bodies = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return sum(prod(t.dims) for t in floats) + sum(map(float_weights, bodies))


def test_parameters_are_the_weights_of_the_file():
    require_models()
    for path in random.Random(7).sample(MODELS, 15):
        model = onnx.load(path, load_external_data=False)
        expected = float_weights(model.graph) + sum(map(float_weights, model.functions))
        counted = infer_shapes(path).cost().total.parameters
        assert counted == expected or (INTEGERS.search(path.name) and counted > expected), path.name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:node .* is not registed")
def test_all_models_agree_with_onnx_tool():
    require_models()
    assert sum(compare(path) > 0 for path in MODELS) >= 80
