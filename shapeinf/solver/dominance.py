"""Which of many dims can be the largest: those that another is never below are left out, only where that is proved.

The cheap proof writes every dim in what its atoms are above their lower bounds; where no coefficient of a difference is
negative then, neither is the difference. It decides most pairs, all at once; isl is asked about some of the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, prod

import numpy as np
import numpy.typing as npt

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.dimension import MAX_DEGREE, Dim, Dimension, Monomial
from shapeinf.solver.budget import Budget
from shapeinf.solver.long_sums import canonical_form, is_long
from shapeinf.solver.witnesses import sample_points, value_at

MAX_COMPARED = 512
"""Dims that others are compared with; where more of them are left, isl is not asked about any."""
MAX_CELLS = 1 << 24
"""Coefficients of all dims in all monomials together; past that all dims are kept."""
MAX_PROOFS = 64
"""Pairs that isl is asked about; most take 1 ms."""
WHOLE = -1
"""Stands before the atoms of a monomial of so many that it is not written out: `x*y*... - l*m*...` for its bounds."""

Shifted = dict[tuple[Monomial, int], int]
"""A polynomial in what atoms are above their lower bounds, by (monomial, sign); see `Shift`."""


class Shift:
    """Writes dims in what their atoms are above their lower bounds.

    A monomial with an atom that has no lower bound counts twice, as itself and as its negative: then a difference
    has no negative coefficient only where it has none of that monomial at all.
    """

    def __init__(self, store: ConstraintStore) -> None:
        """Bounds are those of the facts."""
        self.store = store
        self._monomials: dict[Monomial, dict[Monomial, int]] = {}
        self._unsigned: set[Monomial] = set()
        self._lower: dict[int, float] = {}

    def dim(self, d: Dim) -> Shifted:
        """The coefficients of a dim."""
        total: dict[Monomial, int] = {}
        for monomial, coefficient in d.terms if isinstance(d, Dimension) else (((), d),):
            for m, c in self._monomial(monomial).items():
                total[m] = total.get(m, 0) + c * coefficient
        found: Shifted = {(m, 1): c for m, c in total.items() if c}
        if self._unsigned:
            found.update({(m, -1): -c for m, c in total.items() if c and m in self._unsigned})
        return found

    def upper(self, d: Dim) -> float:
        """An upper bound of a dim: positive terms at their most, negative ones at 0."""
        total: float = 0
        for (monomial, sign), coefficient in self.dim(d).items():
            if sign < 0:
                return inf
            if coefficient > 0:
                total += coefficient * self._most(monomial)
            elif not monomial:
                total += coefficient
        return total

    def _most(self, monomial: Monomial) -> float:
        if monomial[:1] == (WHOLE,):
            bounds = [self.store.bounds(self.store.scope.atom_dim(atom)) for atom in monomial[1:]]
            return 0 if any(high <= 0 for _, high in bounds) else prod(high for _, high in bounds)
        result: float = 1
        for atom in monomial:
            low, high = self.store.bounds(self.store.scope.atom_dim(atom))
            if high <= low:
                return 0
            result *= high - low
        return result

    def _low(self, atom: int) -> float:
        if atom not in self._lower:
            self._lower[atom] = self.store.bounds(self.store.scope.atom_dim(atom))[0]
        return self._lower[atom]

    def _monomial(self, monomial: Monomial) -> dict[Monomial, int]:
        found = self._monomials.get(monomial)
        if found is None and len(monomial) > MAX_DEGREE:  # written out it would be 2**degree terms
            lows = [self._low(atom) for atom in monomial]
            whole = (WHOLE, *monomial)
            found = self._monomials[monomial] = {whole: 1}
            if min(lows) < 0:
                self._unsigned.add(whole)
            else:
                found[()] = int(prod(map(int, lows)))
        if found is None:
            found = {(): 1}
            for atom in monomial:
                low = self._low(atom)
                grown: dict[Monomial, int] = {}
                for m, c in found.items():
                    longer = (*m, atom)
                    grown[longer] = grown.get(longer, 0) + c
                    if low not in (0, -inf):
                        grown[m] = grown.get(m, 0) + c * int(low)
                found = grown
            self._monomials[monomial] = found
            self._unsigned.update(m for m in found if any(self._low(a) == -inf for a in m))
        return found


def atoms_in(monomial: Monomial) -> Monomial:
    """The atoms of a monomial of a shifted polynomial."""
    return monomial[1:] if monomial[:1] == (WHOLE,) else monomial


def find_undominated(
    store: ConstraintStore, dims: Sequence[Dim], proofs: int = MAX_PROOFS, budget: Budget | None = None
) -> list[int]:
    """The places of dims of which none is proved to be always at most another one; `dims` must be all different.

    What the budget is not enough for is not proved.

    >>> from shapeinf.expr import Scope
    >>> store = ConstraintStore(Scope())
    >>> x, y = store.scope.symbol("x"), store.scope.symbol("y")
    >>> find_undominated(store, [x, 2 * x * y, y * y, x + y])
    [1, 2]
    """
    forms = [canonical_form(store, d) for d in dims]
    kept = _by_coefficients(Shift(store), forms)
    if 1 < len(kept) <= MAX_COMPARED:
        kept = _by_proof(store, forms, kept, proofs, budget or Budget())
    return sorted(kept)


def _by_coefficients(shift: Shift, dims: Sequence[Dim]) -> list[int]:
    found = [shift.dim(d) for d in dims]
    columns = {key: i for i, key in enumerate(dict.fromkeys(key for row in found for key in row))}
    if len(found) * len(columns) > MAX_CELLS:
        return list(range(len(dims)))
    rows = _matrix(found, columns)
    largest = np.empty_like(rows[:MAX_COMPARED])
    kept: list[int] = []
    for place in sorted(range(len(dims)), key=lambda i: (-sum(found[i].values()), i)):
        row, before = rows[place], largest[: len(kept)]
        there = np.flatnonzero(row > 0)  # mostly few columns, and few dims that are as large in them
        near = np.flatnonzero((before[:, there] >= row[there]).all(axis=1))
        if not (before[near] >= row).all(axis=1).any():
            if len(kept) < MAX_COMPARED:
                largest[len(kept)] = rows[place]
            kept.append(place)
    return kept


def _matrix(
    found: Sequence[Shifted], columns: Mapping[tuple[Monomial, int], int]
) -> npt.NDArray[np.int64] | npt.NDArray[np.object_]:
    small = all(abs(c) < 1 << 62 for row in found for c in row.values())
    rows = np.zeros((len(found), max(1, len(columns))), dtype=np.int64 if small else object)
    for i, row in enumerate(found):
        for key, coefficient in row.items():
            rows[i, columns[key]] = coefficient
    return rows


def _by_proof(store: ConstraintStore, dims: Sequence[Dim], kept: list[int], proofs: int, budget: Budget) -> list[int]:
    """Ask isl, where no sample point shows that the answer is no; the strongest are asked first."""
    from shapeinf.solver.integer_sets import decide_le

    symbolic = [d for d in (dims[i] for i in kept) if isinstance(d, Dimension)]
    points = sample_points(store, {s for d in symbolic for s in d.symbols()}, budget)
    if not budget.take(4 * len(points) * sum(len(d.terms) for d in symbolic)):
        return kept
    rows = [[value_at(store, dims[i], point) for i in kept] for point in points]
    whole = [[v for v in row if v is not None] for row in rows if None not in row]
    values = {i: [row[place] for row in whole] for place, i in enumerate(kept)}
    order = sorted(kept, key=lambda i: (values[i], -i), reverse=True)
    left = list(order)
    for place in reversed(order):
        for other in left:
            if proofs <= 0 or budget.cut:
                return left
            if is_long(dims[place]) or is_long(dims[other]):
                continue
            if other != place and all(a <= b for a, b in zip(values[place], values[other], strict=True)):
                proofs -= 1
                if decide_le(store, dims[place], dims[other], budget).value:
                    left.remove(place)
                    break
    return left
