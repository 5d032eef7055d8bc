"""Drawing nodes of a graph."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


class Draw(random.Random):
    """Random choices, and names that are not used yet."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._names = 0

    def name(self) -> str:
        """A name for a value or graph."""
        self._names += 1
        return f"v{self._names}"


class Block:
    """The nodes of one graph."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.nodes: list[onnx.NodeProto] = []

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of one output, and return the output's name."""
        return self.split(op, 1, *inputs, **attributes)[0]

    def split(self, op: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        """A node of several outputs."""
        names = [self.draw.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, names[0], **attributes))
        return names

    def known(self, value: Any, dtype: type = np.int64) -> str:
        """A constant; a list of numbers is a vector."""
        return self.add("Constant", value=numpy_helper.from_array(np.array(value, dtype)))

    def size(self, of: str, axis: int) -> str:
        """A vector of one size of a tensor."""
        return self.add("Gather", self.add("Shape", of), self.known([axis]))


def value(name: str, element: int = FLOAT, shape: list[Any] | None = None) -> onnx.ValueInfoProto:
    """A declared input or output; without a shape its rank is open."""
    return helper.make_tensor_value_info(name, element, shape)


def model_of(block: Block, inputs: list[onnx.ValueInfoProto], outputs: list[str]) -> onnx.ModelProto:
    """The model; its outputs are declared without a type."""
    infos = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(block.nodes, "g", inputs, infos)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
