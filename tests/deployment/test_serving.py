"""Serving configs that are written: Triton's own definition reads them, and our own check finds nothing in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import BindError, infer_shapes
from shapeinf.checks import CheckedModel, check_serving, read_serving_config
from shapeinf.cli import main
from shapeinf.deployment import make_serving_config
from shapeinf.errors import ExportError
from shapeinf.formats.protobuf.text import format_text, parse_text, quote_text
from tests.checks.models import join_model, model, node, reshape_model, weights
from tests.deployment.triton import parse_config

CONVNET = "examples/convnet.onnx"


def checked_text(proto: Any, max_batch: int, folder: Path) -> str:
    """The text of a config, in which our own check finds nothing."""
    text = str(make_serving_config(proto, max_batch))
    (folder / "config.pbtxt").write_text(text, encoding="utf-8")
    config = read_serving_config(str(folder / "config.pbtxt"))
    assert check_serving(CheckedModel(infer_shapes(proto, declared="check")), config) == []
    return text


def test_a_config_with_a_batch(tmp_path: Path) -> None:
    config = parse_config(checked_text(CONVNET, 4, tmp_path))
    assert (config.platform, config.backend, config.max_batch_size) == ("onnxruntime_onnx", "onnxruntime", 4)
    assert config.HasField("dynamic_batching")
    (image,), (mask,) = config.input, config.output
    assert (image.name, image.data_type, list(image.dims)) == ("image", 11, [3, -1, -1])  # TYPE_FP32
    assert (mask.name, list(mask.dims)) == ("mask", [1, -1, -1])


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {text}')


@pytest.mark.parametrize(
    ("proto", "batch", "dims", "note"),
    [
        (join_model("Add", "batch", "batch"), 8, [[6], [6]], ""),
        (join_model("Add", "n", "m"), 8, [[6], [6]], ""),
        (join_model("Add", 1, 1), 0, [[1, 6], [1, 6]], "axis 0 of the input x is always 1"),
        (join_model("Add", "batch", 1), 0, [[-1, 6], [1, 6]], "axis 0 of the input z is always 1"),
        (reshape_model(1, 2, 3), 0, [[1, 6], [1, 2, 3]], "batch == 1, required by Reshape 'make_h'"),
        (join_model("MatMul", "batch", "batch"), 0, [[6, 6], [6, 6]], "batch == 6, required by MatMul"),
        (model([node("Softmax", "x", "y", axis=0)], {"x": ["n", 3]}, {"y": None}), 8, [[3]], "may mix the items"),
        (parsed("g (float[n] x) => (float[n] y) { y = Relu(x) }"), 8, [[1]], ""),
        (
            parsed("g (float[n] x, float s) => (float[n] y) { y = Mul(x, s) }"),
            0,
            [[-1], [1]],
            "the input s has no axis",
        ),
        (parsed("g (float[n, 2] x) => (float[a, b] y) { y = Transpose(x) }"), 0, [[-1, 2]], "axis 0 of the output y"),
        (parsed("g (float[n, 2] x) => (float[a, b] y) { y = Concat<axis = 0>(x, x) }"), 0, [[-1, 2]], "axis 0 of the"),
    ],
)
def test_the_batch_and_the_dims(proto: Any, batch: int, dims: list[list[int]], note: str, tmp_path: Path) -> None:
    made = make_serving_config(proto, 8)
    assert made.config.max_batch_size == batch and (note in "\n".join(made.notes) if note else made.notes == ())
    assert made.batches == (batch > 0 and "mix" not in note)
    config = parse_config(checked_text(proto, 8, tmp_path))
    assert [list(port.dims) for port in config.input] == dims
    assert all((list(p.dims) == [1] and not p.reshape.shape) or not p.HasField("reshape") for p in config.input)
    assert config.HasField("dynamic_batching") == made.batches


def test_a_batch_that_a_node_limits() -> None:
    """A table of 4 rows, picked by the positions of the batch."""
    proto = parsed(
        """g (float[n, 2] x, float[4, 2] table) => (float[n, 2] y) {
        size = Shape<start = 0, end = 1>(x)  zero = Constant<value = int64[1] {0}>()  one = Constant<value_int = 1>()
        none = Constant<value_int = 0>()  many = Squeeze(size)  at = Range(none, many, one)
        rows = Gather(table, at)  y = Add(x, rows) }"""
    )
    proto.graph.input.pop()
    proto.graph.initializer.append(weights("table", 4, 2))
    with pytest.raises(BindError, match="all sizes up to 4 are legal"):
        make_serving_config(proto, 8)
    assert make_serving_config(proto, 4).config.max_batch_size == 4


def test_outputs_that_a_config_cannot_describe() -> None:
    proto = parsed("g (float[n, 2] x) => (float[n, 2] y, seq(float[n, 2]) s) { y = Relu(x)  s = SequenceConstruct(x) }")
    made = make_serving_config(proto, 2)
    assert made.omitted == ("s: it is a sequence",) and [port.name for port in made.config.outputs] == ["y"]
    assert "# omitted: s: it is a sequence\n" in str(made)


@pytest.mark.parametrize(
    ("proto", "text"),
    [
        ("examples/squeezenet.nnef", "Triton has no backend that loads the file of NNEF models"),
        (parsed("g (float x) => (float[n] y) { y = NoSuch(x) }"), "cannot describe any output"),
        (parsed("g (seq(float) x) => (float y) { y = ConcatFromSequence<axis = 0>(x) }"), "the input x: it is a seq"),
        (parsed("g (float[0, n] x) => (float[0, n] y) { y = Relu(x) }"), "the input x: its shape"),
        (parsed("g (complex64[n] x) => (complex64[n] y) { y = Identity(x) }"), "Triton has no type for complex64"),
    ],
)
def test_models_that_have_no_config(proto: Any, text: str) -> None:
    with pytest.raises(ExportError, match=text.replace("(", r"\(")):
        make_serving_config(proto)


def test_names_of_a_signature(tmp_path: Path) -> None:
    """Inputs of a graph without a signature have their own names."""
    config = parse_config(checked_text("examples/recurrent.pbtxt", 3, tmp_path))
    assert (config.platform, config.backend) == ("tensorflow_graphdef", "tensorflow")


@given(st.text())
def test_texts_are_read_as_they_are(text: str) -> None:
    try:
        quoted = quote_text(text)
    except ExportError:
        assert any("\ud800" <= c <= "\udfff" for c in text)
        return
    assert quoted.isascii() and quoted.isprintable()
    assert parse_text(f"name: {quoted}") == {"name": [text]}
    assert parse_config(format_text({"name": [text]})).name == text


def run(*arguments: object) -> Any:
    return CliRunner().invoke(main, ["triton", *map(str, arguments)])


def test_on_the_command_line(tmp_path: Path) -> None:
    target = tmp_path / "config.pbtxt"
    done = run(CONVNET, "-o", target)
    assert (done.exit_code, target.read_text()) == (0, str(make_serving_config(CONVNET, 8)))
    assert CliRunner().invoke(main, ["check", CONVNET, "--triton", str(target)]).output == "no diagnostics\n"
    refused = run("examples/squeezenet.nnef", "-o", tmp_path / "other.pbtxt")
    assert (refused.exit_code, len(list(tmp_path.iterdir()))) == (2, 1)
    assert run(CONVNET, "--max-batch", "-1").exit_code == 2
