"""The inverse query: the largest size of a dim with which the peak fits into a limit.

Where the peak is monotone in the dim, the result is found by bisection; else every size of the dim is checked. Either
way all constraints hold at it, and the peak there is at most the limit. Where the work budget is reached, the other
sizes are not checked, and the result reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import inf

from shapeinf.errors import Contradiction, LimitError, MissingSizeError, Source
from shapeinf.expr import Dimension, DimSize, evaluate, substitute
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak.answers import Largest
from shapeinf.memory.peak.query import SizeQuery
from shapeinf.memory.peak.regions import values_along
from shapeinf.memory.peak.terms import PeakTerm
from shapeinf.memory.sizes import parse_bytes, too_long
from shapeinf.solver.budget import NEEDS_ISL, Budget
from shapeinf.solver.long_dims import canonical_form, map_terms
from shapeinf.solver.monotonicity import is_monotone_in
from shapeinf.solver.upper_bounds import UpperBound, largest_bound, narrow_ranges, upper_bound
from shapeinf.solver.witnesses import STEPS_PER_CONSTRAINT, find_violation, holds_at, value_at

MAX_TRIED = 20_000
"""Limit on the sizes for which the bound over the other dims is computed; some minutes at worst."""
WINDOW = 4096
MAX_WINDOWS = 64
_ENDLESS = 1 << 63


class LargestSearch:
    """Searches for the largest size of one dim."""

    def __init__(
        self, terms: Sequence[PeakTerm], store: ShapeStore, query: SizeQuery, name: str, at_least: bool, work: Budget
    ) -> None:
        """`store` holds the sizes and ranges of the other dims."""
        self.work = work
        self.store = store
        self.query = query
        self.symbol = query.representative(name, store)
        self.name = query.labels[query.symbol(name)]
        self.at_least = at_least
        narrow_ranges(store, [self.symbol, *(term.size for term in terms)], work)
        self.dims: list[DimSize] = [canonical_form(store, term.size) for term in terms]
        low, high = store.bounds(self.symbol)
        self.low = max(0, int(low)) if low != -inf else 0
        self.high = None if high == inf else int(high)

    def largest(self, limit: int | str) -> Largest:
        """See `Peak.largest`."""
        limit = parse_bytes(limit)
        free = self.store.canon(self.symbol) is self.symbol
        alone = free and all(s is self.symbol for d in self.dims if isinstance(d, Dimension) for s in d.symbols())
        monotone = all(is_monotone_in(self.store, d, self.symbol) for d in self.dims)
        if alone:
            return self._bisect(limit, self._peak_at) if monotone else self._search_values(limit)
        if free and monotone and not self._is_coupled():
            return self._bisect(limit, self._upper_bound_at)
        return self._search_sizes(limit)

    def _result(self, limit: int, value: int | None, size: int | None = None, proven: bool = True) -> Largest:
        cut, needs_isl = self.work.cut, self.work.needs_isl
        proven = proven and not cut and not needs_isl
        return Largest(self.name, value, limit, size, False, proven, self.at_least, cut, needs_isl)

    # -- where the peak is monotone ----------------------------------------------------------------------------------

    def _bisect(self, limit: int, most: Callable[[int], UpperBound]) -> Largest:
        top, above = self._last_fitting(limit, most := cache(most))
        if top is None and above is None:
            return Largest(self.name, None, limit, unlimited=True, at_least=self.at_least)
        proven = above is None or above.tight
        for value in self._descending_legal_sizes(top) if top is not None else ():
            size = _value_of(most(value if top is None or not self.work.cut else top))  # a bound of this size as well
            return self._result(limit, value, size, proven)
        return self._result(limit, None, proven=proven)

    def _last_fitting(self, limit: int, most: Callable[[int], UpperBound]) -> tuple[int | None, UpperBound | None]:
        """The largest size that fits, and the bound at the next one; None twice where every size fits."""
        first = most(self.low)
        if _value_of(first) > limit:
            return None, first
        high = self.high
        fits = self.low
        if high is None:
            step = 1
            while _value_of(most(fits + step)) <= limit:
                fits += step
                step *= 2
                if step > _ENDLESS or not self._affects_peak():
                    return None, None
            high = fits + step
        elif _value_of(most(high)) <= limit:
            return high, None
        while high - fits > 1:
            middle = (fits + high) // 2
            fits, high = (middle, high) if _value_of(most(middle)) <= limit else (fits, middle)
        return fits, most(high)

    def _affects_peak(self) -> bool:
        return any(isinstance(d, Dimension) and self.symbol in d.symbols() for d in self.dims)

    def _peak_at(self, value: int) -> UpperBound:
        """The peak at a size, where no other dim is open."""
        return UpperBound(max([evaluate(d, {self.symbol.name: value}) for d in self.dims], default=0), "exact", True)

    def _upper_bound_at(self, value: int) -> UpperBound:
        """The bound over the other dims, where no constraint couples them to this one."""
        return self._upper_bound(
            self.store, [map_terms(d, lambda part: substitute(part, {self.symbol: value})) for d in self.dims]
        )

    def _upper_bound(self, store: ShapeStore, dims: Sequence[DimSize]) -> UpperBound:
        bound, _ = largest_bound(store, dims or [0], self.work)
        if bound.value is None:
            reason = too_long(map(self.store.scope.symbol, bound.unbounded))
            if reason:
                raise LimitError(reason)
            missing = sorted(map(self.query.label, bound.unbounded))
            raise MissingSizeError(missing or ["other dims"], "specify a size or a range")
        return bound

    def _is_coupled(self) -> bool:
        """Whether a constraint couples the dim to another one, so that a larger size may leave less to the others."""
        canon = self.store.canon
        coupled = [_symbols(canon(value)) for value in self.store.solved.values()]
        for constraint in self.store.pending():
            dims = map(canon, (constraint.expression, *constraint.operands))
            coupled.append(frozenset().union(*map(_symbols, dims)))
        return any(self.symbol in symbols and len(symbols) > 1 for symbols in coupled)

    # -- where it is not ---------------------------------------------------------------------------------------------

    def _search_values(self, limit: int) -> Largest:
        """Evaluate all sizes at once, where no other dim is open."""
        import numpy as np  # a bisection does not need numpy, which takes long to import

        high = self._last_size()
        if high < self.low:
            return self._result(limit, None)
        parts = values_along(self.dims, self.symbol, self.low, high, self.work)
        sizes = np.concatenate([np.max(values, axis=0) for values in parts])
        fitting = np.flatnonzero(sizes <= limit)
        for value in self._descending_legal_sizes(self.low + int(fitting[-1])) if len(fitting) else ():
            size = int(sizes[value - self.low])
            if size <= limit:
                return self._result(limit, value, size)
        return self._result(limit, None)

    def _last_size(self) -> int:
        high = self.high if self.high is not None else upper_bound(self.store, self.symbol, budget=self.work).value
        if high is None:
            more = f"; {NEEDS_ISL}" if self.work.needs_isl else ""
            raise MissingSizeError([self.name], f"specify a range: the peak is not monotone in it{more}")
        return high

    def _search_sizes(self, limit: int) -> Largest:
        """Bound one size after the other, from the largest down; skip those that an earlier witness shows too large."""
        proven = True
        witness: Mapping[str, int] = {}
        free = self.store.canon(self.symbol) is self.symbol
        high = self._last_size()
        for value in range(high, self.low - 1, -1):
            if high - value >= MAX_TRIED:
                raise LimitError(f"none of the {MAX_TRIED} largest sizes of {self.name} fits: specify a smaller range")
            if not self.work.take(STEPS_PER_CONSTRAINT * (2 + self.store.count) + sum(map(_count_terms, self.dims))):
                return self._result(limit, None)
            if witness and self._exceeds(limit, {**witness, self.symbol.name: value}):
                continue
            bound = self._upper_bound_with(value)
            if bound is None:
                continue
            if _value_of(bound) > limit:
                proven = proven and bound.tight
                witness = bound.sizes if free else {}
                continue
            legal = self._is_legal(value)
            if legal is not False:
                return self._result(limit, value, bound.value, proven and legal is True)
        return self._result(limit, None, proven=proven)

    def _exceeds(self, limit: int, point: Mapping[str, int]) -> bool:
        """Whether all constraints hold at a point and the peak there is too large."""
        values = (value_at(self.store, d, point) for d in self.dims)
        return any(v is not None and v > limit for v in values) and holds_at(self.store, point)

    def _upper_bound_with(self, value: int) -> UpperBound | None:
        """The bound over the other dims at a size; None where the size is not legal."""
        store = self._store_with(value)
        if store is None:
            return None
        try:
            return self._upper_bound(store, self.dims)
        except Contradiction:
            return None

    # -- legal sizes -------------------------------------------------------------------------------------------------

    def _store_with(self, value: int) -> ShapeStore | None:
        store = self.store.copy()
        try:
            store.add_equal(self.symbol, value, Source("", f"{self.name} = {value} is assumed"))
        except Contradiction:
            return None
        return store if find_violation(store, {}) is None else None

    def _is_legal(self, value: int) -> bool | None:
        """Whether the other dims have sizes at which all constraints hold; None where isl does not decide it."""
        from shapeinf.solver.integer_sets import possible_values

        if holds_at(self.store, {self.symbol.name: value}):
            return True
        legal = possible_values(self.store, self.symbol, [value], self.work)
        return None if legal is None else bool(legal)

    def _descending_legal_sizes(self, top: int) -> Iterator[int]:
        """The legal sizes from `top` downwards. Raises LimitError."""
        from shapeinf.solver.integer_sets import possible_values

        if holds_at(self.store, {self.symbol.name: top}):
            yield top
            top -= 1
        for _ in range(MAX_WINDOWS):
            if top < self.low:
                return
            start = max(self.low, top - WINDOW + 1)
            legal = possible_values(self.store, self.symbol, range(start, top + 1), self.work)
            yield from self._legal_by_propagation(start, top) if legal is None else reversed(legal)
            if self.work.cut:
                return
            top = start - 1
        raise LimitError(f"too many sizes of {self.name} to check: specify a smaller range")

    def _legal_by_propagation(self, start: int, top: int) -> Iterator[int]:
        for value in range(top, start - 1, -1):
            if not self.work.take(STEPS_PER_CONSTRAINT * (2 + self.store.count)):
                return
            if self._store_with(value) is not None:
                yield value


def _value_of(bound: UpperBound) -> int:
    assert bound.value is not None
    return bound.value


def _count_terms(d: DimSize) -> int:
    return len(d.terms) if isinstance(d, Dimension) else 1


def _symbols(d: DimSize) -> frozenset[Dimension]:
    return d.symbols() if isinstance(d, Dimension) else frozenset()
