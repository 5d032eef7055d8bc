"""The store of an inference: constraints on dims, shapes inferred for unknown ranks, and assumptions of nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Protocol

from shapeinf.constraints import ConstraintStore
from shapeinf.constraints.conditions import try_condition
from shapeinf.constraints.records import Constraint
from shapeinf.errors import Contradiction, ShapeError, Source
from shapeinf.expr import Dimension, DimSize, Interval, Scope
from shapeinf.expr.atoms import Symbol
from shapeinf.expr.extremum import expand_maximum, minimum
from shapeinf.expr.interval import Bounds, BoundsTable, as_interval, bounds_with
from shapeinf.lattice.relaxer import Relaxer
from shapeinf.lattice.shape import OptionalAxes, Shape
from shapeinf.lattice.size_policy import SizePolicy

_DEFAULT = SizePolicy()


class NodeSizePolicy(Protocol):
    """The bounds and constraints of the user on sizes that nodes create; implemented in `inputs.node_sizes`."""

    def narrow(self, name: str, low: int | None, high: int | None) -> tuple[int | None, int | None]:
        """The bounds of a new size. Raises Contradiction."""

    def add_constraints(self, store: ShapeStore, name: str, symbol: Dimension) -> None:
        """Add further constraints on a new size. Raises Contradiction."""


class _NotAcceptedError(Exception):
    """An equality is undone. Internal: caught in `lattice.shape_store`."""


class ShapeStore(ConstraintStore):
    """`ConstraintStore`, and for each unknown rank the shape that it was merged with."""

    def __init__(self, scope: Scope | None = None, policy: SizePolicy | None = None) -> None:
        """No constraints; `scope` is a new one by default."""
        super().__init__(scope or Scope())
        self.shapes: dict[Shape, Shape] = {}
        self.advice: list[Constraint] = []
        """Requirements of some runtimes beyond the operators' definitions: reported, never used in inference."""
        self.policy: SizePolicy = policy or _DEFAULT
        self.assumable: dict[Dimension, bool] = {}
        """For each symbol of an input whether nodes may assume a least size: the user has none. Copies share it."""
        self.unbounded: set[int] = set()
        """Atoms of symbols without an upper bound before any was assumed. Copies share it."""
        self.certain = True
        """Whether constraints stay: those of a body that may not run are undone, and no least size is assumed in it."""
        self.assumed: list[Constraint] = []
        """The assumptions of nodes; without them they run, but with other shapes."""
        self.sizes: NodeSizePolicy | None = None
        """The bounds and constraints of the user on sizes that nodes create. Copies share it."""
        self._relaxer: Relaxer | None = None
        self._join_changes = 0
        """Of a copy, the number of changes of the bounds of join sites when it was made."""

    @property
    def relaxer(self) -> Relaxer:
        """The join points of this inference."""
        if self._relaxer is None:
            self._relaxer = Relaxer(self)
        return self._relaxer

    def canon_shape(self, shape: Shape) -> Shape:
        """The shape with canonical dims; the inferred shape instead of an unknown rank."""
        while shape.dims is None and shape in self.shapes:
            shape = self.shapes[shape]
        if shape.dims is None or not (self.solved or self.narrowed):
            return shape
        dims = tuple(map(self.canon, shape.dims))
        return shape if dims == shape.dims else Shape(dims)

    def add_equal(self, a: DimSize, b: DimSize, source: Source) -> DimSize:
        """As `ConstraintStore.add_equal`; an equation with a maximum that stays pending bounds both sides too."""
        if not self.scope.has_maxima or isinstance(a, int) or isinstance(b, int):
            return super().add_equal(a, b, source)
        version = self.version
        with self._transaction():
            result = super().add_equal(a, b, source)
            if self.version != version and self.prove_eq(a, b) is None:
                for side, bounds in ((a, self.bounds(b)), (b, self.bounds(a))):
                    self._bound(self.canon(side), bounds, source)
        return self.canon(result)

    def try_equal(self, a: DimSize, b: DimSize, source: Source, accept: Callable[[Sequence[Dimension]], bool]) -> bool:
        """Add `a == b` if `accept`, called with the symbols that this changed, agrees; returns whether it holds now.

        Raises Contradiction and changes nothing when it cannot hold.
        """
        before = len(self.changed_symbols)
        try:
            with self._transaction():
                self.add_equal(a, b, source)
                if not accept(self.changed_symbols[before:]):
                    raise _NotAcceptedError
        except _NotAcceptedError:
            return False
        return True

    def interval(self, d: DimSize) -> Interval:
        """As `ConstraintStore.interval`; a lower bound below 0 is improved by maxima and by relations."""
        low, high = self.bounds(d)
        if low < 0 and isinstance(d, Dimension):
            low = max(self.bounds(part)[0] for part in expand_maximum(self.canon(d)))
            low = 0 if low < 0 and self.prove_le(0, d) else low
        return as_interval((low, high))

    def bind_shape(self, unknown: Shape, shape: Shape, source: Source) -> Shape:
        """Bind an unknown rank to `shape`; returns the canonical shape. Raises ShapeError when it has another rank."""
        first, second = self.canon_shape(unknown), self.canon_shape(shape)
        if first is second:
            return first
        known, some = (second, first) if isinstance(first, OptionalAxes) else (first, second)
        if isinstance(some, OptionalAxes) and known.dims is not None:
            return self._bind(some, self._choose_axes(some, known, source), source)
        return self._bind(known, some, source)

    def _bind(self, left: Shape, right: Shape, source: Source) -> Shape:
        """Bind two shapes in canonical form that are not the same; see `bind_shape`."""
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
        self._invalidate()
        return self.canon_shape(left)

    def _choose_axes(self, some: OptionalAxes, shape: Shape, source: Source) -> Shape:
        """The axes that are present at the rank of a shape; adds the equality of sizes, 1 for absent axes.

        A declared shape adds nothing about named dims.
        """
        rank = len(shape)
        if not some.allows(rank):
            axes = Shape(d for d, _ in some.axes)
            raise ShapeError(f"shapes must be of equal rank: {source.reason}", operands=(str(axes), str(shape)))
        chosen = some.with_rank(rank)
        if chosen is None:
            return shape
        equal = [] if source.assumed else list(zip(chosen, shape, strict=True))
        if rank < len(some.axes):
            equal += [(d, 1) for d in some.optional_sizes if not source.assumed or self._is_open(d)]
        for a, b in equal:
            self.add_equal(a, b, source)
        if rank == len(some.axes) and not source.assumed:
            for d in some.optional_sizes:
                if self.interval(d).lo == 1:
                    self.add_le(2, d, source)
        return chosen

    def _is_open(self, d: DimSize) -> bool:
        form = self.canon(d)
        open_symbol = isinstance(form, Dimension) and form.is_symbol and form.is_anonymous
        return open_symbol and form not in self.assumable  # those of inputs

    def advise_le(self, a: DimSize, b: DimSize, source: Source) -> None:
        """Record that some runtimes require `a <= b`, unless it holds anyway."""
        if self.prove_le(a, b) is not True:
            self.advice.append(Constraint("relation", source, b - a, operands=(a, b)))

    def assume_le(self, a: DimSize, b: DimSize, source: Source, *, include_user_sizes: bool = False) -> bool:
        """Assume `a <= b` if that only excludes assumable sizes; returns whether it holds from now on.

        With `include_user_sizes` it may exclude sizes of the user too, but never sizes that depend on data.
        """
        return self._assume(
            b - a, source, lambda difference: self.certain and self._is_assumable(difference, include_user_sizes)
        )

    def assume_small(self, d: DimSize, limit: int, source: Source) -> bool:
        """Assume `d <= limit` if that only excludes sizes past all upper bounds; returns whether it holds from now on.

        A size without an upper bound may be as small as needed, a size with one as large as the bound. An assumption in
        a body that may not run becomes a precondition of the body.
        """
        return self._assume(limit - d, source, lambda difference: self._least_of_unbounded(difference)[0] >= 0)

    def _assume(self, difference: DimSize, source: Source, allowed: Callable[[Dimension], bool]) -> bool:
        """Assume `difference >= 0`, unless it is known or not `allowed`; returns whether it holds from now on."""
        difference = self.canon(difference)
        if not isinstance(difference, Dimension):
            return difference >= 0
        if self.bounds(difference)[0] >= 0:
            return True
        if not self.policy.assume or not allowed(difference):
            return False
        try:
            self.add_le(0, difference, source)
        except Contradiction:
            return False
        self.assumed.append(Constraint("relation", source, difference))
        return True

    def _is_assumable(self, difference: Dimension, include_user_sizes: bool) -> bool:
        known = self.assumable
        return all(known.get(s, False) or (include_user_sizes and s in known) for s in difference.symbols())

    def _least_of_unbounded(self, d: Dimension) -> Bounds:
        """Bounds of a dim where each symbol without an upper bound has its least value."""

        def lookup(atom: int, symbol: Symbol) -> Bounds:
            low, high = self._known.symbol(atom, symbol)
            if high == inf:
                self.unbounded.add(atom)
            return (max(low, 0), max(low, 0)) if atom in self.unbounded else (low, high)

        return bounds_with(d, BoundsTable(lookup))

    def assumable_size(self, hint: str) -> Dimension:
        """A new unknown for which the assumptions about inputs are allowed."""
        symbol = self.new_size(hint, 0)
        self.assumable[symbol] = True
        return symbol

    def new_size(self, name: str, low: int | None = 0, high: int | None = None) -> Dimension:
        """A new unknown that a node creates, within the bounds that the user specifies for this name.

        The bounds belong to the symbol: they hold from its creation on, in all copies of this store. Raises
        Contradiction.
        """
        if self.sizes is None:
            return self.scope.fresh(name, low, high)
        low, high = self.sizes.narrow(name, low, high)
        symbol = self.scope.fresh(name, low, high)
        self.sizes.add_constraints(self, name, symbol)
        return symbol

    def set_limit(self, unknown: Dimension, most: DimSize) -> None:
        """Set the symbolic upper limit of an unknown, which follows from its operator: not a constraint."""
        high = unknown.symbol.hi if unknown in self.origins else None
        self.scope.limits[unknown] = most if high is None or isinstance(most, int) else minimum(most, high)

    def breaks_assumption(self, ranges: Mapping[Dimension, tuple[int, int | None]]) -> bool:
        """Whether an assumption may fail in these ranges of symbols; None is no upper bound.

        Symbols without a range have their least value. An assumption that has become a number since is evaluated in its
        original form.
        """

        def lookup(atom: int, symbol: Symbol) -> Bounds:
            if atom in bounds:
                low, high = bounds[atom]
                return low, inf if high is None else high
            least = max(self._known.symbol(atom, symbol)[0], 0)
            return least, least

        bounds = {symbol.atom: interval for symbol, interval in ranges.items()}
        known = BoundsTable(lookup)
        for relation in self.assumed:
            form = self.canon(relation.expression)
            expression = form if isinstance(form, Dimension) else relation.expression
            named = isinstance(expression, Dimension) and not ranges.keys().isdisjoint(expression.symbols())
            if named and bounds_with(expression, known)[0] < 0:
                return True
        return False

    def reset(self, before: ShapeStore) -> None:
        """Undo all changes since `before` was copied, except for the bounds of join points, which have widened."""
        self.scope.work += self.count + before.count
        stale = _differing_symbols(self, before)
        self._restore(before)
        self.changed_symbols += stale
        for symbol in stale:
            self._invalidate(symbol)
        self.shapes = dict(before.shapes)
        self.advice = list(before.advice)
        self.assumed = list(before.assumed)
        self.relaxer.publish(before._join_changes)

    @property
    def is_empty(self) -> bool:
        """Whether no constraint has been added so far, and no advice."""
        return self.version == 0 and not self.disjunctions and not self.advice

    def copy(self) -> ShapeStore:
        """An independent store over the same scope, for a what-if run."""
        other = ShapeStore(self.scope)
        other._restore(self)
        other.shapes = dict(self.shapes)
        other.advice = list(self.advice)
        other.assumed = list(self.assumed)
        other.version = self.version
        other.certain = self.certain
        other._join_changes = 0 if self._relaxer is None else self._relaxer.changes
        other._share(self)
        return other

    def under(self, condition: DimSize, source: Source) -> ShapeStore:
        """A copy in which `condition >= 0` holds; this store where it cannot hold."""
        copy = self.copy()
        return copy if try_condition(copy, condition, source) else self

    def copy_empty(self) -> ShapeStore:
        """A copy of this store as it was before any constraint was added."""
        empty = ShapeStore(self.scope)
        empty.origins = self.origins
        empty._share(self)
        return empty.copy()

    def _share(self, other: ShapeStore) -> None:
        """Share with a store over the same scope what belongs to its symbols and to the inference."""
        self.assumable, self.unbounded, self.sizes = other.assumable, other.unbounded, other.sizes
        self.policy = other.policy


def _differing_symbols(store: ConstraintStore, other: ConstraintStore) -> list[Dimension]:
    """The symbols about which two stores differ, and those that are solved by such symbols."""
    changed: dict[Dimension, None] = {}
    for values, others in ((store.solved, other.solved), (other.solved, store.solved)):
        changed.update((symbol, None) for symbol, value in values.items() if others.get(symbol) is not value)
    for a, b in ((store.ranges, other.ranges), (store.congruences, other.congruences)):
        for entries, find in ((a, b.get), (b, a.get)):
            atoms = [atom for atom, entry in entries.items() if find(atom) is not entry]
            changed.update(dict.fromkeys(map(store.scope.atom_dim, atoms)))
    for condition in {*store.conditions} ^ {*other.conditions}:
        changed.update(dict.fromkeys(condition.symbols()))
    for solved in (store.solved, other.solved) if changed else ():
        for symbol, value in solved.items():
            if isinstance(value, Dimension) and not changed.keys().isdisjoint(value.symbols()):
                changed[symbol] = None
    return list(changed)
