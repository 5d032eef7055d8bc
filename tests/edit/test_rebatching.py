"""`rebatch`: the result runs in onnxruntime; its outputs for a batch are those of the model for each item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from shapeinf import RebatchError, UnknownNameError, rebatch
from shapeinf.cli import main

Nodes = list[onnx.NodeProto]
node = helper.make_node


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


def make(nodes: Nodes, inputs: dict[str, list[Any]], constants: dict[str, Any] | None = None) -> onnx.ModelProto:
    """A model of float inputs; its output is y."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in inputs.items()]
    weights = [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", values, [output], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def run(model: bytes, feeds: dict[str, Any]) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, feeds)[0]


def check(model: onnx.ModelProto, path: Path, items: int = 3) -> onnx.ModelProto:
    """Rebatch a model of batch 1, and compare with one run an item."""
    rebatched = rebatch(model)
    rebatched.save(path)
    after = onnx.load(path)
    onnx.checker.check_model(after, full_check=True)
    rng = np.random.default_rng(0)
    feeds = {}
    for value in model.graph.input:
        dims = [d.dim_value for d in value.type.tensor_type.shape.dim]
        feeds[value.name] = rng.standard_normal([items, *dims[1:]]).astype(np.float32)
    together = run(after.SerializeToString(), feeds)
    before = model.SerializeToString()
    parts = [run(before, {n: a[i : i + 1] for n, a in feeds.items()}) for i in range(items)]
    np.testing.assert_allclose(together, np.concatenate(parts), rtol=1e-5, atol=1e-6)
    return after


RNG = np.random.default_rng(7)
W = RNG.standard_normal((8, 8)).astype(np.float32)

MODELS: dict[str, tuple[onnx.ModelProto, list[str]]] = {
    "there and back": (
        make(
            [
                node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
                node("MatMul", ["t", "w"], ["m"]),
                node("Add", ["m", "t"], ["a"]),
                node("Transpose", ["a"], ["b"], perm=[1, 0, 2]),
                node("Reshape", ["b", "s"], ["y"]),
            ],
            {"x": [1, 3, 8]},
            {"w": W, "s": ints(1, 24)},
        ),
        ["s[0]: 1 -> 0"],
    ),
    "two inputs": (
        make(
            [node("Add", ["x", "z"], ["a"]), node("Reshape", ["a", "s"], ["y"])],
            {"x": [1, 8], "z": [1, 8]},
            {"s": ints(1, 4, 2)},
        ),
        ["s[0]: 1 -> 0"],
    ),
    "nothing pins": (make([node("Relu", ["x"], ["y"])], {"x": [1, 3]}), []),
    "a copy": (
        make([node("Reshape", ["x", "s"], ["y"])], {"x": [1, 3, 4]}, {"s": ints(1, -1)}),
        ["s[0]: 1 -> 0"],
    ),
    "other items are 1 too": (
        make([node("Reshape", ["x", "s"], ["y"])], {"x": [1, 784]}, {"s": ints(1, 1, 28, 28)}),
        ["s[0]: 1 -> 0"],
    ),
    "seen later": (
        make(
            [
                node("Reshape", ["x", "s"], ["h"], name="flatten"),
                node("Add", ["h", "table"], ["y"], name="add table"),
            ],
            {"x": [1, 6, 2, 4]},
            {"s": ints(1, -1, 8), "table": RNG.standard_normal((1, 6, 8)).astype(np.float32)},
        ),
        ["s[0]: 1 -> 0"],
    ),
    "seen in the output": (
        make([node("Reshape", ["x", "s"], ["y"])], {"x": [1, 6, 2, 4]}, {"s": ints(1, -1, 8)}),
        ["s[0]: 1 -> 0"],
    ),
    "heads": (
        make(
            [
                node("MatMul", ["x", "w"], ["q"]),
                node("Reshape", ["q", "split"], ["q4"]),
                node("Transpose", ["q4"], ["qt"], perm=[0, 2, 1, 3]),
                node("Reshape", ["qt", "merged"], ["q3"]),
                node("Transpose", ["q3"], ["k3"], perm=[0, 2, 1]),
                node("MatMul", ["q3", "k3"], ["a"]),
                node("MatMul", ["a", "q3"], ["v"]),
                node("Reshape", ["v", "apart"], ["v4"]),
                node("Transpose", ["v4"], ["vt"], perm=[0, 2, 1, 3]),
                node("Reshape", ["vt", "joined"], ["y"]),
            ],
            {"x": [1, 5, 8]},
            {
                "w": W,
                "split": ints(1, 5, 2, 4),
                "merged": ints(2, 5, 4),
                "apart": ints(1, 2, 5, 4),
                "joined": ints(1, 5, 8),
            },
        ),
        ["split[0]: 1 -> 0", "merged[0]: 2 -> -1", "apart[0]: 1 -> -1", "joined[0]: 1 -> 0"],
    ),
    "another item takes what is left": (
        make(
            [
                node("Reshape", ["x", "s"], ["h"], allowzero=1),
                node("Transpose", ["h"], ["t"], perm=[0, 2, 1, 3]),
                node("Reshape", ["t", "u"], ["y"], allowzero=1),
            ],
            {"x": [1, 6, 8]},
            {"s": ints(1, -1, 2, 4), "u": ints(1, 2, -1)},
        ),
        ["s[0]: 1 -> -1", "s[1]: -1 -> 6", "u[0]: 1 -> -1", "u[2]: -1 -> 24"],
    ),
    "a shape put together": (
        make(
            [
                node("Shape", ["x"], ["shape"]),
                node("Gather", ["shape", "one"], ["length"], axis=0),
                node("Concat", ["batch", "length", "rest"], ["s"], axis=0),
                node("Reshape", ["x", "s"], ["y"]),
            ],
            {"x": [1, 6, 8]},
            {"one": ints(1), "batch": ints(1), "rest": ints(2, 4)},
        ),
        ["batch[0]: 1 -> 0"],
    ),
    "a node that makes the constant": (
        make(
            [
                node("Constant", [], ["s"], value=numpy_helper.from_array(ints(1, 12), "value")),
                node("Constant", [], ["t"], value_ints=[1, 3, 4]),
                node("Reshape", ["x", "s"], ["h"]),
                node("Reshape", ["h", "t"], ["y"]),
            ],
            {"x": [1, 3, 4]},
        ),
        ["s[0]: 1 -> 0", "t[0]: 1 -> 0"],
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_a_batch_has_the_outputs_of_its_items(kind: str, tmp_path: Path) -> None:
    model, rewrites = MODELS[kind]
    after = check(model, tmp_path / "m.onnx")
    assert [str(rewrite) for rewrite in rebatch(model).rewrites] == rewrites
    assert after.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert after.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "batch"


REFUSED: dict[str, tuple[onnx.ModelProto, str]] = {
    "a token for one item": (
        make(
            [node("Concat", ["token", "x"], ["y"], axis=1, name="join")],
            {"x": [1, 4, 8]},
            {"token": np.zeros((1, 1, 8), np.float32)},
        ),
        "join",
    ),
    "an item that is data as well": (
        make(
            [
                node("Reshape", ["x", "s"], ["h"], name="reshape"),
                node("Cast", ["s"], ["f"], to=TensorProto.FLOAT),
                node("ReduceSum", ["f"], ["sum"], keepdims=0),
                node("Add", ["h", "sum"], ["y"]),
            ],
            {"x": [1, 3, 4]},
            {"s": ints(1, 12)},
        ),
        "s[0] = 1",
    ),
    "parts of items that come together": (
        make(
            [node("Transpose", ["x"], ["t"], perm=[1, 0, 2]), node("Reshape", ["t", "s"], ["y"], name="mix")],
            {"x": [1, 3, 4]},
            {"s": ints(1, 12)},
        ),
        "mix",
    ),
    "the same with what is left": (
        make(
            [node("Transpose", ["x"], ["t"], perm=[1, 0, 2]), node("Reshape", ["t", "s"], ["y"], name="mix")],
            {"x": [1, 3, 4]},
            {"s": ints(-1, 12)},
        ),
        "mix",
    ),
    "sizes that copy nothing": (
        make(
            [
                node("Resize", ["x", "", "", "sizes"], ["big"], name="grow"),
                node("Concat", ["big", "z"], ["y"], axis=1),
            ],
            {"x": [1, 2, 4, 4], "z": [1, 2, 8, 8]},
            {"sizes": ints(1, 2, 8, 8)},
        ),
        "sizes[0] = 1",
    ),
    "a state to start with": (
        make(
            [node("LSTM", ["x", "w", "r", "", "", "h", "c"], ["", "y"], name="lstm", hidden_size=2, layout=0)],
            {"x": [5, 1, 3]},
            {
                "w": np.zeros((1, 8, 3), np.float32),
                "r": np.zeros((1, 8, 2), np.float32),
                "h": np.zeros((1, 1, 2), np.float32),
                "c": np.zeros((1, 1, 2), np.float32),
            },
        ),
        "initial_h",
    ),
    "items in a sequence": (
        make(
            [
                node("SplitToSequence", ["x", "one"], ["parts"], axis=1, name="split"),
                node("ConcatFromSequence", ["parts"], ["y"], axis=0),
            ],
            {"x": [1, 3, 4]},
            {"one": np.array(1, np.int64)},
        ),
        "split",
    ),
    "a mean of all items": (
        make([node("ReduceMean", ["x", "axes"], ["y"], name="mean")], {"x": [1, 3, 4]}, {"axes": ints(0)}),
        "mean",
    ),
    "what is left is two numbers": (
        make(
            [
                node("Reshape", ["x", "s"], ["a"], allowzero=1, name="first"),
                node("Reshape", ["z", "s"], ["b"], allowzero=1, name="second"),
                node("Concat", ["a", "b"], ["y"], axis=1),
            ],
            {"x": [1, 6, 8], "z": [1, 4, 8]},
            {"s": ints(1, -1, 2, 4)},
        ),
        "s[0] = 1",
    ),
    "an unknown operator": (
        make([node("Mystery", ["x"], ["y"])], {"x": [1, 4]}),
        "Mystery",
    ),
    "no fixed axis": (make([node("Relu", ["x"], ["y"])], {"x": ["n", 4]}), "no input has a fixed axis 0"),
    "an empty batch": (
        make([node("Reshape", ["x", "s"], ["y"])], {"x": [0, 6]}, {"s": ints(12, 3)}),
        "axis 0 of x is 0: shapes of an empty batch show no size that depends on it",
    ),
    "two sizes": (
        make([node("MatMul", ["a", "b"], ["y"])], {"a": [2, 4], "b": [4, 3]}),
        "axis 0 of a is 2, axis 0 of b is 4",
    ),
    "a name that is taken": (make([node("Relu", ["x"], ["y"])], {"x": [1, "batch"]}), "another name"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_unproved_rewrites_are_refused(kind: str, tmp_path: Path) -> None:
    model, expected = REFUSED[kind]
    with pytest.raises(RebatchError) as caught:
        rebatch(model, axis=1 if kind == "a state to start with" else 0)
    assert expected in str(caught.value)


def test_other_axes_names_and_inputs(tmp_path: Path) -> None:
    model = make([node("Reshape", ["x", "s"], ["y"])], {"x": [2, 5, 8], "z": [2, 7]}, {"s": ints(2, 5, 4, 2)})
    model.graph.node.append(node("Relu", ["z"], ["unused"]))
    rebatched = rebatch(model, axis=1, name="tokens", inputs=["x"])
    assert [str(rewrite) for rewrite in rebatched.rewrites] == ["s[1]: 5 -> 0"]
    rebatched.save(tmp_path / "m.onnx")
    output = run(
        (tmp_path / "m.onnx").read_bytes(), {"x": np.zeros((2, 9, 8), np.float32), "z": np.zeros((2, 7), np.float32)}
    )
    assert output.shape == (2, 9, 4, 2)
    with pytest.raises(UnknownNameError, match="did you mean"):
        rebatch(model, inputs=["xx"])


def test_command(tmp_path: Path) -> None:
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    onnx.save(MODELS["a copy"][0], path)
    result = CliRunner().invoke(main, ["rebatch", str(path), "--name", "n", "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "input  x: float32[n, 3, 4]",
        "output y: float32[n, 12]",
        "rewritten s[0]: 1 -> 0",
    ]
    assert run(out.read_bytes(), {"x": np.zeros((4, 3, 4), np.float32)}).shape == (4, 12)
    onnx.save(REFUSED["a token for one item"][0], path)
    refused = CliRunner().invoke(main, ["rebatch", str(path), "-o", str(tmp_path / "none.onnx")])
    assert refused.exit_code == 1
    assert "join" in refused.stderr
    assert not (tmp_path / "none.onnx").exists()
    assert CliRunner().invoke(main, ["rebatch", str(path), "--input", "q"]).exit_code == 2


def with_state() -> onnx.ModelProto:
    """x has the batch in axis 0, the state of a recurrent layer in axis 1."""
    nodes = [
        node("ReduceSum", ["h", "layers"], ["summed"], keepdims=0),
        node("Add", ["x", "summed"], ["added"]),
        node("Reshape", ["added", "shape"], ["y"], name="flatten"),
    ]
    return make(nodes, {"x": [1, 8], "h": [2, 1, 8]}, {"shape": ints(1, 8), "layers": ints(0)})


def test_an_axis_for_each_input(tmp_path: Path) -> None:
    rebatched = rebatch(with_state(), axes={"h": 1}, name="n")
    assert {name: str(rebatched.result.tensors[name]) for name in ("x", "h", "y")} == {
        "x": "float32[n, 8]",
        "h": "float32[2, n, 8]",
        "y": "float32[n, 8]",
    }
    assert [str(rewrite) for rewrite in rebatched.rewrites] == ["shape[0]: 1 -> 0"]
    rebatched.save(tmp_path / "out.onnx")
    rng = np.random.default_rng(0)
    feeds = {"x": rng.standard_normal((3, 8), np.float32), "h": rng.standard_normal((2, 3, 8), np.float32)}
    batch = run((tmp_path / "out.onnx").read_bytes(), feeds)
    items = [
        run(with_state().SerializeToString(), {"x": feeds["x"][i : i + 1], "h": feeds["h"][:, i : i + 1]})
        for i in range(3)
    ]
    np.testing.assert_allclose(batch, np.concatenate(items), rtol=1e-6)


AXES: list[tuple[list[str], int, str]] = [
    (["--axis", "h=1"], 0, "input  h: float32[2, batch, 8]"),
    (["--axis", "0", "--axis", "h=1"], 0, "input  h: float32[2, batch, 8]"),
    ([], 1, "the inputs have different sizes on this axis: name the inputs, or an axis for each"),
    (["--axis", "h=3"], 1, "input h has no fixed axis 3"),
    (["--axis", "g=1"], 2, "no input is named 'g'"),
    (["--axis", "h=one"], 2, "expected an axis from 0, or NAME=AXIS"),
    (["--axis", "-1"], 2, "expected an axis from 0, or NAME=AXIS"),
    (["--axis", "=1"], 2, "expected an axis from 0, or NAME=AXIS"),
    (["--axis", "h=1", "--axis", "h=2"], 2, "h has two different values"),
]


@pytest.mark.parametrize(("options", "code", "message"), AXES)
def test_axes_on_the_command_line(options: list[str], code: int, message: str, tmp_path: Path) -> None:
    onnx.save(with_state(), tmp_path / "m.onnx")
    result = CliRunner().invoke(main, ["rebatch", str(tmp_path / "m.onnx"), *options])
    assert (result.exit_code, message in " ".join(result.output.split("\n"))) == (code, True), result.output
