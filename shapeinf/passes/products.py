"""Conv, ConvTranspose and Gemm with constant weights: their channels, weights and bias, to read and to replace."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from shapeinf.passes.editor import Editor, Skip
from shapeinf.passes.numbers import to_double

PRODUCTS = ("Conv", "ConvTranspose", "Gemm")


@attrs.frozen
class Product:
    """A node `W x + b`: its weight, and its bias as one number for each output channel (0 without a bias).

    The `bias` of a Gemm is multiplied by its beta; `write` sets beta to 1.
    """

    node: ir.Node
    dtype: np.dtype[Any]
    weight: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]
    channels: int

    @classmethod
    def read(cls, editor: Editor, node: ir.Node) -> Product:
        """Read a node. Raises Skip where its weights are not constant, or its bias differs within a channel."""
        if any(editor.is_annotated(value) for value in node.inputs[1:]):
            raise Skip("its weights have a quantization annotation")
        array = editor.array(node.inputs[1])
        channels = _channels(node, array.shape)
        bias = _bias(editor, node, channels)
        return cls(node, array.dtype, to_double(array), bias, channels)

    @property
    def rank(self) -> int:
        """The number of axes of the result."""
        return self.weight.ndim

    def check_channels(self, count: int, of: str) -> None:
        """Raise Skip unless there are `count` output channels; `of` names what has them."""
        if count != self.channels:
            raise Skip(f"{of} has {count} channels, and {self.node.op_type} has {self.channels}")

    def scale_channels(self, factor: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The weight with each output channel multiplied by its factor."""
        weight, ones = self.weight, (1,) * (self.weight.ndim - 2)
        if self.node.op_type == "Conv":
            return weight * factor.reshape(-1, 1, *ones)
        if self.node.op_type == "Gemm":
            return weight * (factor[:, None] if _is_transposed(self.node) else factor[None, :])
        groups = self.node.attributes.get_int("group", 1)
        grouped = weight.reshape(groups, -1, *weight.shape[1:])
        scaled = grouped * factor.reshape(groups, 1, weight.shape[1], *ones)
        return scaled.reshape(weight.shape)

    def write(self, editor: Editor, weight: npt.NDArray[Any] | None, bias: npt.NDArray[Any]) -> None:
        """Set a new bias and, unless it is None, a new weight; other readers of the old ones keep these."""
        node, scope = self.node, self.node.graph
        assert scope is not None
        old_weight, old_bias = node.inputs[1], node.inputs[2] if len(node.inputs) > 2 else None
        assert old_weight is not None
        if weight is not None:
            editor.set_input(node, 1, editor.new_constant(scope, old_weight.name or "weight", weight))
        hint = (old_bias.name if old_bias is not None else None) or f"{old_weight.name}_bias"
        editor.set_input(node, 2, editor.new_constant(scope, hint, bias))
        if node.op_type == "Gemm":
            node.attributes.pop("beta", None)


def _is_transposed(node: ir.Node) -> bool:
    return bool(node.attributes.get_int("transB", 0))


def _channels(node: ir.Node, shape: tuple[int, ...]) -> int:
    if node.op_type == "Gemm":
        if len(shape) != 2:
            raise Skip("the weight of the Gemm is not a matrix")
        return shape[0 if _is_transposed(node) else 1]
    if len(shape) < 3:
        raise Skip(f"the weight of the {node.op_type} has rank {len(shape)}")
    if node.op_type == "Conv":
        return shape[0]
    groups = node.attributes.get_int("group", 1)
    if groups < 1 or shape[0] % groups:
        raise Skip("its groups do not divide the channels")
    return shape[1] * groups


def _bias(editor: Editor, node: ir.Node, channels: int) -> npt.NDArray[np.float64]:
    """The bias as one number for each channel."""
    value = node.inputs[2] if len(node.inputs) > 2 else None
    if value is None:
        return np.zeros(channels)
    array = to_double(editor.array(value))
    if node.op_type == "Gemm":
        array = array * float(np.float32(node.attributes.get_float("beta", 1.0)))
        if array.ndim == 2 and array.shape[0] != 1:
            raise Skip("the bias of the Gemm differs by row")
        array = array.reshape(-1)
    if array.shape not in ((), (1,), (channels,)):
        raise Skip(f"its bias has the shape {list(array.shape)}")
    return np.broadcast_to(array, (channels,)).copy()
