"""Shapes of inputs as objects of shapeinf, numpy and other tools; none is silently misread."""

import enum
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from shapeinf import Dim, ShapeInferenceError, infer_shapes
from shapeinf.errors import DimSyntaxError, SpecError
from shapeinf.expr import parse_dim
from tests.inputs.graphs import IMAGE, PAIR, shape


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
    (2 * Dim("n", 2, 5) + 1, "2*n + 1", "5..11"),
    (Dim("n", 2, 5) - 1, "n - 1", "1..4"),
    (Dim("n", 1, 10, multiple_of=4), "n", "4..8"),
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
        ({"inputs": {"x": {0: Dim("n") * 2 - 9}, "y": [1]}}, "no input is named 'y'"),
        ({"inputs": [4, 3, 8, 8]}, "in the order of the inputs"),
        ({"inputs": "z:1x3x4x4"}, "no input is named 'z'"),
        ({"dims": {"H": Dim("W", 1, 8)}}, "not a range of H"),
        ({"dims": {"H": (1, 2, 3)}}, "two bounds"),
        ({"dims": [4]}, "has no name"),
    ],
)
def test_objects_that_are_no_size(options, message):
    with pytest.raises(ShapeInferenceError, match=message):
        infer_shapes(IMAGE, **options)


@pytest.mark.parametrize("text", ["b^2", "'n'", "n..5"])
def test_a_text_that_is_no_axis(text):
    with pytest.raises(SpecError):
        infer_shapes(IMAGE, inputs={"x": {0: text}})


@pytest.mark.parametrize("bad", [{"min": -1}, {"min": 5, "max": 4}, {"multiple_of": 0}, {"max": 1.5}, {"min": True}])
def test_a_named_dim_that_cannot_be(bad):
    with pytest.raises(ShapeInferenceError):
        Dim("n", **bad)


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


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("_, 3, _, 8", "[batch, 3, H, 8]"),
        ("2, ...", "[2, 3, H, W]"),
        ("x:[_, ...]", "[batch, 3, H, W]"),
        (["_", None, ...], "[batch, x.shape[1], H, W]"),
        ([2, 3, 4, 5, "..."], "[2, 3, 4, 5]"),
        ({2: "_", 3: 8}, "[batch, 3, H, 8]"),
    ],
)
def test_declared_axes_stay(spec, expected):
    """As in jax's `symbolic_shape`, with the declared shape as `like`."""
    assert shape(IMAGE, inputs={"x": spec}) == expected


@pytest.mark.parametrize("spec", ["_, 3", "1, 2, 3, 4, 5, ...", [..., 3], {0: ...}, {0: "..."}])
def test_axes_that_are_not_declared_do_not_stay(spec):
    with pytest.raises(ShapeInferenceError, match=r"'_' is the declared|'\.\.\.' needs|is for the last axes"):
        infer_shapes(IMAGE, inputs={"x": spec})


def test_an_update_keeps_axes_of_the_shape_before_it():
    result = infer_shapes(IMAGE, inputs={"x": [2, 3, 4, 5]})
    assert str(result.update(inputs={"x": "_, 3, 7, ..."}).tensors["y"].shape) == "[2, 3, 7, 5]"


# -- expressions of other tools


def of_library(library, kind, text, **fields):
    """An object of a class of another library with this text."""
    return type(kind, (SimpleNamespace,), {"__module__": library, "__str__": lambda _: text})(**fields)


def sym_int(text, number=None):
    return of_library("torch", "SymInt", text, node=SimpleNamespace(maybe_as_int=lambda: number))


EXPRESSIONS = [
    (sym_int("2*((s0 - 1)//2) + 2"), "2*((s0 + 1)//2)"),
    (sym_int("4", 4), "4"),
    (of_library("jax._src.export.shape_poly", "_DimExpr", "b^2 + floordiv(b, 2)"), "b*b + b//2"),
    (of_library("jax._src.export.shape_poly", "_DimExpr", "- floordiv(- b, 4)"), "(b + 3)//4"),
    (of_library("onnx_ir._core", "SymbolicDim", "", value="n + 1"), "n + 1"),
    (of_library("sympy.core.add", "Add", "floor(n/2 - 1/2) + 1", free_symbols={"n"}), "(n + 1)//2"),
]


@pytest.mark.parametrize(("value", "text"), EXPRESSIONS)
def test_an_expression_of_another_library(value, text):
    assert str(infer_shapes(IMAGE, inputs={"x": {0: value}}).tensors["y"].shape[0]) == text


def test_a_size_without_an_expression():
    unknown = of_library("onnx_ir._core", "SymbolicDim", "", value=None)
    assert infer_shapes(IMAGE, inputs={"x": {0: unknown}}).tensors["y"].shape[0].is_anonymous


@pytest.mark.parametrize("text", ["u0 | 1", "Piecewise((h, h > 2), (0, True))", "n/2", "n**n", "(" * 99])
def test_an_expression_that_is_no_size_is_an_error(text):
    with pytest.raises(DimSyntaxError):
        infer_shapes(IMAGE, inputs={"x": {0: sym_int(text)}})


def test_the_dims_of_jax():
    export = pytest.importorskip("jax.export")
    jax = pytest.importorskip("jax")
    b, h = export.symbolic_shape("b, h")
    dims = [b * b * h, 2 * b - b // 2, -(-h // 4), jax.core.max_dim(b, h), (b % 3) ** 2]
    texts = ["b*b*h", "2*b - b//2", "(h + 3)//4", "max(b, h)", "(b % 3)*(b % 3)"]
    for dim, text in zip(dims, texts, strict=True):
        read = infer_shapes(IMAGE, inputs={"x": {0: dim}}).tensors["y"].shape[0]
        scope = read.scope
        assert read is parse_dim(text, scope), text
    assert str(infer_shapes(IMAGE, inputs={"x": export.symbolic_shape("b, 3, h, 8*h")}).tensors["y"].shape[0]) == "b"


def test_the_sizes_of_torch():
    torch = pytest.importorskip("torch")

    class Half(torch.nn.Module):
        def forward(self, x):
            return x[::2]

    program = torch.export.export(Half(), (torch.zeros(8, 3),), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    sizes = [node.meta["val"].shape[0] for node in program.graph.nodes if node.op != "output"]
    guards = len(sizes[-1].node.shape_env.guards)
    read = infer_shapes(IMAGE, inputs={"x": {0: sizes[-1]}}).tensors["y"].shape[0]
    assert read is (read.scope.symbol(str(sizes[0])) + 1) // 2
    assert len(sizes[-1].node.shape_env.guards) == guards


def test_the_expressions_of_sympy_and_onnx_ir():
    sympy = pytest.importorskip("sympy")
    ir = pytest.importorskip("onnx_ir")
    n = sympy.Symbol("n", integer=True, positive=True)
    for value, text in (((n + 1) // 2, "(n + 1)//2"), (sympy.Integer(4), "4"), (ir.SymbolicDim("n"), "n")):
        assert str(infer_shapes(IMAGE, inputs={"x": {0: value}}).tensors["y"].shape[0]) == text
