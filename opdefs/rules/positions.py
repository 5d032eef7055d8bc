"""Position rules that operators of several dialects share: see `shapeinf.ops.axes`.

Positions are computed from the numbers of items and select, in the end, elements of the own item. What a rule does not
know depends on the number of the item in an unknown way.
"""

from __future__ import annotations

from collections.abc import Callable

from opdefs.rules.axis_uses import AxesOf, rank_of
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.lattice import TensorType
from shapeinf.ops.axes import (
    ITEM_DATA,
    UNKNOWN_POSITIONS,
    AxisContext,
    AxisRule,
    AxisUse,
    Columns,
    PositionRule,
    Positions,
)

SUBSCRIPT_TYPES = ("int32", "int64")
"""The element types of indices."""


def convert(c: AxisContext) -> Columns:
    """The elements of the first input, in a type that has them all."""
    output = c.output_types[0]
    is_integer = isinstance(output, TensorType) and output.dtype in SUBSCRIPT_TYPES
    return c.positions(0) if is_integer else UNKNOWN_POSITIONS


def move(c: AxisContext) -> Columns:
    """The elements of the first input, at other indices in the same item."""
    positions = c.positions(0)
    return positions if len(positions) == 1 else UNKNOWN_POSITIONS


def _elementwise(operation: Callable[[AxisContext, Positions, Positions], Positions]) -> PositionRule:
    """The rule of an operation on two integers."""

    def rule(c: AxisContext) -> Columns:
        first, second = c.positions(0), c.positions(1)
        if len(first) > 1 or len(second) > 1 or None in (first[0].step, second[0].step):
            return UNKNOWN_POSITIONS
        return (operation(c, first[0], second[0]),)

    return rule


def _sum(a: DimSize | None, b: DimSize | None) -> DimSize | None:
    return None if a is None or b is None else a + b


def _product(a: DimSize | None, factor: DimSize) -> DimSize | None:
    return None if a is None else a * factor


def _add(c: AxisContext, a: Positions, b: Positions) -> Positions:
    return Positions(_sum(a.step, b.step), _sum(a.low, b.low), _sum(a.high, b.high))


def _subtract(c: AxisContext, a: Positions, b: Positions) -> Positions:
    return _add(c, a, Positions(_product(b.step, -1), _product(b.high, -1), _product(b.low, -1)))


def _multiply(c: AxisContext, a: Positions, b: Positions) -> Positions:
    """By a known number that is not negative."""
    for value, factor in ((a, b), (b, a)):
        number = factor.low
        if factor.step == 0 and number is not None and number == factor.high and c.store.prove_le(0, number) is True:
            return Positions(_product(value.step, number), _product(value.low, number), _product(value.high, number))
    return Positions(None)


add, subtract, multiply = map(_elementwise, (_add, _subtract, _multiply))


def _single_axis(axes: AxesOf, c: AxisContext, rank: int) -> int | None:
    """The only axis of a list, counted from the front; None where it is not known."""
    listed = list(axes(c) or ())
    return listed[0] % rank if len(listed) == 1 and rank else None


def join(tensors: Callable[[AxisContext], range], axes: AxesOf) -> PositionRule:
    """Tensors that are joined along the last axis: columns of positions; `tensors` has their positions as inputs."""

    def rule(c: AxisContext) -> Columns:
        columns: list[Positions] = []
        for index in tensors(c):
            shape, own = c.input(index), c.positions(index)
            length = shape[-1] if shape.dims else None
            if not isinstance(length, int) or _single_axis(axes, c, len(shape)) != len(shape) - 1:
                return UNKNOWN_POSITIONS
            if len(own) not in (1, length):
                return UNKNOWN_POSITIONS
            columns += own * length if len(own) == 1 else own
        return tuple(columns)

    return rule


def choose(condition: int, *branches: int) -> PositionRule:
    """The elements of several inputs, by a condition that does not depend on the number of the item."""

    def rule(c: AxisContext) -> Columns:
        columns = [c.positions(i) for i in branches]
        if c.positions(condition)[0].step != 0 or any(len(own) > 1 for own in columns):
            return UNKNOWN_POSITIONS
        first, *others = [own for (own,) in columns]
        for other in others:
            if first.step is None or other.step is None or c.store.prove_eq(first.step, other.step) is not True:
                return UNKNOWN_POSITIONS
            first = Positions(first.step, _least(c, first.low, other.low), _greatest(c, first.high, other.high))
        return (first,)

    return rule


def _least(c: AxisContext, a: DimSize | None, b: DimSize | None) -> DimSize | None:
    if a is None or b is None:
        return None
    return a if c.store.prove_le(a, b) is True else b if c.store.prove_le(b, a) is True else None


def _greatest(c: AxisContext, a: DimSize | None, b: DimSize | None) -> DimSize | None:
    if a is None or b is None:
        return None
    return b if c.store.prove_le(a, b) is True else a if c.store.prove_le(b, a) is True else None


# -- selection ---------------------------------------------------------------------------------------------------------


def _is_data(c: AxisContext, position: int) -> bool:
    return all(own.step == 0 for own in c.positions(position))


def select(matches: Callable[[AxisContext], bool], data: int, indices: int) -> PositionRule:
    """What indices select: data of the own item, where they do not depend on its number or match it."""

    def rule(c: AxisContext) -> Columns:
        if not _is_data(c, data):
            return UNKNOWN_POSITIONS
        return ITEM_DATA if _is_data(c, indices) or matches(c) else UNKNOWN_POSITIONS

    return rule


def matches_along(axes: AxesOf, data: int = 0, indices: int = 1) -> Callable[[AxisContext], bool]:
    """Whether the indices into one axis of the data always select the own item."""

    def matches(c: AxisContext) -> bool:
        try:
            axis, positions = _single_axis(axes, c, rank_of(c, data)), c.positions(indices)
        except NotKnown:
            return False
        return axis is not None and len(positions) == 1 and c.selects_own_item(positions[0], data, axis)

    return matches


def matches_columns(batch_dims: Callable[[AxisContext], object] = lambda c: 0) -> Callable[[AxisContext], bool]:
    """Whether the rows of the second input, indices into leading axes of the first, always select the own item."""

    def matches(c: AxisContext) -> bool:
        before, items, indices, positions = batch_dims(c), c.item_axes.get(0, ()), c.input(1), c.positions(1)
        count = indices[-1] if indices.dims else 0
        if before != 0 or len(items) != 1 or not isinstance(count, int) or count <= items[0]:
            return False
        positions = positions * count if len(positions) == 1 else positions
        others = [own for column, own in enumerate(positions) if column != items[0]]
        return c.selects_own_item(positions[items[0]], 0, items[0]) and all(own.step == 0 for own in others)

    return matches


def match_lookup(rule: AxisRule, matches: Callable[[AxisContext], bool]) -> AxisRule:
    """The axis rule of a lookup: where the indices match the items of the data, their axis is that of the output."""

    def lookup(c: AxisContext, position: int, axis: int) -> AxisUse:
        return AxisUse.MATCHED if position == 0 and matches(c) else rule(c, position, axis)

    return lookup


def match_updates(rule: AxisRule, matches: Callable[[AxisContext], bool]) -> AxisRule:
    """The axis rule of an update of rows: where the indices match the items of the data, these stay separate."""

    def update_rows(c: AxisContext, position: int, axis: int) -> AxisUse:
        if c.item_axes.get(1) == c.item_axes.get(2) and matches(c):
            return AxisUse.SEPARATE if position == 0 else AxisUse.MATCHED
        return rule(c, position, axis)

    return update_rows


def update(matches: Callable[[AxisContext], bool]) -> PositionRule:
    """Data of items whose rows are replaced by other data of the own item."""

    def rule(c: AxisContext) -> Columns:
        is_data = _is_data(c, 0) and _is_data(c, 2) and (_is_data(c, 1) or matches(c))
        return ITEM_DATA if is_data else UNKNOWN_POSITIONS

    return rule
