"""Facts about dims and about shapes of unknown rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import TYPE_CHECKING

from shapeinf.constraints import ConstraintStore
from shapeinf.constraints.records import Disjunction, Relation
from shapeinf.errors import Contradiction, ShapeError, Source
from shapeinf.expr import Dim, Dimension, Interval, Scope
from shapeinf.expr.atoms import Symbol
from shapeinf.expr.extremum import expand_maximum
from shapeinf.expr.interval import Bounds, BoundsTable, as_interval, bounds_with
from shapeinf.lattice.shape import OptionalAxes, Shape

if TYPE_CHECKING:
    from shapeinf.lattice.joins import Relaxer


class ShapeStore(ConstraintStore):
    """`ConstraintStore`, and for each unknown rank what it was merged with."""

    def __init__(self, scope: Scope | None = None) -> None:
        """Nothing is known; a scope of its own unless one is given."""
        super().__init__(scope or Scope())
        self.shapes: dict[Shape, Shape] = {}
        self.advice: list[Disjunction] = []
        """What some runtimes want and the operators' definitions do not: to be shown, nothing follows from it."""
        self.presumed: dict[Dimension, bool] = {}
        """Of symbols of inputs, whether their least size is only presumed: nobody gave it. Copies share it."""
        self.open_ended: set[int] = set()
        """Atoms of symbols that had no upper end before any was assumed. Copies share it."""
        self.assuming = True
        """Whether nodes may assume anything: not where all sizes count."""
        self.tentative = False
        """Whether what is told now is taken back, as by a body that may not run: no least size is assumed there."""
        self.assumed: list[Relation] = []
        """What nodes take to hold of presumed sizes, though they run without it: shapes are others then."""
        self._relaxer: Relaxer | None = None

    @property
    def relaxer(self) -> Relaxer:
        """The join sites of this inference."""
        if self._relaxer is None:
            from shapeinf.lattice.joins import Relaxer

            self._relaxer = Relaxer(self)
        return self._relaxer

    def canon_shape(self, shape: Shape) -> Shape:
        """The shape with canonical dims; a learned rank in place of an unknown one."""
        while shape.dims is None and shape in self.shapes:
            shape = self.shapes[shape]
        if shape.dims is None or not (self.solved or self.narrowed):
            return shape
        dims = tuple(map(self.canon, shape.dims))
        return shape if dims == shape.dims else Shape(dims)

    def add_equal(self, a: Dim, b: Dim, source: Source) -> Dim:
        """As `ConstraintStore.add_equal`; an equation with a maximum that stays pending bounds both sides too."""
        if not self.scope.has_maxima or isinstance(a, int) or isinstance(b, int):
            return super().add_equal(a, b, source)
        version = self.version
        with self._taken_back():
            told = super().add_equal(a, b, source)
            if self.version != version and self.prove_eq(a, b) is None:
                for one, other in ((a, self.bounds(b)), (b, self.bounds(a))):
                    self._bound(self.canon(one), other, source)
        return self.canon(told)

    def interval(self, d: Dim) -> Interval:
        """As `ConstraintStore.interval`; below 0 also by the parts of a maximum and by relations."""
        low, high = self.bounds(d)
        if low < 0 and isinstance(d, Dimension):
            low = max(self.bounds(part)[0] for part in expand_maximum(self.canon(d)))
            low = 0 if low < 0 and self.prove_le(0, d) else low
        return as_interval((low, high))

    def bind_shape(self, unknown: Shape, shape: Shape, source: Source) -> Shape:
        """Learn that a shape of unknown rank is `shape`; the canonical shape. ShapeError when it has another rank."""
        left, right = self.canon_shape(unknown), self.canon_shape(shape)
        if left is right:
            return left
        if isinstance(left, OptionalAxes):
            left, right = right, left
        if isinstance(right, OptionalAxes) and left.dims is not None:
            left, right = right, self._chosen(right, left, source)
        if left.dims is None:
            self.shapes[left] = right
        elif right.dims is None:
            self.shapes[right] = left
        elif len(left.dims) != len(right.dims):
            raise ShapeError(f"shapes must be of equal rank: {source.reason}", operands=(str(left), str(right)))
        else:
            for a, b in zip(left.dims, right.dims, strict=True):
                self.add_equal(a, b, source)
        self.epoch += 1
        self._changed()
        return self.canon_shape(left)

    def _chosen(self, some: OptionalAxes, shape: Shape, source: Source) -> Shape:
        """What some axes are, of the rank of a shape: tells sizes, also of those that are not there.

        What a file declares tells nothing of named dims.
        """
        rank = len(shape)
        if not some.allows(rank):
            axes = Shape(d for d, _ in some.axes)
            raise ShapeError(f"shapes must be of equal rank: {source.reason}", operands=(str(axes), str(shape)))
        chosen = some.of_rank(rank)
        if chosen is None:
            return shape
        equal = [] if source.assumed else list(zip(chosen, shape, strict=True))
        if rank < len(some.axes):
            equal += [(d, 1) for d in some.doubtful if not source.assumed or self._is_open(d)]
        for a, b in equal:
            self.add_equal(a, b, source)
        if rank == len(some.axes) and not source.assumed:
            for d in some.doubtful:
                if self.interval(d).lo == 1:
                    self.add_le(2, d, source)
        return chosen

    def _is_open(self, d: Dim) -> bool:
        found = self.canon(d)
        return isinstance(found, Dimension) and found.is_symbol and found.is_anonymous

    def advise_le(self, a: Dim, b: Dim, source: Source) -> None:
        """Keep that some runtimes want `a <= b`, where that is not so anyway."""
        if self.prove_le(a, b) is not True:
            self.advice.append(Disjunction("{0} <= {1}", source, None, (a, b)))

    def assume_le(self, a: Dim, b: Dim, source: Source, *, given: bool = False) -> bool:
        """Assume `a <= b` where that only leaves out sizes that nobody gave; whether it holds from now on.

        Sizes that the user gave are left out where `given` says so, those that depend on data never.
        """
        return self._assume(b - a, source, lambda difference: not self.tentative and self._presumes(difference, given))

    def assume_small(self, d: Dim, limit: int, source: Source) -> bool:
        """Assume `d <= limit` where that only leaves out sizes larger than any that was given; whether it holds.

        A size without an upper end is taken to be as small as it needs to be, one with an upper end may be that large.
        What is assumed in a body that may not run is listed there, as one of its conditions.
        """
        return self._assume(limit - d, source, lambda difference: self._least_of_unbounded(difference)[0] >= 0)

    def _assume(self, difference: Dim, source: Source, may: Callable[[Dimension], bool]) -> bool:
        """Assume `difference >= 0`, if that is not known and may be assumed; whether it holds from now on."""
        difference = self.canon(difference)
        if not isinstance(difference, Dimension):
            return difference >= 0
        if self.bounds(difference)[0] >= 0:
            return True
        if not self.assuming or not may(difference):
            return False
        try:
            self.add_le(0, difference, source)
        except Contradiction:
            return False
        self.assumed.append(Relation(difference, source))
        return True

    def _presumes(self, difference: Dimension, given: bool) -> bool:
        return all(self.presumed.get(s, False) or (given and s in self.presumed) for s in difference.symbols())

    def _least_of_unbounded(self, d: Dimension) -> Bounds:
        """Bounds of a dim where each symbol without an upper end is as small as it may be."""

        def lookup(atom: int, symbol: Symbol) -> Bounds:
            low, high = self._known.symbol(atom, symbol)
            if high == inf:
                self.open_ended.add(atom)
            return (max(low, 0), max(low, 0)) if atom in self.open_ended else (low, high)

        return bounds_with(d, BoundsTable(lookup))

    def presumed_size(self, hint: str) -> Dimension:
        """A new unknown of which nodes may assume what they may assume of inputs."""
        found = self.scope.fresh(hint, 0)
        self.presumed[found] = True
        return found

    def breaks_assumption(self, ranges: Mapping[str, tuple[int, int | None]]) -> bool:
        """Whether something assumed may be false in these ranges of symbols, by name; None is no upper end.

        Symbols that are not named are as small as they may be. What became a number because of the assumption is
        looked at as it was assumed.
        """

        def lookup(atom: int, symbol: Symbol) -> Bounds:
            if symbol.name in ranges:
                low, high = ranges[symbol.name]
                return low, inf if high is None else high
            least = max(self._known.symbol(atom, symbol)[0], 0)
            return least, least

        known = BoundsTable(lookup)
        for relation in self.assumed:
            left = self.canon(relation.expression)
            expression = left if isinstance(left, Dimension) else relation.expression
            named = isinstance(expression, Dimension) and any(s.name in ranges for s in expression.symbols())
            if named and bounds_with(expression, known)[0] < 0:
                return True
        return False

    def reset(self, before: ShapeStore) -> None:
        """Forget what was told since `before` was copied, but for the bounds of join sites: those have grown."""
        stale = _differing(self, before)
        self._restore(before)
        self.news += stale
        for symbol in stale:
            self._changed(symbol)
        self.shapes = dict(before.shapes)
        self.advice = list(before.advice)
        self.assumed = list(before.assumed)
        self.relaxer.publish()

    def copy(self) -> ShapeStore:
        """Independent facts over the same scope, for a what-if."""
        other = ShapeStore(self.scope)
        other._restore(self)
        other.shapes = dict(self.shapes)
        other.advice = list(self.advice)
        other.assumed = list(self.assumed)
        other.presumed, other.open_ended = self.presumed, self.open_ended
        other.assuming, other.tentative = self.assuming, self.tentative
        other.version = self.version
        return other


def _differing(one: ConstraintStore, other: ConstraintStore) -> list[Dimension]:
    """The symbols of which two say something else, and those that are solved by such symbols."""
    found: dict[Dimension, None] = {}
    for mine, theirs in ((one.solved, other.solved), (other.solved, one.solved)):
        found.update((symbol, None) for symbol, value in mine.items() if theirs.get(symbol) is not value)
    for a, b in ((one.ranges, other.ranges), (one.congruences, other.congruences)):
        for told, same in ((a, b), (b, a)):
            found.update((one.scope.atom_dim(atom), None) for atom, it in told.items() if same.get(atom) is not it)
    for solved in (one.solved, other.solved) if found else ():
        found.update((s, None) for s, d in solved.items() if isinstance(d, Dimension) and d.symbols() & found.keys())
    return list(found)
