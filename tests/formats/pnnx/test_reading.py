"""Networks from files: the graph, their weights, and files that are no networks of PNNX."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from shapeinf import infer_shapes
from shapeinf.errors import LimitError, ModelError, ShapeInferenceError, UnknownFormatError
from shapeinf.formats import FORMATS, load
from shapeinf.formats.pnnx import weights
from shapeinf.formats.pnnx.sniffing import is_ncnn
from shapeinf.graph import InputContents
from tests.formats.pnnx.networks import CONVOLUTION, INPUT, NCNN, archive, network

# -- the graph -------------------------------------------------------------------------------------------------------


def test_weights_and_named_arguments_are_inputs():
    graph = load(CONVOLUTION)
    (node,) = graph.nodes
    assert (node.op, node.domain, node.name) == ("nn.Conv2d", "", "conv")
    assert node.inputs == ("0", "conv.bias", "conv.weight")
    assert {name: str(constant) for name, constant in graph.constants.items()} == {
        "conv.bias": "float32[8]",
        "conv.weight": "float32[8, 3, 3, 3]",
    }
    references = {name: value.input for name, value in node.attrs.items() if isinstance(value, InputContents)}
    assert references == {"input": 0, "bias": 1, "weight": 2}
    assert node.attrs["kernel_size"] == (3, 3)
    assert graph.locations == {"conv": "<text>:4"}


def test_the_name_of_an_input_is_an_alias():
    graph = load(CONVOLUTION)
    assert (graph.inputs, graph.outputs, graph.aliases) == (["0"], ["1"], {"pnnx_input_0": "0"})
    assert graph.declared["1"].dims == (1, 8, None, None)


def test_an_alias_is_not_the_name_of_another_blob():
    graph = load(network("pnnx.Input b 0 1 a", "pnnx.Input c 0 1 b", "pnnx.Output o 2 0 a b"))
    assert graph.aliases == {"c": "b"}


def test_a_blob_twice_is_two_arguments():
    graph = load(network(INPUT, "torch.matmul m 2 1 0 0 1 $other=0 $input=0", "pnnx.Output o 1 0 1"))
    (node,) = graph.nodes
    assert node.inputs == ("0", "0")
    assert node.attrs == {"other": InputContents(0), "input": InputContents(1)}


def test_equal_operators_share_their_kind():
    lines = [f"nn.ReLU r{i} 1 1 {i} {i + 1} $input={i} #{i}=(1,3,?,?)f32 #{i + 1}=(1,3,?,?)f32" for i in range(3)]
    kinds = {node.kind for node in load(network(INPUT, *lines, "pnnx.Output o 1 0 3")).nodes}
    assert len(kinds) == 1


def test_constants_of_the_graph():
    graph = load(network("pnnx.Attribute a 0 1 0 @data=()i64 ", "pnnx.Attribute b 0 1 1 @data=(2,3)null"))
    assert [str(graph.constants[name]) for name in "01"] == ["int64[]", "?[2, 3]"]


def test_a_weight_with_the_name_of_a_blob():
    """At optimization level 1 blobs have names such as `x.1`."""
    graph = load(network("pnnx.Input i 0 1 x.1", "my.Op x 1 1 x.1 y @1=(3)f32 @y=(4)f32", "pnnx.Output o 1 0 y"))
    assert graph.nodes[0].inputs == ("x.1", "@x.1", "x.y")
    assert set(graph.constants) == {"@x.1", "x.y"}


def tuples(*lines, outputs):
    return load(network("pnnx.Input a 0 1 a", "pnnx.Input b 0 1 b", *lines, f"pnnx.Output o 1 0 {outputs}")).outputs


def test_outputs_are_the_items_of_tuples():
    inner = "prim::TupleConstruct t 2 1 b a t"
    assert tuples(inner, "prim::TupleConstruct u 3 1 a t b u", outputs="u") == ["a", "b"]
    assert tuples(inner, outputs="t") == ["b", "a"]
    assert tuples("prim::TupleConstruct t 0 1 t", outputs="t") == []


def test_nested_tuples_are_read_in_linear_time():
    lines = [
        f"prim::TupleConstruct t{i} 2 1 {previous} {previous} t{i}"
        for i, previous in enumerate(["a", *(f"t{i}" for i in range(5000))])
    ]
    assert tuples(*lines, outputs="t5000") == ["a"]


def test_an_operator_without_outputs_is_a_node():
    graph = load(network("pnnx.Input a 0 1 a", "prim::Print p 1 0 a", "pnnx.Output o 1 0 a"))
    assert [(node.op, node.outputs) for node in graph.nodes] == [("prim::Print", ())]


def test_symbols_of_the_file_are_dims():
    result = infer_shapes(CONVOLUTION.replace("(1,3,?,?)", "(%batch,3,%2*h,?)").replace("#1=(1,8,?,?)f32", ""))
    assert str(result.tensors["1"].shape) == "[batch, 8, h, (pnnx_input_0.shape[3] + 1)//2]"
    assert not result.diagnostics


# -- contents of constants -------------------------------------------------------------------------------------------

RESHAPE = network(
    "pnnx.Input x 0 1 0 #0=(4,6)f32",
    "pnnx.Attribute sizes 0 1 1 @data=(2)i64",
    "test.Sizes f 1 1 1 2",
    "pnnx.Output o 1 0 2",
)


@pytest.fixture
def saved(tmp_path):
    """A function that writes a network, with members of its archive, and loads it."""

    def save(text, members=None, name="net.pnnx", **options):
        (tmp_path / f"{name}.param").write_text(text, encoding="utf-8")
        if members is not None:
            data = members if isinstance(members, bytes) else archive(members, **options)
            (tmp_path / f"{name}.bin").write_bytes(data)
        return load(tmp_path / f"{name}.param")

    return save


SIZES = np.array([8, 3], "<i8").tobytes()


@pytest.mark.parametrize("name", ["net.pnnx", "old"])
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_small_constants_are_read_on_demand(saved, name, compression):
    graph = saved(RESHAPE, {"other.data": bytes(99), "sizes.data": SIZES}, name, compression=compression)
    assert graph.constants["1"].elements is None
    assert graph.external
    assert graph.unread["1"]().elements == (8, 3)


@pytest.mark.parametrize(
    ("dtype", "data", "elements"),
    [
        ("f16", np.array([1.5, -2], "<f2").tobytes(), (1.5, -2.0)),
        ("bf16", b"\xc0\x3f\x00\xc0", (1.5, -2.0)),
        ("f64", np.array([1.5, -2], "<f8").tobytes(), (1.5, -2.0)),
        ("u8", b"\x01\xff", (1, 255)),
        ("i8", b"\x01\xff", (1, -1)),
        ("bool", b"\x01\x00", (True, False)),
        ("c64", np.array([1j, 2], "<c8").tobytes(), (1j, 2)),
    ],
)
def test_element_types(saved, dtype, data, elements):
    graph = saved(RESHAPE.replace("(2)i64", f"(2){dtype}"), {"sizes.data": data})
    assert graph.unread["1"]().elements == elements


@pytest.mark.parametrize("type_", ["(2)null", "(2)c32", "(100000)i64", "(100)f32"])
def test_contents_that_are_not_read(saved, type_):
    graph = saved(RESHAPE.replace("(2)i64", type_), b"no archive")
    assert (graph.unread, graph.external) == ({}, False)


def test_without_weights_shapes_are_inferred(saved):
    graph = saved(RESHAPE)
    assert (graph.unread, graph.external, graph.diagnostics) == ({}, False, [])


DAMAGED = {
    "no archive": (b"no archive", "damaged or cut off"),
    "empty file": (b"", "damaged or cut off"),
    "cut off": (archive({"sizes.data": SIZES})[:-30], "damaged or cut off"),
    "a bit": (archive({"sizes.data": SIZES}).replace(SIZES, SIZES[::-1], 1), "damaged or cut off"),
    "missing": ({"other.data": SIZES}, "has no file 'sizes.data'"),
    "empty archive": ({}, "has no file 'sizes.data'"),
    "short": ({"sizes.data": SIZES[:-1]}, "'sizes.data' has 15 bytes, but int64[2] in the network has 16"),
    "long": ({"sizes.data": bytes(1 << 20)}, "'sizes.data' has 1048576 bytes"),
}


@pytest.mark.parametrize(("members", "cause"), DAMAGED.values(), ids=list(DAMAGED))
def test_damaged_archives(saved, tmp_path, members, cause):
    graph = saved(RESHAPE, members)
    with pytest.raises(ModelError) as error:
        graph.unread["1"]()
    assert str(error.value).startswith(str(tmp_path / "net.pnnx.bin"))
    assert cause in str(error.value)


def test_a_large_archive_with_64_bit_fields(saved, tmp_path):
    with (
        zipfile.ZipFile(tmp_path / "net.pnnx.bin", "w") as file,
        file.open("sizes.data", "w", force_zip64=True) as member,
    ):
        member.write(SIZES)
    assert saved(RESHAPE).unread["1"]().elements == (8, 3)


def test_a_limit_of_members(saved, monkeypatch):
    monkeypatch.setattr(weights, "MAX_MEMBERS", 1)
    with pytest.raises(LimitError, match="more than 1 files"):
        saved(RESHAPE, {"a": b"", "sizes.data": SIZES}).unread["1"]()


def test_names_lead_to_no_other_file(saved):
    """A name of an operator is the name of a member, never a path."""
    graph = saved(RESHAPE.replace("Attribute sizes", "Attribute ../../etc/passwd"), {"../../etc/passwd.data": SIZES})
    assert graph.unread["1"]().elements == (8, 3)


RESHAPED = RESHAPE.replace("test.Sizes f 1 1 1 2", "Tensor.reshape r 2 1 0 1 2 $input=0 $shape=1")


def test_a_rule_reads_contents(saved, tmp_path):
    saved(RESHAPED, {"sizes.data": SIZES})
    assert str(infer_shapes(tmp_path / "net.pnnx.param").tensors["2"]) == "float32[8, 3]"
    (tmp_path / "net.pnnx.bin").write_bytes(b"damaged")
    with pytest.raises(ModelError, match=r"net\.pnnx\.bin: the archive is damaged"):
        infer_shapes(tmp_path / "net.pnnx.param")
    (tmp_path / "net.pnnx.bin").unlink()
    assert infer_shapes(tmp_path / "net.pnnx.param").tensors["2"].shape.dims is not None


# -- other files -----------------------------------------------------------------------------------------------------


def test_lines_of_ncnn_are_recognized():
    assert is_ncnn(NCNN.splitlines()[2:])
    assert is_ncnn(["Convolution c 1 1 in out 0=64 -23301=1,2"])
    assert not is_ncnn(CONVOLUTION.splitlines()[2:])
    assert not is_ncnn(["pnnx.Input i 0 1 0", "Input x 1 1 0 1"])


@pytest.mark.parametrize("form", [str, str.encode])
def test_a_text_of_ncnn(form):
    with pytest.raises(UnknownFormatError, match=r"is a network of ncnn: pass the PNNX network, a \.pnnx\.param file"):
        infer_shapes(form(NCNN))


@pytest.mark.parametrize("name", ["net.ncnn.param", "net.pnnx.bin", "net.ncnn.bin", "net_pnnx.py", "net_ncnn.py"])
def test_other_files_of_a_network(tmp_path, name):
    path = tmp_path / name
    path.write_text(NCNN if name.endswith("param") else "data")
    with pytest.raises(UnknownFormatError, match=r"pass the PNNX network, a \.pnnx\.param file"):
        infer_shapes(path)
    (tmp_path / "net.pnnx.param").write_text(CONVOLUTION)
    with pytest.raises(UnknownFormatError) as error:
        infer_shapes(path)
    assert str(error.value).startswith(f"{path}: is")
    assert f"pass the PNNX network in the same folder, {str(tmp_path / 'net.pnnx.param')!r}" in str(error.value)


def test_a_file_of_any_name(tmp_path):
    path = tmp_path / "network.txt"
    path.write_text(CONVOLUTION)
    assert load(path).source == str(path)
    assert load(str(path)).dialect == load(path.read_bytes()).dialect == "pnnx"


@pytest.mark.parametrize("name", ["net.param", "net.pnnx.param"])
def test_a_file_that_is_no_network(tmp_path, name):
    path = tmp_path / name
    for text, line in (("", 1), ("hello\n", 1), (CONVOLUTION.replace("3 2\n", "3\n"), 2)):
        path.write_text(text)
        with pytest.raises(ModelError, match=f"{name}:{line}: "):
            infer_shapes(path)
    path.write_bytes(CONVOLUTION.encode().replace(b"conv ", b"\xff "))
    with pytest.raises(ModelError, match=f"{name}:4: the line is not UTF-8"):
        infer_shapes(path)
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        infer_shapes(tmp_path / "missing.pnnx.param")
    with pytest.raises(ModelError, match="cannot be read: Is a directory"):
        (tmp_path / "folder.param").mkdir()
        infer_shapes(tmp_path / "folder.param")


@pytest.mark.parametrize("model", ["7767517", b"7767518\n", "version 1.0;\n7767517\n", "param", b"PK\3\4", b""])
def test_models_of_other_formats(model):
    with pytest.raises(ShapeInferenceError) as error:
        infer_shapes(model)
    assert "PNNX" not in str(error.value)


def test_objects_are_no_networks():
    pnnx = next(format_ for format_ in FORMATS.formats if format_.name == "pnnx")
    with pytest.raises(UnknownFormatError, match="a dict is not a network"):
        pnnx.read({}, None)
