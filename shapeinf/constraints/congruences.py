"""Symbols of which a residue is known, such as `H % 32 == 0`, and what that makes of floor divisions.

Inside, such a symbol is written as `modulus*quotient + rest`, with a hidden symbol for the quotient; then every
division that leaves no doubt goes away. What comes out is written in the symbol again: `32*(H//32)` is `H`,
`16*(H//32)` is `H//2`. Both ways are functions, so equal dims come out as one object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd, inf

import attrs

from shapeinf.constraints.records import Range
from shapeinf.errors import Source
from shapeinf.expr.atoms import Floor, Symbol
from shapeinf.expr.dimension import Dim, Dimension, Scope
from shapeinf.expr.equations import has_no_root, pivot
from shapeinf.expr.evaluation import Substitution
from shapeinf.expr.extremum import maximum
from shapeinf.expr.interval import Bounds, BoundsTable, declared_bounds


class NoSolution(Exception):  # noqa: N818  (an answer, as StopIteration is)
    """No integers leave the wanted residue."""


@attrs.frozen
class Congruence:
    """`symbol == modulus*quotient + rest`, where only this module knows the symbol `quotient`."""

    symbol: Dimension
    modulus: int
    rest: int
    quotient: Dimension
    source: Source

    @property
    def atom(self) -> int:
        """The number of the symbol's atom."""
        return self.symbol.atom

    def rounded(self, bounds: Bounds) -> Bounds:
        """Bounds of the symbol, moved inwards to sizes that have the residue."""
        low, high = bounds
        if low != -inf:
            low += (self.rest - int(low)) % self.modulus
        if high != inf:
            high -= (int(high) - self.rest) % self.modulus
        return low, high


class Congruences(dict[int, Congruence]):
    """The residue of each symbol that has one, by the symbol's atom."""

    def __init__(self, scope: Scope, known: Congruences | None = None) -> None:
        """Those of another table."""
        super().__init__(known or {})
        self.scope = scope
        self._atoms: dict[Dimension, int] = {} if known is None else dict(known._atoms)
        """The symbols that quotients belong to, also of residues that were refined or taken back."""

    def of(self, d: Dim) -> list[Congruence]:
        """The residues of the symbols of a dim."""
        if not self or isinstance(d, int):
            return []
        return [self[atom] for atom in sorted(s.atom for s in d.symbols()) if atom in self]

    def rounded(self, atom: int, bounds: Bounds) -> Bounds:
        """Bounds of a symbol, moved inwards where it has a residue."""
        found = self.get(atom)
        return bounds if found is None else found.rounded(bounds)

    def canonical(self, d: Dim) -> Dim:
        """The one form of a dim under the residues; the dim itself where the caps of the algebra are in the way."""
        known = self.of(d)
        if not known:
            return d
        capped = len(self.scope.capped)
        writer = _Writer(known)
        found = writer.back(writer.dim(d))
        return found if len(self.scope.capped) == capped else d

    def inner(self, d: Dim) -> Dim:
        """A dim written in quotients; for asking, never for keeping."""
        known = self.of(d)
        return _Writer(known).dim(d) if known else d

    def outer(self, d: Dim) -> Dim:
        """A dim written in quotients, in symbols again."""
        symbols = d.symbols() if isinstance(d, Dimension) else ()
        return _Writer([r for r in map(self.by_quotient, symbols) if r is not None]).back(d)

    def no_root(self, e: Dimension) -> bool:
        """True when no integers that have the residues make `e` zero."""
        inner = self.inner(e)
        return inner != 0 if isinstance(inner, int) else has_no_root(e) or has_no_root(inner)

    def solution(self, e: Dimension) -> tuple[Dimension, Dim] | None:
        """A symbol for which `e == 0` can be solved, and its value."""
        chosen = pivot(e)
        if chosen is not None:
            return chosen[0], chosen[0] - e * chosen[1]
        inner = self.inner(e)
        chosen = None if isinstance(inner, int) else pivot(inner)
        congruence = None if chosen is None else self.by_quotient(chosen[0])
        if chosen is None or congruence is None:
            return None
        quotient = chosen[0] - inner * chosen[1]
        value = self.outer(quotient * congruence.modulus + congruence.rest)
        inside = () if isinstance(value, int) else value.symbols()
        return None if congruence.symbol in inside else (congruence.symbol, value)

    def by_symbol(self, symbol: Dimension) -> Congruence | None:
        """The residue of a symbol."""
        return self.get(symbol.atom)

    def by_quotient(self, symbol: Dimension) -> Congruence | None:
        """The residue that a hidden symbol belongs to."""
        found = self.get(self._atoms.get(symbol, -1))
        return found if found is not None and found.quotient is symbol else None

    def learn(self, e: Dim, divisor: int, source: Source) -> Congruence | None:
        """The new residue of a symbol that `divisor` divides `e` tells; None when it tells none of one symbol.

        Raises NoSolution when no integers do.
        """
        inner = self.inner(e)
        terms = [] if isinstance(inner, int) else [(m, c % divisor) for m, c in inner.terms if m and c % divisor]
        constant = inner if isinstance(inner, int) else inner.constant
        common = gcd(divisor, *(c for _, c in terms))
        if constant % common:
            raise NoSolution
        modulus = divisor // common
        if len(terms) != 1 or modulus == 1:
            return None
        ((monomial, factor),) = terms
        if not isinstance(self.scope.only_atom(monomial), Symbol):
            return None
        symbol = self.scope.atom_dim(monomial[0])
        rest = -(constant // common) * pow(factor // common, -1, modulus) % modulus
        return self._lifted(symbol, modulus, rest, source)

    def _lifted(self, symbol: Dimension, modulus: int, rest: int, source: Source) -> Congruence:
        """The residue of a symbol, or, for a hidden one, that of the symbol that it is the quotient of."""
        old = self.by_quotient(symbol)
        if old is not None:
            symbol, modulus, rest = old.symbol, old.modulus * modulus, old.modulus * rest + old.rest
        declared = symbol.symbol.lo
        low = None if declared is None else -((rest - declared) // modulus)
        quotient = self.scope.fresh(f"{symbol}//{modulus}", low)
        self._atoms[quotient] = symbol.atom
        return Congruence(symbol, modulus, rest, quotient, source)


def knowledge(ranges: Mapping[int, Range], congruences: Congruences) -> BoundsTable:
    """Bounds as told. It does not hold the facts, which hold it: nothing is left to the garbage collector."""

    def lookup(atom: int, symbol: Symbol) -> Bounds:
        low, high = declared_bounds(atom, symbol)
        told = ranges.get(atom)
        known = (low, high) if told is None else (max(low, told[0][0]), min(high, told[0][1]))
        return congruences.rounded(atom, known) if congruences else known

    return BoundsTable(lookup)


class _Writer(Substitution):
    """Writes dims in quotients; a division or maximum in which a quotient would stay keeps its symbols."""

    def __init__(self, congruences: Sequence[Congruence]) -> None:
        super().__init__({r.symbol: r.quotient * r.modulus + r.rest for r in congruences})
        self.congruences = {r.quotient: r for r in congruences}
        self.symbols = {r.quotient.atom: r.atom for r in congruences}

    def _order(self, atom: int) -> int:
        return self.symbols.get(atom, atom)

    def atom(self, scope: Scope, number: int) -> Dim:
        found = scope.atoms[number]
        whole = scope.atom_dim(number)
        if isinstance(found, Symbol):
            return self.values.get(whole, whole)
        if not self.changes(whole):
            return whole
        if isinstance(found, Floor):
            top, bottom = self.dim(found.numerator), self.dim(found.denominator)
            new = top // bottom
            return self.back(top) // self.back(bottom) if self._stuck(new) else new
        args = [self.dim(a) for a in found.args]
        new = maximum(*args)
        return maximum(*map(self.back, args)) if self._stuck(new) else new

    def _stuck(self, d: Dim) -> bool:
        """Whether a quotient is inside of a division or maximum."""
        if isinstance(d, int):
            return False
        atoms = {a for a in d.atom_numbers() if not isinstance(d.scope.atoms[a], Symbol)}
        return any(s in self.congruences for a in atoms for s in d.scope.symbols_of(a))

    def back(self, d: Dim) -> Dim:
        """A dim of quotients, in symbols again."""
        if isinstance(d, int):
            return d
        total: Dim = 0
        for monomial, coefficient in d.terms:
            total = total + self._term(d.scope, monomial, coefficient)
        return total

    def _term(self, scope: Scope, monomial: Sequence[int], coefficient: int) -> Dim:
        term: Dim = 1
        for atom in sorted(monomial, key=self._order):  # hidden symbols are as old as what was told: no order
            whole = scope.atom_dim(atom)
            congruence = self.congruences.get(whole)
            if congruence is None:
                term = term * whole
                continue
            common = gcd(coefficient, congruence.modulus)
            coefficient //= common
            term = term * ((congruence.symbol - congruence.rest) // (congruence.modulus // common))
        return term * coefficient
