"""Relaxation: the join of dims and shapes of which either may be true, at a *join point* of the graph.

A dim that is equal on both sides stays. Otherwise the result is the symbol of the join point, the same at every join,
with the hull of the bounds so far. A bound that widens more than twice goes to its extreme, so loops reach a fixpoint
(height per axis is at most 4: known, two widenings, no bound).

A join point has a label, the name of a node with a suffix. A node in the body of a loop runs in several trips, with
different sizes: trips that are inferred one by one are different *executions*, and each has join points of its own. So
have nodes with bodies: the name of a node need not be unique.

The upper limit of a join is symbolic too, the maximum of both sides, where it means the same in every iteration: sides
of the same iteration (the branches of an If) may hold any symbol, those of different iterations only named symbols.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from math import inf

import attrs

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import Source
from shapeinf.expr import Dimension, DimSize, maximum, minimum, substitute
from shapeinf.expr.interval import Bound, Bounds
from shapeinf.lattice.shape import Shape

MAX_WIDENINGS = 2

MAX_SIDES = 8
"""Distinct sides of a join point past which it has no symbolic limit, which would be unreadable."""


JoinKey = tuple[str, str, int]
"""An execution, the label of a join point, and an axis of it."""

_END_OF_NAME = re.compile(r"[./:]|$")
"""Where the name of a node around a join point may end, in the label of the join point."""


@attrs.frozen(eq=False)
class Alternatives:
    """Where the sides of a join are true, such as two branches: one side is.

    Args:
        first: the constraints where the first side is true, several for a side that is a join itself.
        second: the same for the second side.
        own: the symbols that only exist inside of one of the alternatives.
        same_iteration: whether both sides belong to the same iteration of all loops around the join.
    """

    first: tuple[ConstraintStore, ...]
    second: tuple[ConstraintStore, ...]
    own: Callable[[Dimension], bool]
    same_iteration: bool = True

    def common(self, a: DimSize, b: DimSize) -> DimSize | None:
        """A dim that is `a` where the first side is true and `b` where the second is; None where none is found."""
        if not self.same_iteration:
            return None
        candidates = {a: None, b: None, maximum(a, b): None, minimum(a, b): None}
        equal = [
            d
            for d in candidates
            if (isinstance(d, int) or not any(map(self.own, d.symbols())))
            and all(_are_equal(store, d, a) for store in self.first)
            and all(_are_equal(store, d, b) for store in self.second)
        ]
        return min(equal, key=_plainness) if equal else None

    def bounds(self, a: DimSize, b: DimSize) -> Bounds:
        """Bounds of the join."""
        pairs = [store.bounds(a) for store in self.first] + [store.bounds(b) for store in self.second]
        return min(low for low, _ in pairs), max(high for _, high in pairs)


def _are_equal(store: ConstraintStore, a: DimSize, b: DimSize) -> bool:
    return store.prove_eq(a, b) is True or (store.prove_le(a, b) is True and store.prove_le(b, a) is True)


def _plainness(d: DimSize) -> tuple[bool, int, object]:
    """The order in which equal dims are preferred: numbers, then short expressions."""
    return (False, 0, d) if isinstance(d, int) else (True, len(d.symbols()) + len(d.terms), d.terms)


@attrs.define
class _JoinPoint:
    """The state of a join point: its own symbol, the hull of the bounds, and how often each bound widened.

    `sides` are the sides so far; None once one of them rules out a symbolic limit. `stamp` is the number of the change
    of bounds that is its last.
    """

    symbol: Dimension
    bounds: Bounds
    widenings: list[int]
    sides: dict[DimSize, None] | None = attrs.Factory(dict)
    stamp: int = 0


class Relaxer:
    """The join points of one inference."""

    def __init__(self, store: ConstraintStore) -> None:
        """Without join points; `widenings` counts the changes of their bounds."""
        self.store = store
        self.execution = ""
        """The nodes with bodies and the trips, from the outermost in, in which joins are made now; see `inside`."""
        self.points: dict[JoinKey, _JoinPoint] = {}
        self.unknown: dict[tuple[str, str], Shape] = {}
        self.widenings = 0
        self.cycles = 0
        """The number of nested cycles of the graph that are being iterated."""
        self.cycle_symbols: dict[Dimension, JoinKey] = {}
        """The symbols of joins in cycles, which differ between iterations, with their join points and axes."""
        self.changes = 0
        """The number of changes of the bounds of join points so far."""
        self._by_change: dict[Dimension, _JoinPoint] = {}
        """The join points by their symbols, in the order of their last changes of bounds."""
        self._inside: dict[str, list[tuple[str, Dimension]]] = {}
        """For each node the executions and symbols of the join points inside of it, and its own."""

    @contextmanager
    def inside(self, part: str) -> Iterator[None]:
        """Make the joins of a part of the current execution: a node with bodies, or a trip of a loop."""
        outside = self.execution
        self.execution = outside + part
        try:
            yield
        finally:
            self.execution = outside

    def dim(
        self,
        a: DimSize,
        b: DimSize,
        label: str,
        axis: int = 0,
        least: Bound = -inf,
        *,
        alternatives: Alternatives | None = None,
    ) -> DimSize:
        """The join of two dims at an axis of a join point, by its label; `least` is a lower bound of both, 0 for sizes.

        `alternatives`: where each of them is true; by default everywhere, in any iteration.
        """
        a, b = self.store.canon(a), self.store.canon(b)
        if a is b or a == b:
            return a
        same_iteration = alternatives is not None and alternatives.same_iteration
        if alternatives is None:
            low, high = _hull(self.store.bounds(a), self.store.bounds(b))
        else:
            common = alternatives.common(a, b)
            if common is not None:
                return self.store.canon(common)
            low, high = alternatives.bounds(a, b)
        hull = max(low, least), max(high, least)
        key = self.execution, label, axis
        state = self.points.get(key)
        if state is None:
            state = self._add_point(key, self.store.scope.fresh(f"{label}.{axis}", None, None), hull)
        if self.cycles:
            self.cycle_symbols[state.symbol] = key
        self._extend(state, hull)
        self._limit(state, (a, b), same_iteration)
        return state.symbol

    def _add_point(self, key: JoinKey, symbol: Dimension, bounds: Bounds) -> _JoinPoint:
        """A new join point with its own symbol."""
        execution, label, _ = key
        for end in _END_OF_NAME.finditer(label):
            self._inside.setdefault(label[: end.start()], []).append((execution, symbol))
        point = self.points[key] = _JoinPoint(symbol, bounds, [0, 0])
        return point

    def _extend(self, state: _JoinPoint, hull: Bounds) -> None:
        """Extend the bounds of a join point; they widen a few times."""
        before = state.bounds
        low, high = _hull(before, hull)
        state.bounds = (
            self._widen(state, 0, low, 0 if low >= 0 else -inf),
            self._widen(state, 1, high, inf),
        )
        self._publish(state)
        self.widenings += state.bounds != before

    def leave_cycle(self, d: DimSize) -> DimSize:
        """A dim after the last iteration of a cycle, with new symbols instead of those that differ between iterations.

        A constraint on the last iteration is none on the others.
        """
        symbols = d.symbols() if isinstance(d, Dimension) else frozenset()
        renamed: dict[Dimension, DimSize] = {s: self._last_symbol(s) for s in symbols if s in self.cycle_symbols}
        return substitute(d, renamed) if renamed else d

    def _last_symbol(self, symbol: Dimension) -> Dimension:
        execution, label, axis = self.cycle_symbols[symbol]
        key, bounds = (execution, f"{label}.last", axis), self.store.bounds(symbol)
        state = self.points.get(key)
        if state is None:
            state = self._add_point(key, self.store.scope.fresh(f"{label}.last.{axis}", None, None), bounds)
        self._extend(state, bounds)
        return state.symbol

    def _limit(self, point: _JoinPoint, sides: tuple[DimSize, DimSize], same_iteration: bool) -> None:
        """Limit a symbol by the maximum of all sides; a side that depends on the symbol removes the limit."""
        scope = self.store.scope
        for side in sides:
            if point.sides is None or side is point.symbol:
                continue
            symbols = side.symbols() if isinstance(side, Dimension) else ()
            lasting = same_iteration or not any(s.symbol.anonymous for s in symbols)
            if point.symbol in symbols or not lasting or len(point.sides) >= MAX_SIDES:
                point.sides = None
                scope.limits.pop(point.symbol, None)
            else:
                point.sides[side] = None
        if point.sides is not None:
            scope.limits[point.symbol] = maximum(*point.sides)

    def _widen(self, point: _JoinPoint, end: int, new: Bound, extreme: Bound) -> Bound:
        if new == point.bounds[end]:
            return new
        point.widenings[end] += 1
        return new if point.widenings[end] <= MAX_WIDENINGS else extreme

    def publish(self, changes: int) -> None:
        """Set the bounds again of join points that changed after so many changes: the store was reset."""
        recent = takewhile(lambda point: point.stamp > changes, reversed(self._by_change.values()))
        for point in [*recent][::-1]:
            self.store.scope.work += 1
            known = self.store.ranges.get(point.symbol.atom)
            if known is None or known.bounds != point.bounds:
                self._set_bounds(point)

    def _publish(self, point: _JoinPoint) -> None:
        """Set a join point's bounds in the store: they may widen, which constraints never do."""
        self.changes += 1
        point.stamp = self.changes
        self._by_change.pop(point.symbol, None)
        self._by_change[point.symbol] = point
        self._set_bounds(point)

    def _set_bounds(self, point: _JoinPoint) -> None:
        self.store.set_bounds(point.symbol, point.bounds, Source("", "either may be true here"))

    def symbols_below(self, node_name: str) -> set[Dimension]:
        """The symbols of the join points of a node, and of those inside its bodies; in the current execution."""
        inside = self._inside.get(node_name, ())
        self.store.scope.work += len(inside)
        return {symbol for execution, symbol in inside if execution.startswith(self.execution)}

    def is_joined(self, symbol: Dimension) -> bool:
        """Whether a symbol belongs to a point."""
        return symbol in self._by_change

    def shape(self, a: Shape, b: Shape, label: str, *, alternatives: Alternatives | None = None) -> Shape:
        """The join of two shapes at a join point; its unknown rank when the ranks differ. See `dim`."""
        if a is b or a == b:
            return a
        if a.dims is None or b.dims is None or len(a.dims) != len(b.dims):
            return self.unknown.setdefault((self.execution, label), Shape.unknown())
        pairs = enumerate(zip(a.dims, b.dims, strict=True))
        return Shape(tuple(self.dim(x, y, label, i, 0, alternatives=alternatives) for i, (x, y) in pairs))


def _hull(a: Bounds, b: Bounds) -> Bounds:
    return min(a[0], b[0]), max(a[1], b[1])
