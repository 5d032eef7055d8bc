"""Proofs about the integers that satisfy the constraints of a store, where intervals do not decide.

The constraints become a set of integer points; a query is the emptiness of that set intersected with the query's
negation. `quasi_affine` decides what the constraints of most models need. What it leaves open goes to isl, the integer
set library of the polyhedral compilers, if the extra `proofs` is installed; else it stays undecided. Every answer names
its engine.

A product of symbols is a variable of its own, without the constraints on its factors: an answer may be missed, never
wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from shapeinf.constraints.records import Clause, Constraint
from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.dimension import Dimension, DimSize
from shapeinf.expr.interval import as_interval
from shapeinf.solver.answers import Infeasible, UndecidedError, Verdict
from shapeinf.solver.budget import Budget
from shapeinf.solver.periodic_sets import Group, solve_periodic
from shapeinf.solver.quasi_affine import Conditions, connected

Ends = tuple["int | None", "int | None"]


def decide_le(store: ConstraintStore, a: DimSize, b: DimSize, budget: Budget | None = None) -> Verdict:
    """Whether `a <= b` under all constraints; by default with a new budget.

    >>> from shapeinf.expr import Scope
    >>> from shapeinf.errors import Source
    >>> store = ConstraintStore(Scope())
    >>> h = store.scope.symbol("H")
    >>> _ = store.add_equal(2 * ((h + 1) // 2), h, Source("concat", "halves must meet"))
    >>> decide_le(store, h % 2, 0)
    Verdict(value=True, engine='exact')
    """
    known = store.prove_le(a, b)
    if known is not None:
        return Verdict(known, "interval")
    e = store.canon(b - a)
    return _decide(store, e, ">= 0", budget or Budget())


def decide_ne(store: ConstraintStore, a: DimSize, b: DimSize, budget: Budget | None = None) -> Verdict:
    """Whether `a != b` under all constraints."""
    known = store.prove_ne(a, b)
    if known is not None:
        return Verdict(known, "interval")
    e = store.canon(a - b)
    return _decide(store, e, "!= 0", budget or Budget())


def _decide(store: ConstraintStore, e: DimSize, relation: Literal[">= 0", "!= 0"], budget: Budget) -> Verdict:
    """A relation of `e` to 0: True when the constraints exclude its negation, False when they exclude the relation."""
    less, zero, more = Clause(-1 - e, False), Clause(e, True), Clause(e - 1, False)
    holds, fails = ((Clause(e, False),), (less,)) if relation == ">= 0" else ((more, less), (zero,))
    related = store.related_ids(e)
    known = [c.clauses_in(store.canon) for c in store.pending() if c.kind != "disjunction" and id(c) in related]
    try:
        for value, negation in ((True, fails), (False, holds)):
            if not Conditions(store, [*known, negation], budget).hold():
                return Verdict(value, "exact")
    except UndecidedError:
        from shapeinf.solver import isl_sets

        return isl_sets.decide(store, e, relation, budget)
    return Verdict(None, "exact")


def possible_values(
    store: ConstraintStore, symbol: Dimension, sizes: Sequence[int], budget: Budget | None = None
) -> list[int] | None:
    """Those of the sorted sizes of a symbol that all constraints allow for some values of the other symbols.

    None where not all constraints can be represented exactly (a product of symbols, a condition in words), or in time.

    >>> from shapeinf.expr import Scope
    >>> from shapeinf.errors import Source
    >>> store = ConstraintStore(Scope())
    >>> h = store.scope.symbol("H")
    >>> _ = store.add_equal(32 * (h // 32), h, Source("concat", "sizes must meet"))
    >>> possible_values(store, h, range(1, 129))
    [32, 64, 96, 128]
    """
    budget = budget or Budget()
    try:
        return _possible_values(store, symbol, sizes, budget)
    except UndecidedError:
        from shapeinf.solver import isl_sets

        return isl_sets.possible_values(store, symbol, sizes, budget)


def _possible_values(store: ConstraintStore, symbol: Dimension, sizes: Sequence[int], budget: Budget) -> list[int]:
    groups: list[Group] = [c.clauses_in(store.canon) for c in store.pending()]
    form = store.canon(symbol)
    groups += [(Clause(symbol - form, True),)] if form is not symbol else []
    if not all(groups):
        raise UndecidedError  # a condition in words
    own = Conditions(store, [], budget, [symbol])
    for part in connected(store, groups, budget):
        if symbol in part.symbols:
            own = part
        elif not part.hold(exactly=True):
            return []
    return own.select(symbol, sizes)


def solution_interval(
    store: ConstraintStore, symbol: Dimension, constraint: Constraint, budget: Budget | None = None
) -> tuple[int, int | None] | None:
    """The bounds of a symbol for which a constraint on it alone holds; None where that is no interval, or not known.

    The bounds of the symbol in `store` hold, too.

    >>> from shapeinf.expr import Scope
    >>> from shapeinf.errors import Source
    >>> store = ConstraintStore(Scope())
    >>> s = store.scope.symbol("seq")
    >>> from shapeinf.expr import minimum
    >>> solution_interval(store, s, Constraint("equality", Source("add", "equal"), s - minimum(s, 64)))
    (1, 64)
    """
    budget = budget or Budget()
    clauses = constraint.clauses
    alone = all(isinstance(c.expression, int) or c.expression.symbols() <= {symbol} for c in clauses)
    solved = solve_periodic([clauses], symbol, store.bounds(symbol), budget) if clauses and alone else None
    if solved is not None:
        return solved.interval
    from shapeinf.solver import isl_sets

    return isl_sets.solution_interval(store, symbol, constraint, budget)


def pending_groups(store: ConstraintStore) -> list[Group]:
    """The clauses of the pending constraints in canonical form, but of those in words."""
    return [clauses for c in store.pending() if (clauses := c.clauses_in(store.canon))]


def value_range(
    store: ConstraintStore, symbol: Dimension, budget: Budget | None = None, groups: Sequence[Group] | None = None
) -> Ends | None:
    """The least and the greatest value of a symbol under all constraints; None where they are not known.

    Constraints in words do not count. `groups` are those of `pending_groups`, for many symbols of an unchanged store.
    Raises Infeasible where the constraints have no solution.

    >>> from shapeinf.expr import Scope
    >>> from shapeinf.errors import Source
    >>> store = ConstraintStore(Scope())
    >>> h = store.scope.symbol("H", 1, 500)
    >>> _ = store.add_equal(2 * ((h + 31) // 32), (h + 15) // 16, Source("concat", "sizes must meet"))
    >>> value_range(store, h)
    (17, 500)
    """
    budget = budget or Budget()
    groups = pending_groups(store) if groups is None else groups
    try:
        parts = [part for part in connected(store, groups, budget) if symbol in part.symbols]
        ends = (parts or [Conditions(store, [], budget, [symbol])])[0].ends(symbol)
    except UndecidedError:
        from shapeinf.solver import polytopes

        return polytopes.value_range(store, symbol, budget)
    if ends is None:
        raise Infeasible
    interval = as_interval(ends)
    return interval.lo, interval.hi
