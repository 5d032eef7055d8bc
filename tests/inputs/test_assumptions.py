"""Assumptions about sizes as text: they become constraints, and none is silently misread."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import Dim, UnknownNameError, infer_shapes
from shapeinf.errors import AssumptionSyntaxError, Contradiction
from shapeinf.expr import Scope, evaluate
from shapeinf.inputs.assumptions import add_assumptions, parse_assumption
from shapeinf.lattice import PartialTensor, Shape, ShapeStore
from tests.inputs.graphs import IMAGE, graph


def ranges(**options):
    result = infer_shapes(IMAGE, **options)
    return [str(result.interval(d)) for d in result.tensors["x"].shape]


# -- relations

# The text of a relation, and its comparisons in canonical form.
READ = [
    ("past + seq <= 4096", ["past + seq <= 4096"]),
    ("b>=2", ["2 <= b"]),
    ("a < b", ["a + 1 <= b"]),
    ("1 <= H <= 512", ["1 <= H", "H <= 512"]),
    ("1 <= H and H < 512", ["1 <= H", "H + 1 <= 512"]),
    ("a ≤ b", ["a <= b"]),
    ("H % 32 == 0", ["H % 32 == 0"]),
    ("mod(H,32) == 0", ["H % 32 == 0"]),
    ("0 == H % 32", ["H % 32 == 0"]),
    ("32*(H//32) == H", ["H % 32 == 0"]),
    ("32*floordiv(H, 32) == H", ["H % 32 == 0"]),
    ("H % 32 == 5", ["H % 32 == 5"]),
    ("2*H % 4 == 2", ["H % 2 == 1"]),
    ("(H + W) % 4 == 0", ["(H + W) % 4 == 0"]),
    ("max(a, b) == 8", ["max(a, b) == 8"]),
    ("`a <= b` <= 3", ["`a <= b` <= 3"]),
]


@pytest.mark.parametrize(("text", "comparisons"), READ)
def test_relations(text, comparisons):
    assert [str(comparison) for comparison in parse_assumption(text, Scope())] == comparisons


# Text, position of the mistake (from 0), a part of what to write instead.
REFUSED = [
    ("batch", 5, "a relation"),
    ("", 0, "a number, a name"),
    ("H = 3", 2, "'=='"),
    ("H != 3", 2, "state which one is larger"),
    ("H <= 3 or H >= 8", 7, "infer once for each"),
    ("not H <= 3", 0, "the opposite relation"),
    ("H <=", 4, "a number, a name"),
    ("H <= 3 4", 7, "an operator or the end"),
    ("H^2 <= 9", 1, "a product"),
    ("H/2 <= 9", 1, "'//'"),
    ("H//0 <= 9", 1, "a divisor other than 0"),
    ("b>=2, b<=8", 4, "an operator or the end"),
    ("H <= 3 and W", 12, "a relation"),
]


@pytest.mark.parametrize(("text", "position", "expected"), REFUSED)
def test_texts_that_are_no_relation(text, position, expected):
    with pytest.raises(AssumptionSyntaxError) as caught:
        parse_assumption(text, Scope())
    assert (caught.value.position, expected in caught.value.expected) == (position, True), str(caught.value)


TERMS = st.sampled_from(
    ["a", "b", "a + b", "2*a", "a - b", "a % 3", "(b + 1) % 4", "a//2", "a*b", "a % b", "max(a, 4)", "3", "0", "7"]
)
SIGNS = st.sampled_from(["<=", ">=", "<", ">", "=="])
RELATIONS = st.one_of(
    st.tuples(TERMS, SIGNS, TERMS).map(" ".join),
    st.tuples(TERMS, SIGNS, TERMS, SIGNS, TERMS).map(" ".join),
    st.tuples(st.sampled_from(["a", "b", "a + 1", "2*b", "a + b"]), st.integers(2, 5), st.integers(0, 4)).map(
        lambda row: f"({row[0]}) % {row[1]} == {row[2]}"
    ),
)
HIGH = 9


def bindings():
    return [{"a": a, "b": b} for a, b in itertools.product(range(1, HIGH + 1), repeat=2)]


@given(RELATIONS)
def test_a_canonical_text_reads_back(text):
    scope = Scope()
    for comparison in parse_assumption(text, scope):
        assert parse_assumption(str(comparison), scope) == (comparison,)


@given(st.lists(RELATIONS, min_size=1, max_size=4))
def test_relations_have_the_semantics_of_python(texts):
    """Python evaluates the same texts; true ones stay possible, and implied ones hold everywhere."""
    store = ShapeStore()
    for name in "ab":
        store.scope.symbol(name, 1, HIGH)
    left = bindings()
    for text in texts:
        before = left
        left = [env for env in left if eval(text, {}, dict(env))]
        try:
            redundant = add_assumptions(store, [text])
        except Contradiction:
            assert not left
            return
        assert not redundant or left == before
        for env, name in itertools.product(left, "ab"):
            symbol = store.scope.symbol(name)
            assert env[name] in store.interval(symbol)
            assert evaluate(store.canon(symbol), env) == env[name]


def learned(result):
    """All constraints, without their sources."""
    store = result.engine.store
    symbols = [store.scope.symbol(name) for name in ("batch", "H", "W")]
    known = [(str(store.canon(s)), store.interval(s)) for s in symbols]
    return (
        known,
        [(r.modulus, r.rest) for r in store.congruences.values()],
        [str(r.expression) for r in store.relations],
    )


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 9))
def test_text_and_object_add_the_same_constraints(low, high, multiple):
    if low > high:
        return
    named = Dim("H", low, high, multiple_of=multiple)
    outcomes = []
    for options in (
        {"dims": [named]},
        {"dims": {"H": named}},
        {"inputs": {"x": {2: named}}},
        {"assume": named.assumptions},
    ):
        try:
            outcomes.append(learned(infer_shapes(IMAGE, **options)))
        except Contradiction:
            outcomes.append(None)
    assert outcomes == [outcomes[0]] * 4
    legal = [h for h in range(low, high + 1) if h % multiple == 0]
    assert (outcomes[0] is None) == (not legal)


LOWERED = [
    ({"dims": {"H": "0..8"}}, "0..8"),
    ({"dims": [Dim("H", 0, 8, multiple_of=4)]}, "0..8"),
    ({"dims": (Dim("H", n) for n in (0,))}, "0.."),
    ({"inputs": {"x": {2: Dim("H", 0, 8)}}}, "0..8"),
    ({"bind": {"H": 0}}, "0..0"),
    ({"dims": {"H": (0, 8)}, "min_dim": 2}, "0..8"),
]


@pytest.mark.parametrize(("options", "known"), LOWERED)
def test_a_range_goes_before_min_dim(options, known):
    result = infer_shapes(IMAGE, **options)
    assert [str(result.interval(result.engine.scope.symbol(name))) for name in ("H", "W")] == [
        known,
        f"{options.get('min_dim', 1)}..",
    ]
    assert "H at least 0" in result.policy


def test_the_two_halves_of_a_unet_meet_where_the_size_is_even():
    """H//2*2 is H for even H only; so the skip connection fits at all legal sizes."""
    scales = PartialTensor("float32", Shape((4,)), (1, 1, 2, 2))
    nodes = [
        ("MaxPool", ["x"], ["down"], {"kernel_shape": (2, 2), "strides": (2, 2)}),
        ("DepthToSpace", ["down4"], ["up"], {"blocksize": 2}),
        ("Concat", ["x", "up"], ["y"], {"axis": 1}),
    ]
    nodes.insert(1, ("Concat", ["down"] * 4, ["down4"], {"axis": 1}))
    model = graph(nodes, {"x": ("batch", 8, "H", "W")}, {"unused": scales})
    doubtful = infer_shapes(model)
    assert doubtful.engine.store.disjunctions
    result = infer_shapes(model, assume=["H % 32 == 0", "W % 2 == 0"])
    assert not result.engine.store.disjunctions
    assert str(result.tensors["y"].shape) == "[batch, 16, H, W]"
    assert str(result.tensors["down"].shape) == "[batch, 8, H//2, W//2]"


# -- contradicted, redundant, unknown

# Options, and parts of the message: both sides are named.
CONTRADICTED = [
    ({"dims": {"H": "1..8"}, "assume": ["H >= 9"]}, ["H >= 9", "H=1..8"]),
    ({"dims": {"H": "1..8"}, "bind": {"H": 9}}, ["H=9", "H=1..8"]),
    ({"assume": ["H <= 8", "H >= 9"]}, ["H >= 9", "H <= 8"]),
    ({"assume": ["H % 4 == 0", "H % 6 == 3"]}, ["H % 6 == 3", "H % 4 == 0"]),
    ({"assume": ["H % 32 == 0", "H == 33"]}, ["H == 33", "H % 32 == 0"]),
    ({"assume": ["H % 32 == 0"], "dims": {"H": "1..31"}}, ["H % 32 == 0", "H=1..31"]),
    ({"assume": ["H < W", "W < batch", "batch < H"]}, ["batch < H", "H < W", "W < batch"]),
    ({"assume": ["H + W <= 10", "H >= 10"]}, ["H >= 10", "H + W <= 10"]),
    ({"assume": ["batch == 2*H"], "bind": {"batch": 3}}, ["batch == 2*H", "batch=3"]),
    ({"dims": [Dim("H", 1, 8, multiple_of=3)], "assume": ["H == 4"]}, ["H == 4", "H % 3 == 0"]),
    ({"dims": [Dim("H", 33, 63, multiple_of=32)]}, ["H % 32 == 0", "H=33..63"]),
    ({"inputs": {"x": {0: Dim("n", 1, 4), 2: Dim("n", 5, 9)}}}, ["n=5..9", "n=1..4"]),
]


@pytest.mark.parametrize(("options", "parts"), CONTRADICTED)
def test_a_contradiction_names_both_sides(options, parts):
    with pytest.raises(Contradiction) as caught:
        infer_shapes(IMAGE, **options)
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_assumptions_of_the_file_are_sources_too():
    model = graph([("Relu", ["x"], ["y"], {})], {"x": ("n",)})
    model.assumptions = ["n <= 8"]
    with pytest.raises(Contradiction, match=r"user: n >= 9 .*file: n <= 8"):
        infer_shapes(model, assume=["n >= 9"])


def test_a_node_that_contradicts_an_assumption_names_it():
    model = graph([("Add", ["x", "w"], ["y"], {})], {"x": ("n",), "w": (5,)})
    (diagnostic,) = infer_shapes(model, assume=["n == 4"]).diagnostics
    assert (diagnostic.severity, diagnostic.node) == ("error", "y")
    assert "n == 4" in (diagnostic.because or "")


REDUNDANT = [
    ({"assume": ["H >= 1"]}, ["H >= 1"]),
    ({"assume": ["H >= 0"], "min_dim": 0}, ["H >= 0"]),
    ({"assume": ["H <= 9"], "dims": {"H": "1..8"}}, ["H <= 9"]),
    ({"assume": ["H % 32 == 0", "H % 8 == 0", "H//2 >= 16"]}, ["H % 8 == 0", "H//2 >= 16"]),
    ({"assume": ["H < W", "W < batch", "H < batch"]}, ["H < batch"]),
    ({"assume": ["1 <= H <= 512"]}, []),
    ({"assume": ["H >= 1"], "min_dim": 0}, []),
    ({"dims": {"H": "0..8"}}, []),
    ({"dims": {"H": "0..8"}, "min_dim": 0}, []),
]


@pytest.mark.parametrize(("options", "texts"), REDUNDANT)
def test_a_redundant_assumption_is_a_note(options, texts):
    diagnostics = infer_shapes(IMAGE, **options).diagnostics
    assert [(d.severity, d.code) for d in diagnostics] == [("note", "S112")] * len(texts)
    assert all(text in d.message for text, d in zip(texts, diagnostics, strict=True))


@pytest.mark.parametrize("text", ["Hh <= 3", "1 <= batsh <= 4", "HH % 4 == 0"])
def test_a_dim_that_no_input_has(text):
    with pytest.raises(UnknownNameError, match="did you mean"):
        infer_shapes(IMAGE, assume=text)


def test_assumptions_hold_for_the_shapes_of_an_update():
    weight = PartialTensor("float32", Shape((8, 4)), None)
    for k in (8, "K"):  # nodes imply nothing, or that K is 8
        model = graph([("MatMul", ["x", "w"], ["y"], {})], {"x": ("B", k)}, {"w": weight})
        result = infer_shapes(model).update({"x": {0: Dim("B", 1, 64, multiple_of=32)}})
        again = result.update({"x": {1: 8}})
        for updated in (result, again):
            rows, columns = updated.tensors["y"].shape
            assert (str(updated.interval(rows)), columns) == ("32..64", 4)
