"""What an operator does with the items along an axis of its inputs: the axis rules, which edits of models read.

An axis rule is a function of an operator, next to its shape function and its cost rule:

    @onnx.axes("PatchMerge", domain="com.example")
    def patch_merge(c: AxisContext, position: int, axis: int) -> AxisUse:
        return AxisUse.SEPARATE if (position, axis) == (0, 0) else AxisUse.MIXED

It covers only what shapes do not show: an axis that the operator sums over is not in its output, so that this needs no
rule. An operator without an axis rule may do anything.

Some graphs number their items (a range of as many elements as there are items), compute positions from the numbers, and
select by these the own item. A position rule is a third function of an operator: the positions in its output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

import attrs

from shapeinf.expr import Dimension, DimSize, substitute
from shapeinf.lattice import BoundedTensor, Progression, TensorType, Type
from shapeinf.ops.cost import CostContext


class AxisUse(Enum):
    """The use of one axis of one input, or of one axis of an output whose size is the contents of an input."""

    SEPARATE = "separate"
    """An item of the output at the axis that has its size is computed from the item at the same index alone, and all
    items are computed alike. Where no axis of an output has its size, the items are combined. The axis of a sequence of
    maps is its length."""
    ALIGNED = "aligned"
    """As SEPARATE, and the items of all inputs with this use belong together by index, even if their sizes differ."""
    MIXED = "mixed"
    """The items are combined, reordered, repeated, omitted, or computed differently."""
    SPATIAL = "spatial"
    """Windows move over the axis, or it is resampled or reduced as the height and the width of images are."""
    MATCHED = "matched"
    """As SEPARATE, but the axis is not one of the output: positions match its items with those of another input."""


@attrs.frozen
class Positions:
    """Integers of a tensor with items: those of item `i` are from `step*i + low` to `step*i + high`.

    `step` is None where they depend on `i` in an unknown way; `low` and `high` are None where they are not known.
    """

    step: DimSize | None
    low: DimSize | None = None
    high: DimSize | None = None


Columns = tuple[Positions, ...]
"""The positions in a tensor; several where they differ along the last axis: one for each of its indices."""

UNKNOWN_POSITIONS: Columns = (Positions(None),)
ITEM_DATA: Columns = (Positions(0),)
"""Any numbers that do not depend on the index of their item."""


class AxisContext(CostContext):
    """One call of an operator, of whose inputs and outputs some have an axis of items."""

    def __init__(
        self, *args: Any, number: Dimension, axes: Mapping[int, Sequence[int]], positions: Mapping[int, Columns]
    ) -> None:
        """The number of items, their axes by position of the input, and the positions in inputs; see CostContext."""
        super().__init__(*args)
        self.number = number
        self.item_axes = axes
        self._positions = positions

    def positions(self, index: int) -> Columns:
        """The positions in an input."""
        known = self._positions.get(index)
        return (contents_positions(self.types[index], self.number),) if known is None else known

    def selects_own_item(self, positions: Positions, data: int, axis: int) -> bool:
        """Whether the element at these positions along an axis of the input `data` always belongs to the own item."""
        size = self.input(data)[axis]
        length = substitute(size, {self.number: 1})
        low, high = positions.low, positions.high
        if axis not in self.item_axes.get(data, ()) or positions.step is None or low is None or high is None:
            return False
        equal, canon = self.store.prove_eq, self.store.canon
        return (
            canon(length * self.number) == canon(size)
            and equal(positions.step, length) is True
            and self.store.prove_le(0, low) is True
            and self.store.prove_le(high + 1, length) is True
        )


def contents_positions(type_: Type | None, number: Dimension, axis: int | None = None) -> Positions:
    """The positions that the known contents of a tensor are; `axis` is the one of its items, whose number is `number`.

    Bounds are those of a tensor with elements.
    """
    if isinstance(type_, Progression):
        return _evenly_spaced(type_, number, axis)
    if isinstance(type_, BoundedTensor):
        return Positions(0, type_.least, type_.most)
    elements = (isinstance(type_, TensorType) and type_.elements) or ()
    integers = [e for e in elements if type(e) is int]
    if integers and len(integers) == len(elements):
        return Positions(0, min(integers), max(integers))
    single = elements[0] if len(elements) == 1 else None
    return Positions(0, single, single) if isinstance(single, Dimension) else Positions(0)


def _evenly_spaced(type_: Progression, number: Dimension, axis: int | None) -> Positions:
    """The positions that an evenly spaced tensor has along the axis of items, and the span of the others."""
    step: DimSize = 0
    low = high = type_.base
    for k, (size, own) in enumerate(zip(type_.shape, type_.steps, strict=True)):
        if k == axis:
            size = substitute(size, {number: 1})  # of one item
            step = own * size
        last = own * (size - 1)
        low, high = (low, high + last) if own > 0 else (low + last, high)
    depends = any(isinstance(d, Dimension) and number in d.symbols() for d in (low, high))
    return Positions(None) if depends else Positions(step, low, high)


AxisRule = Callable[[AxisContext, int, int], AxisUse]
"""The use of an axis (from 0) of the input at a position."""

PositionRule = Callable[[AxisContext], Columns]
"""The positions in the first output, where some input has such."""
