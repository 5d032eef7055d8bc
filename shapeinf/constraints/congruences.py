"""Congruences of symbols, such as `H % 32 == 0`, and the canonical form of floor divisions under them.

Inside, such a symbol is written as `modulus*quotient + rest`, with a hidden symbol for the quotient; then every
division that is exact disappears. The result is written in the symbol again: `32*(H//32)` is `H`,
`16*(H//32)` is `H//2`. Both ways are functions, so equal dims come out as one object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd, inf

import attrs

from shapeinf.constraints.records import Range
from shapeinf.errors import Source
from shapeinf.expr.atoms import Symbol
from shapeinf.expr.dimension import Dimension, DimSize, Scope
from shapeinf.expr.equations import has_no_root, pivot
from shapeinf.expr.evaluation import Substitution
from shapeinf.expr.extremum import maximum
from shapeinf.expr.interval import Bounds, BoundsTable, declared_bounds


class NoSolution(Exception):  # noqa: N818  (internal, no error)
    """No integers satisfy the congruence. Internal: caught in `constraints.store`."""


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

    def tighten(self, bounds: Bounds) -> Bounds:
        """Bounds of the symbol, moved inwards to sizes that satisfy the congruence."""
        low, high = bounds
        if low != -inf:
            low += (self.rest - int(low)) % self.modulus
        if high != inf:
            high -= (int(high) - self.rest) % self.modulus
        return low, high


class Congruences(dict[int, Congruence]):
    """The congruence of each symbol that has one, by the symbol's atom."""

    def __init__(self, scope: Scope, known: Congruences | None = None) -> None:
        """A copy of another table, or an empty one."""
        if known:
            super().__init__(known)
        self.scope = scope
        self._atoms: dict[Dimension, int] = {} if known is None else dict(known._atoms)
        """The symbols that quotients belong to, also of congruences that were refined or undone."""

    def select(self, d: DimSize) -> list[Congruence]:
        """The congruences of the symbols of a dim."""
        if not self or isinstance(d, int):
            return []
        return [self[atom] for atom in sorted(s.atom for s in d.symbols()) if atom in self]

    def tighten(self, atom: int, bounds: Bounds) -> Bounds:
        """Bounds of a symbol, moved inwards where it has a congruence."""
        congruence = self.get(atom)
        return bounds if congruence is None else congruence.tighten(bounds)

    def canonical(self, d: DimSize) -> DimSize:
        """The canonical form of a dim under the congruences; the dim itself where that exceeds a cap of the algebra."""
        known = self.select(d)
        if not known:
            return d
        capped = len(self.scope.capped)
        writer = _Writer(known)
        form = writer.back(writer.dim(d))
        return form if len(self.scope.capped) == capped else d

    def inner(self, d: DimSize) -> DimSize:
        """A dim written in quotients; only for queries, never to be stored."""
        known = self.select(d)
        return _Writer(known).dim(d) if known else d

    def outer(self, d: DimSize) -> DimSize:
        """A dim written in quotients, in symbols again."""
        symbols = d.symbols() if isinstance(d, Dimension) else ()
        return _Writer([c for c in map(self.find_by_quotient, symbols) if c is not None]).back(d)

    def has_no_root(self, e: Dimension) -> bool:
        """Whether no integers that satisfy the congruences make `e` zero, as far as common factors decide."""
        inner = self.inner(e)
        return inner != 0 if isinstance(inner, int) else has_no_root(e) or has_no_root(inner)

    def solution(self, e: Dimension) -> tuple[Dimension, DimSize] | None:
        """A symbol for which `e == 0` can be solved, and its value; None where there is none."""
        chosen = pivot(e)
        if chosen is not None:
            return chosen[0], chosen[0] - e * chosen[1]
        inner = self.inner(e)
        chosen = None if isinstance(inner, int) else pivot(inner)
        congruence = None if chosen is None else self.find_by_quotient(chosen[0])
        if chosen is None or congruence is None:
            return None
        quotient = chosen[0] - inner * chosen[1]
        value = self.outer(quotient * congruence.modulus + congruence.rest)
        inside = () if isinstance(value, int) else value.symbols()
        return None if congruence.symbol in inside else (congruence.symbol, value)

    def find(self, symbol: Dimension) -> Congruence | None:
        """The congruence of a symbol; None where it has none."""
        return self.get(symbol.atom)

    def find_by_quotient(self, symbol: Dimension) -> Congruence | None:
        """The congruence whose quotient is this hidden symbol; None for any other symbol."""
        congruence = self.get(self._atoms.get(symbol, -1))
        return congruence if congruence is not None and congruence.quotient is symbol else None

    def derive(self, e: DimSize, divisor: int, source: Source) -> Congruence | None:
        """The new congruence of a single symbol that follows where `divisor` divides `e`; None where none does.

        Raises NoSolution where no integers make it so.
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
        return self._lift(symbol, modulus, rest, source)

    def _lift(self, symbol: Dimension, modulus: int, rest: int, source: Source) -> Congruence:
        """The congruence of a symbol, or, for a hidden one, that of the symbol that it is the quotient of."""
        old = self.find_by_quotient(symbol)
        if old is not None:
            symbol, modulus, rest = old.symbol, old.modulus * modulus, old.modulus * rest + old.rest
        declared = symbol.symbol.lo
        low = None if declared is None else -((rest - declared) // modulus)
        quotient = self.scope.fresh(f"{symbol}//{modulus}", low)
        self._atoms[quotient] = symbol.atom
        return Congruence(symbol, modulus, rest, quotient, source)


def known_bounds(ranges: Mapping[int, Range], congruences: Congruences) -> BoundsTable:
    """The bounds in a store, as a table that does not refer to the store: no cycle for the garbage collector."""

    def lookup(atom: int, symbol: Symbol) -> Bounds:
        known = declared_bounds(atom, symbol)
        narrowed = ranges.get(atom)
        if narrowed is not None:
            known = max(known[0], narrowed.bounds[0]), min(known[1], narrowed.bounds[1])
        return congruences.tighten(atom, known) if congruences else known

    return BoundsTable(lookup)


class _Writer(Substitution):
    """Writes dims in quotients; a division or maximum in which a quotient would stay keeps its symbols."""

    def __init__(self, congruences: Sequence[Congruence]) -> None:
        super().__init__({c.symbol: c.quotient * c.modulus + c.rest for c in congruences})
        self.congruences = {c.quotient: c for c in congruences}
        self.symbols = {c.quotient.atom: c.atom for c in congruences}

    def _order(self, atom: int) -> int:
        return self.symbols.get(atom, atom)

    def floor(self, numerator: DimSize, denominator: DimSize) -> DimSize:
        new = numerator // denominator
        return self.back(numerator) // self.back(denominator) if self._contains_quotient(new) else new

    def maximum(self, args: Sequence[DimSize]) -> DimSize:
        new = maximum(*args)
        return maximum(*map(self.back, args)) if self._contains_quotient(new) else new

    def _contains_quotient(self, d: DimSize) -> bool:
        """Whether a quotient is inside of a division or maximum."""
        if isinstance(d, int):
            return False
        atoms = {a for a in d.atom_numbers() if not isinstance(d.scope.atoms[a], Symbol)}
        return any(s in self.congruences for a in atoms for s in d.scope.symbols_of(a))

    def back(self, d: DimSize) -> DimSize:
        """A dim of quotients, in symbols again."""
        if isinstance(d, int):
            return d
        total: DimSize = 0
        for monomial, coefficient in d.terms:
            total = total + self._term(d.scope, monomial, coefficient)
        return total

    def _term(self, scope: Scope, monomial: Sequence[int], coefficient: int) -> DimSize:
        term: DimSize = 1
        for atom in sorted(monomial, key=self._order):  # hidden symbols are created in any order
            factor = scope.atom_dim(atom)
            congruence = self.congruences.get(factor)
            if congruence is None:
                term = term * factor
                continue
            common = gcd(coefficient, congruence.modulus)
            coefficient //= common
            term = term * ((congruence.symbol - congruence.rest) // (congruence.modulus // common))
        return term * coefficient
