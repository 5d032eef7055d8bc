"""A straight-line program is `evaluate` in exact ints, at any number of bindings; nothing wraps, nothing is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.expr import Scope, evaluate
from shapeinf.expr.exact_runs import MAX_BITS
from shapeinf.expr.many_bindings import CHUNK, run
from shapeinf.expr.straight_line import Lowering, StraightLine, lower
from tests.properties.strategies import BINDINGS, EXPRESSIONS, NAMES

INT64 = range(-(1 << 63), 1 << 63)

SIZES = st.one_of(
    st.integers(0, 9),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.sampled_from([0, 1, 2**31, 2**32, 3037000499, 3037000500, 2**62, 2**63 - 1, -(2**63)]),
)


def arguments(program: StraightLine, bindings: list[dict[str, int]]) -> list[np.ndarray]:
    return [np.array([b[s.name] for b in bindings], dtype=np.int64) for s in program.symbols]


@given(st.lists(EXPRESSIONS, min_size=1, max_size=4), st.lists(BINDINGS, min_size=1, max_size=4))
def test_a_program_agrees_with_evaluation(expressions, bindings) -> None:
    scope = Scope()
    program = lower([make(scope) for make, _ in expressions])
    values = run(program, arguments(program, bindings), len(bindings))
    assert not values.overflow and not values.undefined
    assert values.matrix.tolist() == [[meaning(env) for env in bindings] for _, meaning in expressions]


@given(st.lists(EXPRESSIONS, min_size=1, max_size=4), st.lists(EXPRESSIONS, min_size=1, max_size=4))
def test_an_appended_program_is_that_of_its_dims(first, second) -> None:
    scope = Scope()
    dims, more = ([make(scope) for make, _ in build] for build in (first, second))
    appended, direct = Lowering(), Lowering()
    registers = [*map(appended.dim, dims), *appended.append(lower(more))]
    assert appended.program(registers) == direct.program([*map(direct.dim, dims), *map(direct.dim, more)])


@given(
    st.lists(EXPRESSIONS, min_size=1, max_size=4),
    st.lists(st.fixed_dictionaries({n: SIZES for n in NAMES}), min_size=1, max_size=5),
)
def test_overflow_is_reported_exactly_where_a_result_does_not_fit(expressions, bindings) -> None:
    scope = Scope()
    dims = [make(scope) for make, _ in expressions]
    program = lower(dims)
    values = run(program, arguments(program, bindings), len(bindings))
    for row, d in enumerate(dims):
        for column, env in enumerate(bindings):
            exact = evaluate(d, env)
            overflows = row in values.overflow and bool(values.overflow[row][column])
            assert overflows == (exact not in INT64)
            assert overflows or int(values.matrix[row, column]) == exact


@given(
    st.lists(st.tuples(SIZES, st.one_of(st.integers(-2, 2), SIZES)), min_size=1, max_size=6),
    st.sampled_from([lambda n, m: n // m, lambda n, m: (n * n) // m - 3, lambda n, m: m * (n // m) + 1]),
)
def test_division_floors_and_by_zero_is_undefined(pairs, expression) -> None:
    scope = Scope()
    n, m = scope.symbol("n", None), scope.symbol("m", None)
    program = lower([expression(n, m), m + 1])
    sizes = {"n": [a for a, _ in pairs], "m": [b for _, b in pairs]}
    values = run(program, [np.array(sizes[s.name], dtype=np.int64) for s in program.symbols], len(pairs))
    for column, (a, b) in enumerate(pairs):
        undefined = 0 in values.undefined and bool(values.undefined[0][column])
        assert undefined == (b == 0)
        if b == 0:
            continue
        overflows = 0 in values.overflow and bool(values.overflow[0][column])
        assert overflows == (expression(a, b) not in INT64)
        assert overflows or values.matrix[0, column] == expression(a, b)
    assert 1 not in values.undefined


def test_a_large_binding_leaves_the_others_exact() -> None:
    n = Scope().symbol("n")
    count = 2 * CHUNK + 5
    sizes = np.arange(1, count + 1, dtype=np.int64)
    sizes[CHUNK + 3] = 1 << 40
    values = run(lower([n * n, n * n // (1 << 20)]), [sizes], count)
    assert np.flatnonzero(values.overflow[0]).tolist() == [CHUNK + 3]
    assert 1 not in values.overflow and values.matrix[1, CHUNK + 3] == 1 << 60
    others = np.delete(np.arange(count), CHUNK + 3)
    assert (values.matrix[0, others] == (others + 1) ** 2).all()


def test_a_total_may_have_any_number_of_terms() -> None:
    scope = Scope()
    symbols = [scope.symbol(f"n{i}") for i in range(200)]
    lowering = Lowering()
    program = lowering.program([lowering.sum([lowering.dim(s * s + i) for i, s in enumerate(symbols)])])
    values = run(program, [int(s.name[1:]) + 1 for s in program.symbols], 1)
    assert values.matrix.tolist() == [[sum((i + 1) ** 2 + i for i in range(200))]]
    assert not scope.capped


def test_common_subexpressions_occur_once() -> None:
    scope = Scope()
    h, w, b = (scope.symbol(n) for n in "hwb")
    part = b * (h // 2) * (w // 2)
    once, many = lower([part]), lower([part * k for k in range(11, 60)])
    assert len(many.instructions) == len(once.instructions) + 2 * 49  # a constant and a product each
    assert len(lower([h + 1, h + 1]).instructions) == len(lower([h + 1]).instructions)


@pytest.mark.parametrize("depth", [20, 200])
def test_intermediate_numbers_are_bounded(depth: int) -> None:
    lowering = Lowering()
    n = Scope().symbol("n")
    power = lowering.dim(n)
    for _ in range(depth):
        power = lowering.multiply(power, power)
    small = lowering.floordiv(power, power)
    values = run(lowering.program([power, small]), [1 << 40], 1)
    assert values.overflow[0].all()
    assert depth < MAX_BITS.bit_length() or values.overflow[1].all()


def test_no_bindings_and_no_outputs() -> None:
    n = Scope().symbol("n")
    assert run(lower([n]), [np.array([], dtype=np.int64)], 0).matrix.shape == (1, 0)
    assert run(lower([]), [], 3).matrix.shape == (0, 3)
