"""tract's names of element types, such as `f32`, as ours."""

from __future__ import annotations

DATUM_TYPES = {
    "bool": "bool",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "string": "string",
    "tdim": "int64",
    "complexf16": "complex64",
    "complexf32": "complex64",
    "complexf64": "complex128",
    "qi8": "int8",
    "qu8": "uint8",
    "qi32": "int32",
}
"""A symbolic dim is an int64 for us; of a quantized type the type of its storage."""


def dtype_of(name: str) -> str | None:
    """The element type of a name in any case, quantization parameters in parentheses left out; None for no such type.

    >>> dtype_of("F16"), dtype_of("qu8(z:0 s:0.5)"), dtype_of("f12")
    ('float16', 'uint8', None)
    """
    return DATUM_TYPES.get(name.partition("(")[0].strip().lower())
