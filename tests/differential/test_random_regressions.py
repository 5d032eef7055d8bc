"""Regressions from random graphs: models whose contract accepted sizes that onnxruntime rejects."""

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
    "join what is left": """g (float[n, m] x) => (y) {
        s = SplitToSequence<axis = 0>(x)  rest = SequenceErase(s)  y = ConcatFromSequence<axis = 0>(rest) }""",
    "pick from what is left": """g (float[n, m] x, int64[1] one) => (y) <int64[1] two = {2}, int64[1] many = {9}> {
        rest = Slice(x, two, many)  first = Sub(one, one)  y = Gather(rest, first) }""",
    "resize what is left": """g (float[n, m] x) => (y) <int64[1] two = {2}, int64[1] many = {9}, int64[2] to = {3, 3}> {
        rest = Slice(x, two, many)  y = Resize(rest, , , to) }""",
    "pad what is left": """g (float[n, m] x) => (y)
        <int64[1] two = {2}, int64[1] many = {9}, int64[4] by = {1, 0, 0, 0}> {
        rest = Slice(x, two, many)  y = Pad<mode = "edge">(rest, by) }""",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_the_contract_admits_sizes_that_onnxruntime_runs(text):
    model = onnx.parser.parse_model(HEADER + text)
    contract, session = infer_shapes(model).contract, session_of(model)
    ran = set()
    for n in range(1, 5):
        for m in range(1, 5):
            ran.add(ran_with := runs(session, n=n, m=m))
            assert contract.check(n=n, m=m).verdict is ran_with, (n, m)
    assert True in ran


ASSUMING = {
    "a window next to a size that broadcasts": """g (float[n, 4, m] x) => (y, z) <int64[3] to = {1, 1, 3}> {
        y = LpPool<kernel_shape = [2], strides = [3]>(x)  z = Expand(x, to) }""",
    "a window next to sizes that broadcast": """g (float[1, 2, m] x, float[n] v) => (y, z) {
        y = AveragePool<kernel_shape = [2], strides = [2]>(x)  z = Add(x, v) }""",
}


@pytest.mark.parametrize("text", ASSUMING.values(), ids=ASSUMING)
def test_consequences_of_assumptions_are_not_preconditions(text):
    model = onnx.parser.parse_model(HEADER + text)
    session, result = session_of(model), infer_shapes(model)
    requirements = [precondition for precondition in result.contract if precondition.kind != "assumption"]
    ran = {(n, m) for n in range(1, 5) for m in range(1, 5) if runs(session, n=n, m=m)}
    for n, m in ran:
        violated = [precondition for precondition in requirements if precondition.holds({"n": n, "m": m}) is False]
        assert not violated, (n, m)
        assert result.contract.check(n=n, m=m).verdict is True, (n, m)
    for axis, name in enumerate("nm"):
        assert {size for size in result.contract.solve(name, range(5)) if size} == {pair[axis] for pair in ran}


def runs(session, fill=np.ones, **sizes):
    dtypes = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(bool)": np.bool_}
    feeds = {
        value.name: np.asarray(fill([sizes.get(d, d) for d in value.shape])).astype(dtypes[value.type])
        for value in session.get_inputs()
    }
    try:
        session.run(None, feeds)
    except Exception:  # onnxruntime has no class of its own for what fails at run time
        return False
    return True


REJECTED_BY_ONNXRUNTIME = {
    "a pool of windows with gaps": """g (float[1, n, m] x) => (y) {
        y = MaxPool<kernel_shape = [2], strides = [3], auto_pad = "SAME_LOWER">(x) }""",
    "a pool of nothing": """g (float[n, m] x) => (y) <int64[1] two = {2}, int64[1] many = {9}, int64[1] axis = {1}> {
        rest = Slice(x, two, many, axis)  image = Unsqueeze(rest, axis)  y = GlobalAveragePool(image) }""",
    "a quotient by nothing": """g (float[n, m] x) => (y) <int64[1] two = {2}> {
        sizes = Shape(x)  less = Sub(sizes, two)  y = Div(sizes, less) }""",
    "a scan of nothing": """g (float[n, m] x) => (y, z) <float a = {1}, int64[1] two = {2}, int64[1] many = {9}> {
        rest = Slice(x, two, many)
        y, z = Scan<num_scan_inputs = 1, body = b (float s, float[m] row) => (float t, float[m] same) {
            t = Identity(s)  same = Identity(row) }>(a, rest) }""",
    "a rest by nothing": """g (float[n, m] x) => (y) <int64[1] two = {2}, int64[1] many = {9}, int64[1] axis = {1}> {
        rest = Slice(x, two, many, axis)  sizes = Shape(rest)  y = Mod(two, sizes) }""",
}


@pytest.mark.parametrize("text", REJECTED_BY_ONNXRUNTIME.values(), ids=REJECTED_BY_ONNXRUNTIME)
def test_legal_sizes_that_onnxruntime_rejects_are_reported(text):
    model = onnx.parser.parse_model(HEADER + text)
    contract, session = infer_shapes(model).contract, session_of(model)
    ran = set()
    for n in range(1, 4):
        for m in range(1, 8):
            answer = contract.check(n=n, m=m)
            ran.add(ran_with := runs(session, n=n, m=m))
            assert answer.verdict is True
            assert bool(answer.reasons) is not ran_with, (n, m, answer)
    assert ran == {True, False}


BY_DATA = {
    "a product of as many": """g (float[n] x) => (y) <float[3, 1] w = {1, 2, 3}> {
        values = Unique(x)  y = MatMul(values, w) }""",
    "a scale of as many": """g (float[2, n] x, bool[n] where) => (y) <float[3] w = {1, 2, 3}> {
        some = Compress<axis = 1>(x, where)  y = LayerNormalization(some, w) }""",
    "a window over as many": """g (float[1, 1, n] x, bool[n] where) => (y) <float[1, 1, 3] w = {1, 2, 3}> {
        some = Compress<axis = 2>(x, where)  y = Conv(some, w) }""",
    "a matrix of as many": """g (float[n] x) => (y) <float[3, 1] w = {1, 2, 3}> {
        at = NonZero(x)  places = Cast<to = 1>(at)  y = Gemm(places, w) }""",
}


@pytest.mark.parametrize("text", BY_DATA.values(), ids=BY_DATA)
def test_counts_that_depend_on_data_are_unknown(text):
    model = onnx.parser.parse_model(HEADER + text)
    contract, session, rng = infer_shapes(model).contract, session_of(model), np.random.default_rng(0)
    assert {runs(session, lambda shape: rng.integers(0, 4, shape), n=5) for _ in range(50)} == {True, False}
    assert contract.check(n=5).verdict is None
    assert not any(runs(session, lambda shape: rng.integers(0, 4, shape), n=2) for _ in range(50))
    assert contract.check(n=2).verdict is False
