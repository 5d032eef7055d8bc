"""`fuse_bias_add`: the addition of a constant becomes part of the bias of the Conv, ConvTranspose or Gemm before it.

The constant must have one number for each output channel: with leading axes of 1 up to the rank of the result, only the
axis of the channels may be larger than 1. A constant that broadcasts the result to more elements is not fused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from shapeinf.passes.editor import Editor, Skip
from shapeinf.passes.numbers import round_to, to_double
from shapeinf.passes.products import PRODUCTS, Product


def fuse_bias_add(editor: Editor) -> None:
    """Fuse every Add of a constant and a product that nothing else reads."""

    def is_candidate(node: ir.Node) -> bool:
        operands = [value for value in node.inputs if value is not None]
        has_product = any(editor.is_operator(value.producer(), *PRODUCTS) for value in operands)
        return has_product and any(value.is_initializer() for value in operands)

    editor.rewrite_nodes("Add", _fuse, is_candidate)


def _fuse(editor: Editor, node: ir.Node) -> None:
    source, constant = _operands(editor, node)
    producer = source.producer()
    assert producer is not None
    if editor.opset < 7:
        raise Skip("Add broadcasts by attributes before opset 7")
    editor.only_reader(source)
    editor.check_bypass(node, source)
    product = Product.read(editor, producer)
    addend = _channel_numbers(to_double(editor.array(constant)), product)
    product.write(editor, None, round_to(product.dtype, product.bias + addend))
    editor.record_change(node, f"fused into {producer.op_type} '{producer.name or source.name}'")
    editor.bypass(node, source)


def _operands(editor: Editor, node: ir.Node) -> tuple[ir.Value, ir.Value]:
    """The result of a product and the constant that is added to it."""
    for at, source in enumerate(node.inputs):
        other = node.inputs[1 - at]
        if source is not None and other is not None and editor.is_operator(source.producer(), *PRODUCTS):
            return source, other
    raise Skip("no operand is the result of a Conv, ConvTranspose or Gemm")


def _channel_numbers(array: npt.NDArray[Any], product: Product) -> npt.NDArray[np.float64]:
    """The constant as one number for each channel. Raises Skip for a constant of another shape."""
    if array.ndim > product.rank:
        raise Skip("the constant has more axes than the result")
    lifted = array.reshape((1,) * (product.rank - array.ndim) + array.shape)
    if lifted.size not in (1, lifted.shape[1]) or lifted.shape[1] not in (1, product.channels):
        raise Skip(f"the constant {list(array.shape)} is not one number for each of {product.channels} channels")
    return np.broadcast_to(lifted.reshape(-1), (product.channels,)).copy()
