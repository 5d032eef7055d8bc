"""Dims with more terms than the algebra allows, such as the bytes of all tensors: sums, products, canonical forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import prod

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.dimension import MAX_DEGREE, MAX_TERMS, Dimension, DimSize, Monomial, Scope, terms_of

SHORT = 24
"""Sums with this number of terms, and differences of two of them, are far below the cap of the algebra."""

MAX_SIZE_TERMS = 4096
"""Limit on the terms of a size; a hostile file could ask for any number of them."""
MAX_BITS = 4096
"""Limit on the bits of a coefficient; Python prints no number of more than about 14,000 bits."""


def is_long(d: DimSize) -> bool:
    """Whether a dim has enough terms for its arithmetic to reach the cap."""
    return not isinstance(d, int) and len(d.terms) > SHORT


def sum_dims(scope: Scope, dims: Iterable[DimSize]) -> DimSize:
    """The sum of any number of dims; the cap on the number of terms does not apply.

    >>> scope = Scope()
    >>> n = scope.symbol("N")
    >>> sum_dims(scope, [4 * n, 8, 12 * n])
    16*N + 8
    """
    return sum_multiples(scope, Counter(dims))


def sum_multiples(scope: Scope, counts: Mapping[DimSize, int]) -> DimSize:
    """The sum of dims, each as often as its count; as `sum_dims`.

    >>> scope = Scope()
    >>> n = scope.symbol("N")
    >>> sum_multiples(scope, {4 * n: 3, 8: 1})
    12*N + 8
    """
    total: dict[Monomial, int] = {}
    for d, count in counts.items():
        for monomial, coefficient in terms_of(scope, d):
            total[monomial] = total.get(monomial, 0) + count * coefficient
    return scope.make(total)


def map_terms(d: DimSize, change: Callable[[DimSize], DimSize]) -> DimSize:
    """`change(d)`; for a long dim the sum of `change(term)` over its terms."""
    if isinstance(d, int) or not is_long(d):
        return change(d)
    return sum_dims(d.scope, [change(d.scope.make({monomial: coefficient})) for monomial, coefficient in d.terms])


def canonical_form(store: ConstraintStore, d: DimSize) -> DimSize:
    """The canonical form of a dim of any length under the equalities of the store."""
    return d if store.plain else map_terms(d, store.canon)


def product_of(store: ConstraintStore, factors: Iterable[DimSize]) -> DimSize | None:
    """The product of canonical dims, also past the caps of the algebra; None past `MAX_SIZE_TERMS` or `MAX_BITS`."""
    constant = 1
    symbolic: list[Dimension] = []
    for factor in factors:
        if isinstance(factor, int):
            constant *= factor
        else:
            symbolic.append(factor)
    if constant.bit_length() > MAX_BITS:
        return None
    if not symbolic or constant == 0:
        return constant
    terms = prod(len(d.terms) for d in symbolic)
    degree = sum(max(len(monomial) for monomial, _ in d.terms) for d in symbolic)
    if terms > MAX_SIZE_TERMS:
        return None
    if terms <= MAX_TERMS and degree <= MAX_DEGREE and constant < 1 << 63:
        capped = len(store.scope.capped)
        total = constant * prod(symbolic[1:], start=symbolic[0])
        canonical = store.canon(total)
        if len(store.scope.capped) == capped:
            return canonical
    product = _long_product(store.scope, constant, symbolic)
    return None if any(c.bit_length() > MAX_BITS for _, c in terms_of(store.scope, product)) else product


def _long_product(scope: Scope, constant: int, factors: Iterable[Dimension]) -> DimSize:
    total: dict[Monomial, int] = {(): constant}
    for factor in factors:
        product: dict[Monomial, int] = {}
        for m, c in total.items():
            for n, k in factor.terms:
                monomial = tuple(sorted(m + n))
                product[monomial] = product.get(monomial, 0) + c * k
        total = product
    return scope.make(total)
