"""The inferred sizes of a loop include those of every number of trips, counted by hand; exact sizes are exact."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shapeinf.expr import Dimension, evaluate
from tests.engine.tf.graphs import errors, infer
from tests.engine.tf.loops import UPDATES, frame, functional_loop, rows_after

BUILDERS = {"While": functional_loop, "frame": frame}
SOME = settings(max_examples=settings.default.max_examples // 4)
START = st.sampled_from([0, 1, 2, 5, "N"])
VARIABLES = st.integers(1, 3).flatmap(
    lambda width: st.tuples(
        st.lists(st.sampled_from(UPDATES), min_size=width, max_size=width),
        st.lists(START, min_size=width, max_size=width),
    )
)


def simulate(updates, start, trips, choices, rows_of_n):
    """The rows of all variables after each trip."""
    rows = [rows_of_n if r == "N" else r for r in start]
    history = [rows]
    for trip in range(trips):
        rows = [rows_after(update, rows, k, choices[trip]) for k, update in enumerate(updates)]
        history.append(rows)
    return history


def is_symbol(dim):
    return isinstance(dim, Dimension) and dim.is_symbol


def assert_covers(result, dim, size, sizes):
    """A dim may have this size, and has it where all its symbols have sizes: an unknown has one size in all tensors."""
    if isinstance(dim, int):
        assert dim == size
    elif all(symbol.name in sizes for symbol in dim.symbols()):
        assert evaluate(dim, sizes) == size
    assert size in result.interval(dim)


def assert_covers_trips(result, outputs, inside, model, trips, choices, rows_of_n=3):
    updates, start = model
    binding = {"N": rows_of_n, "T": trips}
    history = simulate(updates, start, trips, choices, rows_of_n)
    after_loop = [result.tensor(name).shape for name in outputs]
    observed = {rows.name: size for (rows, _), size in zip(after_loop, history[-1], strict=True) if is_symbol(rows)}
    for (rows, columns), size in zip(after_loop, history[-1], strict=True):
        assert columns == 3
        assert_covers(result, rows, size, observed | binding)
    for k, name in enumerate(inside if trips else ()):
        rows, columns = result.tensor(name).shape
        assert columns == 3
        for after in history[1:]:
            assert_covers(result, rows, after[k], binding)


@pytest.mark.parametrize("builder", BUILDERS)
@SOME
@given(VARIABLES, st.booleans(), st.lists(st.booleans(), min_size=5, max_size=5))
def test_a_loop_covers_every_number_of_trips(builder, variables, decided, choices):
    updates, start = variables
    model, outputs, inside = BUILDERS[builder](updates, start, decided=decided)
    result = infer(model, min_dim=0)
    assert not errors(result)
    for trips in range(5):
        assert_covers_trips(result, outputs, inside, variables, trips, choices)


@pytest.mark.parametrize("builder", BUILDERS)
@SOME
@example((["maybe", "swap"], [1, 2]), 2, [True] * 5)
@given(VARIABLES, st.integers(1, 4), st.lists(st.booleans(), min_size=5, max_size=5))
def test_a_loop_of_a_known_number_of_trips_is_covered(builder, variables, trips, choices):
    updates, start = variables
    model, outputs, inside = BUILDERS[builder](updates, start)
    result = infer(model, bind={"T": trips})
    assert not errors(result)
    assert_covers_trips(result, outputs, inside, variables, trips, choices)


@SOME
@given(VARIABLES, st.integers(1, 4))
def test_few_trips_are_exact(variables, trips):
    """Without a condition inside the body, a While of few trips has exact sizes."""
    updates, start = variables
    updates = [update if update != "maybe" else "append" for update in updates]
    model, outputs, _ = functional_loop(updates, start)
    result = infer(model, bind={"T": trips, "N": 3} if "N" in start else {"T": trips})
    last = simulate(updates, start, trips, [False] * trips, 3)[-1]
    assert [result.tensor(name).shape[0] for name in outputs] == last


@pytest.mark.parametrize("builder", BUILDERS)
@SOME
@given(st.lists(START, min_size=1, max_size=3))
def test_variables_that_no_trip_changes_keep_their_type(builder, start):
    model, outputs, inside = BUILDERS[builder](["keep"] * len(start), start)
    result = infer(model)
    sources = [result.tensor(f"x{k}:0") for k in range(len(start))]
    assert [result.tensor(name) for name in outputs] == sources
    assert [result.tensor(name) for name in inside] == sources
