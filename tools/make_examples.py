"""Make the ONNX models in `examples/`: small, seeded, and in the form that exporters write."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
HIDDEN, HEADS, LAYERS, VOCABULARY, POSITIONS = 32, 4, 2, 100, 512


class Builder:
    """Collects nodes and weights of one graph."""

    def __init__(self, seed: int = 0) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(seed)

    def add(self, op: str, *inputs: str, name: str, outputs: int = 1, **attributes: Any) -> str:
        names = [name] if outputs == 1 else [f"{name}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=f"{name}/{op}", **attributes))
        return names[0]

    def weight(self, name: str, *shape: int) -> str:
        values = self.random.standard_normal(shape).astype(np.float32) * 0.05
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def ints(self, name: str, *values: int, scalar: bool = False) -> str:
        array = np.array(values[0] if scalar else values, dtype=np.int64)
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def size(self, x: str, axis: int, name: str) -> str:
        """One dim of x as a vector of one element: Shape, Gather, Unsqueeze."""
        shape = self.add("Shape", x, name=f"{name}.shape")
        dim = self.add("Gather", shape, self.ints(f"{name}.axis", axis, scalar=True), name=f"{name}.dim", axis=0)
        return self.add("Unsqueeze", dim, self.ints(f"{name}.axes", 0), name=name)

    def model(self, name: str, inputs: list[Any], outputs: list[Any]) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.weights)
        result = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 18)], producer_name="shapeinf examples"
        )
        result.ir_version = 9
        onnx.checker.check_model(result, full_check=False)
        return result


def attention(b: Builder, x: str, layer: str) -> str:
    """Causal self-attention, heads split and merged by Reshape and Transpose."""
    batch, seq = b.size(x, 0, f"{layer}.batch"), b.size(x, 1, f"{layer}.seq")
    heads = {}
    split = b.add("Concat", batch, seq, b.ints(f"{layer}.heads", HEADS, HIDDEN // HEADS), name=f"{layer}.split", axis=0)
    for part in "qkv":
        projected = b.add("MatMul", x, b.weight(f"{layer}.w{part}", HIDDEN, HIDDEN), name=f"{layer}.{part}")
        shaped = b.add("Reshape", projected, split, name=f"{layer}.{part}.heads")
        perm = [0, 2, 3, 1] if part == "k" else [0, 2, 1, 3]
        heads[part] = b.add("Transpose", shaped, name=f"{layer}.{part}.t", perm=perm)
    scores = b.add("MatMul", heads["q"], heads["k"], name=f"{layer}.scores")
    masked = b.add("Add", scores, "mask", name=f"{layer}.masked")
    weights = b.add("Softmax", masked, name=f"{layer}.weights", axis=-1)
    mixed = b.add("MatMul", weights, heads["v"], name=f"{layer}.mixed")
    back = b.add("Transpose", mixed, name=f"{layer}.back", perm=[0, 2, 1, 3])
    merge = b.add("Concat", batch, seq, b.ints(f"{layer}.hidden", HIDDEN), name=f"{layer}.merge", axis=0)
    merged = b.add("Reshape", back, merge, name=f"{layer}.merged")
    return b.add("MatMul", merged, b.weight(f"{layer}.wo", HIDDEN, HIDDEN), name=f"{layer}.out")


def norm(b: Builder, x: str, name: str) -> str:
    return b.add("LayerNormalization", x, b.weight(f"{name}.scale", HIDDEN), name=name, axis=-1)


def causal_mask(b: Builder) -> None:
    """0 on and below the diagonal, -1e4 above it, [seq, seq]."""
    seq = b.size("tokens", 1, "mask.seq")
    square = b.add("Concat", seq, seq, name="mask.square", axis=0)
    fill = numpy_helper.from_array(np.array([-1e4], np.float32))
    full = b.add("ConstantOfShape", square, name="mask.full", value=fill)
    b.add("Trilu", full, b.ints("mask.k", 1, scalar=True), name="mask", upper=1)


def decoder() -> onnx.ModelProto:
    """A two-layer transformer decoder: int64 tokens [batch, seq] to float32 logits [batch, seq, vocabulary]."""
    b = Builder(0)
    seq = b.add("Squeeze", b.size("tokens", 1, "seq"), b.ints("seq.squeeze", 0), name="seq.scalar")
    positions = b.add("Range", b.ints("zero", 0, scalar=True), seq, b.ints("one", 1, scalar=True), name="positions")
    words = b.add("Gather", b.weight("words", VOCABULARY, HIDDEN), "tokens", name="embedded")
    position_table = b.add("Gather", b.weight("places", POSITIONS, HIDDEN), positions, name="placed")
    x = b.add("Add", words, position_table, name="x0")
    causal_mask(b)
    for i in range(LAYERS):
        layer = f"layer{i}"
        x = b.add("Add", x, attention(b, norm(b, x, f"{layer}.norm1"), layer), name=f"{layer}.residual1")
        up = b.add(
            "MatMul", norm(b, x, f"{layer}.norm2"), b.weight(f"{layer}.up", HIDDEN, 4 * HIDDEN), name=f"{layer}.up.out"
        )
        act = b.add("Relu", up, name=f"{layer}.act")
        down = b.add("MatMul", act, b.weight(f"{layer}.down", 4 * HIDDEN, HIDDEN), name=f"{layer}.down.out")
        x = b.add("Add", x, down, name=f"{layer}.residual2")
    b.add("MatMul", norm(b, x, "final"), b.weight("head", HIDDEN, VOCABULARY), name="logits")
    tokens = helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", "seq"])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "seq", VOCABULARY])
    return b.model("decoder", [tokens], [logits])


def convnet() -> onnx.ModelProto:
    """A small U-Net: the skip connection requires even height and width."""
    b = Builder(1)
    down = b.add("Conv", "image", b.weight("w1", 8, 3, 3, 3), name="down", pads=[1, 1, 1, 1])
    act = b.add("Relu", down, name="act")
    half = b.add("MaxPool", act, name="half", kernel_shape=[2, 2], strides=[2, 2])
    mid = b.add("Conv", half, b.weight("w2", 16, 8, 3, 3), name="mid", pads=[1, 1, 1, 1])
    up = b.add("ConvTranspose", mid, b.weight("w3", 16, 8, 2, 2), name="up", strides=[2, 2])
    joined = b.add("Concat", act, up, name="joined", axis=1)
    b.add("Conv", joined, b.weight("w4", 1, 16, 1, 1), name="mask")
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, "height", "width"])
    mask = helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["batch", 1, "height", "width"])
    return b.model("convnet", [image], [mask])


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    EXAMPLES.mkdir(exist_ok=True)
    for name, model in (("decoder", decoder()), ("convnet", convnet())):
        (EXAMPLES / f"{name}.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main()
