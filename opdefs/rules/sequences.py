"""Sequences of tensors and other values: the join of all items, the length, and the type of each item."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.unknowns import cover_shape
from shapeinf.lattice import MAX_TYPE_DEPTH, SequenceType, TensorType, Type
from shapeinf.ops import InferenceContext

MAX_ITEMS = 64
"""Of longer sequences, only the join of the items is tracked."""

MAX_NESTED = 1 << 10
"""The most values in all tuples inside a tuple that are tracked."""


def create_sequence(c: InferenceContext, items: Sequence[TensorType]) -> SequenceType:
    """The sequence of these tensors."""
    return SequenceType(_join(c, items), len(items), tuple(items) if len(items) <= MAX_ITEMS else None)


def create_tuple(c: InferenceContext, items: Sequence[Type]) -> SequenceType:
    """The tuple of these values, which may be tuples themselves."""
    tensors = [item for item in items if isinstance(item, TensorType)]
    alike = len(tensors) == len(items) and len({item.dtype for item in tensors}) <= 1
    element = _join(c, tensors) if alike else TensorType(None, c.unknown_shape())
    return SequenceType(element, len(items), tracked_items(items))


def tracked_items(items: Sequence[Type]) -> tuple[Type, ...] | None:
    """The items of a tuple; None where the tuples among them are too large or too deep: they may share values.

    Tensors are always tracked: each is an input of the node.
    """
    nested = [item for item in items if isinstance(item, SequenceType)]
    small = sum(item.total for item in nested) <= MAX_NESTED and all(item.depth < MAX_TYPE_DEPTH for item in nested)
    return tuple(items) if small else None


def _join(c: InferenceContext, items: Sequence[TensorType]) -> TensorType:
    dtype = next((item.dtype for item in items if item.dtype is not None), None)
    return TensorType(dtype, cover_shape(c, [item.shape for item in items]) if items else c.unknown_shape())
