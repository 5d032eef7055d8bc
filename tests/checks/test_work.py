"""Checks of models that would take for ever: many axes to exchange, towers of divisions to find sizes for."""

import time

import pytest

from shapeinf import infer_shapes
from shapeinf.algebra import Scope
from shapeinf.checks import check
from shapeinf.checks.sampling import bindings, maxima
from shapeinf.lattice import ShapeFacts
from tests.formats.damage.cases import case


@pytest.mark.parametrize("number", [225, 258])
def test_inputs_of_hundreds_of_axes(number):
    """Every pair of axes may be the wrong way round; 15,000 pairs are too many to try."""
    result = infer_shapes(case("structure", number), declared="check")
    started = time.process_time()
    assert any(one.severity == "error" for one in check(result))
    assert time.process_time() - started < 5


def test_a_tower_is_walked_by_shared_parts():
    scope = Scope()
    n, m = scope.symbol("n"), scope.symbol("m")
    top = n
    for _ in range(23):
        top = (3 * top + m) // 2
    assert not list(maxima([top]))
    assert next(bindings(ShapeFacts(scope), [n, m], about=[top])).keys() == {"n", "m"}
