"""Costs of operators that work element by element: activations, reductions, normalisations, pooling, movement."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shapeinf.errors import NotKnown
from shapeinf.expr import Dim
from shapeinf.ops import CostContext, CostRule, OpCost


def moves(c: CostContext) -> OpCost:
    """No operation: elements are copied, placed or converted."""
    return OpCost()


def reads_no_elements(c: CostContext) -> OpCost:
    """No operation, and no element read: shapes and sizes."""
    return OpCost(reads=())


def per_element(operations: int = 1) -> CostRule:
    """So many operations for each element of the output."""

    def cost(c: CostContext) -> OpCost:
        return OpCost(operations=c.product(operations, *c.result))

    return cost


elementwise = per_element()


def per_input_element(operations: int = 1, index: int = 0) -> CostRule:
    """So many operations for each element of an input: reductions, searches, losses."""

    def cost(c: CostContext) -> OpCost:
        return OpCost(operations=c.product(operations, *c.input(index)))

    return cost


def per_operand(c: CostContext) -> OpCost:
    """One operation for each element of the output and each operand after the first: sums and maxima of several."""
    operands = sum(c.has_input(index) for index in range(len(c.types)))
    return OpCost(operations=c.product(max(operands - 1, 0), *c.result))


def mean_of_operands(c: CostContext) -> OpCost:
    """As a sum of the operands, and one division for each element."""
    operands = sum(c.has_input(index) for index in range(len(c.types)))
    return OpCost(operations=c.product(operands if operands > 1 else 0, *c.result))


def gathers(table: int = 0) -> CostRule:
    """No operation; of the table only as many elements are read as are returned: gathers and slices."""

    def cost(c: CostContext) -> OpCost:
        return OpCost(partial={table: c.elements(c.result)})

    return cost


def combines_updates(updates: int, reduces: Callable[[CostContext], bool]) -> CostRule:
    """A scatter: one operation for each update that is combined with an element."""

    def cost(c: CostContext) -> OpCost:
        return OpCost(operations=c.elements(c.input(updates)) if reduces(c) else 0)

    return cost


def pools(kernel: Callable[[CostContext], Sequence[Dim]], operations: int = 1) -> CostRule:
    """So many operations for each element of each window."""

    def cost(c: CostContext) -> OpCost:
        return OpCost(operations=c.product(operations, *kernel(c), *c.result))

    return cost


def normalizes(statistics: int = 5, scale: int | None = 1, shift: int | None = 2) -> CostRule:
    """So many operations for each element of the first input, one more to scale it and one to shift it.

    Five are those of a mean and a variance: two sums, a difference, a square, a product. `scale` and `shift` are the
    positions of the inputs that do so, None for none.
    """

    def cost(c: CostContext) -> OpCost:
        affine = sum(index is not None and c.has_input(index) for index in (scale, shift))
        return OpCost(operations=c.product(statistics + affine, *c.input(0)))

    return cost


SOFTMAX = 5
"""Operations an element of a softmax: the maximum, a difference, an exponential, a sum, a division."""

softmax = per_element(SOFTMAX)


def interpolates(axes: Callable[[CostContext], int], taps: Callable[[CostContext], int]) -> CostRule:
    """Resampling: `taps` multiply-accumulates along each of so many axes, all combinations of them for each element.

    One tap is a copy. The number of axes must not depend on whether two sizes happen to be equal: a formula holds for
    all sizes.
    """

    def cost(c: CostContext) -> OpCost:
        count = taps(c)
        return OpCost(macs=0 if count < 2 else c.product(count ** axes(c), *c.result))

    return cost


def spatial_axes(c: CostContext) -> int:
    """The number of axes behind the batch and the channels; of a matrix both."""
    rank = len(c.result)
    return rank - 2 if rank > 2 else rank


def not_counted(reason: str) -> CostRule:
    """An operator that is always listed as not counted, for this reason."""

    def cost(c: CostContext) -> OpCost:
        raise NotKnown(reason)

    return cost


def chooses_body(c: CostContext) -> OpCost:
    """A choice between bodies."""
    return OpCost(bodies="one")
