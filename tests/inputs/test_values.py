"""Values of inputs that users specify: texts and objects, checks against the input, and the shapes they decide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner

from shapeinf import ShapeInferenceError, UnknownNameError, infer_shapes
from shapeinf.cli.main import main
from shapeinf.edit.bind import bind
from shapeinf.errors import Contradiction
from shapeinf.inputs.options import InferenceOptions
from shapeinf.inputs.spec import SpecError
from shapeinf.inputs.values import parse_value, parse_value_option
from shapeinf.runtime import verify


def model(inputs: str, nodes: str, more: str = "") -> onnx.ModelProto:
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 18]> g ({inputs}) => (float[r, s] y) {more} {{ {nodes} }}'
    )


RESHAPE = model("float[n, 6] x, int64[k] shape", "y = Reshape (x, shape)")
TYPES = model("float f, bool b, uint8[2] u, string t, int64[1] i, float16 h", "y = Identity (f)")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("16000", "16000"),
        ("[]", []),
        ("[1, [2]]", ["1", ["2"]]),
        ("max(a, b)", "max(a, b)"),
        ("[max(a, b), `x,y`]", ["max(a, b)", "`x,y`"]),
        ("['a,b', \"]\"]", ["a,b", "]"]),
        ("a, b", "a, b"),
    ],
)
def test_texts(text: str, value: object) -> None:
    assert parse_value(text) == value


@pytest.mark.parametrize("text", ["sr", "sr=", "=1", "sr=[1", "sr=[1 2] 3", "sr=[1,,2]", "sr=[1,]x", "x=" + "[" * 40])
def test_wrong_texts(text: str) -> None:
    with pytest.raises(ShapeInferenceError):
        parse_value_option(text)


@pytest.mark.parametrize("text", ["sr", "sr=", "=1"])
def test_a_text_that_is_no_assignment_is_wrong_from_its_begin(text: str) -> None:
    with pytest.raises(SpecError, match="NAME=VALUE") as error:
        parse_value_option(text)
    assert error.value.position == 0


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ([2, 3], (2, 3)),
        ("[2, 3]", (2, 3)),
        (np.array([2, 3], np.int32), (2, 3)),
        ((np.int64(2), "3"), (2, 3)),
        ([None, 3], None),
        (["n", -1], ("n", 6)),
        (["2*n", 3], ("2*n", 3)),
        (["m", "n"], (6, "n")),
    ],
)
def test_values_of_an_input_that_holds_a_shape(value: object, shape: tuple[int | str, ...] | None) -> None:
    dims = infer_shapes(RESHAPE, values={"shape": value}).tensors["y"].shape.dims
    assert dims is not None
    if shape is None:
        assert dims[1] == 3
    else:
        assert tuple(d if isinstance(d, int) else str(d) for d in dims) == shape


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("i", 3, r"has the shape \[\], the model declares int64\[1\]: write it in brackets"),
        ("i", [1, 2], r"has the shape \[2\], the model declares int64\[1\]"),
        ("i", [[1]], r"has the shape \[1, 1\]"),
        ("i", [1.0], "contains 1.0: expected an integer"),
        ("i", [True], "contains True: expected an integer"),
        ("i", [2**63], "from -9223372036854775808 to 9223372036854775807"),
        ("i", ["2 +"], "an expression of dims"),
        ("u", [0, 256], "contains 256: expected an integer of uint8, from 0 to 255"),
        ("u", [[1], []], "its lists have different lengths"),
        ("u", [[1], 2], "its lists have different depths"),
        ("f", "a", "contains 'a': expected a number"),
        ("f", True, "expected a number"),
        ("h", 70000.0, "a number that float16 can hold"),
        ("b", 1, "contains 1: expected true or false"),
        ("t", 1, "contains 1: expected a text"),
        ("i", [0] * 5000, "has 5000 elements; the limit is 4096"),
        ("i", np.zeros(5000, np.int64), "has 5000 elements; the limit is 4096"),
    ],
)
def test_the_declared_type_decides(name: str, value: object, message: str) -> None:
    with pytest.raises(ShapeInferenceError, match=message) as error:
        infer_shapes(TYPES, values={name: value})
    assert f"input {name}" in str(error.value)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("f", 1, "f = 1.0"),
        ("b", "true", "b = true"),
        ("u", [0, 255], "u = [0, 255]"),
        ("t", "[a]", "t = '[a]'"),
        ("i", [None], "i = [?]"),
    ],
)
def test_the_result_states_what_it_holds_for(name: str, value: object, text: str) -> None:
    result = infer_shapes(TYPES, values={name: value})
    assert result.assumptions == (text,)
    assert f"holds for {text}" in str(result.contract)
    assert result.policy.endswith(f"; holds for {text}")


def test_inputs_without_contents_are_refused_by_name() -> None:
    proto = model("float[2] x", "y = Identity (x)")
    proto.graph.input[0].type.CopyFrom(onnx.helper.make_sequence_type_proto(proto.graph.input[0].type))
    with pytest.raises(ShapeInferenceError, match="input x is a sequence"):
        infer_shapes(proto, values={"x": 1})
    with pytest.raises(UnknownNameError, match="no input is named 'z'; available: 'x'"):
        infer_shapes(model("float[2] x", "y = Identity (x)"), values={"z": 1})


def test_the_sizes_of_the_value_are_those_of_the_dims() -> None:
    pair = model("float[n, 6] x, int64[n] v", "y = Identity (x)")
    assert infer_shapes(pair, values={"v": [1, 2, 3]}).tensors["y"].shape == (3, 6)
    with pytest.raises(Contradiction, match=r"n=3 is specified by the user"):
        infer_shapes(pair, values={"v": [1, 2, 3]}, dims={"n": "4..8"})


def test_a_default_value_is_replaced_and_without_a_value_it_holds() -> None:
    proto = model("float[n, 6] x, int64[2] shape = {3, -1}", "y = Reshape (x, shape)")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([3, -1]), "shape"))
    if "shape" not in [value.name for value in proto.graph.input]:
        proto.graph.input.append(onnx.helper.make_tensor_value_info("shape", onnx.TensorProto.INT64, [2]))
    assert infer_shapes(proto).tensors["y"].shape[0] == 3
    assert infer_shapes(proto, values={"shape": [-1, 2]}).tensors["y"].shape[1] == 2
    with pytest.raises(ShapeInferenceError, match=r"has the shape \[3\], the model declares int64\[2\]"):
        infer_shapes(proto, values={"shape": [1, 2, 3]})


def test_values_stay_after_an_update_and_in_questions() -> None:
    result = infer_shapes(RESHAPE, values={"shape": [2, -1]})
    assert result.contract.check(n=3).verdict is True
    assert infer_shapes(RESHAPE, values={"shape": [5, -1]}).contract.check(n=3).verdict is False
    smaller = result.without_assumptions({"n": 0})
    assert smaller is not None and smaller.assumptions == result.assumptions
    updated = result.update({"x": [4, 6]})
    assert updated.tensors["y"].shape == (2, 12)


def test_files_do_not_get_what_holds_for_a_value_only(tmp_path: Path) -> None:
    target = tmp_path / "saved.onnx"
    with pytest.raises(ShapeInferenceError, match=r"hold only for shape = \[2, -1\]"):
        infer_shapes(RESHAPE, values={"shape": [2, -1]}).save(target)
    assert not target.exists()
    with pytest.raises(ShapeInferenceError, match="only dims can be bound"):
        bind(RESHAPE, {"n": 2}, options=InferenceOptions(values={"shape": [2, -1]}))


def test_verify_runs_with_the_values() -> None:
    pytest.importorskip("onnxruntime", reason="verify runs the model")
    for value in ([2, -1], ["n", 6], [None, 6]):
        verification = verify(RESHAPE, options=InferenceOptions(values={"shape": value}))
        assert verification.ok and not verification.runs[0].refused, str(verification)
    with pytest.raises(ShapeInferenceError, match="has a value and an array"):
        verify(RESHAPE, arrays={"shape": np.array([2, 3])}, options=InferenceOptions(values={"shape": [2, 3]}))


def test_commands_and_configs(tmp_path: Path) -> None:
    path, config = str(tmp_path / "m.onnx"), tmp_path / "c.toml"
    onnx.save(RESHAPE, path)
    config.write_text('[values]\nshape = ["n", 3, "?"]\n', encoding="utf-8")

    def run(*words: str) -> Any:
        return CliRunner().invoke(main, list(words))

    assert "[2, 3*n]" in run("infer", path, "--value", "shape=[2,-1]").output
    assert "holds for shape = [n, 3, ?]" in run("infer", path, "--config", str(config)).output
    for command in ("check", "memory", "plan", "explain"):
        assert run(command, path, "--value", "shape=[2,-1]").exit_code < 2
    assert run("bind", path, "n=2", "--value", "shape=[2,-1]").exit_code == 2
    record = json.loads(run("infer", path, "--value", "shape=[2,-1]", "--json").stdout)
    assert record["assumptions"] == ["shape = [2, -1]"]


@pytest.mark.parametrize(
    ("model_path", "name", "value"),
    [("examples/recurrent.pbtxt", "tokens", [[1, 2], [3, 4]]), ("examples/recurrent.pbtxt", "tokens:0", [[1]])],
)
def test_placeholders(model_path: str, name: str, value: object) -> None:
    result = infer_shapes(model_path, values={name: value})
    assert result.tensor("logits:0").shape[0] == len(value)  # type: ignore[arg-type]


def test_an_array_without_elements_is_printed_without_its_brackets() -> None:
    result = infer_shapes(model("float[a, b] x", "y = Identity (x)"), values={"x": np.zeros((1 << 40, 0), np.float32)})
    assert result.assumptions == ("x = float32[1099511627776, 0]",)


@pytest.mark.parametrize("text", ["[3, ]", "[3,]", "[[1], ]", "[[1,], [2]]", "[,]", "[1,,2]", "[", "[1", "[1]]"])
def test_lists_have_an_element_between_commas_and_brackets(text: str) -> None:
    with pytest.raises(SpecError):
        parse_value(text)


def test_an_empty_list_is_a_value() -> None:
    assert parse_value(" [ ] ") == []
