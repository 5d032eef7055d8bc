"""Reductions and running totals: their known contents, and shapes where the axes are unknown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import reduce as fold_left
from itertools import accumulate

from opdefs.rules.contents.constants import number_of
from opdefs.rules.contents.elements import (
    Elements,
    element_array,
    is_float,
    is_listable,
    logical_and,
    logical_or,
    to_dim,
    truncated_quotient,
)
from opdefs.rules.contents.float_intervals import float_ends, hull
from opdefs.rules.contents.floats import FloatArithmetic, arithmetic, float_operation
from opdefs.rules.contents.integers import wrap_element
from opdefs.rules.contents.numpy_functions import numpy_function
from opdefs.rules.contents.ordering import map_rows
from opdefs.rules.contents.products import addition, multiplication, sum_elements, sum_products
from opdefs.rules.contents.progressions import extremes, running_sum
from opdefs.rules.operands import is_unit, prove_unit
from opdefs.rules.unknowns import cover_dim
from shapeinf.expr import DimSize, maximum, minimum
from shapeinf.lattice import BroadcastAxes, Element, FloatInterval, PartialTensor, Progression, Shape
from shapeinf.ops import InferenceContext, Ints

Fold = Callable[[InferenceContext, str | None, Iterable[Element]], Element]


def reduced_shape(shape: Shape, axes: Collection[int], keep: bool) -> Shape:
    """The shape without these axes, or with 1 in their place with `keep`."""
    if keep:
        return Shape(1 if i in axes else d for i, d in enumerate(shape))
    return Shape(d for i, d in enumerate(shape) if i not in axes)


def reduce_unknown_axes(c: InferenceContext, shape: Shape, count: int | None, keep: bool) -> Shape:
    """The shape with `count` unknown axes reduced; a count of None is unknown.

    With `keep`, each size is its own or 1; without, each axis is one of at most `count` positions further back. Raises
    NotKnown where the rank of the result is unknown.
    """
    rank = len(shape)
    if keep:
        return Shape(1 if count == rank else _reduced_or_same(c, at, d) for at, d in enumerate(shape))
    if count is None:
        raise c.unknowable("neither the contents nor the length of `axes` are known")
    return Shape(cover_dim(c, shape[at : at + count + 1], f"reduce.{at}") for at in range(rank - count))


def reduce_broadcast_axes(c: InferenceContext, shape: Shape, axes: BroadcastAxes) -> Shape:
    """The broadcast shape with 1 along the repeated axes of an operand: the operand's shape, with leading ones."""
    if len(axes.sizes) != len(shape):
        return reduce_unknown_axes(c, shape, None, True)
    sizes = zip(shape, axes.sizes, axes.others, strict=True)
    return Shape(_sum_repeated_axis(c, at, *operands) for at, operands in enumerate(sizes))


def _sum_repeated_axis(
    c: InferenceContext, axis: int, result: DimSize, size: DimSize | None, other: DimSize | None
) -> DimSize:
    """A size of the broadcast of `size` and `other`, `result`, after the sum along the axis if `size` is repeated."""
    if size is not None:
        if prove_unit(c, size) is False or c.prove_eq(result, size) is True:
            return result
        if other is not None and c.prove_eq(result, c.broadcast_dim(size, other)) is True:
            return size
    return _reduced_or_same(c, axis, result)


def _reduced_or_same(c: InferenceContext, axis: int, size: DimSize) -> DimSize:
    """An unknown that is the size or 1. A symbolic size counts as at least 0, also where named dims are at least 1."""
    low = min(size, 1) if isinstance(size, int) else 0
    high = c.interval(size).hi
    return size if is_unit(size) else c.fresh(f"reduce.{axis}", low, None if high is None else max(high, 1))


def reduce_axes(
    c: InferenceContext, x: PartialTensor, axes: Ints | None, keep: bool, operation: str = ""
) -> PartialTensor:
    """The tensor reduced along axes (None: all), which become 1, or are removed without `keep`. Contents: see FOLDS."""
    rank = len(x.shape)
    gone = set(range(rank) if axes is None else c.axes(axes, rank))
    return reduce_elements(c, x, gone, reduced_shape(x.shape, gone, keep), operation)


def reduce_elements(
    c: InferenceContext, x: PartialTensor, axes: Collection[int], shape: Shape, operation: str
) -> PartialTensor:
    """The tensor reduced along axes, of `shape`; contents for the operations of FOLDS."""
    fold = FOLDS.get(operation)
    if fold is None or not is_listable(shape):
        return PartialTensor(x.dtype, shape, None)
    if x.shape.dims is not None and 0 in x.shape.dims:
        return _reduce_empty(x.dtype, shape, operation)
    array = element_array(x)
    if array is not None:
        return PartialTensor(x.dtype, shape, _fold(c, x.dtype, array, sorted(axes), fold))
    if isinstance(x, Progression) and len(axes) == len(x.shape):
        return PartialTensor(x.dtype, shape, [_extreme_of_progression(c, x, operation)])
    return PartialTensor(x.dtype, shape, None)


IDENTITIES: dict[str, Element] = {"Sum": 0, "Prod": 1, "All": True, "Any": False}
"""The reduction of no elements, by operation; the others have none."""


def _reduce_empty(dtype: str | None, shape: Shape, operation: str) -> PartialTensor:
    """The tensor that reduces empty groups of elements."""
    identity = IDENTITIES.get(operation)
    if identity is None:
        return PartialTensor(dtype, shape, None)
    count = 1
    for d in shape:
        count *= d if isinstance(d, int) else 0
    return PartialTensor(dtype, shape, [identity] * count)


def _extreme_of_progression(c: InferenceContext, x: Progression, operation: str) -> Element:
    low, high = extremes(c, x)
    ends = low if operation == "Min" else high if operation == "Max" else []
    return ends[0] if len(ends) == 1 else None


def _fold(c: InferenceContext, dtype: str | None, array: Elements, axes: list[int], fold: Fold) -> list[Element]:
    """The reduction of each group of elements, in row-major order of the result."""
    remaining = [i for i in range(array.ndim) if i not in axes]
    size = 1
    for axis in axes:
        size *= array.shape[axis]
    groups = array.transpose(remaining + axes).reshape(-1, size)
    return [fold(c, dtype, group) for group in groups.tolist()]


def _sum(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
    return sum_elements(c, dtype, list(group))


def _product(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
    if is_float(dtype):
        return sum_products(c, dtype, [list(group)])
    known = _known_elements(group)
    return None if known is None else wrap_element(c, dtype, c.numel(known))


def _mean(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
    """The sum divided by the number of elements; of integers, rounded towards zero."""
    elements = list(group)
    total = sum_elements(c, dtype, elements)
    if is_float(dtype):
        return _quotient(c, dtype, total, len(elements))
    known = to_dim(total)
    return None if known is None else truncated_quotient(c)(known, len(elements))


def mean_by_weight(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
    """The mean, where runtimes divide the sum by the number of elements or multiply it by the reciprocal."""
    elements = list(group)
    count = len(elements)
    mean = _mean(c, dtype, elements)
    if not count & (count - 1):
        return mean
    weight = _quotient(c, dtype, 1.0, count)
    ends = [float_ends(mean), float_ends(multiplication(c, dtype)(sum_elements(c, dtype, elements), weight))]
    known = [end for pair in ends if pair is not None for end in pair]
    return hull(known) if None not in ends else None


def _quotient(c: InferenceContext, dtype: str | None, total: Element, count: int) -> Element:
    """A float divided by a count."""
    divide = float_operation(c, dtype, numpy_function("divide"), FloatArithmetic.divide)
    return None if total is None else divide(total, float(count))


def _sum_of_squares(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
    return sum_products(c, dtype, [[e, e] for e in group])


def _euclidean_norm(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
    """The square root of the sum of squares of known floats."""
    floats, total = arithmetic(c, dtype), _sum_of_squares(c, dtype, group)
    return None if floats is None else floats.square_root(total)


def _log_of_sum(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
    """The logarithm of the sum of known floats."""
    floats = arithmetic(c, dtype)
    return None if floats is None else floats.approximate("log", sum_elements(c, dtype, list(group)))


def _sum_of_sizes(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
    """The sum of absolute values of elements of known sign."""
    return sum_elements(c, dtype, [_absolute(c, e) for e in group])


def _absolute(c: InferenceContext, element: Element) -> Element:
    if isinstance(element, FloatInterval):
        return hull([0.0] * (element.low < 0 < element.high) + [abs(element.low), abs(element.high)])
    if isinstance(element, (int, float)):
        return abs(element)
    known = to_dim(element)
    if known is None:
        return None
    return known if c.prove_le(0, known) is True else -known if c.prove_le(known, 0) is True else None


def _known_elements(group: Iterable[Element]) -> list[DimSize] | None:
    """The elements as dims; None unless all are known."""
    dims = [to_dim(e) for e in group]
    known = [d for d in dims if d is not None]
    return known if len(known) == len(dims) else None


def _extreme(pick_max: bool) -> Fold:
    def fold(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
        elements = list(group)
        if all(isinstance(e, (int, float)) and e == e for e in elements):  # NaN differs from itself
            return max(elements) if pick_max else min(elements)  # type: ignore[type-var]
        known = _known_elements(elements)
        if known is None:
            return None
        return maximum(*known) if pick_max else minimum(*known)

    return fold


def _connective(operation: Callable[[Element, Element], Element]) -> Fold:
    def fold(c: InferenceContext, dtype: str | None, group: Iterable[Element]) -> Element:
        return fold_left(operation, group)

    return fold


FOLDS: dict[str, Fold] = {
    "Sum": _sum,
    "Mean": _mean,
    "SumSquare": _sum_of_squares,
    "L1": _sum_of_sizes,
    "L2": _euclidean_norm,
    "EuclideanNorm": _euclidean_norm,
    "LogSum": _log_of_sum,
    "Prod": _product,
    "Max": _extreme(True),
    "Min": _extreme(False),
    "All": _connective(logical_and),
    "Any": _connective(logical_or),
}
"""By operation, the reduction of a group of elements to one. Contents of other reductions are unknown."""


def reduce_group(c: InferenceContext, dtype: str | None, operation: str, elements: Sequence[Element]) -> Element:
    """The reduction of some elements of a type by one of FOLDS."""
    return FOLDS[operation](c, dtype, elements)


def running_total(
    c: InferenceContext,
    x: PartialTensor,
    axis: int | None,
    *,
    exclusive: bool,
    reverse: bool,
    operation: str = "Sum",
) -> PartialTensor:
    """[*S] -> [*S]: the running sums or products (`Sum`, `Prod`) along an axis (None: unknown).

    Contents for listed elements, and sums for constant tensors.
    """
    if x.contents is None or axis is None:
        return PartialTensor(x.dtype, x.shape, None)
    if x.elements is None:
        total = running_sum(x, axis, exclusive, reverse) if operation == "Sum" else None
        return PartialTensor(x.dtype, x.shape, None) if total is None else total

    def totals(row: list[Element]) -> list[Element]:
        results = _running_totals(c, x.dtype, row[::-1] if reverse else row, operation, exclusive)
        return results[::-1] if reverse else results

    return PartialTensor(x.dtype, x.shape, map_rows(x, axis, totals, x.shape))


def _running_totals(
    c: InferenceContext, dtype: str | None, row: Sequence[Element], operation: str, exclusive: bool
) -> list[Element]:
    """The sum or product of the first elements, for each element; exclusive ones are those of the elements before."""
    start = number_of(dtype, 0 if operation == "Sum" else 1)
    if is_float(dtype):
        ends = [row[:end] for end in range(len(row) + 1)] if len(row) <= MAX_FLOATS else [()] * (len(row) + 1)
        results = [FOLDS[operation](c, dtype, part) if part else None for part in ends]
    else:
        step = addition(c, dtype) if operation == "Sum" else multiplication(c, dtype)
        results = list(accumulate(row, step, initial=start))
    return [start, *results[1:-1]][: len(row)] if exclusive else results[1:]


MAX_FLOATS = 64
"""The longest row of floats whose running totals are known; each of them is a sum of its own, which is not rounded."""
