"""Dims of inner values carry the number of their in-place chain, which the readers drop."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, parser

from shapeinf import infer_shapes
from shapeinf.edit.bind import bind
from shapeinf.edit.rebatch import rebatch
from shapeinf.errors import ShapeInferenceError, UnknownNameError
from shapeinf.graph import subgraphs

HEADER = '<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>'


def parsed(text):
    return parser.parse_model(f"{HEADER} {text}")


def dims_of(values):
    return {v.name: [d.dim_param or d.dim_value or None for d in v.type.tensor_type.shape.dim] for v in values}


def inner_dims(model, path, **options):
    """The dims of the inner values of the saved model."""
    infer_shapes(model).save(path, **options)
    return dims_of(onnx.load(path).graph.value_info)


# The body of a graph with an input x: float[n, h], and the numbers of the chains of its inner values; None: no number.
CASES = {
    "each value is of a chain of its own": ("a = Exp(x)  b = Add(a, x)  y = Exp(b)", {"a": 1, "b": 2}),
    "in place": ("a = Exp(x)  b = Relu(a)  c = Tanh(b)  y = Exp(c)", {"a": 1, "b": 1, "c": 1}),
    "an input is not overwritten": ("a = Relu(x)  y = Exp(a)", {"a": 1}),
    "an output is not overwritten": ("y = Exp(x)  a = Relu(y)  z = Exp(a)", {"a": 1}),
    "the second operand is not overwritten": (
        "a = Exp(x)  b = Exp(x)  c = com.microsoft.FusedMatMul(a, b)  y = Exp(c)",
        {"a": 1, "b": 2},
    ),
    "one value continues a chain": ("a = Exp(x)  b = Relu(a)  c = Tanh(a)  y = Add(b, c)", {"a": 1, "b": 1, "c": 2}),
    "another shape is another chain": ("a = Exp(x)  b = Shape(a)  c = Cast<to = 1>(b)  y = Exp(c)", {"a": 1}),
}


@pytest.mark.parametrize(("body", "numbers"), CASES.values(), ids=list(CASES))
def test_numbers_of_chains(body, numbers, tmp_path):
    outputs = ", ".join(f"float[p, q] {name}" for name in ("y", "z") if f"{name} = " in body)
    dims = inner_dims(parsed(f"g (float[n, h] x) => ({outputs}) {{ {body} }}"), tmp_path / "m.onnx")
    written = {name: texts[0].partition("@") for name, texts in dims.items() if isinstance(texts[0], str)}
    assert {name: int(number) for name, (_, _, number) in written.items() if name in numbers} == numbers
    assert all(text == "n" for name, (text, _, _) in written.items() if name in numbers)


def test_the_first_symbolic_dim_carries_the_number(tmp_path):
    model = parsed("g (float[2, n, h] x) => (float[2, r, s] y) { a = Concat<axis = 1>(x, x)  y = Exp(a) }")
    assert inner_dims(model, tmp_path / "m.onnx") == {"a": [2, "2*n@1", "h"]}


def test_static_values_stay_numbers(tmp_path):
    path = tmp_path / "m.onnx"
    assert inner_dims(parsed("g (float[2, 3] x) => (float[2, 3] y) { a = Exp(x)  y = Exp(a) }"), path) == {"a": [2, 3]}
    assert not onnx.load(path).metadata_props


IF = parsed(
    """g (float[n, h] x, bool c) => (float[p, q] y) {
      a = Exp(x)
      y = If (c) <
        then_branch = t () => (float[p, q] u) { b = Exp(a)  d = Relu(b)  u = Neg(d) },
        else_branch = e () => (float[p, q] v) { f = Relu(a)  v = Neg(f) }
      >
    }"""
)


def test_bodies_have_numbers_of_their_own(tmp_path):
    path = tmp_path / "m.onnx"
    outer = inner_dims(IF, path)
    bodies = [dims_of(attribute.g.value_info) for attribute in onnx.load(path).graph.node[1].attribute]
    texts = {name: dims[0] for values in (outer, *bodies) for name, dims in values.items()}
    assert len({texts["a"], texts["b"], texts["f"]}) == 3, "an outer value is not overwritten in a body"
    assert texts["b"] == texts["d"]


@pytest.mark.parametrize("as_object", [False, True], ids=["file", "object"])
def test_both_readers_drop_the_numbers(as_object, tmp_path):
    path = tmp_path / "m.onnx"
    infer_shapes(IF).save(path)
    graph = infer_shapes(onnx.load(path) if as_object else path).graph
    assert graph.declared["a"].dims == ("n", "h")
    for _, body in subgraphs(graph.nodes[1].kind):
        assert {declared.dims for name, declared in body.declared.items() if name in "bdf"} == {("n", "h")}


def test_numbers_of_files_without_the_property_are_names(tmp_path):
    model = parsed("g (float[n] x) => (float[m] y) { a = my.Unknown(x)  y = Exp(a) }".replace("my.Unknown", "NonZero"))
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("a", TensorProto.INT64, [1, "count@3"]))
    assert infer_shapes(model).graph.declared["a"].dims == (1, "count@3")


def test_saving_again_keeps_one_property(tmp_path):
    path = tmp_path / "m.onnx"
    infer_shapes(IF).save(path)
    first = path.read_bytes()
    infer_shapes(path).save(path)
    assert path.read_bytes() == first
    infer_shapes(path).save(path, annotate="all")
    assert dims_of(onnx.load(path).graph.value_info) == {"a": ["n", "h"]}
    assert not onnx.load(path).metadata_props


def test_io_leaves_inner_values_as_they_were(tmp_path):
    path = tmp_path / "m.onnx"
    infer_shapes(IF).save(path, annotate="io")
    saved = onnx.load(path)
    assert not saved.graph.value_info and not saved.metadata_props
    assert dims_of(saved.graph.output) == {"y": ["p", "q"]}
    infer_shapes(IF).save(path)
    numbered = onnx.load(path)
    infer_shapes(path).save(path, annotate="io")
    assert onnx.load(path) == numbered


def test_io_keeps_no_inner_type_that_an_edit_changes(tmp_path):
    model = parsed("g (float[1, 2] x) => (float[1, 2] y) { a = Exp(x)  y = Exp(a) }")
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("a", TensorProto.FLOAT, [1, 2]))
    rebatch(model).save(tmp_path / "m.onnx", annotate="io")
    saved = onnx.load(tmp_path / "m.onnx")
    assert dims_of((*saved.graph.input, *saved.graph.output)) == {"x": ["batch", 2], "y": ["batch", 2]}
    assert not saved.graph.value_info


def test_bound_models_have_numbers(tmp_path):
    bind(IF, {"h": 5}).save(tmp_path / "m.onnx")
    assert dims_of(onnx.load(tmp_path / "m.onnx").graph.value_info) == {"a": ["n@1", 5]}


def test_a_wrong_way_is_one_error(tmp_path):
    result = infer_shapes(IF)
    with pytest.raises(UnknownNameError, match="no way to annotate is named 'chain'"):
        result.save(tmp_path / "m.onnx", annotate="chain")  # type: ignore[arg-type]
    nnef = infer_shapes("version 1.0; graph g(x) -> (y) { x = external(shape = [1, 2]); y = relu(x); }")
    with pytest.raises(ShapeInferenceError, match="annotate has no effect"):
        nnef.save(tmp_path / "m.nnef", annotate="io")
