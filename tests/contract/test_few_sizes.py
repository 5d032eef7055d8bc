"""Legal sizes that are listed where they are few, in place of equations."""

from __future__ import annotations

import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.constraints.records import Clause
from shapeinf.contract.few_sizes import few_sizes, sizes_text
from shapeinf.errors import Source
from shapeinf.expr import DimSize, parse_dim
from shapeinf.lattice import ShapeStore
from shapeinf.report import as_json
from shapeinf.solver.budget import Budget


@pytest.mark.parametrize(
    ("texts", "bounds"),
    [
        (["n - 3"], (1, None)),
        (["2*n - 3"], (1, None)),
        (["n - 1", "n - 9"], (1, None)),
        (["n - 1", "n - 9"], (2, None)),
        (["n*n - 9", "n*n - 1"], (1, None)),
        (["n*n*n - 6*n*n + 11*n - 6"], (1, None)),
        (["n % 32"], (1, 100)),
        (["n % 32"], (1, None)),
        (["n % 2"], (1, 100)),
        (["(n//2) * 2 - 4"], (1, 50)),
        (["n*n + 1"], (1, None)),
        (["n - m"], (1, 10)),
    ],
)
def test_all_solutions_are_listed_or_none(texts: list[str], bounds: tuple[int, int | None]) -> None:
    store = ShapeStore()
    symbol = store.scope.symbol("n", 0)
    store.add_range(symbol, *bounds, Source("", "test"))
    dims: list[DimSize] = [parse_dim(text, store.scope) for text in texts]
    sizes = few_sizes(symbol, [Clause(dim, True) for dim in dims], store, Budget())
    tested = range(bounds[0], (bounds[1] or 1000) + 1)
    expected = [n for n in tested if any(eval(text, {"n": n, "m": -1}) == 0 for text in texts)]
    assert sizes is None or list(sizes) == expected
    assert (sizes is None) == (not 1 <= len(expected) <= 6 or (bounds[1] is None and "%" in texts[0]))


def test_words() -> None:
    assert sizes_text("n", (1, 3)) == "n is 1 or 3"


@pytest.mark.parametrize("options", [{}, {"dims": {"n": "1..40"}}])
def test_the_contract_lists_them(options: dict[str, dict[str, str]]) -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[n, 2] x, float[9] w) => (float[k] y) {
            s = Shape <start=0, end=1> (x)
            q = Mul (s, s)
            [ex] y = Expand (w, q)
        }""")
    result = infer_shapes(model, **options)  # type: ignore[arg-type]
    (precondition,) = result.contract.preconditions
    assert precondition.sizes == (1, 3)
    assert str(result.contract).startswith("n is 1 or 3, required by Expand 'ex'")
    assert "n*n" in precondition.text
    assert as_json(result)["preconditions"][0]["sizes"] == [1, 3]
    for size in range(1, 12):
        assert (result.contract.check(n=size).verdict is True) == (size in (1, 3))
