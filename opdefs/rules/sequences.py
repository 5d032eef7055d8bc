"""Sequences of tensors: the join of all elements, the length, and each item where it is known."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.unknowns import cover_shape
from shapeinf.lattice import SequenceType, TensorType
from shapeinf.ops import InferenceContext

MAX_ITEMS = 64
"""Items of longer sequences are not tracked, only their join."""


def create_sequence(c: InferenceContext, items: Sequence[TensorType]) -> SequenceType:
    """The sequence of these tensors."""
    dtype = next((t.dtype for t in items if t.dtype is not None), None)
    element = TensorType(dtype, cover_shape(c, [t.shape for t in items]) if items else c.unknown_shape())
    return SequenceType(element, len(items), tuple(items) if len(items) <= MAX_ITEMS else None)
