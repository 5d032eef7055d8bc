"""Pooling. The sizes S' of outputs are those of sliding windows: see `windows`."""

from __future__ import annotations

import attrs

from opdefs.rules.contents.elements import known_ints
from opdefs.tf.common import shape_of_rank
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.windows import (
    TensorFormat,
    format_shape,
    padding_pairs,
    spatial_values,
    tensor_format,
    windowed_output_size,
    windowed_output_sizes,
)
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import Ints, Value


@attrs.frozen
class PoolWindow:
    """The attributes of pooling."""

    ksize: Ints
    strides: Ints
    padding: str

    def of_images(self) -> ImagePool:
        """The same attributes with the default format of images."""
        return ImagePool(self.ksize, self.strides, self.padding)


@attrs.frozen
class ImagePool(PoolWindow):
    """The attributes of pooling of images."""

    data_format: str = "NHWC"


@attrs.frozen
class VolumePool(PoolWindow):
    """The attributes of pooling of volumes."""

    data_format: str = "NDHWC"


@tf("AvgPool")
def avg_pool(c: TensorFlowContext, value: Shape, *, window: ImagePool) -> Shape:
    """[N, H, W, C] -> [N, H', W', C]."""
    layout = tensor_format(window.data_format)
    x = format_shape(c, value, layout)
    return _pooled_shape(c, x, layout, x[layout.channels], window)


def _pooled_shape(
    c: TensorFlowContext,
    x: Shape,
    layout: TensorFormat,
    depth: DimSize,
    window: PoolWindow,
    explicit_paddings: Ints = (),
) -> Shape:
    """The shape of the pooled images, with `depth` channels."""
    steps = spatial_values(c, window.strides, layout, "stride")
    windows = spatial_values(c, window.ksize, layout, "ksize")
    if min(windows) < 1:
        c.fail("Sliding window ksize must be positive", window.ksize)
    pads = padding_pairs(window.padding, explicit_paddings, layout)
    sizes = [x[axis] for axis in layout.spatial]
    spatial = windowed_output_sizes(c, sizes, windows, steps, window.padding, pads=pads)
    return layout.shape(x[layout.batch], spatial, depth, x[-1] if layout.has_inner else None)


@tf("MaxPool")
def max_pool(c: TensorFlowContext, input_: Shape, *, window: ImagePool, explicit_paddings: Ints = ()) -> Shape:
    """[N, H, W, C] -> [N, H', W', C'], where the windows extend along the spatial axes or along the channels."""
    layout = tensor_format(window.data_format)
    x = format_shape(c, input_, layout)
    axis = layout.channels
    depth, ksize, strides = x[axis], window.ksize, window.strides
    if len(ksize) == len(strides) == layout.length and (ksize[axis], strides[axis]) != (1, 1):
        implicit = "VALID" if window.padding == "EXPLICIT" else window.padding
        depth = windowed_output_size(c, depth, ksize[axis], 1, strides[axis], implicit)
    return _pooled_shape(c, x, layout, depth, window, explicit_paddings)


@tf("MaxPoolV2")
def max_pool_with_tensors(
    c: TensorFlowContext, input_: Shape, ksize: Value, strides: Value, *, padding: str, data_format: str = "NHWC"
) -> Shape:
    """[N, H, W, C], [4], [4] -> [N, H', W', C']; only N is known without the contents of `ksize` and `strides`."""
    layout = tensor_format(data_format)
    x = format_shape(c, input_, layout)
    windows, steps = known_ints(ksize), known_ints(strides)
    if windows is not None and steps is not None:
        return max_pool(c, x, window=ImagePool(windows, steps, padding, data_format))
    dims = [size if axis == layout.batch else c.unknown_dim() for axis, size in enumerate(x)]
    return Shape((*dims[:-1], x[-1])) if layout.has_inner else Shape(dims)


@tf("MaxPoolWithArgmax")
def max_pool_with_argmax(c: TensorFlowContext, input_: Shape, *, window: PoolWindow) -> tuple[Shape, Shape]:
    """[N, H, W, C] -> [N, H', W', C], and the indices [N, H', W', C] of the maxima in the flat input."""
    pooled = max_pool(c, input_, window=window.of_images())
    return pooled, pooled


@tf("AvgPool3D", "MaxPool3D")
def pool_3d(c: TensorFlowContext, input_: Shape, *, window: VolumePool) -> Shape:
    """[N, D, H, W, C] -> [N, D', H', W', C]."""
    layout = tensor_format(window.data_format, 3)
    x = c.with_rank(input_, 5)
    return _pooled_shape(c, x, layout, x[layout.channels], window)


# -- gradients ---------------------------------------------------------------------------------------------------------


@tf("AvgPoolGrad")
def avg_pool_grad(c: TensorFlowContext, orig_input_shape: Value, grad: Shape) -> Shape:
    """[4], [N, H', W', C] -> the shape in `orig_input_shape`."""
    c.with_rank(grad, 4)
    return shape_of_rank(c, 0, 4)


@tf("AvgPool3DGrad")
def avg_pool_3d_grad(c: TensorFlowContext, orig_input_shape: Value, grad: Shape) -> Shape:
    """[5], [N, D', H', W', C] -> the shape in `orig_input_shape`."""
    c.with_rank(grad, 5)
    return shape_of_rank(c, 0, 5)


@tf("MaxPoolGrad", "MaxPoolGradV2", "MaxPoolGradWithArgmax", "FractionalMaxPoolGrad")
def max_pool_grad(c: TensorFlowContext, orig_input: Shape, *rest: Shape) -> Shape:
    """[N, H, W, C], others -> [N, H, W, C]."""
    return c.with_rank(orig_input, 4)


@tf("MaxPool3DGrad")
def max_pool_3d_grad(c: TensorFlowContext, orig_input: Shape, orig_output: Shape, grad: Shape) -> Shape:
    """[N, D, H, W, C], [N, D', H', W', C], [N, D', H', W', C] -> [N, D, H, W, C]."""
    return c.with_rank(orig_input, 5)


@tf("MaxPoolGradGrad")
def max_pool_grad_grad(
    c: TensorFlowContext, orig_input: Shape, orig_output: Shape, grad: Shape, *, window: ImagePool
) -> Shape:
    """[N, H, W, C], [N, H', W', C], [N, H, W, C] -> [N, H', W', C]."""
    x = c.merge(c.with_rank(orig_input, 4), grad)
    return c.merge(max_pool(c, x, window=window), orig_output)


@tf("MaxPoolGradGradV2")
def max_pool_grad_grad_with_tensors(
    c: TensorFlowContext,
    orig_input: Shape,
    orig_output: Shape,
    grad: Shape,
    ksize: Shape,
    strides: Shape,
    *,
    data_format: str = "NHWC",
) -> Shape:
    """[N, H, W, C], [N, H', W', C], [N, H, W, C], [4], [4] -> [N, H', W', C]."""
    x = c.merge(c.with_rank(orig_input, 4), grad)
    pooled = c.with_rank(orig_output, 4)
    layout = tensor_format(data_format)
    return c.replace_dim(pooled, layout.batch, c.merge(pooled[layout.batch], x[layout.batch]))


@tf("MaxPool3DGradGrad")
def max_pool_3d_grad_grad(
    c: TensorFlowContext, orig_input: Shape, orig_output: Shape, grad: Shape, *, window: VolumePool
) -> Shape:
    """[N, D, H, W, C], [N, D', H', W', C], [N, D, H, W, C] -> [N, D', H', W', C]."""
    x = c.merge(c.with_rank(orig_input, 5), grad)
    return c.merge(pool_3d(c, x, window=window), orig_output)


@tf("MaxPoolGradGradWithArgmax")
def max_pool_grad_grad_with_argmax(
    c: TensorFlowContext, input_: Shape, grad: Shape, argmax: Shape, *, window: PoolWindow
) -> Shape:
    """[N, H, W, C], [N, H, W, C], indices [N, H', W', C] -> [N, H', W', C]."""
    x = c.merge(c.with_rank(input_, 4), grad)
    return c.merge(max_pool(c, x, window=window.of_images()), argmax)
