"""The operators of TensorFlow.js that TensorFlow does not have, by the rules of those of the same meaning."""

from __future__ import annotations

from opdefs.rules.contents.constants import constant_tensor, number_of
from opdefs.rules.reshaping import shape_from_sizes
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.conv import depthwise_conv_2d
from opdefs.tf.dialect import tf
from opdefs.tf.windows import ConvWindow, convolved_sizes, tensor_format
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


@tf("Prelu", in_place=(0,))
def prelu(c: TensorFlowContext, x: Shape, alpha: Shape) -> Shape:
    """[*A], slopes [*B] -> [*broadcast(A, B)]."""
    return c.broadcast(x, alpha)


@tf("FusedDepthwiseConv2dNative")
def fused_depthwise_conv_2d(
    c: TensorFlowContext, input_: Shape, filter_: Shape, *args: Shape, window: ConvWindow
) -> Shape:
    """As DepthwiseConv2dNative; the bias and the activation do not change the shape."""
    return depthwise_conv_2d(c, input_, filter_, window=window)


@tf("DepthwiseConv2d")
def depthwise_conv_2d_of_images(c: TensorFlowContext, input_: Shape, filter_: Shape, *, window: ConvWindow) -> Shape:
    """[N, H, W, C] or one image [H, W, C], [h, w, C, M] -> [N, H', W', C*M] or [H', W', C*M]."""
    if input_.dims is None:
        return c.unknown_shape()
    result = depthwise_conv_2d(c, _as_batch(input_, 4), filter_, window=window)
    return Shape(result[4 - len(input_.dims) :])


@tf("Conv1D")
def conv_1d(
    c: TensorFlowContext,
    input_: Shape,
    filter_: Shape,
    *,
    stride: int,
    padding: str,
    data_format: str = "NWC",
    dilation: int = 1,
) -> Shape:
    """[N, W, C] or one row [W, C], [w, C, D] -> [N, W', D] or [W', D]."""
    if data_format.upper() != "NWC":
        c.fail("the data format of Conv1D must be NWC", data_format)
    if input_.dims is None:
        return c.unknown_shape()
    layout = tensor_format("NWC", 1)
    x, (kernel, depth, filters) = c.with_rank(_as_batch(input_, 3), 3), c.with_rank(filter_, 3)
    c.merge(x[2], depth, "the last axis of the input must be as long as the second one of the filter")
    window = ConvWindow((1, stride, 1), padding.upper(), (), "NWC", (1, dilation, 1))
    result = (x[0], *convolved_sizes(c, x, (kernel,), window, layout), filters)
    return Shape(result[3 - len(input_.dims) :])


def _as_batch(x: Shape, rank: int) -> Shape:
    """The shape, with an axis of size 1 in front if it lacks that of the batch."""
    return Shape((1, *x)) if len(x) == rank - 1 else x


@tf("Ones")
def ones(c: TensorFlowContext, shape: Value, *, T: str = "float32") -> PartialTensor:  # noqa: N803
    """[R] -> the sizes in `shape`, filled with ones."""
    return constant_tensor(T, shape_from_sizes(c, shape, "shape"), number_of(T, 1))


@tf("Zeros")
def zeros(c: TensorFlowContext, shape: Value, *, T: str = "float32") -> PartialTensor:  # noqa: N803
    """[R] -> the sizes in `shape`, filled with zeros."""
    return constant_tensor(T, shape_from_sizes(c, shape, "shape"), number_of(T, 0))
