"""Reading ONNX: both readers build the same graph, from all forms of a model; contents of constants; illegal models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from shapeinf import Graph, ModelError, infer_shapes
from shapeinf.errors import UnknownFormatError
from shapeinf.formats.onnx.reader import read_model
from shapeinf.formats.onnx.source import read
from shapeinf.formats.protobuf.large_file import LargeFile
from shapeinf.lattice import PartialTensor
from tests.formats.graphs import record
from tests.formats.onnx_models import agreed, everything, field, model_of, tensor_value
from tests.vectors import PROJECT, ROOT

EXAMPLES = sorted((PROJECT / "examples").glob("*.onnx"))
CORPUS = sorted((ROOT / "models").glob("*/*.onnx"))
if not CORPUS:
    warnings.warn("the corpus of models is not there, its tests are skipped: set SHAPEINF_CONFORMANCE", stacklevel=1)


# -- both readers build the same graph


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_both_readers_agree_on_the_examples(path):
    agreed(onnx.load(path))


@pytest.mark.skipif(not CORPUS, reason="set SHAPEINF_CONFORMANCE to the folder that holds models/")
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_both_readers_agree_on_the_corpus(path):
    model = onnx.load_model(path, load_external_data=False)
    from_file = read(path)
    assert record(from_file) == record(read_model(model, str(path.parent)))
    assert from_file.source == str(path)


@pytest.mark.parametrize("kind", ["node", "simple", "pytorch-operator"])
def test_both_readers_agree_on_the_published_cases(kind):
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind=kind)
    for case in cases:
        if case.model is not None:
            agreed(case.model)


def test_both_readers_agree_on_every_part_of_a_model():
    graph = agreed(everything())
    assert graph.opsets == {"": 21, "my": 1}
    assert graph.declared["x"].dims == ("batch", None, 3, "a + 1")
    assert graph.declared["r"].dims is None
    assert (graph.declared["s"].kind, graph.declared["o"].kind, graph.declared["m"].kind) == (
        "sequence",
        "optional",
        "map",
    )
    (body,) = graph.functions.values()
    assert list(graph.functions) == [("my", "Local", "two")]
    assert dict(body.nodes[0].kind.references) == {"alpha": "alpha"}
    assert body.defaults == {"alpha": 1.5}


def test_fields_in_another_order_are_read_the_same():
    """Protobuf allows any order; writers that put the operator first are as good as others."""
    node = field(4, b"Relu") + field(3, b"n") + field(2, b"y") + field(1, b"x")
    shape = tensor_value("x", [2, 3]).SerializeToString()
    graph = field(12, tensor_value("y", None).SerializeToString()) + field(11, shape) + field(1, node)
    opset = helper.make_opsetid("", 18).SerializeToString()
    data = field(7, graph) + field(8, opset)
    assert record(read(data)) == record(read(onnx.ModelProto.FromString(data)))
    assert str(infer_shapes(data).tensors["y"]) == "float32[2, 3]"


def test_a_node_in_an_odd_order_does_not_change_how_others_are_read():
    """Equal ends of nodes are decoded once, in all files: an attribute before the operator is not part of the end."""
    x = tensor_value("x", ["A", "B", "C"])
    plain = model_of([helper.make_node("Transpose", ["x"], ["y"])], [x], [tensor_value("y", None)]).SerializeToString()
    head, perm = field(1, b"x") + field(2, b"y"), helper.make_attribute("perm", [0, 2, 1]).SerializeToString()
    opset = field(8, helper.make_opsetid("", 21).SerializeToString())
    for early, shape in ((field(5, perm), "[A, C, B]"), (field(7, b"") + field(5, perm), "[A, C, B]")):
        node = field(1, head + early + field(4, b"Transpose"))
        odd = field(7, node + field(11, x.SerializeToString())) + opset
        assert str(infer_shapes(odd).tensors["y"].shape) == shape
        assert str(infer_shapes(plain).tensors["y"].shape) == "[C, B, A]"


def test_metadata_of_nodes_do_not_keep_them_from_being_decoded_once():
    """Exporters write where each node comes from at its end; an attribute after that counts all the same."""
    x, opset = tensor_value("x", ["A", "B", "C"]), field(8, helper.make_opsetid("", 21).SerializeToString())
    perm = field(5, helper.make_attribute("perm", [0, 2, 1]).SerializeToString())

    def node(read, written, *rest):
        return field(1, field(1, read) + field(2, written) + field(4, b"Transpose") + b"".join(rest))

    def metadata(text):
        return field(9, field(1, b"namespace") + field(2, text))

    nodes = [
        node(b"x", b"a", perm, metadata(b"first"), metadata(b"of two")),
        node(b"x", b"b", perm, metadata(b"second" * 50)),
        node(b"x", b"c", metadata(b"first"), perm),
        node(b"x", b"d", metadata(b"first")),
        node(b"x", b"e", metadata(b"first"), perm, metadata(b"of two")),
    ]
    data = field(7, b"".join(nodes) + field(11, x.SerializeToString())) + opset
    for _ in range(2):  # what the first reading decoded is known to the second one
        graph = agreed(onnx.ModelProto.FromString(data))
        shapes = {name: str(info.shape) for name, info in infer_shapes(data).tensors.items()}
        assert shapes == {"x": "[A, B, C]", "d": "[C, B, A]"} | dict.fromkeys("abce", "[A, C, B]")
    assert graph.nodes[0].kind is graph.nodes[1].kind


def test_a_large_file_is_read_in_parts(tmp_path, monkeypatch):
    """With small limits the examples are large files, whose nodes lie in many chunks, and some in none."""
    monkeypatch.setattr("shapeinf.formats.protobuf.large_file.LARGE_FILE", 0)
    paths = [*EXAMPLES, tmp_path / "everything.onnx"]
    paths[-1].write_bytes(everything().SerializeToString())
    for chunk in (64, 1000, 1 << 18):
        monkeypatch.setattr("shapeinf.formats.onnx.scanner._CHUNK", chunk)
        for path in paths:
            assert record(read(path)) == record(read(onnx.load(path)))


def test_of_a_large_file_only_the_heads_of_weights_are_read(tmp_path, monkeypatch):
    reads = []

    class Counted(LargeFile):
        def _read(self, start, count):
            reads.append(count)
            return super()._read(start, count)

    monkeypatch.setattr("shapeinf.formats.protobuf.large_file.LargeFile", Counted)
    weights = [numpy_helper.from_array(np.zeros((1024, 1024), "float32"), f"w{i}") for i in range(8)]
    path = tmp_path / "large.onnx"
    path.write_bytes(model_of([], initializers=weights).SerializeToString())
    assert len(read(path).constants) == 8
    assert path.stat().st_size > 32 << 20
    assert 0 < sum(reads) < 1 << 20


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="this system has no paths of pipes")
def test_a_model_comes_from_a_pipe():
    """Its bytes are there only once: they are not read to recognize the format."""
    data = min((path.read_bytes() for path in EXAMPLES), key=len)
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb"), os.fdopen(write_end, "wb") as file:
        assert file.write(data) <= 65536, "a pipe holds that much before it is read"
        file.close()
        types = {name: str(info) for name, info in infer_shapes(f"/dev/fd/{read_end}").tensors.items()}
    assert types == {name: str(info) for name, info in infer_shapes(data).tensors.items()}


def test_a_model_that_is_read_from_a_file_does_not_import_onnx():
    code = f"import sys, shapeinf.formats as f; [f.load(p) for p in {list(map(str, EXAMPLES))}]; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "shapeinf.formats.onnx.scanner" in modules
    assert not {"onnx", "google.protobuf", "networkx", "islpy"}.intersection(modules)


# -- the contents of constants

TYPED = [
    (TensorProto.FLOAT, [1.5, -2.0]),
    (TensorProto.DOUBLE, [1.5, -2.0]),
    (TensorProto.INT64, [-1, 2**62]),
    (TensorProto.INT32, [-1, 7]),
    (TensorProto.INT16, [-1, 7]),
    (TensorProto.INT8, [-1, 7]),
    (TensorProto.UINT8, [1, 255]),
    (TensorProto.UINT16, [1, 65535]),
    (TensorProto.UINT32, [1, 2**31]),
    (TensorProto.UINT64, [1, 2**63]),
    (TensorProto.BOOL, [True, False]),
    (TensorProto.STRING, ["a", "ü"]),
    (TensorProto.FLOAT16, [1.5, -2.0]),
    (TensorProto.BFLOAT16, [1.5, -2.0]),
    (TensorProto.FLOAT8E4M3FN, [1.5, -2.0]),
    (TensorProto.INT4, [-1, 7]),
    (TensorProto.UINT4, [1, 15]),
    (TensorProto.COMPLEX64, [1 + 2j, 3j]),
]


def constant_of(initializer, **options):
    graph = agreed(model_of([], initializers=[initializer], **options))
    return graph.constants[initializer.name]


@pytest.mark.parametrize(("number", "values"), TYPED, ids=lambda v: v if isinstance(v, int) else "")
@pytest.mark.parametrize("raw", [False, True], ids=["typed", "raw"])
def test_small_contents_are_read_in_every_element_type(number, values, raw):
    initializer = helper.make_tensor("t", number, [2], [v.encode() for v in values] if number == 8 else values)
    if raw:
        if number == TensorProto.STRING:
            pytest.skip("strings have no raw form")
        initializer = numpy_helper.from_array(numpy_helper.to_array(initializer), "t")
        if initializer.data_type != number:
            pytest.skip("numpy has another name for it")
    elements = constant_of(initializer)
    assert elements.shape.dims == (2,)
    assert list(elements.elements) == values


def test_large_contents_are_left_where_they_are():
    assert constant_of(numpy_helper.from_array(np.zeros((64, 65), "int64"), "t")).elements is None
    assert constant_of(numpy_helper.from_array(np.zeros((64, 64), "int64"), "t")).elements == (0,) * 4096
    assert constant_of(numpy_helper.from_array(np.zeros(65, "float32"), "t")).elements is None


def test_sparse_initializers_have_a_shape():
    graph = agreed(everything())
    assert (graph.constants["sp"].dtype, graph.constants["sp"].shape.dims) == ("float32", (3, 3))


@pytest.mark.parametrize("raw", [b"", b"1234567", b"123456789"])
def test_data_that_do_not_fit_the_shape_are_an_error(raw):
    model = model_of([], initializers=[TensorProto(name="t", data_type=TensorProto.INT64, dims=[1], raw_data=raw)])
    for form in (model, model.SerializeToString()):
        with pytest.raises(ModelError, match="do not fit its shape"):
            read(form)


def test_a_negative_dim_of_a_tensor_is_an_error():
    model = model_of([], initializers=[TensorProto(name="t", data_type=TensorProto.INT64, dims=[-1])])
    for form in (model, model.SerializeToString()):
        with pytest.raises(ModelError, match="negative dims"):
            read(form)


# -- other forms


@pytest.mark.parametrize(
    "path", ["a\0.onnx", "a\0.nnef", "a\ud800b.onnx", "a\ud800b", "\ufeffgraph", "", "x" * 5000, "/\0"]
)
@pytest.mark.parametrize("kind", [str, Path])
def test_invalid_paths_are_model_errors(path, kind):
    with pytest.raises(ModelError):
        infer_shapes(kind(path))


@pytest.mark.parametrize("extension", ["onnxtxt", "json", "textproto", "pbtxt"])
def test_text_forms(tmp_path, extension):
    model = onnx.load(EXAMPLES[0])
    path = tmp_path / f"model.{extension}"
    onnx.save_model(model, path, format={"pbtxt": "textproto"}.get(extension, extension))
    expected = {name: str(info) for name, info in infer_shapes(EXAMPLES[0]).tensors.items()}
    assert {name: str(info) for name, info in infer_shapes(path).tensors.items()} == expected


@pytest.mark.parametrize("extension", ["onnxtxt", "json", "textproto"])
def test_damaged_text_is_an_error_of_ours(tmp_path, extension):
    path = tmp_path / f"model.{extension}"
    for text in ("{", "nonsense [", json.dumps({"graph": 3}), "\0\1"):
        path.write_text(text)
        with pytest.raises(ModelError):
            read(path)


@pytest.mark.parametrize(("opset", "size"), [("17", "9" * 30), ("9" * 30, "n")])
def test_numbers_of_the_syntax_out_of_range_are_model_errors(tmp_path, opset, size):
    path = tmp_path / "m.onnxtxt"
    path.write_text(
        f'<ir_version: 8, opset_import: ["": {opset}]> g (float[{size}] x) => (float[n] y) {{ y = Relu(x) }}'
    )
    with pytest.raises(ModelError, match=r"is not an ONNX model in onnxtxt form: a number is out of range"):
        read(path)


def test_a_text_without_a_graph_is_no_model(tmp_path):
    for name in ("m.textproto", "m.onnxtxt", "m.json"):
        (tmp_path / name).write_text("{}" if name.endswith("json") else "")
        with pytest.raises(ModelError):
            read(tmp_path / name)


def test_all_forms_of_a_model_are_equal():
    path = EXAMPLES[0]
    results = [infer_shapes(m) for m in (path, str(path), path.read_bytes(), onnx.load(path), read(path))]
    texts = [{name: str(info) for name, info in r.tensors.items()} for r in results]
    assert all(text == texts[0] for text in texts)


def test_an_onnx_ir_model():
    onnx_ir = pytest.importorskip("onnx_ir")
    model = onnx_ir.load(EXAMPLES[0])
    expected = {name: str(info) for name, info in infer_shapes(EXAMPLES[0]).tensors.items()}
    assert {name: str(info) for name, info in infer_shapes(model).tensors.items()} == expected


def test_files_of_no_format():
    for thing in (3, None, object(), [], b"", b"hello world", b"\x00\x01", onnx.ModelProto()):
        with pytest.raises(ModelError):
            infer_shapes(thing)
    with pytest.raises(UnknownFormatError, match="text file"):
        read(b"hello world")


def test_a_missing_file_is_a_model_error(tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        read(tmp_path / "none.onnx")
    with pytest.raises(ModelError, match="cannot be read"):
        read(tmp_path / "none.onnxtxt")


# -- errors of complete models


def test_a_domain_without_an_opset_is_an_error():
    model = model_of([helper.make_node("Relu", ["x"], ["y"], domain="elsewhere")], [tensor_value("x", [1])])
    for form in (model, model.SerializeToString()):
        with pytest.raises(ModelError, match="imports no opset for the domain 'elsewhere'"):
            read(form)


def test_values_without_a_name():
    node = helper.make_node("Relu", ["x"], ["y"])
    initializer = numpy_helper.from_array(np.ones(2), "")
    graph = agreed(model_of([node], [tensor_value("x", [1])], [tensor_value("y", None)], [initializer]))
    assert str(infer_shapes(graph).tensors["y"].shape) == "[1]"
    model = model_of([node], [tensor_value("x", [1]), tensor_value("", [1])])
    for form in (model, model.SerializeToString()):
        with pytest.raises(ModelError, match="has no name"):
            read(form)


def test_an_initializer_of_another_shape_than_its_input_is_an_error():
    initializer = numpy_helper.from_array(np.zeros((2, 3), "float32"), "x")
    for shape, wrong in (([2, 4], True), ([2], True), (["n", 3], False), (None, False)):
        model = model_of([], [tensor_value("x", shape)], [], [initializer])
        for form in (model, model.SerializeToString()):
            if wrong:
                with pytest.raises(ModelError, match="the input declares"):
                    read(form)
            else:
                assert isinstance(read(form), Graph)


def test_contents_of_a_constant_are_a_partial_tensor():
    assert isinstance(constant_of(numpy_helper.from_array(np.ones(2, "int64"), "t")), PartialTensor)
