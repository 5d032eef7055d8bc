"""Facts as a set of integer points that polynomials can be bounded over, by isl's Bernstein expansion.

Where the bound is not attained at a corner of the set, the set is cut in two, and the part with the larger bound again,
until a point attains what is left, or too many cuts were made: every step is a bound.

Each symbol is a coordinate, and so is each floor `f = n // q`, with `q*f <= n <= q*f + q - 1`, and each maximum. What
cannot be said in linear constraints (a product of symbols inside a floor, or in a relation) is left out, so that the
set can only be too large, and what is said of it an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import islice, permutations
from math import floor, inf
from typing import Any

import attrs
import islpy as isl

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.atoms import Floor, Maximum, Symbol
from shapeinf.expr.dimension import Dim, Dimension, Scope
from shapeinf.solver.budget import Budget
from shapeinf.solver.isl_questions import IslLimitReached, number, run_isl
from shapeinf.solver.witnesses import STEPS_PER_CONSTRAINT, holds_at, value_at

MAX_OPERATIONS = 300_000
"""Limit of isl's own operation count, for one bound: less than a second."""
MAX_COORDINATES = 10
MAX_ALTERNATIVES = 4
"""Maxima and guards that are told exactly, as alternatives; the parts of a set double with each, or more."""
MAX_CORNERS = 6
MAX_ORDERS = 64
"""Orders of the symbols in which corners are looked for."""
MAX_CUTS = 48


@attrs.frozen
class Most:
    """What isl says of a dim over a set: the largest value that it can have, and sizes that attain it where known.

    `value` is None where there is no bound; `empty` says that the facts cannot hold.
    """

    value: int | None
    sizes: dict[str, int] = attrs.field(factory=dict)
    tight: bool = False
    empty: bool = False
    unbounded: tuple[Dimension, ...] = ()


def value_range(
    store: ConstraintStore, symbol: Dimension, budget: Budget | None = None
) -> tuple[int | None, int | None] | None:
    """The least and the greatest value of a symbol by all linear facts; None where isl cannot tell.

    Raises Infeasible where the facts cannot hold.

    >>> from shapeinf.errors import Source
    >>> store = ConstraintStore(Scope())
    >>> h = store.scope.symbol("H", 1, 500)
    >>> _ = store.add_equal(2 * ((h + 31) // 32), (h + 15) // 16, Source("concat", "sizes must meet"))
    >>> value_range(store, h)
    (17, 500)
    """
    try:
        writer = _Writer(store, budget or Budget())
        asked, domain, names = writer.question(symbol)
        text = f"{{ [{', '.join([*names, 'asked'])}] : {domain} and asked = {asked} }}"

        def ends(context: Any) -> tuple[int | None, int | None] | None:
            points = isl.Set.read_from_str(context, text)
            low, high = points.dim_min_val(len(names)), points.dim_max_val(len(names))
            if low.is_nan() or high.is_nan():
                return None
            return None if low.is_neginfty() else int(number(low)), None if high.is_infty() else int(number(high))

        found = run_isl(writer.budget, MAX_OPERATIONS, len(names), ends)
    except (IslLimitReached, _TooLarge):
        return None
    if found is None:
        raise Infeasible
    return found


class Infeasible(Exception):  # noqa: N818  (an answer, as StopIteration is)
    """No sizes satisfy all facts."""


class _TooLarge(Exception):  # noqa: N818  (an answer, as StopIteration is)
    """More coordinates than isl can be asked about in reasonable time."""


def maximize(store: ConstraintStore, e: Dimension, enough: float = -inf, budget: Budget | None = None) -> Most | None:
    """The least bound that isl finds for a canonical dim; None where it is too much for isl.

    It need not be less than `enough`.

    >>> from shapeinf.errors import Source
    >>> store = ConstraintStore(Scope())
    >>> p, s = store.scope.symbol("past", 0), store.scope.symbol("seq")
    >>> store.add_le(p + s, 4096, Source("", "assumed"))
    >>> maximize(store, 4 * s * (p + s) + 768 * s + 512 * p).value
    70254592
    """
    try:
        writer = _Writer(store, budget or Budget())
        polynomial, domain, names = writer.question(e)
    except (IslLimitReached, _TooLarge):
        return None
    coordinates = ", ".join(names)
    partial: list[Most] = []

    def answer(context: Any) -> Most:
        points = isl.Set.read_from_str(context, f"{{ [{coordinates}] : {domain} }}")
        if points.is_empty():
            return Most(None, empty=True)
        whole = isl.PwQPolynomial.read_from_str(context, f"{{ [{coordinates}] -> {polynomial} : {domain} }}")
        value = _bernstein(whole)
        if value is None:
            return Most(None, unbounded=tuple(writer.unbounded(points, e)))
        return _Cuts(writer, e, whole, points, value, enough).most(partial)

    try:
        return run_isl(writer.budget, MAX_OPERATIONS, len(names), answer)
    except IslLimitReached:
        return partial[-1] if partial else None


def _bernstein(polynomial: Any) -> int | None:
    """A bound of all integer values; None for none."""
    value = polynomial.bound(isl.fold.max)[0].max()
    return None if value.is_infty() or value.is_nan() else floor(number(value))


class _Cuts:
    """Cuts a set into parts until the bound of the largest is attained."""

    def __init__(self, writer: _Writer, e: Dimension, whole: Any, points: Any, value: int, enough: float) -> None:
        self.writer = writer
        self.e = e
        self.whole = whole
        self.parts: list[tuple[int, int, Any]] = [(-value, 0, points)]
        """A heap: the part with the largest bound first."""
        self.enough = enough
        self.count = 0
        self.best: int | None = None
        self.sizes: dict[str, int] = {}

    def most(self, partial: list[Most]) -> Most:
        """The bound of all parts; what holds where isl may do no more goes into a list."""
        try:
            for _ in range(MAX_CUTS):
                part = self.parts[0]
                self._witness(part[2])
                if self._attained() or -part[0] <= self.enough:
                    break
                halves = self._halves(part)
                if not halves:
                    break
                heappop(self.parts)
                for half in halves:
                    heappush(self.parts, half)
                if not self.parts or self._attained():
                    break
        except isl.Error:
            partial.append(self._known())
            raise
        return self._known()

    def _known(self) -> Most:
        left = [-part[0] for part in self.parts[:1]]
        known = [] if self.best is None else [self.best]
        if not left and not known:
            return Most(None, empty=True)
        return Most(max(left + known), self.sizes, self._attained())

    def _attained(self) -> bool:
        return self.best is not None and all(-part[0] <= self.best for part in self.parts[:1])

    def _witness(self, points: Any) -> None:
        """Look for a point of a part that is larger than those known."""
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
        sides = [(points.dim_max_val(i).sub(points.dim_min_val(i)), i) for i in self.writer.places()]
        length, place = max(((int(number(v)), i) for v, i in sides if not v.is_infty()), default=(0, 0))
        if length == 0:
            return []
        middle = int(number(points.dim_min_val(place))) + length // 2
        found = []
        for low, high in ((None, middle), (middle + 1, None)):
            half = points
            if high is not None:
                half = half.upper_bound_val(isl.dim_type.set, place, isl.Val.read_from_str(half.get_ctx(), str(high)))
            if low is not None:
                half = half.lower_bound_val(isl.dim_type.set, place, isl.Val.read_from_str(half.get_ctx(), str(low)))
            if not half.is_empty():
                value = _bernstein(self.whole.intersect_domain(half))
                self.count += 1
                found.append((bound if value is None else max(bound, -value), self.count, half))
        return found


class _Writer:
    """The coordinates, and isl's text of dims and facts in them."""

    def __init__(self, store: ConstraintStore, budget: Budget) -> None:
        self.store = store
        self.budget = budget
        self.scope: Scope = store.scope
        self.names: dict[object, str] = {}
        self.symbols: dict[Dimension, str] = {}
        """Each symbol as an expression of coordinates."""
        self.constraints: list[str] = []
        self.alternatives = 0

    def question(self, d: Dim) -> tuple[str, str, list[str]]:
        """A dim, all that is known of what is in it, and the coordinates that both are written in."""
        polynomial = self.polynomial(d)  # names the coordinates that the facts must be about
        domain = self.domain()
        return polynomial, domain, list(self.names.values())

    def _coordinate(self, key: object) -> str:
        if len(self.names) >= MAX_COORDINATES:
            raise _TooLarge
        return self.names.setdefault(key, f"x{len(self.names)}")

    def _within(self, name: str, d: Dim) -> None:
        low, high = self.store.bounds(d)
        self.constraints += [f"{int(low)} <= {name}"] if low > -inf else []
        self.constraints += [f"{int(high)} >= {name}"] if high < inf else []

    def polynomial(self, d: Dim) -> str:
        """Any dim."""
        if isinstance(d, int):
            return str(d)
        terms = ["*".join([str(c), *(self._atom(a) for a in m)]) for m, c in d.terms]
        return " + ".join(terms)

    def affine(self, d: Dim) -> str | None:
        """A dim that is linear in coordinates; None for others."""
        if isinstance(d, Dimension) and any(len(m) > 1 for m, _ in d.terms):
            return None
        return self.polynomial(d)

    def _atom(self, number: int) -> str:
        atom, whole = self.scope.atoms[number], self.scope.atom_dim(number)
        if isinstance(atom, Symbol):
            return self._symbol(whole)
        if number not in self.names:
            name = self._coordinate(number)
            self._within(name, whole)
            if isinstance(atom, Floor):
                self._floor(name, atom)
            else:
                self._maximum(name, atom)
        return self.names[number]

    def _symbol(self, symbol: Dimension) -> str:
        if symbol not in self.symbols:
            congruence = self.store.congruences.by_symbol(symbol)
            name = self._coordinate(symbol)
            text = name if congruence is None else f"({congruence.modulus}*{name} + {congruence.rest})"
            self.symbols[symbol] = text
            self._within(text, symbol)
        return self.symbols[symbol]

    def _floor(self, name: str, atom: Floor) -> None:
        numerator = self.affine(atom.numerator)
        if numerator is not None and isinstance(atom.denominator, int):
            q = atom.denominator
            self.constraints.append(f"{q}*{name} <= {numerator} and {q}*{name} + {q - 1} >= {numerator}")

    def _maximum(self, name: str, atom: Maximum) -> None:
        args = [text for text in map(self.affine, atom.args) if text is not None]
        self.constraints += [f"{name} >= {text}" for text in args]
        if len(args) == len(atom.args) and self.alternatives < MAX_ALTERNATIVES:
            self.alternatives += 1
            self.constraints.append("(" + " or ".join(f"{name} = {text}" for text in args) + ")")

    def domain(self) -> str:
        """All linear facts that the coordinates have to do with, directly or through another fact."""
        left = list(self._store())
        known = 0
        while known != len(self.symbols) + len(left):
            known = len(self.symbols) + len(left)
            if not self.budget.take(10 * len(left)):
                raise IslLimitReached
            for fact in tuple(left):
                e, relation = fact
                if e.symbols() & set(self.symbols):
                    left.remove(fact)
                    self._try(lambda: self._constrain(e, relation))  # noqa: B023  (called at once)
        self._add_alternatives()
        return " and ".join(self.constraints) or "1 = 1"

    def _add_alternatives(self) -> None:
        """The guards whose symbols are all there, as alternatives; each once, whichever way round it was told."""
        told = set()
        for disjunction in self.store.disjunctions:
            operands = tuple(map(self.store.canon, disjunction.operands))
            symbols = {s for d in operands if isinstance(d, Dimension) for s in d.symbols()}
            key = (disjunction.template, frozenset(operands))
            if disjunction.equation is not None or not symbols or not symbols <= set(self.symbols) or key in told:
                continue
            if self.alternatives < MAX_ALTERNATIVES and disjunction.alternatives is not None:
                told.add(key)
                self._try(lambda: self._alternative(disjunction.template, operands))  # noqa: B023  (called at once)

    def _alternative(self, template: str, operands: tuple[Dim, ...]) -> None:
        texts = [text for text in map(self.affine, operands) if text is not None]
        if len(texts) == len(operands):
            self.alternatives += 1
            self.constraints.append("(" + template.replace("==", "=").format(*texts) + ")")

    def _try(self, tell: Callable[[], None]) -> None:
        """Tell a fact, or nothing of it where it needs too many coordinates."""
        names, symbols, told = dict(self.names), dict(self.symbols), list(self.constraints)
        try:
            tell()
        except _TooLarge:
            self.names, self.symbols, self.constraints = names, symbols, told

    def _constrain(self, e: Dimension, relation: str) -> None:
        text = self.affine(e)
        if text is not None and relation.startswith("mod"):
            divisor = int(relation[3:])
            self.constraints.append(f"{divisor}*{self._coordinate((e, divisor))} = {text}")
        elif text is not None:
            self.constraints.append(f"0 {relation} {text}")

    def _store(self) -> Iterator[tuple[Dimension, str]]:
        store = self.store
        related: set[int] = set().union(*map(store.related, self.symbols))
        found = [(r.expression, "<=") for r in store.relations if id(r) in related]
        found += [(g.equation, "=") for g in store.disjunctions if g.equation is not None and id(g) in related]
        found += [(d.expression, f"mod{d.divisor}") for d in store.divisibilities if id(d) in related]
        for expression, relation in found:
            e = store.canon(expression)
            if isinstance(e, Dimension):
                yield e, relation

    def unbounded(self, points: Any, e: Dimension) -> Iterator[Dimension]:
        """The symbols of a dim that have no upper bound."""
        order = list(self.names)
        for symbol in sorted(e.symbols(), key=str):
            if symbol in self.names and points.dim_max_val(order.index(symbol)).is_infty():
                yield symbol

    def places(self) -> list[int]:
        """The numbers of the coordinates that stand for symbols."""
        order = list(self.names)
        return [order.index(symbol) for symbol in self.symbols]

    def corners(self, points: Any) -> Iterator[dict[str, int]]:
        """Points at which one symbol after the other is as large as it can be."""
        order = list(self.names)
        symbols = list(self.symbols)
        for arranged in islice(permutations(symbols), MAX_ORDERS):
            left = points
            values: dict[str, int] = {}
            for symbol in arranged:
                place = order.index(symbol)
                largest = left.dim_max_val(place)
                if largest.is_infty() or largest.is_nan():
                    break
                left = left.fix_val(isl.dim_type.set, place, largest)
                congruence = self.store.congruences.by_symbol(symbol)
                value = int(number(largest))
                values[symbol.name] = value if congruence is None else congruence.modulus * value + congruence.rest
            else:
                yield values
