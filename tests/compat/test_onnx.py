"""`shapeinf.compat.onnx`: what the functions of `onnx.shape_inference` promise, with the shapes of `infer_shapes`."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnx.shape_inference
import pytest
from onnx import TensorProto, helper, numpy_helper

from shapeinf.compat import onnx as compat
from shapeinf.formats.onnx import in_memory

HEADER = '<ir_version: 10, opset_import: ["" : 21, "my" : 1]>'
SELECTED = "g (float[n, 4] x) => (float[?] y) { i = NonZero(x)  j = Cast<to = 1>(i)  k = Abs(j)  y = ReduceSum(x) }"
BROKEN = "g (float[2, 3] x, float[4, 5] y) => (float[?, ?] z) { z = MatMul(x, y) }"
MIXED = "g (float[2, 3] x, int64[3, 5] y) => (float[?, ?] z) { z = MatMul(x, y) }"


def parse(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEADER + text)


def dims(model: onnx.ModelProto) -> dict[str, list[int | str | None]]:
    values = (*model.graph.value_info, *model.graph.output)
    return {v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in values}


@pytest.mark.parametrize("name", [name for name in compat.__all__ if name != "InferenceError"])
def test_signatures_are_those_of_onnx(name: str) -> None:
    ours, theirs = (inspect.signature(getattr(module, name)) for module in (compat, onnx.shape_inference))
    assert [(p.name, p.default, p.kind) for p in ours.parameters.values()] == [
        (p.name, p.default, p.kind) for p in theirs.parameters.values()
    ]


def test_all_functions_of_onnx_exist() -> None:
    public = {n for n, f in vars(onnx.shape_inference).items() if n.startswith("infer") and inspect.isfunction(f)}
    assert public <= set(compat.__all__)
    assert compat.InferenceError is onnx.shape_inference.InferenceError


@pytest.mark.parametrize("form", [lambda m: m, lambda m: m.SerializeToString()], ids=["model", "bytes"])
def test_a_size_that_depends_on_data_has_one_name(form: Any) -> None:
    model = parse(SELECTED)
    before = model.SerializeToString()
    inferred = compat.infer_shapes(form(model))
    assert isinstance(inferred, onnx.ModelProto)
    assert dims(inferred) == {"i": [2, "i_count"], "j": [2, "i_count"], "k": [2, "i_count"], "y": [1, 1]}
    assert model.SerializeToString() == before


@pytest.mark.parametrize("small", [0, 1 << 30], ids=["outline", "whole"])
def test_weights_and_nodes_are_kept(monkeypatch: pytest.MonkeyPatch, small: int) -> None:
    monkeypatch.setattr(in_memory, "_SMALL_MODEL", small)
    weight = np.arange(120_000, dtype=np.float32).reshape(400, 300)
    body = onnx.parser.parse_graph("b () => (float[?, ?] p) { p = Relu(h) }")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(weight[:300, :300], "c")),
        helper.make_node("If", ["go"], ["q"], then_branch=body, else_branch=body),
        helper.make_node("MatMul", ["q", "c"], ["y"]),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 400]),
        helper.make_tensor_value_info("go", TensorProto.BOOL, []),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(weight, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    inferred = compat.infer_shapes(model)
    assert dims(inferred) == {"h": ["n", 300], "c": [300, 300], "q": ["n", 300], "y": ["n", 300]}
    assert [d.dim_param or d.dim_value for d in _branch(inferred).output[0].type.tensor_type.shape.dim] == ["n", 300]
    for part in (inferred.graph, *(a.g for a in inferred.graph.node[2].attribute)):
        del part.value_info[:]
        for output in part.output:
            output.type.tensor_type.ClearField("shape")
    for attribute in model.graph.node[2].attribute:
        attribute.g.output[0].type.tensor_type.ClearField("shape")
    assert inferred == model


def _branch(model: onnx.ModelProto) -> onnx.GraphProto:
    return model.graph.node[2].attribute[0].g


def test_values_in_functions_are_annotated() -> None:
    model = parse(
        "g (float[n, 4] x) => (float[?, ?] y) { y = my.twice(x) }"
        '<domain: "my", opset_import: ["" : 21]> twice (a) => (c) { b = Relu(a)  c = Concat<axis = 0>(b, b) }'
    )
    (function,) = compat.infer_shapes(model).functions
    texts = {v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in function.value_info}
    assert texts["b"] == ["n", 4]


@pytest.mark.parametrize("model", [onnx.ModelProto(), b""], ids=["model", "bytes"])
def test_a_model_without_a_graph_is_returned(model: Any) -> None:
    assert compat.infer_shapes(model) == onnx.ModelProto()


@pytest.mark.parametrize(
    "model", [None, 3, "model.onnx", Path("model.onnx"), bytearray(b""), memoryview(b""), [], object]
)
def test_other_arguments_are_type_errors_as_in_onnx(model: Any) -> None:
    for module in (compat, onnx.shape_inference):
        with pytest.raises(TypeError, match="only accepts ModelProto or bytes"):
            module.infer_shapes(model)


@pytest.mark.parametrize("data", [b"garbage", b"\x08", b"\xff" * 40])
def test_bytes_that_are_no_model_are_value_errors_as_in_onnx(data: bytes) -> None:
    for module in (compat, onnx.shape_inference):
        with pytest.raises(ValueError, match="Unable to parse proto from the given bytes"):
            module.infer_shapes(data)


@pytest.mark.parametrize(
    ("text", "options", "fails"),
    [
        (BROKEN, {}, False),
        (BROKEN, {"check_type": True}, False),
        (BROKEN, {"strict_mode": True}, True),
        (MIXED, {"data_prop": True}, False),
        (MIXED, {"check_type": True}, True),
        ("g (float[2] x) => (float[3] y) { y = Relu(x) }", {}, False),
        ("g (float[2] x) => (float[3] y) { y = Relu(x) }", {"strict_mode": True}, True),
        ("g (float[2] x) => (float[?] y) { y = my.unknown(x) }", {"strict_mode": True, "check_type": True}, False),
        ("g (float[2] x) => (float[?] y) { y = none.unknown(x) }", {}, True),
    ],
)
def test_errors_by_mode_as_in_onnx(text: str, options: dict[str, bool], fails: bool) -> None:
    for module in (compat, onnx.shape_inference):
        if fails:
            with pytest.raises(onnx.shape_inference.InferenceError):
                module.infer_shapes(parse(text), **options)
        else:
            assert isinstance(module.infer_shapes(parse(text), **options), onnx.ModelProto)


# -- files


def test_a_file_is_annotated_in_place_or_elsewhere(tmp_path: Path) -> None:
    path, other = tmp_path / "m.onnx", tmp_path / "o.onnx"
    onnx.save(parse(SELECTED), path)
    before = path.read_bytes()
    compat.infer_shapes_path(str(path), other)
    assert path.read_bytes() == before
    compat.infer_shapes_path(path)
    assert path.read_bytes() == other.read_bytes()
    assert onnx.load(path) == compat.infer_shapes(parse(SELECTED))


@pytest.mark.parametrize("place", ["beside", "elsewhere"])
def test_references_to_weights_stay(tmp_path: Path, place: str) -> None:
    model = parse("g (float[n, 40] x) => (float[?, ?] y) { y = MatMul(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.ones((40, 50), "float32"), "w"))
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    target = tmp_path / ("o.onnx" if place == "beside" else "elsewhere/o.onnx")
    target.parent.mkdir(exist_ok=True)
    compat.infer_shapes_path(tmp_path / "m.onnx", target)
    written = onnx.load(target, load_external_data=False)
    assert dims(written) == {"y": ["n", 50]}
    assert written.graph.initializer == onnx.load(tmp_path / "m.onnx", load_external_data=False).graph.initializer
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["m.onnx", "o.onnx", "w.bin"]


@pytest.mark.parametrize("path", [None, 3, b"m.onnx".__add__, onnx.ModelProto(), object()])
def test_what_is_no_path_is_a_type_error_as_in_onnx(path: Any) -> None:
    for module in (compat, onnx.shape_inference):
        with pytest.raises(TypeError, match="only accepts"):
            module.infer_shapes_path(path)
        with pytest.raises(TypeError):
            module.infer_shapes_path("m.onnx", path if path is not None else 3)


@pytest.mark.parametrize("name", ["none.onnx", "folder", "empty.onnx", "garbage.onnx", "model.nnef", "nul\0.onnx"])
def test_files_that_are_no_model(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.onnx").write_bytes(b"")
    (tmp_path / "garbage.onnx").write_bytes(b"\x08\x0a\x3a\xff\xff")
    (tmp_path / "model.nnef").write_text("version 1.0; graph g(x) -> (y) { x = external(shape = [1]); y = relu(x); }")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(onnx.checker.ValidationError):
        compat.infer_shapes_path(os.path.join(tmp_path, name))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("options", [{"strict_mode": True}, {"check_type": True}])
def test_an_error_leaves_the_target_as_it_was(tmp_path: Path, options: dict[str, bool]) -> None:
    onnx.save(parse(BROKEN if "strict_mode" in options else MIXED), tmp_path / "m.onnx")
    (tmp_path / "o.onnx").write_bytes(b"old")
    with pytest.raises(onnx.shape_inference.InferenceError):
        compat.infer_shapes_path(tmp_path / "m.onnx", tmp_path / "o.onnx", **options)
    assert (tmp_path / "o.onnx").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["m.onnx", "o.onnx"]


def test_a_folder_that_does_not_exist_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    onnx.save(parse(SELECTED), tmp_path / "m.onnx")
    with pytest.raises(onnx.checker.ValidationError):
        compat.infer_shapes_path(tmp_path / "m.onnx", tmp_path / "none" / "o.onnx")
    assert os.listdir(tmp_path) == ["m.onnx"]


# -- nodes and functions

FLOAT = TensorProto.FLOAT


def test_node_outputs_use_contents_and_types_of_outer_values() -> None:
    schema = onnx.defs.get_schema("Reshape", 21)
    node = helper.make_node("Reshape", ["x", "s"], ["y"])
    types = {
        "x": helper.make_tensor_type_proto(FLOAT, ["n", 6]),
        "s": helper.make_tensor_type_proto(TensorProto.INT64, [3]),
        "outer": helper.make_tensor_type_proto(FLOAT, [1]),
    }
    shape = numpy_helper.from_array(np.array([-1, 2, 3], "int64"), "other name")
    for module in (compat, onnx.shape_inference):
        inferred = module.infer_node_outputs(schema, node, types, {"s": shape})
        assert list(inferred) == ["y"]
    assert inferred["y"].tensor_type.shape.dim[1].dim_value == 2
    ours = compat.infer_node_outputs(schema, node, types, {"s": shape})["y"].tensor_type
    assert [d.dim_param or d.dim_value for d in ours.shape.dim] == ["n", 2, 3]


def test_unknowns_of_single_nodes_have_no_names() -> None:
    """Two calls would return equal names for different sizes."""
    node = helper.make_node("NonZero", ["x"], ["y"])
    types = {"x": helper.make_tensor_type_proto(FLOAT, [None, 4])}
    inferred = compat.infer_node_outputs(onnx.defs.get_schema("NonZero", 13), node, types)
    assert [d.WhichOneof("value") for d in inferred["y"].tensor_type.shape.dim] == ["dim_value", None]


def test_the_schema_decides_the_version_and_a_schema_of_your_own_the_rule() -> None:
    node = helper.make_node("Squeeze", ["x"], ["y"], axes=[0])
    types = {"x": helper.make_tensor_type_proto(FLOAT, [1, "n"])}
    old = onnx.defs.get_schema("Squeeze", 11)
    imports = [helper.make_opsetid("", 21)]
    inferred = compat.infer_node_outputs(old, node, types, opset_imports=imports)
    assert [d.dim_param for d in inferred["y"].tensor_type.shape.dim] == ["n"]
    own = onnx.defs.OpSchema("Own", "my", 1, inputs=[_parameter("a")], outputs=[_parameter("b")])
    assert compat.infer_node_outputs(own, helper.make_node("Own", ["x"], ["y"], domain="my"), types) == (
        onnx.shape_inference.infer_node_outputs(own, helper.make_node("Own", ["x"], ["y"], domain="my"), types)
    )


def _parameter(name: str) -> onnx.defs.OpSchema.FormalParameter:
    return onnx.defs.OpSchema.FormalParameter(name, "tensor(float)")


def test_errors_of_nodes_are_those_of_onnx() -> None:
    add = onnx.defs.get_schema("Add", 14)
    two, three, whole = (
        helper.make_tensor_type_proto(code, [size]) for code, size in ((FLOAT, 2), (FLOAT, 3), (TensorProto.INT32, 2))
    )
    node = helper.make_node("Add", ["a", "b"], ["c"])
    for module in (compat, onnx.shape_inference):
        with pytest.raises(KeyError):
            module.infer_node_outputs(add, node, {"a": two})
        with pytest.raises(onnx.shape_inference.InferenceError):
            module.infer_node_outputs(add, node, {"a": two, "b": three})
        with pytest.raises(onnx.checker.ValidationError):
            module.infer_node_outputs(add, node, {"a": two, "b": whole})
        with pytest.raises(onnx.checker.ValidationError):
            module.infer_node_outputs(add, helper.make_node("Add", ["a"], ["c"]), {"a": two})


def test_a_function_is_inferred_with_its_attributes() -> None:
    function = onnx.parser.parse_function(
        '<domain: "my", opset_import: ["" : 21]> f <k> (a, b) => (c) { c = Concat<axis: int = @k>(a, b) }'
    )
    types = [helper.make_tensor_type_proto(FLOAT, ["n", 4]), helper.make_tensor_type_proto(FLOAT, ["n", 5])]
    (inferred,) = compat.infer_function_output_types(function, types, [helper.make_attribute("k", 1)])
    assert [d.dim_param or d.dim_value for d in inferred.tensor_type.shape.dim] == ["n", 9]
    with pytest.raises(onnx.shape_inference.InferenceError):
        compat.infer_function_output_types(function, types, [helper.make_attribute("k", 7)])
