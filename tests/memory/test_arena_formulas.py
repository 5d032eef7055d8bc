"""The sizes at which the plan of an arena stays the same."""

from __future__ import annotations

import pytest

from shapeinf.expr import Scope, evaluate, parse_dim
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak.query import SizeQuery
from shapeinf.memory.runtimes.arena_formulas import _FormulaSearch
from shapeinf.solver.budget import Budget

GUARDS = ["10 - n", "n % 4 - 1", "n - 40", "n % 4 - 1; 9 - n", "n - 40; 30 - n", "(n + 3)//4 - 10", "max(n, 12) - 40"]
"""Each holds where it is at most 0."""


@pytest.mark.parametrize("text", GUARDS)
@pytest.mark.parametrize("low", [0, 1, 20, 33])
def test_the_smallest_size_with_all_guards_up_to_one_at_which_they_hold(text: str, low: int) -> None:
    scope = Scope()
    symbol = scope.symbol("n", 0)
    guards = [parse_dim(part, scope) for part in text.split("; ")]
    expected = size = 33
    while expected > low and all(evaluate(guard, {"n": expected - 1}) <= 0 for guard in guards):
        expected -= 1
    store = ShapeStore(scope)
    search = _FormulaSearch(lambda size_of: [], SizeQuery(store), store, Budget())
    assert search._first_like(guards, symbol, low, size) == expected
