"""Expressions between a size and a shape, inferred at concrete and at symbolic sizes, against TensorFlow's runs."""

import pytest

from shapeinf import infer_shapes
from tests.differential.contents.tensorflow_expressions import EXPRESSIONS, SHAPES, SIZES, UNKNOWN, recorded
from tests.differential.observed import agrees

NAMES = [*EXPRESSIONS, *SHAPES]


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("expressions") / "expressions.pb"
    path.write_bytes(recorded()[0])
    return path


@pytest.fixture(scope="module")
def at_sizes(graph):
    return [infer_shapes(graph, inputs={"x": sizes}) for sizes in SIZES]


@pytest.fixture(scope="module")
def symbolic(graph):
    return infer_shapes(graph, inputs={"x": ["n", "m"]})


@pytest.mark.parametrize("name", NAMES)
def test_every_expression_is_evaluated(name, at_sizes):
    results = recorded()[1][name]
    shapes = [list(result.tensors[f"result{NAMES.index(name)}:0"].shape or ()) for result in at_sizes]
    assert shapes == results or name in UNKNOWN


@pytest.mark.parametrize("name", NAMES)
def test_no_symbolic_size_is_wrong(name, symbolic):
    shape = symbolic.tensors[f"result{NAMES.index(name)}:0"].shape
    for sizes, real in zip(SIZES, recorded()[1][name], strict=True):
        binding = dict(zip("nm", sizes, strict=True))
        assert shape.dims is not None and len(shape.dims) == len(real)
        assert all(agrees(symbolic, dim, size, binding) for dim, size in zip(shape, real, strict=True))


def test_the_expressions_are_the_recorded_ones():
    assert list(recorded()[1]) == NAMES
    assert set(UNKNOWN) <= set(NAMES)
