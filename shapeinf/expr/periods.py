"""Periods of quasi-affine dims, and their size: a floor of `a*x + b` over `c` grows by `a` where `x` grows by `c`."""

from __future__ import annotations

from collections.abc import Iterable
from math import lcm

from shapeinf.expr.atoms import Floor, Maximum
from shapeinf.expr.dimension import Dimension, DimSize


def find_period(d: DimSize, known: dict[int, int] | None = None) -> int:
    """The number of steps after which a quasi-affine function of one symbol has grown by a constant; 0 for others.

    A maximum of such functions has grown by the constant of one of them. `known` has the periods of atoms.

    >>> from shapeinf.expr import Scope
    >>> h = Scope().symbol("H")
    >>> find_period(2 * (h // 6) + h // 4), find_period(h * h)
    (12, 0)
    """
    if isinstance(d, int):
        return 1
    period, known = 1, {} if known is None else known
    for monomial, _ in d.terms:
        if len(monomial) > 1:
            return 0
        for number in monomial:
            if number not in known:
                known[number] = _atom_period(d.scope.atoms[number], known)
            period = lcm(period, known[number])
    return period


def _atom_period(atom: object, known: dict[int, int]) -> int:
    if isinstance(atom, Maximum):
        return lcm(*[find_period(arg, known) for arg in atom.args])
    if isinstance(atom, Floor):
        return atom.denominator * find_period(atom.numerator, known) if isinstance(atom.denominator, int) else 0
    return 1


def count_terms(dims: Iterable[DimSize]) -> int:
    """The number of terms of dims and of all dims inside of them, each dim once.

    >>> from shapeinf.expr import Scope
    >>> h = Scope().symbol("H")
    >>> count_terms([(h + 7) // 8 - 1, (h + 7) // 8])
    5
    """
    pending = [d for d in dims if isinstance(d, Dimension)]
    seen = set(pending)
    for d in pending:
        atoms = [d.scope.atoms[number] for number in d.atom_numbers()]
        inner = [a for atom in atoms if isinstance(atom, Maximum) for a in atom.args]
        inner += [a for atom in atoms if isinstance(atom, Floor) for a in (atom.numerator, atom.denominator)]
        new = {a for a in inner if isinstance(a, Dimension)} - seen
        seen |= new
        pending += new
    return sum(len(d.terms) for d in seen)
