"""The least upper bound of a dim under facts, the engine that found it, and whether it is attained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Literal

import attrs

from shapeinf.algebra.dimension import Dim, Dimension
from shapeinf.algebra.dominance import Shift
from shapeinf.algebra.evaluation import evaluate
from shapeinf.algebra.facts import Facts
from shapeinf.algebra.feasible import holds_at, value_at
from shapeinf.errors import Contradiction, Source

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
    """

    value: int | None
    engine: Engine
    tight: bool = False
    sizes: Mapping[str, int] = attrs.field(factory=dict)
    unbounded: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The bound, and where it comes from."""
        if self.value is None:
            return f"no bound ({', '.join(self.unbounded) or 'a symbol'} has none)"
        return f"{self.value} ({self.engine}, {'tight' if self.tight else 'may be less'})"


def upper_bound(facts: Facts, expression: Dim) -> UpperBound:
    """The least upper bound that can be proved of a dim under all facts. Raises Contradiction where none can hold.

    >>> from shapeinf.algebra import Scope
    >>> facts = Facts(Scope())
    >>> b, s = facts.scope.symbol("b", 1, 8), facts.scope.symbol("s", 1, 64)
    >>> print(upper_bound(facts, b * s * 4))
    2048 (exact, tight)
    >>> facts.tell_le(b + s, 40, Source("", "assumed"))
    >>> print(upper_bound(facts, b * s * 4))
    1024 (isl, tight)
    """
    e = facts.canon(expression)
    if isinstance(e, int):
        return UpperBound(e, "exact", tight=True)
    simple = interval_bound(facts, e)
    if simple is not None:
        corner = _climbed(facts, e)
        if corner is not None and value_at(facts, e, corner) == simple and holds_at(facts, corner):
            return UpperBound(simple, "exact", tight=True, sizes=corner)
    return _by_isl(facts, e, simple)


def interval_bound(facts: Facts, e: Dim) -> int | None:
    """An upper bound from the bounds of symbols alone; None for none."""
    value = min(facts.bounds(e)[1], Shift(facts).upper(facts.canon(e)))
    return None if value == inf else int(value)


def _by_isl(facts: Facts, e: Dimension, simple: int | None) -> UpperBound:
    from shapeinf.algebra.polytopes import most  # loading isl takes a while

    found = most(facts, e)
    if found is not None and found.empty:
        raise Contradiction(f"no sizes satisfy all that is known of {_listed(e.symbols())}", Source("", "all facts"))
    by_isl = None if found is None else found.value
    if by_isl is None and simple is None:
        symbols = found.unbounded if found else [s for s in e.symbols() if facts.bounds(s)[1] == inf]
        return UpperBound(None, "interval", unbounded=tuple(sorted(s.name for s in symbols)))
    value = min(v for v in (simple, by_isl) if v is not None)
    engine: Engine = "interval" if by_isl is None or (simple is not None and simple < by_isl) else "isl"
    for corner in found.corners if found else ():
        named = {s.name: corner[s.name] for s in e.symbols() if s.name in corner}
        if len(named) == len(e.symbols()) and value_at(facts, e, named) == value and holds_at(facts, corner):
            return UpperBound(value, engine, tight=True, sizes=named)
    return UpperBound(value, engine)


def _listed(symbols: Iterable[Dimension]) -> str:
    return ", ".join(sorted(map(str, symbols)))


def _climbed(facts: Facts, e: Dimension) -> dict[str, int] | None:
    """A corner of the bounds of the symbols: that of all upper bounds, with each changed that makes `e` larger."""
    bounds = {s.name: facts.bounds(s) for s in e.symbols()}
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
