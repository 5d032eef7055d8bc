"""`shapeinf explain`: output, JSON and errors."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner, Result

from shapeinf.cli import main

TEXT = """<ir_version: 10, opset_import: ["" : 19]>
g (float["batch", 3] x) => (int64[] z) {
  c = NonZero(x)
  t = Transpose(c)
  k = Concat <axis = 1> (t, t)
  z = Identity(k)
}"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), path)
    return path


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["explain", *map(str, args)])


def test_the_unknowns_of_a_model(model: Path) -> None:
    result = run(model)
    first, second = result.stdout.splitlines()
    assert result.exit_code == 0
    assert first.startswith("4 because of NonZero (version 19) c: ")
    assert second == "  c.shape[1], t.shape[0], k.shape[0], z.shape[0]"


def test_all_axes_or_a_single_axis(model: Path) -> None:
    both = run(model, "--tensor", "k").stdout.splitlines()
    item = run(model, "-t", "k", "-k", "0").stdout.splitlines()
    assert [line for line in both if not line.startswith(" ")] == [item[0], both[len(item)]]
    assert both[: len(item)] == item and "k.shape[1] = 4 by Concat" in both[len(item)]


def test_json(model: Path) -> None:
    chain = json.loads(run(model, "--tensor", "t", "--axis", "-1", "--json").stdout)
    assert chain["schema"] == "shapeinf.explain/1"
    (axis,) = chain["axes"]
    assert (axis["axis"], axis["size"]) == (1, 2)
    groups = json.loads(run(model, "--json").stdout)["groups"]
    assert [(g["count"], g["causes"][0]["node"], g["causes"][0]["values"]) for g in groups] == [(4, "c", ["c"])]
    assert groups[0]["unknowns"][1] == {"tensor": "t", "axis": 0}


def test_bound_symbols_are_explained_as_bound(model: Path) -> None:
    assert (
        "x.shape[0] = 4, declared by an input; batch=4 is specified by the user"
        in run(model, "-t", "x", "-k", "0", "--bind", "batch=4").stdout
    )


MISTAKES = [
    (("--tensor", "zz"), 2, "no tensor is named 'zz'"),
    (("--tensor", "x", "--axis", "2"), 2, "x has no axis 2: its shape is [batch, 3]"),
    (("zz",), 2, "no tensor, dim or node is named 'zz'"),
    (("z.2.0",), 2, "no tensor, dim or node is named 'z.2.0'"),
    (("x.2",), 2, "x has no axis 2: its shape is [batch, 3]"),
    (("bacth",), 2, "did you mean 'batch'?"),
    (("--axis", "0"), 2, "--axis needs a tensor"),
    (("batch", "--axis", "0"), 2, "--axis needs a tensor: batch is a dim"),
    (("x.0", "--axis", "0"), 2, "the axis is named twice"),
    (("x", "--tensor", "z"), 2, "the tensor is named twice"),
    (("--bind", "bacth=2"), 2, "did you mean 'batch'?"),
]


@pytest.mark.parametrize(("words", "code", "message"), MISTAKES)
def test_mistakes(model: Path, words: tuple[str, ...], code: int, message: str) -> None:
    result = run(model, *words)
    assert (result.exit_code, message in result.stderr) == (code, True), result.output


def test_a_file_that_is_not_there() -> None:
    assert run("nowhere.onnx").exit_code == 3


def test_a_scalar_has_no_axes(tmp_path: Path) -> None:
    path = tmp_path / "s.onnx"
    onnx.save(
        onnx.parser.parse_model(
            '<ir_version: 10, opset_import: ["" : 19]> g (float[] x) => (float y) { y = ReduceSum <keepdims = 0> (x) }'
        ),
        path,
    )
    assert run(path, "--tensor", "y").stdout == "y is a scalar: it has no axes\n"


def test_operators_without_versions_and_constants_of_bodies() -> None:
    example = Path(__file__).resolve().parents[2] / "examples" / "recurrent.pbtxt"
    lines = run(example, "--tensor", "loop/body/product:0", "--axis", "1").stdout.splitlines()
    assert lines == [
        "loop/body/product:0.shape[1] = 16 by MatMul loop/body/product from loop/body/weights:0.shape[1]",
        "  loop/body/weights:0.shape[1] = 16, the shape of a constant",
    ]


LONG = """<ir_version: 10, opset_import: ["" : 19]>
g (float["batch", 3, "h", "w"] image, float["rows", 2] v_1) => (float[] out, float[] batch) {
  c = Conv <pads = [1, 0, 1, 0], strides = [2, 1], dilations = [1, 2]> (image, k)
  r1 = Relu(c)
  r2 = Neg(r1)
  r3 = Relu(r2)
  pooled = MaxPool <kernel_shape = [2, 3], auto_pad = "SAME_UPPER", strides = [2, 2]> (r3)
  up = ConvTranspose <strides = [2, 2], pads = [1, 1, 1, 1]> (pooled, t)
  out = Relu(up)
  v_1_0 = Relu(v_1)
  batch = Relu(v_1_0)
}"""


@pytest.fixture
def windows(tmp_path: Path) -> Path:
    path = tmp_path / "long.onnx"
    parsed = onnx.parser.parse_model(LONG)
    for name, dims in {"k": [8, 3, 3, 3], "t": [8, 4, 4, 4]}.items():
        values = [0.0] * (dims[0] * dims[1] * dims[2] * dims[3])
        parsed.graph.initializer.append(onnx.helper.make_tensor(name, 1, dims, values))
    dotted = {"v_1": "v.1", "v_1_0": "v.1.0"}  # not in the syntax of the text
    parsed.graph.input[1].name = "v.1"
    for node in parsed.graph.node[-2:]:
        node.input[0], node.output[0] = (dotted.get(name, name) for name in (node.input[0], node.output[0]))
    onnx.save(parsed, path)
    return path


def test_steps_that_keep_a_size_are_collapsed(windows: Path) -> None:
    lines = run(windows, "pooled.0").stdout.splitlines()
    assert lines[0].startswith("pooled.shape[0] = batch by MaxPool")
    assert lines[1] == "  4 steps keep it, from r3.shape[0] to c.shape[0]: Relu x2, Neg, Conv"
    assert lines[2:] == ["  image.shape[0] = batch, declared by an input"]
    every = run(windows, "pooled.0", "--all").stdout.splitlines()
    assert [line.split(".shape")[0].strip() for line in every] == ["pooled", "r3", "r2", "r1", "c", "image"]
    few = run(windows, "r1.0").stdout.splitlines()
    assert len(few) == 3, "one step in a row is not collapsed"


WINDOWS = [
    ("c.2", ", with kernel 3, stride 2, pads 1", {"kernel": 3, "stride": 2, "pads": [1, 1], "dilation": 1}),
    ("c.3", ", with kernel 3, stride 1, dilation 2", {"kernel": 3, "stride": 1, "pads": [0, 0], "dilation": 2}),
    ("pooled.2", ", with kernel 2, stride 2, pads same", {"kernel": 2, "stride": 2, "pads": "same", "dilation": 1}),
    ("pooled.3", ", with kernel 3, stride 2, pads same", {"kernel": 3, "stride": 2, "pads": "same", "dilation": 1}),
    ("up.2", ", with kernel 4, stride 2, pads 1", {"kernel": 4, "stride": 2, "pads": [1, 1], "dilation": 1}),
]


@pytest.mark.parametrize("bound", [(), ("--bind", "batch=1,h=32,w=32")])
@pytest.mark.parametrize(("target", "text", "window"), WINDOWS)
def test_windows_are_shown(windows: Path, target: str, text: str, window: object, bound: tuple[str, ...]) -> None:
    assert run(windows, target, *bound).stdout.splitlines()[0].endswith(text)
    (axis,) = json.loads(run(windows, target, "--json", *bound).stdout)["axes"]
    assert axis["steps"][0]["terms"] == window
    assert not [step for step in axis["steps"] if not step["op"] and step["terms"]]


TARGETS = [
    (("pooled.1",), ["pooled.shape[1]"]),
    (("pooled[1]",), ["pooled.shape[1]"]),
    (("pooled.shape[1]",), ["pooled.shape[1]"]),
    (("pooled.-1",), ["pooled.shape[3]"]),
    (("pooled", "-k", "1"), ["pooled.shape[1]"]),
    (("v.1",), ["v.1.shape[0]", "v.1.shape[1]"]),
    (("v.1.0",), ["v.1.0.shape[0]", "v.1.0.shape[1]"]),  # a tensor of this name precedes axis 0 of v.1
    (("v.1[0]",), ["v.1.shape[0]"]),
    (("v.1.0.0",), ["v.1.0.shape[0]"]),
]


@pytest.mark.parametrize(("words", "places"), TARGETS)
def test_targets(windows: Path, words: tuple[str, ...], places: list[str]) -> None:
    result = run(windows, *words)
    assert result.exit_code == 0, result.output
    assert [line.split(" = ")[0] for line in result.stdout.splitlines() if not line.startswith(" ")] == places


def test_tensors_in_bodies_are_targets() -> None:
    example = Path(__file__).resolve().parents[2] / "examples" / "recurrent.pbtxt"
    assert run(example, "loop/body/product:0.1").stdout == run(example, "-t", "loop/body/product:0", "-k", 1).stdout


def test_a_dim(model: Path) -> None:
    lines = run(model, "batch", "--dim", "batch=1..8", "--assume", "batch % 2 == 0").stdout.splitlines()
    assert lines == [
        "batch 2..8 (a multiple of 2)",
        "  the size of x.shape[0]",
        "  batch=1..8 is specified by the user",
        "  assumed by the user: batch % 2 == 0",
        "  named dims are at least 1",
    ]
    assert run(model, "batch", "--bind", "batch=4").stdout.splitlines()[:3] == [
        "batch = 4",
        "  the size of x.shape[0]",
        "  batch=4 is specified by the user",
    ]
    record = json.loads(run(model, "batch", "--json", "--dim", "batch=1..8").stdout)
    assert (record["schema"], record["dim"]["bounds"]) == ("shapeinf.explain.dim/1", {"min": 1, "max": 8})


def test_a_dim_whose_name_is_no_identifier(tmp_path: Path) -> None:
    text = '<ir_version: 10, opset_import: ["" : 20]> g (float[x] a) => (float[x] b) { b = Relu (a) }'
    model = onnx.parser.parse_model(text)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "DynamicDimension.0"
    onnx.save(model, tmp_path / "m.onnx")
    bare = run(tmp_path / "m.onnx", "DynamicDimension.0")
    assert bare.stdout == run(tmp_path / "m.onnx", "`DynamicDimension.0`").stdout
    assert bare.stdout.startswith("`DynamicDimension.0` 1..\n  the size of a.shape[0]\n")


def test_what_nodes_require_of_a_dim() -> None:
    example = Path(__file__).resolve().parents[2] / "examples" / "convnet.onnx"
    assert [line for line in run(example, "height").stdout.splitlines() if "required by" in line] == [
        "  height % 2 == 0, required by Concat 'joined/Concat': axis 2 must be equal in all inputs of a concatenation"
    ]


def test_a_node() -> None:
    example = Path(__file__).resolve().parents[2] / "examples" / "convnet.onnx"
    assert run(example, "joined/Concat").stdout.splitlines() == [
        "Concat (version 18) joined/Concat",
        "  attribute axis = 1",
        "  input 0 act: float32[batch, 8, height, width]",
        "  input 1 up: float32[batch, 8, 2*(height//2), 2*(width//2)]",
        "  output 0 joined: float32[batch, 16, height, width]",
        "  condition height % 2 == 0, required by Concat 'joined/Concat': "
        "axis 2 must be equal in all inputs of a concatenation",
        "  condition width % 2 == 0, required by Concat 'joined/Concat': "
        "axis 3 must be equal in all inputs of a concatenation",
    ]
    assert run(example, "node:joined/Concat").stdout == run(example, "joined/Concat").stdout
    assert "no node is named 'joined/Concats'; did you mean" in run(example, "node:joined/Concats").output
    assert "--axis needs a tensor: joined/Concat is a node" in run(example, "joined/Concat", "--axis", 1).output


def test_attributes_of_every_kind(tmp_path: Path) -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]> g (float[2] x, bool flag) => (float[2] y, float[2] z) {
        limits = Constant <value = float[3] {1.5, 2.5, 3.5}> ()
        z = Resize <mode = "near\\nest", axes = [0]> (x, , limits)
        y = If (flag) <
            then_branch = t () => (float[2] p) { p = Neg (x) },
            else_branch = e () => (float[2] q) { q = Abs (x) }
        >
    }"""
    model = onnx.parser.parse_model(text)
    onnx.save(model, tmp_path / "m.onnx")
    assert "  attribute value = float32[3] [1.5, 2.5, 3.5]" in run(tmp_path / "m.onnx", "node:limits").stdout
    assert "  attribute then_branch = a graph of 1 node" in run(tmp_path / "m.onnx", "node:y").stdout
    lines = run(tmp_path / "m.onnx", "node:z").stdout.splitlines()
    assert "  input 1 is absent" in lines and "  attribute axes = [0]" in lines


def test_a_tensor_precedes_a_dim_of_its_name(windows: Path) -> None:
    result = run(windows, "batch")
    assert result.stdout.startswith("batch.shape[0] = ")
    assert result.stderr == "note: batch is also a dim: dim:batch explains it\n"
    assert run(windows, "dim:batch").stdout.startswith("batch 1..\n  the size of image.shape[0]\n")
