"""Liveness: the same names and bytes as an independent account of the model, at every program point."""

from __future__ import annotations

import onnx
import onnx.inliner
import pytest

from shapeinf import infer_shapes
from shapeinf.engine import runs
from shapeinf.errors import LimitError
from shapeinf.expr import evaluate
from shapeinf.graph import DeclaredType, Graph, Node
from tests.engine.runtime import parsed
from tests.memory import independent
from tests.vectors import ROOT, need


def alive(timeline, binding, roles=("activation", "output")):
    """For each program point the live bytes, by name."""
    counted = [b for b in timeline.buffers if b.role in roles]
    return [
        {b.name: evaluate(b.size, binding) for b in counted if b.birth <= t < b.death}
        for t in range(len(timeline.points))
    ]


def agree(model, *bindings, **options):
    result = infer_shapes(model, **options)
    timeline = result.memory().timeline
    for binding in bindings:
        known = independent.bound(model, binding)
        sizes = independent.sizes(known.graph)
        wanted = [{name: sizes[name] for name in names} for names in independent.alive(known.graph)]
        assert alive(timeline, binding) == wanted
    return timeline


def roles(timeline):
    return {b.name: b.role for b in timeline.buffers}


SMALL = [{"N": 1, "M": 1}, {"N": 5, "M": 3}]

PLAIN = {
    "chain": "g (float[N, 4] x) => (float[] y) { a = Relu(x)  b = Neg(a)  y = Exp(b) }",
    "diamond": "g (float[N, 4] x) => (float[] y) { a = Relu(x)  b = Neg(a)  c = Exp(a)  y = Add(b, c) }",
    "an output that is read again": """g (float[N, 4] x) => (float[] a, float[] y) {
        a = Relu(x)  b = Neg(a)  y = Exp(b) }""",
    "an unread output": """g (float[N, 4] x) => (float[] y) {
        a = Relu(x)  lost = Neg(a)  v, i = TopK<axis = 1>(a, two)  y = Exp(a) }""",
    "other element types": """g (float[N, 4] x) => (float[] y) {
        a = Cast<to = 11>(x)  b = IsNaN(x)  c = Cast<to = 10>(a)  d = Cast<to = 21>(c)  e = Cast<to = 1>(d)
        y = Where(b, x, e) }""",
    "two inputs": """g (float[N, 4] x, float[M, 4] z) => (float[] y) {
        a = Relu(x)  b = Neg(z)  y = Concat<axis = 0>(a, b) }""",
}
WEIGHT = "<float[4] w = {1, 2, 3, 4}>"
STORED = {
    "shared weights": f"""g (float[N, 4] x) => (float[] y) {WEIGHT} {{
        v = Identity(w)  u = Identity(v)  a = Add(x, v)  b = Relu(a)  y = Add(b, u) }}""",
    "a reshaped weight": f"""g (float[N, 4] x) => (float[] y) {WEIGHT} {{
        k = Constant<value = int64[2] {{4, 1}}>()  v = Reshape(w, k)  y = MatMul(x, v) }}""",
    "constants": """g (float[N, 4] x) => (float[] y) {
        k = Constant<value = float[4] {1, 2, 3, 4}>()  j = Identity(k)  a = Add(x, j)  y = Mul(a, k) }""",
    "what is computed of weights": f"""g (float[N, 4] x) => (float[] y) {WEIGHT} {{
        v = Cast<to = 1>(w)  u = Neg(v)  y = Add(x, u) }}""",
    "outputs that hold a weight": f"""g (float[N, 4] x) => (float[] y, float[4] z, float[4] v) {WEIGHT} {{
        v = Identity(w)  z = Identity(v)  y = Add(x, z) }}""",
    "a branch that reads and returns weights": f"""g (bool c, float[N, 4] x) => (float[] y) {WEIGHT} {{
        v = Identity(w)
        u = If (c) <then_branch = t () => (float[4] p) {{ k = Identity(v)  q = Add(k, w)  p = Identity(w) }},
                    else_branch = e () => (float[4] r) {{
                        j = Constant<value = float[4] {{4, 3, 2, 1}}>()  r = Neg(j) }}>
        y = Add(x, u) }}""",
}
TWO = "two = Constant<value = int64[1] {2}>()"


@pytest.mark.parametrize("name", PLAIN)
def test_plain_graphs(name):
    text = PLAIN[name]
    text = text.replace("lost =", f"{TWO} lost =") if "two)" in text else text
    agree(parsed(text, 23), *SMALL)


@pytest.mark.parametrize("name", STORED)
def test_constants_of_the_file_are_weights(name):
    """So are views of it, but for outputs; and each weight counts once."""
    model = parsed(STORED[name])
    agree(model, *SMALL)
    memory = infer_shapes(model).memory()
    graphs = [model.graph, *(body for node in model.graph.node for body in independent.bodies(node))]
    tensors = [t for graph in graphs for t in graph.initializer]
    tensors += [a.t for graph in graphs for node in graph.node if node.op_type == "Constant" for a in node.attribute]
    assert memory.weights == sum(onnx.numpy_helper.to_array(t).nbytes for t in tensors)
    assert memory.activations + memory.outputs == sum(
        b.size for b in memory.timeline.buffers if b.role in ("activation", "output")
    )


def test_an_order_is_not_chosen_for_the_sake_of_views_of_weights():
    actual = infer_shapes(parsed(STORED["shared weights"])).memory(order="least")
    assert {b.name for b in actual.timeline.buffers if b.role == "weight"} == {"w"}
    assert next(b.values for b in actual.timeline.buffers if b.name == "w") == ("w", "v", "u")


def test_constants_of_functions_are_weights():
    """The two calls share the constant of the function."""
    text = """
    <ir_version: 10, opset_import: ["" : 19, "my" : 1]>
    g (float[N, 4] x) => (float[] y) { a = my.shift(x)  y = my.shift(a) }
    <domain: "my", opset_import: ["" : 19]>
    shift (p) => (q) { k = Constant<value = float[4] {1, 2, 3, 4}>()  j = Identity(k)  q = Add(p, j) }
    """
    memory = infer_shapes(onnx.parser.parse_model(text)).memory()
    assert {b.name: b.role for b in memory.timeline.buffers}.keys() == {"x", "a/k", "a", "y"}
    assert str(memory.peak) == "32*N"


NESTED = {
    "branches": """g (bool c, float[N, 4] x) => (float[] y, float[] z) {
        a = Relu(x)
        k = Exp(x)
        y = If (c) <then_branch = t () => (float[N, 4] p) { q = Neg(a)  p = Exp(q) },
                    else_branch = e () => (float[N, 4] r) { s = Abs(k)  u = Abs(s)  r = Neg(u) }>
        z = Neg(y) }""",
    "a branch that hands on what it captures": """g (bool c, float[N, 4] x) => (float[] z) {
        a = Relu(x)
        b = Exp(x)
        y = If (c) <then_branch = t () => (float[N, 4] p) { p = Identity(a) },
                    else_branch = e () => (float[N, 4] r) { r = Neg(b) }>
        z = Neg(y) }""",
    "a loop that collects": """g (float[N, 4] x) => (float[N, 4] last, float[3, N, 4] all) {
        w = Abs(x)
        h = Relu(x)
        n3 = Constant<value = int64 {3}>()
        last, all = Loop(n3, , h) <
            body = b (int64 i, bool c, float[N, 4] s) => (bool d, float[N, 4] s2, float[N, 4] o) {
            d = Identity(c)  t = Add(s, w)  s2 = Neg(t)  u = Exp(s)  o = Exp(u) }> }""",
    "a scan": """g (float[M, 4] xs, float[4] h0) => (float[] h, float[] ys) {
        a = Relu(h0)
        h, ys = Scan <num_scan_inputs = 1, body = b (float[4] s, float[4] x) => (float[4] s2, float[4] o) {
            s2 = Add(s, x)  t = Mul(s, s2)  o = Neg(t) }> (a, xs) }""",
    "a branch in a loop": """g (bool q, float[N, 4] x) => (float[N, 4] last) {
        w = Abs(x)
        h = Relu(x)
        n = Constant<value = int64 {7}>()
        last = Loop(n, , h) <body = b (int64 i, bool c, float[N, 4] s) => (bool d, float[N, 4] s2) {
            d = Identity(c)
            m = Neg(s)
            s2 = If (q) <then_branch = t () => (float[N, 4] p) { p = Add(m, w) },
                         else_branch = e () => (float[N, 4] r) { r = Exp(m) }> }> }""",
}


@pytest.mark.parametrize("name", NESTED)
def test_bodies_lie_before_their_node(name):
    agree(parsed(NESTED[name]), *SMALL)


def test_a_branch_that_does_not_run_needs_nothing():
    text = NESTED["branches"].replace("bool c, ", "").replace("a = Relu", "c = Constant<value = bool {1}>()  a = Relu")
    names = {m.node for m in infer_shapes(parsed(text)).memory().timeline.points}
    assert {"y/q", "y/p"} <= names
    assert not names & {"y/s", "y/u", "y/r"}


def test_sizes_that_change_from_trip_to_trip_are_the_largest():
    """Doubling from N rows: trips begin with N, 2N and 4N rows and end with 2N, 4N, 8N; the rest is N."""
    text = """g (float[N, 4] x) => (float[] y) {
        n = Constant<value = int64 {3}>()
        y = Loop(n, , x) <body = b (int64 i, bool c, float[] s) => (bool d, float[] s2) {
            d = Identity(c)  k = Neg(x)  s2 = Concat<axis = 0>(s, s) }> }"""
    timeline = infer_shapes(parsed(text)).memory().timeline
    sizes = {b.name: evaluate(b.size, {"N": 5}) for b in timeline.buffers}
    row = 5 * 4 * 4
    assert (sizes["y/s"], sizes["y/s2"], sizes["y/k"], sizes["y"]) == (4 * row, 8 * row, row, 8 * row)
    assert [m.node for m in timeline.points] == ["n", "y/d", "y/k", "y/s2", "y"]


def test_sizes_that_depend_on_data_are_bounded_by_other_dims():
    """Trips are counted from 0 and are M in all; no more than all 4*N elements are other than 0."""
    text = """g (float[N, 4] x, float[M] z) => (float[] y, int64[] p) {
        n = Size(z)
        y = Loop(n, , x) <body = b (int64 i, bool c, float[] s) => (bool d, float[] s2) {
            d = Identity(c)  s2 = Concat<axis = 0>(s, x) }>
        p = NonZero(x) }"""
    result = infer_shapes(parsed(text))
    memory = result.memory()
    (where,) = [b.size for b in memory.timeline.buffers if b.name == "p"]
    assert evaluate(where, {s.name: 12 for s in where.symbols()}) == 2 * 8 * 12
    peak = memory.peak.at(N=3, M=5)
    # in the last trip: n, i, c, d, the state of 5 times 3 rows, the next of 6 times 3, and room for the result
    assert peak.bytes == 8 + 8 + 1 + 1 + (15 + 18 + 18) * 16
    assert str(peak).startswith(f"at most {peak.bytes} bytes at Concat 'y/s2'")
    assert str(result.contract) == "no preconditions on the inputs"


def test_a_loop_that_gives_up_claims_nothing():
    """Doubling an unknown number of times: the state has no size, and so no bound is claimed for it."""
    text = """g (int64 n, float[N, 4] x) => (float[] y) {
        y = Loop(n, , x) <body = b (int64 i, bool c, float[] s) => (bool d, float[] s2) {
            d = Identity(c)  s2 = Concat<axis = 0>(s, s) }> }"""
    memory = infer_shapes(parsed(text)).memory()
    for name in ("y", "y/s", "y/s2"):
        (buffer,) = [b for b in memory.timeline.buffers if b.name == name]
        unknown = buffer.size is None or any(s.symbol.anonymous and s.symbol.hi is None for s in buffer.size.symbols())
        assert unknown, buffer


FUNCTIONS = """
<ir_version: 10, opset_import: ["" : 19, "my" : 1]>
g (float[N, 4] x) => (float[] y, float[] z)
{ a = Relu(x)  b, lost = my.twice(a)  c = Neg(b)  d, e = my.twice(c)  y = Add(d, a)  z = Exp(e) }
<domain: "my", opset_import: ["" : 19]>
twice (p) => (q, r) { s = Exp(p)  t = Abs(s)  q = Neg(t)  r = Concat<axis = 0>(t, t) }
"""


def test_functions_work_on_the_values_of_their_caller():
    """As when onnx inlines the functions, but for the program point of the call itself."""
    model = onnx.parser.parse_model(FUNCTIONS)
    timeline = infer_shapes(model).memory().timeline
    written = onnx.inliner.inline_local_functions(model)
    for binding in SMALL:
        known = independent.bound(written, binding)
        sizes = independent.sizes(known.graph)
        wanted = [sorted(sizes[name] for name in names) for names in independent.alive(known.graph)]
        actual = [sorted(names.values()) for names in alive(timeline, binding)]
        calls = [t for t, point in enumerate(timeline.points) if point.op == "twice"]
        assert calls == [5, 11]
        del actual[11], actual[5]
        assert actual == wanted


def test_bodies_have_a_total():
    """In each call `s` and `t`, N rows of 4 floats; in the loop 3 scalars, 5 others."""
    memory = infer_shapes(onnx.parser.parse_model(FUNCTIONS)).memory()
    assert str(memory.bodies) == "64*N"
    result = infer_shapes(parsed(NESTED["a loop that collects"]))
    memory = result.memory()
    inner = [b for b in memory.timeline.buffers if b.name.startswith("last/")]
    assert evaluate(memory.bodies, {"N": 3}) == sum(evaluate(b.size, {"N": 3}) for b in inner) == 8 + 1 + 1 + 5 * 48


def test_functions_expand_to_a_limited_number_of_nodes(monkeypatch):
    monkeypatch.setattr(runs, "MAX_NODES_IN_BODIES", 7)
    with pytest.raises(LimitError, match="functions expand to more than 7 nodes"):
        infer_shapes(onnx.parser.parse_model(FUNCTIONS)).memory()


def test_equal_calls_of_a_function_all_count():
    """The second call is answered from the memo, and still has nodes and values of its own."""
    points = infer_shapes(onnx.parser.parse_model(FUNCTIONS)).memory().timeline.points
    assert sum(m.node.startswith("b/") for m in points) == sum(m.node.startswith("d/") for m in points) == 4


ROLES = """g (float[N, 4] x, float[4] w, float[N, 4] through) => (float[] y, float[N, 4] through, float[4] k)
    <float[4] w = {1, 2, 3, 4}, float[4] k = {1, 2, 3, 4}> { y = Add(x, w) }"""


def test_roles():
    """An initializer that is an input too is a weight; an output that is an input or a constant keeps its role."""
    memory = infer_shapes(parsed(ROLES)).memory()
    assert roles(memory.timeline) == {"x": "input", "w": "weight", "through": "input", "y": "output", "k": "weight"}
    deaths = {b.name: b.death for b in memory.timeline.buffers}
    assert deaths == dict.fromkeys(deaths, 1)
    totals = (memory.weights, memory.inputs, memory.outputs, memory.activations)
    assert list(map(str, totals)) == ["32", "32*N", "16*N", "0"]


def test_the_kv_cache_model():
    """At the softmax the concatenation, the scores and the probabilities are live: 256 and 4 bytes per element pair."""
    path = ROOT / "memory" / "kv.onnx"
    need(path.exists() or None, "memory/kv.onnx")
    timeline = infer_shapes(str(path)).memory().timeline
    at = alive(timeline, {"b": 1, "past_sequence_length": 4095, "sequence_length": 1})
    assert at[3] == {"kv": 4096 * 256, "sc": 4 * 4096, "pr": 4 * 4096}
    full = alive(timeline, {"b": 1, "past_sequence_length": 0, "sequence_length": 4096})
    assert max(sum(names.values()) for names in full) == 135_266_304
    agree(onnx.load(str(path)), {"b": 2, "past_sequence_length": 3, "sequence_length": 5})


def test_values_without_a_size_are_listed_with_their_cause():
    text = (
        "g (float[N, 4] x, string[N] s) => (float[] y, string[N] z) { a = my.Unheard(x)  y = Exp(a)  z = Identity(s) }"
    )
    memory = infer_shapes(parsed(text)).memory()
    causes = {b.name: b.cause for b in memory.unsized}
    assert set(causes) == {"a", "y", "z", "s"}
    assert causes["s"] == causes["z"] == "strings have no fixed size"
    assert "Unheard" in causes["a"]
    assert "Unheard" in causes["y"]


def test_nodes_of_a_cycle_are_alive_together():
    graph = Graph("g", "onnx", {"": 19}, inputs=["x"], outputs=["y"], cyclic=True)
    graph.nodes = [
        Node.make("Max", ("x", "b"), ("a",)),
        Node.make("Neg", ("a",), ("b",)),
        Node.make("Exp", ("a",), ("y",)),
    ]
    graph.declared = {"x": DeclaredType("float32", ("N", 4))}
    timeline = infer_shapes(graph).memory(in_place=True, aliases=True).timeline
    computed = [b for b in timeline.buffers if b.role != "input"]
    at = [{b.name for b in computed if b.birth <= t < b.death} for t in range(3)]
    assert at == [{"a", "b"}, {"a", "b"}, {"a", "y"}]
