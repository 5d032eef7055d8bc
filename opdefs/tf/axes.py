"""Axis rules of TensorFlow's operators: see `shapeinf.ops.axes`.

An operator without a rule is not known to keep items separate: control flow, tables, sparse tensors, search, training.
"""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.axis_uses import (
    all_but,
    input_axes,
    items_at,
    leading,
    mixed,
    pads,
    rank_of,
    separate,
    trailing,
    windows,
)
from opdefs.tf.dialect import tf
from shapeinf.ops import CostContext
from shapeinf.ops.axes import AxisContext, AxisRule, AxisUse

tf.axes(
    *("Abs", "Acos", "Acosh", "Add", "AddN", "AddV2", "ApproximateEqual", "Asin", "Asinh", "Atan", "Atan2", "Atanh"),
    *("BesselI0e", "BesselI1e", "BiasAdd", "BiasAddV1", "Bitcast", "BitwiseAnd", "BitwiseOr", "BitwiseXor"),
    *(
        "BroadcastTo",
        "Bucketize",
        "Cast",
        "Ceil",
        "CheckNumerics",
        "ClipByValue",
        "Complex",
        "ComplexAbs",
        "Conj",
        "Cos",
    ),
    *(
        "Cosh",
        "Digamma",
        "Div",
        "DivNoNan",
        "Elu",
        "EnsureShape",
        "Equal",
        "Erf",
        "Erfc",
        "Erfinv",
        "Exp",
        "ExpandDims",
    ),
    *("Expm1", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel", "Fill"),
    *("Floor", "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "Identity", "IdentityN", "Imag", "Inv", "Invert"),
    *("IsFinite", "IsInf", "IsNan", "LeakyRelu", "LeftShift", "Less", "LessEqual", "Lgamma", "Log", "Log1p"),
    *("LogicalAnd", "LogicalNot", "LogicalOr", "Maximum", "Minimum", "Mod", "Mul", "MulNoNan", "Neg", "NextAfter"),
    *("NotEqual", "OnesLike", "PlaceholderWithDefault", "Pow", "PreventGradient", "Real", "RealDiv", "Reciprocal"),
    *("Relu", "Relu6", "Reshape", "RightShift", "Rint", "Round", "Rsqrt", "Select", "SelectV2", "Selu", "Shape"),
    *("ShapeN", "Sigmoid", "Sign", "Sin", "Sinh", "Size", "Snapshot", "Softplus", "Softsign", "Sqrt", "Square"),
    *("SquaredDifference", "Squeeze", "StopGradient", "Sub", "Tan", "Tanh", "Tile", "Transpose", "ConjugateTranspose"),
    *("TruncateDiv", "TruncateMod", "Xdivy", "Xlog1py", "Xlogy", "ZerosLike", "Empty", "Const", "Rank"),
    *("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Gather", "GatherV2", "GatherNd"),
    *("ResourceGather", "ResourceGatherNd", "All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"),
    *("ArgMax", "ArgMin", "Pack", "Unpack", "Slice", "_FusedMatMul", "Prelu"),
)(separate)
tf.axes("Range", "LinSpace", "Reverse", "RandomShuffle", "Where", "Unique", "UniqueV2", "DynamicPartition")(mixed)
tf.axes("DynamicStitch", "NonMaxSuppressionV3", "SpaceToBatch", "SpaceToBatchND", "BatchToSpace", "BatchToSpaceND")(
    mixed
)
tf.axes("Roll", "InvertPermutation", "Diag", "Bincount")(mixed)

tf.axes("Softmax", "LogSoftmax", "TopK", "TopKV2", "IFFT", "FFT", "RFFT", "IRFFT", "LRN")(trailing(1))
tf.axes("MatrixBandPart", "MatrixInverse", "Cholesky", "FFT2D", "IFFT2D", "RFFT2D", "IRFFT2D")(trailing(2))
tf.axes("Cumsum", "Cumprod", "CumulativeLogsumexp")(all_but(input_axes(1)))
tf.axes("ReverseV2")(all_but(input_axes(1)))
tf.axes("ReverseSequence")(items_at((1, 0, None)))


def along(axis_input: int, tensor: int) -> AxisRule:
    """Every axis but the one in the contents of an input; `tensor` is the position of a tensor with that axis."""

    def rule(c: AxisContext, position: int, axis: int) -> AxisUse:
        listed, rank = input_axes(axis_input)(c), rank_of(c, tensor)
        stays = listed is not None and all(axis != item % rank for item in listed)
        return AxisUse.SEPARATE if stays else AxisUse.MIXED

    return rule


tf.axes("Concat", "Split")(along(0, 1))
tf.axes("ConcatV2")(along(-1, 0))
tf.axes("SplitV")(along(2, 0))


@tf.axes("OneHot")
def one_hot(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The indices are items; the new axis counts."""
    return AxisUse.SEPARATE if position == 0 else AxisUse.MIXED


@tf.axes("Pad", "PadV2", "MirrorPad")
@pads
def pad_amounts(c: CostContext, axis: int) -> Sequence[object]:
    """A pair for each axis."""
    return c.contents(1)[2 * axis : 2 * axis + 2]


@tf.axes("StridedSlice")
def strided_slice(c: AxisContext, position: int, axis: int) -> AxisUse:
    """With positive steps, an axis that keeps its size keeps its items."""
    positive = all(isinstance(step, int) and step > 0 for step in c.contents(3))
    return AxisUse.SEPARATE if position == 0 and positive else AxisUse.MIXED


# -- images ------------------------------------------------------------------------------------------------------------


def _channels_last(c: CostContext) -> bool:
    return c.text("data_format", "NHWC") in ("NHWC", "NDHWC", "NWC")


convolution = windows(channels=AxisUse.MIXED, last=_channels_last)
pool = windows(channels=AxisUse.SEPARATE, last=_channels_last)
tf.axes("Conv2D", "Conv3D", "DepthwiseConv2dNative", "DepthToSpace", "SpaceToDepth", "Conv")(convolution)
tf.axes("_FusedConv2D", "_FusedDepthwiseConv2dNative", "Dilation2D", "ExtractImagePatches")(convolution)
tf.axes("AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D", "MaxPoolV2")(pool)
tf.axes("ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor")(
    windows(channels=AxisUse.SEPARATE, last=lambda c: True)
)
tf.axes("CropAndResize")(items_at((1, 0, None), (2, 0, None)))
tf.axes("AdjustContrastv2", "AdjustHue", "AdjustSaturation", "HSVToRGB", "RGBToHSV")(trailing(3))


@tf.axes("MaxPoolWithArgmax")
def max_pool_with_argmax(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Positions are those in an item unless they include the batch."""
    return AxisUse.MIXED if c.attribute("include_batch_in_index") is True else convolution(c, position, axis)


@tf.axes("Conv2DBackpropInput")
def transposed_convolution(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The image is the third input, after the sizes and the filter."""
    if position == 0:
        return AxisUse.SEPARATE if axis == 0 else AxisUse.SPATIAL
    if position < 2 or axis == 0:
        return AxisUse.ALIGNED if position == 2 else AxisUse.MIXED
    return AxisUse.SPATIAL


@tf.axes("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx")
def batch_norm(c: AxisContext, position: int, axis: int) -> AxisUse:
    """In inference element by element; in training with the statistics of the batch."""
    return AxisUse.MIXED if c.attribute("is_training", True) else AxisUse.SEPARATE


tf.axes("GRUBlockCell", "LSTMBlockCell")(leading(1, 1, 2))
tf.axes("InTopKV2", "SparseSoftmaxCrossEntropyWithLogits", "SoftmaxCrossEntropyWithLogits")(leading(1, 1))
