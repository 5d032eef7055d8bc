"""Symbols that a question does not name, such as sizes that depend on data, replaced by what bounds them.

An upper bound may be symbolic: where a fact says `n <= H*W`, the upper bound of `4*n` without `n` is `4*H*W`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.atoms import Floor, Maximum, Symbol
from shapeinf.expr.dimension import Dim, Dimension, Monomial, Scope, terms_of
from shapeinf.expr.extremum import maximum, minimum
from shapeinf.solver.budget import Budget
from shapeinf.solver.long_sums import canonical_form, is_long

_MAX_RELATIONS = 256
_MAX_CUTS = 2
"""How deeply minima inside of minima are looked at: each is as many questions as it has parts."""


class Elimination:
    """Bounds of dims that hold no symbol but those that `kept` says yes to.

    >>> from shapeinf.errors import Source
    >>> store = ConstraintStore(Scope())
    >>> h, n = store.scope.symbol("H"), store.scope.fresh("nonzero")
    >>> store.add_le(n, h * h, Source("nonzero", "no more than all elements"))
    >>> without = Elimination(store, lambda symbol: not symbol.symbol.anonymous)
    >>> without.upper(8 * n + h), without.lower(8 * n + h)
    (8*H*H + H, H)
    """

    def __init__(self, store: ConstraintStore, kept: Callable[[Dimension], bool], budget: Budget | None = None) -> None:
        """`store` must not change while this is in use. What the budget is not enough for has the bounds of symbols."""
        self.store = store
        self.kept = kept
        self.budget = budget or Budget()
        self._circles = 0
        """How often a symbol turned up in its own bound."""
        self._ready: set[Dimension] = set()
        self._busy: set[Dimension] = set()
        self._cuts = 0
        self._done: dict[tuple[Dim, bool], Dim | None] = {}
        self._limits: dict[Dimension, list[Dim]] | None = None

    def upper(self, d: Dim) -> Dim | None:
        """An upper bound of a dim; the dim itself where nothing is to go, None where there is no bound."""
        form = canonical_form(self.store, d)
        if isinstance(form, Dimension) and not self.stays(form):
            self._prepare(form)
        return self._bound(form, True)

    def lower(self, d: Dim) -> Dim | None:
        """A lower bound of a dim."""
        return self._bound(canonical_form(self.store, d), False)

    def stays(self, d: Dim) -> bool:
        """Whether a dim holds no symbol that is to go."""
        return isinstance(d, int) or all(self.kept(s) for s in d.symbols())

    def unbounded(self, d: Dim) -> list[Dimension]:
        """The symbols of a dim that are to go and have no upper bound."""
        form = canonical_form(self.store, d)
        symbols = form.symbols() if isinstance(form, Dimension) else ()
        return sorted((s for s in symbols if self.upper(s) is None), key=str)

    def _bound(self, d: Dim, up: bool) -> Dim | None:
        if isinstance(d, int) or self.stays(d):
            return d
        if (d, up) in self._done:
            return self._done[d, up]
        circles = self._circles
        found = self._found(d, up) if self.budget.take(10 * len(d.terms)) else self._number(d, up)
        if not self._busy or circles == self._circles:
            self._done[d, up] = found
        return found

    def _prepare(self, d: Dimension) -> None:
        """Bound the symbols that others are bounded by before these, so that no bound goes deep."""
        left = [(symbol, False) for symbol in sorted(d.symbols(), key=_age, reverse=True)]
        while left:
            symbol, entered = left.pop()
            if entered:
                self._bound(symbol, True)
            elif symbol not in self._ready and not self.kept(symbol):
                self._ready.add(symbol)
                left.append((symbol, True))
                below = {s for d in self.limits.get(symbol, ()) if isinstance(d, Dimension) for s in d.symbols()}
                left += [(s, False) for s in sorted(below, key=_age, reverse=True)]

    def _found(self, d: Dimension, up: bool) -> Dim | None:
        found = self._nearer(self._sum(d, up), self._number(d, up), up)
        least = self._least(d) if up else None
        return found if least is None else self._nearer(found, least, up)

    def _least(self, d: Dimension) -> Dim | None:
        """An upper bound of `rest - k*max(a, b)`, the smaller of `rest - k*a` and `rest - k*b` for `k >= 0`."""
        found = [(m, atom) for m, c in d.terms if c < 0 for atom in m if isinstance(d.scope.atoms[atom], Maximum)]
        found = [(m, atom) for m, atom in found if not self.stays(d.scope.atom_dim(atom))]
        if len(found) != 1 or is_long(d) or self._cuts >= _MAX_CUTS:
            return None
        ((monomial, atom),) = found
        place = monomial.index(atom)
        factor = d.scope.make({monomial[:place] + monomial[place + 1 :]: 1})
        maximal = d.scope.atoms[atom]
        if not isinstance(maximal, Maximum) or self.store.bounds(factor)[0] < 0:
            return None
        rest = d.without(monomial)
        taken = factor * -dict(d.terms)[monomial]
        self._cuts += 1
        try:
            bounds = [self._bound(rest - taken * a, True) for a in maximal.args]
        finally:
            self._cuts -= 1
        known = [b for b in bounds if b is not None]
        return minimum(*known) if known else None

    def _number(self, d: Dim, up: bool) -> int | None:
        if is_long(d):
            return None
        bound = self.store.bounds(d)[int(up)]
        return None if bound in (inf, -inf) else int(bound)

    def _nearer(self, a: Dim | None, b: Dim | None, up: bool) -> Dim | None:
        """The better of two bounds; what the caps of the algebra made of one is none."""
        found = [d for d in (a, b) if d is not None and self.stays(d)]
        if len(found) < 2:
            return found[0] if found else None
        a, b = found if up else found[::-1]
        if is_long(a) or is_long(b):
            return found[0]
        if self.store.prove_le(a, b):
            return found[0]
        if self.store.prove_le(b, a):
            return found[1]
        nearest = (minimum if up else maximum)(a, b)
        return nearest if self.stays(nearest) else found[0]

    def _sum(self, d: Dimension, up: bool) -> Dim | None:
        total: dict[Monomial, int] = {}
        for monomial, coefficient in d.terms:
            part = self._product(d.scope, monomial, up if coefficient > 0 else not up)
            if part is None:
                return None
            for m, c in terms_of(d.scope, part):
                total[m] = total.get(m, 0) + c * coefficient
        return d.scope.make(total)

    def _product(self, scope: Scope, monomial: Monomial, up: bool) -> Dim | None:
        whole = scope.monomial_dim(monomial)
        if self.stays(whole):
            return whole
        factors = [scope.atom_dim(atom) for atom in monomial]
        if len(factors) > 1 and any(self.store.bounds(f)[0] < 0 for f in factors):
            return self._number(whole, up)
        result: Dim = 1
        for atom in monomial:
            bound = self._atom(scope, atom, up)
            if bound is None or self.store.bounds(bound)[0] < 0 < len(monomial) - 1:
                return self._number(whole, up)
            result = result * bound
        return result

    def _atom(self, scope: Scope, number: int, up: bool) -> Dim | None:
        atom, whole = scope.atoms[number], scope.atom_dim(number)
        if self.stays(whole):
            return whole
        if isinstance(atom, Symbol):
            return self._symbol(whole, up)
        found: Dim | None = None
        if isinstance(atom, Floor):
            if self.stays(atom.denominator) and self.store.bounds(atom.denominator)[0] >= 1:
                numerator = self._bound(atom.numerator, up)
                found = None if numerator is None else numerator // atom.denominator
        else:
            bounds = [self._bound(a, up) for a in atom.args]
            if None not in bounds:
                found = maximum(*(b for b in bounds if b is not None))
        return self._nearer(found, self._number(whole, up), up)

    def _symbol(self, symbol: Dimension, up: bool) -> Dim | None:
        found: Dim | None = self._number(symbol, up)
        if not up or symbol in self._busy:
            self._circles += up
            return found
        self._busy.add(symbol)
        try:
            for limit in self.limits.get(symbol, ()):
                found = self._nearer(self._bound(limit, True), found, True)
        finally:
            self._busy.discard(symbol)
        return found

    @property
    def limits(self) -> dict[Dimension, list[Dim]]:
        """What a symbol is at most, by what it was made of and by relations."""
        if self._limits is None:
            self._limits = {}
            for made, limit in self.store.scope.limits.items():
                found = self.store.canon(made)
                if isinstance(found, Dimension) and found.is_symbol and not self.kept(found):
                    self._limits.setdefault(found, []).append(self.store.canon(limit))
            for relation in self.store.relations[:_MAX_RELATIONS]:
                expression = self.store.canon(relation.expression)
                for symbol, limit in _solved(expression):
                    if not self.kept(symbol):
                        self._limits.setdefault(symbol, []).append(limit)
        return self._limits


def _age(symbol: Dimension) -> int:
    return symbol.atom


def _solved(expression: Dim) -> list[tuple[Dimension, Dim]]:
    """Each symbol that `expression >= 0` bounds from above, with its bound."""
    found: list[tuple[Dimension, Dim]] = []
    for monomial, coefficient in expression.terms if isinstance(expression, Dimension) else ():
        assert isinstance(expression, Dimension)
        if coefficient > 0 or len(monomial) != 1:
            continue
        symbol = expression.scope.atom_dim(monomial[0])
        rest = expression.without(monomial)
        if symbol.is_symbol and (isinstance(rest, int) or symbol not in rest.symbols()):
            found.append((symbol, rest // -coefficient))
    return found
