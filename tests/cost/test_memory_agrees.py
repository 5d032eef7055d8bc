"""Cost and memory walk the same runs: the same nodes of the same bodies, the same weights behind captures."""

from __future__ import annotations

import onnx
import pytest

from shapeinf import Result, infer_shapes

HEADER = '<ir_version: 8, opset_import: ["" : 17, "f" : 1]>'
FAILING = "k = Constant<value_ints = [35, 7]>() v = ConstantOfShape(k) {name} = MatMul(a, v)"  # a has 8 columns
LOOP = """g (int64 m, bool c, bool f, float[n, 8] x) => (z) <float[8, 8] w = {weights}> {{
    z = Loop(m, c, x) <body = b (int64 i, bool d, float[n, 8] a) => (bool e, float[n, 8] r) {{
        e = Identity(d) {body} }}>
}}"""
CASES = {
    "captured weight": "r = MatMul(a, w)",
    "branch": "r = If(f) <then_branch = t () => (p) { p = MatMul(a, w) }, else_branch = o () => (q) { q = Relu(a) }>",
    "branch that fails": f"r = If(f) <then_branch = t () => (p) {{ {FAILING.format(name='p')} }}, "
    "else_branch = o () => (q) { q = MatMul(a, w) }>",
    "body that fails": FAILING.format(name="r"),  # it is the only one: both count it
    "function": "s = f.twice(a, w) r = f.twice(s, w)",
}
FUNCTION = '<domain: "f", opset_import: ["" : 17]> twice (h, w) => (y) { t = MatMul(h, w) y = MatMul(t, w) }'


def result_of(body: str) -> Result:
    text = LOOP.format(weights="{" + ", ".join(["1"] * 64) + "}", body=body)
    return infer_shapes(onnx.parser.parse_model(f"{HEADER} {text} {FUNCTION}"))


@pytest.mark.parametrize("case", CASES)
def test_both_have_the_same_nodes_and_weights(case: str) -> None:
    result = result_of(CASES[case])
    cost, memory = result.cost(), result.memory()
    operators = {"Loop", "If", "twice"}
    counted = {node.name for node in cost.nodes if node.op not in operators} | {item.node for item in cost.uncounted}
    points = {point.node for point in memory.timeline.points if point.op not in operators}
    paths = {name.replace("then_branch/", "").replace("else_branch/", "") for name in counted}
    assert points - paths == ({"z/r/p", "z/r/q"} if case == "branch" else set())  # cost takes the larger of the two
    assert paths <= points
    fails = case == "body that fails"
    assert memory.weights == 4 * 64 + (16 if fails else 0)  # the constant of the body
    assert cost.total.parameters == (0 if fails else 64)
