"""What the terms of `e == 0` tell: whether it has a solution, and for which symbol it can be solved."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from shapeinf.expr.atoms import Symbol
from shapeinf.expr.dimension import Dim, Dimension, Monomial


def has_no_root(e: Dimension) -> bool:
    """True when no integers make `e` zero because of common factors: `2*a + 4*b + 1`."""
    constant = next((c for m, c in e.terms if not m), 0)
    return constant % gcd(*(c for m, c in e.terms if m)) != 0


def pivot(e: Dimension) -> tuple[Dimension, int] | None:
    """The symbol to solve for: linear with factor 1 or -1, nowhere else in `e`; unknowns and late names first."""
    scope = e.scope
    best: tuple[bool, int] | None = None
    sign = 1
    for monomial, coefficient in e.terms:
        if len(monomial) != 1 or coefficient not in (1, -1):
            continue
        atom = scope.atoms[monomial[0]]
        rank = (isinstance(atom, Symbol) and atom.anonymous, monomial[0])
        if isinstance(atom, Symbol) and (best is None or rank > best) and not _elsewhere(e, monomial):
            best, sign = rank, coefficient
    return None if best is None else (scope.atom_dim(best[1]), sign)


def _elsewhere(e: Dimension, monomial: Monomial) -> bool:
    symbol = e.scope.atom_dim(monomial[0])
    return any(symbol in e.scope.symbols_of(a) for m, _ in e.terms if m != monomial for a in m)


def as_linear(e: Dimension) -> tuple[int, int, int] | None:
    """`factor*atom + constant` as (atom, factor, constant), None for anything else."""
    constant = next((c for m, c in e.terms if not m), 0)
    rest = [(m, c) for m, c in e.terms if m]
    if len(rest) != 1 or len(rest[0][0]) != 1:
        return None
    return rest[0][0][0], rest[0][1], constant


def primitive_part(e: Dim, positive: Callable[[Dim], bool]) -> Dim:
    """`e` of `e == 0` without its common integer and without common atoms that are `positive`."""
    if isinstance(e, int):
        return e
    scope = e.scope
    number = gcd(*(c for _, c in e.terms))
    common = [a for a in set(e.terms[0][0]) if all(a in m for m, _ in e.terms)]
    divisors = [a for a in common if positive(scope.atom_dim(a))]
    if number == 1 and not divisors:
        return e
    reduced: dict[Monomial, int] = {}
    for monomial, coefficient in e.terms:
        left = list(monomial)
        for atom in divisors:
            left.remove(atom)
        reduced[tuple(left)] = coefficient // number
    return primitive_part(scope.make(reduced), positive) if divisors else scope.make(reduced)
