"""Sizes that the checks and the properties of rules try: within all constraints, and with little in common."""

from __future__ import annotations

import itertools
from math import gcd

import pytest

from shapeinf.constraints.records import Clause
from shapeinf.errors import Source
from shapeinf.expr import Dimension, Scope
from shapeinf.lattice import ShapeStore
from shapeinf.solver.sampling import (
    Binding,
    consecutive_bindings,
    generic_bindings,
    sample_bindings,
    skewed_bindings,
)

SOURCE = Source("", "a test")


@pytest.fixture
def store() -> ShapeStore:
    """Three symbols: n is a multiple of 4, m at most n, k within 10..20."""
    store = ShapeStore(Scope())
    n, m, k = symbols(store)
    store.add_divisible(n, 4, SOURCE)
    store.add_le(m, n, SOURCE)
    store.add_range(k, 10, 20, SOURCE)
    return store


def symbols(store: ShapeStore) -> list[Dimension]:
    return [store.scope.symbol(name) for name in ("n", "m", "k")]


def is_legal(binding: Binding) -> bool:
    return binding["n"] % 4 == 0 and binding["m"] <= binding["n"] and 10 <= binding["k"] <= 20


def test_generic_sizes_are_legal_and_have_few_divisors_in_common(store: ShapeStore) -> None:
    multiple = Clause(store.scope.symbol("n") % 4, True)
    bindings = list(itertools.islice(generic_bindings(store, symbols(store), [(multiple,)]), 4))
    assert bindings and all(map(is_legal, bindings))
    assert gcd(bindings[0]["n"], bindings[0]["m"]) == 1 < bindings[0]["m"]


def test_generic_sizes_satisfy_further_conditions(store: ShapeStore) -> None:
    n, m, k = symbols(store)
    conditions = [(Clause(k - 12, True),), (Clause(n - 8 * m, True),)]
    bindings = list(itertools.islice(generic_bindings(store, [n, m, k], conditions), 8))
    assert bindings and all(is_legal(b) and b["k"] == 12 and b["n"] == 8 * b["m"] for b in bindings)


def test_one_size_of_a_skewed_binding_is_much_larger(store: ShapeStore) -> None:
    bindings = list(skewed_bindings(store, symbols(store), []))
    assert bindings and all(map(is_legal, bindings))
    assert any(binding["n"] > 10 * binding["m"] for binding in bindings)


def test_consecutive_sizes_are_legal() -> None:
    store = ShapeStore(Scope())
    n, m, k = symbols(store)
    store.add_range(k, 1, 9, SOURCE)
    store.add_le(n, m, SOURCE)
    bindings = list(consecutive_bindings(store, [n, m, k]))
    assert {"n": 6, "m": 7, "k": 8} in bindings and {"n": 4, "m": 4, "k": 4} in bindings
    assert all(b["n"] <= b["m"] and 1 <= b["k"] <= 9 for b in bindings)


@pytest.mark.parametrize(("low", "least", "first"), [(0, 0, 0), (1, 0, 1), (0, 2, 2), (5, 2, 5)])
def test_samples_begin_with_the_least_size(low: int, least: int, first: int) -> None:
    n = Scope().symbol("n", low)
    store = ShapeStore(n.scope)
    bindings = sample_bindings(store, [n], least) if least else sample_bindings(store, [n])
    assert next(bindings) == {"n": first}
