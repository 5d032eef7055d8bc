"""The least upper bound of a dim under facts, the engine that found it, and whether it is attained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import ClassVar, Literal

import attrs

from shapeinf.constraints.store import ConstraintStore
from shapeinf.errors import Contradiction, Source
from shapeinf.expr.dimension import Dim, Dimension
from shapeinf.expr.evaluation import evaluate
from shapeinf.solver.budget import Budget, cut_text
from shapeinf.solver.dominance import Shift
from shapeinf.solver.long_sums import canonical_form, is_long
from shapeinf.solver.witnesses import STEPS_PER_CONSTRAINT, holds_at, value_at

Engine = Literal["exact", "isl", "interval"]


@attrs.frozen
class UpperBound:
    """The most that a dim can be.

    Args:
        value: the bound; None for no bound.
        engine: "exact" where the bounds of the symbols alone attain it, "isl" for isl's Bernstein bounds over all
            linear facts, "interval" where isl does no better than intervals.
        tight: whether some sizes for which all facts hold are known to attain it.
        sizes: those sizes, by the names of symbols; empty when none are known.
        unbounded: the names of symbols without an upper bound, where there is no bound.
        cut: the budget of work was not enough to look for a lower one.
    """

    value: int | None
    engine: Engine
    tight: bool = False
    sizes: Mapping[str, int] = attrs.field(factory=dict)
    unbounded: tuple[str, ...] = ()
    cut: bool = False
    remedy: ClassVar[str] = "upper_bound(budget=...)"
    """What takes a larger budget."""

    def __str__(self) -> str:
        """The bound, and where it comes from."""
        if self.value is None:
            have = "have" if len(self.unbounded) > 1 else "has"
            return f"no bound ({', '.join(self.unbounded) or 'a symbol'} {have} none)"
        less = f"may be less{f'; {cut_text(self.remedy)}' if self.cut else ''}"
        return f"{self.value} ({self.engine}, {'tight' if self.tight else less})"


def upper_bound(
    store: ConstraintStore, expression: Dim, enough: float = -inf, budget: Budget | None = None
) -> UpperBound:
    """The least upper bound that can be proved of a dim under all facts; nothing is done to get below `enough`.

    Without a budget it is a question of its own.

    Raises Contradiction where the facts cannot hold.

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
        corner = _climbed(store, e, budget)
        if corner is not None and value_at(store, e, corner) == simple and holds_at(store, corner):
            return UpperBound(simple, "exact", tight=True, sizes=corner)
        if simple <= enough:
            return UpperBound(simple, "interval")
    return _by_isl(store, e, simple, enough, budget)


def largest_bound(store: ConstraintStore, dims: Sequence[Dim], budget: Budget | None = None) -> tuple[UpperBound, int]:
    """The largest of the upper bounds of dims, and the place of its dim; at least one must be given.

    A dim without a bound is the largest; where there are several, `unbounded` has the symbols of all. Those that cannot
    be larger than another one are not looked at closely.
    """
    budget = budget or Budget()
    simple = [interval_bound(store, d) for d in dims]
    best: UpperBound | None = None
    chosen = 0
    for place in sorted(range(len(dims)), key=lambda i: (simple[i] is not None, -(simple[i] or 0), i)):
        known = best.value if best is not None and best.value is not None else -inf
        at_most = simple[place]
        if at_most is not None and at_most < known:
            break
        found = upper_bound(store, dims[place], known, budget)
        if found.value is None:
            others = [
                upper_bound(store, dims[i], budget=budget) for i in range(len(dims)) if simple[i] is None and i != place
            ]
            names = {name for bound in (found, *others) if bound.value is None for name in bound.unbounded}
            return attrs.evolve(found, unbounded=tuple(sorted(names))), place
        if best is None or found.value > known or (found.value == known and found.tight and not best.tight):
            best, chosen = found, place
    assert best is not None
    return best, chosen


def narrow_ranges(store: ConstraintStore, dims: Iterable[Dim], budget: Budget) -> None:
    """Tell facts what all of them together say of the bounds of the symbols of dims. Raises Contradiction."""
    from shapeinf.solver.polytopes import Infeasible, value_range

    if not store.relations and not store.disjunctions and not store.divisibilities:
        return
    forms = (canonical_form(store, d) for d in dims)
    operands = (store.canon(d) for disjunction in store.disjunctions for d in disjunction.operands)
    in_words = {s for d in operands if isinstance(d, Dimension) for s in d.symbols()}
    for symbol in sorted({s for d in forms if isinstance(d, Dimension) for s in d.symbols()}, key=str):
        if not store.related(symbol) and symbol not in in_words:
            continue
        source = Source("", f"all that is known of {symbol}")
        try:
            found = value_range(store, symbol, budget)
        except Infeasible:
            raise Contradiction(f"no sizes satisfy all that is known of {symbol}", source) from None
        if found is not None:
            store.add_range(symbol, *found, source)


def interval_bound(store: ConstraintStore, e: Dim) -> int | None:
    """An upper bound from the bounds of symbols alone; None for none."""
    value = Shift(store).upper(canonical_form(store, e))
    if not is_long(e):
        value = min(value, store.bounds(e)[1])
    return None if value == inf else int(value)


def _by_isl(store: ConstraintStore, e: Dimension, simple: int | None, enough: float, budget: Budget) -> UpperBound:
    from shapeinf.solver.polytopes import maximize

    found = maximize(store, e, enough, budget)
    if found is not None and found.empty:
        raise Contradiction(f"no sizes satisfy all that is known of {_listed(e.symbols())}", Source("", "all facts"))
    by_isl = None if found is None else found.value
    if by_isl is None and simple is None:
        symbols = found.unbounded if found else [s for s in e.symbols() if store.bounds(s)[1] == inf]
        return UpperBound(None, "interval", unbounded=tuple(sorted(s.name for s in symbols)), cut=budget.cut)
    value = min(v for v in (simple, by_isl) if v is not None)
    engine: Engine = "interval" if by_isl is None or (simple is not None and simple < by_isl) else "isl"
    tight = found is not None and found.tight and found.value == value
    sizes = found.sizes if found is not None and tight else {}
    return UpperBound(value, engine, tight, sizes, cut=budget.cut and not tight)


def _listed(symbols: Iterable[Dimension]) -> str:
    return ", ".join(sorted(map(str, symbols)))


def _climbed(store: ConstraintStore, e: Dimension, budget: Budget) -> dict[str, int] | None:
    """A corner of the bounds of the symbols: that of all upper bounds, with each changed that makes `e` larger."""
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
