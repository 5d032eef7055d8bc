"""Reductions of groups of rows: segments with ids, counts of values, and updates that add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opdefs.rules.contents.elements import element_array, is_listable
from shapeinf.lattice import Element, PartialTensor, Shape

if TYPE_CHECKING:
    from collections.abc import Callable


def reduce_rows(
    data: PartialTensor,
    ids: Sequence[int],
    shape: Shape,
    fold: Callable[[Sequence[Element]], Element],
    empty: Element,
) -> PartialTensor:
    """[*N, *S] rows with ids [*N] -> [count, *S], the `shape`: the fold of the rows of each id; `empty` without any.

    Rows whose id is negative, or not less than the count, are dropped.
    """
    array = element_array(data)
    if array is None or not is_listable(shape):
        return PartialTensor(data.dtype, shape, None)
    count, *rest = (d for d in shape if isinstance(d, int))
    width = 1
    for d in rest:
        width *= d
    rows = array.reshape(len(ids), width).tolist() if ids else []
    elements: list[Element] = []
    for number in range(count):
        group = [row for row, at in zip(rows, ids, strict=True) if at == number]
        columns = zip(*group, strict=True) if group else [()] * width
        elements += [fold(column) if column else empty for column in columns]
    return PartialTensor(data.dtype, shape, elements)
