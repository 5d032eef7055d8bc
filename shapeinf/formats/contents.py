"""Which constants of a model file are read."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from shapeinf.lattice import MAX_ELEMENTS

MAX_FRACTIONS = 64
"""Contents of tensors of floats and narrow ints are read up to this many elements: they are scales, seldom shapes."""

_SHAPE_DTYPES = frozenset({"int64", "int32", "bool", "string"})


def wants_contents(dtype: str | None, dims: Sequence[int]) -> bool:
    """Whether the contents of a constant are read: if it is small, and more likely a shape than a weight."""
    if dtype is None:
        return False
    return prod(dims) <= (MAX_ELEMENTS if dtype in _SHAPE_DTYPES else MAX_FRACTIONS)
