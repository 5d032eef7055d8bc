"""The least upper bound of a dim under all constraints, the engine that proves it, and whether it is attained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import ClassVar, Literal

import attrs

from shapeinf.constraints.store import ConstraintStore
from shapeinf.errors import Contradiction, Source
from shapeinf.expr.dimension import Dimension, DimSize
from shapeinf.expr.evaluation import evaluate
from shapeinf.expr.interval import Bound
from shapeinf.solver.answers import Infeasible
from shapeinf.solver.budget import NEEDS_ISL, Budget, cut_text
from shapeinf.solver.long_dims import canonical_form, is_long
from shapeinf.solver.shifted import Shift
from shapeinf.solver.witnesses import STEPS_PER_CONSTRAINT, holds_at, value_at

BoundEngine = Literal["exact", "isl", "interval"]


@attrs.frozen
class UpperBound:
    """An upper bound of a dim.

    Args:
        value: the bound; None for no bound.
        engine: "exact" where the bounds of the symbols alone attain it, "isl" for isl's Bernstein bounds over all
            linear constraints, "interval" where isl does no better than intervals.
        tight: whether it is attained at known sizes that satisfy all constraints.
        sizes: those sizes, by the names of symbols; empty when not known.
        unbounded: the names of symbols without an upper bound, where there is no bound.
        cut: the work budget ended the search for a lower one.
        needs_isl: isl, which is not installed, may find a lower one.
    """

    value: int | None
    engine: BoundEngine
    tight: bool = False
    sizes: Mapping[str, int] = attrs.field(factory=dict)
    unbounded: tuple[str, ...] = ()
    cut: bool = False
    needs_isl: bool = False
    remedy: ClassVar[str] = "upper_bound(budget=...)"
    """The option that raises the budget."""

    def __str__(self) -> str:
        """The bound and its engine."""
        if self.value is None:
            have = "have" if len(self.unbounded) > 1 else "has"
            return f"no bound ({', '.join(self.unbounded) or 'a symbol'} {have} none{self._notes})"
        less = f"may be less{self._notes}"
        return f"{self.value} ({self.engine}, {'tight' if self.tight else less})"

    @property
    def _notes(self) -> str:
        """What may improve the bound."""
        notes = [cut_text(self.remedy)] * self.cut + [NEEDS_ISL] * self.needs_isl
        return "".join(f"; {note}" for note in notes)


def upper_bound(
    store: ConstraintStore, expression: DimSize, enough: Bound = -inf, budget: Budget | None = None
) -> UpperBound:
    """The least provable upper bound of a dim under all constraints; a bound up to `enough` is not improved.

    By default it has a new budget. Raises Contradiction where the constraints have no solution.

    >>> from shapeinf.expr import Scope
    >>> store = ConstraintStore(Scope())
    >>> b, s = store.scope.symbol("b", 1, 8), store.scope.symbol("s", 1, 64)
    >>> print(upper_bound(store, b * s * 4))
    2048 (exact, tight)
    >>> store.add_le(b + s, 40, Source("", "assumed"))
    >>> print(upper_bound(store, b * s * 4))
    1024 (isl, tight)
    """
    e = canonical_form(store, expression)
    if isinstance(e, int):
        return UpperBound(e, "exact", tight=True)
    budget = budget or Budget()
    simple = interval_bound(store, e)
    if simple is not None:
        corner = _climb(store, e, budget)
        if corner is not None and value_at(store, e, corner) == simple and holds_at(store, corner):
            return UpperBound(simple, "exact", tight=True, sizes=corner)
        if simple <= enough:
            return UpperBound(simple, "interval")
    return _bound_by_isl(store, e, simple, enough, budget)


def largest_bound(
    store: ConstraintStore, dims: Sequence[DimSize], budget: Budget | None = None
) -> tuple[UpperBound, int]:
    """The largest of the upper bounds of one or more dims, and the index of its dim.

    A dim without a bound counts as the largest; `unbounded` has the symbols of all such dims. The bounds of dims that
    cannot exceed another one are not improved.
    """
    budget = budget or Budget()
    simple = [interval_bound(store, d) for d in dims]
    best: UpperBound | None = None
    chosen = 0
    for index in sorted(range(len(dims)), key=lambda i: (simple[i] is not None, -(simple[i] or 0), i)):
        known = best.value if best is not None and best.value is not None else -inf
        limit = simple[index]
        if limit is not None and limit < known:
            break
        bound = upper_bound(store, dims[index], known, budget)
        if bound.value is None:
            others = [
                upper_bound(store, dims[i], budget=budget) for i in range(len(dims)) if simple[i] is None and i != index
            ]
            names = {name for b in (bound, *others) if b.value is None for name in b.unbounded}
            return attrs.evolve(bound, unbounded=tuple(sorted(names))), index
        if best is None or bound.value > known or (bound.value == known and bound.tight and not best.tight):
            best, chosen = bound, index
    assert best is not None
    return best, chosen


def narrow_ranges(store: ConstraintStore, dims: Iterable[DimSize], budget: Budget) -> None:
    """Add the ranges of the symbols of dims that follow from all constraints together. Raises Contradiction."""
    from shapeinf.solver.integer_sets import pending_groups, value_range

    if next(store.pending(), None) is None:
        return
    forms = (canonical_form(store, d) for d in dims)
    operands = (store.canon(d) for disjunction in store.disjunctions for d in disjunction.operands)
    in_words = {s for d in operands if isinstance(d, Dimension) for s in d.symbols()}
    groups = pending_groups(store)
    for symbol in sorted({s for d in forms if isinstance(d, Dimension) for s in d.symbols()}, key=str):
        if not store.related_ids(symbol) and symbol not in in_words:
            continue
        source = Source("", f"the constraints on {symbol}")
        try:
            bounds = value_range(store, symbol, budget, groups)
        except Infeasible:
            raise Contradiction(f"no sizes satisfy the constraints on {symbol}", source) from None
        if bounds is not None:
            before = store.bounds(symbol)
            store.add_range(symbol, *bounds, source)
            if store.bounds(symbol) != before:
                groups = pending_groups(store)


def interval_bound(store: ConstraintStore, e: DimSize) -> int | None:
    """An upper bound from the bounds of symbols alone, None where there is none."""
    value = Shift(store).upper(canonical_form(store, e))
    if not is_long(e):
        value = min(value, store.bounds(e)[1])
    return None if value == inf else int(value)


def _bound_by_isl(
    store: ConstraintStore, e: Dimension, simple: int | None, enough: Bound, budget: Budget
) -> UpperBound:
    from shapeinf.solver.polytopes import maximize

    largest = maximize(store, e, enough, budget)
    if largest is not None and largest.empty:
        raise Contradiction(
            f"no sizes satisfy the constraints on {_format_symbols(e.symbols())}", Source("", "all constraints")
        )
    isl_value = None if largest is None else largest.value
    if isl_value is None and simple is None:
        symbols = largest.unbounded if largest else [s for s in e.symbols() if store.bounds(s)[1] == inf]
        names = tuple(sorted(s.name for s in symbols))
        return UpperBound(None, "interval", unbounded=names, cut=budget.cut, needs_isl=budget.needs_isl)
    value = min(v for v in (simple, isl_value) if v is not None)
    engine: BoundEngine = "interval" if isl_value is None or (simple is not None and simple < isl_value) else "isl"
    tight = largest is not None and largest.tight and largest.value == value
    sizes = largest.sizes if largest is not None and tight else {}
    return UpperBound(
        value, engine, tight, sizes, cut=budget.cut and not tight, needs_isl=budget.needs_isl and not tight
    )


def _format_symbols(symbols: Iterable[Dimension]) -> str:
    return ", ".join(sorted(map(str, symbols)))


def _climb(store: ConstraintStore, e: Dimension, budget: Budget) -> dict[str, int] | None:
    """A corner of the box of symbols: all upper bounds, each replaced by the lower one where that makes `e` larger."""
    if not budget.take(len(e.symbols()) * len(e.terms) + STEPS_PER_CONSTRAINT * store.count):
        return None
    bounds = {s.name: store.bounds(s) for s in e.symbols()}
    if any(inf in map(abs, pair) for pair in bounds.values()):
        return None
    corner = {name: int(high) for name, (_, high) in bounds.items()}
    try:
        best = evaluate(e, corner)
        for name, (low, _) in sorted(bounds.items()):
            other = {**corner, name: int(low)}
            value = evaluate(e, other)
            if value > best:
                corner, best = other, value
    except ZeroDivisionError:
        return None
    return corner
