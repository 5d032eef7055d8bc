"""Functions of the model, and operators that the standard defines in terms of others."""

from __future__ import annotations

import onnxruntime
import pytest

from shapeinf import ModelError, ShapeError, infer_shapes
from shapeinf.ops import Dialect, OpRegistry, default_registry
from tests.engine.runtime import agree, check, inferred, ones, parsed, run, shapes

FUNCTIONS = """
<domain: "my", opset_import: ["" : 19, "my" : 1]>
"""


def with_functions(graph, *functions):
    return graph + "".join(FUNCTIONS + function for function in functions)


def test_a_function_is_inferred_for_each_call():
    """The same function doubles the rows of [N, 8] and the length of a vector."""
    text = with_functions(
        "g (float[N, 8] x, float[M] v) => (float[] y, float[] z) { y = my.Twice(x) z = my.Twice(v) }",
        "Twice (p) => (q) { q = Concat<axis = 0>(p, p) }",
    )
    result = check(text, {"x": ones(2, 8), "v": ones(5)})
    assert shapes(result, "y", "z") == ["float32[2*N, 8]", "float32[2*M]"]


def test_attributes_of_a_function_and_their_defaults():
    text = with_functions(
        "g (float[N, 8] x) => (float[] y, float[] z) { y = my.Join(x) z = my.Join<axis = 1>(x) }",
        "Join <axis: int = 0> (p) => (q) { q = Concat<axis: int = @axis>(p, p) }",
    )
    result = check(text, {"x": ones(2, 8)})
    assert shapes(result, "y", "z") == ["float32[2*N, 8]", "float32[N, 16]"]


def test_an_omitted_attribute_is_absent():
    """Transpose without `perm` reverses the axes."""
    text = with_functions(
        "g (float[A, B, C] x) => (float[] y, float[] z) { y = my.Turn(x) z = my.Turn<perm = [1, 0, 2]>(x) }",
        "Turn <perm> (p) => (q) { q = Transpose<perm: ints = @perm>(p) }",
    )
    result = check(text, {"x": ones(2, 3, 4)})
    assert shapes(result, "y", "z") == ["float32[C, B, A]", "float32[B, A, C]"]


def test_an_attribute_reaches_a_function_inside_a_function():
    text = with_functions(
        "g (float[N, 8] x) => (float[] y) { y = my.Outer<axis = 1>(x) }",
        "Outer <axis> (p) => (q) { r = my.Join<axis: int = @axis>(p) q = Relu(r) }",
        "Join <axis: int = 0> (p) => (q) { q = Concat<axis: int = @axis>(p, p) }",
    )
    assert shapes(check(text, {"x": ones(2, 8)}), "y") == ["float32[N, 16]"]


def test_an_attribute_reaches_a_body_inside_a_function():
    text = with_functions(
        "g (bool c, float[N, 8] x) => (float[] y) { y = my.Maybe<axis = 1>(c, x) }",
        """Maybe <axis: int = 0> (c, p) => (q) {
          q = If (c) <then_branch = t () => (r) { r = Concat<axis: int = @axis>(p, p) },
                      else_branch = e () => (s) { t = Relu(p) s = Concat<axis: int = @axis>(t, t) }>
        }""",
    )
    assert shapes(inferred(text), "y") == ["float32[N, 16]"]


def test_values_go_into_functions_and_come_out():
    """The function computes a shape from a shape."""
    text = with_functions(
        """g (float[N, 4, 2] x) => (float[] y) {
          s = Shape(x)
          t = my.Flat(s)
          y = Reshape(x, t)
        }""",
        """Flat (s) => (t) {
          zero = Constant<value = int64[1] {0}>()
          one = Constant<value = int64[1] {1}>()
          three = Constant<value = int64[1] {3}>()
          first = Slice(s, zero, one)
          rest = Slice(s, one, three)
          product = ReduceProd<keepdims = 1>(rest)
          t = Concat<axis = 0>(first, product)
        }""",
    )
    assert shapes(check(text, {"x": ones(3, 4, 2)}), "y") == ["float32[N, 8]"]


def test_a_call_may_leave_out_inputs_and_outputs():
    text = with_functions(
        "g (float[N, 8] x) => (float[] y) { y = my.Two(x) }",
        "Two (p, bias) => (q, r) { q = Relu(p) r = Shape(p) }",
    )
    assert shapes(inferred(text), "y") == ["float32[N, 8]"]


def test_a_call_with_too_many_inputs_is_an_error():
    text = with_functions(
        "g (float[N, 8] x) => (float[] y) { y = my.One(x, x) }",
        "One (p) => (q) { q = Relu(p) }",
    )
    (error,) = inferred(text).diagnostics
    assert (error.code, error.node) == ("S103", "y")


@pytest.mark.parametrize(
    "functions",
    [
        ("F (p) => (q) { q = my.F(p) }",),
        ("F (p) => (q) { q = my.G(p) }", "G (p) => (q) { q = my.F(p) }"),
        (
            """F (p) => (q) {
              c = Constant<value = bool {1}>()
              q = If (c) <then_branch = t () => (r) { r = my.F(p) }, else_branch = e () => (s) { s = Relu(p) }>
            }""",
        ),
    ],
    ids=["direct", "through another", "in a branch"],
)
def test_a_function_that_calls_itself_is_an_error(functions):
    with pytest.raises(ModelError, match="calls itself"):
        inferred(with_functions("g (float[N] x) => (float[] y) { y = my.F(x) }", *functions))


def test_a_function_that_is_never_called_may_call_itself():
    text = with_functions("g (float[N] x) => (float[] y) { y = Relu(x) }", "F (p) => (q) { q = my.F(p) }")
    assert shapes(inferred(text), "y") == ["float32[N]"]


@pytest.mark.skipif(
    onnxruntime.__version__.startswith("1.23."), reason="onnxruntime 1.23 runs the first overload for all of them"
)
def test_overloads_are_functions_of_their_own():
    model = parsed(
        with_functions(
            "g (float[N, 8] x) => (float[] y, float[] z) { y = my.F(x) z = my.F(x) }",
            "F (p) => (q) { q = Concat<axis = 0>(p, p) }",
            "F (p) => (q) { q = Concat<axis = 1>(p, p) }",
        )
    )
    model.graph.node[1].overload = model.functions[1].overload = "columns"
    result = infer_shapes(model)
    assert shapes(result, "y", "z") == ["float32[2*N, 8]", "float32[N, 16]"]
    for name, real in run(model, {"x": ones(2, 8)}).items():
        agree(result, name, real, {"N": 2})


def test_a_function_has_opsets_of_its_own():
    """Squeeze takes its axes as an attribute before opset 13, as an input since."""
    text = """g (float[1, N, 1] x) => (float[] y) { y = my.F(x) }
    <domain: "my", opset_import: ["" : 11]>
    F (p) => (q) { q = Squeeze<axes = [0]>(p) }"""
    assert shapes(inferred(text), "y") == ["float32[N, 1]"]


def test_an_operator_of_the_standard_wins_over_a_function_of_its_name():
    text = """g (float[N, 8] x) => (float[] y) { y = Relu(x) }
    <domain: "", opset_import: ["" : 19]>
    Relu (p) => (q) { q = Shape(p) }"""
    assert shapes(inferred(text), "y") == ["float32[N, 8]"]


def test_constraints_of_a_function_hold_for_its_caller():
    text = with_functions(
        "g (float[N, K] x, float[3, 4] w) => (float[] y, float[] r) { y = my.F(x, w) r = Relu(x) }",
        "F (p, w) => (q) { q = MatMul(p, w) }",
    )
    result = check(text, {"x": ones(2, 3), "w": ones(3, 4)})
    assert shapes(result, "x", "y", "r") == ["float32[N, 3]", "float32[N, 4]", "float32[N, 3]"]


def test_an_error_in_a_function_names_the_call_and_the_node():
    text = with_functions(
        "g (float[N, 5] x, float[3, 4] w) => (float[] y) { y = my.F(x, w) }",
        "F (p, w) => (q) { q = MatMul(p, w) }",
    )
    (error,) = inferred(text).diagnostics
    assert (error.severity, error.node, error.op) == ("error", "y/q", "MatMul (version 19)")
    with pytest.raises(ShapeError) as caught:
        inferred(text, mode="strict")
    assert caught.value.node == "y/q"


def test_functions_nest_only_so_deep():
    """A chain of functions is no recursion, but hostile when it is long."""
    functions = [f"F{i} (p) => (q) {{ q = my.F{i + 1}(p) }}" for i in range(100)]
    text = with_functions(
        "g (float[N] x) => (float[] y) { y = my.F0(x) }", *functions, "F100 (p) => (q) { q = Relu(p) }"
    )
    with pytest.raises(ModelError, match="deeper than"):
        inferred(text)


WITHOUT_RULES = {
    "Celu": "Celu<alpha = 2.0>(x)",
    "Clip": "Clip(x)",
    "HardSwish": "HardSwish(x)",
    "MeanVarianceNormalization": "MeanVarianceNormalization<axes = [0, 2]>(x)",
    "ReduceSumSquare": "ReduceSumSquare<keepdims = 0>(x)",
    "ReduceLogSumExp": "ReduceLogSumExp<keepdims = 1>(x)",
    "Softmax": "Softmax<axis = 1>(x)",
    "Range": "Range(a, b, s)",
    "LayerNormalization": "LayerNormalization(x, w)",
}


class Expanding(Dialect):
    """The ONNX dialect without the rules of some operators, so that their definitions are expanded."""

    def __init__(self, *without):
        super().__init__("onnx")
        self.standard = default_registry().dialect("onnx")
        self.without = without

    def lookup(self, domain, op, version):
        return (
            self.standard.schemas(domain, op, version)
            if op in self.without
            else self.standard.lookup(domain, op, version)
        )


@pytest.mark.parametrize("op", sorted(WITHOUT_RULES))
def test_the_standards_definition_of_an_operator_is_expanded(op):
    text = f"""g (float[2, 3, 4] x, float[4] w) => (float[] y) {{
      a = Constant<value = float {{1.0}}>()
      b = Constant<value = float {{7.0}}>()
      s = Constant<value = float {{2.0}}>()
      y = {WITHOUT_RULES[op]}
    }}"""
    registry = OpRegistry(Expanding(op))
    result = check(text, {"x": ones(2, 3, 4), "w": ones(4)}, registry=registry)
    assert result.tensors["y"].shape.rank == infer_shapes(parsed(text)).tensors["y"].shape.rank
    assert not [d for d in result.diagnostics if d.code == "S201"]
