"""Complete NNEF models: all kinds of sources, dialects, the command line, and the locations of diagnostics."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

import shapeinf
from shapeinf import NnefOptions, ShapeError, ShapeInferenceError, UnknownNameError, infer_shapes
from shapeinf.cli import main
from shapeinf.errors import NnefError, UnknownFormatError
from shapeinf.formats import load
from tests.formats.nnef.models import HEAD, PLAIN, model_in, packed, shapes

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
    ((symbol, value),) = result.engine.store.solved.items()
    source = result.engine.store.sources[symbol]
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
