"""Convolutions. The sizes S' of outputs are those of sliding windows: see `windows`."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims
from opdefs.rules.operands import require_multiple
from opdefs.tf.common import shape_of_rank
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.windows import (
    ConvWindow,
    VolumeWindow,
    convolved_sizes,
    format_shape,
    spatial_values,
    tensor_format,
    windowed_output_size,
)
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import Ints, Value

UNIT = (1, 1, 1, 1)


@tf("Conv2D")
def conv_2d(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    *,
    window: ConvWindow,
) -> Shape:
    """[N, H, W, C], [h, w, C/groups, D] -> [N, H', W', D].

    A filter of NCHW_VECT_C is [D, C/groups/inner, h, w, inner].
    """
    layout = tensor_format(window.data_format)
    x, weights = format_shape(c, input_, layout), format_shape(c, filter_, layout)
    if layout.has_inner:
        depth, kernel, inner = weights[0], weights[2:4], c.merge(x[-1], weights[-1])
        filter_depth, input_depth = weights[1] * inner, x[layout.channels] * inner
    else:
        kernel, filter_depth, depth = weights[:2], weights[2], weights[3]
        inner, input_depth = None, x[layout.channels]
    constrain_depths(c, input_depth, filter_depth, depth)
    spatial = convolved_sizes(c, x, kernel, window, layout)
    if inner is not None:
        depth = c.divide(depth, inner, evenly_divisible=isinstance(inner, int))
    return layout.shape(x[layout.batch], spatial, depth, inner)


def constrain_depths(c: TensorFlowContext, depth: DimSize, filter_depth: DimSize, output_depth: DimSize) -> None:
    """Require that the channels are divisible by those of the filter, and D by the quotient, the number of groups."""
    if filter_depth == 0:
        raise ShapeError("filter must not have zero elements (i.e. all dimensions must be non-zero)")
    if depth is filter_depth or depth == filter_depth:
        return
    message = f"Depth of input ({depth}) is not a multiple of input depth of filter ({filter_depth})"
    if not isinstance(depth, int) or not isinstance(filter_depth, int):
        require_multiple(c, depth, filter_depth, message)
        message = "Depth of output is not a multiple of the number of groups, the quotient of the depths of the inputs"
        require_multiple(c, output_depth * filter_depth, depth, message)
        return
    groups, rest = divmod(depth, filter_depth)
    if rest:
        raise ShapeError(message)
    message = f"Depth of output ({output_depth}) is not a multiple of the number of groups ({groups})"
    if isinstance(output_depth, int) and output_depth % max(groups, 1):
        raise ShapeError(message)
    require_multiple(c, output_depth, groups, message)


@tf("Conv3D")
def conv_3d(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    *,
    window: VolumeWindow,
) -> Shape:
    """[N, P, H, W, C], [p, h, w, C/groups, D] -> [N, P', H', W', D].

    Each axis has its own dilation, as in the kernel; TensorFlow's shape function swaps those of rows and columns.
    """
    layout = tensor_format(window.data_format, 3)
    x, weights = c.with_rank(input_, 5), c.with_rank(filter_, 5)
    constrain_depths(c, x[layout.channels], weights[3], weights[4])
    spatial = convolved_sizes(c, x, weights[:3], window, layout)
    return layout.shape(x[layout.batch], spatial, weights[4])


@tf("DepthwiseConv2dNative")
def depthwise_conv_2d(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    *,
    window: ConvWindow,
) -> Shape:
    """[N, H, W, C], [h, w, C, M] -> [N, H', W', C*M]."""
    layout = tensor_format(window.data_format)
    x, weights = c.with_rank(input_, 4), c.with_rank(filter_, 4)
    depth = c.multiply(c.merge(x[layout.channels], weights[2]), weights[3])
    spatial = convolved_sizes(c, x, weights[:2], window, layout)
    return layout.shape(x[layout.batch], spatial, depth)


@tf("Conv")
def conv(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    *,
    strides: Ints,
    padding: str,
    explicit_paddings: Ints = (),
    data_format: str = "CHANNELS_LAST",
    dilations: Ints = (),
    batch_dims: int = 1,
    groups: int = 1,
) -> Shape:
    """[*B, *S, C], [*K, C/groups, D] -> [*B, *S', D] for 2 or 3 spatial axes and `batch_dims` batch axes."""
    x, weights = _operands(c, input_, filter_, batch_dims)
    if x.dims is None or weights.dims is None:
        return c.unknown_shape()
    layout = tensor_format(data_format, len(weights) - 2)
    batch, image = x[:batch_dims], Shape((1, *x[batch_dims:]))
    _constrain_group_depths(c, image[layout.channels], weights[-2], weights[-1], groups)
    window = ConvWindow(strides, padding, explicit_paddings, data_format, dilations or (1,) * layout.length)
    spatial = convolved_sizes(c, image, weights[:-2], window, layout)
    return Shape((*batch, *layout.shape(1, spatial, weights[-1])[1:]))


def _operands(c: TensorFlowContext, x: Shape, weights: Shape, batch_dims: int) -> tuple[Shape, Shape]:
    """Both operands, each of the rank that follows from the other. Raises ShapeError for ranks that do not fit."""
    if batch_dims < 0:
        raise ShapeError(f"Batch dimensions must be non-negative, but got: {batch_dims}")
    for shape, batches in ((x, batch_dims), (weights, 1)):
        rank = None if shape.dims is None else len(shape.dims) - batches + 1
        if rank is not None and rank not in (4, 5):
            text = f"tensor must be rank 4 or 5, excluding extra batch dimensions, but got: {rank}"
            raise ShapeError(f"{'Input' if shape is x else 'Filter'} {text}")
    if x.dims is not None and weights.dims is not None and len(x) - batch_dims + 1 != len(weights):
        raise ShapeError("Input tensor rank must be the same as filter rank.")
    if x.dims is None and weights.dims is not None:
        x = c.with_rank(x, len(weights) + batch_dims - 1)
    if weights.dims is None and x.dims is not None:
        weights = c.with_rank(weights, len(x) - batch_dims + 1)
    return x, weights


def _constrain_group_depths(
    c: TensorFlowContext, depth: DimSize, filter_depth: DimSize, output_depth: DimSize, groups: int
) -> None:
    """Require that the channels of input, filter and output are those of `groups` groups."""
    if groups <= 0:
        raise ShapeError(f"groups attribute should be a positive integer, but got: {groups}")
    for size, name in ((depth, "input"), (output_depth, "output")):
        message = f"Number of groups should divide {name} depth, but got: {size}, {groups}"
        if isinstance(size, int) and size % groups:
            raise ShapeError(message)
        if not isinstance(size, int) and groups > 1:
            c.divisible(size, groups, message)
    constrain_depths(c, depth, filter_depth, output_depth)
    message = f"Input depth divided by filter input depth does not match with groups parameter ({groups})"
    c.merge(depth, c.multiply(filter_depth, groups), message)


@tf("_FusedConv2D")
def fused_conv_2d(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    *args: Shape,
    strides: Ints,
    padding: str,
    explicit_paddings: Ints = (),
    data_format: str = "NHWC",
    filter_format: str = "HWIO",
    dilations: Ints = UNIT,
) -> Shape:
    """As Conv2D; the arguments of the fused operators do not change the shape."""
    if filter_format == "OIHW" and filter_.dims is not None and len(filter_) == 4:
        filter_ = Shape((*filter_[2:], filter_[1], filter_[0]))
    window = ConvWindow(strides, padding, explicit_paddings, data_format, dilations)
    return conv_2d(c, input_, filter_, window=window)


@tf("_FusedDepthwiseConv2dNative")
def fused_depthwise_conv_2d(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    *args: Shape,
    strides: Ints,
    padding: str,
    data_format: str = "NHWC",
    dilations: Ints = UNIT,
) -> Shape:
    """As DepthwiseConv2dNative."""
    window = ConvWindow(strides, padding, (), data_format, dilations)
    return depthwise_conv_2d(c, input_, filter_, window=window)


@tf("_FusedConv3D")
def fused_conv_3d(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    *args: Shape,
    window: VolumeWindow,
) -> Shape:
    """As Conv3D."""
    return conv_3d(c, input_, filter_, window=window)


@tf("FusedPadConv2D")
def fused_pad_conv_2d(
    c: TensorFlowContext,
    input_: Shape,
    paddings: Value,
    filter_: Shape,
    *,
    strides: Ints,
    padding: str,
) -> Shape:
    """[N, H, W, C], paddings [4, 2], [h, w, C, D] -> [N, H', W', D]: a convolution of the padded image."""
    return conv_2d(c, _pad_image(c, c.with_rank(input_, 4), paddings), filter_, window=ConvWindow(strides, padding))


@tf("FusedResizeAndPadConv2D")
def fused_resize_and_pad_conv_2d(
    c: TensorFlowContext,
    input_: Shape,
    size: Value,
    paddings: Value,
    filter_: Shape,
    *,
    strides: Ints,
    padding: str,
) -> Shape:
    """[N, H, W, C], size [2], paddings [4, 2], [h, w, C, D] -> [N, H', W', D]: of the resized and padded image."""
    x = c.with_rank(input_, 4)
    height, width = shape_of_rank(c, 1, 2)
    resized = Shape((x[0], height, width, x[3]))
    return conv_2d(c, _pad_image(c, resized, paddings), filter_, window=ConvWindow(strides, padding))


def _pad_image(c: TensorFlowContext, x: Shape, paddings: Value) -> Shape:
    """The shape of a padded image, for paddings [4, 2]."""
    rows = c.with_rank(paddings.shape, 2)
    c.with_value(rows[0], 4)
    c.with_value(rows[1], 2)
    pads = known_dims(paddings) or (None,) * 8
    sizes: list[DimSize] = []
    for axis, size in enumerate(x):
        before, after = pads[2 * axis : 2 * axis + 2]
        sizes.append(c.unknown_dim() if before is None or after is None else c.add(c.add(size, before), after))
    return Shape(sizes)


@tf("Dilation2D")
def dilation_2d(
    c: TensorFlowContext, input_: Shape, filter_: Shape, *, strides: Ints, rates: Ints, padding: str
) -> Shape:
    """[N, H, W, C], [h, w, C] -> [N, H', W', C]."""
    layout = tensor_format("NHWC")
    x, weights = c.with_rank(input_, 4), c.with_rank(filter_, 3)
    steps = spatial_values(c, strides, layout, "stride")
    spread = spatial_values(c, rates, layout, "rates")
    axes = zip(x[1:3], weights[:2], spread, steps, strict=True)
    spatial = [windowed_output_size(c, size, window, rate, step, padding) for size, window, rate, step in axes]
    return layout.shape(x[0], spatial, c.merge(x[3], weights[2]))


@tf("Dilation2DBackpropInput")
def dilation_2d_backprop_input(c: TensorFlowContext, input_: Shape, filter_: Shape, out_backprop: Shape) -> Shape:
    """[N, H, W, C], [h, w, C], [N, H', W', C] -> [N, H, W, C]."""
    return input_


@tf("Dilation2DBackpropFilter")
def dilation_2d_backprop_filter(c: TensorFlowContext, input_: Shape, filter_: Shape, out_backprop: Shape) -> Shape:
    """[N, H, W, C], [h, w, C], [N, H', W', C] -> [h, w, C]."""
    return filter_
