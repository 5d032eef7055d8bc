"""Reductions (chapter 4.4) and normalizations (4.9)."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, read_front_axes
from opdefs.nnef.broadcasting import extend_rank
from opdefs.nnef.dialect import nnef
from opdefs.rules.numbers import read_int
from shapeinf.formats.nnef.versions import PROVISIONAL, TRACT
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def _extend_to_axes(c: InferenceContext, x: Shape, axes: Listed) -> tuple[Shape, tuple[int, ...]]:
    """The input and the axes; in the provisional dialect the input has implicit trailing axes of extent 1."""
    if c.version == PROVISIONAL and axes:
        x = extend_rank(c, x, 1 + max(read_int(c, axis, "an item of axes") for axis in axes))
    return x, read_front_axes(c, axes, len(x))


@nnef(
    *("sum_reduce", "max_reduce", "min_reduce", "mean_reduce"),
    *("argmax_reduce", "argmin_reduce", "any_reduce", "all_reduce"),
)
def reduce(c: InferenceContext, input: Shape, *, axes: Listed) -> Shape:
    """The extents of the axes become 1."""
    x, reduced = _extend_to_axes(c, input, axes)
    return Shape(1 if i in reduced else d for i, d in enumerate(x))


@nnef("moments")
def mean_and_variance(c: InferenceContext, input: Shape, *, axes: Listed) -> tuple[Shape, Shape]:
    """The mean and the variance, with an extent of 1 along the axes."""
    shape = reduce(c, input, axes=axes)
    return shape, shape


@nnef("softmax")
def softmax(c: InferenceContext, x: Shape, *, axes: Listed = (1,)) -> Shape:
    """[*S] -> [*S]; tract accepts axes that the input does not have."""
    return x if c.version == TRACT else _check_axes(c, x, axes)


@nnef("l1_normalization", "l2_normalization", "layer_normalization")
def normalization(c: InferenceContext, input: Shape, *, axes: Listed) -> Shape:
    """[*S] -> [*S]."""
    return _check_axes(c, input, axes)


def _check_axes(c: InferenceContext, x: Shape, axes: Listed) -> Shape:
    if x.dims is None:  # the axes cannot be checked
        return x
    return _extend_to_axes(c, x, axes)[0]
