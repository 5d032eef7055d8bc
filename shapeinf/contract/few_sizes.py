"""The legal sizes of a precondition on one dim, where they are few enough to list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from shapeinf.constraints.records import Clause, any_holds
from shapeinf.expr import Dimension
from shapeinf.lattice import ShapeStore
from shapeinf.solver.budget import Budget

MAX_LISTED = 6
"""The most sizes that are listed in place of an equation."""
MAX_TESTED = 512
"""The most sizes of a dim that are tested."""


def few_sizes(
    symbol: Dimension, clauses: Sequence[Clause], store: ShapeStore, budget: Budget
) -> tuple[int, ...] | None:
    """All sizes of a symbol within its bounds for which one of these clauses holds; None where they are not few.

    The candidates are the roots of equations, else all sizes within the bounds; each is tested.
    """
    low, high = store.bounds(symbol)
    least = max(int(low), 0) if low > -inf else 0
    candidates = _root_candidates(symbol, clauses)
    if candidates is None:
        candidates = range(least, int(high) + 1) if high < inf else None
    if candidates is None or len(candidates) > MAX_TESTED or not budget.take(len(candidates)):
        return None
    within = (size for size in candidates if least <= size <= high)
    sizes = sorted({size for size in within if any_holds(clauses, {symbol.name: size})})
    return tuple(sizes) if 1 <= len(sizes) <= MAX_LISTED else None


def _root_candidates(symbol: Dimension, clauses: Iterable[Clause]) -> Sequence[int] | None:
    """Sizes that include all solutions of these equations; None where a clause is no polynomial equation of the symbol.

    A root of a polynomial with integer coefficients is at most the largest of them plus 1 (Cauchy's bound).
    """
    candidates: set[int] = set()
    for clause in clauses:
        terms = clause.expression.terms if isinstance(clause.expression, Dimension) else ()
        degrees = {len(monomial): coefficient for monomial, coefficient in terms if set(monomial) <= {symbol.atom}}
        highest = max(degrees, default=0)
        if not clause.zero or not highest or len(degrees) < len(terms):
            return None
        if highest == 1:
            candidates.add(max(-degrees.get(0, 0) // degrees[1], 0))
        else:
            candidates.update(range(min(max(map(abs, degrees.values())) + 2, MAX_TESTED + 1)))
    return sorted(candidates)


def sizes_text(label: str, sizes: Sequence[int]) -> str:
    """The sizes in words.

    >>> sizes_text("height", (32, 64, 96)), sizes_text("seq", (1,))
    ('height is 32, 64 or 96', 'seq is 1')
    """
    *most, last = map(str, sizes)
    return f"{label} is {', '.join(most)} or {last}" if most else f"{label} is {last}"
