"""Views and results in place: never read after being overwritten, never more than without, and only where allowed."""

from __future__ import annotations

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import infer_shapes
from shapeinf.errors import UnknownNameError
from shapeinf.expr import evaluate
from shapeinf.graph import DeclaredType, Graph, Node
from tests.engine.runtime import parsed
from tests.memory.storage import replay

CASES = {
    # name: (graph, blocks with aliases, blocks with in_place): the values of each block with more than one
    "views of an activation": (
        """g (float[N, 4] x) => (float[] y) { a = Relu(x)  b = Flatten(a)  k = Constant<value = int64[1] {0}>()
           c = Unsqueeze(b, k)  d = Squeeze(c, k)  e = Identity(d)  y = Softmax(e) }""",
        ["a b c d e"],
        [],
    ),
    "a view of an input is the input's": (
        "g (float[N, 4] x) => (float[] y) { a = Flatten(x)  y = Softmax(a) }",
        ["x a"],
        [],
    ),
    "an output is no view of an input": ("g (float[N, 4] x) => (float[] y) { y = Flatten(x) }", [], []),
    "an output that views an activation": (
        "g (float[N, 4] x) => (float[] y) { a = Softmax(x)  y = Flatten(a) }",
        ["a y"],
        [],
    ),
    "an output is no view of another output": (
        "g (float[N, 4] x) => (float[] a, float[] y) { a = Softmax(x)  y = Flatten(a) }",
        [],
        [],
    ),
    "a chain in place": (
        "g (float[N, 4] x) => (float[] y) { a = Softmax(x)  b = Relu(a)  c = Neg(b)  y = Softmax(c) }",
        [],
        ["a b c"],
    ),
    "not instead of inputs, outputs and weights": (
        """g (float[N, 4] x) => (float[] y, float[] a) <float[4] w = {1, 2, 3, 4}> {
           a = Relu(x)  b = Neg(a)  c = Abs(w)  d = Add(b, c)  y = Softmax(d) }""",
        [],
        ["b d"],
    ),
    "not instead of what is read later": (
        "g (float[N, 4] x) => (float[] y) { a = Softmax(x)  b = Relu(a)  c = Add(b, a)  y = Softmax(c) }",
        [],
        ["b c"],
    ),
    "not where sizes may differ": (
        """g (float[N, 4] x, float[1, 4] z) => (float[] y) {
           a = Softmax(x)  b = Softmax(z)  c = Add(b, a)  d = Cast<to = 11>(c)  y = Softmax(d) }""",
        [],
        ["a c"],
    ),
    "of two operands the one that ends": (
        "g (float[N, 4] x) => (float[] y) { a = Softmax(x)  b = Exp(x)  c = Sub(a, b)  d = Mul(b, c)  y = Softmax(d) }",
        [],
        ["a c", "b d"],
    ),
    "an operand that is read twice": (
        "g (float[N, 4] x) => (float[] y) { a = Softmax(x)  b = Add(a, a)  y = Softmax(b) }",
        [],
        ["a b"],
    ),
    "updates that are also the data": (
        """g (float[N, 4] x, int64[N, 4] i) => (float[] y) {
           a = Softmax(x)  b = ScatterElements<axis = 1>(a, i, a)  y = Softmax(b) }""",
        [],
        [],
    ),
    "reductions are not in place": (
        "g (float[N, 4] x) => (float[] y) { a = Relu(x)  b = Softmax(a)  y = LayerNormalization(b, k) }".replace(
            "{ a", "<float[4] k = {1, 2, 3, 4}> { a"
        ),
        [],
        [],
    ),
}


def shared(timeline):
    return [" ".join(b.values) for b in timeline.buffers if len(b.values) > 1]


@pytest.mark.parametrize("name", CASES)
def test_which_values_share_a_block(name):
    text, aliases, in_place = CASES[name]
    result = infer_shapes(parsed(text))
    base = result.memory().timeline
    assert shared(base) == []
    assert shared(result.memory(aliases=True).timeline) == aliases
    assert shared(result.memory(in_place=True).timeline) == in_place
    for options in ({"aliases": True}, {"in_place": True}, {"aliases": True, "in_place": True}):
        replay(result, result.memory(**options).timeline, base)


def test_dropout_is_a_view_only_where_it_is_for_inference():
    for opset, aliases in ((10, ["a b"]), (13, [])):
        text = "g (float[N, 4] x) => (float[] y) { a = Softmax(x)  b = Dropout(a)  y = Softmax(b) }"
        assert shared(infer_shapes(parsed(text, opset)).memory(aliases=True).timeline) == aliases


def test_a_view_knows_a_size_that_its_source_does_not():
    """The shape of `a` is unknown, but it has the elements of `b`; its element type is declared."""
    text = """g (float[N, 4] x, int64[2] s) => (float[] y) <float[] a> {
        a = my.Unheard(x)  k = Constant<value = int64[2] {3, 5}>()  b = Reshape(a, k)  y = Softmax(b) }"""
    memory = infer_shapes(parsed(text)).memory(aliases=True)
    (block,) = [b for b in memory.timeline.buffers if "a" in b.values]
    assert (block.values, block.size, block.cause) == (("a", "b"), 60, "")
    assert not memory.unsized


def test_captured_values_are_not_overwritten_in_a_body():
    """`a` and `h` have their last reads in the body, but another trip reads both again."""
    text = """g (float[N, 4] x) => (float[N, 4] y) {
        a = Softmax(x)
        h = Softmax(a)
        n = Constant<value = int64 {3}>()
        y = Loop(n, , h) <body = b (int64 i, bool c, float[N, 4] s) => (bool d, float[N, 4] s2) {
            d = Identity(c)  t = Relu(a)  u = Neg(t)  v = Flatten(s)  s2 = Add(u, v) }> }"""
    timeline = infer_shapes(parsed(text)).memory(aliases=True, in_place=True).timeline
    assert shared(timeline) == ["y/c y/d", "y/s y/v", "y/t y/u y/s2"]
    live_ranges = {b.name: (b.birth, b.death) for b in timeline.buffers}
    assert live_ranges["a"] == (0, 9)  # softmax, softmax, constant, five of the body, the loop itself
    assert live_ranges["y/t"] == (4, 9)


# -- properties over random graphs

UNARY = ("Relu", "Identity", "Flatten", "Softmax", "Neg", "Cast")


@st.composite
def graphs(draw):
    """Nodes over values of k*N rows of 4 numbers, in a topological order; some values are outputs."""
    rows = {"x": 1, "z": 2}
    nodes = []
    for number in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from((*UNARY, "Add", "Add", "Concat")))
        names = sorted(rows)[-4:] if draw(st.booleans()) else sorted(rows)
        a, b = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        output = f"v{number:02}"
        if kind == "Concat" and rows[a] + rows[b] < 9:
            nodes.append(Node.make("Concat", (a, b), (output,), {"axis": 0}))
            rows[output] = rows[a] + rows[b]
        elif kind == "Add" and rows[a] == rows[b]:
            nodes.append(Node.make("Add", (a, b), (output,)))
            rows[output] = rows[a]
        else:
            op = kind if kind in UNARY else "Relu"
            nodes.append(Node.make(op, (a,), (output,), {"to": onnx.TensorProto.FLOAT} if op == "Cast" else {}))
            rows[output] = rows[a]
    outputs = draw(st.lists(st.sampled_from([n.outputs[0] for n in nodes]), min_size=1, max_size=3, unique=True))
    graph = Graph("g", "onnx", {"": 19}, ["x", "z"], outputs, nodes)
    graph.declared = {"x": DeclaredType("float32", ("N", 4)), "z": DeclaredType("float32", ("2*N", 4))}
    return graph


def totals(timeline, binding):
    counted = [b for b in timeline.buffers if b.role in ("activation", "output")]
    sizes = [evaluate(b.size, binding) for b in counted]
    points = range(len(timeline.points))
    return [sum(s for b, s in zip(counted, sizes, strict=True) if b.birth <= t < b.death) for t in points]


def account(graph, nodes, binding):
    """Bytes by program point, with sets: aliases are followed independently."""
    rows = {"x": 1, "z": 2}
    actual = []
    for at, node in enumerate(nodes):
        rows[node.outputs[0]] = sum(rows[n] for n in node.inputs) if node.op == "Concat" else rows[node.inputs[0]]
        later = {name for n in nodes[at:] for name in n.inputs} | set(graph.outputs) | {node.outputs[0]}
        output = {n.outputs[0] for n in nodes[: at + 1]}
        actual.append(sum(rows[name] * binding["N"] * 16 for name in output & later))
    return actual


@given(graphs(), st.integers(1, 9))
def test_sharing_never_needs_more_and_loses_nothing(graph, size):
    binding = {"N": size}
    result = infer_shapes(graph)
    base = result.memory().timeline
    before = totals(base, binding)
    assert before == account(graph, graph.nodes, binding)
    for options in ({"aliases": True}, {"in_place": True}, {"aliases": True, "in_place": True}):
        timeline = result.memory(**options).timeline
        assert all(now <= then for now, then in zip(totals(timeline, binding), before, strict=True))
        replay(result, timeline, base)


@given(graphs())
def test_another_order_is_topological_and_no_worse(graph):
    result = infer_shapes(graph)
    memory = result.memory(order="least")
    by_name = {node.outputs[0]: node for node in graph.nodes}
    nodes = [by_name[point.node] for point in memory.timeline.points]
    assert sorted(by_name) == sorted(node.outputs[0] for node in nodes)
    output = {"x", "z"}
    for node in nodes:
        assert set(node.inputs) <= output
        output |= set(node.outputs)
    now = account(graph, nodes, memory.chosen_at)
    assert totals(memory.timeline, memory.chosen_at) == now
    assert max(now) <= max(account(graph, graph.nodes, memory.chosen_at))


# -- order

WIDE = """g (float[N, 4] x) => (float[] y) {
    a1 = Relu(x)  a2 = Neg(x)  a3 = Abs(x)  a4 = Exp(x)
    b1 = ReduceSum<keepdims = 0>(a1)  b2 = ReduceSum<keepdims = 0>(a2)
    b3 = ReduceSum<keepdims = 0>(a3)  b4 = ReduceSum<keepdims = 0>(a4)
    y = Sum(b1, b2, b3, b4) }"""


def test_an_order_that_finishes_a_branch_before_the_next():
    """As listed four wide values are live at once; one after the other, one wide value and up to four scalars."""
    result = infer_shapes(parsed(WIDE))
    at = {"N": 64}
    memory = result.memory(order="least")
    assert memory.chosen_at == at
    wide = 64 * 16
    assert max(totals(result.memory().timeline, at)) == 4 * wide + 4
    assert max(totals(memory.timeline, at)) == wide + 4 * 4


def test_nodes_with_bodies_move_together():
    text = """g (bool c, float[N, 4] x) => (float[] y) {
        w = Relu(x)
        s = If (c) <then_branch = t () => (float[] p) { q = Exp(x)  p = ReduceSum<keepdims = 0>(q) },
                    else_branch = e () => (float[] r) { r = ReduceSum<keepdims = 0>(x) }>
        v = ReduceSum<keepdims = 0>(w)
        y = Add(s, v) }"""
    points = infer_shapes(parsed(text)).memory(order="least").timeline.points
    assert [m.node for m in points] in (
        ["w", "v", "s/q", "s/p", "s/r", "s", "y"],
        ["s/q", "s/p", "s/r", "s", "w", "v", "y"],
    )


def test_an_unknown_order():
    with pytest.raises(UnknownNameError, match=r"leest.*least"):
        infer_shapes(parsed(WIDE)).memory(order="leest")


def test_values_that_differ_from_trip_to_trip_are_not_overwritten():
    """`t` and `u` have N, 2N and 4N rows in three trips, the same in each trip, but single trips are not analyzed."""
    text = """g (float[N, 4] x) => (float[] y) {
        n = Constant<value = int64 {3}>()
        y = Loop(n, , x) <body = b (int64 i, bool c, float[] s) => (bool d, float[] s2) {
            d = Identity(c)  t = Softmax(s)  u = Relu(t)  v = Softmax(x)  w = Relu(v)  k = ReduceSum<keepdims = 0>(w)
            m = Add(u, k)  s2 = Concat<axis = 0>(m, m) }> }"""
    timeline = infer_shapes(parsed(text)).memory(in_place=True).timeline
    assert shared(timeline) == ["y/v y/w"]
