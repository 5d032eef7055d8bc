"""Dims as polynomials in shifted atoms: each atom less its lower bound.

A difference of two dims without negative coefficients in the shifted atoms is not negative.
"""

from __future__ import annotations

from math import inf, prod

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.dimension import MAX_DEGREE, DimSize, Monomial, terms_of
from shapeinf.expr.interval import Bound

UNEXPANDED = -1
"""First element of a monomial of too high a degree to expand: `x*y*... - l*m*...` for lower bounds `l`, `m`, ..."""


Shifted = dict[tuple[Monomial, int], int]
"""A polynomial in shifted atoms, by (monomial, sign); see `Shift`."""


class Shift:
    """Rewrites dims in shifted atoms: each atom less its lower bound.

    A monomial with an atom that has no lower bound counts twice, as itself and as its negative: then a difference
    without negative coefficients does not contain it.
    """

    def __init__(self, store: ConstraintStore) -> None:
        """Lower bounds are those of the store."""
        self.store = store
        self._monomials: dict[Monomial, dict[Monomial, int]] = {}
        self._unsigned: set[Monomial] = set()
        self._lower: dict[int, Bound] = {}

    def dim(self, d: DimSize) -> Shifted:
        """The coefficients of a dim in shifted atoms."""
        total: dict[Monomial, int] = {}
        for monomial, coefficient in terms_of(self.store.scope, d):
            for m, c in self._monomial(monomial).items():
                total[m] = total.get(m, 0) + c * coefficient
        shifted: Shifted = {(m, 1): c for m, c in total.items() if c}
        if self._unsigned:
            shifted.update({(m, -1): -c for m, c in total.items() if c and m in self._unsigned})
        return shifted

    def upper(self, d: DimSize) -> Bound:
        """An upper bound of a dim: positive terms at their maximum, negative ones at 0; inf past the largest float."""
        try:
            return self._sum_of_maxima(d)
        except OverflowError:
            return inf

    def _sum_of_maxima(self, d: DimSize) -> Bound:
        total: Bound = 0
        for (monomial, sign), coefficient in self.dim(d).items():
            if sign < 0:
                return inf
            if coefficient > 0:
                total += coefficient * self._maximum(monomial)
            elif not monomial:
                total += coefficient
        return total

    def _maximum(self, monomial: Monomial) -> Bound:
        if monomial[:1] == (UNEXPANDED,):
            bounds = [self.store.bounds(self.store.scope.atom_dim(atom)) for atom in monomial[1:]]
            return 0 if any(high <= 0 for _, high in bounds) else prod(high for _, high in bounds)
        most: Bound = 1
        for atom in monomial:
            low, high = self.store.bounds(self.store.scope.atom_dim(atom))
            if high <= low:
                return 0
            most *= high - low
        return most

    def _low(self, atom: int) -> Bound:
        if atom not in self._lower:
            self._lower[atom] = self.store.bounds(self.store.scope.atom_dim(atom))[0]
        return self._lower[atom]

    def _monomial(self, monomial: Monomial) -> dict[Monomial, int]:
        shifted = self._monomials.get(monomial)
        if shifted is None:
            expand = self._expand if len(monomial) <= MAX_DEGREE else self._abbreviate  # expanded: 2**degree terms
            shifted = self._monomials[monomial] = expand(monomial)
        return shifted

    def _expand(self, monomial: Monomial) -> dict[Monomial, int]:
        shifted: dict[Monomial, int] = {(): 1}
        for atom in monomial:
            low = self._low(atom)
            product: dict[Monomial, int] = {}
            for m, c in shifted.items():
                longer = (*m, atom)
                product[longer] = product.get(longer, 0) + c
                if low not in (0, -inf):
                    product[m] = product.get(m, 0) + c * int(low)
            shifted = product
        self._unsigned.update(m for m in shifted if any(self._low(a) == -inf for a in m))
        return shifted

    def _abbreviate(self, monomial: Monomial) -> dict[Monomial, int]:
        lows = [self._low(atom) for atom in monomial]
        key = (UNEXPANDED, *monomial)
        if min(lows) < 0:
            self._unsigned.add(key)
            return {key: 1}
        return {key: 1, (): int(prod(map(int, lows)))}


def atoms_in(monomial: Monomial) -> Monomial:
    """The atoms of a monomial of a shifted polynomial."""
    return monomial[1:] if monomial[:1] == (UNEXPANDED,) else monomial
