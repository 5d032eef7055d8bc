"""Sums that have more terms than the algebra keeps: made and rewritten term by term, never given up."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.dimension import Dim, Monomial, Scope, terms_of

SHORT = 24
"""Sums of so many terms, and differences of two, are nowhere near the cap of the algebra."""


def is_long(d: Dim) -> bool:
    """Whether a dim has so many terms that the algebra may give up on it."""
    return not isinstance(d, int) and len(d.terms) > SHORT


def sum_dims(scope: Scope, dims: Iterable[Dim]) -> Dim:
    """The sum of any number of dims; the cap on the terms of a sum of two does not hold here.

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
    """The sum of what a change makes of the terms of a dim; of the dim itself where it is short."""
    if isinstance(d, int) or not is_long(d):
        return change(d)
    return sum_dims(d.scope, [change(d.scope.make({monomial: coefficient})) for monomial, coefficient in d.terms])


def canonical_form(store: ConstraintStore, d: Dim) -> Dim:
    """The canonical form of a dim under the equalities of the facts, however long it is."""
    return d if store.plain else map_terms(d, store.canon)
