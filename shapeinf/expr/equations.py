"""Equations `e == 0`: solvability by common factors, the symbol to solve for, normal forms."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from shapeinf.expr.atoms import Floor, Symbol
from shapeinf.expr.dimension import Dimension, DimSize, Monomial, divide_monomial


def has_no_root(e: Dimension) -> bool:
    """Whether `e` has no integer root because of common factors, as `2*a + 4*b + 1`."""
    return e.constant % gcd(*(c for m, c in e.terms if m)) != 0


def pivot(e: Dimension) -> tuple[Dimension, int] | None:
    """The symbol to solve for and its factor, 1 or -1; None where no symbol is linear and nowhere else in `e`.

    Unknowns are preferred to names, and late names to early ones.
    """
    scope = e.scope
    best: tuple[bool, int] | None = None
    sign = 1
    for monomial, coefficient in e.terms:
        if len(monomial) != 1 or coefficient not in (1, -1):
            continue
        atom = scope.only_atom(monomial)
        rank = (isinstance(atom, Symbol) and atom.anonymous, monomial[0])
        if isinstance(atom, Symbol) and (best is None or rank > best) and not _occurs_elsewhere(e, monomial):
            best, sign = rank, coefficient
    return None if best is None else (scope.atom_dim(best[1]), sign)


def _occurs_elsewhere(e: Dimension, monomial: Monomial) -> bool:
    symbol = e.scope.atom_dim(monomial[0])
    return any(symbol in e.scope.symbols_of(a) for m, _ in e.terms if m != monomial for a in m)


def as_linear(e: Dimension) -> tuple[int, int, int] | None:
    """`factor*atom + constant` as (atom, factor, constant), None for anything else."""
    rest = [(m, c) for m, c in e.terms if m]
    if len(rest) != 1:
        return None
    ((monomial, factor),) = rest
    return (monomial[0], factor, e.constant) if len(monomial) == 1 else None


def as_divisibility(e: DimSize) -> tuple[DimSize, int] | None:
    """The dim and the number that divides it, where that is what `e >= 0` states; None for anything else.

    `8*(n//8) - n` is at least 0 only for multiples of 8, and never more than 0. So is the difference of a remainder
    and the largest one.

    >>> from shapeinf.expr import Scope
    >>> n = Scope().symbol("n")
    >>> as_divisibility(16 * ((n + 1) // 8) - 2 * n - 2), as_divisibility(8 * (n // 8) - n + 1)
    ((n + 1, 8), None)
    >>> as_divisibility(n - 8 * (n // 8) - 7)
    (n + 1, 8)
    """
    if isinstance(e, int):
        return None
    for monomial, coefficient in e.terms:
        atom = e.scope.atoms[monomial[0]] if len(monomial) == 1 else None
        if not isinstance(atom, Floor) or not isinstance(atom.denominator, int) or atom.denominator < 1:
            continue
        factor, divisor = abs(coefficient) // atom.denominator, atom.denominator
        remainder = atom.numerator - divisor * e.scope.atom_dim(monomial[0])
        if factor and e == -factor * remainder:
            return atom.numerator, divisor
        if factor and e == factor * (remainder - divisor + 1):
            return atom.numerator + 1, divisor
    return None


def primitive_part(e: DimSize, positive: Callable[[DimSize], bool]) -> DimSize:
    """`e` of `e == 0` without its common integer factor and its common `positive` atoms."""
    if isinstance(e, int):
        return e
    scope = e.scope
    number = gcd(*(c for _, c in e.terms))
    common = set.intersection(*(set(m) for m, _ in e.terms))
    divisors = [a for a in common if positive(scope.atom_dim(a))]
    if number == 1 and not divisors:
        return e
    part = tuple(divisors)
    reduced = scope.make({divide_monomial(m, part) or (): c // number for m, c in e.terms})
    return primitive_part(reduced, positive) if divisors else reduced
