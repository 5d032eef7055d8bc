"""`shapeinf infer`: output, options, written files, and the exit code of every kind of error."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper

from shapeinf.cli import main
from shapeinf.texts import escape_unprintable
from tests.cli.conftest import write


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["infer", *map(str, args)])


RECURRENT = Path(__file__).resolve().parents[2] / "examples" / "recurrent.pbtxt"


def test_tensors_of_bodies_follow_those_of_the_graph() -> None:
    shapes = ["--input-shapes", "tokens=[batch, seq]"]
    rows = [" ".join(line.split()) for line in run(RECURRENT, *shapes, "--bodies").stdout.splitlines()]
    assert "loop/body/joined:0 float32 [batch, 32] ConcatV2" in rows
    assert "loop/body/state:0 float32 [batch, 16] input" in rows
    assert not any(row.startswith("loop/body/weights:0") for row in rows), "constants are no rows"
    assert rows.index("logits:0 float32 [batch, seq, 10] PartitionedCall, output") < rows.index(
        "loop/body/time:0 int32 [] input"
    )
    data = json.loads(run(RECURRENT, *shapes, "--bodies", "--json").stdout)
    assert data["bodies"]["loop/body/weights:0"]["shape"] == [32, 16]
    assert json.loads(run(RECURRENT, *shapes, "--json").stdout)["bodies"] == {}


def test_guards_are_not_listed_as_contract(tmp_path: Path) -> None:
    nodes = [helper.make_node("NonZero", ["x"], ["n"]), helper.make_node("MatMul", ["f", "w"], ["y"], name="product")]
    nodes.insert(1, helper.make_node("Cast", ["n"], ["f"], to=TensorProto.FLOAT))
    nodes.insert(0, helper.make_node("ConstantOfShape", ["s"], ["w"]))
    nodes.insert(0, helper.make_node("Constant", [], ["s"], value_ints=[5, 1]))
    lines = run(write(tmp_path / "m.onnx", nodes)).stdout.splitlines()
    (guard,) = [line for line in lines if "required by MatMul" in line]
    assert guard.split()[0] == "guards"


def test_a_table_of_all_tensors(model: Path) -> None:
    result = run(model)
    assert result.exit_code == 0, result.output
    rows = {line.split()[0]: " ".join(line.split()) for line in result.stdout.splitlines() if line.strip()}
    assert rows["x"] == "x float32 [batch, 3] input"
    assert rows["y"] == "y float32 [2*batch, 3] Concat, output"
    assert "named dims are at least 1" in rows["policy"]
    assert "1 nodes" in rows["coverage"]


def test_nothing_is_cut_in_a_pipe(tmp_path: Path) -> None:
    name = "layer/" * 60 + "y"
    nodes = [helper.make_node("Relu", ["x"], [name]), helper.make_node("Relu", [name], ["y"])]
    assert name in run(write(tmp_path / "long.onnx", nodes)).stdout


def test_dim_gives_bounds(model: Path) -> None:
    result = run(model, "--dim", "batch=1..8")
    assert result.exit_code == 0
    assert "batch 1..8" in result.stdout


@pytest.mark.parametrize("text", ["batch=4", "batch:4"])
def test_bind_gives_a_value(model: Path, text: str) -> None:
    assert "[8, 3]" in run(model, "--bind", text).stdout


@pytest.mark.parametrize("option", ["--input-shapes", "--overwrite-input-shape", "-d"])
@pytest.mark.parametrize("spec", ["x:[5,3]", "x:5x3", "5,3", "x[5,3]", "x:f32:5x3"])
def test_input_shapes(model: Path, option: str, spec: str) -> None:
    result = run(model, option, spec)
    assert result.exit_code == 0, result.output
    assert "[10, 3]" in result.stdout


def test_min_dim_and_assume(model: Path) -> None:
    assert "named dims are at least 0" in run(model, "--min-dim", 0).stdout
    assert run(model, "--assume", "batch <= 4").exit_code == 0


def test_json(model: Path) -> None:
    result = run(model, "--json", "--dim", "batch=1..8")
    assert result.exit_code == 0
    record = json.loads(result.stdout)
    assert record["schema"] == "shapeinf.infer/1"
    assert record["model"] == str(model)
    assert record["tensors"]["y"]["dtype"] == "float32"
    assert record["tensors"]["y"]["shape"] == [{"expr": "2*batch", "min": 2, "max": 16, "name": None}, 3]
    assert record["diagnostics"] == []
    assert record["coverage"]["nodes"] == 1


def test_save_writes_an_annotated_model(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    result = run(model, "--save", out)
    assert result.exit_code == 0, result.output
    dims = onnx.load(out).graph.output[0].type.tensor_type.shape.dim
    assert (dims[0].dim_param, dims[1].dim_value) == ("2*batch", 3)


def test_errors_exit_with_1_and_name_the_node(wrong: Path) -> None:
    result = run(wrong)
    assert result.exit_code == 1
    assert "error[S1" in result.stdout
    assert "sum" in result.stdout


def test_strict_stops_at_the_first_error(wrong: Path) -> None:
    result = run(wrong, "--strict")
    assert result.exit_code == 1
    assert "error[S1" in result.stderr
    assert "--> sum" in result.stderr
    assert result.stdout == ""


def test_an_unknown_operator_is_no_end(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Mystery", ["x"], ["m"], name="odd", domain="com.example"),
        helper.make_node("Relu", ["m"], ["y"]),
    ]
    result = run(write(tmp_path / "m.onnx", nodes, ("", "com.example")))
    assert result.exit_code == 0, result.output
    assert "Mystery" in result.stdout
    assert "warning[S2" in result.stdout


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--dim", "batsh=1..8"], "did you mean 'batch'?"),
        (["--bind", "batsh=8"], "did you mean 'batch'?"),
        (["--input-shapes", "xx:1x3"], "no input is named 'xx'"),
        (["--dim", "batch"], "NAME=LO..HI"),
        (["--dim", "batch=8..1"], "not empty"),
        (["--dim", "batch=1..2", "--dim", "batch=3"], "two different values"),
        (["--dim", "batch=1..8", "--bind", "batch=9"], "outside of --dim batch=1..8"),
        (["--bind", "batch"], "NAME=NUMBER"),
        (["--input-shapes", "x:[1,,3]"], "character 6"),
        (["--assume", "batch"], "a relation"),
        (["--min-dim", "-1"], "-1"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_usage_errors_exit_with_2(model: Path, args: list[str], expected: str) -> None:
    result = run(model, *args)
    assert result.exit_code == 2, result.output
    assert expected in " ".join(result.stderr.split())


def test_contradictory_assumptions_are_usage_errors(model: Path) -> None:
    result = run(model, "--dim", "batch=1..8", "--assume", "batch >= 9")
    assert result.exit_code == 2, result.output
    assert "batch" in result.stderr


def test_a_shape_without_a_name_needs_a_single_input(tmp_path: Path) -> None:
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("a", "b", "y")]
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["y"])], "g", infos[:2], infos[2:])
    path = tmp_path / "two.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    result = run(path, "--input-shapes", "3")
    assert result.exit_code == 2
    assert "a, b" in result.stderr
    assert run(path, "--input-shapes", "a:3 b:3", "--declared", "ignore").exit_code == 0


def bad_file(tmp_path: Path, model: Path, kind: str) -> Path:
    path = tmp_path / f"{kind}.onnx"
    if kind == "truncated":
        path.write_bytes(model.read_bytes()[:-20])
    elif kind == "text":
        path.write_text("this is no model\n" * 20)
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "cyclic":
        write(path, [helper.make_node("Add", ["x", "b"], ["y"], name="one"), helper.make_node("Relu", ["y"], ["b"])])
    elif kind == "folder":
        path.mkdir()
    return path


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("truncated", "cut off"),
        ("text", "text file"),
        ("empty", "empty"),
        ("cyclic", "cycle"),
        ("missing", "No such file"),
        ("folder", "directory"),
    ],
)
def test_an_unreadable_model_exits_with_3(tmp_path: Path, model: Path, kind: str, expected: str) -> None:
    result = run(bad_file(tmp_path, model, kind))
    assert result.exit_code == 3, result.output
    assert expected in result.stderr
    assert "Traceback" not in result.output
    assert len(result.stderr.strip().splitlines()) == 1


def test_an_unwritable_path_exits_with_3(model: Path, tmp_path: Path) -> None:
    result = run(model, "--save", tmp_path / "no" / "such" / "folder" / "out.onnx")
    assert result.exit_code == 3
    assert "out.onnx" in result.stderr


def test_control_characters_of_names_are_not_printed(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Mystery", ["x"], ["evil\x1b[31m"], name="odd\x1b[31m", domain="com.example"),
        helper.make_node("Relu", ["evil\x1b[31m"], ["y"]),
    ]
    result = run(write(tmp_path / "m.onnx", nodes, ("", "com.example")))
    assert "evil\\x1b[31m" in result.stdout
    assert "\x1b" not in result.output
    assert escape_unprintable("a\x07") == "a\\x07"


def test_a_file_for_little_memory(tmp_path: Path) -> None:
    """The gain is at the sizes of --bind; the file keeps the names of the dims."""
    body = "s = Shape(x)  m = ReduceSum<keepdims = 0>(x)  d = Expand(m, s)  e = Relu(d)  y = ReduceSum<keepdims = 0>(e)"
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 17]> g (float[n, 4] x) => (float y) {{ {body} }}'
    )
    path, target = tmp_path / "m.onnx", tmp_path / "small.onnx"
    onnx.save(model, path)
    done = run(path, "--bind", "n=4096", "-o", target, "--minimize-memory", "onnxruntime", "--json")
    assert done.exit_code == 0
    saved, gain, scope = done.stderr.splitlines()
    assert saved.startswith("saved ") and "at n=4096 (bare file 128 KiB, -50 %)" in gain and "at any size" in scope
    data = json.loads(done.stdout)
    assert data["memory"]["declared"] == "chains" and data["memory"]["sizes"][0] == {"n": 4096}
    assert data["memory"]["file"]["first"] < 0.6 * data["memory"]["original"]["first"]
    assert data["tensors"]["d"]["shape"] == [4096, 4]
    values = {v.name: v.type.tensor_type.shape.dim for v in onnx.load(target).graph.value_info}
    dims = {name: [d.dim_param or d.dim_value for d in shape] for name, shape in values.items()}
    assert dims["d"] == dims["e"] == ["n@1", 4]
    assert json.loads(run(path, "--json").stdout)["memory"] is None


def test_a_file_for_little_memory_needs_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])])
    done = run(path, "--minimize-memory", "onnxruntime")
    assert done.exit_code == 2 and "add -o OUT" in done.stderr
    done = run(path, "-o", tmp_path / "o.onnx", "--minimize-memory", "onnxruntime", "--annotate", "all")
    assert done.exit_code == 2 and "specify one of them" in done.stderr
