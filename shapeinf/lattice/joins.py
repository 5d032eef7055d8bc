"""Joins of types of which either may be true; see `relaxer`."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice.merging import rewrap
from shapeinf.lattice.relaxer import Alternatives, Relaxer
from shapeinf.lattice.shape import Shape
from shapeinf.lattice.types import (
    Element,
    HandleType,
    PartialTensor,
    SequenceType,
    TensorType,
    Type,
)


def relax_type(relaxer: Relaxer, a: Type, b: Type, label: str, *, alternatives: Alternatives | None = None) -> Type:
    """The join of two types at a join point: equal parts stay. Raises ShapeError for kinds that have no join.

    See `Relaxer.dim` for `alternatives`.
    """
    if a == b:
        return a
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        dtype = a.dtype if a.dtype == b.dtype else None
        shape = relaxer.shape(a.shape, b.shape, label, alternatives=alternatives)
        if isinstance(a, HandleType) and isinstance(b, HandleType):
            return _relax_handles(relaxer, dtype, shape, a, b, label, alternatives)
        left, right = a.elements, b.elements
        if left is None or right is None or a.shape != b.shape:
            return TensorType(dtype, shape)
        pairs = enumerate(zip(left, right, strict=True))
        return PartialTensor(
            dtype, shape, (_relax_element(relaxer, x, y, label, i, alternatives) for i, (x, y) in pairs)
        )
    if isinstance(a, SequenceType) and type(a) is type(b) and isinstance(b, SequenceType):
        if type(a) is SequenceType and type(b) is SequenceType:
            return _relax_sequences(relaxer, a, b, label, alternatives)
        source = Source(label, "either may be true here")
        return rewrap(a, b, relax_type(relaxer, a.element, b.element, label, alternatives=alternatives), source)
    raise ShapeError(f"{a!r} and {b!r} are of different kinds and have no common type")


def _relax_handles(
    relaxer: Relaxer,
    dtype: str | None,
    shape: Shape,
    a: HandleType,
    b: HandleType,
    label: str,
    alternatives: Alternatives | None,
) -> HandleType:
    """The join of handles at a label; a list without known items is empty, or has zeros of the shape of the others."""
    length: DimSize | None = None
    if a.length is not None and b.length is not None:
        length = relaxer.dim(a.length, b.length, f"{label}.length", least=0, alternatives=alternatives)
    if b.values and (a.length == 0 or a.values == ()):
        return HandleType(dtype, shape, _items_of_either(a, b.values), length)
    if a.values and (b.length == 0 or b.values == ()):
        return HandleType(dtype, shape, _items_of_either(b, a.values), length)
    if a.values is None or b.values is None or len(a.values) != len(b.values):
        return HandleType(dtype, shape, None, length)
    values: list[TensorType] = []
    for index, (x, y) in enumerate(zip(a.values, b.values, strict=True)):
        joined = relax_type(relaxer, x, y, f"{label}.value{index}", alternatives=alternatives)
        assert isinstance(joined, TensorType)
        values.append(joined)
    return HandleType(dtype, shape, values, length)


def _items_of_either(other: HandleType, items: Sequence[TensorType]) -> list[TensorType]:
    """The items of the join of a list of `items` and another list, which is empty or has zeros of the same shape."""
    if other.length == 0:
        return list(items)
    return [v if isinstance(v, HandleType) else TensorType(v.dtype, v.shape) for v in items]


def _relax_sequences(
    relaxer: Relaxer, a: SequenceType, b: SequenceType, label: str, alternatives: Alternatives | None
) -> SequenceType:
    """The join of sequences; item by item where both have equally many. An empty one has no element type."""
    if a.length == 0 or b.length == 0:
        element = b.element if a.length == 0 else a.element
    else:
        element = relax_type(relaxer, a.element, b.element, label, alternatives=alternatives)
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        pairs = enumerate(zip(a.items, b.items, strict=True))
        items = (relax_type(relaxer, x, y, f"{label}[{i}]", alternatives=alternatives) for i, (x, y) in pairs)
        return SequenceType(element, items=tuple(items))
    if a.length is None or b.length is None:
        return SequenceType(element)
    return SequenceType(element, relaxer.dim(a.length, b.length, f"{label}.length", alternatives=alternatives))


def _relax_element(
    relaxer: Relaxer, x: Element, y: Element, label: str, index: int, alternatives: Alternatives | None
) -> Element:
    """The element itself where both are the same; integers that differ are joined like sizes."""
    if _identical(x, y):
        return x
    if _is_integer(x) and _is_integer(y):
        return relaxer.dim(x, y, f"{label}.value", index, alternatives=alternatives)  # type: ignore[arg-type]
    return None


def _is_integer(x: Element) -> bool:
    return isinstance(x, (int, Dimension)) and not isinstance(x, bool)


def _identical(x: Element, y: Element) -> bool:
    return x is y or (type(x) is type(y) and x == y)
