"""Sizes for which piecewise linear constraints hold, against their values at each size and against isl."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.constraints import ConstraintStore
from shapeinf.constraints.piecewise import solution_ranges
from shapeinf.constraints.records import Clause, Constraint
from shapeinf.errors import Source
from shapeinf.expr import Dimension, DimSize, Scope, evaluate, maximum, minimum
from shapeinf.solver.budget import Budget
from shapeinf.solver.isl_sets import solution_interval

LIMIT = 60
"""Past this size no expression drawn here has another piece, or another root."""

NUMBERS = st.integers(-6, 6)
PLAIN = st.tuples(st.just("line"), NUMBERS, NUMBERS)
THROUGH_ONE_POINT = st.tuples(st.integers(-2, 2), st.sampled_from([0, 4])).map(
    lambda line: ("line", line[0], line[1] - 4 * line[0])
)
"""Lines that meet where pieces begin."""


def nested(lines: st.SearchStrategy[tuple[object, ...]], leaves: int) -> st.SearchStrategy[tuple[object, ...]]:
    """Maxima, minima and sums of lines."""
    kinds = st.sampled_from(["max", "min", "sum"])
    return st.recursive(lines, lambda inner: st.tuples(kinds, inner, inner), max_leaves=leaves)


EXPRESSIONS = nested(PLAIN, 5) | nested(THROUGH_ONE_POINT, 9)


def build(symbol: Dimension, drawn: tuple[object, ...]) -> DimSize:
    kind, a, b = drawn
    if kind == "line":
        return a * symbol + b  # type: ignore[operator]
    parts = [build(symbol, part) for part in (a, b)]  # type: ignore[arg-type]
    return parts[0] + parts[1] if kind == "sum" else (maximum if kind == "max" else minimum)(*parts)


@given(st.lists(st.tuples(EXPRESSIONS, st.booleans()), min_size=1, max_size=3), st.integers(0, 3))
def test_ranges_are_the_sizes_at_which_a_clause_holds(drawn: list[tuple[tuple[object, ...], bool]], low: int) -> None:
    symbol = Scope().symbol("n")
    clauses = [Clause(build(symbol, expression), zero) for expression, zero in drawn]
    sizes = range(low, LIMIT)
    expected = [n for n in sizes if any(clause.holds({"n": n}) for clause in clauses)]
    for high in (None, LIMIT - 1):
        ranges = solution_ranges(clauses, symbol, low, high)
        assert ranges is not None
        assert [n for n in sizes if any(a <= n and (b is None or n <= b) for a, b in ranges)] == expected
        assert all(b is None or a <= b for a, b in ranges)
        assert all(b is not None and b + 1 < c for (_, b), (c, _) in pairwise(ranges))


@given(EXPRESSIONS, st.integers(0, 3))
def test_an_interval_is_that_of_isl(drawn: tuple[object, ...], low: int) -> None:
    pytest.importorskip("islpy", reason="isl is not installed")
    store = ConstraintStore(Scope())
    symbol = store.scope.symbol("n", low, None)
    constraint = Constraint("relation", Source("", ""), build(symbol, drawn))
    ranges = solution_ranges(constraint.clauses, symbol, low, None)
    assert ranges is not None
    assert solution_interval(store, symbol, constraint, Budget()) == (ranges[0] if len(ranges) == 1 else None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n - 2**70", [(2**70, None)]),  # no float has this number and the next one
        ("2**70 + 1 - n", [(1, 2**70 + 1)]),
        ("1 - max(n, 3) + min(n, 4)", [(2, 5)]),
        ("-1 - n", []),
    ],
)
def test_bounds(text: str, expected: list[tuple[int, int | None]]) -> None:
    symbol = Scope().symbol("n")
    expression = eval(text, {"n": symbol, "max": maximum, "min": minimum})
    assert solution_ranges([Clause(expression, False)], symbol, 1, None) == expected


def test_other_expressions_are_left_to_isl() -> None:
    scope = Scope()
    n, m = scope.symbol("n"), scope.symbol("m")
    for expression in (n // 2, n * n, n + m, maximum(n // 2, 3), n % 4):
        assert solution_ranges([Clause(expression, False)], n, 1, None) is None


def test_shared_expressions_are_computed_once() -> None:
    """Of a tree of 2**40 nodes."""
    n = Scope().symbol("n")
    d: DimSize = n
    for size in range(2, 22):
        d = maximum(d, size) + minimum(d, size + 40)
    assert solution_ranges([Clause(d, False)], n, 1, None) in (None, [(1, None)])
    assert evaluate(d, {"n": 1}) >= 0
