"""Bounds of dimensions: interval arithmetic with the cases that plain intervals lose.

A bound is an int, or an infinity (a float) for no bound; `Interval`, for users, has None instead.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import attrs

from shapeinf.expr.atoms import Atom, Floor, Maximum, Symbol
from shapeinf.expr.dimension import ALGEBRA, Dimension, DimSize, Monomial, Operation, Scope, divide_monomial, terms_of
from shapeinf.expr.factors import MIN_TERMS, factor_sum

Bound = int | float
"""An int, or an infinity. Not `float`: mypyc stores that as a C double, which rounds ints above 2**53."""

Bounds = tuple[Bound, Bound]

_WORK_PER_TERM = 4
"""The work of a split for each term of the dim, besides that on the parts."""

_MAX_SPLITS = 6
_MAX_PARTS = 256
"""Dims bounded on behalf of one split dim; each maximum adds as many as it has arguments."""


class BoundsTable:
    """The bounds of symbols, by a look-up function, and a memo of the bounds of other atoms."""

    __slots__ = ("atoms", "differences", "symbol")

    def __init__(self, symbol: Callable[[int, Symbol], Bounds], atoms: dict[int, Bounds] | None = None) -> None:
        """`atoms` is a memo that other tables share."""
        self.symbol = symbol
        self.atoms: dict[int, Bounds] = {} if atoms is None else atoms
        self.differences: dict[Dimension, bool] = {}
        """Memo of whether dims are at least 0."""

    def at_least_zero(self, d: DimSize) -> bool:
        """Whether a dim is known to be at least 0."""
        if isinstance(d, int):
            return d >= 0
        known = self.differences.get(d)
        if known is None:
            known = self.differences[d] = bounds_with(d, self)[0] >= 0
        return known

    def forget(self) -> None:
        """Clear the memos: the bounds of some symbol have changed."""
        self.atoms.clear()
        self.differences.clear()


@attrs.frozen
class Interval:
    """Closed integer bounds; None is no bound.

    >>> str(Interval(1, None))
    '1..'
    """

    lo: int | None
    hi: int | None

    def __str__(self) -> str:
        """`lo..hi`, the grammar of user input."""
        return f"{'' if self.lo is None else self.lo}..{'' if self.hi is None else self.hi}"

    def __contains__(self, value: int) -> bool:
        """Whether a value lies inside."""
        return (self.lo is None or self.lo <= value) and (self.hi is None or value <= self.hi)


def finite_bound(bound: Bound) -> int | None:
    """None for an infinity, else the int."""
    return None if bound in (inf, -inf) else int(bound)


def as_interval(bounds: Bounds) -> Interval:
    """Bounds as an `Interval`."""
    return Interval(finite_bound(bounds[0]), finite_bound(bounds[1]))


def interval(d: DimSize) -> Interval:
    """Bounds of a dim from the declared bounds of its symbols.

    >>> x = Scope().symbol("x", 1, 9)
    >>> str(interval(2 * x + 1)), str(interval(x % 4))
    ('3..19', '0..3')
    """
    return as_interval(bounds_of(d))


def declared_bounds(_: int, symbol: Symbol) -> Bounds:
    """The declared bounds of a symbol."""
    return (-inf if symbol.lo is None else symbol.lo, inf if symbol.hi is None else symbol.hi)


def bounds_of(d: DimSize) -> Bounds:
    """Bounds from declared symbol bounds, stored with the dimension."""
    if isinstance(d, int):
        return d, d
    if d.bounds is None:
        d.bounds = bounds_with(d, BoundsTable(declared_bounds, d.scope.declared_bounds))
    return d.bounds


def rough_bounds(operation: Operation, a: DimSize, b: DimSize) -> tuple[int | None, int | None]:
    """Bounds of a sum, or rough ones of a product, that exceeds the caps of the algebra."""
    (alo, ahi), (blo, bhi) = bounds_of(a), bounds_of(b)
    if operation != "sum":
        return (0 if alo >= 0 and blo >= 0 else None), None
    return (
        None if -inf in (alo, blo) else int(alo) + int(blo),
        None if inf in (ahi, bhi) else int(ahi) + int(bhi),
    )


class _Splits:
    """The number of dims that may still be bounded on behalf of one split dim."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts = _MAX_PARTS


def bounds_with(d: DimSize, known: BoundsTable, splits: int = _MAX_SPLITS, limit: _Splits | None = None) -> Bounds:
    """Bounds of a dim from those of its symbols; none where a number exceeds the largest float."""
    if isinstance(d, int):
        return d, d
    d.scope.work += len(d.terms)
    try:
        bounds = _interval_bounds(d, known)
        if len(d.terms) > 1 and splits > 0 and not _is_linear(d) and not direction_of(d):
            limit = limit or _Splits()
            limit.parts -= 1
            if limit.parts >= 0:
                d.scope.work += _WORK_PER_TERM * len(d.terms)
                bounds = _meet(bounds, _split_bounds(d, known, splits, limit))
        return bounds
    except OverflowError:
        return -inf, inf


def _split_bounds(d: Dimension, known: BoundsTable, splits: int, limit: _Splits) -> Bounds:
    """Bounds of a sum by its common factor, and through its outermost floor or maximum."""
    bounds = _factored_bounds(d, known, splits, limit)
    coefficients = dict(d.terms)
    for number in _atoms_by_depth(d):
        atom = d.scope.atoms[number]
        if isinstance(atom, Floor) and isinstance(atom.denominator, Dimension):
            bounds = _meet(bounds, _split_remainder(d, number, atom, known, splits - 1, limit))
            continue
        monomial = (number,)
        coefficient = coefficients.get(monomial)
        if coefficient is None:
            continue
        rest = d.without(monomial)
        if isinstance(rest, int) or rest.symbols().isdisjoint(d.scope.symbols_of(number)):
            continue
        if isinstance(atom, Floor):
            numerator, q = _in_finer_floor(rest, atom)
            return _meet(bounds, _split_floor(rest, coefficient, numerator, q, known, splits - 1, limit))
        if isinstance(atom, Maximum):
            return _meet(bounds, _split_maximum(rest, coefficient, atom, known, splits - 1, limit))
    return bounds


def _atoms_by_depth(d: Dimension) -> list[int]:
    """The floors and maxima of a dim, the most deeply nested first, of these the ones with the largest divisors.

    No atom contains an earlier one: the parts of an atom that is split still cancel against the other terms.
    """
    atoms = d.scope.atoms
    return sorted(
        {a for a in d.atom_numbers() if atoms[a].depth}, key=lambda a: (-atoms[a].depth, -_divisor(atoms[a]), a)
    )


def _divisor(atom: Atom) -> int:
    return atom.denominator if isinstance(atom, Floor) and isinstance(atom.denominator, int) else 0


def _in_finer_floor(rest: Dimension, atom: Floor) -> tuple[DimSize, int]:
    """Numerator and divisor of `floor(n/q)`, in a floor of `rest` with a divisor of q: `x//32` is `(x//16)//2`.

    The bounds of `x//16 - x//32` are those of `t - t//2`.
    """
    n, q = atom.numerator, atom.denominator
    assert isinstance(q, int)
    scope = rest.scope
    for monomial, _ in rest.terms:
        finer = scope.only_atom(monomial)
        if isinstance(finer, Floor) and isinstance(finer.denominator, int) and q % finer.denominator == 0:
            d = finer.denominator
            more = scope.combine(1, n, -1, finer.numerator) if _are_congruent(scope, n, finer.numerator, d) else None
            if more is not None:
                inner = scope.make({m: c // d for m, c in terms_of(scope, more)})
                return scope.atom_dim(monomial[0]) + inner, q // d
    return n, q


def _are_congruent(scope: Scope, a: DimSize, b: DimSize, divisor: int) -> bool:
    """Whether all coefficients of two dims are equal modulo a divisor."""
    rest = dict(terms_of(scope, a))
    for monomial, coefficient in terms_of(scope, b):
        if (rest.pop(monomial, 0) - coefficient) % divisor:
            return False
    return all([c % divisor == 0 for c in rest.values()])


def _is_linear(d: Dimension) -> bool:
    """A sum of multiples of symbols: plain intervals lose nothing."""
    atoms = d.scope.atoms
    for monomial, _ in d.terms:  # noqa: SIM110  (a generator takes longer than the loop)
        if len(monomial) > 1 or (monomial and atoms[monomial[0]].depth):
            return False
    return True


def direction_of(d: DimSize) -> int:
    """1 for a sum of atoms that is nondecreasing in all of its symbols, -1 for nonincreasing, else 0.

    All terms of such a sum have their least values at the same sizes: plain intervals lose nothing.
    """
    if isinstance(d, int):
        return 0
    direction = 0
    for monomial, coefficient in d.terms:
        if monomial:
            own = _atom_direction(d.scope, monomial[0]) if len(monomial) == 1 else 0
            own = own if coefficient > 0 else -own
            if own == 0 or own == -direction:
                return 0
            direction = own
    return direction


def _atom_direction(scope: Scope, number: int) -> int:
    """The direction of an atom; see `direction_of`."""
    direction = scope.directions.get(number)
    if direction is None:
        direction = scope.directions[number] = _new_direction(scope.atoms[number])
    return direction


def _new_direction(atom: Atom) -> int:
    if isinstance(atom, Symbol):
        return 1
    if isinstance(atom, Floor):
        divisor = atom.denominator
        return direction_of(atom.numerator) if isinstance(divisor, int) and divisor > 0 else 0
    directions = {direction_of(a) for a in atom.args if isinstance(a, Dimension)}
    return directions.pop() if len(directions) == 1 else 0


def _meet(a: Bounds, b: Bounds) -> Bounds:
    return max(a[0], b[0]), min(a[1], b[1])


def _interval_bounds(d: Dimension, known: BoundsTable) -> Bounds:
    lo: Bound = 0
    hi: Bound = 0
    scope, memo = d.scope, known.atoms
    for monomial, coefficient in d.terms:
        if not monomial:
            lo = hi = coefficient  # the constant is the first term
            continue
        pair = memo.get(monomial[0]) if len(monomial) == 1 else None
        low, high = pair or _monomial_bounds(scope, monomial, known)
        if coefficient < 0:
            low, high = high, low
        if low:
            lo += coefficient * low
        if high:
            hi += coefficient * high
    return lo, hi


def _factored_bounds(d: Dimension, known: BoundsTable, splits: int, limit: _Splits) -> Bounds:
    """`m*a + m*b` as `m*(a + b)`: keeps `B*S - S >= 0`; other products of two sums by these."""
    common = set(d.terms[0][0])
    for monomial, _ in d.terms if common else ():
        common.intersection_update(monomial)
    if not common:
        factors = factor_sum(d) if len(d.terms) >= MIN_TERMS else None
        return (
            (-inf, inf) if factors is None else _product(*[bounds_with(f, known, splits - 1, limit) for f in factors])
        )
    atom = min(common)
    rest = d.scope.make({divide_monomial(monomial, (atom,)) or (): c for monomial, c in d.terms})
    return _product(_atom_bounds(d.scope, atom, known), bounds_with(rest, known, splits - 1, limit))


def _monomial_bounds(scope: Scope, monomial: Monomial, known: BoundsTable) -> Bounds:
    if len(monomial) == 1:
        return _atom_bounds(scope, monomial[0], known)
    bounds: Bounds = (1, 1)
    previous = -1
    for atom in monomial:
        if atom == previous:
            continue
        previous = atom
        power = monomial.count(atom)
        low, high = _atom_bounds(scope, atom, known)
        factor = (low, high)
        for _ in range(power - 1):
            factor = _product(factor, (low, high))
        if power % 2 == 0 and low < 0:
            factor = (max(factor[0], 0), factor[1])
        bounds = _product(bounds, factor)
    return bounds


def _atom_bounds(scope: Scope, atom: int, known: BoundsTable) -> Bounds:
    bounds = known.atoms.get(atom)
    if bounds is None:
        record = scope.atoms[atom]
        if isinstance(record, Symbol):
            bounds = known.symbol(atom, record)
        elif isinstance(record, Floor):
            bounds = quotient_bounds(bounds_with(record.numerator, known), bounds_with(record.denominator, known))
        else:
            pairs = [bounds_with(a, known) for a in record.args]
            bounds = max([p[0] for p in pairs]), max([p[1] for p in pairs])
        known.atoms[atom] = bounds
    return bounds


def _split_floor(
    rest: Dimension, c: int, n: DimSize, q: int, known: BoundsTable, splits: int, limit: _Splits
) -> Bounds:
    """`q*(rest + c*floor(n/q)) = q*rest + c*n - c*(n mod q)`: keeps the range of `n mod q` and of `n - n//q`."""
    opened = rest.scope.combine(q, rest, c, n)
    if opened is None:
        return -inf, inf
    low, high = bounds_with(opened, known, splits, limit)
    low, high = low + min(0, -c * (q - 1)), high + max(0, -c * (q - 1))
    return (low if low == -inf else -(-low // q)), (high if high == inf else high // q)


def _split_remainder(d: Dimension, number: int, atom: Floor, known: BoundsTable, splits: int, limit: _Splits) -> Bounds:
    """`rest - k*q*floor(n/q)` is `rest - k*n + k*(n mod q)`, and `n mod q` lies in 0..q - 1 for a q of 1 or more."""
    n, q, scope = atom.numerator, atom.denominator, d.scope
    factor = scope.make(
        {divide_monomial(monomial, (number,)) or (): c for monomial, c in d.terms if monomial.count(number) == 1}
    )
    k = _integer_ratio(factor, q)
    if k is None or bounds_with(q, known, splits, limit)[0] < 1:
        return -inf, inf
    at_zero = scope.make({monomial: c for monomial, c in d.terms if number not in monomial}) + n * k
    at_largest = at_zero - (q - 1) * k
    low, high = (at_largest, at_zero) if k > 0 else (at_zero, at_largest)
    return bounds_with(low, known, splits, limit)[0], bounds_with(high, known, splits, limit)[1]


def _integer_ratio(d: DimSize, divisor: DimSize) -> int | None:
    """The integer `k` with `d == k*divisor`, where there is one."""
    if not isinstance(d, Dimension) or not isinstance(divisor, Dimension):
        return None
    ratio = d.leading_term[1] // divisor.leading_term[1]
    return ratio if ratio and divisor * ratio is d else None


def _split_maximum(rest: Dimension, c: int, atom: Maximum, known: BoundsTable, splits: int, limit: _Splits) -> Bounds:
    """`rest + c*max(a, b)` is the max (or, for negative c, the min) of `rest + c*a` and `rest + c*b`."""
    opened = [rest.scope.combine(1, rest, c, a) for a in atom.args]
    pairs = [(-inf, inf) if d is None else bounds_with(d, known, splits, limit) for d in opened]
    pick = max if c > 0 else min
    return pick([p[0] for p in pairs]), pick([p[1] for p in pairs])


def _product(a: Bounds, b: Bounds) -> Bounds:
    products = [0 if x == 0 or y == 0 else x * y for x in a for y in b]
    return min(products), max(products)


def quotient_bounds(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of `floor(a/b)`; none when the divisor may be zero or negative."""
    if b[0] <= 0:
        if b[1] >= 1 and b[0] == 0:  # the divisor is not 0 where the graph runs, so it is 1 or more
            return quotient_bounds(a, (1, b[1]))
        return -inf, inf
    corners = [_floor(x, y) for x in a for y in b]
    return min(corners), max(corners)


def _floor(x: Bound, y: Bound) -> Bound:
    if y == inf:
        return 0 if x >= 0 else -1
    return x if x in (inf, -inf) else x // y


ALGEBRA.rough_bounds = rough_bounds
