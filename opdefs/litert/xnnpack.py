"""The calls that XNNPACK runs in LiteRT, as its default delegate does (`xnnpack_delegate.cc`).

An approximation of its conditions by operator, element types and constants, measured on models whose arenas are known.
"""

from __future__ import annotations

from opdefs.litert.kernels import litert
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext

FLOAT = frozenset(
    (
        *("ABS", "ADD", "AVERAGE_POOL_2D", "BATCH_MATMUL", "CEIL", "CONCATENATION", "CONV_2D", "COS"),
        *("DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "DIV", "ELU", "EXP", "EXPAND_DIMS", "FLOOR", "FULLY_CONNECTED"),
        *("GELU", "HARD_SWISH", "LEAKY_RELU", "LOG", "LOGISTIC", "MAXIMUM", "MAX_POOL_2D", "MEAN", "MINIMUM", "MUL"),
        *("NEG", "PAD", "PRELU", "RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "RESHAPE", "RESIZE_BILINEAR"),
        *("ROUND", "RSQRT", "SIN", "SLICE", "SOFTMAX", "SPACE_TO_DEPTH", "SPLIT", "SQRT", "SQUARE"),
        *("SQUARED_DIFFERENCE", "STRIDED_SLICE", "SUB", "SUM", "TANH", "TRANSPOSE", "TRANSPOSE_CONV"),
    )
)
"""Operators that it runs for float32."""
INTEGER = frozenset(
    (
        *("ADD", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "ELU", "EXPAND_DIMS"),
        *("FULLY_CONNECTED", "LEAKY_RELU", "LOGISTIC", "MAX_POOL_2D", "MEAN", "MUL", "PAD", "RESHAPE"),
        *("RESIZE_BILINEAR", "SLICE", "SPLIT", "SUB", "SUM", "TANH", "TRANSPOSE", "TRANSPOSE_CONV"),
    )
)
"""Operators that it runs for int8."""


_SOURCES = {"TRANSPOSE_CONV": 2, "SPLIT": 1}
"""The positions of the inputs whose element type decides, where these are not the first."""


@litert.delegated
def runs(c: LiteRtContext) -> bool:
    """Whether XNNPACK runs a call."""
    name = c.op_def.name
    source = c.dtype(_SOURCES.get(name, 0))
    if c.op_def.domain:
        return False
    if name == "QUANTIZE":
        return source == "float32"
    if name == "DEQUANTIZE":
        return source in ("int8", "float16")
    return name in {"float32": FLOAT, "int8": INTEGER}.get(source, ()) and litert.find_storage(c) == "arena"
