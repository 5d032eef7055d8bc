"""Distinct elements: of a vector or of the slices along an axis, with their positions and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from opdefs.rules.contents.elements import element_array
from opdefs.rules.contents.ordering import MAX_COMPARED, is_equal, sorted_positions
from shapeinf.lattice import Element, PartialTensor
from shapeinf.ops import InferenceContext


class Distinct(NamedTuple):
    """The distinct items of a list."""

    first: list[int]
    """The position of the first occurrence of each distinct item."""
    inverse: list[int]
    """For each item the position of its equal among the distinct ones."""
    counts: list[int]
    """The number of occurrences of each distinct item."""

    def reorder(self, order: Sequence[int]) -> Distinct:
        """The distinct items in another order."""
        position = {old: new for new, old in enumerate(order)}
        inverse = [position[i] for i in self.inverse]
        return Distinct([self.first[i] for i in order], inverse, [self.counts[i] for i in order])


def distinct_items(c: InferenceContext, items: Sequence[Sequence[Element]]) -> Distinct | None:
    """The distinct items in the order of their first occurrence; None where the equality of two is undecided."""
    if all(is_plain(e) for item in items for e in item):
        position: dict[tuple[Element, ...], int] = {}
        inverse = [position.setdefault(tuple(item), len(position)) for item in items]
    else:
        known = _compare_items(c, items)
        if known is None:
            return None
        inverse = known
    count = max(inverse, default=-1) + 1
    return Distinct([inverse.index(i) for i in range(count)], inverse, [inverse.count(i) for i in range(count)])


def _compare_items(c: InferenceContext, items: Sequence[Sequence[Element]]) -> list[int] | None:
    """For each item the number of its equal, by comparison with all distinct ones before it."""
    if len(items) > MAX_COMPARED:
        return None
    distinct: list[Sequence[Element]] = []
    inverse: list[int] = []
    for item in items:
        verdicts = [_are_equal(c, item, other) for other in distinct]
        if None in verdicts or _are_equal(c, item, item) is not True:
            return None
        inverse.append(verdicts.index(True) if True in verdicts else len(distinct))
        if True not in verdicts:
            distinct.append(item)
    return inverse


def _are_equal(c: InferenceContext, a: Sequence[Element], b: Sequence[Element]) -> bool | None:
    verdicts = [is_equal(c, x, y) for x, y in zip(a, b, strict=True)]
    return False if False in verdicts else None if None in verdicts else True


def distinct_slices(c: InferenceContext, x: PartialTensor, axis: int | None, *, ordered: bool) -> Distinct | None:
    """The distinct slices along an axis, of the flattened tensor without one; None where they are undecided.

    They are in lexicographic order, or else in the order of their first occurrence.
    """
    array = element_array(x)
    if array is None or (array.ndim == 0 and axis is not None):
        return None
    import numpy as np

    rows = array.reshape(-1, 1) if axis is None else np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)
    items = rows.tolist()
    result = distinct_items(c, items)
    if result is None or not ordered:
        return result
    order = _lexicographic_order(c, [items[i] for i in result.first])
    return None if order is None else result.reorder(order)


def _lexicographic_order(c: InferenceContext, items: Sequence[Sequence[Element]]) -> list[int] | None:
    """The positions of distinct items in lexicographic order; of symbolic ones, only of single elements."""
    if items and len(items[0]) == 1:
        return sorted_positions(c, [item[0] for item in items], largest=False)
    plain = all(isinstance(e, (int, float)) for item in items for e in item)
    return sorted(range(len(items)), key=lambda i: tuple(items[i])) if plain else None


def difference(c: InferenceContext, x: PartialTensor, y: PartialTensor) -> list[int] | None:
    """The positions of the elements of a vector that are in no other one; None where that is undecided."""
    if x.elements is None or y.elements is None:
        return None
    if len(x.elements) * len(y.elements) > MAX_COMPARED**2 and not all(is_plain(e) for e in (*x.elements, *y.elements)):
        return None
    removed = {e for e in y.elements if is_plain(e)}
    symbolic = [e for e in y.elements if not is_plain(e)]
    remaining = []
    for position, element in enumerate(x.elements):
        others = symbolic if is_plain(element) else y.elements
        verdicts = [is_equal(c, element, other) for other in others]
        if is_plain(element):
            verdicts.append(element in removed)
        if True not in verdicts and None in verdicts:
            return None
        if True not in verdicts:
            remaining.append(position)
    return remaining


def is_plain(element: Element) -> bool:
    """Whether an element is a number other than NaN, or a string."""
    return isinstance(element, (int, float, str)) and element == element
