"""Floor division in canonical form.

Rewrites (floor semantics need no condition on signs; Python, ONNX): multiples of the divisor leave the floor; the
common factor cancels; `floor((floor(x/d) + y)/q)` is `floor((x + d*y)/(d*q))` for every integer y, and the other way
round where `floor(x/d)` is a term of y; `floor((y - floor(x/d))/q)` likewise, since `-floor(x/d)` is
`floor((d - 1 - x)/d)`.

For the same reason `floor(r/q)` and `floor((q - 1 - r)/q)` are one number with two signs, up to whole multiples of the
symbols: `x - (3*x)//4` is `(x + 3)//4`. The canonical form is the one whose leading coefficient (that of the last term)
is at most half of the divisor, so that sizes rounded up to a multiple have one form however they are computed. The
choice depends on the remainders of the coefficients alone. At exactly half of the divisor both forms stay.
"""

from __future__ import annotations

from collections import Counter
from functools import reduce
from math import gcd, inf
from operator import and_

from shapeinf.expr.atoms import Floor
from shapeinf.expr.dimension import (
    ALGEBRA,
    MAX_DEPTH,
    Dimension,
    DimSize,
    Monomial,
    Scope,
    depth_of,
    divide_monomial,
    scope_of,
    terms_of,
)
from shapeinf.expr.interval import bounds_of, finite_bound, quotient_bounds

_MAX_STEPS = 128


def ceildiv(a: DimSize, b: DimSize) -> DimSize:
    """`ceil(a / b)` for a positive divisor, as `(a + b - 1) // b`.

    >>> ceildiv(7, 2)
    4
    """
    return (a + b - 1) // b


def floordiv(scope: Scope, p: DimSize, q: DimSize) -> DimSize:
    """`floor(p / q)`; ZeroDivisionError when `q` is the constant 0."""
    if isinstance(p, int) and isinstance(q, int):
        return p // q
    if p == 0:
        return 0
    return _divide_by_int(scope, p, q) if isinstance(q, int) else _divide_by_dimension(scope, p, q)


def _divide_by_int(scope: Scope, p: DimSize, q: int) -> DimSize:
    if q == 0:
        raise ZeroDivisionError("division of a dimension by zero")
    if q < 0:
        return -p // -q
    outside, rest = [], []
    for monomial, coefficient in terms_of(scope, p):
        times, remainder = divmod(coefficient, q)
        if times:
            outside.append((monomial, times))
        if remainder:
            rest.append((monomial, remainder))
    floor = _reduced_floor(scope, scope.from_terms(tuple(rest)), q)
    return scope.from_terms(tuple(outside)) + floor if outside else floor


def _reduced_floor(scope: Scope, r: DimSize, q: int) -> DimSize:
    """`floor(r/q)` where every coefficient of r is in 0..q-1."""
    if isinstance(r, int):
        return r // q
    known = _bounded_floor(r, q)
    if known is not None:
        return known
    symbols = scope.make({m: 1 for m, c in r.terms if m and 2 * c > q})
    known = _bounded_floor(r - q * symbols, q) if symbols else None
    if known is not None:
        return symbols + known
    common = gcd(q, *[c for m, c in r.terms if m])
    if common > 1:
        reduced = scope.make({m: c // common for m, c in r.terms})
        return reduced // (q // common)
    _, leading = r.leading_term
    if 2 * leading > q:
        return _reflect(scope, r, q)
    if not r.depth:
        return _atom(scope, r, q)
    nested = _nest(scope, r, q)
    if nested is not None:
        return nested
    flat = _flatten_nested(scope, r, q)
    return _atom(scope, r, q) if flat is None else flat


def _bounded_floor(n: DimSize, q: int) -> int | None:
    """`floor(n/q)` where the bounds of n leave one value, as those of `4*ceil(x/4) - x` do for a q of 4 or more."""
    lo, hi = bounds_of(n)
    return int(lo // q) if lo > -inf and hi < inf and lo // q == hi // q else None


def _reflect(scope: Scope, r: Dimension, q: int) -> DimSize:
    """`floor(r/q)` in the other of the two forms: by `-r`, rounded up."""
    symbols = scope.make({m: 1 for m, _ in r.terms if m})
    return symbols - (q * symbols - r + (q - 1)) // q


def _constant_floor(scope: Scope, monomial: Monomial) -> Floor | None:
    """The floor that a monomial consists of, if its divisor is a number."""
    atom = scope.only_atom(monomial)
    return atom if isinstance(atom, Floor) and isinstance(atom.denominator, int) else None


def _nest(scope: Scope, r: Dimension, q: int) -> DimSize | None:
    """`floor((n + d*m)/(d*k))` as `floor((floor(n/d) + m)/k)` where `floor(n/d)` is in `m` already; None otherwise."""
    for monomial, coefficient in r.terms:
        atom = _constant_floor(scope, monomial)
        if atom is None:
            continue
        d = atom.denominator
        assert isinstance(d, int)
        if coefficient % d or q % d:
            continue
        rest = r - atom.numerator
        if all(c % d == 0 for _, c in terms_of(scope, rest)):
            inner = scope.make({m: c // d for m, c in terms_of(scope, rest)})
            return (scope.atom_dim(monomial[0]) + inner) // (q // d)
    return None


def _flatten_nested(scope: Scope, r: Dimension, q: int) -> DimSize | None:
    """`floor((floor(n/d) + y)/q)` without the inner floor; None where there is no such term.

    The term is the only floor whose factor is 1 modulo q, or else the only one with -1; a q of 2 makes these the same.
    """
    for factor in (1, -1):
        floors = [
            (m, atom) for m, c in r.terms if (c - factor) % q == 0 and (atom := _constant_floor(scope, m)) is not None
        ]
        if len(floors) > 1:
            return None
        for monomial, atom in floors:
            n, d = atom.numerator, atom.denominator
            assert isinstance(d, int)
            rest = r.without(monomial)
            if factor > 0 and not (q == 2 and _is_rounded_up(n, d, rest)):
                return (n + rest * d) // (q * d)
            return scope.atom_dim(monomial[0]) + (rest * d - n + d - 1) // (q * d)
    return None


def _is_rounded_up(n: DimSize, d: int, rest: DimSize) -> bool:
    """Whether `rest` and `floor(n/d)` are the reflected form of one floor: `(3*x)//4` is `x - (x + 3)//4`."""
    if isinstance(n, int) or isinstance(rest, int):
        return False
    lead, coefficient = n.leading_term
    return 2 * coefficient < d <= 2 * n.constant + 1 and any(m == lead and c % 2 for m, c in rest.terms)


def _divide_by_dimension(scope: Scope, p: DimSize, q: Dimension) -> DimSize:
    if p is q:
        return 1
    quotient, rest = _divide(scope, p, q)
    if rest == 0:
        return quotient
    if len(q.terms) > 1:  # a partial quotient by several terms depends on their order: not canonical
        quotient, rest = 0, p
    rest, divisor = _cancel(scope, rest, q)
    if isinstance(divisor, int) or (rest, divisor) != (p, q):
        return quotient + rest // divisor
    low, high = quotient_bounds(bounds_of(rest), bounds_of(divisor))
    if low == high:
        return quotient + int(low)
    return quotient + _atom(scope, rest, divisor)


def _atom(scope: Scope, p: DimSize, q: DimSize) -> Dimension:
    depth = 1 + max(depth_of(p), depth_of(q))
    if depth > MAX_DEPTH:
        low, high = quotient_bounds(bounds_of(p), bounds_of(q))
        return scope.opaque(f"a division nests deeper than {MAX_DEPTH}", finite_bound(low), finite_bound(high))
    return scope.floor(p, q)


def _divide(scope: Scope, p: DimSize, q: Dimension) -> tuple[DimSize, DimSize]:
    """Polynomial long division by the leading term of `q`: quotient and rest."""
    lead, factor = q.leading_term
    quotient: DimSize = 0
    rest: dict[Monomial, int] = {}
    todo = dict(terms_of(scope, p))
    for _ in range(_MAX_STEPS):
        if not todo:
            break
        monomial = max(todo)
        coefficient = todo.pop(monomial)
        part = divide_monomial(monomial, lead)
        times = coefficient // factor if part is not None else 0
        if times == 0 or part is None:
            rest[monomial] = rest.get(monomial, 0) + coefficient
            continue
        step = scope.make({part: times})
        quotient = quotient + step
        todo[monomial] = coefficient
        for m, c in terms_of(scope, step * q):
            todo[m] = todo.get(m, 0) - c
            if todo[m] == 0:
                del todo[m]
        if monomial in todo:
            rest[monomial] = rest.get(monomial, 0) + todo.pop(monomial)
    for m, c in todo.items():
        rest[m] = rest.get(m, 0) + c
    return quotient, scope.make(rest)


def _cancel(scope: Scope, p: DimSize, q: Dimension) -> tuple[DimSize, DimSize]:
    """Divide both by their common integer and monomial factor, which is not zero because q is not."""
    terms = (*terms_of(scope, p), *q.terms)
    number = gcd(*(c for _, c in terms))
    common = reduce(and_, (Counter(monomial) for monomial, _ in terms))
    if number == 1 and not common:
        return p, q
    part = tuple(common.elements())

    def cancel(d: DimSize) -> DimSize:
        return scope.make({divide_monomial(m, part) or (): c // number for m, c in terms_of(scope, d)})

    return cancel(p), cancel(q)


def exact_quotient(p: DimSize, q: DimSize) -> DimSize | None:
    """`p / q` when `q` divides `p` as a polynomial, else None.

    >>> exact_quotient(12, 4), exact_quotient(12, 5)
    (3, None)
    """
    scope = scope_of((p, q))
    if scope is None:
        return p // q if q and p % q == 0 else None
    if q == 0:
        return None
    quotient = p // q
    return quotient if quotient * q is p or quotient * q == p else None


def constant_divisor(d: DimSize) -> int | None:
    """The number `k` of a size that is `floor(n / k)`; None for any other size.

    >>> constant_divisor(12) is None
    True
    """
    if isinstance(d, int) or len(d.terms) != 1 or d.terms[0][1] != 1:
        return None
    floor = _constant_floor(d.scope, d.terms[0][0])
    return floor.denominator if floor is not None and isinstance(floor.denominator, int) else None


ALGEBRA.divide = floordiv
