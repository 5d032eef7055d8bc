"""Maximum and minimum in canonical form.

`max(S)` is written `base + max{s - base}` where `base` is the polynomial of the smallest coefficients, so that
`max(x + 1, y + 1)` is `max(x, y) + 1`; `min(S)` is `-max(-S)`, so that `max(x, y) + min(x, y)` is `x + y`.
"""

from __future__ import annotations

from shapeinf.expr.atoms import Maximum
from shapeinf.expr.dimension import MAX_DEPTH, Dim, Dimension, Monomial, Scope, depth_of, scope_of, terms_of
from shapeinf.expr.interval import bounds_of, finite_bound

MAX_ARGS = 8


def maximum(*dims: Dim) -> Dim:
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
        largest = scope.maxima[dims] = _maximum(scope, dims)
    return largest


def minimum(*dims: Dim) -> Dim:
    """The smallest of the dims."""
    return -maximum(*(-d for d in dims))


def expand_maximum(d: Dim) -> list[Dim]:
    """For `rest + max(a, b)` the dims `rest + a` and `rest + b`, of which it is the maximum; any other dim alone.

    >>> x = Scope().symbol("x")
    >>> sorted(str(part) for part in expand_maximum(maximum(x, 4) + 1))
    ['5', 'x + 1']
    """
    return _flatten(d.scope, d) if isinstance(d, Dimension) else [d]


def _maximum(scope: Scope, dims: tuple[Dim, ...]) -> Dim:
    flat: list[Dim] = []
    for d in dims:
        flat.extend(_flatten(scope, d))
    args = _drop_dominated(flat)
    if len(args) == 1:
        return args[0]
    if len(args) > MAX_ARGS or max(map(depth_of, args)) >= MAX_DEPTH:
        pairs = [bounds_of(a) for a in args]
        low, high = max(p[0] for p in pairs), max(p[1] for p in pairs)
        many = f"a maximum of {len(args)} expressions, past the limit of {MAX_ARGS}"
        reason = many if len(args) > MAX_ARGS else f"a maximum nests deeper than {MAX_DEPTH}"
        return scope.opaque(reason, finite_bound(low), finite_bound(high))
    base = _base(scope, args)
    rest = sorted((a - base for a in args), key=lambda a: terms_of(scope, a))
    return base + scope.maximum(tuple(rest))


def _flatten(scope: Scope, d: Dim) -> list[Dim]:
    """`rest + max(a, b)` as `rest + a, rest + b`, once."""
    if isinstance(d, Dimension):
        for monomial, coefficient in d.terms:
            atom = scope.only_atom(monomial)
            if coefficient == 1 and isinstance(atom, Maximum):
                rest = d.without(monomial)
                return [rest + a for a in atom.args]
    return [d]


def _drop_dominated(dims: list[Dim]) -> list[Dim]:
    """The dims without duplicates, and without those that bounds prove to be at most another one."""
    candidates: list[Dim] = []
    for d in dict.fromkeys(dims):
        if any(bounds_of(k - d)[0] >= 0 for k in candidates):
            continue
        candidates = [k for k in candidates if bounds_of(d - k)[0] < 0]
        candidates.append(d)
    return candidates


def _base(scope: Scope, args: list[Dim]) -> Dim:
    tables = [dict(terms_of(scope, a)) for a in args]
    monomials: set[Monomial] = set().union(*tables)
    return scope.make({m: min(t.get(m, 0) for t in tables) for m in monomials})
