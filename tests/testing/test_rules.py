"""Cases and properties of rules: they hold for the operators of ONNX, and find rules that are wrong."""

from __future__ import annotations

import pytest

from shapeinf import Shape, ShapeInferenceError
from shapeinf.expr import maximum
from shapeinf.lattice import TensorType
from shapeinf.ops import Dialect, InferenceContext, OpRegistry, Value
from shapeinf.testing import RuleCase, check_properties, property_violations, verify_case

CASES = [
    RuleCase("Concat", ["[n, 3]", "[m, 3]"], ["float32[n + m, 3]"], {"axis": 0}),
    RuleCase("MatMul", ["[n, k]", "[?, 8]"], ["[n, 8]"], inferred={1: "[k, 8]"}),
    RuleCase("MatMul", ["[n, 4]", "[5, 8]"], error="must be equal"),
    RuleCase("Reshape", ["[n, 6]", [2, -1]], ["[2, 3*n]"]),
    RuleCase("Reshape", ["[n, 6]", "int64[3]"], ["[?, ?, ?]"]),
    RuleCase("Conv", ["[n, 3, h, w]", "[8, 3, 3, 3]"], ["[n, 8, h - 2, w - 2]"], {"kernel_shape": [3, 3]}),
    RuleCase("Conv", ["[n, 4, h, w]", "[8, 3, 3, 3]"], error="channels"),
    RuleCase("NonZero", ["[n, 4]"], ["int64[2, ?]"]),
    RuleCase("Add", ["[a, 1, c]", "[b, c]"], ["[a, b, c]"]),
    RuleCase("Shape", ["float16[n, ?, 3]"], ["int64[3]"]),
    RuleCase("Split", ["[6, n]"], ["[2, n]", "[2, n]", "[2, n]"], {"num_outputs": 3}),
    RuleCase(
        "LSTM", ["[s, b, 8]", "[1, 64, 8]", "[1, 64, 16]"], ["[s, 1, b, 16]", "", "[1, b, 16]"], {"hidden_size": 16}
    ),
    RuleCase("Clip", ["[n]", None, "[]"], ["[n]"]),
    RuleCase("Gather", ["[v, 8]", "int64[b, s]"], ["[b, s, 8]"], sizes={"v": 5, "b": 2, "s": 3}),
    RuleCase("ReduceSum", ["[a, b, c]", [1]], ["[a, c]"], {"keepdims": 0}),
    RuleCase("Tile", ["[a, b]", [1, 2]], ["[a, 2*b]"]),
    RuleCase("Expand", ["[a, 1]", [1, 4]], ["[a, 4]"]),
    RuleCase("Resize", ["[1, 3, h, w]", None, [1.0, 1.0, 2.0, 2.0]], ["[1, 3, 2*h, 2*w]"]),
    RuleCase("Slice", ["[n, 8]", [1], [5], [1]], ["[n, 4]"]),
    RuleCase("Transpose", ["?"], ["?"]),
]
RUN = [case for case in CASES if "?" not in case.inputs and not str(case).startswith("Reshape([n, 6], int64")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cases_pass(case: RuleCase) -> None:
    case.check()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_properties_hold_for_rules_of_onnx(case: RuleCase) -> None:
    check_properties(case)


@pytest.mark.parametrize("case", RUN, ids=str)
def test_a_runtime_agrees(case: RuleCase) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime runs the cases")
    verify_case(case)


WRONG = Dialect("wrong")
REGISTRY = OpRegistry(WRONG)


@WRONG("Constant4")
def first_size_as_seen(c: InferenceContext, x: Shape) -> Shape:
    """Decides by whether a size is a number: not monotonic."""
    return Shape((x[0] if isinstance(x[0], int) else 4,))


@WRONG("ByName")
def ordered_by_name(c: InferenceContext, x: Shape) -> Shape:
    """Depends on the names of its dims."""
    return Shape(sorted(x, key=str))


@WRONG("Ranked")
def needs_a_rank(c: InferenceContext, x: Shape) -> Shape:
    """Fails where the rank is unknown."""
    return Shape((x.dims[0],))  # type: ignore[index]


@WRONG("Contents")
def guesses_contents(c: InferenceContext, x: Value) -> Shape:
    """Takes 7 for contents that are not known."""
    return Shape((x.elements[0] if x.elements else 7,))  # type: ignore[arg-type]


@WRONG("Right")
def right(c: InferenceContext, x: Shape, y: Shape) -> TensorType:
    """The larger first size."""
    return TensorType(c.dtype(0), Shape((maximum(x[0], y[0]),)))


def wrong(op: str, *inputs: object, outputs: tuple[str, ...] = ("?",)) -> RuleCase:
    return RuleCase(op, inputs, outputs, dialect="wrong", registry=REGISTRY)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("case", "line"),
    [
        (wrong("Constant4", "[n, 3]"), "evaluation: y0 is"),
        (wrong("ByName", "[n, m, 3]"), "names: y0 is"),
        (wrong("Ranked", "[n, 3]"), "less known, the rank of input 0: "),
        (wrong("Contents", [3]), "less known, the contents of input 0: y0 is"),
    ],
    ids=lambda value: value.op if isinstance(value, RuleCase) else "",
)
def test_properties_find_rules_that_are_wrong(case: RuleCase, line: str) -> None:
    assert any(text.startswith(line) for text in property_violations(case)), property_violations(case)
    with pytest.raises(AssertionError, match=line.split(":")[0]):
        check_properties(case)


def test_properties_hold_for_a_right_rule() -> None:
    case = wrong("Right", "[n, 3]", "[m]", outputs=("float32[max(n, m)]",))
    case.check()
    assert property_violations(case) == []


def test_a_case_that_does_not_hold_says_what_is_inferred() -> None:
    with pytest.raises(AssertionError, match=r"y0 is float32\[n \+ m, 3\], expected \[n, 3\]"):
        RuleCase("Concat", ["[n, 3]", "[m, 3]"], ["[n, 3]"], {"axis": 0}).check()
    with pytest.raises(AssertionError, match=r"(?s)expected an error with: ranks.*y0 is float32\[n, 3\]"):
        RuleCase("Relu", ["[n, 3]"], error="ranks").check()
    with pytest.raises(AssertionError, match="must be equal"):
        RuleCase("MatMul", ["[n, 4]", "[5, 8]"], ["[n, 8]"]).check()
    with pytest.raises(AssertionError, match=r"x1 is float32\[k, 8\], expected \[n, 8\]"):
        RuleCase("MatMul", ["[n, k]", "[?, 8]"], ["[n, 8]"], inferred={1: "[n, 8]"}).check()


@pytest.mark.parametrize("text", ["[n, 1..8]", "float32[n"])
def test_types_of_inputs_are_sizes_and_names(text: str) -> None:
    with pytest.raises(ShapeInferenceError):
        RuleCase("Relu", [text], ["?"]).check()


def test_a_case_expects_something() -> None:
    with pytest.raises(ShapeInferenceError, match="a case has the types of outputs, or the error"):
        RuleCase("Relu", ["[n]"])


def test_a_runtime_finds_a_case_that_is_wrong() -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime runs the cases")
    with pytest.raises(AssertionError, match="the runtime runs it, but an error is expected"):
        verify_case(RuleCase("Relu", ["[n]"], error="anything"))
    with pytest.raises(AssertionError, match="the runtime refuses it"):
        verify_case(RuleCase("Gather", ["[3]", "int64[n]"], ["[n]"], sizes={"n": 1}), arrays={"x1": [99]})
    with pytest.raises(ShapeInferenceError, match="only cases of ONNX"):
        verify_case(wrong("Right", "[n]", "[m]"))


def test_what_follows_the_attributes_has_a_name() -> None:
    with pytest.raises(TypeError, match="positional"):
        RuleCase("Relu", ["float32[2]"], ["float32[2]"], {}, "")  # type: ignore[misc]
