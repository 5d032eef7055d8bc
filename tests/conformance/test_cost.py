"""Symbolic multiply-accumulates at three bindings against onnx-tool's formulas, on models of other people's exporters.

onnx-tool counts on the shapes that onnxruntime returned for these models, not on its own: it infers a third of them.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from shapeinf import infer_shapes
from tests.conformance.conftest import ROOT

onnx_tool = pytest.importorskip("onnx_tool", reason="onnx-tool is not installed: costs are not compared with it")

MODELS = sorted((ROOT / "models" / "dev").glob("*.onnx"))

SAME = ("MatMul", "Einsum", "MatMulInteger", "QLinearMatMul")
"""Operators whose multiply-accumulates onnx-tool counts as we do."""
WITH_BIAS = ("Conv", "Gemm")
"""Operators where it adds the sum with a bias, one for each element; for us that is an operation."""
CONVENTIONS = {
    "ConvTranspose": "it multiplies the elements of the output, not those of the input, by the kernel",
    "LSTM": "it adds the activations of one direction, an exponential as 16 multiply-accumulates",
    "GRU": "it adds the activations of one direction, an exponential as 16 multiply-accumulates",
}


def counts_of_tool(path: Path, truth: dict, binding: int) -> dict[str, int]:
    """onnx-tool's multiply-accumulates by node, for the shapes of the runtime."""
    graph = onnx_tool.Model(str(path), {"verbose": False}).graph
    shapes = {name: item["shapes"][binding] for name, item in truth["tensors"].items()}
    shapes.update({name: item["shapes"][binding] for name, item in truth["inputs"].items()})
    for name, shape in shapes.items():
        if name in graph.tensormap and shape is not None:
            graph.tensormap[name].update_shape(list(shape))
    counts = {}
    for name, node in graph.nodemap.items():
        if node.op_type in (*SAME, *WITH_BIAS, *CONVENTIONS):
            tensors = [[graph.tensormap[n] for n in side if n] for side in (node.input, node.output)]
            if all(tensor.name in shapes or tensor.name in graph.initials for side in tensors for tensor in side):
                counts[name] = int(node.profile(*tensors)[0])
    return counts


def compare(path: Path) -> int:
    """The number of nodes whose counts are compared."""
    truth = json.loads(path.with_suffix(".truth.json").read_text(encoding="utf-8"))
    cost = infer_shapes(path).cost()
    compared = 0
    for binding, sizes in enumerate(truth["bindings"]):
        nodes = {node.name: node for node in cost.at(sizes).nodes}
        for name, count in counts_of_tool(path, truth, binding).items():
            if name not in nodes:
                continue
            node = nodes[name]
            ours = node.macs + (node.operations if node.op in WITH_BIAS else 0)
            if node.op in CONVENTIONS:
                assert count > node.macs, f"{path.name}: {name}: {CONVENTIONS[node.op]}"
            else:
                assert ours == count, f"{path.name} at {sizes}: {node.op} {name}"
            compared += 1
    return compared


def test_some_models_agree_with_onnx_tool():
    if not MODELS:
        pytest.skip("the models are not there: set SHAPEINF_CONFORMANCE to the folder that holds them")
    chosen = random.Random(18).sample(MODELS, 12)
    assert sum(compare(path) > 0 for path in chosen) >= 6


@pytest.mark.slow
def test_all_models_agree_with_onnx_tool():
    if not MODELS:
        pytest.skip("the models are not there: set SHAPEINF_CONFORMANCE to the folder that holds them")
    assert sum(compare(path) > 0 for path in MODELS) >= 30
