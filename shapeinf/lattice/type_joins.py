"""Merge and relax of whole types: element types, shapes, known contents, and what sequences and optionals hold."""

from __future__ import annotations

from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dimension
from shapeinf.lattice.joins import Relaxer, merge_shape
from shapeinf.lattice.shape_store import ShapeStore
from shapeinf.lattice.types import (
    Condition,
    Element,
    MapType,
    PartialTensor,
    Quotient,
    SequenceType,
    TensorType,
    Type,
)


def merge_type(store: ShapeStore, a: Type, b: Type, source: Source) -> Type:
    """The type that is both; tells equal dims and equal symbolic elements. Raises ShapeError when there is none."""
    if a == b:
        return a
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        return _merge_tensors(store, a, b, source)
    if isinstance(a, SequenceType) and type(a) is type(b) and isinstance(b, SequenceType):
        merged = _rewrapped(a, b, merge_type(store, a.element, b.element, source), source)
        if type(a) is SequenceType:
            merged.length = b.length if a.length is None else a.length
            if a.length is not None and b.length is not None:
                merged.length = store.add_equal(a.length, b.length, source)
        return merged
    raise ShapeError(f"types must be equal: {source.reason}", operands=(repr(a), repr(b)))


def _merge_tensors(store: ShapeStore, a: TensorType, b: TensorType, source: Source) -> TensorType:
    if a.dtype and b.dtype and a.dtype != b.dtype:
        raise ShapeError(f"element types must be equal: {source.reason}", operands=(a.dtype, b.dtype))
    dtype = a.dtype or b.dtype
    shape = merge_shape(store, a.shape, b.shape, source)
    left, right = a.elements, b.elements
    if left is None or right is None:
        known = left if right is None else right
        return TensorType(dtype, shape) if known is None else PartialTensor(dtype, shape, known)
    merged = (_merge_elements(store, x, y, source) for x, y in zip(left, right, strict=True))
    return PartialTensor(dtype, shape, merged)


def _merge_elements(store: ShapeStore, x: Element, y: Element, source: Source) -> Element:
    if x is None or y is None:
        return y if x is None else x
    if isinstance(x, Dimension) or isinstance(y, Dimension):
        if isinstance(x, (int, Dimension)) and isinstance(y, (int, Dimension)):
            return store.add_equal(x, y, source)
        return y if isinstance(x, Dimension) else x
    if isinstance(x, (Condition, Quotient)) or isinstance(y, (Condition, Quotient)):
        return y if isinstance(x, (Condition, Quotient)) else x
    if x != y:
        raise ShapeError(f"elements must be equal: {source.reason}", operands=(str(x), str(y)))
    return x


def relax_type(relaxer: Relaxer, a: Type, b: Type, site: str, *, same_iteration: bool = False) -> Type:
    """The join of two types at a site: what is equal in both stays. Raises ShapeError for kinds that have no join.

    See `Relaxer.dim` for `same_iteration`.
    """
    once = same_iteration
    if a == b:
        return a
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        dtype = a.dtype if a.dtype == b.dtype else None
        shape = relaxer.shape(a.shape, b.shape, site, same_iteration=once)
        left, right = a.elements, b.elements
        if left is None or right is None or a.shape != b.shape:
            return TensorType(dtype, shape)
        pairs = enumerate(zip(left, right, strict=True))
        return PartialTensor(dtype, shape, (_relaxed_element(relaxer, x, y, site, i, once) for i, (x, y) in pairs))
    if isinstance(a, SequenceType) and type(a) is type(b) and isinstance(b, SequenceType):
        if type(a) is SequenceType and type(b) is SequenceType:
            return _relax_sequences(relaxer, a, b, site, once)
        source = Source(site, "either may be true here")
        return _rewrapped(a, b, relax_type(relaxer, a.element, b.element, site, same_iteration=once), source)
    raise ShapeError(f"{a!r} and {b!r} are of different kinds: nothing is both or either")


def _relax_sequences(relaxer: Relaxer, a: SequenceType, b: SequenceType, site: str, once: bool) -> SequenceType:
    """An empty sequence says nothing of elements; items stay apart while both have as many."""
    if a.length == 0 or b.length == 0:
        element = b.element if a.length == 0 else a.element
    else:
        element = relax_type(relaxer, a.element, b.element, site, same_iteration=once)
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        pairs = enumerate(zip(a.items, b.items, strict=True))
        items = (relax_type(relaxer, x, y, f"{site}[{i}]", same_iteration=once) for i, (x, y) in pairs)
        return SequenceType(element, items=tuple(items))
    if a.length is None or b.length is None:
        return SequenceType(element)
    return SequenceType(element, relaxer.dim(a.length, b.length, f"{site}.length", same_iteration=once))


def _relaxed_element(relaxer: Relaxer, x: Element, y: Element, site: str, index: int, once: bool) -> Element:
    """The element itself where both are the same; whole numbers that differ are joined like sizes."""
    if _same(x, y):
        return x
    if _is_whole(x) and _is_whole(y):
        return relaxer.dim(x, y, f"{site}.value", index, same_iteration=once)  # type: ignore[arg-type]
    return None


def _is_whole(x: Element) -> bool:
    return isinstance(x, (int, Dimension)) and not isinstance(x, bool)


def _same(x: Element, y: Element) -> bool:
    return x is y or (type(x) is type(y) and x == y)


def _rewrapped(a: SequenceType, b: SequenceType, element: Type, source: Source) -> SequenceType:
    if isinstance(a, MapType) and isinstance(b, MapType):
        if a.key != b.key:
            raise ShapeError(f"keys must be of equal type: {source.reason}", operands=(a.key, b.key))
        return MapType(a.key, element)
    return type(a)(element)
