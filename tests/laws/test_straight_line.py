"""A straight-line program is `evaluate` in exact ints, at any number of bindings; nothing wraps, nothing is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.expr import Scope, evaluate
from shapeinf.expr.many_bindings import CHUNK, MAX_BITS, run
from shapeinf.expr.straight_line import Lowering, StraightLine, lower
from tests.laws.strategies import BINDINGS, EXPRESSIONS, NAMES

INT64 = range(-(1 << 63), 1 << 63)

SIZES = st.one_of(
    st.integers(0, 9),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.sampled_from([0, 1, 2**31, 2**32, 3037000499, 3037000500, 2**62, 2**63 - 1, -(2**63)]),
)


def arguments(program: StraightLine, bindings: list[dict[str, int]]) -> list[np.ndarray]:
    return [np.array([b[s.name] for b in bindings], dtype=np.int64) for s in program.symbols]


@given(st.lists(EXPRESSIONS, min_size=1, max_size=4), st.lists(BINDINGS, min_size=1, max_size=4))
def test_it_is_what_the_expressions_mean(expressions, bindings) -> None:
    scope = Scope()
    program = lower([make(scope) for make, _ in expressions])
    found = run(program, arguments(program, bindings), len(bindings))
    assert not found.overflow and not found.undefined
    assert found.matrix.tolist() == [[meaning(env) for env in bindings] for _, meaning in expressions]


@given(
    st.lists(EXPRESSIONS, min_size=1, max_size=4),
    st.lists(st.fixed_dictionaries({n: SIZES for n in NAMES}), min_size=1, max_size=5),
)
def test_overflow_is_what_does_not_fit_and_nothing_else(expressions, bindings) -> None:
    scope = Scope()
    dims = [make(scope) for make, _ in expressions]
    program = lower(dims)
    found = run(program, arguments(program, bindings), len(bindings))
    for row, d in enumerate(dims):
        for column, env in enumerate(bindings):
            exact = evaluate(d, env)
            overflows = row in found.overflow and bool(found.overflow[row][column])
            assert overflows == (exact not in INT64)
            assert overflows or int(found.matrix[row, column]) == exact


@given(
    st.lists(st.tuples(SIZES, st.one_of(st.integers(-2, 2), SIZES)), min_size=1, max_size=6),
    st.sampled_from([lambda n, m: n // m, lambda n, m: (n * n) // m - 3, lambda n, m: m * (n // m) + 1]),
)
def test_division_floors_and_zero_is_found(pairs, expression) -> None:
    scope = Scope()
    n, m = scope.symbol("n", None), scope.symbol("m", None)
    program = lower([expression(n, m), m + 1])
    sizes = {"n": [a for a, _ in pairs], "m": [b for _, b in pairs]}
    found = run(program, [np.array(sizes[s.name], dtype=np.int64) for s in program.symbols], len(pairs))
    for column, (a, b) in enumerate(pairs):
        undefined = 0 in found.undefined and bool(found.undefined[0][column])
        assert undefined == (b == 0)
        if b == 0:
            continue
        overflows = 0 in found.overflow and bool(found.overflow[0][column])
        assert overflows == (expression(a, b) not in INT64)
        assert overflows or found.matrix[0, column] == expression(a, b)
    assert 1 not in found.undefined


def test_one_large_binding_does_not_spoil_the_others() -> None:
    n = Scope().symbol("n")
    count = 2 * CHUNK + 5
    sizes = np.arange(1, count + 1, dtype=np.int64)
    sizes[CHUNK + 3] = 1 << 40
    found = run(lower([n * n, n * n // (1 << 20)]), [sizes], count)
    assert np.flatnonzero(found.overflow[0]).tolist() == [CHUNK + 3]
    assert 1 not in found.overflow and found.matrix[1, CHUNK + 3] == 1 << 60
    others = np.delete(np.arange(count), CHUNK + 3)
    assert (found.matrix[0, others] == (others + 1) ** 2).all()


def test_a_total_may_have_any_number_of_terms() -> None:
    scope = Scope()
    symbols = [scope.symbol(f"n{i}") for i in range(200)]
    lowering = Lowering()
    program = lowering.program([lowering.sum([lowering.dim(s * s + i) for i, s in enumerate(symbols)])])
    found = run(program, [int(s.name[1:]) + 1 for s in program.symbols], 1)
    assert found.matrix.tolist() == [[sum((i + 1) ** 2 + i for i in range(200))]]
    assert not scope.capped


def test_common_parts_are_there_once() -> None:
    scope = Scope()
    h, w, b = (scope.symbol(n) for n in "hwb")
    part = b * (h // 2) * (w // 2)
    once, many = lower([part]), lower([part * k for k in range(11, 60)])
    assert len(many.instructions) == len(once.instructions) + 2 * 49  # a constant and a product each
    assert len(lower([h + 1, h + 1]).instructions) == len(lower([h + 1]).instructions)


@pytest.mark.parametrize("depth", [20, 200])
def test_numbers_on_the_way_are_bounded(depth: int) -> None:
    lowering = Lowering()
    n = Scope().symbol("n")
    power = lowering.dim(n)
    for _ in range(depth):
        power = lowering.multiply(power, power)
    small = lowering.floordiv(power, power)
    found = run(lowering.program([power, small]), [1 << 40], 1)
    assert found.overflow[0].all()
    assert depth < MAX_BITS.bit_length() or found.overflow[1].all()


def test_no_bindings_and_no_outputs() -> None:
    n = Scope().symbol("n")
    assert run(lower([n]), [np.array([], dtype=np.int64)], 0).matrix.shape == (1, 0)
    assert run(lower([]), [], 3).matrix.shape == (0, 3)
