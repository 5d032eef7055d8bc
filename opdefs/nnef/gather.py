"""Gathering and changes of the element type (chapter 4.5)."""

from __future__ import annotations

from opdefs.nnef.dialect import nnef
from opdefs.nnef.laws import axis_of
from opdefs.nnef.schemas import TYPE_ARGUMENT
from opdefs.rules.conversion import converted
from opdefs.rules.gathering import gather as gathered
from shapeinf.lattice import PartialTensor
from shapeinf.ops import InferenceContext, Value


@nnef("gather")
def gather(c: InferenceContext, input: Value, indices: Value, *, axis: int = 0) -> PartialTensor:
    """The axes of `indices` in place of one axis of the input."""
    return gathered(c, input, indices, axis=axis_of(c, axis, len(input.shape)))


@nnef("cast")
def cast(c: InferenceContext, input: Value) -> PartialTensor:
    """The shape of the input, in the type that is the argument of the invocation."""
    dtype = c.attributes.get(TYPE_ARGUMENT)
    if not isinstance(dtype, str):
        c.fail("a cast needs the type that it casts to")
    return converted(c, input, dtype)
