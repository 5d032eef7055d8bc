"""Quantized tensors: layers with one scale and zero point for their output."""

from __future__ import annotations

from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.pnnx.operands import read_type
from opdefs.pnnx.promotion import DEFAULT_FLOAT
from opdefs.rules.contents.elements import known_ints
from opdefs.rules.repetition import concat
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value

STORAGE = {"qint8": "int8", "quint8": "uint8", "qint32": "int32"}
"""The element types that files have in place of torch's quantized ones."""

_CODES = {12: "qint8", 13: "quint8", 14: "qint32"}
"""torch's quantized element types by their codes (c10::ScalarType)."""


@own_types("nn.quantized.Quantize", "torch.quantize_per_tensor")
def quantize(
    c: InferenceContext, input: Shape, scale: Shape | None = None, zero_point: Shape | None = None, *, dtype: object
) -> TensorType:
    """[*S] -> [*S] in the integers that store `dtype`; scale and zero point are numbers or scalars."""
    return TensorType(_storage_type(c, dtype), input)


@own_types("aten::quantize_per_tensor")
def quantize_by_code(c: InferenceContext, input: Shape, scale: Shape, zero_point: Shape, dtype: Value) -> TensorType:
    """[*S] -> [*S] in the integers that store the type with the code `dtype`."""
    codes = known_ints(dtype)
    return TensorType(_storage_type(c, codes[0]) if codes else None, input)


def _storage_type(c: InferenceContext, dtype: object) -> str:
    """The integers that store a quantized element type, for its name or its code."""
    name = read_type(c, dtype) if isinstance(dtype, str) else _CODES.get(dtype) if isinstance(dtype, int) else None
    if name is None or name not in STORAGE:
        c.fail("dtype must be a quantized element type of torch", dtype)
    return STORAGE[name]


@own_types("nn.quantized.DeQuantize", "torch.dequantize")
def dequantize(c: InferenceContext, input: Shape) -> TensorType:
    """[*S] -> [*S] in float32."""
    return TensorType(DEFAULT_FLOAT, input)


@pnnx("nn.quantized.cat")
def cat(c: InferenceContext, *tensors: Value, dim: int = 0) -> PartialTensor:
    """[*A, n, *B], [*A, m, *B], ... -> [*A, n + m + ..., *B], in the type of the first tensor."""
    if not tensors:
        c.fail("at least one tensor is required")
    return PartialTensor(tensors[0].dtype, concat(c, tensors, dim).shape, None)  # of several scales
