"""Bounds of dims at usual sizes: where a size has no bound, it is less than a cap, as every size in a memory is."""

from __future__ import annotations

from math import inf

from shapeinf.expr.atoms import Floor, Symbol
from shapeinf.expr.dimension import DimSize, Monomial, Scope
from shapeinf.expr.interval import Bounds, BoundsTable, bounds_with, declared_bounds, quotient_bounds

MAX_BASE = 2**31
"""An absolute value that a size without a bound is less than where its powers have no cap."""

HUGE = 1 << 256
"""The absolute value of symbols that stand for expressions past the caps of the algebra, which may be any number."""


def usual_bounds(d: DimSize, known: BoundsTable, cap: int, *, cap_powers: bool = False) -> Bounds:
    """The bounds of a dim, with a cap for the absolute value of symbols without a bound.

    The cap also holds for the product of several different ones, which is a number of elements, and with `cap_powers`
    for powers.
    """
    return _UsualBounds(known, cap_powers).dim(d, cap)


def usual_interval(d: DimSize, cap: int) -> tuple[int, int]:
    """`usual_bounds` from the declared bounds of the symbols.

    >>> usual_interval(3 * Scope().symbol("n", 1, None) + 2, 100)
    (5, 302)
    """
    if isinstance(d, int):
        return d, d
    low, high = usual_bounds(d, BoundsTable(declared_bounds, d.scope.declared_bounds), cap)
    return int(low), int(high)


class _UsualBounds:
    """The bounds of dims and their parts by what is known of symbols, for one call of `usual_bounds`."""

    def __init__(self, known: BoundsTable, cap_powers: bool) -> None:
        self.known = known
        self.cap_powers = cap_powers
        self.memo: dict[tuple[int, int], tuple[int, int]] = {}
        """The bounds of atoms by atom and cap: expressions share their parts, which would be visited over and over."""

    def dim(self, d: DimSize, cap: int) -> tuple[int, int]:
        """The bounds of a dim: the sum of those of its terms."""
        if isinstance(d, int):
            return d, d
        low, high = 0, 0
        for monomial, coefficient in d.terms:
            single = len(monomial) == 1  # the usual case
            ends = self.single(d.scope, monomial[0], cap) if single else self.product(d.scope, monomial, cap)
            products = [coefficient * end for end in ends]
            low, high = low + min(products), high + max(products)
        return low, high

    def single(self, scope: Scope, atom: int, cap: int) -> tuple[int, int]:
        """The bounds of an atom: those that are known, else those at usual sizes."""
        record = scope.atoms[atom]
        known = self.known
        low, high = (
            known.symbol(atom, record) if isinstance(record, Symbol) else bounds_with(scope.atom_dim(atom), known)
        )
        if low == -inf or high == inf:
            ends = self.atom(scope, atom, cap)
            low, high = max(low, ends[0]), min(high, ends[1])
        return int(low), int(high)

    def product(self, scope: Scope, monomial: Monomial, cap: int) -> tuple[int, int]:
        """The bounds of a product of atoms."""
        bounded, unbounded = (1, 1), (1, 1)
        largest, is_capped = cap, True  # the largest product, where that of the sizes is at most the cap
        for atom in monomial:
            low, high = bounds_with(scope.atom_dim(atom), self.known)
            if low != -inf and high != inf:
                bounded = _multiply(bounded, (int(low), int(high)))
                continue
            is_power = not self.cap_powers and _occurs_again(scope, monomial, atom)
            ends = self.atom(scope, atom, min(cap, MAX_BASE) if is_power else cap)
            unbounded = _multiply(unbounded, (int(max(low, ends[0])), int(min(high, ends[1]))))
            if scope.atoms[atom].depth:  # at most `slope * size + constant`
                slope = -(-max(-ends[0], ends[1]) // cap)
                constant = max(map(abs, self.atom(scope, atom, 1)))
                largest *= max(1, slope) + constant
            is_capped = is_capped and not is_power and scope.atom_dim(atom) not in scope.capped
        if is_capped:
            unbounded = max(unbounded[0], -largest), min(unbounded[1], largest)
        return _multiply(bounded, unbounded)

    def atom(self, scope: Scope, atom: int, cap: int) -> tuple[int, int]:
        """The bounds of an atom that has none, from those of the dims in it."""
        bounds = self.memo.get((atom, cap))
        if bounds is None:
            bounds = self.memo[atom, cap] = self._bound_parts(scope, atom, cap)
        return bounds

    def _bound_parts(self, scope: Scope, atom: int, cap: int) -> tuple[int, int]:
        record = scope.atoms[atom]
        if isinstance(record, Symbol):
            most = HUGE if scope.atom_dim(atom) in scope.capped else cap
            return -most, most
        parts = (record.numerator, record.denominator) if isinstance(record, Floor) else record.args
        bounds = [self.dim(part, cap) for part in parts]
        if isinstance(record, Floor):
            low, high = quotient_bounds(*bounds)
            furthest = max(-bounds[0][0], bounds[0][1]) + 1  # for divisors of unknown sign
            return int(max(low, -furthest)), int(min(high, furthest))
        return int(max(b[0] for b in bounds)), int(max(b[1] for b in bounds))


def _occurs_again(scope: Scope, monomial: Monomial, atom: int) -> bool:
    """Whether a symbol of an atom is in another factor of a product too, as in `n*n` and `n*(n//2)`."""
    if monomial.count(atom) > 1:
        return True
    symbols = scope.symbols_of(atom)
    return any([other != atom and not symbols.isdisjoint(scope.symbols_of(other)) for other in monomial])


def _multiply(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)
