"""What an operator does with the items along an axis of its inputs: the axis rules, which edits of models read.

An axis rule is a function of an operator, next to its shape function and its cost rule:

    @onnx.axes("PatchMerge", domain="com.example")
    def patch_merge(c: CostContext, position: int, axis: int) -> AxisUse:
        return AxisUse.SEPARATE if (position, axis) == (0, 0) else AxisUse.MIXED

It covers only what shapes do not show: an axis that the operator sums over is not in its output, so that this needs no
rule. An operator without an axis rule may do anything.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapeinf.ops.cost import CostContext


class AxisUse(Enum):
    """The use of one axis of one input, or of one axis of an output whose size is the contents of an input."""

    SEPARATE = "separate"
    """An item of the output at the axis that has its size is computed from the item at the same index alone, and all
    items are computed alike. Where no axis of an output has its size, the items are combined."""
    ALIGNED = "aligned"
    """As SEPARATE, and the items of all inputs with this use belong together by index, even if their sizes differ."""
    MIXED = "mixed"
    """The items are combined, reordered, repeated, left out, or computed differently."""
    SPATIAL = "spatial"
    """Windows move over the axis, or it is resampled or reduced as the height and the width of images are."""


AxisRule = Callable[["CostContext", int, int], AxisUse]
"""The use of an axis (from 0) of the input at a position."""
