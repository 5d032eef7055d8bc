"""Arguments that name axes. torch accepts those of a tensor of rank 1 for a tensor of rank 0."""

from __future__ import annotations

from opdefs.rules.numbers import read_int, read_ints
from shapeinf.ops import InferenceContext


def read_axis(c: InferenceContext, value: object, rank: int, name: str = "dim") -> int:
    """An axis of a tensor, counted from the front; 0 for a tensor of rank 0."""
    return c.axis(read_int(c, value, name), max(rank, 1))


def read_axes(c: InferenceContext, values: object, rank: int, name: str = "dim") -> tuple[int, ...]:
    """Several distinct axes of a tensor, counted from the front."""
    return c.axes(read_ints(c, values, name), max(rank, 1))
