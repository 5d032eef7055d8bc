"""Axis rules of TensorFlow Lite's operators: see `shapeinf.ops.axes`.

An operator without a rule is not known to keep items separate: control flow, tables, sparse tensors, search.
"""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.axis_uses import (
    all_but,
    attribute_axis,
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
from opdefs.tflite.dialect import tflite
from opdefs.tflite.schemas import CUSTOM
from shapeinf.ops import CostContext
from shapeinf.ops.axes import AxisContext, AxisUse

tflite.axes(
    *("ABS", "ADD", "ADD_N", "ARG_MAX", "ARG_MIN", "ATAN2", "BATCH_MATMUL", "BITCAST", "BITWISE_XOR", "BROADCAST_TO"),
    *("BUCKETIZE", "CAST", "CEIL", "COMPLEX_ABS", "COS", "DENSIFY", "DEQUANTIZE", "DIV", "ELU", "EQUAL", "EXP"),
    *("EXPAND_DIMS", "FAKE_QUANT", "FILL", "FLOOR", "FLOOR_DIV", "FLOOR_MOD", "FULLY_CONNECTED", "GELU", "GREATER"),
    *("GREATER_EQUAL", "HARD_SWISH", "IMAG", "LEAKY_RELU", "LESS", "LESS_EQUAL", "LOG", "LOGICAL_AND", "LOGICAL_NOT"),
    *("LOGICAL_OR", "LOGISTIC", "MAXIMUM", "MEAN", "MINIMUM", "MUL", "NEG", "NOT_EQUAL", "PACK", "POW", "PRELU"),
    *("QUANTIZE", "RANK", "REAL", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "RELU"),
    *("RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "RESHAPE", "RIGHT_SHIFT", "ROUND", "RSQRT", "SELECT", "SELECT_V2"),
    *("SHAPE", "SIGN", "SIN", "SLICE", "SQRT", "SQUARE", "SQUARED_DIFFERENCE", "SQUEEZE", "SUB", "SUM", "TANH"),
    *("TILE", "TRANSPOSE", "UNPACK", "ZEROS_LIKE"),
    *(f"STABLEHLO_{name}" for name in ("ABS", "ADD", "AND", "CBRT", "CLAMP", "COMPARE", "CONVERT", "COSINE", "DIVIDE")),
    *(f"STABLEHLO_{name}" for name in ("EXPONENTIAL", "FLOOR", "LOG", "LOGISTIC", "MAXIMUM", "MINIMUM", "MULTIPLY")),
    *(f"STABLEHLO_{name}" for name in ("NEGATE", "OR", "POWER", "REMAINDER", "RSQRT", "SELECT", "SHIFT_LEFT")),
    *(f"STABLEHLO_{name}" for name in ("SUBTRACT", "TANH", "TRANSPOSE")),
)(separate)
tflite.axes(
    *("BATCH_TO_SPACE_ND", "RANGE", "SEGMENT_SUM", "SPACE_TO_BATCH_ND", "UNIQUE", "WHERE", "UNSORTED_SEGMENT_MAX"),
    *("UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_SUM", "REDUCE_WINDOW", "DILATE"),
    *("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "SPARSE_TO_DENSE", "SCATTER_ND", "BROADCAST_ARGS"),
    *("RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM", "MULTINOMIAL", "HASHTABLE_LOOKUP", "DYNAMIC_UPDATE_SLICE"),
)(mixed)
tflite.axes("TFLite_Detection_PostProcess", domain=CUSTOM)(mixed)
tflite.axes("SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION", "TOPK_V2", "MATRIX_DIAG", "LOCAL_RESPONSE_NORMALIZATION")(
    trailing(1)
)
tflite.axes("MATRIX_SET_DIAG", "RFFT2D")(trailing(2))
tflite.axes("CUMSUM", "REVERSE_V2")(all_but(input_axes(1)))
tflite.axes("CONCATENATION")(all_but(attribute_axis("axis", 0)))
tflite.axes("STABLEHLO_CONCATENATE")(all_but(attribute_axis("dimension", 0)))
tflite.axes("REVERSE_SEQUENCE")(all_but(attribute_axis("seq_dim", 0)))
tflite.axes("EMBEDDING_LOOKUP")(items_at((0, 0, None)))


@tflite.axes("SPLIT")
def split(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The tensor is the second input."""
    return _along(c, 0, 1, axis)


@tflite.axes("SPLIT_V")
def split_v(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The tensor is the first input, the axis the third."""
    return _along(c, 2, 0, axis)


def _along(c: AxisContext, named: int, tensor: int, axis: int) -> AxisUse:
    """Every axis but the one in the contents of input `named`; `tensor` is the position of the tensor with it."""
    listed, rank = input_axes(named)(c), rank_of(c, tensor)
    stays = listed is not None and all(axis != item % rank for item in listed)
    return AxisUse.SEPARATE if stays else AxisUse.MIXED


@tflite.axes("ONE_HOT")
def one_hot(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The indices are items; the new axis counts."""
    return AxisUse.SEPARATE if position == 0 else AxisUse.MIXED


@tflite.axes("PAD", "PADV2", "MIRROR_PAD")
@pads
def pad_amounts(c: CostContext, axis: int) -> Sequence[object]:
    """A pair for each axis."""
    return c.contents(1)[2 * axis : 2 * axis + 2]


@tflite.axes("STRIDED_SLICE")
def strided_slice(c: AxisContext, position: int, axis: int) -> AxisUse:
    """With a positive step, an axis that keeps its size keeps its items."""
    steps: Sequence[object] = c.contents(3)
    if c.integer("ellipsis_mask") == 0 and c.integer("new_axis_mask") == 0:
        steps = steps[axis : axis + 1]
    positive = all(isinstance(step, int) and step > 0 for step in steps)
    return AxisUse.SEPARATE if position == 0 and positive else AxisUse.MIXED


# -- positions of the own item -----------------------------------------------------------------------------------------


def gather_axis(c: CostContext) -> list[int] | None:
    """The axis of a gather without batch axes."""
    return None if c.integer("batch_dims") else [c.integer("axis")]


matches_item, matches_row = matches_along(gather_axis), matches_columns()
tflite.axes("GATHER")(match_lookup(separate, matches_item))
tflite.axes("GATHER_ND")(match_lookup(separate, matches_row))
tflite.positions("GATHER")(select(matches_item, 0, 1))
tflite.positions("GATHER_ND")(select(matches_row, 0, 1))
tflite.positions("CAST")(convert)
tflite.positions("EXPAND_DIMS", "SQUEEZE", "RESHAPE", "TRANSPOSE", "BROADCAST_TO", "TILE", "STRIDED_SLICE", "SLICE")(
    move
)
tflite.positions("ADD")(add)
tflite.positions("SUB")(subtract)
tflite.positions("MUL")(multiply)
tflite.positions("SELECT", "SELECT_V2")(choose(0, 1, 2))
tflite.positions("CONCATENATION")(join(lambda c: range(len(c.types)), attribute_axis("axis", 0)))

# -- images and recurrent layers ---------------------------------------------------------------------------------------


def _channels_last(c: CostContext) -> bool:
    return True


convolution = windows(channels=AxisUse.MIXED, last=_channels_last)
tflite.axes("CONV_2D", "CONV_3D", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "SPACE_TO_DEPTH")(convolution)
tflite.axes("AVERAGE_POOL_2D", "L2_POOL_2D", "MAX_POOL_2D", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")(
    windows(channels=AxisUse.SEPARATE, last=_channels_last)
)
tflite.axes("MaxPoolingWithArgmax2D", "MaxUnpooling2D", domain=CUSTOM)(items_at((0, 0, 4), (1, 0, 4)))
tflite.axes("Convolution2DTransposeBias", domain=CUSTOM)(convolution)


@tflite.axes("TRANSPOSE_CONV", "CONV_3D_TRANSPOSE")
def transposed_convolution(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The image is the third input, after the sizes and the filter."""
    if position == 0:
        return AxisUse.SEPARATE if axis == 0 else AxisUse.SPATIAL
    if position != 2:
        return AxisUse.MIXED
    return AxisUse.ALIGNED if axis == 0 else AxisUse.SPATIAL


tflite.axes("SVDF")(leading(1, 4))
tflite.axes("RNN")(leading(1, 4))


@tflite.axes("UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN")
def sequence(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The items are on axis 0 of the input, with `time_major` on axis 1, and on axis 0 of the states."""
    states = (4,) if c.op_def.name.endswith("RNN") else (18, 19)
    if position == 0:
        return AxisUse.ALIGNED if axis == (1 if c.attribute("time_major") else 0) else AxisUse.MIXED
    return AxisUse.ALIGNED if position in states and axis == 0 else AxisUse.MIXED
