"""Axis rules of ONNX's operators and of those of onnxruntime: see `shapeinf.ops.axes`.

An operator without a rule is not known to keep items separate: control flow, sequences, search, training.
"""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.onnx.dialect import onnx
from opdefs.rules.axis_uses import (
    all_but,
    attribute_axes,
    attribute_axis,
    axes_from,
    has_rank,
    input_axes,
    items_at,
    leading,
    mixed,
    pads,
    rank_of,
    scattered,
    separate,
    slices,
    trailing,
    windows,
)
from opdefs.rules.positions import (
    add,
    choose,
    convert,
    join,
    match_lookup,
    match_updates,
    matches_along,
    matches_columns,
    move,
    multiply,
    select,
    subtract,
    update,
)
from shapeinf.errors import NotKnown
from shapeinf.ops import CostContext
from shapeinf.ops.axes import AxisContext, AxisUse

MS = "com.microsoft"
NCHWC = "com.microsoft.nchwc"
ML = "ai.onnx.ml"

onnx.axes(
    *("Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "Bernoulli", "BitCast", "BitShift"),
    *("BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "CastLike", "Ceil", "Celu", "Clip", "Cos", "Cosh"),
    *("Div", "Dropout", "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater", "GreaterOrEqual", "HardSigmoid"),
    *("HardSwish", "Identity", "IsInf", "IsNaN", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Mean", "Min"),
    *("Mish", "Mod", "Mul", "Neg", "Not", "Or", "PRelu", "Pow", "RandomNormalLike", "RandomUniformLike", "Reciprocal"),
    *("RegexFullMatch", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign"),
    *("Sqrt", "StringConcat", "Sub", "Sum", "Swish", "SwiGLU", "Tan", "Tanh", "ThresholdedRelu", "Where", "Xor"),
    *("Constant", "ConstantOfShape", "Expand", "Tile", "Shape", "Size", "Transpose", "Det", "Einsum", "Gemm", "MatMul"),
    *("MatMulInteger", "QLinearMatMul", "QuantizeLinear", "DequantizeLinear"),
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd"),
    *("ReduceSum", "ReduceSumSquare", "ArgMax", "ArgMin", "Reshape", "Flatten", "Squeeze", "Unsqueeze"),
)(separate)
onnx.axes(
    *("BiasAdd", "BiasDropout", "BiasGelu", "DequantizeLinear", "ExpandDims", "FastGelu", "FusedGemm", "FusedMatMul"),
    *("FusedMatMulActivation", "GatedAdd", "Gelu", "GemmFastGelu", "MatMulBnb4", "MatMulFpQ4", "MatMulInteger16"),
    *("MatMulIntegerToFloat", "MatMulNBits", "QGemm", "QLinearAdd", "QLinearLeakyRelu", "QLinearMul"),
    *("QLinearReduceMean", "QLinearSigmoid", "QLinearWhere", "QuantizeLinear", "QuickGelu", "ReduceSumInteger"),
    *("ScaledSiLU", "TransposeMatMul", "TorchEmbedding"),
    domain=MS,
)(separate)
onnx.axes("Binarizer", "LabelEncoder", "OneHotEncoder", "ArrayFeatureExtractor", domain=ML)(separate)

# -- items in an order, or computed together ---------------------------------------------------------------------------

onnx.axes("EyeLike", "Range", "DynamicQuantizeLinear", "NonZero", "Unique", "NonMaxSuppression", "MaxUnpool")(mixed)
onnx.axes("BlackmanWindow", "HammingWindow", "HannWindow", "MelWeightMatrix", "StringSplit")(mixed)
onnx.axes("Range", "Unique", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM", "IsAllFinite", domain=MS)(mixed)
onnx.axes("Tokenizer", domain=MS)(mixed)  # items with fewer tokens than another are padded

along_attribute = all_but(attribute_axis())
onnx.axes("Compress")(along_attribute)
onnx.axes("QLinearConcat", domain=MS)(along_attribute)
onnx.axes("Concat", since=4)(along_attribute)
onnx.axes("Concat")(all_but(attribute_axis(default=1)))
onnx.axes("Split")(all_but(attribute_axis(default=0)))
onnx.axes("Hardmax", "LogSoftmax", "Softmax", since=13)(all_but(attribute_axis(default=-1)))
onnx.axes("Hardmax", "LogSoftmax", "Softmax")(all_but(axes_from(default=1)))
onnx.axes("LpNormalization")(all_but(attribute_axis(default=-1)))
onnx.axes("TopK")(all_but(attribute_axis(default=-1)))
onnx.axes("CumSum", "CumProd")(all_but(input_axes(1)))
onnx.axes("MeanVarianceNormalization")(all_but(lambda c: attribute_axes()(c) if "axes" in c.attributes else (0, 2, 3)))
onnx.axes("LRN")(all_but(lambda c: (1,)))
onnx.axes("Trilu")(trailing(2))
onnx.axes("Trilu", domain=MS)(trailing(2))
along_positions = all_but(attribute_axis(default=0), AxisUse.ALIGNED)
onnx.axes("GatherElements")(along_positions)  # the items of both inputs have the same indices on other axes
onnx.axes("Scatter", "ScatterElements")(scattered(along_positions))
onnx.axes("QLinearSoftmax", "BiasSoftmax", domain=MS)(all_but(axes_from(default=1)))
onnx.axes("BiasSplitGelu", "ComplexMul", "ComplexMulConj", "SwiGLU", "Irfft", domain=MS)(trailing(1))
onnx.axes("Inverse", domain=MS)(trailing(2))
onnx.axes("Rfft", domain=MS)(trailing(1))


@onnx.axes("OneHot")
def one_hot(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The indices are items; the new axis counts."""
    return AxisUse.SEPARATE if position == 0 and c.has_input(0) else AxisUse.MIXED


@onnx.axes("DFT")
def dft(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The last axis has the parts of complex numbers, before opset 20 the axis of the transform is an attribute."""
    rank = rank_of(c)
    return all_but(lambda c: [rank - 1, *(attribute_axis("axis", 1)(c) or ())])(c, position, axis)


@onnx.axes("DFT", since=20)
def dft_along_input(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The axis of the transform is an input."""

    def axes(c: CostContext) -> list[int] | None:
        listed = input_axes(2, -2)(c)
        return None if listed is None else [-1, *listed]

    return all_but(axes)(c, position, axis) if position == 0 else AxisUse.MIXED


def scatter_nd(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The indices select items of the first axes."""
    indices = c.input(1)
    length = indices[-1] if indices.dims else 0
    if position not in (0, 2) or not isinstance(length, int):
        return AxisUse.MIXED
    first = length if position == 0 else rank_of(c, 1) - 1
    return AxisUse.SEPARATE if axis >= first else AxisUse.MIXED


# -- positions of the own item -----------------------------------------------------------------------------------------

matches_item = matches_along(attribute_axis(default=0))
matches_row = matches_columns(lambda c: c.integer("batch_dims"))
onnx.axes("Gather")(match_lookup(separate, matches_item))
onnx.axes("GatherND")(match_lookup(separate, matches_row))
onnx.axes("ScatterND")(match_updates(scatter_nd, matches_row))
onnx.positions("Gather")(select(matches_item, 0, 1))
onnx.positions("GatherND")(select(matches_row, 0, 1))
onnx.positions("ScatterND")(update(matches_row))
onnx.positions("Identity", "Cast", "CastLike")(convert)
onnx.positions("Unsqueeze", "Squeeze", "Reshape", "Flatten", "Transpose", "Expand", "Tile", "Slice")(move)
onnx.positions("Add")(add)
onnx.positions("Sub")(subtract)
onnx.positions("Mul")(multiply)
onnx.positions("Where")(choose(0, 1, 2))
onnx.positions("Concat")(join(lambda c: range(len(c.types)), attribute_axis(default=1)))


@onnx.axes("ReverseSequence")
def reverse_sequence(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Each item is reversed along the time axis, up to its length."""
    if position:
        return AxisUse.ALIGNED
    if axis == c.integer("batch_axis", 1):
        return AxisUse.ALIGNED
    return AxisUse.MIXED if axis == c.integer("time_axis", 0) else AxisUse.SEPARATE


# -- slices, pads, sizes -----------------------------------------------------------------------------------------------


def _number_of(
    axis: int, rank: int, axes: Sequence[object] | None, values: Sequence[object], otherwise: object
) -> object:
    """The value for an axis in a list by axes, or by all axes from the first one; `otherwise` if it is not listed."""
    named = range(len(values)) if axes is None else axes
    for name, value in zip(named, values, strict=False):
        if not isinstance(name, int):
            raise NotKnown("the axes are not known")
        if name % rank == axis:
            return value
    return otherwise


@onnx.axes("Slice")
@slices
def slice_step(c: CostContext, axis: int) -> object:
    """Before opset 10 there are no steps."""
    if c.version < 10 or not c.has_input(4):
        return 1
    return _number_of(axis, rank_of(c), c.contents(3) if c.has_input(3) else None, c.contents(4), 1)


@onnx.axes("Pad")
@pads
def pad_amounts(c: CostContext, axis: int) -> Sequence[object]:
    """Begins, then ends; an attribute before opset 11, an input then, with axes since opset 18."""
    listed: Sequence[object] = c.contents(1) if c.has_input(1) else c.integers("pads") or c.integers("paddings")
    axes = c.contents(3) if c.has_input(3) else None
    half = len(listed) // 2
    return [_number_of(axis, rank_of(c), axes, part, 0) for part in (listed[:half], listed[half:])]


@onnx.axes("Resize", "Upsample")
def resize(c: AxisContext, position: int, axis: int) -> AxisUse:
    """An axis that keeps its size with a scale of 1 keeps its items."""
    sizes = c.version >= 11 and c.has_input(3)
    named = c.integers("axes") or None
    if position or c.text("coordinate_transformation_mode") == "tf_crop_and_resize":
        return AxisUse.SEPARATE if position and sizes and position == 3 else AxisUse.SPATIAL
    if sizes:
        stretched = c.text("keep_aspect_ratio_policy", "stretch") == "stretch"
        listed = named is None or axis in [a % rank_of(c) for a in named]
        return AxisUse.SEPARATE if not listed or (stretched and axis < 2) else AxisUse.SPATIAL
    scales: Sequence[object] = ()
    where = 2 if c.version >= 11 else 1
    if c.has_input(where):
        scales = c.contents(where)
    elif isinstance(c.attribute("scales"), tuple):
        scales = c.attribute("scales")  # type: ignore[assignment]
    elif axis < 2:
        return AxisUse.SEPARATE  # opset 1: two scales, for height and width
    return AxisUse.SEPARATE if _number_of(axis, rank_of(c), named, scales, 1) == 1 else AxisUse.SPATIAL


@onnx.axes("CenterCropPad")
def center_crop_pad(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The axes that are not listed stay."""
    axes = c.integers("axes")
    stays = bool(axes) and axis not in [a % rank_of(c) for a in axes]
    return AxisUse.SEPARATE if position == 0 and stays else AxisUse.SPATIAL


# -- images ------------------------------------------------------------------------------------------------------------

convolution = windows(channels=AxisUse.MIXED)
pool = windows(channels=AxisUse.SEPARATE)
onnx.axes("Conv", "ConvInteger", "ConvTranspose", "DepthToSpace", "QLinearConv", "SpaceToDepth")(convolution)
onnx.axes("QLinearConv", "ConvTransposeWithDynamicPads", domain=MS)(convolution)
onnx.axes("AveragePool", "LpPool", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool")(pool)
onnx.axes("ReorderInput", "ReorderOutput", domain=NCHWC)(convolution)
onnx.axes("GlobalAveragePool", "GlobalMaxPool", "AveragePool", "MaxPool", "Upsample", domain=NCHWC)(pool)
onnx.axes("NhwcConv", "NhwcFusedConv", "NhwcMaxPool", domain=MS)(windows(channels=AxisUse.MIXED, last=lambda c: True))
onnx.axes("QLinearAveragePool", "QLinearGlobalAveragePool", domain=MS)(
    windows(channels=AxisUse.MIXED, last=lambda c: c.integer("channels_last") == 1)
)


@onnx.axes("FusedConv", domain=MS)
@onnx.axes("Conv", domain=NCHWC)
def convolution_with_sum(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The fourth input, of the shape of the output, is added."""
    if position in (0, 3) and axis == 0:
        return AxisUse.ALIGNED
    return convolution(c, position, axis)


onnx.axes("Col2Im", "AffineGrid", "CausalConvWithState")(leading(1, 3))
onnx.axes("DeformConv")(leading(1, 2, 4))
onnx.axes("GridSample")(leading(2, 1))
onnx.axes("GridSample", domain=MS)(leading(2, 1))
onnx.axes("RoiAlign")(items_at((1, 0, None), (2, 0, None)))
onnx.axes("MaxRoiPool")(items_at((1, 0, None)))
onnx.axes("CropAndResize", domain=MS)(items_at((1, 0, None), (2, 0, None)))
onnx.axes("STFT")(leading(1))


@onnx.axes("MaxPool")
def max_pool(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The second output has positions in the whole tensor."""
    return AxisUse.MIXED if axis < 2 and c.has_output(1) else pool(c, position, axis)


# -- normalizations ----------------------------------------------------------------------------------------------------

onnx.axes("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization")(all_but(axes_from()))
onnx.axes("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MS)(trailing(1, AxisUse.ALIGNED))
onnx.axes("EmbedLayerNormalization", domain=MS)(leading(1, 1, 7, 8))
onnx.axes("GroupNorm", domain=MS)(leading(1))
onnx.axes("SkipGroupNorm", domain=MS)(items_at((0, 0, None), (1, 0, 4)))


@onnx.axes("BatchNormalization")
def batch_normalization(c: AxisContext, position: int, axis: int) -> AxisUse:
    """In inference element by element; in training with the statistics of the batch."""
    trains = c.integer("training_mode") != 0 or (c.version < 9 and c.attribute("is_test") == 0)
    return AxisUse.MIXED if trains or any(map(c.has_output, range(1, 5))) else AxisUse.SEPARATE


@onnx.axes("InstanceNormalization", "GroupNormalization")
def statistics_of_images(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Each channel, or group of channels, of each item has its statistics."""
    if position:
        return AxisUse.MIXED
    if axis > 1:
        return AxisUse.SPATIAL
    by_channel = c.op_def.name == "InstanceNormalization"
    return AxisUse.SEPARATE if axis == 0 or by_channel else AxisUse.MIXED


# -- recurrence, attention ---------------------------------------------------------------------------------------------


@onnx.axes("GRU", "LSTM", "RNN")
def recurrent(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The axis 1 of the input and of the states is the batch, the axis 0 with `layout` 1."""
    item = 0 if position == 4 or c.integer("layout") == 1 else 1
    return AxisUse.ALIGNED if position in (0, 4, 5, 6) and axis == item else AxisUse.MIXED


@onnx.axes("Attention")
def attention(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Queries, keys, values, caches and lengths begin with the batch, a mask only with rank 4."""
    is_batch = axis == 0 and (position != 3 or has_rank(c, 3, 4))
    return AxisUse.ALIGNED if is_batch else AxisUse.MIXED


onnx.axes("RotaryEmbedding")(items_at((0, 0, None), (1, 0, 3), (2, 0, 3), (3, 0, None)))
onnx.axes("LinearAttention")(leading(1, 1, 2, 3, 4, 5))
onnx.axes("TensorScatter")(leading(1, 1, 2))
onnx.axes("Attention", domain=MS)(items_at((0, 0, 3), (3, 0, 1), (3, 0, 2), (3, 0, 3), (3, 0, 4), (4, 1, 5), (5, 0, 4)))
onnx.axes("MultiHeadAttention", domain=MS)(
    items_at(*((i, 0, None) for i in (0, 1, 2, 5, 6, 7)), *((4, 0, rank) for rank in (2, 3)))
)
onnx.axes("GroupQueryAttention", domain=MS)(leading(1, 1, 2, 3, 4, 5, 9, 10))
onnx.axes("RotaryEmbedding", domain=MS)(items_at((0, 0, None), (1, 0, 2)))
onnx.axes("MoE", "QMoE", domain=MS)(leading(1, 1))

# -- losses, classical models ------------------------------------------------------------------------------------------

onnx.axes("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")(leading(1, 1))
onnx.axes("ZipMap", domain=ML)(leading(1))


@onnx.axes("StringNormalizer")
def string_normalizer(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Texts are changed one by one, unless some are omitted."""
    return AxisUse.MIXED if c.attribute("stopwords") else AxisUse.SEPARATE


onnx.axes("TfIdfVectorizer")(items_at((0, 0, 2)))
onnx.axes("Normalizer", domain=ML)(items_at((0, 0, 2)))
onnx.axes("Imputer", "Scaler", domain=ML)(items_at((0, 0, 2)))
onnx.axes("TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor", domain=ML)(items_at((0, 0, 2)))
onnx.axes("LinearClassifier", "LinearRegressor", "SVMClassifier", "SVMRegressor", domain=ML)(items_at((0, 0, 2)))


@onnx.axes("FeatureVectorizer", domain=ML)
def feature_vectorizer(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Rows of several inputs are joined."""
    return AxisUse.ALIGNED if axis == 0 and has_rank(c, position, 2) else AxisUse.MIXED
