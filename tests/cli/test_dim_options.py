"""Names of dims in options: one name for an unnamed axis everywhere; an option without effect is an error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from shapeinf import Dim, Result, ShapeInferenceError, UnknownNameError, infer_shapes
from shapeinf.cli.main import main
from shapeinf.edit.bind import bind
from shapeinf.expr import quote_name
from shapeinf.inputs.options import InferenceOptions
from shapeinf.runtime import verify

CONVNET = "examples/convnet.onnx"
INPUTS = ("a", "x y", "a.b", "a[0]", "it's", 'say "x"', "日本", "a`b", "a.shape[1]")
"""Names of an input whose axis has no name."""


def unnamed(name: str) -> onnx.ModelProto:
    """y = Relu(x) of an input without names of dims."""
    relu = helper.make_node("Relu", [name], ["y"], name="relu")
    x = helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 3])
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(helper.make_graph([relu], "g", [x], [y]), opset_imports=opset, ir_version=8)


def counts() -> onnx.ModelProto:
    """NonZero of an input [n]."""
    return onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[n] x) => (int64[c, one] y) { [nz] p = NonZero(x) y = Transpose(p) }""")


QUERIES: dict[str, Callable[[onnx.ModelProto, str], object]] = {
    "dims": lambda m, name: infer_shapes(m, dims={name: "4"}).tensors["y"].shape[0],
    "bind": lambda m, name: infer_shapes(m, bind={name: 4}).tensors["y"].shape[0],
    "assume": lambda m, name: infer_shapes(m, assume=f"{name} == 4").tensors["y"].shape[0],
    "Dim": lambda m, name: infer_shapes(m, dims=[Dim(name, 4, 4)]).tensors["y"].shape[0],
    "check": lambda m, name: 4 if infer_shapes(m).contract.check({name: 4}).verdict else None,
    "solve": lambda m, name: max(infer_shapes(m).contract.solve(name, range(5))),
    "program": lambda m, name: infer_shapes(m).program()({name: 4})["y"][0][0],
    "peak.at": lambda m, name: infer_shapes(m).memory().peak.at({name: 4}).bytes // 12,
    "peak.over": lambda m, name: (infer_shapes(m).memory().peak.over({name: (1, 4)}).value or 0) // 12,
    "edit.bind": lambda m, name: bind(m, {name: 4}).tensors["y"].shape[0],
    "verify": lambda m, name: verify(m, at=[{name: 4}]).runs[0].sizes[name],
}


def printed_name(result: Result) -> str:
    """The name of the axis as the shape of the output shows it."""
    return str(result.tensors["y"].shape[0])


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("name", INPUTS)
def test_the_printed_name_is_accepted_by_every_query(name: str, query: str) -> None:
    if query == "verify":
        pytest.importorskip("onnxruntime", reason="verify runs the model")
    model = unnamed(name)
    label = printed_name(infer_shapes(model))
    assert label == quote_name(f"{name}.shape[0]")
    assert QUERIES[query](model, label) == 4


@pytest.mark.parametrize("name", INPUTS)
def test_the_label_of_preconditions_and_queries_is_the_printed_name(name: str) -> None:
    result = infer_shapes(unnamed(name))
    assert list(result.contract._reader.labels.values()) == [printed_name(result)]
    assert printed_name(result) in str(result.memory().peak)


@pytest.mark.parametrize("query", [query for query in QUERIES if query != "assume"])
def test_the_old_spelling_names_the_right_one(query: str) -> None:
    if query == "verify":
        pytest.importorskip("onnxruntime", reason="verify runs the model")
    with pytest.raises(
        UnknownNameError, match=r"no dim is named 'a\.0'; an axis without a name is written 'a\.shape\[0\]'"
    ):
        QUERIES[query](unnamed("a"), "a.0")


GONE = "no dim is named 'batch': the shape of input image no longer has it; none is available"


@pytest.mark.parametrize(
    "command",
    [
        "infer {m} {s} --dim batch=1..8",
        "infer {m} {s} --bind batch=1",
        "infer {m} {s} --assume batch<=4",
        "check {m} {s} --dim batch=1..8",
        "explain {m} {s} --dim batch=1..8",
        "memory {m} {s} --dim batch=1..8",
        "memory {m} {s} --bind batch=1",
        "plan {m} {s} --bind batch=1",
        "verify {m} {s} --at batch=1",
        "bind {m} {s} batch=1",
        "diff {m} {m} {s} --dim batch=1..8",
    ],
)
def test_a_name_that_a_shape_replaced_is_an_error(command: str) -> None:
    if command.startswith("verify"):
        pytest.importorskip("onnxruntime", reason="verify runs the model")
    words = [word.format(m=CONVNET, s="--input-shapes=image:[1,3,64,64]") for word in command.split()]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, GONE in done.output) == (2, True), done.output


@pytest.mark.parametrize("dims", [{"a.shape[0]": "0..8"}, {"a.shape[0]": (0, 8)}])
def test_an_unnamed_axis_may_be_smaller_than_the_policy(dims: dict[str, Any]) -> None:
    result = infer_shapes(unnamed("a"), dims=dims)
    assert printed_name(result) == "a.shape[0]"
    assert str(result.interval(result.tensors["y"].shape[0])) == "0..8"
    assert result.contract.check({"a.shape[0]": 0}).verdict is True


def test_an_update_may_replace_a_name_that_options_have() -> None:
    result = infer_shapes(CONVNET, dims={"batch": "1..8"}).update({"image": [2, 3, 64, 64]})
    assert result.tensors["mask"].shape[0] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "bset"}, "no mode is named 'bset'; did you mean 'best'"),
        ({"declared": "thrust"}, "is named 'thrust'; did you mean 'trust'"),
        ({"min_dim": -1}, "min_dim must be an int from 0 to"),
        ({"format_options": "tract"}, "format_options must be the options of a format"),
        ({"values": [1]}, "values must be a dict by input"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ShapeInferenceError, match=message):
        infer_shapes(CONVNET, **options)
    with pytest.raises(ShapeInferenceError, match=message):
        InferenceOptions(**options)


NUMBERS = "a number of at most 2**62"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--dim", f"batch={2**62 + 1}"], NUMBERS),
        (["--dim", f"batch=1..{10**30}"], NUMBERS),
        (["--bind", f"batch={2**63}"], NUMBERS),
        (["--input-shapes", f"image:[{2**62 + 1},3,64,64]"], NUMBERS),
        (["--assume", f"batch <= {2**63}"], NUMBERS),
        (["--min-dim", str(2**63)], "is not in the range"),
        (["--dim", "batch=8..1"], "a range that is not empty (8 is more than 1)"),
        (["--dim", "batch=-4"], "LO..HI"),
        (["--bind", "batch=-4"], "a size of at least 0"),
        (["--bind", "batch=x"], "NAME=NUMBER"),
        (["--dim", "=4"], "NAME=LO..HI"),
        (["--dim", "日本=4"], "no dim is named '日本'"),
        (["--dim", "ba tch=4"], "did you mean 'batch'"),
        (["--value", "image"], "NAME=VALUE"),
        (["--value", "imag=1"], "did you mean 'image'"),
    ],
)
def test_wrong_numbers_and_names_are_usage_errors(option: list[str], message: str) -> None:
    done = CliRunner().invoke(main, ["infer", CONVNET, *option])
    assert (done.exit_code, message in done.output) == (2, True), done.output


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dim("n", 8, 1), "n: min=8 is more than max=1"),
        (lambda: Dim("n", -1), "min of n must be an int of at least 0, not -1"),
        (lambda: Dim("n", multiple_of=0), "multiple_of of n must be an int of at least 1"),
        (lambda: Dim("n", max=2**62 + 1), "expected a number of at most"),
        (lambda: Dim(""), "a Dim needs a name"),
        (lambda: infer_shapes(CONVNET, bind={"batch": 2**64}), "expected a number of at most"),
        (lambda: infer_shapes(CONVNET, inputs={"image": [2**64, 3, 4, 4]}), "expected a number of at most"),
        (lambda: infer_shapes(CONVNET, dims={"batch": "1..8", "`batch`": (9, 10)}), "cannot hold"),
    ],
)
def test_contradictory_dims(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ShapeInferenceError, match=message):
        make()


def test_sizes_of_nodes_on_the_command_line(tmp_path: Path) -> None:
    path = str(tmp_path / "counts.onnx")
    onnx.save(counts(), path)
    for command, text in {
        "infer --dim nz.count=1..9": "holds for `nz.count` in 1..9",
        "infer --dim `nz.count`=1..9": "holds for `nz.count` in 1..9",
        "memory --bind nz.count=5,n=10": "40 bytes",
        "plan --bind nz.count=5,n=10": "arena 104 bytes",
        "memory --bind nz.cont=5": "did you mean '`nz.count`'",
        "infer --dim nz.count=7..9 --dim n=1..6": "because `nz.count` in 0..6 is inferred",
    }.items():
        name, *options = command.split()
        done = CliRunner().invoke(main, [name, path, *options])
        assert text in done.output, (command, done.output)
