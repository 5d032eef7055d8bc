"""The inverse question: how large may a dim be, so that the peak fits into a budget?

Where the peak can only grow with the dim, the answer is found by bisection; else every size of the dim is looked at.
Either way it is a size with which the graph runs by all facts, and the peak at it is at most the budget. Where the work
is more than may be done, the sizes that are left were not looked at, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from math import inf

import numpy as np

from shapeinf.errors import Contradiction, LimitError, MissingSizeError, Source
from shapeinf.expr import Dim, Dimension, evaluate, substitute
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak.answers import Largest
from shapeinf.memory.peak.budgets import parse_budget
from shapeinf.memory.peak.query import Asked
from shapeinf.memory.peak.regions import values_along
from shapeinf.memory.peak.terms import PeakTerm
from shapeinf.memory.sizes import too_long
from shapeinf.solver.budget import Budget
from shapeinf.solver.dominance import is_monotone_in
from shapeinf.solver.long_sums import canonical_form, map_terms
from shapeinf.solver.upper_bounds import UpperBound, largest_bound, narrow_ranges, upper_bound
from shapeinf.solver.witnesses import STEPS_PER_CONSTRAINT, holds_at, value_at, violated_at

MAX_TRIED = 20_000
"""Sizes for which the bound over the other dims is asked, one after the other; some minutes at the very worst."""
WINDOW = 4096
MAX_WINDOWS = 64
_ENDLESS = 1 << 63


class Search:
    """Looks for the largest size of one dim."""

    def __init__(
        self, terms: Sequence[PeakTerm], store: ShapeStore, asked: Asked, name: str, at_least: bool, work: Budget
    ) -> None:
        """`store` hold the sizes and ranges of the other dims."""
        self.work = work
        self.store = store
        self.asked = asked
        self.symbol = asked.followed(name, store)
        self.name = asked.labels[asked.symbol(name)]
        self.at_least = at_least
        narrow_ranges(store, [self.symbol, *(term.size for term in terms)], work)
        self.dims: list[Dim] = [canonical_form(store, term.size) for term in terms]
        low, high = store.bounds(self.symbol)
        self.low = max(0, int(low)) if low != -inf else 0
        self.high = None if high == inf else int(high)

    def largest(self, budget: int | str) -> Largest:
        """The answer; see `Peak.largest`."""
        limit = parse_budget(budget)
        free = self.store.canon(self.symbol) is self.symbol
        alone = free and all(s is self.symbol for d in self.dims if isinstance(d, Dimension) for s in d.symbols())
        grows = all(is_monotone_in(self.store, d, self.symbol) for d in self.dims)
        if alone:
            return self._by_bisection(limit, self._value) if grows else self._by_values(limit)
        if free and grows and not self._coupled():
            return self._by_bisection(limit, self._most_at)
        return self._by_trial(limit)

    def _answer(self, budget: int, value: int | None, size: int | None = None, proven: bool = True) -> Largest:
        cut = self.work.cut
        return Largest(self.name, value, budget, size, proven=proven and not cut, at_least=self.at_least, cut=cut)

    # -- where the peak only grows -----------------------------------------------------------------------------------

    def _by_bisection(self, budget: int, most: Callable[[int], UpperBound]) -> Largest:
        top, above = self._bisected(budget, most := cache(most))
        if top is None and above is None:
            return Largest(self.name, None, budget, unlimited=True, at_least=self.at_least)
        proven = above is None or above.tight
        for value in self._legal_down(top) if top is not None else ():
            size = _known(most(value if top is None or not self.work.cut else top))  # a bound of this size as well
            return self._answer(budget, value, size, proven)
        return self._answer(budget, None, proven=proven)

    def _bisected(self, budget: int, most: Callable[[int], UpperBound]) -> tuple[int | None, UpperBound | None]:
        """The largest size that fits, and the bound at the next one; none and none where every size fits."""
        first = most(self.low)
        if _known(first) > budget:
            return None, first
        high = self.high
        fits = self.low
        if high is None:
            step = 1
            while _known(most(fits + step)) <= budget:
                fits += step
                step *= 2
                if step > _ENDLESS or not self._matters():
                    return None, None
            high = fits + step
        elif _known(most(high)) <= budget:
            return high, None
        while high - fits > 1:
            middle = (fits + high) // 2
            fits, high = (middle, high) if _known(most(middle)) <= budget else (fits, middle)
        return fits, most(high)

    def _matters(self) -> bool:
        return any(isinstance(d, Dimension) and self.symbol in d.symbols() for d in self.dims)

    def _value(self, value: int) -> UpperBound:
        """The peak at a size, where nothing else is left open."""
        return UpperBound(max([evaluate(d, {self.symbol.name: value}) for d in self.dims], default=0), "exact", True)

    def _most_at(self, value: int) -> UpperBound:
        """The bound over the other dims, which no fact ties to this one."""
        return self._most(
            self.store, [map_terms(d, lambda part: substitute(part, {self.symbol: value})) for d in self.dims]
        )

    def _most(self, store: ShapeStore, dims: Sequence[Dim]) -> UpperBound:
        found, _ = largest_bound(store, dims or [0], self.work)
        if found.value is None:
            reason = too_long(map(self.store.scope.symbol, found.unbounded))
            if reason:
                raise LimitError(reason)
            missing = sorted(map(self.asked.label, found.unbounded))
            raise MissingSizeError(missing or ["other dims"], "give it a size or a range")
        return found

    def _coupled(self) -> bool:
        """Whether a fact ties the dim to another one, so that a larger size can leave less to the others."""
        store = self.store
        expressions = chain(
            (r.expression for r in store.relations),
            (d.expression for d in store.divisibilities),
            (d for g in store.disjunctions for d in ((g.equation,) if g.equation is not None else g.operands)),
            store.solved.values(),
        )
        for expression in map(store.canon, expressions):
            if isinstance(expression, Dimension) and self.symbol in expression.symbols() != {self.symbol}:
                return True
        disjunctions = [g for g in store.disjunctions if g.equation is None]
        tied = ({s for d in map(store.canon, g.operands) for s in _symbols(d)} for g in disjunctions)
        return any(self.symbol in symbols and len(symbols) > 1 for symbols in tied)

    # -- where it may not --------------------------------------------------------------------------------------------

    def _by_values(self, budget: int) -> Largest:
        """All sizes at once, where nothing else is left open."""
        high = self._finite()
        if high < self.low:
            return self._answer(budget, None)
        parts = values_along(self.dims, self.symbol, self.low, high, self.work)
        sizes = np.concatenate([np.max(values, axis=0) for values in parts])
        fitting = np.flatnonzero(sizes <= budget)
        for value in self._legal_down(self.low + int(fitting[-1])) if len(fitting) else ():
            size = int(sizes[value - self.low])
            if size <= budget:
                return self._answer(budget, value, size)
        return self._answer(budget, None)

    def _finite(self) -> int:
        high = self.high if self.high is not None else upper_bound(self.store, self.symbol, budget=self.work).value
        if high is None:
            raise MissingSizeError([self.name], "give it a range, since the peak may get smaller where it gets larger")
        return high

    def _by_trial(self, budget: int) -> Largest:
        """One size after the other, from the largest on; what another one has shown too large is passed over."""
        proven = True
        witness: Mapping[str, int] = {}
        free = self.store.canon(self.symbol) is self.symbol
        high = self._finite()
        for value in range(high, self.low - 1, -1):
            if high - value >= MAX_TRIED:
                raise LimitError(f"none of the {MAX_TRIED} largest sizes of {self.name} fits: give a smaller range")
            if not self.work.take(STEPS_PER_CONSTRAINT * (2 + self.store.count) + sum(map(_terms, self.dims))):
                return self._answer(budget, None)
            if witness and self._exceeds(budget, {**witness, self.symbol.name: value}):
                continue
            found = self._tried(value)
            if found is None:
                continue
            if _known(found) > budget:
                proven = proven and found.tight
                witness = found.sizes if free else {}
                continue
            legal = self._legal(value)
            if legal is not False:
                return self._answer(budget, value, found.value, proven and legal is True)
        return self._answer(budget, None, proven=proven)

    def _exceeds(self, budget: int, point: Mapping[str, int]) -> bool:
        """Whether the peak is too large at a point at which all facts hold."""
        values = (value_at(self.store, d, point) for d in self.dims)
        return any(v is not None and v > budget for v in values) and holds_at(self.store, point)

    def _tried(self, value: int) -> UpperBound | None:
        """The bound over the other dims at a size; None where the graph does not run with it."""
        store = self._with(value)
        if store is None:
            return None
        try:
            return self._most(store, self.dims)
        except Contradiction:
            return None

    # -- sizes with which the graph runs -----------------------------------------------------------------------------

    def _with(self, value: int) -> ShapeStore | None:
        store = self.store.copy()
        try:
            store.add_equal(self.symbol, value, Source("", f"{self.name} = {value} is tried"))
        except Contradiction:
            return None
        return store if violated_at(store, {}) is None else None

    def _legal(self, value: int) -> bool | None:
        """Whether other sizes can be chosen so that all facts hold; None where isl cannot tell."""
        from shapeinf.solver.integer_sets import possible_values

        if holds_at(self.store, {self.symbol.name: value}):
            return True
        found = possible_values(self.store, self.symbol, value, value, self.work)
        return None if found is None else bool(found)

    def _legal_down(self, top: int) -> Iterator[int]:
        """The sizes that agree with all facts, from `top` downwards. Raises LimitError."""
        from shapeinf.solver.integer_sets import possible_values

        if holds_at(self.store, {self.symbol.name: top}):
            yield top
            top -= 1
        for _ in range(MAX_WINDOWS):
            if top < self.low:
                return
            start = max(self.low, top - WINDOW + 1)
            found = possible_values(self.store, self.symbol, start, top, self.work)
            yield from self._legal_by_trial(start, top) if found is None else reversed(found)
            if self.work.cut:
                return
            top = start - 1
        raise LimitError(f"too many sizes of {self.name} to try: give a smaller range")

    def _legal_by_trial(self, start: int, top: int) -> Iterator[int]:
        for value in range(top, start - 1, -1):
            if not self.work.take(STEPS_PER_CONSTRAINT * (2 + self.store.count)):
                return
            if self._with(value) is not None:
                yield value


def _known(bound: UpperBound) -> int:
    assert bound.value is not None
    return bound.value


def _terms(d: Dim) -> int:
    return len(d.terms) if isinstance(d, Dimension) else 1


def _symbols(d: Dim) -> frozenset[Dimension]:
    return d.symbols() if isinstance(d, Dimension) else frozenset()
