"""Elements in order: comparisons, the largest elements of a row, positions of extremes and of sorted insertions.

Elements may be symbolic. A result is None where a comparison on which it depends is undecided, or an element is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key

from opdefs.rules.contents.conditions import indicator
from opdefs.rules.contents.elements import element_array, is_listable, to_dim
from opdefs.rules.contents.float_intervals import float_ends
from shapeinf.expr import DimSize, maximum, minimum
from shapeinf.lattice import Element, FloatInterval, PartialTensor, Shape
from shapeinf.ops import InferenceContext

MAX_COMPARED = 64
"""The most elements of a row with symbolic elements that are brought into order."""


def is_at_most(c: InferenceContext, a: Element, b: Element) -> bool | None:
    """Whether `a <= b`, for numbers, dims, or two strings; None where it is undecided."""
    if isinstance(a, str) and isinstance(b, str):
        return a.encode() <= b.encode()  # runtimes compare bytes
    if type(a) is int and type(b) is int:
        return a <= b
    first, second = float_ends(a), float_ends(b)
    if first is not None and second is not None:
        return True if first[1] <= second[0] else False if first[0] > second[1] else None  # undecided for NaN
    left, right = to_dim(a), to_dim(b)
    return None if left is None or right is None else c.prove_le(left, right)


def is_equal(c: InferenceContext, a: Element, b: Element) -> bool | None:
    """Whether `a == b`, for numbers, dims, or two strings; None where it is undecided."""
    if isinstance(a, str) and isinstance(b, str):
        return a == b
    if isinstance(a, FloatInterval) or isinstance(b, FloatInterval):
        return False if is_at_most(c, a, b) is False or is_at_most(c, b, a) is False else None
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b if a == a and b == b else None
    left, right = to_dim(a), to_dim(b)
    return None if left is None or right is None else c.prove_eq(left, right)


class _Undecided(Exception):  # noqa: N818
    """A comparison is undecided. Internal: caught in `opdefs.rules.contents.ordering`."""


def sorted_positions(c: InferenceContext, row: Sequence[Element], *, largest: bool) -> list[int] | None:
    """The positions of the elements in order, the largest or the smallest first; of equal ones, the first one first.

    None where that is undecided.
    """
    if all(isinstance(e, (int, float)) and e == e for e in row):
        sign = -1 if largest else 1
        return sorted(range(len(row)), key=lambda i: sign * row[i])  # type: ignore[operator, arg-type, return-value]
    if len(row) > MAX_COMPARED:
        return None

    def compare(i: int, j: int) -> int:
        first, second = min(i, j), max(i, j)
        pair = (row[second], row[first]) if largest else (row[first], row[second])
        keeps = is_at_most(c, *pair)
        if keeps is None:
            raise _Undecided
        return -1 if keeps == (i == first) else 1

    try:
        return sorted(range(len(row)), key=cmp_to_key(compare))
    except _Undecided:
        return None


def _undecided_extremes(row: Sequence[Element], count: int, largest: bool) -> list[Element] | None:
    """The largest or smallest elements in order, as maxima and minima of dims; None for longer rows and others."""
    dims = [d for d in map(to_dim, row) if d is not None]
    if not row or len(dims) < len(row) or len(row) > (MAX_TERMS if count == 1 else MAX_SORTED):
        return None
    upper, lower = (maximum, minimum) if largest else (minimum, maximum)
    if count == 1:
        return [upper(*dims)]
    for end in range(len(dims) - 1, 0, -1):  # after each round, the last element of the rest is in its place
        for i in range(end):
            dims[i], dims[i + 1] = upper(dims[i], dims[i + 1]), lower(dims[i], dims[i + 1])
    return list(dims[:count])


MAX_TERMS = 8
"""The most undecided elements of which the maximum is an expression."""

MAX_SORTED = 3
"""The most undecided elements that are brought into order as expressions."""


def _undecided_position(c: InferenceContext, row: Sequence[Element], largest: bool, last: bool) -> Element:
    """The position of an extreme that is undecided: an expression of two dims, else an unknown inside the row."""
    dims = [d for d in map(to_dim, row) if d is not None]
    if not row or len(dims) < len(row):
        return None
    if len(dims) != 2:
        return c.fresh("position", 0, len(dims) - 1)
    ahead = dims[1] - dims[0] if largest else dims[0] - dims[1]
    return indicator(ahead if last else ahead - 1)


def extreme_position(c: InferenceContext, row: Sequence[Element], *, largest: bool, last: bool = False) -> int | None:
    """The position of the largest or the smallest element: of several, the first or the last one."""
    if not row:
        return None
    order = range(len(row) - 1, -1, -1) if last else range(len(row))
    best = order[0]
    if is_at_most(c, row[best], row[best]) is None:
        return None
    for i in order[1:]:
        keeps = is_at_most(c, row[i], row[best]) if largest else is_at_most(c, row[best], row[i])
        if keeps is None:
            return None
        best = best if keeps else i
    return best


def extreme_element(c: InferenceContext, row: Sequence[Element], *, largest: bool) -> Element:
    """The largest or the smallest element, as a maximum or minimum of dims where it is undecided."""
    position = extreme_position(c, row, largest=largest)
    if position is not None:
        return row[position]
    undecided = _undecided_extremes(row, 1, largest)
    return None if undecided is None else undecided[0]


def map_rows(
    x: PartialTensor, axis: int, operation: Callable[[list[Element]], Sequence[Element] | None], shape: Shape
) -> list[Element] | None:
    """An operation on the elements along an axis, for each position of the other axes: the elements of `shape`.

    `shape` differs from that of `x` along the axis only, and may lack it. The elements are None where the contents are
    unknown or too many; where the operation returns None, single elements are.
    """
    array = element_array(x)
    if array is None or not is_listable(shape):
        return None
    import numpy as np

    if array.ndim == 0:
        return list(operation(array.reshape(-1).tolist()) or [None])
    moved = np.moveaxis(array, axis, -1)
    lead = moved.shape[:-1]
    size = 1 if len(shape) < array.ndim else int(shape[axis])
    results = np.empty((*lead, size), dtype=object)
    for at in np.ndindex(*lead):
        computed = operation(moved[at].tolist())
        results[at] = [None] * size if computed is None else list(computed)
    if len(shape) == array.ndim:
        results = np.moveaxis(results, -1, axis)
    return results.reshape(-1).tolist()


def top_elements(
    c: InferenceContext, x: PartialTensor, axis: int, shape: Shape, *, largest: bool = True
) -> tuple[list[Element] | None, list[Element] | None]:
    """The elements and their positions of the largest or smallest of an axis in order: as many as `shape` has."""
    if x.elements is None or not is_listable(shape):
        return None, None
    count = shape[axis]
    assert isinstance(count, int)

    def positions(row: list[Element]) -> Sequence[Element] | None:
        order = sorted_positions(c, row, largest=largest)
        if order is None and count == 1:
            return [_undecided_position(c, row, largest, last=False)]
        return None if order is None else order[:count]

    def values(row: list[Element]) -> Sequence[Element] | None:
        order = sorted_positions(c, row, largest=largest)
        return _undecided_extremes(row, count, largest) if order is None else [row[i] for i in order[:count]]

    return map_rows(x, axis, values, shape), map_rows(x, axis, positions, shape)


def extreme_positions(
    c: InferenceContext, x: PartialTensor, axis: int, shape: Shape, *, largest: bool, last: bool = False
) -> list[Element] | None:
    """The position of the largest or smallest element along an axis, as the elements of `shape`."""

    def position(row: list[Element]) -> Sequence[Element]:
        known = extreme_position(c, row, largest=largest, last=last)
        return [_undecided_position(c, row, largest, last) if known is None else known]

    return map_rows(x, axis, position, shape)


def insertion_position(
    c: InferenceContext, ordered: Sequence[Element], element: Element, *, after_equal: bool
) -> Element:
    """The number of elements of an ordered row that are less than an element, or also of those that equal it."""
    position: DimSize = 0
    for other in ordered:
        before = is_at_most(c, other, element) if after_equal else _is_less(c, other, element)
        if before is None:
            first, second = to_dim(other), to_dim(element)
            if first is None or second is None or len(ordered) > MAX_TERMS:
                return None
            position = position + indicator(second - first if after_equal else second - first - 1)
        elif before:
            position = position + 1
        else:
            break
    return position


def _is_less(c: InferenceContext, a: Element, b: Element) -> bool | None:
    reverse = is_at_most(c, b, a)
    return None if reverse is None else not reverse
