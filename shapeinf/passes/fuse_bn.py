"""`fuse_bn`: a batch normalization becomes part of the Conv, ConvTranspose or Gemm before it.

With `s = scale / sqrt(var + epsilon)` for each channel, the weights become `W * s` and the bias `(b - mean) * s + B`.
"""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from shapeinf.passes.editor import Editor, Skip
from shapeinf.passes.numbers import round_to, to_double
from shapeinf.passes.products import PRODUCTS, Product

DEFAULT_EPSILON = 1e-5


@attrs.frozen
class ChannelScale:
    """A batch normalization in inference mode: `x * factor + shift`, or `(x - mean) * factor + offset`, by channel."""

    factor: npt.NDArray[np.float64]
    shift: npt.NDArray[np.float64]
    mean: npt.NDArray[np.float64]
    offset: npt.NDArray[np.float64]


def fuse_bn(editor: Editor) -> None:
    """Fuse every batch normalization with constant parameters whose input has no other reader."""

    def is_candidate(node: ir.Node) -> bool:
        source = node.inputs[0]
        return source is None or editor.is_operator(source.producer(), *PRODUCTS)

    editor.rewrite_nodes("BatchNormalization", _fuse, is_candidate)


def _fuse(editor: Editor, node: ir.Node) -> None:
    source = node.inputs[0]
    producer = None if source is None else source.producer()
    if source is None or producer is None or not editor.is_operator(producer, *PRODUCTS):
        raise Skip("its input is not the result of a Conv, ConvTranspose or Gemm")
    editor.only_reader(source)
    editor.check_bypass(node, source)
    scale = channel_scale(editor, node)
    product = Product.read(editor, producer)
    product.check_channels(len(scale.factor), "the batch normalization")
    weight = product.scale_channels(scale.factor)
    bias = (product.bias - scale.mean) * scale.factor + scale.offset
    product.write(editor, round_to(product.dtype, weight), round_to(product.dtype, bias))
    editor.record_change(node, f"fused into {producer.op_type} '{producer.name or source.name}'")
    editor.bypass(node, source)


def channel_scale(editor: Editor, node: ir.Node) -> ChannelScale:
    """The parameters of a batch normalization. Raises Skip in training mode, and where they are not constant."""
    _check_inference_mode(editor, node)
    arrays = [to_double(editor.array(value)) for value in node.inputs[1:5]]
    if len(arrays) != 4 or any(a.ndim != 1 or len(a) != len(arrays[0]) for a in arrays):
        raise Skip("its parameters are not four vectors of the same length")
    scale, offset, mean, variance = arrays
    epsilon = float(np.float32(node.attributes.get_float("epsilon", DEFAULT_EPSILON)))
    with np.errstate(divide="ignore", invalid="ignore"):  # `round_to` refuses what is not finite
        factor = scale / np.sqrt(variance + epsilon)
        return ChannelScale(factor, offset - mean * factor, mean, offset)


def _check_inference_mode(editor: Editor, node: ir.Node) -> None:
    opset = editor.opset
    if node.attributes.get_int("training_mode", 0) or (opset < 7 and not node.attributes.get_int("is_test", 0)):
        raise Skip("it is in training mode")
    if len(node.outputs) > 1:
        raise Skip("it has outputs for the statistics of training")
    if opset < 9 and not node.attributes.get_int("spatial", 1):
        raise Skip("its parameters have a value for each element, not for each channel (spatial=0)")
