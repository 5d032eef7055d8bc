"""Products with more terms than the algebra allows, such as the bytes of a tensor."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.dimension import MAX_DEGREE, MAX_TERMS, Dim, Dimension, Monomial, Scope, terms_of

MAX_SIZE_TERMS = 4096
"""Limit on the terms of a size; a hostile file could ask for any number of them."""
MAX_BITS = 4096
"""Limit on the bits of a coefficient; Python prints no number of more than about 14,000 bits."""


def product_of(store: ConstraintStore, factors: Iterable[Dim]) -> Dim | None:
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


def _long_product(scope: Scope, constant: int, factors: Iterable[Dimension]) -> Dim:
    total: dict[Monomial, int] = {(): constant}
    for factor in factors:
        product: dict[Monomial, int] = {}
        for m, c in total.items():
            for n, k in factor.terms:
                monomial = tuple(sorted(m + n))
                product[monomial] = product.get(monomial, 0) + c * k
        total = product
    return scope.make(total)
