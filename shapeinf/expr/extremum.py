"""Maximum and minimum in canonical form.

`max(S)` is written `base + factor*max{(s - base)/factor}` where `base` is the polynomial of the smallest coefficients
and `factor` the common factor of all that is left, so that `max(2*x + 1, 2*y + 1)` is `2*max(x, y) + 1`; `min(S)` is
`-max(-S)`, so that `max(x, y) + min(x, y)` is `x + y`.

A nest of maxima and minima is written as the maximum of minima of its *parts*, the dims in it that are neither (see
`nests`). Both signs of a nest have parts of their own, `f` and `top - f`, where `top` has the largest coefficients; the
canonical one is the one with fewer terms. Nests whose parts are numbers and symbols with a number added to them have
one form each: `max(min(x, 11), 2)` is `min(max(x, 2), 11)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from math import gcd

from shapeinf.expr.dimension import MAX_DEPTH, Dimension, DimSize, Monomial, Scope, Terms, depth_of, scope_of, terms_of
from shapeinf.expr.interval import bounds_of, finite_bound
from shapeinf.expr.nests import (
    Clauses,
    NestTooLargeError,
    drop_dominated,
    has_outer_maximum,
    join,
    meet,
    open_dim,
    outer_maximum,
    proven_order,
    sort_key,
)

MAX_ARGS = 8

_WORK_PER_NEST = 300
"""The work of one maximum of maxima: all pairs of their arguments are compared."""

MAX_NEST_DEPTH = 6
"""Deeper dims are arguments as they are: the order of their parts takes too long to decide."""


def maximum(*dims: DimSize) -> DimSize:
    """The largest of the dims.

    >>> x = Scope().symbol("x")
    >>> maximum(3, 5), str(maximum(x, 4)), maximum(x + 2, x) is x + 2
    (5, 'max(x, 4)', True)
    """
    scope = scope_of(dims)
    if scope is None:
        return max(dims)  # type: ignore[type-var]
    largest = scope.maxima.get(dims)
    if largest is None:
        largest = scope.maxima[dims] = _maximum(scope, dims, proven_order)
    return largest


def minimum(*dims: DimSize) -> DimSize:
    """The smallest of the dims."""
    return -maximum(*[-d for d in dims])


def maximum_under(dims: Sequence[DimSize], at_least_zero: Callable[[DimSize], bool]) -> DimSize:
    """The largest of the dims where `at_least_zero(a - b)` decides whether `a >= b`, as under the bounds of a store."""
    scope = scope_of(dims)
    return max(dims) if scope is None else _maximum(scope, dims, at_least_zero)  # type: ignore[type-var]


def expand_maximum(d: DimSize) -> list[DimSize]:
    """For `rest + max(a, b)` the dims `rest + a` and `rest + b`, of which it is the maximum; any other dim alone.

    >>> x = Scope().symbol("x")
    >>> sorted(str(part) for part in expand_maximum(maximum(x, 4) + 1))
    ['5', 'x + 1']
    """
    outer = outer_maximum(d) if isinstance(d, Dimension) else None
    if outer is None or outer.coefficient < 0:
        return [d]
    return [outer.rest + outer.coefficient * a for a in outer.args]


def _maximum(scope: Scope, dims: Sequence[DimSize], at_least_zero: Callable[[DimSize], bool]) -> DimSize:
    if not any([has_outer_maximum(d) for d in dims]) or max(map(depth_of, dims)) > MAX_NEST_DEPTH:
        return _largest(scope, drop_dominated(dims, at_least_zero))
    scope.work += _WORK_PER_NEST
    try:
        clauses = join([open_dim(scope, d, at_least_zero) for d in dims], at_least_zero)
        if len(clauses) <= MAX_ARGS or all([len(clause) == 1 for clause in clauses]):
            return _build(scope, clauses)
    except NestTooLargeError:
        pass
    return _largest(scope, drop_dominated(dims, at_least_zero))


def _build(scope: Scope, clauses: Clauses) -> DimSize:
    """The dim of reduced clauses: the maximum of their minima."""
    if len(clauses) == 1:
        return -_largest(scope, [-part for part in clauses[0]])
    if all([len(clause) == 1 for clause in clauses]):
        return _largest(scope, [clause[0] for clause in clauses])
    parts = {part for clause in clauses for part in clause}
    base, factor = _common(scope, parts)
    form = _scaled(scope, clauses, base, factor)
    if any([has_outer_maximum(part) for clause in form for part in clause]):
        return base + factor * _nest(scope, form)
    top = _extreme_terms(scope, {part for clause in form for part in clause}, max)
    other = meet([tuple([(top - part,) for part in clause]) for clause in form], proven_order)
    if _rank(scope, other) < _rank(scope, form):
        return base + factor * (top - _nest(scope, other))
    return base + factor * _nest(scope, form)


def _nest(scope: Scope, clauses: Clauses) -> DimSize:
    """The atom of clauses that have no common summand or factor."""
    return _atom(scope, [_build(scope, (clause,)) for clause in clauses])


def _rank(scope: Scope, clauses: Clauses) -> tuple[int, list[list[Terms]]]:
    """The order by which one of the two forms of a nest is chosen: first that of their sizes."""
    terms = [[terms_of(scope, part) for part in clause] for clause in clauses]
    return sum(len(part) for clause in terms for part in clause), terms


def _scaled(scope: Scope, clauses: Clauses, base: DimSize, factor: int) -> Clauses:
    """The clauses without a common summand and factor, in order."""
    scaled = [tuple(sorted([_divided(scope, p - base, factor) for p in c], key=sort_key)) for c in clauses]
    return tuple(sorted(scaled, key=lambda clause: [sort_key(part) for part in clause]))


def _largest(scope: Scope, args: Sequence[DimSize]) -> DimSize:
    """The maximum of dims of which none is at most another one."""
    if len(args) == 1:
        return args[0]
    base, factor = _common(scope, args)
    rest = [_divided(scope, a - base, factor) for a in args]
    if has_outer_maximum(base) and any([has_outer_maximum(a) for a in rest]):
        return base + factor * maximum(*rest)  # a part `a - max(b, c)` became `a`, which may be a maximum
    return base + factor * _atom(scope, rest)


def _atom(scope: Scope, args: Sequence[DimSize]) -> Dimension:
    """The atom of a maximum, or a symbol for one past a cap."""
    if len(args) <= MAX_ARGS and max(map(depth_of, args)) < MAX_DEPTH:
        return scope.maximum(tuple(sorted(args, key=sort_key)))
    pairs = [bounds_of(a) for a in args]
    low, high = max(p[0] for p in pairs), max(p[1] for p in pairs)
    many = f"a maximum of {len(args)} expressions, past the limit of {MAX_ARGS}"
    reason = many if len(args) > MAX_ARGS else f"a maximum nests deeper than {MAX_DEPTH}"
    return scope.opaque(reason, finite_bound(low), finite_bound(high))


def _common(scope: Scope, args: Iterable[DimSize]) -> tuple[DimSize, int]:
    """The summand of the smallest coefficients, and the largest number that divides the rest of all dims."""
    base = _extreme_terms(scope, args, min)
    return base, reduce(gcd, [c for a in args for _, c in terms_of(scope, a - base)])


def _divided(scope: Scope, d: DimSize, factor: int) -> DimSize:
    return d if factor == 1 else scope.make({m: c // factor for m, c in terms_of(scope, d)})


def _extreme_terms(scope: Scope, args: Iterable[DimSize], pick: Callable[[list[int]], int]) -> DimSize:
    """The polynomial of the smallest or largest coefficients."""
    tables = [dict(terms_of(scope, a)) for a in args]
    monomials: set[Monomial] = set().union(*tables)
    return scope.make({m: pick([t.get(m, 0) for t in tables]) for m in monomials})
