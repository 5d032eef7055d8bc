"""Which inference holds for some sizes: every query about sizes decides alike."""

from __future__ import annotations

import onnx.parser
import pytest

from shapeinf import infer_shapes
from shapeinf.engine.cases import Cases
from shapeinf.lattice import SizePolicy

MODEL = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
g (float[n, 3, h, 8] x) => (float[a, b, c, d] z) {
  y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
  z = Relu (y)
}""")


def elements(n: int, h: int) -> int:
    """The elements of an output: onnxruntime's pool divides towards zero, so one row has one output."""
    return n * 3 * max(h // 2, 1) * 4


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("h", [1, 2, 5])
def test_all_queries_take_the_inference_that_holds_for_their_sizes(n: int, h: int) -> None:
    result = infer_shapes(MODEL)
    sizes = {"n": n, "h": h}
    assert result.contract.check(sizes).verdict is True
    assert n in result.contract.solve("n", [n])
    assert result.memory().peak.at(sizes).bytes == 8 * elements(n, h)
    assert result.memory().peak.over({"n": n, "h": (h, h)}).value == 8 * elements(n, h)
    assert result.memory().plan(sizes).arena <= 128 + 8 * elements(n, h)
    assert {node.op: node.bytes_written for node in result.cost().at(sizes).nodes} == dict.fromkeys(
        ("MaxPool", "Relu"), 4 * elements(n, h)
    )
    if n:  # a program reports a size below the least one as an error of its binding
        assert result.program()(sizes)["z"].tolist() == [[n, 3, max(h // 2, 1), 4]]


def test_another_inference_is_needed_below_the_least_size_and_where_an_assumption_is_violated() -> None:
    result = infer_shapes(MODEL)
    cases = Cases(result.engine.inference)
    n, h = (result.engine.scope.symbol(name) for name in "nh")
    assert cases.smaller_dims({n: (1, None), h: (2, 9)}) is None
    assert cases.smaller_dims({n: (0, 4), h: (2, 9)}) == {"n": 0}
    assert cases.smaller_dims({h: (1, 9)}) == {}
    assert cases.smaller_dims({h: (None, 9)}) == {}  # an open range begins at the least size
    other = cases.inference_for({"n": 0, "h": "1.."})
    assert other.store.policy == SizePolicy(1, {"n": 0}, assume=False)
    assert Cases(other).inference_for({"n": 0, "h": 1}) is other
    assert result.result_for({n: (0, 4)}) is result.result_for({n: (0, 9)})


def test_a_bound_of_the_user_takes_precedence_over_the_least_size_of_all() -> None:
    result = infer_shapes(MODEL, dims={"n": (0, None)}, min_dim=4)
    assert result.policy == "named dims are at least 4, n at least 0"
    assert str(result.dims["n"]) == "0.." and str(result.dims["h"]) == "4.."
