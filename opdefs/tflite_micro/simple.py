"""Operators that need the same bytes in each call."""

from __future__ import annotations

from opdefs.tflite_micro.kernels import tflite_micro
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext
from shapeinf.memory.runtimes.tflite_micro.kernels import MicroNeeds

TABLE = 1026
"""The bytes of a table of an int16 kernel."""

tflite_micro.always(
    *("BATCH_TO_SPACE_ND", "BROADCAST_ARGS", "BROADCAST_TO", "CEIL", "COS", "DYNAMIC_UPDATE_SLICE", "EXP"),
    *("EXPAND_DIMS", "FILL", "FLOOR", "FLOOR_DIV", "FLOOR_MOD", "LOG", "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR"),
    *("MAXIMUM", "MINIMUM", "NEG", "REVERSE_V2", "ROUND", "SIN", "SLICE", "SQRT", "SQUARE", "TRANSPOSE", "ZEROS_LIKE"),
)
tflite_micro.always("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", options=2)
tflite_micro.always("ARG_MAX", "ARG_MIN", "SHAPE", "SPLIT", "SPLIT_V", options=4)
tflite_micro.always("CAST", "PACK", "UNPACK", options=8)
tflite_micro.always("RESHAPE", "SQUEEZE", options=36)
tflite_micro.always("SELECT_V2", stored=(1,))
tflite_micro.always("SPACE_TO_BATCH_ND", stored=(4,))
tflite_micro.always("L2_NORMALIZATION", options=4, stored=(4,))
tflite_micro.always("RELU6", stored=(8,))
tflite_micro.always("LOGISTIC", "TANH", stored=(16,))
tflite_micro.always("HARD_SWISH", stored=(20,))
tflite_micro.always("DEPTH_TO_SPACE", "SPACE_TO_DEPTH", options=4, stored=(20,))
tflite_micro.always("LEAKY_RELU", options=4, stored=(24,))
tflite_micro.always("ABS", "PRELU", "RELU", "RSQRT", stored=(28,))
tflite_micro.always("DIV", options=4, stored=(28,))
tflite_micro.always("EMBEDDING_LOOKUP", stored=(12, 16))
tflite_micro.always("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL", stored=(32,))
tflite_micro.always("DEQUANTIZE", "QUANTIZE", stored=(32,))
tflite_micro.always("AVERAGE_POOL_2D", "MAX_POOL_2D", options=40, stored=(32,))
tflite_micro.always("L2_POOL_2D", options=40, stored=(20,))
tflite_micro.always("MUL", options=4, stored=(36,))
tflite_micro.always("SUB", options=8, stored=(52,))
tflite_micro.always("PAD", "PADV2", stored=(56,))
tflite_micro.always("ADD", options=8, stored=(60,))
tflite_micro.always("CONCATENATION", options=8, stored=(80,))
tflite_micro.always("STRIDED_SLICE", options=24, stored=(84,))
tflite_micro.always("SQUARED_DIFFERENCE", stored=(112,))
tflite_micro.always("ELU", stored=(256,))


@tflite_micro.needs("SOFTMAX")
def softmax(c: LiteRtContext) -> MicroNeeds:
    """An int16 kernel has two tables."""
    return MicroNeeds(4, [80, TABLE, TABLE] if c.dtype(0) == "int16" else [80])


@tflite_micro.needs("CUMSUM")
def cumsum(c: LiteRtContext) -> MicroNeeds:
    """An integer kernel keeps multipliers."""
    return MicroNeeds(2, [36] if c.dtype(0) == "int8" else [])
