"""Sizes that an input holds."""

from __future__ import annotations

from opdefs.rules.elements import as_dim
from shapeinf.expr import Dim
from shapeinf.ops import InferenceContext, Value


def length(c: InferenceContext, value: Value) -> Dim | None:
    """The size that the one element of an input says, None when it is not known."""
    known = as_dim(value.elements[0]) if value.elements else None
    return None if known is None or c.prove_le(0, known) is not True else known


def length_or_open(c: InferenceContext, value: Value, what: str) -> Dim:
    """The size that the one element of an input says, else an unknown."""
    known = length(c, value)
    return c.fresh(what) if known is None else known
