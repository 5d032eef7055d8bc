"""Reductions (chapter 4.4) and what is made of them (4.9)."""

from __future__ import annotations

from opdefs.nnef.dialect import nnef
from opdefs.nnef.laws import Listed, axes_of, extended, int_of
from shapeinf.formats.nnef.versions import PROVISIONAL, TRACT
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def _named(c: InferenceContext, x: Shape, axes: Listed) -> tuple[Shape, tuple[int, ...]]:
    """The input and its axes; in the provisional dialect every input has the axes that are named."""
    if c.version == PROVISIONAL and axes:
        x = extended(c, x, 1 + max(int_of(c, axis, "an item of axes") for axis in axes))
    return x, axes_of(c, axes, len(x))


@nnef(
    *("sum_reduce", "max_reduce", "min_reduce", "mean_reduce"),
    *("argmax_reduce", "argmin_reduce", "any_reduce", "all_reduce"),
)
def reduce(c: InferenceContext, input: Shape, *, axes: Listed) -> Shape:
    """An extent of 1 along the axes."""
    x, gone = _named(c, input, axes)
    return Shape(1 if i in gone else d for i, d in enumerate(x))


@nnef("moments")
def moments(c: InferenceContext, input: Shape, *, axes: Listed) -> tuple[Shape, Shape]:
    """Mean and variance."""
    shape = reduce(c, input, axes=axes)
    return shape, shape


@nnef("softmax")
def softmax(c: InferenceContext, x: Shape, *, axes: Listed = (1,)) -> Shape:
    """The shape of the input, summed along the axes; tract lets pass axes that the input does not have."""
    return x if c.version == TRACT else _along(c, x, axes)


@nnef("l1_normalization", "l2_normalization", "layer_normalization")
def normalization(c: InferenceContext, input: Shape, *, axes: Listed) -> Shape:
    """The shape of the input, summed along the axes."""
    return _along(c, input, axes)


def _along(c: InferenceContext, x: Shape, axes: Listed) -> Shape:
    if x.dims is None:  # known only to have the axes
        return x
    return _named(c, x, axes)[0]
