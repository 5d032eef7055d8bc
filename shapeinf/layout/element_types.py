"""Element types: their names in XLA's text, their names everywhere else in shapeinf, and their widths."""

from __future__ import annotations

from typing import Literal

import attrs

from shapeinf.errors import LayoutError, UnknownNameError

Kind = Literal["bool", "integer", "float", "complex"]


@attrs.frozen
class ElementType:
    """One element type.

    Args:
        name: its name in XLA's text, such as `f32`.
        dtype: its name in shapeinf, such as `float32`.
        bits: how many bits of an element carry its value.
        kind: what sort of number it is.
    """

    name: str
    dtype: str
    bits: int
    kind: Kind

    @property
    def bytes(self) -> int:
        """The bytes of one element that is not packed: at least 1.

        >>> element_type("s4").bytes, element_type("complex64").bytes
        (1, 8)
        """
        return -(-self.bits // 8)


_FLOATS = {
    "bf16": ("bfloat16", 16),
    "f16": ("float16", 16),
    "f32": ("float32", 32),
    "f64": ("float64", 64),
    "f4e2m1fn": ("float4e2m1", 4),
    "f8e3m4": ("float8e3m4", 8),
    "f8e4m3": ("float8e4m3", 8),
    "f8e4m3b11fnuz": ("float8e4m3b11fnuz", 8),
    "f8e4m3fn": ("float8e4m3fn", 8),
    "f8e4m3fnuz": ("float8e4m3fnuz", 8),
    "f8e5m2": ("float8e5m2", 8),
    "f8e5m2fnuz": ("float8e5m2fnuz", 8),
    "f8e8m0fnu": ("float8e8m0", 8),
}

ELEMENT_TYPES: tuple[ElementType, ...] = (
    ElementType("pred", "bool", 8, "bool"),
    *(
        ElementType(f"{letter}{bits}", f"{sign}int{bits}", bits, "integer")
        for letter, sign in (("s", ""), ("u", "u"))
        for bits in (1, 2, 4, 8, 16, 32, 64)
    ),
    *(ElementType(name, dtype, bits, "float") for name, (dtype, bits) in _FLOATS.items()),
    ElementType("c64", "complex64", 64, "complex"),
    ElementType("c128", "complex128", 128, "complex"),
)
"""All element types that an array in memory can have (strings have no size there)."""

BY_TEXT_NAME = {element.name: element for element in ELEMENT_TYPES}
"""By the name in XLA's text."""

_BY_ANY_NAME = {**{element.dtype: element for element in ELEMENT_TYPES}, **BY_TEXT_NAME}


def element_type(name: str) -> ElementType:
    """The element type of a name of either sort; UnknownNameError has the nearest names.

    >>> element_type("f32").dtype, element_type("bfloat16").name
    ('float32', 'bf16')
    """
    if not isinstance(name, str):
        raise LayoutError(f"an array in memory needs a known element type, not {name!r}")
    element = _BY_ANY_NAME.get(name)
    if element is None:
        raise UnknownNameError("element type", name, _BY_ANY_NAME)
    return element
