"""Costs of operators that work element by element: activations, reductions, normalizations, pooling, movement.

Functions with a `CostContext` are cost rules; the others return one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.ops import CostContext, CostRule, OpCost


def movement(c: CostContext) -> OpCost:
    """No operations: elements are copied, moved or converted."""
    return OpCost()


def shape_query(c: CostContext) -> OpCost:
    """No operations, and no element is read: only shapes are."""
    return OpCost(reads=())


def element_cost(operations: int = 1) -> CostRule:
    """`operations` for each element of the output."""

    def cost(c: CostContext) -> OpCost:
        return OpCost(operations=c.product(operations, *c.result))

    return cost


elementwise = element_cost()


def input_cost(operations: int = 1, index: int = 0) -> CostRule:
    """`operations` for each element of input `index`: reductions, searches, losses."""

    def cost(c: CostContext) -> OpCost:
        return OpCost(operations=c.product(operations, *c.input(index)))

    return cost


def operand_cost(c: CostContext) -> OpCost:
    """One operation for each output element and each operand after the first: sums and maxima of several tensors."""
    operands = sum(c.has_input(index) for index in range(len(c.types)))
    return OpCost(operations=c.product(max(operands - 1, 0), *c.result))


def mean_of_operands(c: CostContext) -> OpCost:
    """A sum of the operands, and one division for each element."""
    operands = sum(c.has_input(index) for index in range(len(c.types)))
    return OpCost(operations=c.product(operands if operands > 1 else 0, *c.result))


def gathering(table: int = 0) -> CostRule:
    """No operations; of input `table`, only as many elements are read as are returned: gathers and slices."""

    def cost(c: CostContext) -> OpCost:
        return OpCost(partial={table: c.elements(c.result)})

    return cost


def scattering(updates: int, reduces: Callable[[CostContext], bool]) -> CostRule:
    """One operation for each element of input `updates` where `reduces`: it is combined with the element it updates."""

    def cost(c: CostContext) -> OpCost:
        return OpCost(operations=c.elements(c.input(updates)) if reduces(c) else 0)

    return cost


def pooling(kernel: Callable[[CostContext], Sequence[DimSize]], operations: int = 1) -> CostRule:
    """`operations` for each element of each window."""

    def cost(c: CostContext) -> OpCost:
        return OpCost(operations=c.product(operations, *kernel(c), *c.result))

    return cost


def normalization(statistics: int = 5, scale: int | None = 1, shift: int | None = 2) -> CostRule:
    """`statistics` operations for each element of the first input, one more to scale it and one to shift it.

    The five of a mean and a variance are two sums, a difference, a square and a product. `scale` and `shift` are the
    positions of optional inputs, None for an operator without them.
    """

    def cost(c: CostContext) -> OpCost:
        affine = sum(index is not None and c.has_input(index) for index in (scale, shift))
        return OpCost(operations=c.product(statistics + affine, *c.input(0)))

    return cost


SOFTMAX = 5
"""Operations for each element of a softmax: the maximum, a difference, an exponential, a sum, a division."""

softmax = element_cost(SOFTMAX)


def interpolation(axes: Callable[[CostContext], int], taps: Callable[[CostContext], int]) -> CostRule:
    """Resampling along `axes` axes: `taps ** axes` multiply-accumulates for each element of the output, none for 1 tap.

    The number of axes must not depend on whether two sizes happen to be equal: a formula holds for all sizes.
    """

    def cost(c: CostContext) -> OpCost:
        count = taps(c)
        return OpCost(macs=0 if count < 2 else c.product(count ** axes(c), *c.result))

    return cost


_TAPS = {"linear": 2, "bilinear": 2, "trilinear": 2, "cubic": 4, "bicubic": 4}


def taps_of_mode(mode: str) -> int:
    """How many values along each axis an interpolation of this name weighs: one for `nearest` and its kin."""
    return _TAPS.get(mode, 1)


def spatial_axes(c: CostContext) -> int:
    """The number of axes of the output after batch and channels; both axes of a matrix."""
    rank = len(c.result)
    return rank - 2 if rank > 2 else rank


def interpolation_of_mode(default: str) -> CostRule:
    """Resampling along the spatial axes, by the attribute `mode`."""
    return interpolation(spatial_axes, lambda c: taps_of_mode(c.text("mode", default)))


def affine_grid(c: CostContext) -> OpCost:
    """The product of each point and a matrix [N, 2, 3] or [N, 3, 4]."""
    return OpCost(macs=c.product(*c.result, c.input(0)[2]))


def roi_align(c: CostContext) -> OpCost:
    """`sampling_ratio**2` samples for each element, each interpolated from four values."""
    ratio = c.integer("sampling_ratio")
    if ratio <= 0:
        raise NotKnown("the number of samples depends on the boxes: sampling_ratio is not positive")
    return OpCost(macs=c.product(4 * ratio * ratio, *c.result))


def exclusion(reason: str) -> CostRule:
    """No cost: the report lists the operator as not counted, for this reason."""

    def cost(c: CostContext) -> OpCost:
        raise NotKnown(reason)

    return cost


def body_choice(c: CostContext) -> OpCost:
    """The cost of one of the bodies: a branch."""
    return OpCost(bodies="one")
