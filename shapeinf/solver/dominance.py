"""Dominance among dims, and monotonicity of a dim in a symbol; both need the signs of differences.

The cheap proof shifts every atom by its lower bound: a difference without negative coefficients in the shifted atoms is
not negative. It decides most pairs, all at once; isl decides some of the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, prod

import numpy as np
import numpy.typing as npt

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.atoms import Atom, Floor, Symbol
from shapeinf.expr.dimension import MAX_DEGREE, Dimension, DimSize, Monomial, terms_of
from shapeinf.expr.interval import Bound
from shapeinf.solver.budget import Budget
from shapeinf.solver.long_dims import canonical_form, is_long
from shapeinf.solver.sampling import sample_points
from shapeinf.solver.witnesses import value_at

MAX_COMPARED = 512
"""Dims that others are compared with; with more candidates than this isl decides none."""
MAX_CELLS = 1 << 24
"""Coefficients of all dims in all monomials; past that all dims stay."""
MAX_PROOFS = 64
"""Pairs that isl decides; most take 1 ms."""
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
        """An upper bound of a dim: positive terms at their maximum, negative ones at 0."""
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


def find_undominated(
    store: ConstraintStore, dims: Sequence[DimSize], proofs: int = MAX_PROOFS, budget: Budget | None = None
) -> list[int]:
    """The indices of the dims that are not proved to be at most another one; `dims` must be distinct.

    Past the budget nothing is proved.

    >>> from shapeinf.expr import Scope
    >>> store = ConstraintStore(Scope())
    >>> x, y = store.scope.symbol("x"), store.scope.symbol("y")
    >>> find_undominated(store, [x, 2 * x * y, y * y, x + y])
    [1, 2]
    """
    forms = [canonical_form(store, d) for d in dims]
    candidates = _compare_coefficients(Shift(store), forms)
    if 1 < len(candidates) <= MAX_COMPARED:
        candidates = _compare_by_isl(store, forms, candidates, proofs, budget or Budget())
    return sorted(candidates)


def _compare_coefficients(shift: Shift, dims: Sequence[DimSize]) -> list[int]:
    polynomials = [shift.dim(d) for d in dims]
    columns = {key: i for i, key in enumerate(dict.fromkeys(key for p in polynomials for key in p))}
    if len(polynomials) * len(columns) > MAX_CELLS:
        return list(range(len(dims)))
    rows = _matrix(polynomials, columns)
    largest = np.empty_like(rows[:MAX_COMPARED])
    candidates: list[int] = []
    for index in sorted(range(len(dims)), key=lambda i: (-sum(polynomials[i].values()), i)):
        row, before = rows[index], largest[: len(candidates)]
        positive = np.flatnonzero(row > 0)  # mostly few columns, and few dims that are as large in them
        near = np.flatnonzero((before[:, positive] >= row[positive]).all(axis=1))
        if not (before[near] >= row).all(axis=1).any():
            if len(candidates) < MAX_COMPARED:
                largest[len(candidates)] = rows[index]
            candidates.append(index)
    return candidates


def _matrix(
    polynomials: Sequence[Shifted], columns: Mapping[tuple[Monomial, int], int]
) -> npt.NDArray[np.int64] | npt.NDArray[np.object_]:
    small = all(abs(c) < 1 << 62 for p in polynomials for c in p.values())
    rows = np.zeros((len(polynomials), max(1, len(columns))), dtype=np.int64 if small else object)
    for i, polynomial in enumerate(polynomials):
        for key, coefficient in polynomial.items():
            rows[i, columns[key]] = coefficient
    return rows


def _compare_by_isl(
    store: ConstraintStore, dims: Sequence[DimSize], candidates: list[int], proofs: int, budget: Budget
) -> list[int]:
    """Compare by isl the pairs that no sample point refutes, the smallest dims first."""
    from shapeinf.solver.integer_sets import decide_le

    symbolic = [d for d in (dims[i] for i in candidates) if isinstance(d, Dimension)]
    points = sample_points(store, {s for d in symbolic for s in d.symbols()}, budget)
    if not budget.take(4 * len(points) * sum(len(d.terms) for d in symbolic)):
        return candidates
    rows = [[value_at(store, dims[i], point) for i in candidates] for point in points]
    complete = [[v for v in row if v is not None] for row in rows if None not in row]
    values = {i: [row[column] for row in complete] for column, i in enumerate(candidates)}
    order = sorted(candidates, key=lambda i: (values[i], -i), reverse=True)
    left = list(order)
    for index in reversed(order):
        for other in left:
            if proofs <= 0 or budget.cut:
                return left
            if is_long(dims[index]) or is_long(dims[other]):
                continue
            if other != index and all(a <= b for a, b in zip(values[index], values[other], strict=True)):
                proofs -= 1
                if decide_le(store, dims[index], dims[other], budget).value:
                    left.remove(index)
                    break
    return left


# -- monotonicity ------------------------------------------------------------------------------------------------------


def is_monotone_in(store: ConstraintStore, d: DimSize, symbol: Dimension) -> bool:
    """Whether a dim is proved not to decrease when a symbol increases and the others stay.

    >>> from shapeinf.expr import Scope
    >>> store = ConstraintStore(Scope())
    >>> h, w = store.scope.symbol("H"), store.scope.symbol("W")
    >>> [is_monotone_in(store, d, h) for d in (h * w - h, 8 * w - h, (h - 1) // 2 * w)]
    [True, False, True]
    """
    return _Monotonicity(store, symbol).holds(d)


class _Monotonicity:
    """Monotonicity in one symbol, with a memo of atoms."""

    def __init__(self, store: ConstraintStore, symbol: Dimension) -> None:
        self.store = store
        self.symbol = symbol
        self.shift = Shift(store)
        self.atoms: dict[int, bool] = {}

    def holds(self, d: DimSize) -> bool:
        if isinstance(d, int) or self.symbol not in d.symbols():
            return True
        for (monomial, _), coefficient in self.shift.dim(d).items():
            for atom in dict.fromkeys(atoms_in(monomial)):
                inside = self.symbol in self.store.scope.symbols_of(atom)
                if inside and (coefficient < 0 or not self._atom(atom)):
                    return False
        return True

    def _atom(self, number: int) -> bool:
        if number not in self.atoms:
            self.atoms[number] = self._holds_for(self.store.scope.atoms[number])
        return self.atoms[number]

    def _holds_for(self, atom: Atom) -> bool:
        if isinstance(atom, Symbol):
            return True
        if isinstance(atom, Floor):
            divisor = atom.denominator
            fixed = isinstance(divisor, int) or self.symbol not in divisor.symbols()
            return fixed and self.store.bounds(divisor)[0] >= 1 and self.holds(atom.numerator)
        return all(map(self.holds, atom.args))
