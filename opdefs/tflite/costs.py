"""Cost rules of TensorFlow Lite's operators; quantized ones count as those on floats.

A fused activation is one operation for each element of the output.
"""

from __future__ import annotations

from collections.abc import Callable

from opdefs.rules import cost_elements as elements
from opdefs.rules import cost_layers as layers
from opdefs.rules import cost_products as products
from opdefs.tflite.dialect import tflite
from opdefs.tflite.schemas import CUSTOM
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import CostContext, CostRule, OpCost

NO_ACTIVATION = "NONE"


def with_activation(rule: CostRule) -> CostRule:
    """The cost of an operator with that of its fused activation."""

    def cost(c: CostContext) -> OpCost:
        own = rule(c)
        if c.text("fused_activation_function", NO_ACTIVATION) == NO_ACTIVATION:
            return own
        operations = c.sum(own.operations, c.elements(c.result))
        return OpCost(own.macs, operations, own.reads, own.partial, own.bodies)

    return cost


# -- element by element ------------------------------------------------------------------------------------------------

tflite.cost(
    *("ABS", "CEIL", "COS", "ELU", "EXP", "FLOOR", "GELU", "HARD_SWISH", "LEAKY_RELU", "LOG", "LOGISTIC", "NEG"),
    *("PRELU", "RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "ROUND", "RSQRT", "SIGN", "SIN", "SQRT", "SQUARE"),
    *("TANH", "LOGICAL_NOT", "BUCKETIZE", "COMPLEX_ABS"),
    *("ATAN2", "BITWISE_XOR", "FLOOR_DIV", "FLOOR_MOD", "LOGICAL_AND", "LOGICAL_OR", "MAXIMUM", "MINIMUM", "POW"),
    *("RIGHT_SHIFT", "EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL", "SELECT", "SELECT_V2"),
    *("RANGE", "RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM", "STABLEHLO_RNG_BIT_GENERATOR"),
    *(f"STABLEHLO_{name}" for name in ("ABS", "ADD", "AND", "CBRT", "COMPARE", "COSINE", "DIVIDE", "EXPONENTIAL")),
    *(f"STABLEHLO_{name}" for name in ("FLOOR", "LOG", "LOGISTIC", "MAXIMUM", "MINIMUM", "MULTIPLY", "NEGATE", "OR")),
    *(f"STABLEHLO_{name}" for name in ("POWER", "REMAINDER", "RSQRT", "SELECT", "SHIFT_LEFT", "SUBTRACT", "TANH")),
)(elements.elementwise)
tflite.cost("ADD", "SUB", "MUL", "DIV")(with_activation(elements.elementwise))
tflite.cost("ADD_N")(elements.operand_cost)
tflite.cost("SQUARED_DIFFERENCE", "QUANTIZE", "DEQUANTIZE", "FAKE_QUANT", "STABLEHLO_CLAMP")(elements.element_cost(2))
tflite.cost("SOFTMAX", "LOG_SOFTMAX")(elements.softmax)
tflite.cost("L2_NORMALIZATION")(with_activation(elements.element_cost(3)))
tflite.cost("CAST", "STABLEHLO_CONVERT", "DENSIFY", "IMAG", "REAL", "BITCAST", "ZEROS_LIKE", "FILL")(elements.movement)


@tflite.cost("LOCAL_RESPONSE_NORMALIZATION")
def local_response(c: CostContext) -> OpCost:
    """A square and a sum over the window for each element, then a product, a sum, a power and a division."""
    return OpCost(operations=c.product(2 * c.integer("radius") + 6, *c.input(0)))


# -- movement ----------------------------------------------------------------------------------------------------------

tflite.cost(
    *("BATCH_TO_SPACE_ND", "BROADCAST_ARGS", "BROADCAST_TO", "CONCATENATION", "DEPTH_TO_SPACE", "DILATE"),
    *("DYNAMIC_UPDATE_SLICE", "EXPAND_DIMS", "MATRIX_DIAG", "MATRIX_SET_DIAG", "MIRROR_PAD", "ONE_HOT", "PACK", "PAD"),
    *("PADV2", "RESHAPE", "RESIZE_NEAREST_NEIGHBOR", "REVERSE_SEQUENCE", "REVERSE_V2", "SPACE_TO_BATCH_ND"),
    *("SPACE_TO_DEPTH", "SPARSE_TO_DENSE", "SPLIT", "SPLIT_V", "SQUEEZE", "TILE", "TRANSPOSE", "UNPACK", "WHERE"),
    *("ASSIGN_VARIABLE", "CALL_ONCE", "READ_VARIABLE", "VAR_HANDLE", "WHILE", "STABLEHLO_COMPOSITE"),
    *(f"STABLEHLO_{name}" for name in ("CONCATENATE", "DYNAMIC_UPDATE_SLICE", "PAD", "RESHAPE", "TRANSPOSE")),
)(elements.movement)
tflite.cost("GATHER", "GATHER_ND", "SLICE", "STRIDED_SLICE", "STABLEHLO_DYNAMIC_SLICE", "STABLEHLO_GATHER")(
    elements.gathering()
)
tflite.cost("STABLEHLO_SLICE")(elements.gathering())
tflite.cost("EMBEDDING_LOOKUP")(elements.gathering(1))
tflite.cost("HASHTABLE_LOOKUP")(elements.gathering(2))
tflite.cost("SHAPE", "RANK")(elements.shape_query)
tflite.cost("IF", "STABLEHLO_CASE")(elements.body_choice)
tflite.cost("SCATTER_ND")(elements.input_cost(1, 1))
tflite.cost("STABLEHLO_SCATTER")(elements.input_cost(1, 2))

# -- reductions and order ----------------------------------------------------------------------------------------------

tflite.cost(
    *("ARG_MAX", "ARG_MIN", "CUMSUM", "MEAN", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"),
    *("SEGMENT_SUM", "SUM", "TOPK_V2", "UNIQUE", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN"),
    *("UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_SUM", "MULTINOMIAL"),
)(elements.input_cost())
tflite.cost("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")(
    elements.exclusion("the number of comparisons depends on data")
)
tflite.cost("TFLite_Detection_PostProcess", domain=CUSTOM)(
    elements.exclusion("the number of comparisons depends on data")
)

# -- windows and products ----------------------------------------------------------------------------------------------


def _pool_kernel(c: CostContext) -> tuple[int, int]:
    return c.integer("filter_height"), c.integer("filter_width")


tflite.cost("AVERAGE_POOL_2D", "MAX_POOL_2D")(with_activation(elements.pooling(_pool_kernel)))
tflite.cost("L2_POOL_2D")(with_activation(elements.pooling(_pool_kernel, 2)))
tflite.cost("RESIZE_BILINEAR")(elements.interpolation(elements.spatial_axes, lambda c: 2))


def product(depth: Callable[[CostContext], DimSize], outputs: Callable[[CostContext], Shape], bias: int) -> CostRule:
    """`depth` multiply-accumulates for each element of `outputs`, and a sum for each of the output with a bias."""

    def cost(c: CostContext) -> OpCost:
        macs = c.product(depth(c), *outputs(c))
        return OpCost(macs=macs, operations=c.elements(c.result) if c.has_input(bias) else 0)

    return with_activation(cost)


def _result(c: CostContext) -> Shape:
    return c.result


tflite.cost("CONV_2D")(product(lambda c: c.product(*c.input(1)[1:]), _result, 2))
tflite.cost("DEPTHWISE_CONV_2D")(product(lambda c: c.product(*c.input(1)[1:3]), _result, 2))
tflite.cost("CONV_3D")(product(lambda c: c.product(*c.input(1)[:4]), _result, 2))
tflite.cost("TRANSPOSE_CONV")(product(lambda c: c.product(*c.input(1)[:3]), lambda c: c.input(2), 3))
tflite.cost("CONV_3D_TRANSPOSE")(product(lambda c: c.product(*c.input(1)[:4]), lambda c: c.input(2), 3))
tflite.cost("FULLY_CONNECTED")(product(lambda c: c.input(1)[1], _result, 2))
tflite.cost("BATCH_MATMUL")(products.transposable_matmul("adj_x", "adj_y"))
tflite.cost("Convolution2DTransposeBias", domain=CUSTOM)(
    product(lambda c: c.product(*c.input(1)[:3]), lambda c: c.input(0), 2)
)


@tflite.cost("REDUCE_WINDOW")
def window_reduction(c: CostContext) -> OpCost:
    """An operation for each element of each window."""
    sizes = [size for size in c.contents(2) if isinstance(size, int)]
    return OpCost(operations=c.product(*sizes, *c.result))


@tflite.cost("STABLEHLO_REDUCE_WINDOW")
def stablehlo_window_reduction(c: CostContext) -> OpCost:
    """An operation for each element of each window."""
    return OpCost(operations=c.product(*c.integers("window_dimensions"), *c.result))


# -- recurrent layers, signals -----------------------------------------------------------------------------------------


@tflite.cost("SVDF")
def svdf(c: CostContext) -> OpCost:
    """The product with the features of each filter, the product over its memory, and sums of ranks and a bias."""
    batch, (filters, depth), memory = c.input(0)[0], c.input(1), c.input(2)[1]
    macs = c.product(batch, filters, c.sum(depth, memory))
    return with_activation(lambda _: OpCost(macs=macs, operations=c.product(batch, filters)))(c)


def _steps(c: CostContext) -> DimSize:
    """The number of steps of all items: of a single step where the input has no time axis."""
    return c.product(*c.input(0)[:-1])


@tflite.cost("RNN", "UNIDIRECTIONAL_SEQUENCE_RNN")
def rnn(c: CostContext) -> OpCost:
    """The products of input and state, a bias and an activation for each unit and step."""
    units, depth = c.input(1)
    return layers.recurrent(c, "RNN", 1, _steps(c), depth, units, 1)


@tflite.cost("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_rnn(c: CostContext) -> OpCost:
    """As UNIDIRECTIONAL_SEQUENCE_RNN, for both directions."""
    steps = _steps(c)
    parts = [layers.recurrent(c, "RNN", 1, steps, c.input(at)[1], c.input(at)[0], 1) for at in (1, 5)]
    return OpCost(macs=c.sum(*(p.macs for p in parts)), operations=c.sum(*(p.operations for p in parts)))


def _lstm(c: CostContext, steps: DimSize, first: int, projection: int) -> OpCost:
    """A fused LSTM with weights from input `first` on: the products of each gate that has some, and a projection."""
    macs: list[DimSize] = []
    gates = 0
    for index in range(first, first + 8):
        if c.has_input(index):
            macs.append(c.product(steps, *c.input(index)))
            gates += index < first + 4
    if c.has_input(projection):
        macs.append(c.product(steps, *c.input(projection)))
    cells = c.input(first + 3)[0]
    _, operations = layers.CELLS["LSTM"]
    return OpCost(macs=c.sum(*macs), operations=c.product(operations + gates, steps, cells))


@tflite.cost("UNIDIRECTIONAL_SEQUENCE_LSTM")
def unidirectional_lstm(c: CostContext) -> OpCost:
    """A fused LSTM for each step."""
    return _lstm(c, _steps(c), 1, 16)


@tflite.cost("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_lstm(c: CostContext) -> OpCost:
    """A fused LSTM for each step and direction."""
    parts = _lstm(c, _steps(c), 1, 16), _lstm(c, _steps(c), 18, 33)
    return OpCost(macs=c.sum(*(p.macs for p in parts)), operations=c.sum(*(p.operations for p in parts)))


@tflite.cost("LSTM")
def lstm(c: CostContext) -> OpCost:
    """One step: the fused one, or the basic one with the weights [4*D, K+D] of all gates."""
    if c.text("kernel_type", "FULL") != "BASIC":
        return _lstm(c, _steps(c), 1, 16)
    batch, units = c.input(1)
    gates, operations = layers.CELLS["LSTM"]
    macs = c.product(batch, *c.input(2))
    return OpCost(macs=macs, operations=c.product(operations + gates, batch, units))


@tflite.cost("RFFT2D")
def rfft2d(c: CostContext) -> OpCost:
    """A transform of each row of real numbers, and of each column of the frequencies."""
    known = [length for length in c.contents(1) if isinstance(length, int)]
    if len(known) < 2:
        raise NotKnown("the lengths of the transform are unknown")
    height, width = known
    batch = c.product(*c.result[:-2])
    rows = layers.transform(c, c.product(batch, height), width, real=True)
    columns = layers.transform(c, c.product(batch, c.result[-1]), height)
    return OpCost(operations=c.sum(rows.operations, columns.operations))


tflite.cost("AudioSpectrogram", "Mfcc", domain=CUSTOM)(elements.exclusion("no formula is published for it"))
tflite.cost("Landmarks2TransformMatrix", "TransformLandmarks", domain=CUSTOM)(elements.input_cost(4))
tflite.cost("TransformTensor", "TransformTensorBilinear", domain=CUSTOM)(
    elements.interpolation(elements.spatial_axes, lambda c: 2)
)
tflite.cost("MaxPoolingWithArgmax2D", domain=CUSTOM)(elements.input_cost())
tflite.cost("MaxUnpooling2D", domain=CUSTOM)(elements.movement)
tflite.cost("HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE")(
    elements.exclusion("it works on tables outside of the graph")
)
tflite.cost("EMBEDDING_LOOKUP_SPARSE", "LSH_PROJECTION", "SKIP_GRAM")(
    elements.exclusion("the number of its operations depends on data")
)
tflite.cost(
    *("CALL", "CONCAT_EMBEDDINGS"),
    *(f"STABLEHLO_{name}" for name in ("BROADCAST_IN_DIM", "CONVOLUTION", "CUSTOM_CALL", "DOT_GENERAL", "IOTA")),
    *(f"STABLEHLO_{name}" for name in ("REDUCE", "SORT", "WHILE")),
)(elements.exclusion("LiteRT has no kernel for it"))
