"""What random graphs have found: models whose contract said yes to sizes that onnxruntime refuses."""

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from tests.differential.ort import session_of

HEADER = '<ir_version: 8, opset_import: ["" : 17]> '
CASES = {
    "erase": "g (float[n, m] x) => (y) <int64 at = {1}> { s = SplitToSequence<axis = 0>(x)  y = SequenceErase(s, at) }",
    "erase from the end": """g (float[n, m] x) => (y) <int64 at = {-3}> {
        s = SplitToSequence<axis = 0>(x)  y = SequenceErase(s, at) }""",
    "erase the last": "g (float[n, m] x) => (y) { s = SplitToSequence<axis = 0>(x)  y = SequenceErase(s) }",
    "expand to less than nothing": """g (float[n, m] x) => (y) <int64[1] three = {3}> {
        s = Shape<start = 0, end = 1>(x)  less = Sub(s, three)  y = Expand(x, less) }""",
    "reshape nothing": """g (float[n, m] x) => (y) <int64[1] one = {1}, int64[2] to = {0, -1}, int64[1] many = {9}> {
        rest = Slice(x, one, many)  y = Reshape(rest, to) }""",
    "at": "g (float[n, m] x) => (y) <int64 at = {2}> { s = SplitToSequence<axis = 0>(x)  y = SequenceAt(s, at) }",
    "at from the end": """g (float[n, m] x) => (y) <int64 at = {-2}> {
        s = SplitToSequence<axis = 1, keepdims = 0>(x)  y = SequenceAt(s, at) }""",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_the_contract_says_yes_where_onnxruntime_runs(text):
    model = onnx.parser.parse_model(HEADER + text)
    contract = infer_shapes(model).contract
    ran = set()
    for n in range(1, 5):
        for m in range(1, 5):
            kinds = {1: np.float32, 7: np.int64}
            feeds = {
                one.name: np.ones(
                    [d.dim_value or {"n": n, "m": m}[d.dim_param] for d in one.type.tensor_type.shape.dim],
                    kinds[one.type.tensor_type.elem_type],
                )
                for one in model.graph.input
            }
            try:
                session_of(model).run(None, feeds)
                runs = True
            except Exception:  # onnxruntime has no class of its own for what it refuses
                runs = False
            ran.add(runs)
            verdict = contract.check(n=n, m=m).verdict
            assert verdict is runs, (n, m)
    assert True in ran


ASSUMING = {
    "a window beside a size that broadcasts": """g (float[n, 4, m] x) => (y, z) <int64[3] to = {1, 1, 3}> {
        y = LpPool<kernel_shape = [2], strides = [3]>(x)  z = Expand(x, to) }""",
    "a window beside sizes that broadcast": """g (float[1, 2, m] x, float[n] v) => (y, z) {
        y = AveragePool<kernel_shape = [2], strides = [2]>(x)  z = Add(x, v) }""",
}


@pytest.mark.parametrize("text", ASSUMING.values(), ids=ASSUMING)
def test_what_only_an_assumption_tells_is_not_demanded(text):
    model = onnx.parser.parse_model(HEADER + text)
    session, result = session_of(model), infer_shapes(model)
    demands = [one for one in result.contract if one.kind != "assumption"]
    ran = {(n, m) for n in range(1, 5) for m in range(1, 5) if runs(session, n=n, m=m)}
    for n, m in ran:
        assert all(one.holds({"n": n, "m": m}) is not False for one in demands), (n, m, demands)
        assert result.contract.check(n=n, m=m).verdict is True, (n, m)
    for axis, name in enumerate("nm"):
        assert {size for size in result.contract.solve(name, range(5)) if size} == {pair[axis] for pair in ran}


def runs(session, **sizes):
    feeds = {one.name: np.ones([sizes.get(d, d) for d in one.shape], np.float32) for one in session.get_inputs()}
    try:
        session.run(None, feeds)
    except Exception:  # onnxruntime has no class of its own for what it refuses
        return False
    return True
