"""Merge of shapes and types, where both are true: a meet, which adds the equality of dims to the store."""

from __future__ import annotations

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import Contradiction, ShapeError, Source
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice.shape import Shape
from shapeinf.lattice.shape_store import ShapeStore
from shapeinf.lattice.types import (
    Condition,
    Element,
    FloatInterval,
    HandleType,
    MapType,
    PartialTensor,
    Quotient,
    SequenceType,
    TensorType,
    Type,
)


def merge_shape(store: ShapeStore, a: Shape, b: Shape, source: Source) -> Shape:
    """The shape that is both; adds the equality of their dims. Raises ShapeError, with the axis, when there is none."""
    a, b = store.canon_shape(a), store.canon_shape(b)
    if a is b or a == b:
        return a
    if a.dims is None or b.dims is None:
        return store.bind_shape(a, b, source)
    if len(a.dims) != len(b.dims):
        raise ShapeError(f"shapes must be of equal rank: {source.reason}", operands=(str(a), str(b)))
    return Shape(tuple(_merge_axis(store, a, b, i, source) for i in range(len(a.dims))))


def _merge_axis(store: ConstraintStore, a: Shape, b: Shape, axis: int, source: Source) -> DimSize:
    left, right = a[axis], b[axis]
    if left is right or left == right:
        return store.canon(left)
    try:
        return store.add_equal(left, right, source)
    except Contradiction as error:
        message = f"dimension {axis} of both shapes must be equal: {source.reason}"
        raise Contradiction(message, source, error.second, (str(a), str(b))) from None


def merge_type(store: ShapeStore, a: Type, b: Type, source: Source) -> Type:
    """The type that is both; adds the equality of dims and symbolic elements. Raises ShapeError when there is none."""
    if a == b:
        return a
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        return _merge_tensors(store, a, b, source)
    if isinstance(a, SequenceType) and type(a) is type(b) and isinstance(b, SequenceType):
        merged = rewrap(a, b, merge_type(store, a.element, b.element, source), source)
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
    if isinstance(a, HandleType) or isinstance(b, HandleType):
        return _merge_handles(store, dtype, shape, a, b, source)
    left, right = a.elements, b.elements
    if left is None or right is None:
        known = left if right is None else right
        return TensorType(dtype, shape) if known is None else PartialTensor(dtype, shape, known)
    merged = (_merge_elements(store, x, y, source) for x, y in zip(left, right, strict=True))
    return PartialTensor(dtype, shape, merged)


def _merge_handles(
    store: ShapeStore, dtype: str | None, shape: Shape, a: TensorType, b: TensorType, source: Source
) -> TensorType:
    """The merge of two tensors of this type, at least one of which is a handle."""
    if not isinstance(a, HandleType) or not isinstance(b, HandleType):
        return (a if isinstance(a, HandleType) else b).with_type(dtype, shape)
    length = b.length if a.length is None else a.length
    if a.length is not None and b.length is not None:
        length = store.add_equal(a.length, b.length, source)
    if not a.values or not b.values:
        return HandleType(dtype, shape, a.values or b.values, length)
    if len(a.values) != len(b.values):
        raise ShapeError(f"handles must have equally many components: {source.reason}", operands=(repr(a), repr(b)))
    pairs = zip(a.values, b.values, strict=True)
    values = [_merge_tensors(store, x, y, source) for x, y in pairs]
    return HandleType(dtype, shape, values, length)


_NOT_NUMBERS = (Condition, Quotient, FloatInterval)


def _merge_elements(store: ShapeStore, x: Element, y: Element, source: Source) -> Element:
    if x is None or y is None:
        return y if x is None else x
    if isinstance(x, Dimension) or isinstance(y, Dimension):
        if isinstance(x, (int, Dimension)) and isinstance(y, (int, Dimension)):
            return store.add_equal(x, y, source)
        return y if isinstance(x, Dimension) else x
    if isinstance(x, _NOT_NUMBERS) or isinstance(y, _NOT_NUMBERS):
        return y if isinstance(x, _NOT_NUMBERS) else x
    if x != y:
        raise ShapeError(f"elements must be equal: {source.reason}", operands=(str(x), str(y)))
    return x


def rewrap(a: SequenceType, b: SequenceType, element: Type, source: Source) -> SequenceType:
    """The type of this kind with another element. Raises ShapeError for maps with keys of different types."""
    if isinstance(a, MapType) and isinstance(b, MapType):
        if a.key != b.key:
            raise ShapeError(f"keys must be of equal type: {source.reason}", operands=(a.key, b.key))
        return MapType(a.key, element)
    return type(a)(element)
