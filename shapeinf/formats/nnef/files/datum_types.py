"""Element types by tract's names, such as `f32`."""

from __future__ import annotations

from shapeinf.lattice.dtypes import SHORT_NAMES

_TRACT_NAMES = {
    **{short: name for short, name in SHORT_NAMES.items() if short != "bf16"},
    "tdim": "int64",
    "complexf16": "complex64",
    "complexf32": "complex64",
    "complexf64": "complex128",
    "qi8": "int8",
    "qu8": "uint8",
    "qi32": "int32",
}
"""A symbolic dim is an int64; a quantized type is the type of its storage."""


def dtype_of(name: str) -> str | None:
    """The element type of a name in any case, without quantization parameters in parentheses; None if unknown.

    >>> dtype_of("F16"), dtype_of("qu8(z:0 s:0.5)"), dtype_of("f12")
    ('float16', 'uint8', None)
    """
    return _TRACT_NAMES.get(name.partition("(")[0].strip().lower())
