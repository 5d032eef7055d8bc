"""Gradients of convolutions: with the sizes of the result as an input, or with a tensor of its shape (`*_of_*`)."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.operands import require_choice
from opdefs.rules.window import window_span
from opdefs.tf.common import shape_of_rank
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.windows import ConvWindow, TensorFormat, VolumeWindow, padding_pairs, spatial_values, tensor_format
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import Value


@tf("Conv2DBackpropInput")
def conv_2d_backprop_input(
    c: TensorFlowContext,
    input_sizes: Value,
    filter_: Shape,
    out_backprop: Shape,
    *,
    window: ConvWindow,
) -> Shape:
    """[4] or [2], [h, w, C, D], [N, H', W', D] -> the shape in `input_sizes`, or [N, height, width, C] for [2]."""
    layout = tensor_format(window.data_format)
    grad, weights = c.with_rank(out_backprop, 4), c.with_rank(filter_, 4)
    c.merge(grad[layout.channels], weights[3])
    return _input_shape(c, layout, grad, weights, window)


@tf("DepthwiseConv2dNativeBackpropInput")
def depthwise_conv_2d_backprop_input(
    c: TensorFlowContext,
    input_sizes: Value,
    filter_: Shape,
    out_backprop: Shape,
    *,
    window: ConvWindow,
) -> Shape:
    """[4] or [2], [h, w, C, M], [N, H', W', C*M] -> [N, H, W, C], as Conv2DBackpropInput.

    The kernel accepts [2], a height and a width, which TensorFlow's shape function rejects.
    """
    layout = tensor_format(window.data_format)
    grad, weights = c.with_rank(out_backprop, 4), c.with_rank(filter_, 4)
    x = _input_shape(c, layout, grad, weights, window)
    return c.replace_dim(x, layout.channels, c.merge(x[layout.channels], weights[2]))


@tf("Conv3DBackpropInputV2")
def conv_3d_backprop_input(
    c: TensorFlowContext,
    input_sizes: Value,
    filter_: Shape,
    out_backprop: Shape,
    *,
    window: VolumeWindow,
) -> Shape:
    """[5], [p, h, w, C, D], [N, P', H', W', D] -> the shape in `input_sizes`."""
    layout = tensor_format(window.data_format, 3)
    grad, weights = c.with_rank(out_backprop, 5), c.with_rank(filter_, 5)
    return _input_shape(c, layout, grad, weights, window)


def _input_shape(
    c: TensorFlowContext,
    layout: TensorFormat,
    grad: Shape,
    weights: Shape,
    window: ConvWindow | VolumeWindow,
) -> Shape:
    """The shape in input 0; sizes that are unknown are bounded by those of the gradient."""
    wanted = c.make_shape_from_shape_tensor(0)
    rank = layout.length if wanted.dims is None else len(wanted)
    lengths = (4, 2) if layout.length == 4 else (layout.length,)
    message = f"{c.op_def.name} requires input_sizes to contain {' or '.join(f'{n} values' for n in lengths)}"
    if rank not in lengths:
        raise ShapeError(f"{message}, but got: {rank}")
    require_choice(c, c.with_rank(c.input(0), 1)[0], lengths, message)
    steps = spatial_values(c, window.strides, layout, "stride")
    spread = spatial_values(c, window.dilations, layout, "dilation")
    pads = padding_pairs(window.padding, window.explicit_paddings, layout)
    known: Sequence[DimSize | None] = (None,) * layout.length if c.value(0) is None else wanted.require()
    spatial = known[-2:] if rank == 2 else [known[axis] for axis in layout.spatial]
    sizes: list[DimSize] = []
    for index, (size, axis) in enumerate(zip(spatial, layout.spatial, strict=True)):
        span = window_span(weights[index], spread[index])
        if size is None:
            size = _input_size(c, grad[axis], span, steps[index], window.padding, sum(pads[index]))
        sizes.append(size)
    depth = weights[-2] if rank == 2 else known[layout.channels]
    batch = None if rank == 2 else known[layout.batch]
    return layout.shape(
        grad[layout.batch] if batch is None else c.merge(batch, grad[layout.batch]),
        sizes,
        c.unknown_dim() if depth is None else depth,
    )


def _input_size(c: TensorFlowContext, output: DimSize, span: DimSize, stride: int, padding: str, pads: int) -> DimSize:
    """The size of an axis whose windows number `output`: exact for stride 1, else an unknown of at most the largest."""
    if stride < 1:
        raise ShapeError(f"Stride must be > 0, but got {stride}")
    if padding == "SAME":
        return output if stride == 1 else c.fresh_at_most(output * stride, "input")
    most = (output - 1) * stride + span - pads + (stride - 1)
    return most if stride == 1 and c.prove_le(0, most) is True else c.fresh_at_most(most, "input")


@tf("Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter")
def conv_2d_backprop_filter(c: TensorFlowContext, input_: Shape, filter_sizes: Value, out_backprop: Shape) -> Shape:
    """[N, H, W, C], [4], [N, H', W', D] -> the shape in `filter_sizes`."""
    return shape_of_rank(c, 1, 4)


@tf("Conv3DBackpropFilterV2")
def conv_3d_backprop_filter(c: TensorFlowContext, input_: Shape, filter_sizes: Value, out_backprop: Shape) -> Shape:
    """[N, P, H, W, C], [5], [N, P', H', W', D] -> the shape in `filter_sizes`."""
    return shape_of_rank(c, 1, 5)


@tf("Conv2DBackpropInputV2")
def conv_2d_backprop_of_input(c: TensorFlowContext, input_: Shape, filter_: Shape, out_backprop: Shape) -> Shape:
    """[N, H, W, C], [h, w, C, D], [N, H', W', D] -> [N, H, W, C]."""
    return c.with_rank(input_, 4)


@tf("Conv2DBackpropFilterV2")
def conv_2d_backprop_of_filter(c: TensorFlowContext, input_: Shape, filter_: Shape, out_backprop: Shape) -> Shape:
    """[N, H, W, C], [h, w, C, D], [N, H', W', D] -> [h, w, C, D]."""
    return c.with_rank(filter_, 4)


@tf("Conv3DBackpropInput")
def conv_3d_backprop_of_input(c: TensorFlowContext, input_: Shape, filter_: Shape, out_backprop: Shape) -> Shape:
    """[N, P, H, W, C], [p, h, w, C, D], [N, P', H', W', D] -> [N, P, H, W, C]."""
    return c.with_rank(input_, 5)


@tf("Conv3DBackpropFilter")
def conv_3d_backprop_of_filter(c: TensorFlowContext, input_: Shape, filter_: Shape, out_backprop: Shape) -> Shape:
    """[N, P, H, W, C], [p, h, w, C, D], [N, P', H', W', D] -> [p, h, w, C, D]."""
    return c.with_rank(filter_, 5)
