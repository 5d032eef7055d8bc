"""Make `examples/detector.tflite`: a small detector with the sizes of its image in constants, as converters write them.

    python tools/make_tflite_example.py

It needs `ai-edge-litert`. The features are added to smaller ones that are resized to 16x16, and the boxes of an image
are one list.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

PATH = Path(__file__).resolve().parent.parent / "examples" / "detector.tflite"


class Builder:
    """Adds tensors and operators to one subgraph."""

    def __init__(self) -> None:
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.description = "make_tflite_example.py"
        self.model.operatorCodes = []
        self.model.buffers = [schema.BufferT()]
        self.graph = schema.SubGraphT()
        self.graph.name = "main"
        self.graph.tensors, self.graph.operators = [], []
        self.model.subgraphs = [self.graph]

    def tensor(self, name: str, shape: Sequence[int], data: Any = None) -> int:
        """Add a tensor; returns its index."""
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.hasRank = name, list(shape), True
        tensor.type = schema.TensorType.INT32 if data is not None and data.dtype == np.int32 else 0
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = list(data.tobytes())
            self.model.buffers.append(buffer)
            tensor.buffer = len(self.model.buffers) - 1
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def node(self, op: str, inputs: Sequence[int], output: int, table: str, **fields: int) -> None:
        """Add an operator with its options."""
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, op)
        code.deprecatedBuiltinCode = code.builtinCode
        code.version = 1
        self.model.operatorCodes.append(code)
        operator = schema.OperatorT()
        operator.opcodeIndex = len(self.model.operatorCodes) - 1
        operator.inputs, operator.outputs = list(inputs), [output]
        operator.builtinOptionsType = getattr(schema.BuiltinOptions, table)
        operator.builtinOptions = getattr(schema, f"{table}T")()
        for name, value in fields.items():
            setattr(operator.builtinOptions, name, value)
        self.graph.operators.append(operator)

    def sign(self, inputs: dict[str, int], outputs: dict[str, int]) -> None:
        """Set inputs and outputs, and name them in a signature."""
        signature = schema.SignatureDefT()
        signature.signatureKey, signature.subgraphIndex = "serving_default", 0
        signature.inputs, signature.outputs = ([_named(*item) for item in part.items()] for part in (inputs, outputs))
        self.model.signatureDefs = [signature]
        self.graph.inputs, self.graph.outputs = list(inputs.values()), list(outputs.values())


def _named(name: str, index: int) -> Any:
    entry = schema.TensorMapT()
    entry.name, entry.tensorIndex = name, index
    return entry


def main() -> None:
    """Write the file."""
    build = Builder()
    image = build.tensor("serving_default_image:0", [1, 32, 32, 3])
    kernel = build.tensor("kernel", [8, 3, 3, 3], np.zeros([8, 3, 3, 3], np.float32))
    bias = build.tensor("bias", [8], np.zeros(8, np.float32))
    features = build.tensor("features", [1, 16, 16, 8])
    pooled = build.tensor("pooled", [1, 8, 8, 8])
    size = build.tensor("size", [2], np.array([16, 16], np.int32))
    resized = build.tensor("resized", [1, 16, 16, 8])
    added = build.tensor("added", [1, 16, 16, 8])
    head = build.tensor("head", [16, 1, 1, 8], np.zeros([16, 1, 1, 8], np.float32))
    head_bias = build.tensor("head_bias", [16], np.zeros(16, np.float32))
    offsets = build.tensor("offsets", [1, 16, 16, 16])
    target = build.tensor("target", [3], np.array([1, -1, 4], np.int32))
    boxes = build.tensor("StatefulPartitionedCall:0", [1, 1024, 4])
    build.node("CONV_2D", [image, kernel, bias], features, "Conv2DOptions", strideW=2, strideH=2)
    pool = {"strideW": 2, "strideH": 2, "filterWidth": 2, "filterHeight": 2}
    build.node("MAX_POOL_2D", [features], pooled, "Pool2DOptions", **pool)
    build.node("RESIZE_NEAREST_NEIGHBOR", [pooled, size], resized, "ResizeNearestNeighborOptions")
    build.node("ADD", [features, resized], added, "AddOptions")
    build.node("CONV_2D", [added, head, head_bias], offsets, "Conv2DOptions", strideW=1, strideH=1)
    build.node("RESHAPE", [offsets, target], boxes, "ReshapeOptions")
    build.sign({"image": image}, {"boxes": boxes})
    builder = flatbuffers.Builder(4096)
    builder.Finish(build.model.Pack(builder), b"TFL3")
    PATH.write_bytes(bytes(builder.Output()))
    print(f"{PATH.stat().st_size} bytes in {PATH.name}")


if __name__ == "__main__":
    main()
