"""ONNX out: a saved file is the same model with every shape in it, in all graphs and functions, weights untouched."""

from __future__ import annotations

import os
import resource

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from shapeinf import ModelError, bind, infer_shapes
from shapeinf.formats.onnx.assembly import CHAINS
from shapeinf.formats.onnx.source import read
from shapeinf.formats.protobuf.wire import encode_varint
from tests.formats.graphs import record
from tests.formats.onnx_models import SHAPE, everything, external, field, model_of, tensor_value
from tests.vectors import PROJECT, ROOT

EXAMPLES = sorted((PROJECT / "examples").glob("*.onnx"))
CORPUS = sorted((ROOT / "models" / "dev").glob("*.onnx"))[::8]


def saved(model, path, **options):
    """The model that `save` writes with equal texts for equal dims."""
    infer_shapes(model, **options).save(path, annotate="all")
    return onnx.load_model(path, load_external_data=False)


def written_types(values):
    """Declared types as text: element type, then dims."""
    return {v.name: text(v.type) for v in values}


def text(proto):
    which = proto.WhichOneof("value")
    if which == "tensor_type":
        tensor = proto.tensor_type
        dims = [d.dim_param or (d.dim_value if d.HasField("dim_value") else "?") for d in tensor.shape.dim]
        name = TensorProto.DataType.Name(tensor.elem_type).lower()
        return f"{name}{dims if tensor.HasField('shape') else '?'}"
    if which == "map_type":
        return f"map({proto.map_type.key_type}, {text(proto.map_type.value_type)})"
    return f"{which.removesuffix('_type')}({text(getattr(proto, which).elem_type)})"


def without_types(model):
    """A model without everything that annotation may change."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    properties = [entry for entry in copy.metadata_props if (entry.key, entry.value) != CHAINS]
    del copy.metadata_props[:]
    copy.metadata_props.extend(properties)
    graphs = [copy.graph]
    while graphs:
        graph = graphs.pop()
        del graph.value_info[:]
        for output in graph.output:
            output.ClearField("type")
        for node in graph.node:
            graphs += [g for a in node.attribute for g in (a.g, *a.graphs) if g.ByteSize()]
    for function in copy.functions:
        del function.value_info[:]
    return copy.SerializeToString(deterministic=True)


# -- the complete file


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_saved_example_is_valid_and_complete(path, tmp_path):
    result = infer_shapes(path)
    model = saved(path, tmp_path / "m.onnx")
    onnx.checker.check_model(str(tmp_path / "m.onnx"), full_check=True)
    produced = {o for node in model.graph.node for o in node.output}
    declared = written_types((*model.graph.value_info, *model.graph.output))
    assert produced == set(declared)
    for name, text in declared.items():
        assert text.endswith(str([d if isinstance(d, int) else str(d) for d in result.tensors[name].shape.dims]))


@pytest.mark.skipif(not CORPUS, reason="set SHAPEINF_CONFORMANCE to the folder that holds models/")
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_only_types_change(path, tmp_path):
    before = onnx.load_model(path, load_external_data=False)
    result = infer_shapes(before)
    result.save(tmp_path / "m.onnx")
    after = onnx.load_model(tmp_path / "m.onnx", load_external_data=False)
    assert without_types(before) == without_types(after)
    again = infer_shapes(after)
    assert not [d for d in again.diagnostics if d.code == "S120"]
    for name, info in result.tensors.items():
        if not any(d.is_anonymous for d in info.shape.symbols()) and info.shape.dims is not None:
            assert str(again.tensors[name]) == str(info), name


def test_everything_that_is_no_type_stays(tmp_path):
    model = everything()
    assert without_types(saved(model, tmp_path / "m.onnx")) == without_types(model)


def test_weights_keep_their_bytes(tmp_path):
    weight = np.random.default_rng(0).standard_normal((64, 32)).astype("float32")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    initializer = numpy_helper.from_array(weight, "w")
    model = model_of(nodes, [tensor_value("x", ["n", 64])], [tensor_value("y", None)], [initializer])
    model.graph.initializer.append(helper.make_tensor("typed", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0]))
    after = saved(model, tmp_path / "m.onnx")
    assert list(after.graph.initializer) == list(model.graph.initializer)
    assert initializer.SerializeToString() in (tmp_path / "m.onnx").read_bytes()
    assert written_types(after.graph.value_info) == {"h": "float['n', 32]"}
    assert written_types(after.graph.output) == {"y": "float['n', 32]"}


def test_unknown_fields_are_preserved(tmp_path):
    """A field of a later version of the format stays."""
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], [tensor_value("x", [2])], [tensor_value("y", None)])
    later = field(1000, b"from the future")
    infer_shapes(model.SerializeToString() + later).save(tmp_path / "m.onnx")
    assert later in (tmp_path / "m.onnx").read_bytes()


def test_saving_over_its_own_source(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(EXAMPLES[0].read_bytes())
    infer_shapes(path).save(path)
    first = path.read_bytes()
    assert len(first) > len(EXAMPLES[0].read_bytes())
    infer_shapes(path).save(path)
    assert onnx.load(path) == onnx.ModelProto.FromString(first)
    assert os.listdir(tmp_path) == ["m.onnx"]


def test_all_sources_are_saved_alike(tmp_path):
    path = EXAMPLES[0]
    for index, model in enumerate((path, path.read_bytes(), onnx.load(path), read(path))):
        infer_shapes(model).save(tmp_path / f"{index}.onnx")
    first, *others = (onnx.load(tmp_path / f"{index}.onnx") for index in range(4))
    assert all(other == first for other in others)


def test_a_failed_save_leaves_nothing_behind(tmp_path):
    result = infer_shapes(EXAMPLES[0])
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "no-such-folder" / "m.onnx", tmp_path / "folder"):
        with pytest.raises(ModelError, match="cannot be written"):
            result.save(path)
    assert os.listdir(tmp_path) == ["folder"]


def test_a_graph_without_a_file_cannot_be_saved(tmp_path):
    graph = read(EXAMPLES[0])
    graph.source = None
    with pytest.raises(ModelError, match="not read from an ONNX model"):
        infer_shapes(graph).save(tmp_path / "m.onnx")


# -- declarations


def test_old_declarations_give_way_and_those_of_unknown_values_stay(tmp_path):
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Custom", ["a"], ["b"], domain="my"),
        helper.make_node("NonZero", ["b"], ["y"]),
    ]
    values = [tensor_value("a", [3, 3]), tensor_value("b", ["n", 5]), tensor_value("elsewhere", [1])]
    model = model_of(nodes, [tensor_value("x", ["n", 4])], [tensor_value("y", None)], value_info=values)
    model.opset_import.append(helper.make_opsetid("my", 1))
    after = saved(model, tmp_path / "trust.onnx")
    assert written_types(after.graph.value_info) == {
        "a": "float['n', 4]",
        "b": "float['n', 5]",
        "elsewhere": "float[1]",
    }
    assert written_types(after.graph.output) == {"y": "int64[2, 'y_count']"}
    after = saved(model, tmp_path / "ignore.onnx", declared="ignore")
    assert written_types(after.graph.value_info)["b"] == "float['n', 5]"


def test_inputs_stay_as_they_are(tmp_path):
    """Requirements on an input are in the result; the file's interface is unchanged."""
    weight = numpy_helper.from_array(np.zeros((8, 4), "float32"), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    model = model_of(nodes, [tensor_value("x", ["n", "k"])], [tensor_value("y", None)], [weight])
    after = saved(model, tmp_path / "m.onnx")
    assert written_types(after.graph.input) == {"x": "float['n', 'k']"}
    assert written_types(after.graph.output) == {"y": "float['n', 4]"}


def test_expressions_are_written_so_that_they_read_back(tmp_path):
    nodes = [
        helper.make_node("Concat", ["x", "x"], ["c"], axis=0),
        helper.make_node("MaxPool", ["i"], ["p"], kernel_shape=[3, 3], strides=[2, 2]),
    ]
    inputs = [tensor_value("x", ["batch _size", 3]), tensor_value("i", [1, 3, "H", "W"])]
    model = model_of(nodes, inputs, [tensor_value("c", None), tensor_value("p", None)])
    before, after = infer_shapes(model), saved(model, tmp_path / "m.onnx")
    again = infer_shapes(after)
    assert {n: str(i) for n, i in again.tensors.items()} == {n: str(i) for n, i in before.tensors.items()}
    assert [d for d in again.diagnostics if d.code != "S110"] == []


def test_sequences_optionals_and_maps_are_written(tmp_path):
    nodes = [
        helper.make_node("SequenceConstruct", ["x", "x"], ["s"]),
        helper.make_node("Optional", ["s"], ["o"]),
        helper.make_node("OptionalGetElement", ["o"], ["e"]),
        helper.make_node("ZipMap", ["x"], ["m"], domain="ai.onnx.ml", classlabels_int64s=[1, 2, 3]),
        helper.make_node("Identity", ["e"], ["y"]),
    ]
    model = model_of(nodes, [tensor_value("x", ["n", 3])], [helper.make_empty_tensor_value_info("y")])
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    after = saved(model, tmp_path / "m.onnx")
    assert written_types(after.graph.value_info) == {
        "s": "sequence(float['n', 3])",
        "o": "optional(sequence(float['n', 3]))",
        "e": "sequence(float['n', 3])",
        "m": "sequence(map(7, float[]))",
    }
    assert written_types(after.graph.output) == {"y": "sequence(float['n', 3])"}


# -- graphs inside graphs


def branch(name, op):
    nodes = [helper.make_node(op, ["h"], [f"{name}_a"]), helper.make_node("Transpose", [f"{name}_a"], [f"{name}_y"])]
    return helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info(f"{name}_y")])


def test_bodies_of_branches_and_loops_are_annotated(tmp_path):
    loop_nodes = [
        helper.make_node("If", ["go"], ["b"], then_branch=branch("then", "Relu"), else_branch=branch("else", "Tanh")),
        helper.make_node("Add", ["h", "h"], ["h2"]),
        helper.make_node("Identity", ["h2"], ["h3"]),
        helper.make_node("Identity", ["go"], ["go2"]),
    ]
    loop_inputs = [tensor_value("i", [], 7), tensor_value("go", [], 9), tensor_value("h", None)]
    loop_outputs = [tensor_value("go2", [], 9), tensor_value("h3", None), tensor_value("b", None)]
    loop = helper.make_graph(loop_nodes, "loop", loop_inputs, loop_outputs)
    nodes = [helper.make_node("Loop", ["n", "", "x"], ["y", "z"], body=loop)]
    outputs = [tensor_value("y", None), tensor_value("z", None)]
    model = model_of(nodes, [tensor_value("n", [], 7), tensor_value("x", ["a", 5])], outputs)
    after = saved(model, tmp_path / "m.onnx")
    onnx.checker.check_model(after)
    body = after.graph.node[0].attribute[0].g
    assert written_types(body.value_info)["h2"] == "float['a', 5]"
    assert written_types(body.output) == {"go2": "bool[]", "h3": "float['a', 5]", "b": "float[5, 'a']"}
    then = next(a.g for a in body.node[0].attribute if a.name == "then_branch")
    assert written_types(then.value_info) == {"then_a": "float['a', 5]"}
    assert written_types(then.output) == {"then_y": "float[5, 'a']"}


def function(name="F", nodes=(), inputs=("p",), outputs=("q",), domain="my", **options):
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(domain, 1)]
    return helper.make_function(domain, name, list(inputs), list(outputs), list(nodes), opsets, **options)


def calls(*shapes):
    """A model that calls a function for inputs of these shapes."""
    body = [helper.make_node("Relu", ["p"], ["r"]), helper.make_node("Shape", ["r"], ["q"])]
    nodes = [helper.make_node("F", [f"x{i}"], [f"y{i}"], domain="my") for i in range(len(shapes))]
    inputs = [tensor_value(f"x{i}", shape) for i, shape in enumerate(shapes)]
    model = model_of(nodes, inputs, [tensor_value(f"y{i}", None, 7) for i in range(len(shapes))])
    model.opset_import.append(helper.make_opsetid("my", 1))
    model.functions.append(function(nodes=body))
    return model


def test_functions_have_the_types_common_to_all_calls(tmp_path):
    known_rows = saved(calls(["n", 4]), tmp_path / "1.onnx").functions[0]
    assert written_types(known_rows.value_info) == {"p": "float['n', 4]", "r": "float['n', 4]", "q": "int64[2]"}
    two = saved(calls(["n", 4], ["n", 4]), tmp_path / "2.onnx").functions[0]
    assert written_types(two.value_info) == written_types(known_rows.value_info)
    three = saved(calls(["n", 4], ["m", 4], ["n", 4]), tmp_path / "3.onnx").functions[0]
    assert written_types(three.value_info) == {"q": "int64[2]"}


def test_a_call_in_a_branch_counts_as_the_others(tmp_path):
    model = calls(["n", 4])
    outputs = [tensor_value("y0", None, 7)]
    then = helper.make_graph([model.graph.node.pop()], "then", [], outputs)
    other = helper.make_graph([helper.make_node("Shape", ["x0"], ["y0"])], "else", [], outputs)
    model.graph.node.append(helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other))
    model.graph.input.append(tensor_value("c", [], TensorProto.BOOL))
    model.graph.output[0].name = "y"
    after = saved(model, tmp_path / "m.onnx")
    assert written_types(after.functions[0].value_info)["r"] == "float['n', 4]"


def test_functions_that_call_functions_are_annotated(tmp_path):
    model = calls(["n", 4])
    model.functions.append(function("G", [helper.make_node("F", ["p"], ["q"], domain="my")]))
    model.graph.node[0].op_type = "G"
    after = saved(model, tmp_path / "m.onnx")
    assert {f.name: written_types(f.value_info) for f in after.functions} == {
        "F": {"p": "float['n', 4]", "r": "float['n', 4]", "q": "int64[2]"},
        "G": {"p": "float['n', 4]", "q": "int64[2]"},
    }


# -- data in other files


@pytest.mark.parametrize(
    ("declared", "written"),
    [
        (["out", "width"], ["out", "width"]),  # names of their own stay
        (["unk__7", "width"], ["2*n", "width"]),  # onnx invents such names anew in each run
        (["n", "width"], ["2*n", "width"]),  # the name of an input's size, which this one is not
        (["n_out", 4], ["n_out", "m"]),
        (["same", "same"], ["2*n", "m"]),  # one name, two sizes
        (["m + n", None], ["2*n", "m"]),
        ([None, "width"], ["2*n", "width"]),
        (None, ["2*n", "m"]),
    ],
)
def test_declared_names_of_outputs_stay(tmp_path, declared, written):
    nodes = [helper.make_node("Concat", ["x", "x"], ["y"], axis=0)]
    model = model_of(nodes, [tensor_value("x", ["n", "m"])], [tensor_value("y", declared)])
    path = tmp_path / "m.onnx"
    for source in (model, path):  # the second time its own output
        infer_shapes(source, declared="ignore").save(path)
        assert written_types(onnx.load(path).graph.output) == {"y": f"float{written}"}


@pytest.mark.parametrize("declared", [None, [], ["rows"]])
def test_outputs_of_unknown_rank_are_written(tmp_path, declared):
    nodes = [helper.make_node("Custom", ["x"], ["a"], domain="my"), helper.make_node("Relu", ["a"], ["y"])]
    model = model_of(nodes, [tensor_value("x", ["n"])], [tensor_value("y", declared)])
    model.opset_import.append(helper.make_opsetid("my", 1))
    infer_shapes(model, declared="ignore").save(tmp_path / "m.onnx")
    assert [o.name for o in onnx.load(tmp_path / "m.onnx").graph.output] == ["y"]


def test_a_name_of_an_output_gives_way_to_a_size_and_to_a_new_name_of_an_input(tmp_path):
    nodes = [helper.make_node("Concat", ["x", "x"], ["y"], axis=0)]
    model = model_of(nodes, [tensor_value("x", ["n", "m"])], [tensor_value("y", ["rows", "m"])])
    bind(model, {"n": 3}).save(tmp_path / "bound.onnx")
    assert written_types(onnx.load(tmp_path / "bound.onnx").graph.output) == {"y": "float[6, 'm']"}
    bind(model, {"m": "width"}).save(tmp_path / "renamed.onnx")
    assert written_types(onnx.load(tmp_path / "renamed.onnx").graph.output) == {"y": "float['rows', 'width']"}


def test_external_data_stay_external(tmp_path):
    path = external(tmp_path / "m.onnx", SHAPE, "data.bin")
    (tmp_path / "data.bin").write_bytes(SHAPE.tobytes())
    before = onnx.load_model(path, load_external_data=False)
    after = saved(path, tmp_path / "copy.onnx")
    assert list(after.graph.initializer) == list(before.graph.initializer)
    assert written_types(after.graph.output) == {"y": "float['batch', 2, 4]"}
    assert sorted(os.listdir(tmp_path)) == ["copy.onnx", "data.bin", "m.onnx"]


def test_external_data_stay_with_their_model(tmp_path):
    path = external(tmp_path / "m.onnx", SHAPE, "data.bin")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(ModelError, match="outside the folder of the new model"):
        infer_shapes(path).save(tmp_path / "elsewhere" / "m.onnx")
    assert os.listdir(tmp_path / "elsewhere") == []


# -- files larger than a protobuf may be

GIGABYTE = 1 << 30


def large_file(path, size):
    """A model with a weight of `size` bytes of float32 in a sparse file; its number of columns."""
    columns = size // (4 * 1024)
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1024, columns]).SerializeToString()
    head = weight + encode_varint(9 << 3 | 2) + encode_varint(size)
    nodes = field(1, helper.make_node("MatMul", ["x", "w"], ["h"]).SerializeToString())
    nodes += field(1, helper.make_node("Relu", ["h"], ["y"]).SerializeToString())
    tail = field(11, tensor_value("x", ["n", 1024]).SerializeToString())
    tail += field(12, helper.make_empty_tensor_value_info("y").SerializeToString())
    tensor = encode_varint(5 << 3 | 2) + encode_varint(len(head) + size) + head
    graph = encode_varint(7 << 3 | 2) + encode_varint(len(nodes) + len(tensor) + size + len(tail))
    with open(path, "wb") as file:
        file.write(field(8, helper.make_opsetid("", 21).SerializeToString()) + graph + nodes + tensor)
        file.seek(size, os.SEEK_CUR)
        file.write(tail)
    return columns


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.onnx"
    columns = large_file(path, 3 * GIGABYTE)
    if path.stat().st_blocks * 512 > GIGABYTE // 4:
        path.unlink()
        pytest.skip("this file system has no files with holes")
    return path, columns


def test_a_file_larger_than_a_protobuf_is_read_without_its_payload(large):
    path, columns = large
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = infer_shapes(path)
    assert str(result.tensors["y"]) == f"float32[n, {columns}]"
    assert str(result.tensors["w"]) == f"float32[1024, {columns}]"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes


def test_a_file_larger_than_a_protobuf_has_no_text_form(large, tmp_path):
    path, _ = large
    with pytest.raises(ModelError, match="too large for a text form"):
        infer_shapes(path).save(tmp_path / "m.textproto")


@pytest.mark.slow
def test_a_file_larger_than_a_protobuf_is_saved(large, tmp_path):
    path, columns = large
    copy = tmp_path / "copy.onnx"
    infer_shapes(path).save(copy)
    assert 0 < copy.stat().st_size - path.stat().st_size < 200
    again = read(copy)
    assert again.declared["h"].dims == ("n", columns)
    assert again.declared["y"].dims == ("n", columns)
    first, second = record(read(path)), record(again)
    assert {**first, "declared": {}} == {**second, "declared": {}}


# -- text


@pytest.mark.parametrize("extension", ["onnxtxt", "json", "textproto"])
def test_text_output(tmp_path, extension):
    path = tmp_path / f"m.{extension}"
    result = infer_shapes(EXAMPLES[0])
    result.save(path)
    path.read_text(encoding="utf-8")
    again = infer_shapes(path)
    assert {n: str(i) for n, i in again.tensors.items()} == {n: str(i) for n, i in result.tensors.items()}
    assert set(again.graph.declared) >= {o for node in again.graph.nodes for o in node.outputs}


def test_text_in_protobuf_out(tmp_path):
    onnx.save_model(onnx.load(EXAMPLES[0]), tmp_path / "m.textproto", format="textproto")
    after = saved(tmp_path / "m.textproto", tmp_path / "m.onnx")
    assert after == saved(EXAMPLES[0], tmp_path / "direct.onnx")
