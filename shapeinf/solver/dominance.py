"""Dominance among dims: which of them another one is never smaller than.

The comparison of coefficients in shifted atoms (`shifted`) decides most pairs; isl decides some others.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.dimension import Dimension, DimSize, Monomial
from shapeinf.solver.budget import Budget
from shapeinf.solver.long_dims import canonical_form, is_long
from shapeinf.solver.sampling import sample_points
from shapeinf.solver.shifted import Shift, Shifted
from shapeinf.solver.witnesses import value_at

MAX_COMPARED = 512
"""Dims that others are compared with; with more candidates than this isl decides none."""
MAX_COEFFICIENTS = 1 << 20
"""Coefficients of all dims together; past that all dims stay."""
MAX_PROOFS = 64
"""Pairs that isl decides; most take 1 ms."""

Key = tuple[Monomial, int]
"""A monomial of a polynomial in shifted atoms, and its sign."""


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
    """The indices of the dims of which no other one has all coefficients at least as large; the first of equal dims."""
    polynomials = [shift.dim(d) for d in dims]
    if sum(map(len, polynomials)) > MAX_COEFFICIENTS:
        return list(range(len(dims)))
    largest = _Largest()
    candidates: list[int] = []
    for index in sorted(range(len(dims)), key=lambda i: (-sum(polynomials[i].values()), i)):
        polynomial = polynomials[index]
        if not largest.dominate(polynomial):
            if len(candidates) < MAX_COMPARED:
                largest.add(polynomial)
            candidates.append(index)
    return candidates


class _Largest:
    """Polynomials with positive and negative coefficients, by the monomials that they have."""

    def __init__(self) -> None:
        self._all: list[tuple[Shifted, list[Key]]] = []
        self._by_key: dict[Key, list[tuple[Shifted, list[Key]]]] = {}

    def add(self, polynomial: Shifted) -> None:
        """Compare others with this one too."""
        entry = (polynomial, [key for key, c in polynomial.items() if c < 0])
        self._all.append(entry)
        for key in polynomial:
            self._by_key.setdefault(key, []).append(entry)

    def dominate(self, polynomial: Shifted) -> bool:
        """Whether all coefficients of a polynomial are at most those of another one."""
        near = self._all
        for key, coefficient in polynomial.items():  # mostly few polynomials have all of its monomials
            if coefficient > 0:
                near = min(near, self._by_key.get(key, _NONE), key=len)
        coefficients = sorted(polynomial.items(), key=lambda item: -item[1])
        for other, negative in near:
            for key, coefficient in coefficients:
                if other.get(key, 0) < coefficient:
                    break
            else:
                if all([key in polynomial for key in negative]):
                    return True
        return False


_NONE: list[tuple[Shifted, list[Key]]] = []


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
    undominated = list(order)
    for index in reversed(order):
        for other in undominated:
            if proofs <= 0 or budget.cut:
                return undominated
            if is_long(dims[index]) or is_long(dims[other]):
                continue
            if other != index and all(a <= b for a, b in zip(values[index], values[other], strict=True)):
                proofs -= 1
                if decide_le(store, dims[index], dims[other], budget).value:
                    undominated.remove(index)
                    break
    return undominated
