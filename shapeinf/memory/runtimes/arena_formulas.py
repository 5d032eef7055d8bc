"""The arena of a runtime as formulas: offsets are sums of rounded sizes wherever the planner decides alike.

The planner runs at one binding with sizes that record how they compare (`guarded_sizes`). Its offsets, as formulas,
hold at all bindings at which the comparisons have the same results. Along one dim these are found by evaluation, and
beyond the evaluated sizes by proof; for several dims all comparisons must be proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from shapeinf.errors import Contradiction, LimitError, NotKnown, ShapeInferenceError, Source
from shapeinf.expr import Dimension, DimSize, evaluate
from shapeinf.inputs.reader import as_sizes
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak.answers import Largest
from shapeinf.memory.peak.largest import LargestSearch
from shapeinf.memory.peak.query import SizeQuery
from shapeinf.memory.peak.regions import values_along
from shapeinf.memory.peak.terms import PeakTerm
from shapeinf.memory.runtimes.guarded_sizes import Bytes, GuardedSize, Guards, formula_of
from shapeinf.memory.sizes import parse_bytes
from shapeinf.solver.budget import Budget
from shapeinf.solver.dominance import find_undominated
from shapeinf.solver.integer_sets import decide_le
from shapeinf.solver.long_dims import canonical_form
from shapeinf.solver.upper_bounds import largest_bound

SPAN = 1024
"""The sizes of a dim at which the comparisons of a plan are evaluated; beyond them they are proved."""
MAX_PIECES = 8
"""The most ranges of sizes with a formula of their own."""
MAX_GUARDS = 20_000
"""The most comparisons of a plan."""
SAMPLE = 64
"""The size at which a dim without an upper bound is planned where there are several."""

PlanEnds = Callable[[Callable[[DimSize], Bytes]], Sequence[Bytes]]
"""From the bytes of a size to the ends of all tensors in the arena. Raises NotKnown where there is no formula."""


@attrs.frozen
class ArenaPiece:
    """The arena for a range of sizes of one dim, or for all sizes.

    Args:
        first: the smallest size; None without a range.
        last: the largest size; None without one.
        terms: the arena is the largest of them.
    """

    first: int | None
    last: int | None
    terms: tuple[DimSize, ...]

    def contains(self, size: int) -> bool:
        """Whether a size of the dim is in the range."""
        return (self.first is None or self.first <= size) and (self.last is None or size <= self.last)


@attrs.frozen(eq=False)
class ArenaFormula:
    """The bytes of an arena as formulas in the dims of inputs.

    Args:
        name: the dim that the ranges of the pieces are sizes of; empty where the formula holds for all sizes.
        pieces: from the largest sizes to the smallest.
        reason: why other sizes have no formula; empty where all have one.
        excluded: sizes of dims that together have no formula; empty for none.
    """

    name: str
    pieces: tuple[ArenaPiece, ...]
    reason: str
    _query: SizeQuery = attrs.field(repr=False)
    _store: ShapeStore = attrs.field(repr=False)
    excluded: Mapping[str, int] = attrs.Factory(dict)

    def at(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> int | None:
        """The arena at these sizes; None where they have no formula. Raises as `Peak.at` does."""
        store = self._query.bind(as_sizes({**(sizes or {}), **named}))
        if self.excluded and all(store.canon(self._query.symbol(n)) == size for n, size in self.excluded.items()):
            return None
        size = self._query.evaluate([self._query.symbol(self.name)], store)[0] if self.name else 0
        piece = next((piece for piece in self.pieces if piece.contains(size)), None)
        return None if piece is None else max(self._query.evaluate(piece.terms, store))

    def largest(self, limit: int | str) -> Largest:
        """The largest size of the dim with which the arena fits into a limit; see `Peak.largest`.

        Not `proven` where larger sizes have no formula. Raises BytesError, and ShapeInferenceError where the formula
        is not that of one dim.
        """
        if not self.name:
            raise ShapeInferenceError("the arena is no formula of one dim: specify the sizes of all others")
        for piece in self.pieces:
            store = _restrict(self._store, self._query.symbol(self.name), piece.first, piece.last)
            terms = [PeakTerm(term, (0,)) for term in piece.terms]
            largest = LargestSearch(terms, store, self._query, self.name, False, Budget()).largest(limit)
            if largest.unlimited or largest.value is not None:
                return attrs.evolve(largest, proven=largest.proven and not self.reason)
        return Largest(self.name, None, parse_bytes(limit), proven=not self.reason)

    def bound(self) -> int | None:
        """The largest arena over all sizes; None where some have no formula, or there is no bound."""
        bounds = []
        for piece in self.pieces:
            store = self._store
            if self.name:
                store = _restrict(store, self._query.symbol(self.name), piece.first, piece.last)
            bounds.append(largest_bound(store, [canonical_form(store, term) for term in piece.terms])[0].value)
        return None if self.reason or not bounds or None in bounds else max(b for b in bounds if b is not None)

    def texts(self) -> list[tuple[str, str]]:
        """For each piece its sizes as text, empty for all sizes, and its formula."""
        return [(self._sizes(piece), self._formula(piece)) for piece in self.pieces]

    def _sizes(self, piece: ArenaPiece) -> str:
        if piece.first is None or not self.name:
            return ""
        if piece.last is None:
            return f"{self.name} >= {piece.first}"
        return (
            f"{self.name} = {piece.first}" if piece.first == piece.last else f"{self.name} {piece.first}..{piece.last}"
        )

    def _formula(self, piece: ArenaPiece) -> str:
        terms = [self._query.format(term) for term in piece.terms]
        return terms[0] if len(terms) == 1 else f"max({', '.join(terms)})"

    def __str__(self) -> str:
        """One line for each piece, and one for sizes without a formula."""
        lines = [f"{formula} for {sizes}" if sizes else formula for sizes, formula in self.texts()]
        return "\n".join([*lines, *([f"no formula: {self.reason}"] if self.reason else [])])


def find_formula(plan_ends: PlanEnds, query: SizeQuery, store: ShapeStore, budget: Budget) -> ArenaFormula:
    """The formulas of an arena under the constraints of a store. Without any, `reason` has the cause."""
    search = _FormulaSearch(plan_ends, query, store, budget)
    try:
        name, pieces, reason = search.find()
    except (NotKnown, LimitError) as error:
        name, pieces, reason = "", (), getattr(error, "reason", str(error))
    return ArenaFormula(name, tuple(pieces), reason, query, store)


class _FormulaSearch:
    """Plans at some sizes, and finds where the plans are the same."""

    def __init__(self, plan_ends: PlanEnds, query: SizeQuery, store: ShapeStore, budget: Budget) -> None:
        self.plan_ends, self.query, self.store, self.budget = plan_ends, query, store, budget

    def find(self) -> tuple[str, Sequence[ArenaPiece], str]:
        """The dim, the pieces, and the reason why other sizes have none. Raises NotKnown and LimitError."""
        symbols = self._symbols()
        if not symbols:
            return "", [ArenaPiece(None, None, (max(self._plan({})[0], key=int),))], ""
        if len(symbols) > 1:
            return "", [self._for_all_sizes(symbols)], ""
        return self.query.labels.get(symbols[0], str(symbols[0])), *self._along(symbols[0])

    def _symbols(self) -> list[Dimension]:
        """The symbols of all sizes."""
        seen: dict[DimSize, None] = {}

        def collect(size: DimSize) -> int:
            seen[canonical_form(self.store, size)] = None
            return 1

        self.plan_ends(collect)
        symbols = {symbol for size in seen if isinstance(size, Dimension) for symbol in size.symbols()}
        for symbol in symbols:
            if not self.query.is_bindable(symbol):
                raise NotKnown("data decide the sizes of some tensors")
        return sorted(symbols, key=str)

    def _plan(self, values: Mapping[str, int]) -> tuple[list[DimSize], list[DimSize]]:
        """The distinct ends of all tensors as formulas, and the guards under which they hold."""
        guards = Guards()

        def guarded(size: DimSize) -> Bytes:
            formula = canonical_form(self.store, size)
            return formula if isinstance(formula, int) else GuardedSize(int(evaluate(formula, values)), formula, guards)

        try:
            ends = list(dict.fromkeys(formula_of(end) for end in self.plan_ends(guarded))) or [0]
        except ZeroDivisionError as error:
            raise NotKnown(f"{error} for some sizes") from None
        if len(guards.dims) > MAX_GUARDS:
            raise LimitError("the plan depends on too many comparisons of sizes")
        return ends, guards.dims

    # -- several dims ------------------------------------------------------------------------------------------------

    def _for_all_sizes(self, symbols: Iterable[Dimension]) -> ArenaPiece:
        """The formula for all sizes. Raises NotKnown where the planner may decide otherwise at some."""
        values = {symbol.name: self._sample(symbol) for symbol in symbols}
        ends, guards = self._plan(values)
        if not self._holds(guards, self.store):
            raise NotKnown("the order in which tensors are placed depends on sizes: specify all dims but one")
        return ArenaPiece(None, None, self._undominated(ends, self.store))

    def _sample(self, symbol: Dimension) -> int:
        bounds = self.store.interval(symbol)
        low = bounds.lo or 0
        return max(low, SAMPLE) if bounds.hi is None else max(low, min(bounds.hi, SAMPLE))

    def _holds(self, guards: Iterable[DimSize], store: ShapeStore) -> bool:
        """Whether all guards are proved under the constraints of a store."""
        return all(decide_le(store, guard, 0, self.budget).value for guard in guards)

    def _undominated(self, ends: Sequence[DimSize], store: ShapeStore) -> tuple[DimSize, ...]:
        """The ends that may be the largest."""
        return tuple([ends[index] for index in find_undominated(store, ends, budget=self.budget)])

    # -- one dim -----------------------------------------------------------------------------------------------------

    def _along(self, symbol: Dimension) -> tuple[list[ArenaPiece], str]:
        """The pieces from the largest sizes to the smallest, and why other sizes have none."""
        bounds = self.store.interval(symbol)
        low, last = bounds.lo or 0, bounds.hi
        size = top = low + SPAN - 1 if last is None else min(last, low + SPAN - 1)
        pieces: list[ArenaPiece] = []
        reason = ""
        while size >= low:
            if len(pieces) == MAX_PIECES:
                if size - low > top - size:
                    raise NotKnown("the order in which tensors are placed changes from size to size")
                return pieces, f"below {pieces[-1].first} the order in which tensors are placed changes often"
            ends, guards = self._plan({symbol.name: size})
            if last != size and not self._holds(guards, _restrict(self.store, symbol, size, last)):
                last, reason = size, f"above {size} the order in which tensors are placed is not known"
            first = self._first_like(guards, symbol, low, size)
            terms = self._largest(ends, symbol, first, size, last)
            if pieces and pieces[-1].terms == terms:
                pieces[-1] = attrs.evolve(pieces[-1], first=first)
            else:
                pieces.append(ArenaPiece(first, last, terms))
            size = first - 1
            last = size
        return pieces, reason

    def _first_like(self, guards: Sequence[DimSize], symbol: Dimension, low: int, size: int) -> int:
        """The smallest size from which on, up to this size, all guards hold."""
        import numpy as np

        first = low
        if guards and low < size:
            start = low
            for values in values_along(guards, symbol, low, size, self.budget):
                broken = np.flatnonzero((values > 0).any(axis=0))
                if len(broken):
                    first = start + int(broken[-1]) + 1
                start += values.shape[1]
        return min(first, size)

    def _largest(
        self, ends: Sequence[DimSize], symbol: Dimension, first: int, size: int, last: int | None
    ) -> tuple[DimSize, ...]:
        """The ends that are the largest somewhere in a range of sizes, those up to `size` evaluated."""
        import numpy as np

        store = _restrict(self.store, symbol, first, last)
        terms = self._undominated(list(dict.fromkeys(canonical_form(store, end) for end in ends)), store)
        if len(terms) == 1 or last != size:
            return terms
        parts = [np.argmax(values, axis=0) for values in values_along(terms, symbol, first, size, self.budget)]
        return tuple([terms[index] for index in sorted({int(index) for part in parts for index in part})])


def _restrict(store: ShapeStore, symbol: Dimension, first: int | None, last: int | None) -> ShapeStore:
    """The constraints with a range of a symbol."""
    restricted = store.copy()
    source = Source("", "a range of sizes")
    try:
        restricted.add_range(symbol, first, last, source)
    except Contradiction as error:
        raise NotKnown(str(error)) from None
    return restricted
