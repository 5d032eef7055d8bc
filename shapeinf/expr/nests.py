"""Nests of maxima and minima as clauses: the maximum of minima of parts.

The *parts* of a dim are what remains when its outermost maxima and minima are opened, recursively: dims that are no
maximum or minimum themselves. `max(min(x, 11), 2)` has the clauses `{x, 11}` and `{2}`, and so has
`min(max(x, 2), 11)`: the minimum of the clauses `{x}, {2}` and `{11}` is `{x, 11}, {2, 11}`, where 2 is below 11.

A part that is known to be at least another one of its clause is dropped, and so is a clause whose minimum is known to
be at most that of another one. Where all relations between parts are between two of them, as between symbols with a
number added and numbers, clauses are a normal form: minima and maxima of parts are the free distributive lattice over
their order, and each of its elements has just one such form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from shapeinf.expr.atoms import Maximum
from shapeinf.expr.dimension import Dimension, DimSize, Scope, Terms
from shapeinf.expr.interval import bounds_of

Clause = tuple[DimSize, ...]
"""The parts of a minimum, in order."""

Clauses = tuple[Clause, ...]
"""The parts of each minimum of which the maximum is taken, both in order."""

_MAX_CLAUSES = 32
_MAX_PARTS = 8
"""Parts of one clause."""


class NestTooLargeError(Exception):
    """A nest has more clauses than are tried. Internal: caught in `expr.extremum`."""


class OuterMaximum(NamedTuple):
    """A dim as `rest + coefficient*max(args)`."""

    rest: DimSize
    coefficient: int
    args: tuple[DimSize, ...]


def proven_order(difference: DimSize) -> bool:
    """Whether the declared bounds of its symbols prove that a dim is at least 0."""
    return bounds_of(difference)[0] >= 0


def sort_key(d: DimSize) -> Terms:
    """The order of the arguments of an atom."""
    return d.terms if isinstance(d, Dimension) else (((), d),) if d else ()


def has_outer_maximum(d: DimSize) -> bool:
    """Whether a multiple of a maximum is a term of a dim."""
    if isinstance(d, int):
        return False
    atoms = d.scope.atoms
    for monomial, _ in d.terms:  # noqa: SIM110  (a generator takes longer than the loop)
        if len(monomial) == 1 and isinstance(atoms[monomial[0]], Maximum):
            return True
    return False


def outer_maximum(d: Dimension) -> OuterMaximum | None:
    """The term with the most deeply nested maximum of a dim; None where there is none, or several of that depth."""
    atoms = d.scope.atoms
    maxima = [(m, c, a) for m, c in d.terms if len(m) == 1 and isinstance(a := atoms[m[0]], Maximum)]
    if not maxima:
        return None
    deepest = max([atom.depth for _, _, atom in maxima])
    outermost = [(m, c, a) for m, c, a in maxima if a.depth == deepest]
    if len(outermost) > 1:
        return None
    ((monomial, coefficient, atom),) = outermost
    return OuterMaximum(d.without(monomial), coefficient, atom.args)


def open_dim(scope: Scope, d: DimSize, at_least_zero: Callable[[DimSize], bool]) -> Clauses:
    """The clauses of a dim: those of its outermost maximum, opened; the dim alone where it has none."""
    outer = outer_maximum(d) if isinstance(d, Dimension) else None
    if outer is None:
        return ((d,),)
    opened = []
    for a in outer.args:
        part = scope.combine(1, outer.rest, outer.coefficient, a)
        if part is None:
            return ((d,),)
        opened.append(open_dim(scope, part, at_least_zero))
    plain = all([len(clauses) == len(clauses[0]) == 1 for clauses in opened])
    if plain and outer.coefficient > 0 and at_least_zero is proven_order:  # as when the maximum was built
        return tuple(sorted([clauses[0] for clauses in opened], key=_clause_key))
    return join(opened, at_least_zero) if outer.coefficient > 0 else meet(opened, at_least_zero)


def join(nests: Sequence[Clauses], at_least_zero: Callable[[DimSize], bool]) -> Clauses:
    """The clauses of the maximum of reduced nests, reduced. Raises NestTooLargeError."""
    return _absorb({clause: number for number, clauses in enumerate(nests) for clause in clauses}, at_least_zero)


def meet(nests: Sequence[Clauses], at_least_zero: Callable[[DimSize], bool]) -> Clauses:
    """The clauses of the minimum of nests, reduced. Raises NestTooLargeError."""
    total, *others = nests
    for clauses in others:
        if len(total) * len(clauses) > 4 * _MAX_CLAUSES:
            raise NestTooLargeError
        pairs = {_smallest_parts((*a, *b), at_least_zero) for a in total for b in clauses}
        total = _absorb({clause: number for number, clause in enumerate(pairs)}, at_least_zero)
    return total


def drop_dominated(dims: Sequence[DimSize], at_least_zero: Callable[[DimSize], bool]) -> list[DimSize]:
    """The dims without duplicates, and without those that are known to be at most another one."""
    return _drop_covered(dims, lambda larger, d: at_least_zero(larger - d))


def _drop_covered(dims: Sequence[DimSize], covers: Callable[[DimSize, DimSize], bool]) -> list[DimSize]:
    """The dims in order without duplicates, and without those that another one covers."""
    candidates: list[DimSize] = []
    for d in sorted(set(dims), key=sort_key):
        if any([covers(k, d) for k in candidates]):
            continue
        candidates = [k for k in candidates if not covers(d, k)]
        candidates.append(d)
    return candidates


def _absorb(groups: Mapping[Clause, int], at_least_zero: Callable[[DimSize], bool]) -> Clauses:
    """The clauses in order, without those below another one; those of one group are not below each other."""
    candidates: list[Clause] = []
    for clause in sorted(groups, key=_clause_key):
        group = groups[clause]
        if any([groups[c] != group and _is_below(clause, c, at_least_zero) for c in candidates]):
            continue
        candidates = [c for c in candidates if groups[c] == group or not _is_below(c, clause, at_least_zero)]
        candidates.append(clause)
    if len(candidates) > _MAX_CLAUSES:
        raise NestTooLargeError
    return tuple(candidates)


def _clause_key(clause: Clause) -> list[Terms]:
    return [sort_key(part) for part in clause]


def _smallest_parts(clause: Clause, at_least_zero: Callable[[DimSize], bool]) -> Clause:
    """The parts without those that are known to be at least another one."""
    if len(clause) == 1:
        return clause
    candidates = _drop_covered(clause, lambda smaller, d: at_least_zero(d - smaller))
    if len(candidates) > _MAX_PARTS:
        raise NestTooLargeError
    return tuple(candidates)


def _is_below(a: Clause, b: Clause, at_least_zero: Callable[[DimSize], bool]) -> bool:
    """Whether the minimum of one clause is at most that of another: each part of `b` is above some part of `a`."""
    return all([any([at_least_zero(part - low) for low in a]) for part in b])
