"""Checks of models that need a limit: inputs with many axes to exchange, nested divisions, thousands of names."""

import random
from itertools import combinations

import pytest

from shapeinf import infer_shapes
from shapeinf.checks import check, what_if
from shapeinf.checks.axes import maxima
from shapeinf.checks.dim_names import is_misspelling, similar_pairs
from shapeinf.engine.session import rerun
from shapeinf.expr import Scope
from shapeinf.lattice import ShapeStore
from shapeinf.solver.sampling import sample_bindings
from tests.formats.damage.cases import case


@pytest.mark.parametrize("number", [225, 258])
def test_inputs_of_hundreds_of_axes(number, monkeypatch):
    """Every pair of axes may be the wrong way round; 15,000 pairs are too many to try."""
    runs = []
    monkeypatch.setattr(what_if, "rerun", lambda *args: (runs.append(args), rerun(*args))[1])
    result = infer_shapes(case("structure", number), declared="check")
    assert any(diagnostic.severity == "error" for diagnostic in check(result))
    assert 0 < len(runs) < 1000


def test_a_tower_is_walked_by_shared_parts():
    scope = Scope()
    n, m = scope.symbol("n"), scope.symbol("m")
    top = n
    for _ in range(23):
        top = (3 * top + m) // 2
    assert not list(maxima([top]))
    assert next(sample_bindings(ShapeStore(scope), [n, m], about=[top])).keys() == {"n", "m"}


def test_similar_names_are_those_of_a_comparison_of_all_pairs():
    """Thousands of names are compared by the texts that they share, not in pairs."""
    letters, draw = "abs_ ", random.Random(4)
    names = ["batch" + "".join(draw.choices(letters, k=draw.randint(0, 3))) for _ in range(60)]
    names = list(dict.fromkeys(names + [name[:2] + name[3:] for name in names] + [name.swapcase() for name in names]))
    pairs = list(combinations(names, 2))
    expected = {pair for pair in pairs if is_misspelling(*pair)}
    similar = list(similar_pairs(names))
    assert expected and expected <= set(similar)
    assert similar == [pair for pair in pairs if pair in set(similar)]
