"""Operators that compute sizes from floats: ranges, resizes and reductions, against onnxruntime."""

from fractions import Fraction
from math import floor

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from shapeinf.lattice.dtypes import ONNX_CODES
from tests.differential.ort import session_of

FEW = (*range(1, 41), 99, 100, 511, 1000, 4095, 4096)


def parsed(body, inputs, values=""):
    text = f'<ir_version: 10, opset_import: ["" : 21]> g ({inputs}) => (y) <{values}> {{ {body} }}'
    proto = onnx.parser.parse_model(text)
    proto.graph.output[0].type.Clear()
    return onnx.helper.make_model(proto.graph, opset_imports=proto.opset_import, ir_version=10)


def typed(proto, dtype, rank):
    """The model with the type of its output, which onnxruntime requires."""
    dims = [None] * rank
    proto.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("y", ONNX_CODES[dtype], dims))
    return proto


def problems(proto, dims, real):
    """The sizes at which a run differs from the inferred shape, without those that an assumption excludes."""
    result = infer_shapes(proto, dims=dims)
    assert not [d for d in result.diagnostics if d.severity == "error"], result.diagnostics
    size = result.tensors["y"].shape[0]
    assumed = [precondition for precondition in result.contract.preconditions if precondition.kind == "assumption"]
    for sizes, count in real:
        if not all(precondition.holds(sizes) for precondition in assumed):
            continue
        if isinstance(size, int) or not size.is_anonymous:
            if evaluate(size, sizes) != count:
                yield f"{sizes}: {size} is {evaluate(size, sizes)}, not {count}"
        elif count not in result.interval(size):
            yield f"{sizes}: {result.interval(size)} does not contain {count}"


STEPS = (1, 2, 3, 0.5, 0.1, 0.3, 0.7, 1 / 3, 1.5, -1, -0.1)
FACTORS = (1, 0.5, 0.1, 1.5, 3, -2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ranges_of_floats(dtype):
    """`ceil((limit - start)/delta)`; onnxruntime divides in float64 for all types."""
    pytest.importorskip("onnxruntime")
    kind = {"float32": "float", "float64": "double"}[dtype]
    known = 0
    for factor in FACTORS:
        for step in STEPS:
            values = f"{kind} factor = {{{float(factor)!r}}}, {kind} step = {{{float(step)!r}}}, {kind} first = {{2}}"
            chain = f"f = Cast<to = {ONNX_CODES[dtype]}>(s) limit = Mul(f, factor) y = Range(first, limit, step)"
            ours = parsed(f"v = Shape(x) s = Squeeze(v) {chain}", "float[N] x", values)
            session = session_of(typed(parsed(chain, "int64 s", values), dtype, 1))
            real = [({"N": n}, len(session.run(None, {"s": np.array(n)})[0])) for n in FEW]
            assert not [*problems(ours, {}, real)], (factor, step)
            size = infer_shapes(ours).tensors["y"].shape[0]
            known += isinstance(size, int) or not size.is_anonymous
    assert known > len(FACTORS) * len(STEPS) // 3


SCALES = (2, 0.5, 1.5, 0.75, 0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.9, 1.1, 1.3, 2.3, 1 / 3, 2 / 3, 0.45, 3.7)


@pytest.mark.parametrize("scale", SCALES)
def test_resizes_by_a_scale(scale):
    """A known size is that of onnxruntime, and the floor of the exact product, as the specification requires."""
    pytest.importorskip("onnxruntime")
    proto = parsed('y = Resize<mode = "nearest">(x, , scale)', "float[N] x", f"float[1] scale = {{{scale!r}}}")
    session = session_of(typed(onnx.ModelProto.FromString(proto.SerializeToString()), "float32", 1))
    sizes = [n for n in FEW if n * scale >= 1]
    real = [({"N": n}, session.run(None, {"x": np.zeros(n, np.float32)})[0].shape[0]) for n in sizes]
    exact = [
        ({"N": n}, floor(n * Fraction(float(np.float32(scale))))) for n in (*sizes, 2**20, 2**24, 10**7, 10**9 + 7)
    ]
    assert not [*problems(proto, {}, real), *problems(proto, {}, exact)]
    assert not [*problems(proto, {"N": "1..5000"}, real)]


def test_symbolic_scales():
    """A scale that is a quotient of sizes is rounded to float32, unless it is an integer."""
    pytest.importorskip("onnxruntime")
    chain = 'a = Cast<to = 1>(n) b = Cast<to = 1>(m) scale = Div(b, a) y = Resize<mode = "nearest">(x, , scale)'
    proto = parsed(f"n = Shape(x) m = Shape(z) {chain}", "float[N] x, float[M] z")
    session = session_of(typed(onnx.ModelProto.FromString(proto.SerializeToString()), "float32", 1))
    pairs = [(n, m) for n in range(1, 50, 3) for m in range(n, 60, 7)]
    feeds = [{"x": np.zeros(n, np.float32), "z": np.zeros(m, np.float32)} for n, m in pairs]
    real = [({"N": n, "M": m}, session.run(None, f)[0].shape[0]) for (n, m), f in zip(pairs, feeds, strict=True)]
    assert not [*problems(proto, {}, real)]


PAIRS = [(n, m) for n in (1, 3, 45, 2047, 2048, 2049, 4097, 2**24, 2**24 + 1) for m in (1, 2, 45, 2049, 2**23 + 1)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("operator", ["ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("bound", ["", "40", "2048", "4097"])
def test_reductions_of_float_sizes(operator, dtype, bound):
    pytest.importorskip("onnxruntime")
    chain = f"f = Cast<to = {ONNX_CODES[dtype]}>(s) r = {operator}<keepdims = 1>(f) k = Cast<to = 7>(r)"
    ours = parsed(f"s = Shape(x) {chain} y = ConstantOfShape(k)", "float[N, M] x")
    try:
        session = session_of(typed(parsed(f"{chain} y = Identity(k)", "int64[2] s"), "int64", 1))
    except Exception:
        pytest.skip("onnxruntime has no kernel")
    dims = {"N": f"1..{bound}", "M": f"1..{bound}"}
    pairs = [p for p in PAIRS if not bound or max(p) <= int(bound)]
    real = [({"N": n, "M": m}, session.run(None, {"s": np.array([n, m])})[0].item()) for n, m in pairs]
    assert not [*problems(ours, dims, [(sizes, k) for sizes, k in real if k >= 0])]


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int64"])
def test_powers_of_one_half_are_exact_where_the_root_is_a_number(kind: str) -> None:
    """`std::pow`, which onnxruntime calls, is exact there, so `int(16 ** 0.5)`, the side of a grid of patches, is 4."""
    squares = [n * n for n in range(45 if kind == "float16" else 300)]
    exponent = "float32" if kind == "int64" else kind
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]> g (float[1] x) => (int64[n] roots, float[] y) {{
            i = Constant<value = int64[{len(squares)}] {{{", ".join(map(str, squares))}}}>()
            h = Constant<value = float[1] {{0.5}}>()
            b = Cast<to = {ONNX_CODES[kind]}>(i) e = Cast<to = {ONNX_CODES[exponent]}>(h)
            p = Pow(b, e) roots = Cast<to = 7>(p)
            few = Constant<value = int64[2] {{2, 3}}>() dims = Gather(roots, few) y = ConstantOfShape(dims) }}"""
    )
    assert infer_shapes(model).tensors["y"].shape.dims == (2, 3)
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    roots, y = session.run(["roots", "y"], {"x": np.ones(1, np.float32)})
    assert roots.tolist() == list(range(len(squares)))
    assert y.shape == (2, 3)
