"""Merge (both are true), relax (either may be true) and broadcast of dims and shapes, told to `ConstraintStore`.

Merge is a meet: it tells the facts that the dims are equal. Relax is a join at a *site*: equal stays, else the site's
own symbol, the same one every time, with the hull of the bounds seen so far; a bound that has grown twice goes to its
extreme, so loops end (height per axis is at most 4: known, two growths, no bound).

What a join is at most is a dim as well, the maximum of both sides, where that means the same each time: sides that are
there at one moment (the branches of an If) may hold any symbol, those of different trips only symbols with names.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import attrs

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import Contradiction, ShapeError, Source
from shapeinf.expr import Dim, Dimension, dim_label, maximum
from shapeinf.expr.interval import Bounds, finite_bound
from shapeinf.lattice.shape import Shape
from shapeinf.lattice.shape_store import ShapeStore

MAX_WIDENINGS = 2

MAX_SIDES = 8
"""Different sides of a join site, past which its limit would be no help to anybody."""


def merge_shape(store: ShapeStore, a: Shape, b: Shape, source: Source) -> Shape:
    """The shape that is both; tells equal dims. Raises ShapeError naming the axis when there is none."""
    a, b = store.canon_shape(a), store.canon_shape(b)
    if a is b or a == b:
        return a
    if a.dims is None or b.dims is None:
        return store.bind_shape(a, b, source)
    if len(a.dims) != len(b.dims):
        raise ShapeError(f"shapes must be of equal rank: {source.reason}", operands=(str(a), str(b)))
    return Shape(tuple(_merge_axis(store, a, b, i, source) for i in range(len(a.dims))))


def _merge_axis(store: ConstraintStore, a: Shape, b: Shape, axis: int, source: Source) -> Dim:
    left, right = a[axis], b[axis]
    if left is right or left == right:
        return store.canon(left)
    try:
        return store.add_equal(left, right, source)
    except Contradiction as error:
        message = f"dimension {axis} of both shapes must be equal: {source.reason}"
        raise Contradiction(message, source, error.second, (str(a), str(b))) from None


def broadcast_dim(store: ConstraintStore, a: Dim, b: Dim, source: Source) -> Dim:
    """The broadcast of two sizes.

    Exact whenever the graph runs and sizes are at least 1: `max(a, b)` where nothing decides it, with the guard
    `a == b or a == 1 or b == 1` told. Where both are known to be 2 or more, equality itself is told.
    """
    a, b = store.canon(a), store.canon(b)
    if a is b or b == 1 or a == b:
        return a
    if a == 1:
        return b
    (a_low, a_high), (b_low, b_high) = store.bounds(a), store.bounds(b)
    a_one_free, b_one_free = a_low > 1 or a_high < 1, b_low > 1 or b_high < 1
    if a_one_free and b_one_free:
        return store.add_equal(a, b, source)
    store.add_disjunction("{0} == {1} or {0} == 1 or {1} == 1", source, a, b)
    if a_one_free or b_one_free:
        return a if a_one_free else b
    if a_low >= 1 and b_low >= 1:
        return maximum(a, b)
    return store.scope.symbol(
        f"broadcast({dim_label(a)}, {dim_label(b)})",
        finite_bound(min(a_low, b_low)),
        finite_bound(max(a_high, b_high)),
        anonymous=True,
    )


def quick_broadcast(shapes: Sequence[Shape]) -> Shape | None:
    """The broadcast of two shapes where no fact is needed to tell it: equal axes, or a 1 against anything."""
    if len(shapes) != 2:
        return shapes[0] if len(shapes) == 1 else None
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
    changed: dict[int, Dim] = {}
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
    result: tuple[Dim, ...] = ()
    for shape in shapes:
        if shape.dims is None:
            return Shape.unknown()
        result = _broadcast_dims(store, result, shape.dims, shapes, source)
    return Shape(result)


def _broadcast_dims(
    store: ConstraintStore, a: tuple[Dim, ...], b: tuple[Dim, ...], shapes: Sequence[Shape], source: Source
) -> tuple[Dim, ...]:
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


@attrs.define
class _Site:
    """What a join site has seen: its own symbol, the hull of the bounds, and how often each end grew.

    `seen` are the sides so far; None where one of them says nothing about the others.
    """

    symbol: Dimension
    bounds: Bounds
    widenings: list[int]
    seen: dict[Dim, None] | None = attrs.Factory(dict)


class Relaxer:
    """The join sites of one inference."""

    def __init__(self, store: ConstraintStore) -> None:
        """No site has been joined yet; `widenings` counts the times that a site's bounds have grown since."""
        self.store = store
        self.sites: dict[tuple[str, int], _Site] = {}
        self.unknown: dict[str, Shape] = {}
        self.widenings = 0

    def dim(
        self, a: Dim, b: Dim, site: str, axis: int = 0, least: float = -inf, *, same_iteration: bool = False
    ) -> Dim:
        """The join of two dims at an axis of a site; `least` is known of both, a size is at least 0.

        `same_iteration` says that both are sizes of the same trip of all loops around the site.
        """
        a, b = self.store.canon(a), self.store.canon(b)
        if a is b or a == b:
            return a
        low, high = _hull(self.store.bounds(a), self.store.bounds(b))
        hull = max(low, least), max(high, least)
        found = self.sites.get((site, axis))
        if found is None:
            symbol = self.store.scope.fresh(f"{site}.{axis}", None, None)
            found = self.sites[site, axis] = _Site(symbol, hull, [0, 0])
        before = found.bounds
        grown = _hull(before, hull)
        low = self._widened(found, 0, grown[0], 0 if grown[0] >= 0 else -inf)
        found.bounds = low, self._widened(found, 1, grown[1], inf)
        self._publish(found)
        self._limit(found, (a, b), same_iteration)
        self.widenings += found.bounds != before
        return found.symbol

    def _limit(self, site: _Site, sides: tuple[Dim, Dim], same_iteration: bool) -> None:
        """The maximum of all sides of a site is a limit of its symbol; there is none when a side grows from it."""
        scope = self.store.scope
        for side in sides:
            if site.seen is None or side is site.symbol:
                continue
            symbols = side.symbols() if isinstance(side, Dimension) else ()
            lasting = same_iteration or not any(s.symbol.anonymous for s in symbols)
            if site.symbol in symbols or not lasting or len(site.seen) >= MAX_SIDES:
                site.seen = None
                scope.limits.pop(site.symbol, None)
            else:
                site.seen[side] = None
        if site.seen is not None:
            scope.limits[site.symbol] = maximum(*site.seen)

    def _widened(self, site: _Site, end: int, new: float, extreme: float) -> float:
        if new == site.bounds[end]:
            return new
        site.widenings[end] += 1
        return new if site.widenings[end] <= MAX_WIDENINGS else extreme

    def publish(self) -> None:
        """Set the bounds of all sites again, after the facts were reset."""
        for site in self.sites.values():
            self._publish(site)

    def _publish(self, site: _Site) -> None:
        """A site's bounds may grow, which facts never do: they are set, not told."""
        self.store.set_bounds(site.symbol, site.bounds, Source("", "either may be true here"))

    def shape(self, a: Shape, b: Shape, site: str, *, same_iteration: bool = False) -> Shape:
        """The join of two shapes at a site; the site's unknown when the ranks differ. See `dim`."""
        if a is b or a == b:
            return a
        if a.dims is None or b.dims is None or len(a.dims) != len(b.dims):
            return self.unknown.setdefault(site, Shape.unknown())
        pairs = enumerate(zip(a.dims, b.dims, strict=True))
        return Shape(tuple(self.dim(x, y, site, i, 0, same_iteration=same_iteration) for i, (x, y) in pairs))


def _hull(a: Bounds, b: Bounds) -> Bounds:
    return min(a[0], b[0]), max(a[1], b[1])
