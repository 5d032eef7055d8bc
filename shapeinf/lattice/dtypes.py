"""How wide the elements of a tensor are."""

from __future__ import annotations

import re

_WIDTH = re.compile(r"(?:q?u?int|b?float|complex)(\d+)")
"""The names of element types begin with their kind and width: `int4`, `float8e4m3fn`, `complex64`."""


def element_bits(dtype: str | None) -> int | None:
    """The bits of one element; None for a type that has no fixed width, or that is not known.

    >>> element_bits("float32"), element_bits("uint4"), element_bits("bool"), element_bits("string")
    (32, 4, 8, None)
    """
    if dtype == "bool":
        return 8
    found = _WIDTH.match(dtype or "")
    return int(found[1]) if found else None
