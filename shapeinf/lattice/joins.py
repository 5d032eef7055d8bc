"""Merge (both are true), relax (either may be true) and broadcast of shapes and types.

Merge is a meet: it adds the equality of dims to the store. Relax is a join at a site; see `relaxer`.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import Contradiction, ShapeError, Source
from shapeinf.expr import Dimension, DimSize, dim_label, maximum
from shapeinf.expr.interval import bounds_of, finite_bound
from shapeinf.lattice.relaxer import Alternatives, Relaxer
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


def broadcast_dim(store: ConstraintStore, a: DimSize, b: DimSize, source: Source) -> DimSize:
    """The broadcast of two sizes.

    Exact whenever the graph runs and sizes are at least 1: an undecided broadcast is `max(a, b)` and adds the
    disjunction `a == b or a == 1 or b == 1`. Where neither size can be 1 it adds the equality.
    """
    a, b = store.canon(a), store.canon(b)
    if a is b or b == 1 or a == b:
        return a
    if a == 1:
        return b
    (a_low, a_high), (b_low, b_high) = store.bounds(a), store.bounds(b)
    a_is_not_1, b_is_not_1 = a_low > 1 or a_high < 1, b_low > 1 or b_high < 1
    if a_is_not_1 and b_is_not_1:
        return store.add_equal(a, b, source)
    store.add_disjunction("{0} == {1} or {0} == 1 or {1} == 1", source, a, b)
    if a_is_not_1 or b_is_not_1:
        return a if a_is_not_1 else b
    if a_low >= 1 and b_low >= 1:
        return maximum(a, b)
    return _undecided_broadcast(store, a, b)


def _undecided_broadcast(store: ConstraintStore, a: DimSize, b: DimSize) -> DimSize:
    """The unknown for the broadcast of two sizes, of which one may be 0.

    All broadcasts of these two have it, so its own bounds are those that hold everywhere; narrower ones, such as those
    of a branch, are constraints.
    """
    (a_low, a_high), (b_low, b_high) = bounds_of(a), bounds_of(b)
    lowest, highest = finite_bound(min(a_low, b_low)), finite_bound(max(a_high, b_high))
    symbol = store.scope.symbol(f"broadcast({dim_label(a)}, {dim_label(b)})", lowest, highest, anonymous=True)
    (a_low, a_high), (b_low, b_high) = store.bounds(a), store.bounds(b)
    low, high = finite_bound(min(a_low, b_low)), finite_bound(max(a_high, b_high))
    if (low, high) != (lowest, highest):
        store.add_range(symbol, low, high, Source("", "operands broadcast"))
    return symbol


def quick_broadcast(shapes: Sequence[Shape]) -> Shape | None:
    """The broadcast that needs no constraint: equal axes, or a 1 against anything; else None."""
    if len(shapes) != 2:
        result = shapes[0] if shapes else None
        for shape in shapes[1:]:
            result = None if result is None else quick_broadcast((result, shape))
        return result
    a, b = shapes[0].dims, shapes[1].dims
    if a is None or b is None:
        return None
    if a is b or a == b:
        return shapes[0]
    longer = shapes[0]
    if len(a) < len(b):
        a, b, longer = b, a, shapes[1]
    if not b:
        return longer
    lead = len(a) - len(b)
    changed: dict[int, DimSize] = {}
    for i, y in enumerate(b, lead):
        x = a[i]
        if x is y or y == 1:
            continue
        if x == 1:
            changed[i] = y
        elif x != y:
            return None
    return Shape(changed.get(i, d) for i, d in enumerate(a)) if changed else longer


def broadcast(store: ConstraintStore, *shapes: Shape, source: Source) -> Shape:
    """Numpy broadcasting from the right; unknown when any rank is unknown. Raises ShapeError naming the axis."""
    result: tuple[DimSize, ...] = ()
    for shape in shapes:
        if shape.dims is None:
            return Shape.unknown()
        result = _broadcast_dims(store, result, shape.dims, shapes, source)
    return Shape(result)


def _broadcast_dims(
    store: ConstraintStore, a: tuple[DimSize, ...], b: tuple[DimSize, ...], shapes: Sequence[Shape], source: Source
) -> tuple[DimSize, ...]:
    if a == b:
        return a
    if len(a) < len(b):
        a, b = b, a
    lead = len(a) - len(b)
    out = list(a[:lead])
    for x, y in zip(a[lead:], b, strict=True):
        try:
            out.append(broadcast_dim(store, x, y, source))
        except Contradiction as error:
            message = f"{source.reason}: {x} and {y} do not broadcast"
            raise Contradiction(message, source, error.second, [str(s) for s in shapes]) from None
    return tuple(out)


# -- types -------------------------------------------------------------------------------------------------------------


def merge_type(store: ShapeStore, a: Type, b: Type, source: Source) -> Type:
    """The type that is both; adds the equality of dims and symbolic elements. Raises ShapeError when there is none."""
    if a == b:
        return a
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        return _merge_tensors(store, a, b, source)
    if isinstance(a, SequenceType) and type(a) is type(b) and isinstance(b, SequenceType):
        merged = _rewrap(a, b, merge_type(store, a.element, b.element, source), source)
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


def relax_type(relaxer: Relaxer, a: Type, b: Type, site: str, *, alternatives: Alternatives | None = None) -> Type:
    """The join of two types at a site: equal parts stay. Raises ShapeError for kinds that have no join.

    See `Relaxer.dim` for `alternatives`.
    """
    if a == b:
        return a
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        dtype = a.dtype if a.dtype == b.dtype else None
        shape = relaxer.shape(a.shape, b.shape, site, alternatives=alternatives)
        if isinstance(a, HandleType) and isinstance(b, HandleType):
            return _relax_handles(relaxer, dtype, shape, a, b, site, alternatives)
        left, right = a.elements, b.elements
        if left is None or right is None or a.shape != b.shape:
            return TensorType(dtype, shape)
        pairs = enumerate(zip(left, right, strict=True))
        return PartialTensor(
            dtype, shape, (_relax_element(relaxer, x, y, site, i, alternatives) for i, (x, y) in pairs)
        )
    if isinstance(a, SequenceType) and type(a) is type(b) and isinstance(b, SequenceType):
        if type(a) is SequenceType and type(b) is SequenceType:
            return _relax_sequences(relaxer, a, b, site, alternatives)
        source = Source(site, "either may be true here")
        return _rewrap(a, b, relax_type(relaxer, a.element, b.element, site, alternatives=alternatives), source)
    raise ShapeError(f"{a!r} and {b!r} are of different kinds and have no common type")


def _relax_handles(
    relaxer: Relaxer,
    dtype: str | None,
    shape: Shape,
    a: HandleType,
    b: HandleType,
    site: str,
    alternatives: Alternatives | None,
) -> HandleType:
    """The join of handles at a site; a list without known items is empty, or has zeros of the shape of the others."""
    length: DimSize | None = None
    if a.length is not None and b.length is not None:
        length = relaxer.dim(a.length, b.length, f"{site}.length", least=0, alternatives=alternatives)
    if b.values and (a.length == 0 or a.values == ()):
        return HandleType(dtype, shape, _items_of_either(a, b.values), length)
    if a.values and (b.length == 0 or b.values == ()):
        return HandleType(dtype, shape, _items_of_either(b, a.values), length)
    if a.values is None or b.values is None or len(a.values) != len(b.values):
        return HandleType(dtype, shape, None, length)
    values: list[TensorType] = []
    for index, (x, y) in enumerate(zip(a.values, b.values, strict=True)):
        joined = relax_type(relaxer, x, y, f"{site}.value{index}", alternatives=alternatives)
        assert isinstance(joined, TensorType)
        values.append(joined)
    return HandleType(dtype, shape, values, length)


def _items_of_either(other: HandleType, items: Sequence[TensorType]) -> list[TensorType]:
    """The items of the join of a list of `items` and another list, which is empty or has zeros of the same shape."""
    if other.length == 0:
        return list(items)
    return [v if isinstance(v, HandleType) else TensorType(v.dtype, v.shape) for v in items]


def _relax_sequences(
    relaxer: Relaxer, a: SequenceType, b: SequenceType, site: str, alternatives: Alternatives | None
) -> SequenceType:
    """The join of sequences; item by item where both have equally many. An empty one has no element type."""
    if a.length == 0 or b.length == 0:
        element = b.element if a.length == 0 else a.element
    else:
        element = relax_type(relaxer, a.element, b.element, site, alternatives=alternatives)
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        pairs = enumerate(zip(a.items, b.items, strict=True))
        items = (relax_type(relaxer, x, y, f"{site}[{i}]", alternatives=alternatives) for i, (x, y) in pairs)
        return SequenceType(element, items=tuple(items))
    if a.length is None or b.length is None:
        return SequenceType(element)
    return SequenceType(element, relaxer.dim(a.length, b.length, f"{site}.length", alternatives=alternatives))


def _relax_element(
    relaxer: Relaxer, x: Element, y: Element, site: str, index: int, alternatives: Alternatives | None
) -> Element:
    """The element itself where both are the same; integers that differ are joined like sizes."""
    if _identical(x, y):
        return x
    if _is_integer(x) and _is_integer(y):
        return relaxer.dim(x, y, f"{site}.value", index, alternatives=alternatives)  # type: ignore[arg-type]
    return None


def _is_integer(x: Element) -> bool:
    return isinstance(x, (int, Dimension)) and not isinstance(x, bool)


def _identical(x: Element, y: Element) -> bool:
    return x is y or (type(x) is type(y) and x == y)


def _rewrap(a: SequenceType, b: SequenceType, element: Type, source: Source) -> SequenceType:
    if isinstance(a, MapType) and isinstance(b, MapType):
        if a.key != b.key:
            raise ShapeError(f"keys must be of equal type: {source.reason}", operands=(a.key, b.key))
        return MapType(a.key, element)
    return type(a)(element)
