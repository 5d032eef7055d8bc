"""`shapeinf.compat.onnxruntime`: the class and the script of onnxruntime's `symbolic_shape_infer`."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from shapeinf.compat import onnxruntime as compat
from shapeinf.compat.onnxruntime import SymbolicShapeInference, main
from shapeinf.errors import ModelError

HEADER = '<ir_version: 8, opset_import: ["" : 17, "my" : 1]>'
TEXT = """g (float[?, m] x) => (float[k] y) {
    i = NonZero(x)  c = Cast<to = 1>(i)  a = Abs(x)  y = ReduceMax<axes = [0]>(c)
}"""


def parse(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEADER + text)


def dims(model: onnx.ModelProto) -> dict[str, list[int | str]]:
    values = (*model.graph.input, *model.graph.value_info, *model.graph.output)
    return {v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in values}


def tool() -> Any:
    pytest.importorskip("sympy")
    return pytest.importorskip("onnxruntime.tools.symbolic_shape_infer")


def test_signatures_are_those_of_onnxruntime() -> None:
    theirs = tool().SymbolicShapeInference
    for name in ("infer_shapes", "__init__", "_preprocess", "_infer_impl", "_update_output_from_vi"):
        ours, other = (inspect.signature(getattr(owner, name)) for owner in (SymbolicShapeInference, theirs))
        assert [(p.name, p.default) for p in ours.parameters.values()] == [
            (p.name, p.default) for p in other.parameters.values()
        ]


def test_every_dim_has_a_number_or_a_name_that_its_size_has_everywhere() -> None:
    model = parse(TEXT)
    before = model.SerializeToString()
    inferred = SymbolicShapeInference.infer_shapes(model, 2**31 - 1, True, False, 0)
    assert model.SerializeToString() == before
    assert dims(inferred) == {
        "x": ["x_shape_0", "m"],
        "i": [2, "i_count"],
        "c": [2, "i_count"],
        "a": ["x_shape_0", "m"],
        "y": [1, "i_count"],
    }


def test_what_onnxruntime_calls_incomplete_is_returned_as_far_as_it_is_known() -> None:
    model = parse("g (float[n, 4] x) => (float[] y) { u = my.unknown(x)  v = Relu(u)  w = Relu(x)  y = Abs(v) }")
    inferred = SymbolicShapeInference.infer_shapes(model)
    assert dims(inferred) == {"x": ["n", 4], "w": ["n", 4], "y": []}


@pytest.mark.parametrize("model", [None, "m.onnx", b"", object()])
def test_other_arguments_are_type_errors(model: Any) -> None:
    with pytest.raises(TypeError, match="takes a ModelProto"):
        SymbolicShapeInference.infer_shapes(model)


def test_a_malformed_model_is_an_error_of_shapeinf() -> None:
    model = parse("g (float[n] x) => (float[n] y) { y = Relu(x) }")
    model.graph.input[0].name = ""
    with pytest.raises(ModelError, match="has no name"):
        SymbolicShapeInference.infer_shapes(model)


def test_optimizers_add_nodes_before_the_opset_of_their_domain() -> None:
    model = parse("g (float[n, 4] x) => (float[?, ?] y) { h = Relu(x)  y = com.microsoft.Gelu(h) }")
    inferred = SymbolicShapeInference.infer_shapes(model)
    assert dims(inferred)["y"] == ["n", 4]
    assert inferred.opset_import == model.opset_import


class Helper(SymbolicShapeInference):
    """A subclass that runs the steps itself, as onnxruntime's helper of the transformer tools does."""

    def __init__(self) -> None:
        super().__init__(2**31 - 1, True, False, 0)
        self.dynamic_axis_mapping_ = {"m": 6, "elsewhere": 3}


def test_a_subclass_runs_the_steps_at_sizes_of_its_own() -> None:
    helper = Helper()
    helper._preprocess(parse("g (float[n, m] x) => (float[k] y) { y = Concat<axis = 1>(x, x) }"))
    complete = None
    while helper.run_:
        complete = helper._infer_impl()
    helper._update_output_from_vi()
    assert complete is True
    declared = helper.known_vi_["y"].type.tensor_type.shape.dim
    assert [d.dim_param or d.dim_value for d in declared] == ["n", 12]
    assert {"x", "y"} <= helper.known_vi_.keys()


def test_illegal_sizes_of_a_subclass_are_ignored() -> None:
    helper = Helper()
    helper._preprocess(parse("g (float[n, m] x, float[5] z) => (float[?, ?] y) { y = Add(x, z) }"))
    assert helper._infer_impl()
    assert "y" in helper.known_vi_


def test_steps_say_that_a_shape_is_unknown() -> None:
    inference = SymbolicShapeInference(1, False, False, 0)
    inference._preprocess(parse("g (float[n] x) => (float[] y) { y = my.unknown(x) }"))
    assert not inference._infer_impl()


def test_diagnostics_are_logged_on_request(caplog: pytest.LogCaptureFixture) -> None:
    model = parse("g (float[2, 3] x, float[4, 5] z) => (float[?, ?] y) { y = MatMul(x, z) }")
    SymbolicShapeInference.infer_shapes(model)
    assert not caplog.records
    SymbolicShapeInference.infer_shapes(model, verbose=1)
    assert "inner dimensions" in caplog.text


# -- the script


def save(folder: Path) -> Path:
    model = parse("g (float[n, 40] x) => (float[?, ?] y) { y = MatMul(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.ones((40, 50), "float32"), "w"))
    onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    return folder / "m.onnx"


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_the_script_runs_as_a_module(tmp_path: Path) -> None:
    path = save(tmp_path)
    command = [sys.executable, "-m", "shapeinf.compat.onnxruntime", "--input", path.name, "--output", "o.onnx"]
    root = str(Path(compat.__file__).parents[2])
    subprocess.run([*command, "--auto_merge"], cwd=tmp_path, check=True, env={**os.environ, "PYTHONPATH": root})
    assert dims(onnx.load(tmp_path / "o.onnx"))["y"] == ["n", 50]
    assert files(tmp_path) == ["m.onnx", "o.onnx", "w.bin"]


@pytest.mark.parametrize(
    ("target", "options", "written"),
    [
        ("o.onnx", [], ["o.onnx"]),
        ("d/o.onnx", [], ["d/o.onnx"]),
        ("d/o.onnx", ["--save_as_external_data", "--all_tensors_to_one_file"], ["d/o.onnx", "d/o.onnx.data"]),
        (
            "d/o.onnx",
            ["--save_as_external_data", "--all_tensors_to_one_file", "--external_data_location", "all.bin"],
            ["d/all.bin", "d/o.onnx"],
        ),
        ("d/o.onnx", ["--save_as_external_data"], ["d/o.onnx", "d/w"]),
        (None, [], []),
    ],
)
def test_weights_of_the_script(tmp_path: Path, target: str | None, options: list[str], written: list[str]) -> None:
    path = save(tmp_path)
    (tmp_path / "d").mkdir()
    output = [] if target is None else ["--output", str(tmp_path / target)]
    assert main(["--input", str(path), *output, *options]) == 0
    assert [name for name in files(tmp_path) if name not in ("m.onnx", "w.bin")] == written
    if target is not None:
        model = onnx.load(tmp_path / target)
        assert dims(model)["y"] == ["n", 50]
        assert numpy_helper.to_array(model.graph.initializer[0]).sum() == 2000


@pytest.mark.parametrize("more", [[], ["--save_as_external_data"]])
@pytest.mark.parametrize(("source", "target"), [("none", "o"), ("garbage", "o"), ("m", "none/o")])
def test_errors_of_the_script(
    tmp_path: Path, source: str, target: str, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path)
    (tmp_path / "garbage.onnx").write_bytes(b"\x08\x0a\x3a\xff\xff")
    before = files(tmp_path)
    paths = [str(tmp_path / f"{name}.onnx") for name in (source, target)]
    assert main(["--input", paths[0], "--output", paths[1], *more]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert files(tmp_path) == before
