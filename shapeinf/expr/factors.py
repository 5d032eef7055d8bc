"""Products of two sums, recognized in their expanded form: `a*c - a*d - b*c + b*d` is `(a - b)*(c - d)`.

The number of elements of a tensor is a product of sizes, of which each is at least 0. Plain intervals lose that once
the product is expanded; its factors keep it.
"""

from __future__ import annotations

from shapeinf.expr.dimension import Dimension, Monomial, divide_monomial

MIN_TERMS = 4
"""The number of terms of a product of two sums whose terms do not cancel."""

_MAX_TERMS = 16
"""Larger sums are not factored."""

_Terms = dict[Monomial, int]


def factor_sum(d: Dimension) -> tuple[Dimension, Dimension] | None:
    """Two sums whose product a sum is; None where none are found. One of them has an atom alone as a term.

    >>> from shapeinf.expr.dimension import Scope
    >>> a, b, c = map(Scope().symbol, "abc")
    >>> factor_sum(a * b + a * c - b - c), factor_sum(a * b + a * c - b + c)
    ((a - 1, b + c), None)
    """
    if d not in d.scope.factors:
        d.scope.factors[d] = _factor(d) if MIN_TERMS <= len(d.terms) <= _MAX_TERMS else None
    return d.scope.factors[d]


def _factor(d: Dimension) -> tuple[Dimension, Dimension] | None:
    for atom in _candidates(d):
        factor = {divide_monomial(m, (atom,)) or (): c for m, c in d.terms if atom in m}
        quotient = _exact_quotient({m: c for m, c in d.terms if atom not in m}, factor)
        if quotient is not None:
            first, second = d.scope.make({(atom,): 1, **quotient}), d.scope.make(factor)
            return (first, second) if isinstance(first, Dimension) and isinstance(second, Dimension) else None
    return None


def _candidates(d: Dimension) -> list[int]:
    """The atoms that occur in two terms or more, and in half of the terms at most, but in none as a power."""
    counts: dict[int, int] = {}
    powers = set()
    for monomial, _ in d.terms:
        previous = -1
        for atom in monomial:
            if atom == previous:
                powers.add(atom)
            else:
                counts[atom] = counts.get(atom, 0) + 1
            previous = atom
    return sorted(atom for atom, count in counts.items() if 2 <= count <= len(d.terms) // 2 and atom not in powers)


def _exact_quotient(rest: _Terms, divisor: _Terms) -> _Terms | None:
    """The polynomial whose product with the divisor is `rest`; None where long division finds none."""
    lead = max(divisor)
    quotient: _Terms = {}
    for _ in range(_MAX_TERMS):
        if not rest:
            return quotient
        monomial = max(rest)
        step = divide_monomial(monomial, lead)
        if step is None or rest[monomial] % divisor[lead]:
            return None
        times = rest[monomial] // divisor[lead]
        quotient[step] = quotient.get(step, 0) + times
        for m, c in divisor.items():
            product = tuple(sorted((*m, *step)))
            rest[product] = rest.get(product, 0) - c * times
            if not rest[product]:
                del rest[product]
    return None
