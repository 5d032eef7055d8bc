"""Axis rules of TensorFlow's operators: see `shapeinf.ops.axes`.

An operator without a rule is not known to keep items separate: control flow, tables, sparse tensors, search, training.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
from opdefs.rules.positions import (
    add,
    choose,
    convert,
    join,
    match_lookup,
    matches_along,
    matches_columns,
    move,
    multiply,
    select,
    subtract,
)
from opdefs.tf.dialect import tf
from shapeinf.ops import CostContext
from shapeinf.ops.axes import UNKNOWN_POSITIONS, AxisContext, AxisRule, AxisUse, Columns

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
    *("Floor", "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "Identity", "Imag", "Inv", "Invert"),
    *("IsFinite", "IsInf", "IsNan", "LeakyRelu", "LeftShift", "Less", "LessEqual", "Lgamma", "Log", "Log1p"),
    *("LogicalAnd", "LogicalNot", "LogicalOr", "Maximum", "Minimum", "Mod", "Mul", "MulNoNan", "Neg", "NextAfter"),
    *("NotEqual", "OnesLike", "PlaceholderWithDefault", "Pow", "PreventGradient", "Real", "RealDiv", "Reciprocal"),
    *("Relu", "Relu6", "Reshape", "RightShift", "Rint", "Round", "Rsqrt", "Select", "SelectV2", "Selu", "Shape"),
    *("ShapeN", "Sigmoid", "Sign", "Sin", "Sinh", "Size", "Snapshot", "Softplus", "Softsign", "Sqrt", "Square"),
    *("SquaredDifference", "Squeeze", "StopGradient", "Sub", "Tan", "Tanh", "Tile", "Transpose", "ConjugateTranspose"),
    *("TruncateDiv", "TruncateMod", "Xdivy", "Xlog1py", "Xlogy", "ZerosLike", "Empty", "Const", "Rank"),
    *(
        "MatMul",
        "BatchMatMul",
        "BatchMatMulV2",
        "BatchMatMulV3",
        "Einsum",
        "ResourceGather",
        "ResourceGatherNd",
        "All",
        "Any",
        "EuclideanNorm",
        "Max",
        "Mean",
        "Min",
        "Prod",
        "Sum",
    ),
    *("ArgMax", "ArgMin", "Pack", "Unpack", "Slice", "_FusedMatMul", "Prelu"),
)(separate)
tf.axes(
    *("Angle", "BesselI0", "BesselI1", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e"),
    *("BesselY0", "BesselY1", "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Ndtri", "PopulationCount", "Spence"),
    *("Betainc", "Igamma", "IgammaGradA", "Igammac", "Polygamma", "Zeta", "AccumulateNV2", "CheckNumericsV2", "Copy"),
    *("DeepCopy", "GuaranteeConst", "DebugIdentity", "DebugIdentityV2", "DebugIdentityV3", "StaticRegexFullMatch"),
    *("RegexFullMatch", "RegexReplace", "StaticRegexReplace", "StringLower", "StringUpper", "StringStrip", "AsString"),
    *("StringLength", "StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong", "StringToNumber"),
    *("DecodeBase64", "EncodeBase64", "Substr", "UnicodeScript", "UnicodeTranscode"),
    *("EluGrad", "LeakyReluGrad", "Relu6Grad", "ReluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad", "InvGrad"),
    *("ReciprocalGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad"),
)(separate)
tf.axes("Range", "LinSpace", "Reverse", "RandomShuffle", "Where", "Unique", "UniqueV2", "DynamicPartition")(mixed)
tf.axes("DynamicStitch", "NonMaxSuppressionV3", "SpaceToBatch", "SpaceToBatchND", "BatchToSpace", "BatchToSpaceND")(
    mixed
)
tf.axes("Roll", "InvertPermutation", "Diag", "Bincount")(mixed)

tf.axes("Softmax", "LogSoftmax", "TopK", "TopKV2", "IFFT", "FFT", "RFFT", "IRFFT", "LRN")(trailing(1))
tf.axes("MatrixBandPart", "MatrixInverse", "Cholesky", "FFT2D", "IFFT2D", "RFFT2D", "IRFFT2D")(trailing(2))
tf.axes("MatrixDeterminant", "LogMatrixDeterminant", "MatrixExponential", "MatrixLogarithm", "MatrixSquareRoot")(
    trailing(2)
)
tf.axes("MatrixSolve", "MatrixTriangularSolve", "MatrixDiagPart", "SelfAdjointEigV2", "Svd", "Qr")(trailing(2))
tf.axes("MatrixDiag", "Cross", "NthElement")(trailing(1))
tf.axes("FFT3D", "IFFT3D", "RFFT3D", "IRFFT3D")(trailing(3))
tf.axes("LowerBound", "UpperBound")(items_at((0, 0, 2), (1, 0, 2)))
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


@tf.axes("IdentityN")
def several(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The tensors do not depend on one another."""
    return AxisUse.ALIGNED


# -- positions of the own item -----------------------------------------------------------------------------------------


def gather_axis(c: CostContext) -> Iterable[int] | None:
    """The axis of a gather without batch axes: that of the third input, or the first."""
    if c.integer("batch_dims"):
        return None
    return input_axes(2)(c) if c.has_input(2) else [0]


def joined_axis(c: CostContext) -> Iterable[int] | None:
    """The axis along which tensors are joined."""
    return input_axes(-1)(c)


def stacked(c: AxisContext) -> Columns:
    """Tensors that are stacked along a new last axis: columns of positions."""
    columns = [c.positions(index) for index in range(len(c.types))]
    is_last = c.integer("axis") in (-1, len(c.output()) - 1)
    return tuple(own for (own,) in columns) if is_last and all(len(own) == 1 for own in columns) else UNKNOWN_POSITIONS


matches_item, matches_row = matches_along(gather_axis), matches_columns()
tf.axes("Gather", "GatherV2")(match_lookup(separate, matches_item))
tf.axes("GatherNd")(match_lookup(separate, matches_row))
tf.positions("Gather", "GatherV2")(select(matches_item, 0, 1))
tf.positions("GatherNd")(select(matches_row, 0, 1))
tf.positions("Identity", "Cast", "StopGradient")(convert)
tf.positions("ExpandDims", "Squeeze", "Reshape", "Transpose", "BroadcastTo", "Tile", "StridedSlice", "Slice")(move)
tf.positions("Add", "AddV2")(add)
tf.positions("Sub")(subtract)
tf.positions("Mul")(multiply)
tf.positions("Select", "SelectV2")(choose(0, 1, 2))
tf.positions("ConcatV2")(join(lambda c: range(len(c.types) - 1), joined_axis))
tf.positions("Pack")(stacked)


@tf.axes("LookupTableFind", "LookupTableFindV2")
def table_values(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The keys, between the table and the default, are items."""
    return AxisUse.MIXED if position in (0, 2) else AxisUse.SEPARATE


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
    """With a positive step, an axis that keeps its size keeps its items."""
    steps: Sequence[object] = c.contents(3)
    if c.integer("ellipsis_mask") == 0 and c.integer("new_axis_mask") == 0:
        steps = steps[axis : axis + 1]
    positive = all(isinstance(step, int) and step > 0 for step in steps)
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
tf.axes("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")(items_at((0, 0, 4), (1, 0, 2)))
tf.axes("AdjustContrastv2", "AdjustHue", "AdjustSaturation", "HSVToRGB", "RGBToHSV")(trailing(3))


@tf.axes("MaxPoolWithArgmax")
def max_pool_with_argmax(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Positions are those in an item unless they include the batch."""
    return AxisUse.MIXED if c.attribute("include_batch_in_index") is True else convolution(c, position, axis)


@tf.axes("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput")
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
