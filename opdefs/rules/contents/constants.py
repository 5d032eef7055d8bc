"""Tensors of one repeated element."""

from __future__ import annotations

from math import prod

from opdefs.rules.contents.elements import is_listable
from opdefs.rules.contents.progressions import fill_tensor, progression
from shapeinf.expr import Dimension
from shapeinf.lattice import Element, PartialTensor, Shape, element_bits
from shapeinf.lattice.dtypes import KINDS


def constant_tensor(dtype: str | None, shape: Shape, fill: Element) -> PartialTensor:
    """A tensor of `shape` filled with one element (None: unknown), listed or as a progression."""
    if fill is None or shape.dims is None:
        return PartialTensor(dtype, shape, None)
    if is_listable(shape):
        return PartialTensor(dtype, shape, [fill] * prod(d for d in shape if isinstance(d, int)))
    if isinstance(fill, Dimension):
        return progression(dtype, shape, fill, (0,) * len(shape))
    return fill_tensor(dtype, shape, fill)


def zero_of(dtype: str | None) -> Element:
    """0 as an element of a dtype; None for dtypes that are not numeric."""
    return number_of(dtype, 0)


def number_of(dtype: str | None, number: int) -> Element:
    """A small number as an element of a dtype; None for dtypes that are not numeric."""
    if dtype is None or element_bits(dtype) is None or dtype.startswith("q"):
        return None
    if dtype == "bool":
        return bool(number)
    return number if KINDS.get(dtype) == "integer" else float(number)
