"""Types with their dims replaced, and the symbols in types."""

from __future__ import annotations

from collections.abc import Callable

from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice.index_tuples import IndexTuples
from shapeinf.lattice.shape import Shape
from shapeinf.lattice.types import (
    BroadcastAxes,
    ChosenIndices,
    Condition,
    Element,
    HandleType,
    MapType,
    PartialTensor,
    Progression,
    Quotient,
    SequenceType,
    TensorType,
    Type,
)

MapDim = Callable[[DimSize], DimSize]
MapShape = Callable[[Shape], Shape]


def map_type(old: Type, dim: MapDim, shape: MapShape) -> Type:
    """A type with every dim and shape in it replaced; the same object when nothing changes."""
    if not isinstance(old, TensorType):
        return _map_container(old, dim, shape)
    return _map_tensor(old, dim, shape)


def _map_tensor(old: TensorType, dim: MapDim, shape: MapShape) -> TensorType:
    new = shape(old.shape)
    if isinstance(old, Progression):
        base = dim(old.base)
        same = new is old.shape and base is old.base
        return old if same else Progression(old.dtype, new, base, old.steps)
    if isinstance(old, ChosenIndices):
        size = None if old.size is None else dim(old.size)
        return old if new is old.shape and size is old.size else ChosenIndices(old.dtype, new, size)
    if isinstance(old, IndexTuples):
        parts = [part and (dim(part[0]), part[1]) for part in old.parts]
        return old if new is old.shape and tuple(parts) == old.parts else IndexTuples(old.dtype, new, parts)
    if isinstance(old, HandleType):
        return _map_handle(old, new, dim, shape)
    if isinstance(old, BroadcastAxes):
        sizes, others = _map_sizes(old.sizes, dim), _map_sizes(old.others, dim)
        same = new is old.shape and sizes == old.sizes and others == old.others
        return old if same else BroadcastAxes(old.dtype, new, sizes, others)
    elements: tuple[Element, ...] | None = old.elements
    if elements is not None:
        mapped = tuple(_map_element(e, dim) for e in elements)
        return old if new is old.shape and mapped == elements else PartialTensor(old.dtype, new, mapped)
    return old if new is old.shape else PartialTensor(old.dtype, new, elements)


def _map_sizes(sizes: tuple[DimSize | None, ...], dim: MapDim) -> tuple[DimSize | None, ...]:
    return tuple([None if d is None else dim(d) for d in sizes])


def _map_handle(old: HandleType, new: Shape, dim: MapDim, shape: MapShape) -> HandleType:
    values = None if old.values is None else tuple(_map_tensor(value, dim, shape) for value in old.values)
    length = None if old.length is None else dim(old.length)
    if new is old.shape and values == old.values and length is old.length:
        return old
    return HandleType(old.dtype, new, values, length)


def _map_element(element: Element, dim: MapDim) -> Element:
    if isinstance(element, Quotient):
        return Quotient(dim(element.numerator), dim(element.denominator))
    if isinstance(element, Condition):
        expression = dim(element.expression)
        return Condition(expression) if isinstance(expression, Dimension) else expression >= 0
    return dim(element) if isinstance(element, Dimension) else element


def _map_container(old: SequenceType, dim: MapDim, shape: MapShape) -> SequenceType:
    inner = map_type(old.element, dim, shape)
    length = old.length if old.length is None else dim(old.length)
    items = old.items if old.items is None else tuple(map_type(item, dim, shape) for item in old.items)
    if inner is old.element and length is old.length and items == old.items:
        return old
    if isinstance(old, MapType):
        return MapType(old.key, inner)
    return SequenceType(inner, length, items) if type(old) is SequenceType else type(old)(inner)


def map_dims(old: Type, dim: MapDim) -> Type:
    """A type with every dim in it replaced; unknown ranks stay."""

    def shape(before: Shape) -> Shape:
        dims = before.dims and tuple(map(dim, before.dims))
        return before if dims == before.dims else Shape(dims)

    return map_type(old, dim, shape)


def drop_shape(old: Type) -> Type:
    """The kind and element type alone, of a type with any shape, contents or length."""
    if isinstance(old, TensorType):
        return PartialTensor(old.dtype, Shape.unknown(), None)
    inner = drop_shape(old.element)
    return MapType(old.key, inner) if isinstance(old, MapType) else type(old)(inner)


def type_symbols(old: Type | None) -> frozenset[Dimension]:
    """The symbols in a type."""
    symbols: set[Dimension] = set()

    def collect(d: DimSize) -> DimSize:
        if isinstance(d, Dimension):
            symbols.update(d.symbols())
        return d

    if old is not None:
        map_dims(old, collect)
    return frozenset(symbols)
