"""Shapes of inputs as objects of shapeinf, numpy and other tools; none is silently misread."""

import enum
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from shapeinf import Dim, ShapeInferenceError, infer_shapes
from shapeinf.errors import SpecError
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


@pytest.mark.parametrize("text", ["_", "b^2", "'n'", "n..5"])
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
