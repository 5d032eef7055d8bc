"""Broadcasting of sizes and shapes."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import Contradiction, Source
from shapeinf.expr import DimSize, dim_label, maximum
from shapeinf.expr.interval import bounds_of, finite_bound
from shapeinf.lattice.shape import Shape


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
