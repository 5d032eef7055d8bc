"""Elimination of symbols, such as sizes that depend on data, from bounds of dims.

An upper bound may be symbolic: under the constraint `n <= H*W` the upper bound of `4*n` without `n` is `4*H*W`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.atoms import Floor, Maximum, Symbol
from shapeinf.expr.dimension import Dimension, DimSize, Monomial, Scope, divide_monomial, terms_of
from shapeinf.expr.extremum import maximum, minimum
from shapeinf.solver.budget import Budget
from shapeinf.solver.long_dims import canonical_form, is_long

_MAX_RELATIONS = 256
_MAX_CUTS = 2
"""Nesting depth of minima: each level multiplies the queries by the number of arguments."""


class Elimination:
    """Bounds of dims that contain only symbols that `retain` accepts.

    >>> from shapeinf.errors import Source
    >>> store = ConstraintStore(Scope())
    >>> h, n = store.scope.symbol("H"), store.scope.fresh("nonzero")
    >>> store.add_le(n, h * h, Source("nonzero", "no more than all elements"))
    >>> without = Elimination(store, lambda symbol: not symbol.symbol.anonymous)
    >>> without.upper(8 * n + h), without.lower(8 * n + h)
    (8*H*H + H, H)
    """

    def __init__(
        self, store: ConstraintStore, retain: Callable[[Dimension], bool], budget: Budget | None = None
    ) -> None:
        """`store` must not change while this is in use. Past the budget a bound is that of the ranges of symbols."""
        self.store = store
        self.retain = retain
        self.budget = budget or Budget()
        self._cycles = 0
        """How often a symbol occurred in its own bound."""
        self._ready: set[Dimension] = set()
        self._busy: set[Dimension] = set()
        self._cuts = 0
        self._done: dict[tuple[DimSize, bool], DimSize | None] = {}
        self._limits: dict[Dimension, list[DimSize]] | None = None

    def upper(self, d: DimSize) -> DimSize | None:
        """An upper bound of a dim; the dim itself where it has no symbol to eliminate, None where it has no bound."""
        form = canonical_form(self.store, d)
        if isinstance(form, Dimension) and not self.is_retained(form):
            self._prepare(form)
        return self._bound(form, True)

    def lower(self, d: DimSize) -> DimSize | None:
        """A lower bound of a dim; see `upper`."""
        return self._bound(canonical_form(self.store, d), False)

    def is_retained(self, d: DimSize) -> bool:
        """Whether a dim contains no symbol to eliminate."""
        return isinstance(d, int) or all(self.retain(s) for s in d.symbols())

    def unbounded_symbols(self, d: DimSize) -> list[Dimension]:
        """The symbols of a dim to eliminate that have no upper bound."""
        form = canonical_form(self.store, d)
        symbols = form.symbols() if isinstance(form, Dimension) else ()
        return sorted((s for s in symbols if self.upper(s) is None), key=str)

    def _bound(self, d: DimSize, up: bool) -> DimSize | None:
        if isinstance(d, int) or self.is_retained(d):
            return d
        if (d, up) in self._done:
            return self._done[d, up]
        cycles = self._cycles
        bound = self._best(d, up) if self.budget.take(10 * len(d.terms)) else self._number(d, up)
        if not self._busy or cycles == self._cycles:
            self._done[d, up] = bound
        return bound

    def _prepare(self, d: Dimension) -> None:
        """Bound the symbols in the limits of others before these, so that the recursion stays shallow."""
        pending = [(symbol, False) for symbol in sorted(d.symbols(), key=lambda symbol: symbol.atom, reverse=True)]
        while pending:
            symbol, entered = pending.pop()
            if entered:
                self._bound(symbol, True)
            elif symbol not in self._ready and not self.retain(symbol):
                self._ready.add(symbol)
                pending.append((symbol, True))
                below = {s for d in self.limits.get(symbol, ()) if isinstance(d, Dimension) for s in d.symbols()}
                pending += [(s, False) for s in sorted(below, key=lambda symbol: symbol.atom, reverse=True)]

    def _best(self, d: Dimension, up: bool) -> DimSize | None:
        bound = self._tighter(self._sum(d, up), self._number(d, up), up)
        least = self._split_maximum(d) if up else None
        return bound if least is None else self._tighter(bound, least, up)

    def _split_maximum(self, d: Dimension) -> DimSize | None:
        """An upper bound of `rest - k*max(a, b)`, the smaller of `rest - k*a` and `rest - k*b` for `k >= 0`."""
        maxima = [
            (monomial, coefficient, number, atom)
            for monomial, coefficient in d.terms
            if coefficient < 0
            for number in monomial
            if isinstance(atom := d.scope.atoms[number], Maximum) and not self.is_retained(d.scope.atom_dim(number))
        ]
        if len(maxima) != 1 or is_long(d) or self._cuts >= _MAX_CUTS:
            return None
        ((monomial, coefficient, number, atom),) = maxima
        factor = d.scope.monomial_dim(divide_monomial(monomial, (number,)) or ())
        if self.store.bounds(factor)[0] < 0:
            return None
        rest = d.without(monomial)
        self._cuts += 1
        try:
            bounds = [self._bound(rest + factor * coefficient * a, True) for a in atom.args]
        finally:
            self._cuts -= 1
        known = [b for b in bounds if b is not None]
        return minimum(*known) if known else None

    def _number(self, d: DimSize, up: bool) -> int | None:
        if is_long(d):
            return None
        bound = self.store.bounds(d)[int(up)]
        return None if bound in (inf, -inf) else int(bound)

    def _tighter(self, a: DimSize | None, b: DimSize | None, up: bool) -> DimSize | None:
        """The tighter of two bounds; one that exceeds the caps of the algebra does not count."""
        bounds = [d for d in (a, b) if d is not None and self.is_retained(d)]
        if len(bounds) < 2:
            return bounds[0] if bounds else None
        a, b = bounds if up else bounds[::-1]
        if is_long(a) or is_long(b):
            return bounds[0]
        if self.store.prove_le(a, b):
            return bounds[0]
        if self.store.prove_le(b, a):
            return bounds[1]
        tightest = (minimum if up else maximum)(a, b)
        return tightest if self.is_retained(tightest) else bounds[0]

    def _sum(self, d: Dimension, up: bool) -> DimSize | None:
        total: dict[Monomial, int] = {}
        for monomial, coefficient in d.terms:
            part = self._product(d.scope, monomial, up if coefficient > 0 else not up)
            if part is None:
                return None
            for m, c in terms_of(d.scope, part):
                total[m] = total.get(m, 0) + c * coefficient
        return d.scope.make(total)

    def _product(self, scope: Scope, monomial: Monomial, up: bool) -> DimSize | None:
        product = scope.monomial_dim(monomial)
        if self.is_retained(product):
            return product
        factors = [scope.atom_dim(atom) for atom in monomial]
        if len(factors) > 1 and any(self.store.bounds(f)[0] < 0 for f in factors):
            return self._number(product, up)
        limit: DimSize = 1
        for atom in monomial:
            bound = self._atom(scope, atom, up)
            if bound is None or self.store.bounds(bound)[0] < 0 < len(monomial) - 1:
                return self._number(product, up)
            limit = limit * bound
        return limit

    def _atom(self, scope: Scope, number: int, up: bool) -> DimSize | None:
        atom, d = scope.atoms[number], scope.atom_dim(number)
        if self.is_retained(d):
            return d
        if isinstance(atom, Symbol):
            return self._symbol(d, up)
        bound: DimSize | None = None
        if isinstance(atom, Floor):
            if self.is_retained(atom.denominator) and self.store.bounds(atom.denominator)[0] >= 1:
                numerator = self._bound(atom.numerator, up)
                bound = None if numerator is None else numerator // atom.denominator
        else:
            bounds = [self._bound(a, up) for a in atom.args]
            if None not in bounds:
                bound = maximum(*(b for b in bounds if b is not None))
        return self._tighter(bound, self._number(d, up), up)

    def _symbol(self, symbol: Dimension, up: bool) -> DimSize | None:
        bound: DimSize | None = self._number(symbol, up)
        if not up or symbol in self._busy:
            self._cycles += up
            return bound
        self._busy.add(symbol)
        try:
            for limit in self.limits.get(symbol, ()):
                bound = self._tighter(self._bound(limit, True), bound, True)
        finally:
            self._busy.discard(symbol)
        return bound

    @property
    def limits(self) -> dict[Dimension, list[DimSize]]:
        """Symbolic upper limits of symbols, from their creation and from relations."""
        if self._limits is None:
            self._limits = {}
            for unknown, limit in self.store.scope.limits.items():
                form = self.store.canon(unknown)
                if isinstance(form, Dimension) and form.is_symbol and not self.retain(form):
                    self._limits.setdefault(form, []).append(self.store.canon(limit))
            for relation in self.store.relations[:_MAX_RELATIONS]:
                expression = self.store.canon(relation.expression)
                for symbol, limit in _solve_for_symbols(expression):
                    if not self.retain(symbol):
                        self._limits.setdefault(symbol, []).append(limit)
        return self._limits


def _solve_for_symbols(expression: DimSize) -> list[tuple[Dimension, DimSize]]:
    """Each symbol that `expression >= 0` bounds from above, with its bound."""
    solutions: list[tuple[Dimension, DimSize]] = []
    if isinstance(expression, int):
        return solutions
    for monomial, coefficient in expression.terms:
        if coefficient > 0 or len(monomial) != 1:
            continue
        symbol = expression.scope.atom_dim(monomial[0])
        rest = expression.without(monomial)
        if symbol.is_symbol and (isinstance(rest, int) or symbol not in rest.symbols()):
            solutions.append((symbol, rest // -coefficient))
    return solutions
