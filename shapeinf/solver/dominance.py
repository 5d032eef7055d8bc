"""Dominance among dims: which of them another one is never smaller than.

The comparison of coefficients in shifted atoms (`shifted`) decides most pairs, all at once; isl decides some others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.dimension import Dimension, DimSize, Monomial
from shapeinf.solver.budget import Budget
from shapeinf.solver.long_dims import canonical_form, is_long
from shapeinf.solver.sampling import sample_points
from shapeinf.solver.shifted import Shift, Shifted
from shapeinf.solver.witnesses import value_at

MAX_COMPARED = 512
"""Dims that others are compared with; with more candidates than this isl decides none."""
MAX_CELLS = 1 << 24
"""Coefficients of all dims in all monomials; past that all dims stay."""
MAX_PROOFS = 64
"""Pairs that isl decides; most take 1 ms."""


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
