"""The element types of tensors: one table with their widths and their names and codes in every format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

DtypeKind = Literal["bool", "integer", "float", "complex", "quantized", "string", "handle"]


class Dtype(NamedTuple):
    """One element type.

    Args:
        name: its name in shapeinf, such as `float32`.
        bits: the bits of one element; None where an element has no fixed width.
        kind: the kind of its values.
        onnx: its code in ONNX's TensorProto.DataType, where its name is ours in capitals, except FLOAT and DOUBLE.
        tf: its name and code in TensorFlow; the name of the code is `DT_` and the name in capitals.
        short: its name in tract's documents and for users, such as `f32`.
        hlo: its name in XLA's text.
        torch: its name in torch, after `torch.`.
        exported: its code in programs of torch.export (`ScalarType` of their schema).
        tflite: its code in TensorFlow Lite (`TensorType` of its schema).
        ml_dtypes: its name in the package `ml_dtypes`, for types that numpy does not have.
    """

    name: str
    bits: int | None
    kind: DtypeKind
    onnx: int | None = None
    tf: tuple[str, int] | None = None
    short: str | None = None
    hlo: str | None = None
    ml_dtypes: str | None = None
    torch: str | None = None
    exported: int | None = None
    tflite: int | None = None

    @property
    def onnx_name(self) -> str:
        """The name of its code in ONNX."""
        return {"float32": "FLOAT", "float64": "DOUBLE"}.get(self.name, self.name.upper())


DTYPES = (
    Dtype("bool", 8, "bool", 9, ("bool", 10), "bool", "pred", torch="bool", exported=12, tflite=6),
    Dtype("int1", 1, "integer", hlo="s1", ml_dtypes="int1"),
    Dtype("int2", 2, "integer", 26, ("int2", 31), hlo="s2", ml_dtypes="int2", tflite=19),
    Dtype("int4", 4, "integer", 22, ("int4", 29), hlo="s4", ml_dtypes="int4", tflite=17),
    Dtype("int8", 8, "integer", 3, ("int8", 6), "i8", "s8", torch="int8", exported=2, tflite=9),
    Dtype("int16", 16, "integer", 5, ("int16", 5), "i16", "s16", torch="short", exported=3, tflite=7),
    Dtype("int32", 32, "integer", 6, ("int32", 3), "i32", "s32", torch="int", exported=4, tflite=2),
    Dtype("int64", 64, "integer", 7, ("int64", 9), "i64", "s64", torch="long", exported=5, tflite=4),
    Dtype("uint1", 1, "integer", hlo="u1", ml_dtypes="uint1"),
    Dtype("uint2", 2, "integer", 25, ("uint2", 32), hlo="u2", ml_dtypes="uint2"),
    Dtype("uint4", 4, "integer", 21, ("uint4", 30), hlo="u4", ml_dtypes="uint4", tflite=20),
    Dtype("uint8", 8, "integer", 2, ("uint8", 4), "u8", "u8", torch="uint8", exported=1, tflite=3),
    Dtype("uint16", 16, "integer", 4, ("uint16", 17), "u16", "u16", torch="uint16", exported=28, tflite=16),
    Dtype("uint32", 32, "integer", 12, ("uint32", 22), "u32", "u32", torch="uint32", exported=34, tflite=15),
    Dtype("uint64", 64, "integer", 13, ("uint64", 23), "u64", "u64", torch="uint64", exported=35, tflite=12),
    Dtype(
        "bfloat16",
        16,
        "float",
        16,
        ("bfloat16", 14),
        "bf16",
        "bf16",
        "bfloat16",
        torch="bfloat16",
        exported=13,
        tflite=18,
    ),
    Dtype("float16", 16, "float", 10, ("half", 19), "f16", "f16", torch="half", exported=6, tflite=1),
    Dtype("float32", 32, "float", 1, ("float", 1), "f32", "f32", torch="float", exported=7, tflite=0),
    Dtype("float64", 64, "float", 11, ("double", 2), "f64", "f64", torch="double", exported=8, tflite=10),
    Dtype("float4e2m1", 4, "float", 23, ("float4_e2m1fn", 33), None, "f4e2m1fn", "float4_e2m1fn"),
    Dtype("float6e2m3", 6, "float", 27, ml_dtypes="float6_e2m3fn"),
    Dtype("float6e3m2", 6, "float", 28, ml_dtypes="float6_e3m2fn"),
    Dtype("float8e3m4", 8, "float", hlo="f8e3m4", ml_dtypes="float8_e3m4"),
    Dtype("float8e4m3", 8, "float", hlo="f8e4m3", ml_dtypes="float8_e4m3"),
    Dtype(
        "float8e4m3b11fnuz", 8, "float", None, ("float8_e4m3b11fnuz", 27), None, "f8e4m3b11fnuz", "float8_e4m3b11fnuz"
    ),
    Dtype(
        "float8e4m3fn",
        8,
        "float",
        17,
        ("float8_e4m3fn", 25),
        None,
        "f8e4m3fn",
        "float8_e4m3fn",
        torch="float8_e4m3fn",
        exported=29,
        tflite=21,
    ),
    Dtype(
        "float8e4m3fnuz",
        8,
        "float",
        18,
        ("float8_e4m3fnuz", 26),
        None,
        "f8e4m3fnuz",
        "float8_e4m3fnuz",
        torch="float8_e4m3fnuz",
        exported=31,
    ),
    Dtype(
        "float8e5m2",
        8,
        "float",
        19,
        ("float8_e5m2", 24),
        None,
        "f8e5m2",
        "float8_e5m2",
        torch="float8_e5m2",
        exported=30,
        tflite=22,
    ),
    Dtype(
        "float8e5m2fnuz",
        8,
        "float",
        20,
        ("float8_e5m2fnuz", 28),
        None,
        "f8e5m2fnuz",
        "float8_e5m2fnuz",
        torch="float8_e5m2fnuz",
        exported=32,
    ),
    Dtype("float8e8m0", 8, "float", 24, None, None, "f8e8m0fnu", "float8_e8m0fnu", torch="float8_e8m0fnu", exported=33),
    Dtype("complex32", 32, "complex", short="c32", torch="complex32", exported=9),
    Dtype("complex64", 64, "complex", 14, ("complex64", 8), "c64", "c64", torch="complex64", exported=10, tflite=8),
    Dtype(
        "complex128", 128, "complex", 15, ("complex128", 18), "c128", "c128", torch="complex128", exported=11, tflite=11
    ),
    Dtype("qint8", 8, "quantized", None, ("qint8", 11), torch="qint8"),
    Dtype("qint16", 16, "quantized", None, ("qint16", 15)),
    Dtype("qint32", 32, "quantized", None, ("qint32", 13), torch="qint32"),
    Dtype("quint8", 8, "quantized", None, ("quint8", 12), torch="quint8"),
    Dtype("quint16", 16, "quantized", None, ("quint16", 16)),
    Dtype("string", None, "string", 8, ("string", 7), "string", tflite=5),
    Dtype("resource", None, "handle", None, ("resource", 20), tflite=13),
    Dtype("variant", None, "handle", None, ("variant", 21), tflite=14),
)
"""All element types. Other tables of element types are derived from this one."""

ML_DTYPES = {dtype.name: dtype.ml_dtypes for dtype in DTYPES if dtype.ml_dtypes is not None}
"""The names in `ml_dtypes` of the types that numpy does not have."""

HANDLES = frozenset(dtype.name for dtype in DTYPES if dtype.kind == "handle")
"""The types whose elements refer to variables, lists, tables or datasets."""

ONNX_NAMES = {dtype.onnx: dtype.name for dtype in DTYPES if dtype.onnx is not None}
"""Our names by ONNX's codes: `{1: "float32", ...}`."""

FROM_ONNX_NAMES = {dtype.onnx_name: dtype.name for dtype in DTYPES if dtype.onnx is not None}
"""Our names by the names of ONNX's codes: `{"FLOAT": "float32", ...}`."""

ONNX_CODES = {name: code for code, name in ONNX_NAMES.items()}
"""ONNX's codes by our names."""

TF_NAMES = {dtype.name: dtype.tf[0] for dtype in DTYPES if dtype.tf is not None}
"""TensorFlow's names by ours: `{"float32": "float", ...}`."""

FROM_TF_NAMES = {name: dtype for dtype, name in TF_NAMES.items()}
"""Our names by TensorFlow's."""

SHORT_NAMES = {dtype.short: dtype.name for dtype in DTYPES if dtype.short is not None}
"""Our names by the short ones: `{"f32": "float32", ...}`."""

TORCH_NAMES = {dtype.torch: dtype.name for dtype in DTYPES if dtype.torch is not None}
"""Our names by torch's: `{"float": "float32", ...}`."""

TORCH_TEXTS = {dtype.name: f"torch.{dtype.torch}" for dtype in DTYPES if dtype.torch is not None}
"""The texts by which torch names our types: `{"float32": "torch.float", ...}`."""

EXPORTED_NAMES = {dtype.exported: dtype.name for dtype in DTYPES if dtype.exported is not None}
"""Our names by the codes in programs of torch.export: `{7: "float32", ...}`."""

TFLITE_NAMES = {dtype.tflite: dtype.name for dtype in DTYPES if dtype.tflite is not None}
"""Our names by the codes of TensorFlow Lite: `{0: "float32", ...}`."""

NUMBER_TYPES: Mapping[type, str] = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
"""The types that hold Python's numbers."""

WITHOUT_NUMPY_TYPE = frozenset({"complex32"})
"""Types with a fixed width that neither numpy nor `ml_dtypes` has."""

KINDS: Mapping[str, DtypeKind] = {dtype.name: dtype.kind for dtype in DTYPES}
"""The kind of each type: `{"int32": "integer", ...}`."""

_BITS = {name: dtype.bits for dtype in DTYPES for name in (dtype.name, dtype.ml_dtypes) if name is not None}


def element_bits(dtype: str | None) -> int | None:
    """The bits of one element; None for an unknown type and for one without a fixed width.

    >>> element_bits("float32"), element_bits("uint4"), element_bits("bool"), element_bits("string")
    (32, 4, 8, None)
    """
    return _BITS.get(dtype or "")


INTEGER_RANGES = {
    dtype.name: (0, (1 << dtype.bits) - 1)
    if dtype.name.startswith(("uint", "quint"))
    else (-1 << (dtype.bits - 1), (1 << (dtype.bits - 1)) - 1)
    for dtype in DTYPES
    if dtype.bits is not None and dtype.kind in ("integer", "quantized")
}
"""The least and the greatest number of each type of integers, or of quantized numbers: `{"uint8": (0, 255), ...}`."""

INT64_MAX = INTEGER_RANGES["int64"][1]
"""The largest size, and the largest number of elements."""
