"""Costs of ONNX's operators: the operators of each shared cost rule, and the rules that read ONNX's own attributes."""

from __future__ import annotations

import importlib

from opdefs.onnx.dialect import onnx
from opdefs.rules import cost_elements as elements
from opdefs.rules import cost_layers as layers
from opdefs.rules import cost_products as products
from opdefs.rules.operands import is_unit
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.ops import CostContext, OpCost

ML = "ai.onnx.ml"
TRAINING = "ai.onnx.preview.training"

onnx.cost(
    *("Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "BitShift", "BitwiseAnd", "BitwiseNot"),
    *("BitwiseOr", "BitwiseXor", "Ceil", "Celu", "Clip", "Cos", "Cosh", "Div", "Elu", "Equal", "Erf", "Exp", "Floor"),
    *("Gelu", "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "IsInf", "IsNaN", "LeakyRelu", "Less"),
    *("LessOrEqual", "Log", "Mish", "Mod", "Mul", "Neg", "Not", "Or", "PRelu", "Pow", "Reciprocal", "Relu", "Round"),
    *("Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub", "Swish", "Tan"),
    *("Tanh", "ThresholdedRelu", "Where", "Xor", "CumSum", "CumProd", "Bernoulli", "RandomNormal", "RandomNormalLike"),
    *("RandomUniform", "RandomUniformLike", "Range", "BlackmanWindow", "HammingWindow", "HannWindow"),
)(elements.elementwise)
onnx.cost("Binarizer", domain=ML)(elements.elementwise)
onnx.cost("Max", "Min", "Sum")(elements.operand_cost)
onnx.cost("Mean")(elements.mean_of_operands)

onnx.cost(
    *("BitCast", "Cast", "CastLike", "CenterCropPad", "Compress", "Concat", "ConcatFromSequence", "ConstantOfShape"),
    *("DepthToSpace", "EyeLike", "Expand", "MaxUnpool", "OneHot", "Pad", "ReverseSequence", "SequenceAt"),
    *("SequenceConstruct", "SequenceErase", "SequenceInsert", "SpaceToDepth", "Split", "SplitToSequence"),
    *("TensorScatter", "Tile", "Transpose", "Trilu", "SequenceEmpty", "StringConcat", "StringNormalizer"),
    *("StringSplit", "RegexFullMatch"),
)(elements.movement)
onnx.cost("Dropout")(elements.movement)  # of inference: it copies its input
onnx.cost("CastMap", "CategoryMapper", "DictVectorizer", "FeatureVectorizer", "LabelEncoder", domain=ML)(
    elements.movement
)
onnx.cost("OneHotEncoder", "ZipMap", domain=ML)(elements.movement)
onnx.cost("Optional", "OptionalGetElement")(elements.shape_query)
onnx.cost("Shape", "Size", "SequenceLength", "OptionalHasElement")(elements.shape_query)
onnx.cost("Gather", "GatherElements", "GatherND", "Slice")(elements.gathering())
onnx.cost("ArrayFeatureExtractor", domain=ML)(elements.gathering())


def _reduces(c: CostContext) -> bool:
    return c.text("reduction", "none") != "none"


onnx.cost("Scatter", "ScatterElements", "ScatterND")(elements.scattering(2, _reduces))
onnx.cost("If")(elements.body_choice)
onnx.cost("Loop", "Scan", "SequenceMap")(elements.movement)  # the costs of their bodies are added to these

onnx.cost("ArgMax", "ArgMin", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceLogSum")(
    elements.input_cost()
)
onnx.cost("ReduceL1", "ReduceL2", "ReduceSumSquare")(elements.input_cost(2))
onnx.cost("ReduceLogSumExp")(elements.input_cost(4))  # as a softmax without the division
onnx.cost("NonZero", "Multinomial")(elements.input_cost())
onnx.cost("TopK")(elements.input_cost())  # a selection reads each element at least once
onnx.cost("Softmax", "LogSoftmax")(elements.softmax)
onnx.cost("Hardmax")(elements.element_cost(2))
onnx.cost("Col2Im")(elements.input_cost())
onnx.cost("NegativeLogLikelihoodLoss")(elements.input_cost(2, 1))
onnx.cost("SoftmaxCrossEntropyLoss")(elements.input_cost(elements.SOFTMAX))

onnx.cost("LayerNormalization", "InstanceNormalization", "GroupNormalization")(elements.normalization())
onnx.cost("RMSNormalization", "SimplifiedLayerNormalization")(elements.normalization(3, 1, None))
onnx.cost("MeanVarianceNormalization")(elements.normalization(5, None, None))
onnx.cost("LpNormalization")(elements.normalization(3, None, None))
onnx.cost("Normalizer", domain=ML)(elements.normalization(3, None, None))
onnx.cost("Scaler", domain=ML)(elements.element_cost(2))
onnx.cost("Imputer", domain=ML)(elements.element_cost())
onnx.cost("QuantizeLinear", "DequantizeLinear")(elements.element_cost(2))
onnx.cost("DynamicQuantizeLinear")(elements.input_cost(4))  # the minimum and the maximum, then as QuantizeLinear
onnx.cost("RotaryEmbedding")(layers.rotary)
onnx.cost("SwiGLU")(elements.element_cost(2))

onnx.cost("MatMul", "MatMulInteger")(products.matmul())
onnx.cost("QLinearMatMul")(products.matmul(0, 3))
onnx.cost("Gemm")(products.transposable_matmul("transA", "transB", 2))
onnx.cost("Conv")(products.convolution())
onnx.cost("ConvInteger")(products.convolution(1, None))
onnx.cost("QLinearConv")(products.convolution(3, 8))
onnx.cost("ConvTranspose")(products.transposed_convolution())


@onnx.cost("BatchNormalization")
def batch_normalization(c: CostContext) -> OpCost:
    """A product and a sum for each element; in training also the statistics."""
    return elements.normalization(5 if c.integer("training_mode") else 0)(c)


@onnx.cost("LRN")
def local_response(c: CostContext) -> OpCost:
    """A square and `size` sums for each element, then a product, a sum, a power and a division."""
    return OpCost(operations=c.product(c.integer("size") + 5, *c.input(0)))


def _kernel(c: CostContext) -> tuple[int, ...]:
    kernel = c.integers("kernel_shape")
    if not kernel:
        raise NotKnown("the attribute kernel_shape is absent")
    return kernel


onnx.cost("AveragePool", "MaxPool")(elements.pooling(_kernel))
onnx.cost("LpPool")(elements.pooling(_kernel, 2))
onnx.cost("GlobalAveragePool", "GlobalMaxPool")(elements.input_cost())
onnx.cost("GlobalLpPool")(elements.input_cost(2))


@onnx.cost("DeformConv")
def deformable_convolution(c: CostContext) -> OpCost:
    """The convolution, and four multiply-accumulates for each sampled value of the input (and one for its mask)."""
    output, weight = c.result, c.input(1)
    samples = c.product(output[0], c.input(0)[1], *output[2:], *weight[2:])
    dense = c.product(*output, *weight[1:])
    masked = samples if c.has_input(4) else 0
    biased = c.elements(output) if c.has_input(3) else 0
    return OpCost(macs=c.sum(dense, c.product(4, samples)), operations=c.sum(masked, biased))


@onnx.cost("Einsum")
def einsum(c: CostContext) -> OpCost:
    """All indices at once."""
    return products.einsum(c.text("equation"), [c.input(index) for index in range(len(c.types))], c)


def _resized_axes(c: CostContext) -> int:
    """The number of `axes`, or of scales that are not 1; the spatial axes where neither is known."""
    axes = c.integers("axes")
    if axes:
        return len(axes)
    scales = 2 if c.version >= 11 else 1  # of Resize; Upsample ends at version 10
    try:
        return sum(scale != 1 for scale in c.contents(scales)) or elements.spatial_axes(c)
    except NotKnown:
        return elements.spatial_axes(c)


onnx.cost("Resize", "Upsample")(
    elements.interpolation(_resized_axes, lambda c: elements.taps_of_mode(c.text("mode", "nearest")))
)


onnx.cost("GridSample")(elements.interpolation_of_mode("linear"))
onnx.cost("AffineGrid")(elements.affine_grid)
onnx.cost("RoiAlign")(elements.roi_align)


def _directions(c: CostContext) -> int:
    return 2 if c.text("direction", "forward") == "bidirectional" else 1


@onnx.cost("LSTM", "GRU", "RNN")
def recurrent(c: CostContext) -> OpCost:
    """[steps, batch, inputs], or [batch, steps, inputs] with layout 1; a bias input has one vector for each product."""
    x, weights = c.input(0), c.input(2)
    steps, batch = (x[1], x[0]) if c.integer("layout") else (x[0], x[1])
    biases = 2 if c.has_input(3) else 0
    return layers.recurrent(c, c.op_def.name, steps, batch, x[2], weights[2], biases, _directions(c))


@onnx.cost("Attention")
def attention(c: CostContext) -> OpCost:
    """[B, heads, S, D], or [B, S, heads*D]; the keys are those of the cache and of this call."""
    q, k, y = c.input(0), c.input(1), c.output(0)
    past: DimSize = c.input(4)[2] if c.has_input(4) else 0
    masks = int(c.has_input(3)) + int(c.integer("is_causal")) + int(bool(c.attribute("softcap", 0.0)))
    if len(q) == 4:
        return layers.attention(c, c.product(q[0], q[1]), q[2], c.sum(k[2], past), q[3], y[3], masks)
    heads = c.integer("q_num_heads")
    if heads < 1:
        raise NotKnown("the number of heads is not known")
    keys = c.sum(k[1], past)
    return layers.attention(c, c.product(q[0], heads), q[1], keys, q[2] // heads, y[2] // heads, masks)


@onnx.cost("FlexAttention", domain="ai.onnx.preview")
def flex_attention(c: CostContext) -> OpCost:
    """As Attention; the nodes of the bodies that change scores are counted separately."""
    q, k, v = c.input(0), c.input(1), c.input(2)
    return layers.attention(c, c.product(q[0], q[1]), q[2], k[2], q[3], v[3])


@onnx.cost("CausalConvWithState")
def causal_convolution(c: CostContext) -> OpCost:
    """[B, C, L] with one kernel [1, K] per channel."""
    weight, output = c.input(1), c.output(0)
    activated = c.text("activation", "none") not in ("", "none")
    operations = c.product(int(c.has_input(2)) + activated, *output)
    return OpCost(macs=c.product(*output, *weight[1:]), operations=operations)


@onnx.cost("DFT")
def fourier(c: CostContext) -> OpCost:
    """One transform along the axis for each other element; the last axis holds the parts of complex numbers."""
    x, y = c.input(0), c.result
    axis = c.contents(2)[0] if c.has_input(2) else c.attribute("axis", -2 if c.version >= 20 else 1)
    if not isinstance(axis, int):
        raise NotKnown("the axis of the transform is not known")
    at = axis + len(x) if axis < 0 else axis
    length: object = c.contents(1)[0] if c.has_input(1) else x[at]
    if not isinstance(length, int):
        raise NotKnown("the operations of a transform of symbolic length are not a polynomial: bind the length")
    count = c.product(*(size for i, size in enumerate(y[:-1]) if i != at))
    return layers.transform(c, count, length, real=is_unit(x[-1]))


@onnx.cost("STFT")
def short_time_fourier(c: CostContext) -> OpCost:
    """A window and a transform for each frame: [batch, frames, bins, 2]."""
    y = c.result
    length: object = c.contents(3)[0] if c.has_input(3) else c.input(2)[0] if c.has_input(2) else None
    if not isinstance(length, int):
        raise NotKnown("the length of a frame is not known")
    count = c.product(y[0], y[1])
    windowed = c.product(count, length) if c.has_input(2) else 0
    transformed = layers.transform(c, count, length, real=is_unit(c.input(0)[-1]))
    return OpCost(operations=c.sum(transformed.operations, windowed))


onnx.cost("LinearAttention")(layers.linear_attention)
onnx.cost("MelWeightMatrix")(elements.element_cost(2))
onnx.cost("Det")(layers.factorization)


@onnx.cost("LinearClassifier", "LinearRegressor", domain=ML)
def linear_model(c: CostContext) -> OpCost:
    """A product with the coefficients, and the intercepts."""
    rows = c.input(0)[0] if len(c.input(0)) > 1 else 1
    coefficients, intercepts = c.attribute("coefficients", ()), c.attribute("intercepts", ())
    if not isinstance(coefficients, tuple) or not isinstance(intercepts, tuple):
        raise NotKnown("the coefficients are not known")
    return OpCost(macs=c.product(rows, len(coefficients)), operations=c.product(rows, len(intercepts)))


onnx.cost("Adagrad", domain=TRAINING)(elements.exclusion("its inputs are several groups of tensors"))
for _reason, _names in {
    "the number of comparisons depends on data": ("NonMaxSuppression", "Unique"),
    "the number of elements in a box depends on data": ("MaxRoiPool",),
    "no formula is published for it": ("ImageDecoder", "TfIdfVectorizer"),
}.items():
    onnx.cost(*_names)(elements.exclusion(_reason))
onnx.cost("Adam", "Momentum", domain=TRAINING)(elements.exclusion("its inputs are several groups of tensors"))
onnx.cost("Gradient", domain=TRAINING)(elements.exclusion("it stands for the gradient of a graph"))
onnx.cost("TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor", domain=ML)(
    elements.exclusion("the depth of the path through a tree depends on data")
)
onnx.cost("SVMClassifier", "SVMRegressor", domain=ML)(elements.exclusion("no formula is published for its kernels"))

importlib.import_module("opdefs.microsoft.costs")
