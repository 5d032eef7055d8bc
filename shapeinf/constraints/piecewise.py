"""The sizes of one dim for which a constraint holds, where it is piecewise linear: exactly, and without isl.

Most constraints on one symbol compare it with numbers and with minima of it and numbers. Such an expression is linear
between a few integers, and there each clause holds for one range of sizes. The same is true where the only variable is
a sum of symbols, as in `min(past + seq, 64)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from math import gcd, inf
from typing import NamedTuple

from shapeinf.constraints.records import Clause
from shapeinf.expr.atoms import Floor, Maximum, Symbol
from shapeinf.expr.dimension import Dimension, DimSize, Monomial
from shapeinf.expr.evaluation import simplify_maxima
from shapeinf.expr.interval import Bound, Bounds, BoundsTable

MAX_PIECES = 32
"""isl decides expressions with more pieces."""

_MAX_TRIMMED = 16
"""Sizes tried at each end of a range."""

Range = tuple[int, "int | None"]
"""The first and the last size of a range; None where it has no end."""


class Piece(NamedTuple):
    """The expression is `slope * size + offset` from a size on, up to the next piece."""

    start: int
    slope: int
    offset: int


class NotLinearError(Exception):
    """An expression with a quotient, a product or other symbols, or of too many pieces.

    Internal: caught in `constraints.piecewise`.
    """


def common_variable(dims: Iterable[DimSize]) -> Dimension | None:
    """The dim without a constant of which all dims are piecewise linear functions; None where there is none.

    >>> from shapeinf.expr import Scope, minimum
    >>> scope = Scope()
    >>> a, b = scope.symbol("a"), scope.symbol("b")
    >>> common_variable([minimum(a + b, 64), 2 * a + 2 * b - 1]), common_variable([minimum(a, b)])
    (a + b, None)
    """
    variable: Dimension | None = None
    pending = [d for d in dims if isinstance(d, Dimension)]
    seen: set[DimSize] = set()
    while pending:
        d = pending.pop()
        linear, maxima = _split_maxima(d)
        pending += [a for atom in maxima for a in atom.args if isinstance(a, Dimension) and a not in seen]
        seen.update(pending)
        primitive = _primitive(linear)
        if primitive is None:
            continue
        if variable is not None and primitive is not variable:
            return None
        variable = primitive
    return variable


def _split_maxima(d: Dimension) -> tuple[DimSize, list[Maximum]]:
    """The terms without the constant and multiples of maxima, and these maxima."""
    linear: dict[Monomial, int] = {}
    maxima: list[Maximum] = []
    for monomial, factor in d.terms:
        atom = d.scope.only_atom(monomial)
        if isinstance(atom, Maximum):
            maxima.append(atom)
        elif monomial:
            linear[monomial] = factor
    return d.scope.make(linear), maxima


def _primitive(d: DimSize) -> Dimension | None:
    """A dim without its common factor, with a leading coefficient above 0; None for a number."""
    if isinstance(d, int):
        return None
    factor = gcd(*[c for _, c in d.terms])
    factor = -factor if d.leading_term[1] < 0 else factor
    primitive = d if factor == 1 else d.scope.make({m: c // factor for m, c in d.terms})
    assert isinstance(primitive, Dimension)
    return primitive


def solution_ranges(clauses: Iterable[Clause], symbol: Dimension, low: int, high: int | None) -> list[Range] | None:
    """The sizes in `low..high` for which one of the clauses holds, as ranges with gaps between them.

    None where a clause is not piecewise linear in the symbol, or sum of symbols (see `common_variable`), alone.

    >>> from shapeinf.expr import Scope, minimum
    >>> seq = Scope().symbol("seq")
    >>> solution_ranges([Clause(seq - minimum(seq, 64), True), Clause(seq - 80, True)], seq, 1, None)
    [(1, 64), (80, 80)]
    """
    pieces, end = Pieces(symbol, low), inf if high is None else high
    try:
        ranges = join_ranges(
            r for clause in clauses for r in piece_ranges(pieces.dim_pieces(clause.expression), clause.zero, end)
        )
    except NotLinearError:
        return None
    return [(first, None if last == inf else int(last)) for first, last in ranges]


def join_ranges(ranges: Iterable[tuple[int, Bound]]) -> list[tuple[int, Bound]]:
    """The union of ranges, as ranges in order with gaps between them.

    >>> join_ranges([(7, inf), (1, 2), (3, 5)])
    [(1, 5), (7, inf)]
    """
    joined: list[tuple[int, Bound]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return joined


def solve_clauses(
    clauses: Sequence[Clause], bounds: Callable[[DimSize], Bounds]
) -> tuple[Dimension, list[Range]] | None:
    """A symbol or sum of symbols, and the ranges of its sizes for which one of the clauses holds; None if not found.

    `bounds` are those that hold already.
    """
    variable = common_variable([clause.expression for clause in clauses])
    if variable is not None:
        low, high = bounds(variable)
        if low == -inf:
            return None
        ranges = solution_ranges(clauses, variable, int(low), None if high == inf else int(high))
        if ranges is not None:
            return variable, ranges
    return _trim_ends(clauses[0], bounds) if len(clauses) == 1 and clauses[0].zero else None


def _trim_ends(clause: Clause, bounds: Callable[[DimSize], Bounds]) -> tuple[Dimension, list[Range]] | None:
    """The only symbol of an equation and its range, if the equation is wrong for a few sizes at its ends and no other.

    `min(t, 511)**2 % t == 0` where `t` is at most 512 is `t <= 511`: all maxima are decided within the range.
    """
    e = clause.expression
    symbols = e.symbols() if isinstance(e, Dimension) else ()
    if len(symbols) != 1:
        return None
    (symbol,) = symbols
    low, high = bounds(symbol)
    if low == -inf or high == inf:
        return None
    first, last = int(low), int(high)
    while first < last and high - last < _MAX_TRIMMED and clause.holds({symbol.name: last}) is False:
        last -= 1
    while first < last and first - low < _MAX_TRIMMED and clause.holds({symbol.name: first}) is False:
        first += 1
    within = BoundsTable(lambda _, __: (first, last))
    return (symbol, [(first, last)]) if simplify_maxima(e, within.at_least_zero) == 0 else None


def piece_ranges(pieces: Sequence[Piece], zero: bool, high: Bound) -> Iterator[tuple[int, Bound]]:
    """The range of sizes of each piece at which it is 0, or at least 0."""
    for number, piece in enumerate(pieces):
        end = min(high, pieces[number + 1].start - 1) if number + 1 < len(pieces) else high
        first, last = _solve(piece, zero, end)
        if first <= last:
            yield first, last


def _solve(piece: Piece, zero: bool, end: Bound) -> tuple[int, Bound]:
    """The sizes of a piece up to its end at which it is 0, or at least 0; an empty range where there are none."""
    start, slope, offset = piece
    if slope == 0:
        return (start, end) if offset == 0 or (offset > 0 and not zero) else (start, start - 1)
    root, rest = divmod(-offset, slope)
    if zero:
        return (root, root) if rest == 0 and start <= root <= end else (start, start - 1)
    if slope < 0:
        return start, min(end, root)
    return max(start, root + (rest > 0)), end


class Pieces:
    """The pieces of dims from a size on, each computed once: dims are shared."""

    def __init__(self, variable: Dimension, low: int) -> None:
        self.variable = variable
        self.low = low
        self.done: dict[DimSize, list[Piece]] = {}

    def dim_pieces(self, d: DimSize) -> list[Piece]:
        """The pieces of a dim. Raises NotLinearError."""
        if isinstance(d, int):
            return [Piece(self.low, 0, d)]
        if d not in self.done:
            self.done[d] = self._sum_pieces(d)
        return self.done[d]

    def _sum_pieces(self, d: Dimension) -> list[Piece]:
        linear, _ = _split_maxima(d)
        total = self.line(linear, d.constant) if isinstance(linear, Dimension) else [Piece(self.low, 0, d.constant)]
        for monomial, factor in d.terms:
            atom = d.scope.only_atom(monomial)
            if isinstance(atom, Maximum):
                total = add_pieces(total, factor, self._maximum_pieces(atom))
        return total

    def line(self, linear: Dimension, constant: int) -> list[Piece]:
        """The pieces of a sum of terms without maxima and a constant. Raises NotLinearError."""
        slope = linear.leading_term[1] // self.variable.leading_term[1]
        if self.variable * slope is not linear:
            raise NotLinearError
        return [Piece(self.low, slope, constant)]

    def _maximum_pieces(self, atom: Maximum) -> list[Piece]:
        if atom.depth > MAX_PIECES:
            raise NotLinearError
        return reduce(_larger, map(self.dim_pieces, atom.args))


class ClassPieces(Pieces):
    """The pieces of dims on a class of integers, as functions of the number of periods after its first integer.

    The period must be a multiple of that of each dim: then floors are piecewise linear on the class, too.
    """

    def __init__(self, symbol: Dimension, start: int, period: int) -> None:
        super().__init__(symbol, 0)
        self.start = start
        self.period = period

    def line(self, linear: Dimension, constant: int) -> list[Piece]:
        """As that of all integers, but the terms may have floors."""
        total = [Piece(0, 0, constant)]
        for monomial, factor in linear.terms:
            total = add_pieces(total, factor, self._atom_pieces(linear.scope.only_atom(monomial)))
        return total

    def _atom_pieces(self, atom: object) -> list[Piece]:
        if isinstance(atom, Symbol):
            return [Piece(0, self.period, self.start)]
        if not isinstance(atom, Floor) or not isinstance(atom.denominator, int):
            raise NotLinearError
        divisor = atom.denominator
        return [Piece(at, slope // divisor, offset // divisor) for at, slope, offset in self.dim_pieces(atom.numerator)]


def add_pieces(total: Sequence[Piece], factor: int, pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces of a sum with a multiple of another expression. Raises NotLinearError for too many pieces."""
    return [
        Piece(start, a.slope + factor * b.slope, a.offset + factor * b.offset) for start, a, b in _merge(total, pieces)
    ]


def _merge(first: Sequence[Piece], second: Sequence[Piece]) -> Iterator[tuple[int, Piece, Piece]]:
    """The sizes at which a piece of either begins, and the pieces of both from there on."""
    if len(first) + len(second) > MAX_PIECES:
        raise NotLinearError
    for start in sorted({piece.start for piece in (*first, *second)}):
        yield start, _last(first, start), _last(second, start)


def _last(pieces: Sequence[Piece], size: int) -> Piece:
    return [piece for piece in pieces if piece.start <= size][-1]


def _larger(first: Sequence[Piece], second: Sequence[Piece]) -> list[Piece]:
    """The pieces of the larger of two expressions."""
    merged = list(_merge(first, second))
    pieces: list[Piece] = []
    for number, (start, a, b) in enumerate(merged):
        end = merged[number + 1][0] - 1 if number + 1 < len(merged) else inf
        slope, offset = a.slope - b.slope, a.offset - b.offset
        larger, smaller = (a, b) if (slope * start + offset, slope) >= (0, 0) else (b, a)  # of equal ones the steeper
        pieces.append(Piece(start, larger.slope, larger.offset))
        if larger.slope < smaller.slope:  # the other one is larger from some size on
            crossing = -(-(larger.offset - smaller.offset) // (smaller.slope - larger.slope))
            if start < crossing <= end:
                pieces.append(Piece(crossing, smaller.slope, smaller.offset))
    return pieces
