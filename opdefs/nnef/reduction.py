"""Reductions (chapter 4.4) and normalizations (4.9)."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, read_front_axes
from opdefs.nnef.broadcasting import extend_rank
from opdefs.nnef.dialect import nnef
from opdefs.rules.contents.ordering import extreme_positions
from opdefs.rules.numbers import read_int
from opdefs.rules.reduction import reduce_elements, reduced_shape
from shapeinf.formats.nnef.versions import PROVISIONAL, TRACT
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


def _extend_to_axes(c: InferenceContext, x: Shape, axes: Listed) -> tuple[Shape, tuple[int, ...]]:
    """The input and the axes; in the provisional dialect the input has implicit trailing axes of extent 1."""
    if c.version == PROVISIONAL and axes:
        x = extend_rank(c, x, 1 + max(read_int(c, axis, "an item of axes") for axis in axes))
    return x, read_front_axes(c, axes, len(x))


@nnef("sum_reduce", "max_reduce", "min_reduce", "mean_reduce", "any_reduce", "all_reduce")
def reduce(c: InferenceContext, input: Value, *, axes: Listed) -> PartialTensor:
    """The extents of the axes become 1."""
    x, reduced = _extend_to_axes(c, input.shape, axes)
    shape = reduced_shape(x, set(reduced), True)
    if input.elements is None or len(x) != len(input.shape) or not reduced:
        return PartialTensor(input.dtype, shape, None)
    return reduce_elements(c, input, set(reduced), shape, c.op_def.name.removesuffix("_reduce").title())


@nnef("argmax_reduce", "argmin_reduce")
def index_of_extreme(c: InferenceContext, input: Value, *, axes: Listed) -> PartialTensor:
    """The extents of the axes become 1; contents for a single axis."""
    x, reduced = _extend_to_axes(c, input.shape, axes)
    shape = reduced_shape(x, set(reduced), True)
    if input.elements is None or len(x) != len(input.shape) or len(set(reduced)) != 1:
        return PartialTensor(None, shape, None)
    largest = c.op_def.name.startswith("argmax")
    return PartialTensor(None, shape, extreme_positions(c, input, reduced[0], shape, largest=largest))


@nnef("moments")
def mean_and_variance(c: InferenceContext, input: Shape, *, axes: Listed) -> tuple[Shape, Shape]:
    """The mean and the variance, with an extent of 1 along the axes."""
    x, reduced = _extend_to_axes(c, input, axes)
    shape = reduced_shape(x, set(reduced), True)
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
