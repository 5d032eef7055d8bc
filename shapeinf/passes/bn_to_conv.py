"""`bn_to_conv`: a batch normalization becomes a Conv with a group for each channel and kernels of one element."""

from __future__ import annotations

import onnx_ir as ir

from shapeinf.lattice.types import numpy_dtype
from shapeinf.passes.editor import Editor, Skip
from shapeinf.passes.fuse_bn import channel_scale
from shapeinf.passes.numbers import round_to

LEAST_RANK = 3
"""The least rank of the input of a Conv."""


def bn_to_conv(editor: Editor) -> None:
    """Rewrite every batch normalization with constant parameters whose input has a known rank of at least 3."""
    editor.rewrite_nodes("BatchNormalization", _rewrite)


def _rewrite(editor: Editor, node: ir.Node) -> None:
    source, scope = node.inputs[0], node.graph
    assert scope is not None
    shape, dtype = editor.shape(source), editor.types.dtype(source)
    if shape.dims is None:
        raise Skip("the rank of its input is unknown")
    if len(shape.dims) < LEAST_RANK:
        raise Skip(f"its input has rank {len(shape.dims)}, and a Conv requires at least {LEAST_RANK}")
    if dtype is None:
        raise Skip("the element type of its input is unknown")
    scale = channel_scale(editor, node)
    kind = numpy_dtype(dtype)
    assert kind is not None
    channels, spatial = len(scale.factor), len(shape.dims) - 2
    weight = round_to(kind, scale.factor.reshape(channels, *(1,) * (spatial + 1)))
    bias = round_to(kind, scale.shift)
    name = node.outputs[0].name
    inputs = [
        source,
        editor.new_constant(scope, f"{name}_weight", weight),
        editor.new_constant(scope, f"{name}_bias", bias),
    ]
    node.op_type = "Conv"
    node.attributes.clear()
    node.attributes["group"] = ir.AttrInt64("group", channels)
    node.attributes["kernel_shape"] = ir.AttrInt64s("kernel_shape", [1] * spatial)
    node.resize_outputs(1)
    old = list(node.inputs)
    for index in range(len(old)):
        node.replace_input_with(index, inputs[index] if index < len(inputs) else None)
    node.resize_inputs(len(inputs))
    editor.drop_unread(old)
    editor.record_change(node, f"is a Conv of {channels} groups")
