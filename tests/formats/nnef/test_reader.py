"""Complete NNEF models: their files, written annotations, the command line, and the locations of diagnostics."""

from __future__ import annotations

import io
import json
import tarfile

import numpy as np
import pytest
from click.testing import CliRunner

import shapeinf
from shapeinf import (
    ModelError,
    NnefOptions,
    ShapeError,
    ShapeInferenceError,
    UnknownFormatError,
    UnknownNameError,
    infer_shapes,
)
from shapeinf.cli import main
from shapeinf.errors import NnefError
from shapeinf.formats import load

nnef = pytest.importorskip("nnef", reason="the nnef package writes the tensor files of these tests")

HEAD = "version 1.0;\n\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n"
PLAIN = HEAD + "    w = variable(shape = [3, 4], label = 'block/w');\n    y = matmul(x, w);\n}\n"
INDICES = (
    "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [5, 4]);\n"
    "    i = variable<integer>(shape = [2], label = 'i');\n    y = gather(x, i);\n}\n"
)


def write_tensor(path, array, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        nnef.write_tensor(file, np.asarray(array), **options)


def model_in(folder, text=PLAIN, quantization=None, **tensors):
    folder.mkdir(exist_ok=True)
    (folder / "graph.nnef").write_text(text)
    if quantization is not None:
        (folder / "graph.quant").write_text(quantization)
    for label, array in tensors.items():
        write_tensor(folder / f"{label.replace('__', '/')}.dat", array)
    return folder


def packed(folder):
    path = folder.parent / "model.nnef.tgz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, "model")
    return path


def shapes(result):
    return {name: str(info.shape) for name, info in result.tensors.items()}


# -- every way to name a model


def test_every_way_to_name_a_model(tmp_path):
    folder = model_in(tmp_path / "model", block__w=np.zeros((3, 4), np.float32))
    archive = packed(folder)
    for model in (
        folder,
        str(folder),
        folder / "graph.nnef",
        archive,
        archive.read_bytes(),
        PLAIN,
        PLAIN.encode(),
        "\ufeff# comment\n" + PLAIN,
    ):
        result = infer_shapes(model)
        assert shapes(result) == {"x": "[2, 3]", "w": "[3, 4]", "y": "[2, 4]"}
        assert result.diagnostics == []
    odd = tmp_path / "model.txt"
    odd.write_text(PLAIN)
    assert infer_shapes(odd).graph.dialect == "nnef"


def test_the_dialect_is_an_option():
    text = "version 1.0;\ngraph g( x ) -> ( y ) { x = external(shape = [S, 3]); y = relu(x); }"
    with pytest.raises(NnefError):
        infer_shapes(text)
    assert shapes(infer_shapes(text, format_options=NnefOptions("tract")))["y"] == "[S, 3]"
    with pytest.raises(UnknownNameError, match="tract"):
        load(text, NnefOptions("trac"))
    with pytest.raises(NnefError):
        load(PLAIN, NnefOptions("provisional"))
    with pytest.raises(UnknownFormatError):
        load(3, NnefOptions("final"))


def test_options_must_be_those_of_the_format(tmp_path):
    with pytest.raises(ShapeInferenceError, match="the options dialect, expand are for NNEF, but the model is ONNX"):
        infer_shapes(tmp_path / "model.onnx", format_options=NnefOptions("tract"))
    with pytest.raises(ShapeInferenceError, match="has no effect"):
        infer_shapes(load(PLAIN), format_options=NnefOptions("final"))
    with pytest.raises(ShapeInferenceError, match="not options of a format"):
        load(PLAIN, {"dialect": "final"})


def test_compounds_are_replaced_on_request():
    text = HEAD + "    y = softmax(x, axes = [1]);\n}\n"
    compound = infer_shapes(text)
    assert [node.op for node in compound.graph.nodes] == ["softmax"]
    for expand in (["softmax"], "all"):
        parts = infer_shapes(text, format_options=NnefOptions(expand=expand))
        assert [node.op for node in parts.graph.nodes] == ["max_reduce", "sub", "exp", "sum_reduce", "div"]
        assert parts.tensors["y"].shape == compound.tensors["y"].shape
    with pytest.raises(UnknownNameError, match="did you mean 'softmax'"):
        infer_shapes(text, format_options=NnefOptions(expand=["softmx"]))
    with pytest.raises(UnknownNameError):
        infer_shapes(text, format_options=NnefOptions(expand=["conv"]))  # it has no body


# -- tensor files


def test_files_that_are_missing(tmp_path):
    text = PLAIN.replace("y = matmul", "v = variable(shape = [1], label = 'v');\n    y = matmul")
    folder = model_in(tmp_path / "model", text)
    (note,) = infer_shapes(folder).diagnostics
    assert (note.severity, note.code) == ("note", "N703") and "2 of 2 tensor files" in note.message
    assert str(tmp_path) not in note.message  # a baseline holds wherever the model is checked from
    write_tensor(folder / "v.dat", np.zeros(1, np.float32))
    (warning,) = infer_shapes(packed(folder)).diagnostics
    assert (warning.severity, warning.code) == ("warning", "N703") and "'block/w.dat'" in warning.message
    assert infer_shapes(text).diagnostics == []


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((4, 3), np.float32), r"declared as \[3, 4\], but its file 'block/w.dat' has the shape \[4, 3\]"),
        (np.zeros((3, 4, 1), np.float32), r"has the shape \[3, 4, 1\]"),
        (np.zeros(12, np.float32), r"has the shape \[12\]"),
    ],
)
def test_files_of_another_shape(tmp_path, array, message):
    folder = model_in(tmp_path / "model", block__w=array)
    for model in (folder, packed(folder)):
        with pytest.raises(NnefError, match=message) as caught:
            infer_shapes(model)
        assert (caught.value.diagnostics[0].code, caught.value.line) == ("N702", 6)


def test_ranks_are_open_in_the_provisional_dialect(tmp_path):
    text = "version 1.0\ngraph g( x ) -> ( y ) { x = external(shape = [2,3])\n"
    text += "w = variable(shape = [1,3,1], label = 'w') y = x + w }"
    folder = model_in(tmp_path / "model", text, w=np.zeros((1, 3), np.float32))
    assert infer_shapes(folder).diagnostics == []


def test_files_that_are_no_tensors(tmp_path):
    folder = model_in(tmp_path / "model", block__w=np.zeros((3, 4), np.float32))
    data = (folder / "block/w.dat").read_bytes()
    for wrong in (b"", b"PK", data[:-1], data[:60]):
        (folder / "block/w.dat").write_bytes(wrong)
        for model in (folder, packed(folder)):
            with pytest.raises(NnefError, match=r"block/w\.dat.*\[N701\]"):
                infer_shapes(model)


@pytest.mark.parametrize("label", ["../w", "/etc/passwd", "a/../../w", "./w", "a//w"])
def test_labels_stay_inside(tmp_path, label):
    folder = model_in(tmp_path / "model", PLAIN.replace("block/w", label))
    write_tensor(tmp_path / "w.dat", np.zeros((3, 4), np.float32))
    for model in (folder, packed(folder)):
        with pytest.raises(NnefError, match="is not a simple path inside the model"):
            infer_shapes(model)


def test_items_of_another_type(tmp_path):
    folder = model_in(tmp_path / "model", INDICES, i=np.zeros(2, np.float32))
    with pytest.raises(NnefError, match="float items"):
        infer_shapes(folder)


TILED = (
    "version 1.0;\nextension tract_registry tract_core;\ngraph g( x ) -> ( y )\n{\n"
    "    x = external(shape = [S, 6]);\n    s = variable<integer>(shape = [3], label = 's');\n"
    "    y = reshape(x, shape = s);\n}\n"
)


def test_small_contents_are_read_where_they_decide(tmp_path):
    folder = model_in(tmp_path / "model", TILED, s=np.array([0, 2, 3], np.int64))
    for model in (folder, packed(folder)):
        result = infer_shapes(model)
        assert shapes(result)["y"] == "[S, 2, 3]", result.diagnostics


def test_contents_that_a_run_changes_are_not_read(tmp_path):
    text = TILED.replace("    y = reshape", "    u = update(s, s);\n    y = reshape").replace("( y )", "( y, u )")
    folder = model_in(tmp_path / "model", text, s=np.array([0, 2, 3], np.int64))
    assert "s" not in load(folder).unread


def test_large_tensors_are_not_read(tmp_path):
    folder = model_in(tmp_path / "model", PLAIN.replace("[3, 4]", "[3, 1000000]"))
    write_tensor(folder / "block/w.dat", np.zeros((3, 10), np.float32))
    head = bytearray((folder / "block/w.dat").read_bytes()[:128])
    head[4:8] = (12_000_000).to_bytes(4, "little")
    head[16:20] = (1_000_000).to_bytes(4, "little")
    with open(folder / "block/w.dat", "wb") as file:
        file.write(head)
        file.truncate(128 + 12_000_000)
    graph = load(folder)
    assert graph.unread == {} and infer_shapes(graph).diagnostics == []


# -- quantization


def test_quantization_of_tensors(tmp_path):
    folder = model_in(
        tmp_path / "model", quantization="'y': linear_quantize(min = [[0.0, 0.0, 0.0, 1.0]], max = 1.0, bits = 8);\n"
    )
    assert [d.code for d in infer_shapes(packed(folder)).diagnostics] == ["N703"]
    (folder / "graph.quant").write_text("\n'y': linear_quantize(min = [[0.0, 1.0]], max = 1.0, bits = 8);\n")
    diagnostic = infer_shapes(folder).diagnostics[1]
    assert (diagnostic.severity, diagnostic.location) == ("error", f"{folder}/graph.quant:2:28")
    assert "quantization parameter 'min'" in diagnostic.render() and "graph.quant:2:28" in diagnostic.render()
    (folder / "graph.quant").write_text("'z': linear_quantize(min = 0.0, max = 1.0, bits = 8);\n")
    with pytest.raises(NnefError, match=r"graph\.quant:1:1: the graph has no tensor 'z' \[N710\]"):
        infer_shapes(folder)


# -- where things are

WRONG = (
    "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
    "fragment f( x: tensor<scalar>, w: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    y = matmul(x, w);\n}\n"
    "graph g( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n    w = variable(shape = [4, 3], label = 'w');\n"
    "    y = f(x, w);\n}\n"
)


def test_diagnostics_have_a_location_and_calls():
    (diagnostic,) = infer_shapes(WRONG).diagnostics
    assert diagnostic.location == "<text>:5:9, called at 11:9"
    assert "at <text>:5:9, called at 11:9" in diagnostic.render()
    with pytest.raises(ShapeError, match="<text>:5:9, called at 11:9: matmul"):
        infer_shapes(WRONG, mode="strict")


@pytest.mark.parametrize(("extents", "dialect"), [("[0, 0]", "provisional"), ("[B, S]", "tract")])
def test_extents_inferred_from_variables_have_a_location(extents, dialect):
    text = (
        HEAD.replace("[2, 3]", extents) + "    w = variable(shape = [8, 4], label = 'w');\n    y = matmul(x, w);\n}\n"
    )
    text = text.replace("1.0;", "1.0") if dialect == "provisional" else text
    result = infer_shapes(text, format_options=NnefOptions(dialect))
    assert result.tensors["x"].shape[1] == 8
    ((symbol, value),) = result.store.solved.items()
    source = result.store.sources[symbol]
    assert (value, source.node) == (8, "y")
    assert result.graph.locations[source.node] == "<text>:7:9"
    (line,) = result.explain("x", 1)
    assert line.startswith("x.shape[1] = 8") and line.endswith("(y) at <text>:7:9")


def test_assumptions_of_the_file():
    text = (
        "version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol S;\n"
        "extension tract_assert S >= 4;\nextension tract_assert tg: S == 1;\nextension tract_assert U < 3;\n"
        "graph g( x ) -> ( y ) { x = external(shape = [S]); y = slice(x, axes = [0], begin = [0], end = [4]); }"
    )
    result = infer_shapes(text)
    assert shapes(result)["y"] == "[4]" and result.interval(result.tensors["x"].shape[0]).lo == 4
    assert [(d.severity, d.code) for d in result.diagnostics] == [("warning", "S111")]
    assert "no dim is named 'U'" in result.diagnostics[0].message


# -- writing


def test_annotated_copies(tmp_path):
    text = (
        "version 1.0;\nextension KHR_enable_operator_expressions, KHR_enable_fragment_definitions;\n"
        "fragment f( x: tensor<scalar> ) -> ( a: tensor<scalar>, b: tensor<scalar> ) { a = relu(x); b = x * 2.0; }\n"
        "graph g( x ) -> ( y, z ) { # comments go\n x = external(shape=[2,6]);\n"
        "(a, b) = f(x); [y, c] = split(a, axis=1, ratios=[1,2]); z = c + -c; }"
    )
    result = infer_shapes(text)
    result.save(tmp_path / "out.nnef")
    lines = (tmp_path / "out.nnef").read_text().splitlines()
    assert [line.split("#")[1].strip() for line in lines if "#" in line] == [
        "[2, 6]",
        "[2, 6], [2, 6]",
        "[2, 2], [2, 4]",
        "[2, 4]",
    ]
    again = infer_shapes(tmp_path / "out.nnef")
    assert shapes(again) == shapes(result)
    stream = io.StringIO()
    again.save(stream)
    assert stream.getvalue().splitlines() == lines


def test_copies_of_models_with_symbols_and_repeated_names():
    text = (
        "version 1.0;\nextension tract_registry tract_core;\ngraph g( x ) -> ( y )\n{\n"
        "    x = external(shape = [B, 2*S]);\n    t = unsqueeze(x, axes = [0]);\n    t = concat([t, t], axis = 2);\n"
        "    p = split(t, axis = 2, ratios = [1, 1]);\n    y = relu(p[0]);\n}\n"
    )
    stream = io.StringIO()
    infer_shapes(text).save(stream)
    comments = [line.partition("#")[2].strip() for line in stream.getvalue().splitlines() if "#" in line]
    assert comments == [
        "[B, 2*S]",
        "[1, B, 2*S]",
        "[1, B, 4*S]",
        "[[1, B, 2*S], [1, B, 2*S]]",
        "[1, B, 2*S]",
    ]


def test_copies_of_the_provisional_dialect_end_statements():
    text = (
        "version 1.0\ngraph g( x ) -> ( y ) { x = external(shape = [2,4]); [a, b] = split(x, axis = 1, ratios = [1,1]);"
        " y = relu(a) }"
    )
    stream = io.StringIO()
    infer_shapes(text).save(stream)
    assert "    x = external(shape = [2, 4]);  # [2, 4]\n    [a, b] = " in stream.getvalue()
    assert shapes(infer_shapes(stream.getvalue())) == shapes(infer_shapes(text))


def test_where_copies_go(tmp_path):
    result = infer_shapes(PLAIN)
    for name in ("m.tgz", "m.nnef.tar.gz", ""):
        with pytest.raises(ModelError, match="not an archive or a folder"):
            result.save(tmp_path / name)
    with pytest.raises(ModelError, match="cannot be written: No such file"):
        result.save(tmp_path / "none" / "m.nnef")
    result.graph.model = None
    with pytest.raises(ModelError, match="not read from an NNEF model"):
        result.save(tmp_path / "m.nnef")
    assert list(tmp_path.iterdir()) == []


# -- the command line


def run(*arguments):
    return CliRunner().invoke(main, ["infer", *map(str, arguments)])


def test_the_command_line(tmp_path):
    folder = model_in(tmp_path / "model", block__w=np.zeros((3, 4), np.float32))
    for model in (folder, packed(folder), folder / "graph.nnef"):
        result = run(model)
        assert result.exit_code == 0, result.output
        assert "[2, 4]" in result.stdout and "1 nodes, 1 tensors" in result.stdout
    answer = json.loads(run(folder, "--json").stdout)
    assert answer["schema"] == "shapeinf.infer/1" and answer["tensors"]["y"]["shape"] == [2, 4]
    assert run(folder, "--save", tmp_path / "o.nnef").exit_code == 0
    printed = run(folder, "--save", "-")
    assert printed.stdout == (tmp_path / "o.nnef").read_text() and "y = matmul(x, w);  # [2, 4]" in printed.stdout
    assert run(folder, "--save", "-", "--json").exit_code == 2
    assert run(folder, "--expand", "softmax", "--expand", "matmul").exit_code == 2
    assert run(folder, "--dialect", "final").exit_code == 0
    assert run(folder, "--dialect", "nnef").exit_code == 2
    provisional = run(folder, "--dialect", "provisional")
    assert provisional.exit_code == 3 and "graph.nnef:1:12" in provisional.stderr


def test_diagnostics_on_the_command_line(tmp_path):
    (tmp_path / "m.nnef").write_text(WRONG)
    result = run(tmp_path / "m.nnef")
    assert result.exit_code == 1 and "m.nnef:5:9, called at 11:9" in result.stdout
    strict = run(tmp_path / "m.nnef", "--strict")
    assert strict.exit_code == 1 and "m.nnef:5:9, called at 11:9" in strict.stderr
    (diagnostic, *_) = [
        d for d in json.loads(run(tmp_path / "m.nnef", "--json").stdout)["diagnostics"] if d["severity"] == "error"
    ]
    assert diagnostic["location"].endswith("m.nnef:5:9, called at 11:9")
    (tmp_path / "m.nnef").write_text(WRONG.replace("w);\n}\ngraph", "v);\n}\ngraph"))
    broken = run(tmp_path / "m.nnef")
    assert broken.exit_code == 3 and "m.nnef:5:19" in broken.stderr


def test_bounds_and_shapes_of_inputs(tmp_path):
    (tmp_path / "m.nnef").write_text(PLAIN)
    assert "[7, 4]" in run(tmp_path / "m.nnef", "--input-shapes", "x:[7,3]").stdout
    assert "[N, 4]" in run(tmp_path / "m.nnef", "-d", "[N,3]", "--dim", "N=1..8").stdout
    assert shapeinf.infer_shapes(tmp_path / "m.nnef", inputs={"x": "[n, 3]"}).tensors["y"].shape[1] == 4


def test_streams_are_for_texts():
    import onnx

    model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 21]> g (float[N] x) => (y) { y = Relu(x) }')
    with pytest.raises(ModelError, match="stream"):
        infer_shapes(model).save(io.StringIO())


# -- documents that tract writes

TRACT = "version 1.0;\nextension tract_registry tract_core;\ngraph g({}) -> ({})\n{{\n{}}}\n"


def in_tract(statements, inputs="x", outputs="y"):
    return infer_shapes(TRACT.format(inputs, outputs, "".join(f"    {s};\n" for s in statements)))


def test_a_repeated_name_and_its_generated_name():
    statements = ["x = external(shape = [5])", "y = unsqueeze(x, axes = [0])", 'i"y.1" = squeeze(y, axes = [0])']
    result = in_tract([*statements, 'y = i"y.1"'])
    assert shapes(result) == {"x": "[5]", "y.2": "[1, 5]", "y.1": "[5]", "y": "[5]"}


def test_a_graph_without_inputs_and_extents_of_0():
    result = in_tract(["z = variable(shape = [0, 4], label = 'z')", "y = concat([z, z], axis = 0)"], inputs="")
    assert shapes(result) == {"z": "[0, 4]", "y": "[0, 4]"}
    stream = io.StringIO()
    result.save(stream)
    assert shapes(infer_shapes(stream.getvalue())) == shapes(result)
    empty = in_tract(["x = external(shape = [0, 4])", "y = relu(x)"])
    assert shapes(empty) == {"x": "[0, 4]", "y": "[0, 4]"}
    with pytest.raises(NnefError, match="at least 0"):
        in_tract(["x = external(shape = [-1])", "y = relu(x)"])
    with pytest.raises(NnefError, match="positive"):
        infer_shapes(HEAD.replace("[2, 3]", "[0, 3]") + "    y = relu(x);\n}\n")
    with pytest.raises(NnefError, match="graph parameter"):
        infer_shapes("version 1.0;\ngraph g() -> ( y )\n{\n    y = variable(shape = [1], label = 'y');\n}\n")


def test_labels_that_begin_with_a_slash(tmp_path):
    statement = "w = variable(shape = [3, 4], label = '/block/w')"
    text = TRACT.format("x", "y", f"x = external(shape = [2, 3]); {statement}; y = matmul(x, w);")
    result = infer_shapes(model_in(tmp_path / "model", text, block__w=np.zeros((3, 4), np.float32)))
    assert result.diagnostics == [] and shapes(result)["y"] == "[2, 4]"


# -- extensions that are read with a warning, and those that are not


def test_extensions_that_are_not_known():
    text = PLAIN.replace("version 1.0;", "version 1.0;\nextension KHR_of_tomorrow;")
    (diagnostic,) = infer_shapes(text).diagnostics
    assert (diagnostic.severity, diagnostic.code) == ("warning", "N206") and "'KHR_of_tomorrow'" in diagnostic.message


def test_fragments_that_give_no_tensor():
    text = (
        "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
        "fragment f( x: tensor<scalar> ) -> ( y: integer )\n{\n    y = 1;\n}\n"
        "graph g( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n    y = f(x);\n}\n"
    )
    assert [(d.severity, d.code) for d in infer_shapes(text).diagnostics] == [("warning", "N307")]


@pytest.mark.parametrize("items", [np.int32, np.int8, np.uint8, bool])
def test_a_scalar_variable_does_not_have_integers(tmp_path, items):
    folder = model_in(tmp_path / "model", block__w=np.zeros((3, 4), items))
    with pytest.raises(NnefError, match="N702"):
        infer_shapes(folder)
    if items is not bool:
        write_tensor(folder / "block" / "w.dat", np.zeros((3, 4), items), quantized=True)
        assert infer_shapes(folder).diagnostics == []
        write_tensor(folder / "block" / "w.dat", np.zeros((3, 4), items))
        (folder / "graph.quant").write_text('"w": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n')
        assert infer_shapes(folder).diagnostics == []
