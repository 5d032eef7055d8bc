"""Sizes that operands contain: the number of a scalar, or a number out of a list, as the size of an axis."""

from __future__ import annotations

from opdefs.rules.contents.elements import to_dim
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor
from shapeinf.ops import InferenceContext


def scalar_size(c: InferenceContext, value: PartialTensor) -> DimSize | None:
    """The value of an input of one element as a size; None if it is unknown or may be negative."""
    size = to_dim(value.elements[0]) if value.elements else None
    return None if size is None or c.prove_le(0, size) is not True else size


def scalar_size_or_fresh(c: InferenceContext, value: PartialTensor, hint: str) -> DimSize:
    """The value of an input of one element as a size; a fresh unknown if it is unknown or may be negative."""
    size = scalar_size(c, value)
    return c.fresh(hint) if size is None else size


def size_or_fresh(c: InferenceContext, size: DimSize | None, hint: str) -> DimSize:
    """A size; a new unknown named by `hint` if it is unknown or may be negative."""
    return c.fresh(hint) if size is None or c.prove_le(0, size) is not True else size
