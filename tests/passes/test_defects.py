"""Defects of the passes, mended since: small models that passes broke, or of which they lost a part."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from shapeinf.errors import ModelError
from shapeinf.passes import clean

FLOAT = TensorProto.FLOAT
ONES = np.ones(3, np.float32)


def info(name: str, *dims: int | str, kind: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, list(dims))


def weights(**arrays: np.ndarray) -> list[onnx.TensorProto]:
    return [numpy_helper.from_array(array, name) for name, array in arrays.items()]


def make(nodes, inputs, outputs, initializers=(), *, opset=17, ir_version=8, **others) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("my", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version, **others)


def node(op: str, inputs: str, outputs: str, **attributes) -> onnx.NodeProto:
    """Inputs and outputs separated by blanks; `-` is an absent one."""
    names = [[("" if name == "-" else name) for name in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op, *names, **attributes)


def condition(then: list[onnx.NodeProto], inputs: str = "c", result: str = "y", **arrays: np.ndarray) -> onnx.NodeProto:
    """An If whose then-branch returns `t` of these nodes, and whose else-branch returns x."""
    branches = {
        "then_branch": helper.make_graph(then, "then", [], [info("t", 3)], weights(**arrays)),
        "else_branch": helper.make_graph([node("Neg", "x", "e")], "else", [], [info("e", 3)]),
    }
    return node("If", inputs, result, **branches)


def operators(model: onnx.ModelProto) -> list[str]:
    return [n.op_type for n in model.graph.node]


def run(model: onnx.ModelProto, **feeds: np.ndarray) -> list[np.ndarray]:
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, feeds)


def check_same_numbers(before: onnx.ModelProto, after: onnx.ModelProto, **feeds: np.ndarray) -> None:
    for a, b in zip(run(before, **feeds), run(after, **feeds), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def undone_reasons(cleaned) -> list[str]:
    return [run.reason for run in cleaned.report.passes if run.outcome == "undone"]


CONV = np.ones((3, 3, 1, 1), np.float32)
STATISTICS = {"s": ONES * 2, "b": ONES, "m": ONES * 0.5, "v": ONES}


# -- the caller's model stays as it is -----------------------------------------------------------------------------


def test_the_message_of_the_caller_stays() -> None:
    constant = node("Constant", "", "c", value=numpy_helper.from_array(ONES))
    model = make([constant, node("Add", "x c", "y")], [info("x", 3)], [info("y", 3)])
    before = model.SerializeToString()
    assert clean(model).report.changes
    assert model.SerializeToString() == before


def test_the_onnx_ir_model_of_the_caller_stays() -> None:
    import onnx_ir as ir

    constant = node("Constant", "", "c", value=numpy_helper.from_array(ONES))
    model = ir.from_proto(make([constant, node("Add", "x c", "y")], [info("x", 3)], [info("y", 3)]))
    before = ir.to_proto(model).SerializeToString()
    assert clean(model).report.changes
    assert ir.to_proto(model).SerializeToString() == before


# -- what onnx-ir does not keep ------------------------------------------------------------------------------------


def test_training_information_is_refused() -> None:
    model = make([node("Neg", "x", "y")], [info("x", 3)], [info("y", 3)])
    model.training_info.add().algorithm.name = "sgd"
    with pytest.raises(ModelError, match="training"):
        clean(model)


def _sparse(name: str) -> onnx.SparseTensorProto:
    values = numpy_helper.from_array(np.ones(1, np.float32), name)
    return helper.make_sparse_tensor(values, numpy_helper.from_array(np.zeros(1, np.int64), name + "_i"), [3])


def test_sparse_initializers_stay() -> None:
    nodes = [node("Add", "x w", "s"), node("Identity", "s", "i"), node("Mul", "i v", "y")]
    model = make(nodes, [info("x", 3)], [info("y", 3)])
    model.graph.sparse_initializer.extend([_sparse("w"), _sparse("v")])
    cleaned = clean(model, verify=True)
    assert cleaned.comparison is not None and cleaned.comparison.equal
    assert list(cleaned.to_proto().graph.sparse_initializer) == list(model.graph.sparse_initializer)
    assert cleaned.report.counts() == {"remove_identity": 1}


def test_sparse_initializers_in_bodies_stay() -> None:
    branch = condition([node("Add", "x w", "t")])
    then = next(a.g for a in branch.attribute if a.name == "then_branch")
    then.sparse_initializer.append(_sparse("w"))
    model = make([branch], [info("c", kind=TensorProto.BOOL), info("x", 3)], [info("y", 3)])
    (after,) = clean(model).to_proto().graph.node
    assert after == branch


def test_devices_of_nodes_are_refused() -> None:
    relu = node("Relu", "x", "y")
    relu.device_configurations.add(configuration_id="two")
    model = make([relu], [info("x", 3)], [info("y", 3)], ir_version=11)
    model.configuration.add(name="two", num_devices=2)
    with pytest.raises(ModelError, match="device"):
        clean(model)


def test_declarations_of_an_input_that_is_an_output() -> None:
    model = make([node("Neg", "x", "y")], [info("x", "n", 3)], [info("x", "n", "three"), info("y", "n", 3)])
    result = clean(model).to_proto()
    assert [v.SerializeToString() for v in result.graph.input] == [v.SerializeToString() for v in model.graph.input]
    assert [v.SerializeToString() for v in result.graph.output] == [v.SerializeToString() for v in model.graph.output]


def test_documentation_of_an_output_stays_when_its_producer_takes_its_name() -> None:
    output = info("y", 3)
    output.doc_string = "logits"
    output.metadata_props.add(key="k", value="v")
    model = make([node("Neg", "x", "t"), node("Identity", "t", "y")], [info("x", 3)], [output])
    result = clean(model).to_proto()
    assert operators(result) == ["Neg"]
    assert list(result.graph.output) == [output]


def test_bytes_of_a_text_stay() -> None:
    constant = node("Constant", "", "c", value_string=b"\xff\xfe")
    model = make(
        [constant, node("Identity", "c", "d"), node("Equal", "x d", "y")],
        [info("x", 1, kind=TensorProto.STRING)],
        [info("y", 1, kind=TensorProto.BOOL)],
        opset=19,
        ir_version=9,
    )
    try:
        result = clean(model).to_proto()
    except ModelError:
        return
    stored = [list(t.string_data) for t in result.graph.initializer]
    stored += [[a.s] for n in result.graph.node if n.op_type == "Constant" for a in n.attribute]
    assert stored == [[b"\xff\xfe"]]


# -- quantization annotations --------------------------------------------------------------------------------------


def annotate(graph: onnx.GraphProto, tensor: str, **parameters: str) -> None:
    annotation = graph.quantization_annotation.add(tensor_name=tensor)
    for key, value in parameters.items():
        annotation.quant_parameter_tensor_names.add(key=key, value=value)


def annotations(model: onnx.ModelProto) -> dict[str, dict[str, str]]:
    return {
        a.tensor_name: {p.key: p.value for p in a.quant_parameter_tensor_names}
        for a in model.graph.quantization_annotation
    }


def test_tensors_that_only_an_annotation_reads_stay() -> None:
    model = make([node("Neg", "x", "y")], [info("x", 3)], [info("y", 3)], weights(scale=np.float32(0.5)))
    annotate(model.graph, "x", SCALE_TENSOR="scale")
    result = clean(model).to_proto()
    assert [t.name for t in result.graph.initializer] == ["scale"]
    assert annotations(result) == {"x": {"SCALE_TENSOR": "scale"}}


@pytest.mark.parametrize("annotated", ["t", "w", "y"])
def test_annotated_tensors_keep_their_meaning(annotated: str) -> None:
    nodes = [node("Conv", "x w", "t"), node("BatchNormalization", "t s b m v", "u"), node("Identity", "u", "y")]
    scale = np.float32(0.5)
    model = make(nodes, [info("x", 1, 3, 4, 4)], [info("y", 1, 3, 4, 4)], weights(w=CONV, scale=scale, **STATISTICS))
    annotate(model.graph, annotated, SCALE_TENSOR="scale")
    result = clean(model).to_proto()
    assert annotations(result) == {annotated: {"SCALE_TENSOR": "scale"}}
    assert ("BatchNormalization" in operators(result) or operators(result).count("Conv") == 2) == (annotated != "y")


def test_equal_scales_of_annotations_are_not_merged() -> None:
    arrays = {"a": np.float32(0.5), "b": np.float32(0.5)}
    model = make([node("Mul", "x a", "t"), node("Mul", "t b", "y")], [info("x", 3)], [info("y", 3)], weights(**arrays))
    annotate(model.graph, "x", SCALE_TENSOR="b")
    result = clean(model, ["deduplicate"]).to_proto()
    assert {t.name for t in result.graph.initializer} >= {"b"}


# -- names and scopes ----------------------------------------------------------------------------------------------


def test_an_inner_name_does_not_capture_a_renamed_tensor() -> None:
    branch = condition([node("Neg", "x", "y"), node("Add", "y u", "t")], result="r")
    nodes = [node("Relu", "x", "u"), branch, node("Identity", "u", "y")]
    inputs = [info("c", kind=TensorProto.BOOL), info("x", 3)]
    model = make(nodes, inputs, [info("r", 3), info("y", 3)])
    cleaned = clean(model, ["remove_identity"])
    assert not cleaned.report.changes and not undone_reasons(cleaned)


def test_an_inner_name_does_not_capture_a_lifted_constant() -> None:
    constant = node("Constant", "", "k", value_floats=[1.0, 2.0, 3.0])
    other = node("Constant", "", "j", value_floats=[1.0, 2.0, 3.0])
    branch = condition([node("Neg", "x", "k"), node("Add", "k k", "t")], result="r")
    model = make(
        [branch, constant, other, node("Add", "r k", "s"), node("Add", "s j", "y")],
        [info("c", kind=TensorProto.BOOL), info("x", 3)],
        [info("y", 3)],
    )
    cleaned = clean(model, ["constant_to_initializer"])
    assert not undone_reasons(cleaned)
    assert [change.where for change in cleaned.report.changes] == ["Constant 'j'"]


def test_constants_of_bodies_before_ir_version_4() -> None:
    branch = condition([node("Constant", "", "k", value=numpy_helper.from_array(ONES)), node("Add", "x k", "t")])
    constant = node("Constant", "", "j", value=numpy_helper.from_array(ONES))
    model = make(
        [constant, node("Add", "x j", "z"), branch],
        [info("c", kind=TensorProto.BOOL), info("x", 3)],
        [info("y", 3), info("z", 3)],
        opset=8,
        ir_version=3,
    )
    cleaned = clean(model)
    assert not undone_reasons(cleaned)
    assert "Constant" not in operators(cleaned.to_proto())


def test_forms_in_bodies_before_ir_version_4() -> None:
    branch = condition([node("Clip", "x", "t", min=0.0)])
    model = make([branch], [info("c", kind=TensorProto.BOOL), info("x", 3)], [info("y", 3)], opset=8, ir_version=3)
    cleaned = clean(model)
    assert not undone_reasons(cleaned)
    assert cleaned.report.opset_after == 11
    check_same_numbers(model, cleaned.to_proto(), c=np.array(True), x=np.array([-1, 0, 1], np.float32))


def test_types_that_only_the_removed_node_declared_stay() -> None:
    model = make(
        [node("Mystery", "x", "t", domain="my"), node("Identity", "t", "u"), node("Relu", "u", "y")],
        [info("x", 3)],
        [helper.make_tensor_value_info("y", FLOAT, None)],
    )
    model.graph.value_info.append(info("u", "n", 3))
    cleaned = clean(model)
    assert not undone_reasons(cleaned)
    assert operators(cleaned.to_proto()) == ["Mystery", "Relu"]


# -- batch normalizations ------------------------------------------------------------------------------------------


def test_a_chain_of_batch_normalizations_is_rewritten_in_one_run() -> None:
    count = 20
    names = ["x", *(f"h{i}" for i in range(1, count)), "y"]
    nodes = [node("BatchNormalization", f"{a} s b m v", b) for a, b in pairwise(names)]
    model = make(nodes, [info("x", 1, 3, 4)], [info("y", 1, 3, 4)], weights(**STATISTICS))
    cleaned = clean(model)
    assert operators(cleaned.to_proto()) == ["Conv"] * count
    assert [n.output[0] for n in cleaned.to_proto().graph.node] == names[1:]


@pytest.mark.parametrize("first", ["Conv", "Relu"])
def test_absent_outputs_of_a_batch_normalization(first: str) -> None:
    nodes = [node(first, "x w" if first == "Conv" else "x", "t"), node("BatchNormalization", "t s b m v", "y - -")]
    model = make(nodes, [info("x", 1, 3, 4, 4)], [info("y", 1, 3, 4, 4)], weights(w=CONV, **STATISTICS))
    cleaned = clean(model)
    assert not undone_reasons(cleaned)
    assert operators(cleaned.to_proto()) == [first, "BatchNormalization"]


@pytest.mark.parametrize("attributes", [{"axis": 0, "broadcast": 1}])
def test_broadcasting_before_opset_7_is_another(attributes: dict[str, int]) -> None:
    nodes = [node("Gemm", "x w c", "t", broadcast=1), node("Add", "t k", "y", **attributes)]
    arrays = {"w": np.eye(3, dtype=np.float32), "c": ONES, "k": np.arange(3, dtype=np.float32)}
    model = make(
        nodes,
        [
            info("x", 3, 3),
        ],
        [info("y", 3, 3)],
        weights(**arrays),
        opset=6,
    )
    assert operators(clean(model).to_proto()) == ["Gemm", "Add"]


# -- dead nodes ----------------------------------------------------------------------------------------------------


def test_deeply_nested_dead_nodes_go_in_one_run() -> None:
    """Each level has a node that only a dead node of the level below reads."""
    depth = 20
    inner: list[onnx.NodeProto] = []
    result = node("Neg", "x", f"t{depth}")
    for level in reversed(range(depth)):
        dead = node("Neg", f"d{level}", f"unread{level}") if level else node("Neg", "x", "unread0")
        branch = helper.make_graph(
            [dead, *inner, result, node("Neg", "x", f"d{level + 1}x")], f"b{level}", [], [info(f"t{level + 1}", 3)]
        )
        other = helper.make_graph([node("Neg", "x", f"e{level}")], f"o{level}", [], [info(f"e{level}", 3)])
        inner = [node("Relu", f"d{level - 1}" if level > 1 else "x", f"d{level}")] if level else []
        result = node("If", "c", f"t{level}", then_branch=branch, else_branch=other)
    model = make([result], [info("c", kind=TensorProto.BOOL), info("x", 3)], [info("t0", 3)])
    cleaned = clean(model, ["remove_dead"])
    assert [run.outcome for run in cleaned.report.passes] == ["changed", "unchanged"]


def test_nodes_of_a_dead_body_are_not_counted() -> None:
    branch = condition([node("Neg", "x", "n"), node("Neg", "n", "t")], result="r")
    model = make([branch, node("Neg", "x", "y")], [info("c", kind=TensorProto.BOOL), info("x", 3)], [info("y", 3)])
    assert [change.where for change in clean(model).report.changes] == ["If 'r'"]


# -- functions -----------------------------------------------------------------------------------------------------


def function(nodes, inputs: str, outputs: str, opset: int | None = 17, attributes=(), name: str = "F"):
    imports = [helper.make_opsetid("my", 1)] + ([helper.make_opsetid("", opset)] if opset else [])
    return helper.make_function("my", name, inputs.split(), outputs.split(), nodes, imports, attributes)


def test_identities_and_dead_nodes_of_functions_go() -> None:
    body = [node("Identity", "a", "i"), node("Neg", "a", "unread"), node("Neg", "i", "n"), node("Identity", "n", "r")]
    model = make(
        [node("F", "x", "y", domain="my")], [info("x", 3)], [info("y", 3)], functions=[function(body, "a", "r")]
    )
    cleaned = clean(model)
    assert not undone_reasons(cleaned)
    assert [n.op_type for n in cleaned.to_proto().functions[0].node] == ["Neg"]
    check_same_numbers(model, cleaned.to_proto(), x=ONES)


def test_a_cast_that_only_one_call_needs_stays() -> None:
    body = [node("Cast", "a", "r", to=FLOAT)]
    model = make(
        [node("F", "x", "y", domain="my"), node("F", "z", "w", domain="my")],
        [info("x", 3), info("z", 3, kind=TensorProto.FLOAT16)],
        [info("y", 3), info("w", 3)],
        functions=[function(body, "a", "r")],
    )
    assert [n.op_type for n in clean(model).to_proto().functions[0].node] == ["Cast"]


def test_forms_of_functions_rise_with_the_model() -> None:
    body = [node("Clip", "a", "r", min=0.0)]
    other = function([node("G", "a", "r", domain="my")], "a", "r", None, name="H")
    inner = function([node("Neg", "a", "r")], "a", "r", 9, name="G")
    model = make(
        [node("F", "x", "t", domain="my"), node("H", "t", "y", domain="my")],
        [info("x", 3)],
        [info("y", 3)],
        opset=9,
        functions=[function(body, "a", "r", 9), inner, other],
    )
    cleaned = clean(model)
    assert not undone_reasons(cleaned)
    result = cleaned.to_proto()
    versions = [{o.domain: o.version for o in f.opset_import}.get("") for f in result.functions]
    assert versions == [11, 11, None]
    check_same_numbers(model, result, x=np.array([-1, 0, 1], np.float32))


# -- damaged nodes -------------------------------------------------------------------------------------------------

DAMAGED = [
    [node("Cast", "", "y", to=FLOAT)],
    [node("Cast", "x", "y", to="float")],
    [node("Cast", "x", "y -", to=FLOAT)],
    [node("Identity", "", "y")],
    [node("Identity", "x", "t z"), node("Neg", "t", "y")],
    [node("Conv", "x", "t"), node("Add", "t k", "y")],
    [node("Conv", "x w", "t", group="1"), node("Add", "t k", "y")],
    [node("ConvTranspose", "x w", "t", group=0), node("Add", "t k", "y")],
    [node("Conv", "x w", "t"), node("Add", "t", "y")],
    [node("Conv", "x w", "t"), node("BatchNormalization", "t s b", "y")],
    [node("Conv", "x w", "t"), node("BatchNormalization", "t s b m v", "y", epsilon=1)],
    [node("BatchNormalization", "x s b m", "y")],
    [node("BatchNormalization", "", "y")],
    [node("BatchNormalization", "x s b m v", "")],
    [node("Gemm", "x", "t"), node("Add", "t k", "y")],
    [node("Constant", "", "t", value=3), node("Add", "x t", "y")],
    [node("Constant", "", "t", value_ints=3), node("Add", "x t", "y")],
    [node("Constant", "", "", value_ints=[3]), node("Neg", "x", "y")],
    [node("Constant", "", "t u", value_ints=[3]), node("Neg", "x", "y")],
    [node("Clip", "", "y", min=0.0)],
    [node("Clip", "x", "y", min="a")],
    [node("Pad", "x", "y", pads="abc")],
    [node("Slice", "x", "y", starts=[0])],
    [node("Slice", "x", "y", starts=0, ends=1)],
    [node("TopK", "x", "y i")],
    [node("Upsample", "x", "y")],
    [node("Upsample", "", "y")],
    [node("Resize", "", "y")],
    [node("Softmax", "", "y"), node("Clip", "x", "z", min=0.0)],
    [node("Split", "x", "y z", split=1)],
    [node("Dropout", "x", "y", ratio="half")],
    [node("If", "x", "y")],
]


@pytest.mark.parametrize("nodes", DAMAGED, ids=lambda nodes: "-".join(n.op_type for n in nodes))
@pytest.mark.parametrize("opset", [8, 17])
def test_damaged_nodes_end_in_a_typed_error_or_stay(nodes: list[onnx.NodeProto], opset: int) -> None:
    arrays = {"w": CONV, "k": ONES.reshape(3, 1, 1), **STATISTICS}
    model = make(nodes, [info("x", 1, 3, 4, 4)], [info("y", 1, 3, 4, 4)], weights(**arrays), opset=opset)
    try:
        cleaned = clean(model)
    except ModelError:
        return
    assert {n.op_type for n in cleaned.to_proto().graph.node} <= {n.op_type for n in nodes} | {"Resize"}


# -- opsets --------------------------------------------------------------------------------------------------------


def test_many_scopes_of_one_name_need_no_more_than_one_run() -> None:
    count = 40
    nodes = [node("Identity", "x" if i == 0 else f"i{i - 1}", f"i{i}") for i in range(count)]
    model = make([*nodes, node("Neg", f"i{count - 1}", "y")], [info("x", 3)], [info("y", 3)])
    assert operators(clean(model).to_proto()) == ["Neg"]


# -- weights in other files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("external", ["copy", "embed"])
def test_tensors_that_share_bytes_of_a_file(tmp_path: Path, external: str) -> None:
    """Two tensors of other lengths begin at the same byte, as those of an exporter of zeros do."""
    (tmp_path / "data").write_bytes(np.arange(600, dtype=np.float32).tobytes())
    tensors = []
    for name, count in (("a", 600), ("b", 300)):
        tensor = onnx.TensorProto(name=name, data_type=FLOAT, dims=[count], data_location=onnx.TensorProto.EXTERNAL)
        for key, value in (("location", "data"), ("offset", "0"), ("length", str(4 * count))):
            tensor.external_data.add(key=key, value=value)
        tensors.append(tensor)
    nodes = [node("Add", "x a", "y"), node("Add", "z b", "w")]
    model = make(nodes, [info("x", 1), info("z", 1)], [info("y", 600), info("w", 300)], tensors)
    onnx.save(model, tmp_path / "model.onnx")
    cleaned = clean(tmp_path / "model.onnx", verify=True)
    assert cleaned.comparison is not None and cleaned.comparison.equal
    cleaned.save(tmp_path / "result.onnx", external_data=external)
    written = onnx.load(tmp_path / "result.onnx")
    for tensor in written.graph.initializer:
        assert numpy_helper.to_array(tensor).tolist() == list(range(tensor.dims[0]))
