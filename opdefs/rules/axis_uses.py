"""Axis rules that operators of several dialects share: see `shapeinf.ops.axes`.

Where a rule cannot tell, because an attribute or the contents of an input are not known, it answers MIXED.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from shapeinf.errors import NotKnown
from shapeinf.lattice import TensorType
from shapeinf.ops.axes import AxisContext, AxisRule, AxisUse
from shapeinf.ops.cost import CostContext

AxesOf = Callable[[CostContext], Iterable[int] | None]
"""The axes of the first input that an operator works along; None where they are not known."""


def separate(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Element by element, products and reductions: an axis that remains is a loop over equal computations."""
    return AxisUse.SEPARATE


def mixed(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Every axis."""
    return AxisUse.MIXED


def rank_of(c: CostContext, position: int = 0) -> int:
    """The rank of an input. Raises NotKnown."""
    return len(c.input(position).dims or ())


def has_rank(c: CostContext, position: int, *ranks: int) -> bool:
    """Whether the rank of an input is one of these; False where it is unknown."""
    value = c.types[position] if position < len(c.types) else None
    return isinstance(value, TensorType) and value.shape.dims is not None and len(value.shape.dims) in ranks


def leading(count: int, *others: int) -> AxisRule:
    """Items along the first axes of the first input, and along the axis 0 of the inputs at other positions."""

    def rule(c: AxisContext, position: int, axis: int) -> AxisUse:
        if (position == 0 and axis < count) or (position in others and axis == 0):
            return AxisUse.ALIGNED
        return AxisUse.MIXED

    return rule


def items_at(*item_axes: tuple[int, int, int | None]) -> AxisRule:
    """Items at these axes: (position of the input, axis, rank of that input, None for any)."""

    def rule(c: AxisContext, position: int, axis: int) -> AxisUse:
        for owner, item, rank in item_axes:
            if (owner, item) == (position, axis) and (rank is None or has_rank(c, position, rank)):
                return AxisUse.ALIGNED
        return AxisUse.MIXED

    return rule


def all_but(axes: AxesOf, use: AxisUse = AxisUse.SEPARATE) -> AxisRule:
    """Every axis but some of the first input, which count from the front or (negative) from the end."""

    def rule(c: AxisContext, position: int, axis: int) -> AxisUse:
        try:
            listed, rank = axes(c), rank_of(c, position)
        except NotKnown:
            return AxisUse.MIXED
        if listed is None or axis in [a % rank if rank else a for a in listed]:
            return AxisUse.MIXED
        return use

    return rule


def scattered(rule: AxisRule) -> AxisRule:
    """Data, indices and updates: items of the data belong to those of the indices only if these are as many."""

    def scatter(c: AxisContext, position: int, axis: int) -> AxisUse:
        try:
            data, indices = c.input(0)[axis], c.input(1)[axis]
        except (NotKnown, IndexError):
            return AxisUse.MIXED
        complete = c.store.canon(data) == c.store.canon(indices)
        return rule(c, position, axis) if complete else AxisUse.MIXED

    return scatter


def trailing(count: int, use: AxisUse = AxisUse.SEPARATE) -> AxisRule:
    """The last axes are combined: matrices, transforms."""
    return all_but(lambda c: range(-count, 0), use)


def attribute_axis(name: str = "axis", default: int | None = None) -> AxesOf:
    """The axis in an attribute; None where it is not one number."""

    def axes(c: CostContext) -> list[int] | None:
        value = c.attribute(name, default)
        return [value] if isinstance(value, int) else None

    return axes


def attribute_axes(name: str = "axes") -> AxesOf:
    """The axes in an attribute, a number or a list."""

    def axes(c: CostContext) -> list[int] | None:
        value = c.attribute(name)
        values = value if isinstance(value, (tuple, list)) else (value,)
        known = [item for item in values if isinstance(item, int)]
        return known if len(known) == len(values) else None

    return axes


def input_axes(position: int, default: int | None = None) -> AxesOf:
    """The axes in the contents of an input; the default where it is absent (negative positions count from the end)."""

    def axes(c: CostContext) -> list[int] | None:
        index = position % len(c.types) if position < 0 else position
        if not c.has_input(index):
            return None if default is None else [default]
        elements = c.contents(index)
        known = [item for item in elements if isinstance(item, int)]
        return known if len(known) == len(elements) else None

    return axes


def axes_from(name: str = "axis", default: int = -1) -> AxesOf:
    """The axis in an attribute and all axes behind it."""

    def axes(c: CostContext) -> range | None:
        value, rank = c.attribute(name, default), rank_of(c)
        return range(value % rank if rank else 0, rank) if isinstance(value, int) else None

    return axes


def windows(
    *, channels: AxisUse, dims: int | None = None, last: Callable[[CostContext], bool] | None = None
) -> AxisRule:
    """Windows over images `[items, channels, *grid]`, or with `last` `[items, *grid, channels]`.

    With `dims`, the number of axes of the grid, images may have no axis of items.
    """

    def rule(c: AxisContext, position: int, axis: int) -> AxisUse:
        if position:
            return AxisUse.MIXED
        rank = rank_of(c)
        before = 1 if dims is None else rank - dims - 1
        if axis < before:
            return AxisUse.SEPARATE
        if axis == (rank - 1 if last is not None and last(c) else before):
            return channels
        return AxisUse.SPATIAL

    return rule


def slices(strides: Callable[[CostContext, int], object]) -> AxisRule:
    """Slices: with a positive step, an axis that keeps its size keeps its items; `strides` reads its step."""

    def rule(c: AxisContext, position: int, axis: int) -> AxisUse:
        try:
            step = strides(c, axis)
        except NotKnown:
            return AxisUse.MIXED
        return AxisUse.SEPARATE if isinstance(step, int) and step > 0 else AxisUse.MIXED

    return rule


def pads(amounts: Callable[[CostContext, int], Iterable[object]]) -> AxisRule:
    """Pads: an axis without padding keeps its items; `amounts` reads the padding of an axis at its two ends."""

    def rule(c: AxisContext, position: int, axis: int) -> AxisUse:
        try:
            unchanged = all(isinstance(amount, int) and amount == 0 for amount in amounts(c, axis))
        except NotKnown:
            return AxisUse.MIXED
        return AxisUse.SEPARATE if unchanged and position == 0 else AxisUse.MIXED

    return rule
