"""The formulas of an arena at all sizes, where the plan depends on comparisons of sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from shapeinf.errors import Source
from shapeinf.expr import DimSize, Scope, evaluate, parse_dim
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak.query import SizeQuery
from shapeinf.memory.runtimes.arena_formulas import find_formula
from shapeinf.memory.runtimes.guarded_sizes import Bytes
from shapeinf.solver.budget import Budget


@pytest.mark.parametrize(
    ("first", "second"),
    [("n", "20"), ("20", "n"), ("3*n", "n + 21"), ("n*n", "10*n - 21"), ("max(n, 12)", "15")],
)
def test_the_formula_is_the_plan_at_every_size(first: str, second: str) -> None:
    """Two tensors behind each other, or at one place; the plan at numbers is the oracle."""
    scope = Scope()
    dims = [parse_dim(text, scope, 0) for text in (first, second)]

    def plan_ends(bytes_of: Callable[[DimSize], Bytes]) -> Sequence[Bytes]:
        a, b = map(bytes_of, dims)
        return [a, a + b] if b < a else [b]

    store = ShapeStore(scope)
    store.add_range(scope.symbol("n"), 0, 40, Source("", "a test"))
    formula = find_formula(plan_ends, SizeQuery(store), store, Budget())
    assert formula.reason == ""
    for n in range(41):
        assert formula.at(n=n) == max(plan_ends(partial(evaluate, values={"n": n})))
