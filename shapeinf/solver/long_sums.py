"""Sums with more terms than the algebra allows: built and rewritten term by term, so that no cap applies."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.dimension import Dim, Monomial, Scope, terms_of

SHORT = 24
"""Sums with this number of terms, and differences of two of them, are far below the cap of the algebra."""


def is_long(d: Dim) -> bool:
    """Whether a dim has enough terms for its arithmetic to reach the cap."""
    return not isinstance(d, int) and len(d.terms) > SHORT


def sum_dims(scope: Scope, dims: Iterable[Dim]) -> Dim:
    """The sum of any number of dims; the cap on the number of terms does not apply.

    >>> scope = Scope()
    >>> n = scope.symbol("N")
    >>> sum_dims(scope, [4 * n, 8, 12 * n])
    16*N + 8
    """
    total: dict[Monomial, int] = {}
    for d in dims:
        for monomial, coefficient in terms_of(scope, d):
            total[monomial] = total.get(monomial, 0) + coefficient
    return scope.make(total)


def map_terms(d: Dim, change: Callable[[Dim], Dim]) -> Dim:
    """`change(d)`; for a long dim the sum of `change(term)` over its terms."""
    if isinstance(d, int) or not is_long(d):
        return change(d)
    return sum_dims(d.scope, [change(d.scope.make({monomial: coefficient})) for monomial, coefficient in d.terms])


def canonical_form(store: ConstraintStore, d: Dim) -> Dim:
    """The canonical form of a dim of any length under the equalities of the store."""
    return d if store.plain else map_terms(d, store.canon)
