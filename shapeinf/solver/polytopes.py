"""Bounds of polynomials over the set of integer points of all linear constraints, by isl's Bernstein expansion.

Where the bound is not attained at a corner of the set, the set is cut in two, then the part of the larger bound, until
a point attains the bound or the limit of cuts is reached: the result of every step is a bound.

Each symbol is a coordinate, and so is each floor `f = n // q`, with `q*f <= n <= q*f + q - 1`, and each maximum. A
nonlinear constraint (a product of symbols inside a floor, or in a relation) is omitted: the set can only be too large,
and its bounds stay upper bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import islice, permutations
from math import floor, inf
from typing import Any

import attrs

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.atoms import Floor, Maximum, Symbol
from shapeinf.expr.dimension import Dimension, DimSize, Scope
from shapeinf.expr.interval import Bound
from shapeinf.solver.answers import Infeasible
from shapeinf.solver.budget import Budget
from shapeinf.solver.isl import IslLimitReached, isl, number, run_isl
from shapeinf.solver.witnesses import STEPS_PER_CONSTRAINT, holds_at, value_at

MAX_OPERATIONS = 300_000
"""Limit of isl's own operation count for one bound: less than a second."""
MAX_COORDINATES = 10
MAX_ALTERNATIVES = 4
"""Maxima and disjunctions that are exact, as alternatives; each at least doubles the parts of the set."""
MAX_CORNERS = 6
MAX_ORDERS = 64
"""Orders of the symbols in which corners are searched."""
MAX_CUTS = 48


@attrs.frozen
class LargestValue:
    """The largest value of a dim over a set, by isl, and sizes that attain it where known.

    `value` is None where there is no bound; `empty`: the constraints have no solution.
    """

    value: int | None
    sizes: dict[str, int] = attrs.field(factory=dict)
    tight: bool = False
    empty: bool = False
    unbounded: tuple[Dimension, ...] = ()


def value_range(store: ConstraintStore, symbol: Dimension, budget: Budget) -> tuple[int | None, int | None] | None:
    """See `integer_sets.value_range`."""
    try:
        writer = _CoordinateText(store, budget)
        value, domain, names = writer.query(symbol)
        text = f"{{ [{', '.join([*names, 'value'])}] : {domain} and value = {value} }}"

        def ends(context: Any) -> tuple[int | None, int | None] | None:
            points = isl.Set.read_from_str(context, text)
            low, high = points.dim_min_val(len(names)), points.dim_max_val(len(names))
            if low.is_nan() or high.is_nan():
                return None
            return None if low.is_neginfty() else int(number(low)), None if high.is_infty() else int(number(high))

        bounds = run_isl(writer.budget, MAX_OPERATIONS, len(names), ends)
    except (IslLimitReached, _TooManyCoordinates):
        return None
    if bounds is None:
        raise Infeasible
    return bounds


class _TooManyCoordinates(Exception):  # noqa: N818  (internal, no error)
    """More coordinates than isl handles in reasonable time. Internal: caught in `solver.polytopes`."""


def maximize(
    store: ConstraintStore, e: Dimension, enough: Bound = -inf, budget: Budget | None = None
) -> LargestValue | None:
    """The least upper bound of a canonical dim by isl; None past the limits of isl.

    A bound of at most `enough` is not improved.

    >>> from shapeinf.errors import Source
    >>> store = ConstraintStore(Scope())
    >>> p, s = store.scope.symbol("past", 0), store.scope.symbol("seq")
    >>> store.add_le(p + s, 4096, Source("", "assumed"))
    >>> maximize(store, 4 * s * (p + s) + 768 * s + 512 * p).value
    70254592
    """
    try:
        writer = _CoordinateText(store, budget or Budget())
        polynomial, domain, names = writer.query(e)
    except (IslLimitReached, _TooManyCoordinates):
        return None
    coordinates = ", ".join(names)
    partial: list[LargestValue] = []

    def answer(context: Any) -> LargestValue:
        points = isl.Set.read_from_str(context, f"{{ [{coordinates}] : {domain} }}")
        if points.is_empty():
            return LargestValue(None, empty=True)
        objective = isl.PwQPolynomial.read_from_str(context, f"{{ [{coordinates}] -> {polynomial} : {domain} }}")
        value = _bernstein(objective)
        if value is None:
            return LargestValue(None, unbounded=tuple(writer.unbounded_symbols(points, e)))
        return _Subdivision(writer, e, objective, points, value, enough).run(partial)

    try:
        return run_isl(writer.budget, MAX_OPERATIONS, len(names), answer)
    except IslLimitReached:
        return partial[-1] if partial else None


def _bernstein(polynomial: Any) -> int | None:
    """An upper bound of all integer values, None where there is none."""
    value = polynomial.bound(isl.fold.max)[0].max()
    return None if value.is_infty() or value.is_nan() else floor(number(value))


class _Subdivision:
    """A set that is cut into parts until the bound of the part with the largest one is attained."""

    def __init__(
        self, writer: _CoordinateText, e: Dimension, objective: Any, points: Any, value: int, enough: Bound
    ) -> None:
        self.writer = writer
        self.e = e
        self.objective = objective
        self.parts: list[tuple[int, int, Any]] = [(-value, 0, points)]
        """A heap: the part with the largest bound first."""
        self.enough = enough
        self.count = 0
        self.best: int | None = None
        self.sizes: dict[str, int] = {}

    def run(self, partial: list[LargestValue]) -> LargestValue:
        """The bound of all parts; when isl reaches its limit, the bound so far goes to `partial`."""
        try:
            for _ in range(MAX_CUTS):
                part = self.parts[0]
                self._try_corners(part[2])
                if self._is_attained() or -part[0] <= self.enough:
                    break
                halves = self._halves(part)
                if not halves:
                    break
                heappop(self.parts)
                for half in halves:
                    heappush(self.parts, half)
                if not self.parts or self._is_attained():
                    break
        except isl.Error:
            partial.append(self._best_bound())
            raise
        return self._best_bound()

    def _best_bound(self) -> LargestValue:
        partial = [-part[0] for part in self.parts[:1]]
        known = [] if self.best is None else [self.best]
        if not partial and not known:
            return LargestValue(None, empty=True)
        return LargestValue(max(partial + known), self.sizes, self._is_attained())

    def _is_attained(self) -> bool:
        return self.best is not None and all(-part[0] <= self.best for part in self.parts[:1])

    def _try_corners(self, points: Any) -> None:
        """Search a part for a point with a larger value than those known."""
        store = self.writer.store
        names = {s.name for s in self.e.symbols()}
        if not self.writer.budget.take(STEPS_PER_CONSTRAINT * MAX_CORNERS * store.count):
            return
        for corner in islice(self.writer.corners(points), MAX_CORNERS):
            value = value_at(store, self.e, corner)
            if value is not None and (self.best is None or value > self.best) and holds_at(store, corner):
                self.best, self.sizes = value, {name: corner[name] for name in names}

    def _halves(self, part: tuple[int, int, Any]) -> list[tuple[int, int, Any]]:
        """The parts on both sides of a cut through the longest side, with their bounds; none for a single point."""
        bound, _, points = part
        sides = [(points.dim_max_val(i).sub(points.dim_min_val(i)), i) for i in self.writer.symbol_positions()]
        length, axis = max(((int(number(v)), i) for v, i in sides if not v.is_infty()), default=(0, 0))
        if length == 0:
            return []
        middle = int(number(points.dim_min_val(axis))) + length // 2
        halves = []
        for low, high in ((None, middle), (middle + 1, None)):
            half = points
            if high is not None:
                half = half.upper_bound_val(isl.dim_type.set, axis, isl.Val.read_from_str(half.get_ctx(), str(high)))
            if low is not None:
                half = half.lower_bound_val(isl.dim_type.set, axis, isl.Val.read_from_str(half.get_ctx(), str(low)))
            if not half.is_empty():
                value = _bernstein(self.objective.intersect_domain(half))
                self.count += 1
                halves.append((bound if value is None else max(bound, -value), self.count, half))
        return halves


class _CoordinateText:
    """The coordinates, and the text of dims and constraints in them for isl."""

    def __init__(self, store: ConstraintStore, budget: Budget) -> None:
        self.store = store
        self.budget = budget
        self.scope: Scope = store.scope
        self.names: dict[object, str] = {}
        self.symbols: dict[Dimension, str] = {}
        """Each symbol as an expression of coordinates."""
        self.constraints: list[str] = []
        self.alternatives = 0

    def query(self, d: DimSize) -> tuple[str, str, list[str]]:
        """The texts of a dim and of the constraints on what it contains, and the coordinates of both."""
        polynomial = self.polynomial(d)  # names the coordinates that select the constraints
        domain = self.domain()
        return polynomial, domain, list(self.names.values())

    def _coordinate(self, key: object) -> str:
        if len(self.names) >= MAX_COORDINATES:
            raise _TooManyCoordinates
        return self.names.setdefault(key, f"x{len(self.names)}")

    def _add_bounds(self, name: str, d: DimSize) -> None:
        low, high = self.store.bounds(d)
        self.constraints += [f"{int(low)} <= {name}"] if low > -inf else []
        self.constraints += [f"{int(high)} >= {name}"] if high < inf else []

    def polynomial(self, d: DimSize) -> str:
        """The text of any dim."""
        if isinstance(d, int):
            return str(d)
        terms = ["*".join([str(c), *(self._atom(a) for a in m)]) for m, c in d.terms]
        return " + ".join(terms)

    def affine(self, d: DimSize) -> str | None:
        """The text of a dim that is linear in coordinates; None for others."""
        if isinstance(d, Dimension) and any(len(m) > 1 for m, _ in d.terms):
            return None
        return self.polynomial(d)

    def _atom(self, atom_number: int) -> str:
        atom, d = self.scope.atoms[atom_number], self.scope.atom_dim(atom_number)
        if isinstance(atom, Symbol):
            return self._symbol(d)
        if atom_number not in self.names:
            name = self._coordinate(atom_number)
            self._add_bounds(name, d)
            if isinstance(atom, Floor):
                self._add_floor(name, atom)
            else:
                self._add_maximum(name, atom)
        return self.names[atom_number]

    def _symbol(self, symbol: Dimension) -> str:
        if symbol not in self.symbols:
            congruence = self.store.congruences.find(symbol)
            name = self._coordinate(symbol)
            text = name if congruence is None else f"({congruence.modulus}*{name} + {congruence.rest})"
            self.symbols[symbol] = text
            self._add_bounds(text, symbol)
        return self.symbols[symbol]

    def _add_floor(self, name: str, atom: Floor) -> None:
        numerator = self.affine(atom.numerator)
        if numerator is not None and isinstance(atom.denominator, int):
            q = atom.denominator
            self.constraints.append(f"{q}*{name} <= {numerator} and {q}*{name} + {q - 1} >= {numerator}")

    def _add_maximum(self, name: str, atom: Maximum) -> None:
        args = [text for text in map(self.affine, atom.args) if text is not None]
        self.constraints += [f"{name} >= {text}" for text in args]
        if len(args) == len(atom.args) and self.alternatives < MAX_ALTERNATIVES:
            self.alternatives += 1
            self.constraints.append("(" + " or ".join(f"{name} = {text}" for text in args) + ")")

    def domain(self) -> str:
        """The text of all linear constraints that involve the coordinates, directly or through another constraint."""
        pending = list(self._pending_constraints())
        known = 0
        while known != len(self.symbols) + len(pending):
            known = len(self.symbols) + len(pending)
            if not self.budget.take(10 * len(pending)):
                raise IslLimitReached
            for constraint in tuple(pending):
                e, relation = constraint
                if e.symbols() & set(self.symbols):
                    pending.remove(constraint)
                    self._add_or_skip(lambda: self._add_constraint(e, relation))  # noqa: B023  (called at once)
        self._add_alternatives()
        return " and ".join(self.constraints) or "1 = 1"

    def _add_alternatives(self) -> None:
        """Add the disjunctions of symbols that are all coordinates; one of each set of operands."""
        added = set()
        for disjunction in (c for c in self.store.pending() if c.kind == "disjunction"):
            operands = tuple(map(self.store.canon, disjunction.operands))
            symbols = {s for d in operands if isinstance(d, Dimension) for s in d.symbols()}
            key = (disjunction.template, frozenset(operands))
            if not symbols or not symbols <= set(self.symbols) or key in added:
                continue
            if self.alternatives < MAX_ALTERNATIVES and disjunction.alternatives is not None:
                added.add(key)
                self._add_or_skip(lambda: self._add_alternative(disjunction.template, operands))  # noqa: B023  (called at once)

    def _add_alternative(self, template: str, operands: tuple[DimSize, ...]) -> None:
        texts = [text for text in map(self.affine, operands) if text is not None]
        if len(texts) == len(operands):
            self.alternatives += 1
            self.constraints.append("(" + template.replace("==", "=").format(*texts) + ")")

    def _add_or_skip(self, add: Callable[[], None]) -> None:
        """Add a constraint, or skip it where it needs too many coordinates."""
        names, symbols, constraints = dict(self.names), dict(self.symbols), list(self.constraints)
        try:
            add()
        except _TooManyCoordinates:
            self.names, self.symbols, self.constraints = names, symbols, constraints

    def _add_constraint(self, e: Dimension, relation: str) -> None:
        text = self.affine(e)
        if text is not None and relation.startswith("mod"):
            divisor = int(relation[3:])
            self.constraints.append(f"{divisor}*{self._coordinate((e, divisor))} = {text}")
        elif text is not None:
            self.constraints.append(f"0 {relation} {text}")

    def _pending_constraints(self) -> Iterator[tuple[Dimension, str]]:
        """Relations, divisibilities and equalities on the symbols, as canonical dims with their sign."""
        store = self.store
        related: set[int] = set().union(*map(store.related_ids, self.symbols))
        pending = [c for c in store.pending() if id(c) in related]
        for c in sorted(pending, key=lambda c: c.kind == "divisibility"):  # they come last
            e = store.canon(c.expression)
            sign = {"relation": "<=", "equality": "=", "divisibility": f"mod{c.divisor}"}.get(c.kind)
            if isinstance(e, Dimension) and sign is not None:
                yield e, sign

    def unbounded_symbols(self, points: Any, e: Dimension) -> Iterator[Dimension]:
        """The symbols of a dim that have no upper bound."""
        order = list(self.names)
        for symbol in sorted(e.symbols(), key=str):
            if symbol in self.names and points.dim_max_val(order.index(symbol)).is_infty():
                yield symbol

    def symbol_positions(self) -> list[int]:
        """The positions of the coordinates of symbols."""
        order = list(self.names)
        return [order.index(symbol) for symbol in self.symbols]

    def corners(self, points: Any) -> Iterator[dict[str, int]]:
        """Points that maximize one symbol after the other, in several orders."""
        order = list(self.names)
        symbols = list(self.symbols)
        for arranged in islice(permutations(symbols), MAX_ORDERS):
            part = points
            values: dict[str, int] = {}
            for symbol in arranged:
                axis = order.index(symbol)
                largest = part.dim_max_val(axis)
                if largest.is_infty() or largest.is_nan():
                    break
                part = part.fix_val(isl.dim_type.set, axis, largest)
                congruence = self.store.congruences.find(symbol)
                value = int(number(largest))
                values[symbol.name] = value if congruence is None else congruence.modulus * value + congruence.rest
            else:
                yield values
