"""Floor division in canonical form.

Rewrites (floor semantics need no condition on signs; Python, ONNX): multiples of the divisor leave the floor; the
common factor cancels; `floor((floor(x/d) + y)/q)` is `floor((x + d*y)/(d*q))` for every integer y, and the other way
round where `floor(x/d)` is a part of y; `floor((y - floor(x/d))/q)` likewise, since `-floor(x/d)` is
`floor((d - 1 - x)/d)`.

For the same reason `floor(r/q)` and `floor((q - 1 - r)/q)` are one number with two signs, up to whole multiples of the
symbols: `x - (3*x)//4` is `(x + 3)//4`. Of the two that one is kept whose leading coefficient (that of the last term)
is at most half of the divisor, so that sizes rounded up to a multiple have one form however they are computed. Which of
the two it is depends on the remainders of the coefficients alone. Where it is half of the divisor both forms stay.
"""

from __future__ import annotations

from collections import Counter
from math import gcd, inf

from shapeinf.expr.atoms import Floor
from shapeinf.expr.dimension import MAX_DEPTH, Dim, Dimension, Monomial, Scope, remember, scope_of, terms_of
from shapeinf.expr.interval import bounds_of, finite_bound, quotient_bounds

_MAX_STEPS = 128


def ceildiv(a: Dim, b: Dim) -> Dim:
    """`ceil(a / b)` for a positive divisor, as `(a + b - 1) // b`.

    >>> ceildiv(7, 2)
    4
    """
    return (a + b - 1) // b


def floordiv(scope: Scope, p: Dim, q: Dim) -> Dim:
    """`floor(p / q)`; ZeroDivisionError when `q` is the constant 0."""
    if isinstance(p, int) and isinstance(q, int):
        return p // q
    if p == 0:
        return 0
    result = _by_int(scope, p, q) if isinstance(q, int) else _by_dimension(scope, p, q)
    if isinstance(p, Dimension):
        remember(p, "quotients", q, result)
    return result


def _by_int(scope: Scope, p: Dim, q: int) -> Dim:
    if q == 0:
        raise ZeroDivisionError("division of a dimension by zero")
    if q < 0:
        return floordiv(scope, -p, -q)
    terms = terms_of(scope, p)
    outside = scope.from_terms(tuple([(m, c // q) for m, c in terms if c // q]))
    rest = scope.from_terms(tuple([(m, c % q) for m, c in terms if c % q]))
    return outside + _proper(scope, rest, q)


def _proper(scope: Scope, r: Dim, q: int) -> Dim:
    """`floor(r/q)` where every coefficient of r is in 0..q-1."""
    if isinstance(r, int):
        return r // q
    symbols = scope.make({m: 1 for m, c in r.terms if m and 2 * c > q})
    for outside in (0, symbols) if symbols else (0,):
        known = _known_floor(r - q * outside, q)
        if known is not None:
            return outside + known
    common = gcd(q, *(c for m, c in r.terms if m))
    if common > 1:
        reduced = scope.make({m: c // common for m, c in r.terms})
        return floordiv(scope, reduced, q // common)
    if 2 * r.terms[-1][1] > q:
        return _turned(scope, r, q)
    folded = _folded(scope, r, q)
    if folded is not None:
        return folded
    nested = _nested_floor(scope, r, q)
    return _atom(scope, r, q) if nested is None else nested


def _known_floor(n: Dim, q: int) -> int | None:
    """`floor(n/q)` where the bounds of n leave one number, as those of `4*ceil(x/4) - x` do for a q of 4 or more."""
    lo, hi = bounds_of(n)
    return int(lo // q) if lo > -inf and hi < inf and lo // q == hi // q else None


def _turned(scope: Scope, r: Dimension, q: int) -> Dim:
    """`floor(r/q)` by the other one of the two forms: that of `-r`, rounded up."""
    symbols = scope.make({m: 1 for m, _ in r.terms if m})
    return symbols - floordiv(scope, q * symbols - r + (q - 1), q)


def _by_constant(scope: Scope, monomial: Monomial) -> Floor | None:
    """The floor atom that a monomial is, if it is one whose divisor is a number."""
    atom = scope.atoms[monomial[0]] if len(monomial) == 1 else None
    return atom if isinstance(atom, Floor) and isinstance(atom.denominator, int) else None


def _folded(scope: Scope, r: Dimension, q: int) -> Dim | None:
    """`floor((n + d*m)/(d*k))` as `floor((floor(n/d) + m)/k)` where `floor(n/d)` is in `m` already; None otherwise."""
    for monomial, coefficient in r.terms:
        atom = _by_constant(scope, monomial)
        if atom is None:
            continue
        d = atom.denominator
        assert isinstance(d, int)
        if coefficient % d or q % d:
            continue
        rest = r - atom.numerator
        if all(c % d == 0 for _, c in terms_of(scope, rest)):
            inner = scope.make({m: c // d for m, c in terms_of(scope, rest)})
            return floordiv(scope, scope.atom_dim(monomial[0]) + inner, q // d)
    return None


def _nested_floor(scope: Scope, r: Dimension, q: int) -> Dim | None:
    """`floor((floor(n/d) + y)/q)` without the inner floor; None where there is no such part.

    It is the only part of its kind with a factor of 1, or else the only one of -1; with a divisor of 2 it may be both.
    """
    for factor in (1, -1):
        found = [
            (m, atom) for m, c in r.terms if (c - factor) % q == 0 and (atom := _by_constant(scope, m)) is not None
        ]
        if len(found) > 1:
            return None
        for monomial, atom in found:
            n, d = atom.numerator, atom.denominator
            assert isinstance(d, int)
            rest = scope.make({m: c for m, c in r.terms if m != monomial})
            if factor > 0 and not (q == 2 and _is_rounded_up(n, d, rest)):
                return floordiv(scope, n + rest * d, q * d)
            return scope.atom_dim(monomial[0]) + floordiv(scope, rest * d - n + d - 1, q * d)
    return None


def _is_rounded_up(n: Dim, d: int, rest: Dim) -> bool:
    """Whether `rest` and `floor(n/d)` come from one floor as `_turned` makes them: `(3*x)//4` is `x - (x + 3)//4`."""
    if isinstance(n, int) or isinstance(rest, int):
        return False
    lead, coefficient = n.terms[-1]
    constant = 0 if n.terms[0][0] else n.terms[0][1]
    return 2 * coefficient < d <= 2 * constant + 1 and any(m == lead and c % 2 for m, c in rest.terms)


def _by_dimension(scope: Scope, p: Dim, q: Dimension) -> Dim:
    if p is q:
        return 1
    quotient, rest = _divide(scope, p, q)
    if rest == 0:
        return quotient
    if len(q.terms) > 1:  # a partial quotient by several terms depends on their order: not canonical
        quotient, rest = 0, p
    rest, divisor = _cancel(scope, rest, q)
    if isinstance(divisor, int) or (rest, divisor) != (p, q):
        return quotient + floordiv(scope, rest, divisor)
    low, high = quotient_bounds(bounds_of(rest), bounds_of(divisor))
    if low == high:
        return quotient + int(low)
    return quotient + _atom(scope, rest, divisor)


def _atom(scope: Scope, p: Dim, q: Dim) -> Dimension:
    depth = 1 + max(0 if isinstance(d, int) else d.depth for d in (p, q))
    if depth > MAX_DEPTH:
        low, high = quotient_bounds(bounds_of(p), bounds_of(q))
        return scope.opaque(f"a division nests deeper than {MAX_DEPTH}", finite_bound(low), finite_bound(high))
    return scope.floor(p, q)


def _divide(scope: Scope, p: Dim, q: Dimension) -> tuple[Dim, Dim]:
    """Polynomial long division by the leading term of `q`: quotient and rest."""
    lead, factor = q.terms[-1]
    quotient: Dim = 0
    rest: dict[Monomial, int] = {}
    todo = dict(terms_of(scope, p))
    for _ in range(_MAX_STEPS):
        if not todo:
            break
        monomial = max(todo)
        coefficient = todo.pop(monomial)
        left = _without(monomial, lead)
        times = coefficient // factor if left is not None else 0
        if times == 0 or left is None:
            rest[monomial] = rest.get(monomial, 0) + coefficient
            continue
        step = scope.make({left: times})
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


def _without(monomial: Monomial, part: Monomial) -> Monomial | None:
    """The monomial divided by `part`, None when it does not divide."""
    left = list(monomial)
    for atom in part:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _cancel(scope: Scope, p: Dim, q: Dimension) -> tuple[Dim, Dim]:
    """Divide both by their common integer and monomial factor (non-zero: q is)."""
    terms = (*terms_of(scope, p), *q.terms)
    number = gcd(*(c for _, c in terms))
    common = Counter(terms[0][0])
    for monomial, _ in terms[1:]:
        common &= Counter(monomial)
    if number == 1 and not common:
        return p, q
    part = tuple(common.elements())

    def reduce(d: Dim) -> Dim:
        return scope.make({_without(m, part) or (): c // number for m, c in terms_of(scope, d)})

    return reduce(p), reduce(q)


def exact_quotient(p: Dim, q: Dim) -> Dim | None:
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
