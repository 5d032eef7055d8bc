"""Upper bounds of dims that depend on data, as dims that do not."""

from __future__ import annotations

from collections.abc import Collection

from shapeinf.algebra import Dim, Dimension, minimum, substitute
from shapeinf.algebra.dimension import Floor, Maximum, Symbol
from shapeinf.algebra.interval import finite
from shapeinf.lattice import ShapeFacts


class Ceilings:
    """Finds dims of known symbols that are never less than given ones."""

    def __init__(self, facts: ShapeFacts, known: Collection[Dimension]) -> None:
        """`known` are the symbols that will have a value."""
        self.facts = facts
        self.known = frozenset(known)
        self._symbols: dict[Dimension, Dim | None] = {}

    def of(self, d: Dim) -> Dim | None:
        """A dim of known symbols that is at least `d` wherever the facts hold; None when none is found."""
        if isinstance(d, int) or d.symbols() <= self.known:
            return d
        unknown = d.symbols() - self.known
        if not all(self._grows(d, symbol) for symbol in unknown):
            return finite(self.facts.bounds(d)[1])
        ceilings = {symbol: self._symbol(symbol) for symbol in unknown}
        values = {symbol: ceiling for symbol, ceiling in ceilings.items() if ceiling is not None}
        if len(values) < len(unknown):
            return finite(self.facts.bounds(d)[1])
        found = substitute(d, values)
        return found if isinstance(found, int) or found.symbols() <= self.known else None  # past the algebra's caps

    def _symbol(self, symbol: Dimension) -> Dim | None:
        """The least of the bounds that facts give: a number, or a relation to known symbols."""
        if symbol not in self._symbols:
            found = [] if (high := finite(self.facts.bounds(symbol)[1])) is None else [high]
            bounds: list[Dim] = list(found)
            for relation in self.facts.relations:
                expression = self.facts.canon(relation.expression)
                rest = expression + symbol  # `rest - symbol >= 0`
                if isinstance(rest, int) or rest.symbols() <= self.known:
                    bounds.append(rest)
            self._symbols[symbol] = minimum(*bounds) if bounds else None
        return self._symbols[symbol]

    def _grows(self, d: Dim, symbol: Dimension) -> bool:
        """Whether `d` never falls when the symbol grows and all else stays."""
        if isinstance(d, int) or symbol not in d.symbols():
            return True
        scope = d.scope
        for monomial, coefficient in d.terms:
            holding = [atom for atom in monomial if symbol in scope.symbols_of(atom)]
            if not holding:
                continue
            if coefficient < 0 or not all(self._atom_grows(d, atom, symbol) for atom in holding):
                return False
            if any(self.facts.bounds(scope.atom_dim(atom))[0] < 0 for atom in monomial):
                return False
        return True

    def _atom_grows(self, d: Dimension, number: int, symbol: Dimension) -> bool:
        atom = d.scope.atoms[number]
        if isinstance(atom, Symbol):
            return True
        if isinstance(atom, Maximum):
            return all(self._grows(a, symbol) for a in atom.args)
        assert isinstance(atom, Floor)
        positive = isinstance(atom.denominator, int) and atom.denominator > 0
        return positive and self._grows(atom.numerator, symbol)
