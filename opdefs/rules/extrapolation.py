"""The growth of a value in a loop: its type as a function of the number of trips, extrapolated from the first trip."""

from __future__ import annotations

from collections.abc import Callable

from opdefs.rules.contents.elements import is_float
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import Element, HandleType, PartialTensor, SequenceType, Shape, TensorType, Type

Extrapolation = Callable[[DimSize], Type]
"""The type of a carried value as a function of the trip count."""


def extrapolate(old: Type, new: Type) -> Extrapolation | None:
    """The type of a value if every trip adds what the first one adds, from `old` to `new`; None for other changes."""
    if old == new:
        return lambda trips: old
    if isinstance(old, HandleType) or isinstance(new, HandleType):
        return _extrapolate_handle(old, new)
    if isinstance(old, TensorType) and isinstance(new, TensorType):
        return _extrapolate_tensor(old, new) if old.dtype == new.dtype else None
    if type(old) is SequenceType and type(new) is SequenceType:
        return _extrapolate_sequence(old, new)
    return None


def _extrapolate_tensor(old: TensorType, new: TensorType) -> Extrapolation | None:
    if old.shape.dims is None or new.shape.dims is None or len(old.shape.dims) != len(new.shape.dims):
        return None
    start = old.shape.dims
    increments = [n - o for o, n in zip(start, new.shape.dims, strict=True)]
    element_increments = None if any(increments) else _element_increments(old, new)

    def grow(trips: DimSize) -> Type:
        shape = Shape(d + increment * trips for d, increment in zip(start, increments, strict=True))
        if element_increments is None or old.elements is None:
            return PartialTensor(old.dtype, shape, None)
        pairs = zip(old.elements, element_increments, strict=True)
        elements = (e if increment == 0 else e + increment * trips for e, increment in pairs)  # type: ignore[operator]
        return PartialTensor(old.dtype, shape, elements)

    return grow


def _element_increments(old: TensorType, new: TensorType) -> list[DimSize] | None:
    """The increment of each known element; None where contents are unknown or not integers."""
    if old.elements is None or new.elements is None:
        return None
    if old.elements == new.elements:
        return [0] * len(old.elements)
    pairs = list(zip(old.elements, new.elements, strict=True))
    if is_float(old.dtype) or not all(_is_number(o) and _is_number(n) for o, n in pairs):
        return None  # growing floats are rounded eventually
    return [n - o for o, n in pairs]  # type: ignore[operator,misc]


def _is_number(element: Element) -> bool:
    return isinstance(element, (int, Dimension)) and not isinstance(element, bool)


def _extrapolate_sequence(old: SequenceType, new: SequenceType) -> Extrapolation | None:
    """A sequence that gets more elements of one type; an empty sequence may get any."""
    start, end = old.length, new.length
    if start is None or end is None or (start != 0 and old.element != new.element):
        return None
    first, increment = start, end - start
    return lambda trips: SequenceType(new.element, first + increment * trips)


def _extrapolate_handle(old: Type, new: Type) -> Extrapolation | None:
    """A list behind a handle that gets more items of one type; an empty list may get any."""
    if not isinstance(old, HandleType) or not isinstance(new, HandleType) or old.dtype != new.dtype:
        return None
    if old.shape != new.shape or (old.values != new.values and old.values != () and old.length != 0):
        return None
    if old.length is None or new.length is None:
        return lambda trips: HandleType(new.dtype, new.shape, new.values)
    first, increment = old.length, new.length - old.length
    return lambda trips: HandleType(new.dtype, new.shape, new.values, first + increment * trips)


def confirm(formula: Extrapolation, trips: DimSize, after: Type) -> Extrapolation | None:
    """The formula, if it gives the type `after` some trips; without the contents of list items, if only these differ.

    None if neither agrees with the type.
    """
    expected = formula(trips)
    if expected == after:
        return formula
    weaker = without_item_contents(expected)
    if not isinstance(after, HandleType) or weaker != without_item_contents(after):
        return None
    return formula if weaker == expected else lambda number: without_item_contents(formula(number))


def without_item_contents(handle: Type) -> Type:
    """The type of the same handle without the contents of the values behind it."""
    if not isinstance(handle, HandleType) or handle.values is None:
        return handle
    values = [v if isinstance(v, HandleType) else TensorType(v.dtype, v.shape) for v in handle.values]
    return HandleType(handle.dtype, handle.shape, values, handle.length)
