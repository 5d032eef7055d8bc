"""Element types: their names in XLA's text, their names everywhere else in shapeinf, and their widths."""

from __future__ import annotations

import attrs

from shapeinf.errors import LayoutError, UnknownNameError
from shapeinf.lattice.dtypes import DTYPES, DtypeKind


@attrs.frozen
class ElementType:
    """One element type.

    Args:
        name: its name in XLA's text, such as `f32`.
        dtype: its name in shapeinf, such as `float32`.
        bits: the number of bits of an element that carry its value.
        kind: the kind of number.
    """

    name: str
    dtype: str
    bits: int
    kind: DtypeKind

    @property
    def bytes(self) -> int:
        """The bytes of one element that is not packed: at least 1.

        >>> element_type("s4").bytes, element_type("complex64").bytes
        (1, 8)
        """
        return -(-self.bits // 8)


ELEMENT_TYPES: tuple[ElementType, ...] = tuple(
    ElementType(dtype.hlo, dtype.name, dtype.bits, dtype.kind)
    for dtype in DTYPES
    if dtype.hlo is not None and dtype.bits is not None
)
"""All element types that an array in memory can have (strings have no size there)."""

BY_TEXT_NAME = {element.name: element for element in ELEMENT_TYPES}
"""The element types by their name in XLA's text."""

_BY_ANY_NAME = {**{element.dtype: element for element in ELEMENT_TYPES}, **BY_TEXT_NAME}


def element_type(name: str) -> ElementType:
    """The element type with a name in shapeinf or in XLA. Raises UnknownNameError, which has the nearest names.

    >>> element_type("f32").dtype, element_type("bfloat16").name
    ('float32', 'bf16')
    """
    if not isinstance(name, str):
        raise LayoutError(f"an array in memory needs a known element type, not {name!r}")
    element = _BY_ANY_NAME.get(name)
    if element is None:
        raise UnknownNameError("element type", name, _BY_ANY_NAME)
    return element
