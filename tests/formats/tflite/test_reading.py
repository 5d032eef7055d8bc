"""Reading of TensorFlow Lite files: tensors, constants, operators, bodies, signatures, archives."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest

from shapeinf import infer_shapes
from shapeinf.errors import ModelError, UnknownNameError
from shapeinf.formats import load
from shapeinf.formats.registry import SignatureOptions
from shapeinf.formats.tflite import TfliteOptions
from shapeinf.graph import DeclaredType, FunctionReference
from tests.formats.tflite.files import (
    ADD,
    CONV_2D,
    IF,
    RESHAPE,
    Node,
    Subgraph,
    Table,
    Tensor,
    encode,
    file,
    flattening,
    ints,
    model,
    options,
    signature,
)


def test_unknown_sizes_of_inputs_are_symbols() -> None:
    result = infer_shapes(file(flattening()))
    assert str(result.tensors["x"]) == "float32[x.shape[0], 4, 4]"
    assert str(result.tensors["y"]) == "float32[x.shape[0], 16]"
    assert result.graph.producer == "a test" and result.graph.file_version == "3"


def test_sizes_of_the_user_replace_those_of_the_file() -> None:
    result = infer_shapes(file(flattening(1)), inputs={"x": [6, "n", 2]})
    assert str(result.tensors["y"]) == "float32[3*(n//4), 16]"
    assert not result.diagnostics


def test_names_are_unique() -> None:
    tensors = [Tensor("x", [2]), Tensor("x", [2]), Tensor("", [2]), Tensor("x:1", [2])]
    nodes = [Node(ADD, [0, 0], [1]), Node(ADD, [1, 1], [2]), Node(ADD, [2, 2], [3])]
    graph = load(file(Subgraph(tensors, [0], [3], nodes)))
    assert [node.outputs for node in graph.nodes] == [("x:1:",), (":2",), ("x:1",)]
    assert graph.model.names[0, 0] == "x:0"


def test_options_are_attributes() -> None:
    window = Table({0: ("b", 1), 1: ("i", 2), 2: ("i", 3), 3: ("b", 9), 6: ("b", 2)})
    tensors = [Tensor("x", [1, 8, 8, 3]), Tensor("w", [4, 3, 3, 3], data=bytes(432)), Tensor("y", [1, 2, 3, 4])]
    node = Node(CONV_2D, [0, 1, -1], [2], options(1, window))
    [read] = load(file(Subgraph(tensors, [0], [2], [node]))).nodes
    assert (read.op, read.name, read.inputs) == ("CONV_2D", "0", ("x", "w", ""))
    assert dict(read.attrs) == {
        "output_types": ("float32",),
        "padding": "VALID",
        "stride_w": 2,
        "stride_h": 3,
        "fused_activation_function": "9",  # a number without a name
        "quantized_bias_type": "int32",
    }


def test_options_of_another_operator_are_not_read() -> None:
    tensors = [Tensor("x", [2, 3]), Tensor("y", [6])]
    node = Node(RESHAPE, [0], [1], options(10, Table({0: ("i", 1)})))
    assert dict(load(file(Subgraph(tensors, [0], [1], [node]))).nodes[0].attrs) == {"output_types": ("float32",)}


@pytest.mark.parametrize(
    ("dtype", "dims", "data", "elements"),
    [
        ("int4", [3], bytes([0xF1, 0x07]), (1, -1, 7)),
        ("uint4", [3], bytes([0xF1, 0x07]), (1, 15, 7)),
        ("int2", [5], bytes([0b11100100, 0b10]), (0, 1, -2, -1, -2)),
        ("int64", [2], struct.pack("<2q", -3, 5), (-3, 5)),
        ("bool", [2], b"\1\0", (True, False)),
        ("bfloat16", [1], b"\x80\x3f", (1.0,)),
        ("int32", [3], ints(1, 2), None),
        ("int32", [0], b"", ()),
        ("string", [2], struct.pack("<4i", 2, 16, 17, 19) + b"abc", ("a", "bc")),
        ("string", [2], struct.pack("<4i", 2, 16, 17, 99) + b"abc", None),
        ("string", [2], struct.pack("<i", 2**30), None),
    ],
)
def test_contents_of_constants(dtype: str, dims: list[int], data: bytes, elements: object) -> None:
    tensors = [Tensor("x", [1]), Tensor("c", dims, dtype, data=data), Tensor("y", [1])]
    graph = load(file(Subgraph(tensors, [0], [2], [Node(ADD, [0, 1], [2])])))
    constant = graph.constants["c"]
    assert (constant.dtype, constant.shape.dims) == (dtype, tuple(dims))
    assert constant.elements == elements


def test_compressed_and_external_contents_are_not_read() -> None:
    tensors = [
        Tensor("x", [1]),
        Tensor("sparse", [1], "int32", data=ints(7), more={6: Table()}),
        Tensor("external", [1], "int32", more={10: ("I", 1)}),
        Tensor("y", [1]),
    ]
    graph = load(file(Subgraph(tensors, [0], [3], [Node(ADD, [1, 2], [3])])))
    assert all(graph.constants[name].elements is None for name in ("sparse", "external"))
    assert not graph.diagnostics


def test_contents_behind_the_tables() -> None:
    root = model(flattening())
    root[4][1] = Table({1: ("Q", 0), 2: ("Q", 8)})
    length = len(encode(root))
    root[4][1][1] = ("Q", length)
    assert str(infer_shapes(encode(root) + ints(-1, 8)).tensors["y"]) == "float32[2*x.shape[0], 8]"
    root[4][1][1] = ("Q", length + 1)
    with pytest.raises(ModelError, match=r"subgraph 0, tensor 1: refers to bytes \d+ to \d+, and the file has"):
        load(encode(root) + ints(-1, 8))


@pytest.mark.parametrize(("offset", "size"), [(0, 8), (1, 8), (64, 0)])
def test_an_offset_up_to_1_or_a_size_of_0_is_no_range(offset: int, size: int) -> None:
    """The offset of a buffer is only valid above 1, as TensorFlow Lite's schema.fbs has it."""
    root = model(flattening())
    root[4][1] = Table({1: ("Q", offset), 2: ("Q", size)})
    assert load(encode(root)).constants["target"].elements is None


def test_a_scalar_of_an_old_converter_may_have_any_rank() -> None:
    tensors = [Tensor("x", [], more={8: ("?", False)}), Tensor("y", [])]
    graph = load(file(Subgraph(tensors, [0], [1], [Node(ADD, [0, 0], [1])])))
    assert graph.declared["x"] == DeclaredType("float32")
    assert graph.declared["y"] == DeclaredType("float32", ())


def test_variables_are_constants_of_unknown_contents() -> None:
    tensors = [Tensor("x", [1, 2]), Tensor("state", [1, 2], more={5: ("?", True)}), Tensor("y", [1, 2])]
    graph = load(file(Subgraph(tensors, [0], [2], [Node(ADD, [0, 1], [2])])))
    assert graph.constants["state"].elements is None and graph.inputs == ["x"] and not graph.diagnostics


# -- order -------------------------------------------------------------------------------------------------------------


def test_a_tensor_that_is_written_twice_is_two_values() -> None:
    tensors = [Tensor("x", [2]), Tensor("y", [2]), Tensor("z", [2])]
    nodes = [Node(ADD, [0, 0], [1]), Node(ADD, [1, 1], [2]), Node(ADD, [0, 2], [1])]
    graph = load(file(Subgraph(tensors, [0], [1], nodes)))
    assert [node.outputs for node in graph.nodes] == [("y",), ("z",), ("y@2",)]
    assert graph.outputs == ["y@2"] and graph.model.names[0, 1] == "y@2"


@pytest.mark.parametrize(
    ("node", "code", "message"),
    [
        (Node(ADD, [0, 1], [1]), "L101", "'y' is both an input and an output"),
        (Node(ADD, [0, 2], [1]), "L103", "reads 'z', which node 1 writes later"),
        (Node(ADD, [0, 3], [1]), "L104", "reads 'nothing', which has no data and which no node writes"),
    ],
)
def test_what_litert_refuses_is_an_error(node: Node, code: str, message: str) -> None:
    tensors = [Tensor("x", [2]), Tensor("y", [2]), Tensor("z", [2]), Tensor("nothing", [2])]
    result = infer_shapes(file(Subgraph(tensors, [0], [2], [node, Node(ADD, [0, 0], [2])])))
    [error] = result.diagnostics
    assert (error.code, error.severity, error.node, error.op) == (code, "error", "0", "ADD")
    assert error.message == message


# -- subgraphs ---------------------------------------------------------------------------------------------------------


def branches(then: int = 1, other: int = 2) -> Subgraph:
    """A choice of two subgraphs."""
    tensors = [Tensor("which", [], "bool"), Tensor("x", [1, 4, 4], signature=[-1, 4, 4]), Tensor("y", [1, 16])]
    node = Node(IF, [0, 1], [2], options(92, Table({0: ("i", then), 1: ("i", other)})))
    return Subgraph(tensors, [0, 1], [2], [node])


def test_bodies_are_functions() -> None:
    graph = load(file(branches(), flattening(), flattening()))
    assert list(graph.functions) == [("", "subgraph 1", ""), ("", "subgraph 2", "")]
    assert graph.nodes[0].attrs["else_subgraph_index"] == FunctionReference(("", "subgraph 2", ""))
    result = infer_shapes(graph)
    assert str(result.tensors["y"]) == "float32[x.shape[0], 16]"


@pytest.mark.parametrize(
    ("then", "other", "message"),
    [
        (0, 1, "node 0: subgraph 0 runs itself"),
        (1, 9, "has no subgraph 9: there are 2"),
        (-7, 1, "has no subgraph -7"),
    ],
)
def test_subgraphs_that_cannot_be_run(then: int, other: int, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load(file(branches(then, other), flattening()))


# -- signatures --------------------------------------------------------------------------------------------------------


def two_signatures() -> bytes:
    signatures = [signature("flat", 0, {"image": 0}, {"row": 2}), signature("add", 1, {"a": 0}, {"sum": 1})]
    adding = Subgraph(
        [Tensor("p", [1], signature=[-1]), Tensor("q", [1])], [0], [1], [Node(ADD, [0, 0], [1])], "adding"
    )
    return file(flattening(), adding, more={7: signatures})


def test_a_signature_names_inputs_and_outputs() -> None:
    result = infer_shapes(two_signatures())
    assert str(result.tensors["y"]) == "float32[image.shape[0], 16]"
    assert result.graph.aliases == {"image": "x", "row": "y", "flat.image": "x", "flat.row": "y"}
    assert str(infer_shapes(two_signatures(), inputs={"image": [3, 4, 4]}).tensors["y"]) == "float32[3, 16]"
    [note] = result.diagnostics
    assert (note.code, note.message) == (
        "L102",
        "the signatures 'add' run other subgraphs, which are not part of this result",
    )


@pytest.mark.parametrize("kind", [SignatureOptions, TfliteOptions])
def test_a_signature_is_an_entry_point(kind: type[SignatureOptions]) -> None:
    graph = load(two_signatures(), kind(signature="add"))
    assert (graph.name, graph.inputs, graph.aliases["a"]) == ("adding", ["p"], "p")
    assert not graph.diagnostics and graph.model.subgraph == 1
    with pytest.raises(UnknownNameError, match="no signature is named 'sub'; available: 'add', 'flat'"):
        load(two_signatures(), kind(signature="sub"))


# -- archives ----------------------------------------------------------------------------------------------------------


def archive(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return target.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_archives(tmp_path: Path, method: int) -> None:
    data = archive({"labels.txt": b"x", "a.tflite": file(flattening())}, method)
    assert load(data).model.member == "a.tflite"
    path = tmp_path / "two.task"
    path.write_bytes(archive({"b/inner.task": data, "TF_LITE_MAIN": file(branches(), flattening(), flattening())}))
    with pytest.raises(ModelError, match=r"one of them must be chosen: 'b/inner\.task/a"):
        load(path)
    assert load(path, TfliteOptions(member="b/inner.task/a.tflite")).nodes[0].op == "RESHAPE"
    assert load(path, TfliteOptions(member="TF_LITE_MAIN")).nodes[0].op == "IF"
    with pytest.raises(UnknownNameError, match="no member is named 'c'"):
        load(path, TfliteOptions(member="c"))
    with pytest.raises(UnknownNameError, match="is a single model"):
        load(file(flattening()), TfliteOptions(member="c"))


def language_model(*members: tuple[str, bytes, int]) -> bytes:
    """A `.litertlm` file of sections: the kind of model, the bytes, and the type of the section."""
    at, sections, body = 1 << 14, [], b""
    for name, data, kind in members:
        item = Table({0: "model_type", 1: ("B", 9), 2: Table({0: name})})
        items = {0: [item]} if name else {}
        sections.append(
            Table({**items, 1: ("Q", at + len(body)), 2: ("Q", at + len(body) + len(data)), 3: ("B", kind)})
        )
        body += data
    header = encode(Table({1: Table({0: sections})}), b"\0\0\0\0")
    head = b"LITERTLM" + struct.pack("<4IQ", 1, 0, 0, 0, 32 + len(header)) + header
    return head.ljust(at, b"\0") + body


def test_files_of_language_models() -> None:
    data = language_model(("", b"vocabulary", 4), ("prefill", file(flattening()), 3), ("", file(flattening(2)), 3))
    with pytest.raises(ModelError, match="one of them must be chosen: 'prefill', 'section 2'"):
        load(data)
    assert load(data, TfliteOptions(member="section 2")).declared["x"].dims == (1, 4, 4)
    assert load(language_model(("", file(flattening()), 3))).model.member == "section 0"
    with pytest.raises(ModelError, match="has no TensorFlow Lite model"):
        load(language_model(("", b"vocabulary", 4)))


def test_metadata_behind_the_model_are_not_read() -> None:
    assert len(load(file(flattening()) + archive({"labels.txt": b"cat"})).nodes) == 1
