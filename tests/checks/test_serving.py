"""A serving config of Triton against the model."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from shapeinf import infer_shapes
from shapeinf.checks import CheckedModel, check_serving, read_serving_config
from shapeinf.cli import main
from shapeinf.errors import ModelError
from shapeinf.formats.protobuf.text import parse_text
from tests.checks.models import join_model, reshape_model

CONFIG = """
name: "sum"  # a comment
platform: "onnxruntime_onnx"
max_batch_size: 8
input [
  { name: "x" data_type: TYPE_FP32 dims: [ 6 ] },
  { name: "z", data_type: TYPE_FP32, dims: [ 6 ] }
]
output { name: "y" data_type: TYPE_FP32 dims: 6 }
dynamic_batching { preferred_batch_size: [ 4, 8 ] }
"""
SUM = join_model("Add", "batch", "batch")


def run_check(tmp_path, text, proto=SUM):
    path = tmp_path / "config.pbtxt"
    path.write_text(text, encoding="utf-8")
    return check_serving(CheckedModel(infer_shapes(proto, declared="check")), read_serving_config(str(path)))


@pytest.mark.parametrize(
    ("old", "new", "code", "text"),
    [
        ("", "", "", ""),
        ("max_batch_size: 8", "max_batch_size: 0", "C162", "x has 1 axes in the config, but 2 in the model"),
        ('name: "x"', 'name: "xs"', "C160", "an input xs that the model does not have"),
        ('output { name: "y"', 'output { name: "out"', "C160", "an output out that the model does not have"),
        (
            "TYPE_FP32 dims: [ 6 ] }",
            "TYPE_INT64 dims: [ 6 ] }",
            "C161",
            "x is TYPE_INT64 in the config, but float32 in the model",
        ),
        ("dims: [ 6 ] }", "dims: [ 7 ] }", "C162", "axis 1 of x is 7 in the config, but 6 in the model"),
        ("dims: [ 6 ] }", "dims: [ -1 ] }", "C162", "is dynamic in the config, but always 6 in the model"),
        ("dims: [ 6 ] }", "dims: [ 2, 3 ] reshape { shape: [ 6 ] } }", "", ""),
        ("dims: 6 }", "dims: [ 5 ] }", "C162", "axis 1 of y is 5 in the config, but 6 in the model"),
    ],
)
def test_names_types_and_dims_are_compared(tmp_path, old, new, code, text) -> None:
    diagnostics = run_check(tmp_path, CONFIG.replace(old, new, 1))
    assert [f.code for f in diagnostics][:1] == ([code] if code else [])
    assert text in "".join(f.message for f in diagnostics)


def test_a_batch_that_the_graph_cannot_run(tmp_path) -> None:
    """The constant of the Reshape is for a batch of 4."""
    config = CONFIG.replace(
        'name: "z", data_type: TYPE_FP32, dims: [ 6 ]', 'name: "b" data_type: TYPE_FP32 dims: [2, 3]'
    )
    config = config.replace("dims: 6 }", "dims: [ 2, 3 ] }")
    first, second = run_check(tmp_path, config, reshape_model(4, 2, 3))
    assert (first.code, first.node) == ("C163", "make_h")
    assert second.message == "axis 0 of y is the batch of up to 8 in the config, but always 4 in the model"
    assert run_check(tmp_path, config, reshape_model(-1, 2, 3)) == []


def test_a_batch_axis_that_is_fixed(tmp_path) -> None:
    diagnostics = run_check(tmp_path, CONFIG, join_model("Add", 1, 1))
    assert {f.code for f in diagnostics} == {"C162"}
    assert diagnostics[0].message == "axis 0 of x is the batch of up to 8 in the config, but always 1 in the model"


@pytest.mark.parametrize(
    "text", ["input {", "input: [", "a: }", "a b", "3: 4", "input { dims: 3 }", "max_batch_size: many", "a: \x00", "a"]
)
def test_invalid_configs(tmp_path, text) -> None:
    with pytest.raises(ModelError):
        run_check(tmp_path, text)


def test_texts_and_nested_messages() -> None:
    text = "a: 'x' \"y\" b < c: -3 > b { c: 1.5 d: true }; e: []"
    assert parse_text(text) == {"a": ["xy"], "b": [{"c": [-3]}, {"c": ["1.5"], "d": ["true"]}], "e": []}
    with pytest.raises(ModelError):
        parse_text("a {" * 5000)


def test_on_the_command_line(tmp_path) -> None:
    model, config = tmp_path / "m.onnx", tmp_path / "config.pbtxt"
    model.write_bytes(SUM.SerializeToString())
    config.write_text(CONFIG.replace("dims: 6", "dims: 5"), encoding="utf-8")
    result = CliRunner().invoke(main, ["check", str(model), "--triton", str(config)])
    assert (result.exit_code, "error[C162]" in result.output) == (1, True)
