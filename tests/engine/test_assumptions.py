"""Assumptions about sizes, as text and as objects of shapeinf and of other tools; none is silently misread."""

import enum
import itertools
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import (
    Contradiction,
    DeclaredType,
    Graph,
    NamedDim,
    Node,
    ShapeInferenceError,
    UnknownNameError,
    infer_shapes,
)
from shapeinf.errors import AssumptionSyntaxError, SpecError
from shapeinf.expr import Scope, evaluate
from shapeinf.inputs.assumptions import add_assumptions, parse_assumption
from shapeinf.lattice import PartialTensor, Shape, ShapeStore


def graph(nodes, inputs, constants=()):
    return Graph(
        dialect="onnx",
        opsets={"": 18},
        inputs=list(inputs),
        outputs=["y"],
        nodes=[Node.make(op, tuple(ins), tuple(outs), attrs, outs[0]) for op, ins, outs, attrs in nodes],
        declared={name: DeclaredType("float32", dims) for name, dims in inputs.items()},
        constants=dict(constants),
    )


IMAGE = graph([("Relu", ["x"], ["y"], {})], {"x": ("batch", 3, "H", "W")})
PAIR = graph([("Concat", ["a", "b"], ["y"], {"axis": 0})], {"a": ("n", 4), "b": ("m", 4)})


def shape(model=IMAGE, **options):
    return str(infer_shapes(model, **options).tensors["y"].shape)


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
    store = result.store
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
    named = NamedDim("H", low, high, multiple_of=multiple)
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
    ({"dims": [NamedDim("H", 0, 8, multiple_of=4)]}, "0..8"),
    ({"dims": (NamedDim("H", n) for n in (0,))}, "0.."),
    ({"inputs": {"x": {2: NamedDim("H", 0, 8)}}}, "0..8"),
    ({"bind": {"H": 0}}, "0..0"),
    ({"dims": {"H": (0, 8)}, "min_dim": 2}, "0..8"),
]


@pytest.mark.parametrize(("options", "known"), LOWERED)
def test_a_range_goes_before_min_dim(options, known):
    result = infer_shapes(IMAGE, **options)
    assert [str(result.interval(result.scope.symbol(name))) for name in ("H", "W")] == [
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
    assert doubtful.store.disjunctions
    result = infer_shapes(model, assume=["H % 32 == 0", "W % 2 == 0"])
    assert not result.store.disjunctions
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
    ({"dims": [NamedDim("H", 1, 8, multiple_of=3)], "assume": ["H == 4"]}, ["H == 4", "H % 3 == 0"]),
    ({"dims": [NamedDim("H", 33, 63, multiple_of=32)]}, ["H % 32 == 0", "H=33..63"]),
    ({"inputs": {"x": {0: NamedDim("n", 1, 4), 2: NamedDim("n", 5, 9)}}}, ["n=5..9", "n=1..4"]),
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


# -- sizes as objects


class TorchDim:
    """The form of torch.export's Dim: no bound is 0 and an infinity that is no int."""

    def __init__(self, name, min=None, max=None):
        self.__name__ = name
        self.min = 0 if min is None else min
        self.max = SimpleNamespace() if max is None else max


class TorchDerivedDim:
    """The form of `2*dim + 1`: its own bounds need sympy, so they are never queried."""

    def __init__(self, root, fn):
        self.__name__ = "derived"
        self.root = root
        self.fn = fn


class HintKind(enum.Enum):
    AUTO = 1
    STATIC = 2
    DYNAMIC = 3


def hint(kind, low=None, high=None):
    return SimpleNamespace(type=HintKind[kind], min=low, max=high)


N = TorchDim("n", 2, 5)
# Spec of axis 0 of x [batch, 3, H, W], the axis, its bounds.
OBJECTS = [
    (4, "4", "4..4"),
    (np.int64(4), "4", "4..4"),
    ("n", "n", "1.."),
    ("2..5", None, "2..5"),
    ("n=2..5", "n", "2..5"),
    ((2, 5), None, "2..5"),
    ([2, 5], None, "2..5"),
    (N, "n", "2..5"),
    (TorchDim("n"), "n", "1.."),
    (TorchDim("n", max=sys.maxsize - 1), "n", "1.."),
    (TorchDim("7", 7, 7), "7", "7..7"),
    (TorchDerivedDim(N, lambda x: x * 2 + 1), "2*n + 1", "5..11"),
    (2 * NamedDim("n", 2, 5) + 1, "2*n + 1", "5..11"),
    (NamedDim("n", 2, 5) - 1, "n - 1", "1..4"),
    (NamedDim("n", 1, 10, multiple_of=4), "n", "4..8"),
    (hint("AUTO"), "batch", "1.."),
    (HintKind.AUTO, "batch", "1.."),
    (hint("DYNAMIC", 2, 5), "batch", "2..5"),
    ("Dim.DYNAMIC", "batch", "1.."),
    ("AUTO", "batch", "1.."),
    ({"name": "n", "maxSize": 5}, "n", "1..5"),
    ({"name": "n", "min": 3, "max": 8, "multiple_of": 4}, "n", "4..8"),
    (SimpleNamespace(min_length=2, max_length=5), None, "2..5"),
    (SimpleNamespace(min_length=1, max_length=-1), None, "1.."),
    (SimpleNamespace(lower_bound=2, upper_bound=-1, default=4), None, "2.."),
    (None, None, "1.."),
    ("?", None, "1.."),
    (-1, None, "1.."),
]


@pytest.mark.parametrize(("value", "text", "bounds"), OBJECTS)
def test_an_axis_as_an_object(value, text, bounds):
    result = infer_shapes(IMAGE, inputs={"x": {0: value}})
    axis = result.tensors["y"].shape[0]
    assert text is None or str(axis) == text
    assert str(result.interval(axis)) == bounds
    if text is None:
        assert axis.is_anonymous
    full = infer_shapes(IMAGE, inputs={"x": [value, 3, "H", "W"]})
    assert str(full.interval(full.tensors["y"].shape[0])) == bounds


def test_a_static_axis_needs_a_number():
    assert shape(inputs={"x": {1: hint("STATIC")}}) == "[batch, 3, H, W]"
    assert infer_shapes(IMAGE, inputs={"x": {1: hint("DYNAMIC")}}).tensors["y"].shape[1] != 3
    with pytest.raises(ShapeInferenceError, match="specify the number"):
        shape(inputs={"x": {0: hint("STATIC")}})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": {"x": {0: True}}}, "True is not a size"),
        ({"inputs": {"x": {0: 1.5}}}, "is not a size"),
        ({"inputs": {"x": {0: int}}}, "is not a size"),
        ({"inputs": {"x": {0: -3}}}, "at least 0"),
        ({"inputs": {"x": {0: (1, 2, 3)}}}, "two bounds"),
        ({"inputs": {"x": {4: 3}}}, "no axis 4"),
        ({"inputs": {"x": {"k": {0: 3}}}}, "not nested"),
        ({"inputs": {"x": 5}}, "is not a shape"),
        ({"inputs": {"x": "z:[1,3,4,4]"}}, "as that of z"),
        ({"inputs": {"x": {0: {"nome": "n"}}}}, "has no 'nome'"),
        ({"inputs": {"x": {0: {"max": 3}}}}, "needs a name"),
        ({"inputs": {"x": {0: NamedDim("n") * 2 - 9}, "y": [1]}}, "no input is named 'y'"),
        ({"inputs": [4, 3, 8, 8]}, "in the order of the inputs"),
        ({"inputs": "z:1x3x4x4"}, "no input is named 'z'"),
        ({"dims": {"H": NamedDim("W", 1, 8)}}, "not a range of H"),
        ({"dims": {"H": (1, 2, 3)}}, "two bounds"),
        ({"dims": [4]}, "has no name"),
    ],
)
def test_objects_that_are_no_size(options, message):
    with pytest.raises(ShapeInferenceError, match=message):
        infer_shapes(IMAGE, **options)


@pytest.mark.parametrize("text", ["_", "b^2", "'n'", "n..5"])
def test_a_text_that_is_no_axis(text):
    with pytest.raises(SpecError):
        infer_shapes(IMAGE, inputs={"x": {0: text}})


@pytest.mark.parametrize("bad", [{"min": -1}, {"min": 5, "max": 4}, {"multiple_of": 0}, {"max": 1.5}, {"min": True}])
def test_a_named_dim_that_cannot_be(bad):
    with pytest.raises(ShapeInferenceError):
        NamedDim("n", **bad)


# -- several inputs

ROWS = "[k + 2, 4]"


@pytest.mark.parametrize(
    "inputs",
    [
        {"a": ["k", 4], "b": [2, 4]},
        {"a": {0: "k"}, "b": {0: 2}},
        {"a": "k,4", "b": "2x4"},
        "a:[k,4] b:[2,4]",
        "a[k,4],b[2,4]",
        "a:[k,4];b:[2,4]",
        [{0: "k"}, {0: 2}],
        (["k", 4], [2, 4]),
        {"a": ["k", 4], "b": SimpleNamespace(as_list=lambda: [2, 4])},
    ],
)
def test_shapes_of_several_inputs(inputs):
    assert shape(PAIR, inputs=inputs) == ROWS


def test_none_leaves_an_input_as_declared():
    assert shape(PAIR, inputs={"a": None, "b": {0: 2}}) == "[n + 2, 4]"


@pytest.mark.parametrize("inputs", ["2,4", "a:2,4 3,4", [[2, 4], [2, 4], [2, 4]]])
def test_shapes_that_go_to_no_input(inputs):
    with pytest.raises((ShapeInferenceError, SpecError)):
        shape(PAIR, inputs=inputs)


def test_assumptions_hold_for_the_shapes_of_an_update():
    weight = PartialTensor("float32", Shape((8, 4)), None)
    for k in (8, "K"):  # nodes imply nothing, or that K is 8
        model = graph([("MatMul", ["x", "w"], ["y"], {})], {"x": ("B", k)}, {"w": weight})
        result = infer_shapes(model).update({"x": {0: NamedDim("B", 1, 64, multiple_of=32)}})
        again = result.update({"x": {1: 8}})
        for updated in (result, again):
            rows, columns = updated.tensors["y"].shape
            assert (str(updated.interval(rows)), columns) == ("32..64", 4)
