"""`shapeinf plan` and `shapeinf plan verify`: output, written files, errors and exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper

from shapeinf import infer_shapes
from shapeinf.cli import main


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["plan", *map(str, args)])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """a is [n, 4], b and y are [2*n, 4]: 16*n and 32*n bytes."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Concat", ["a", "a"], ["b"], axis=0),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])
    graph = helper.make_graph(nodes, "g", [x], [helper.make_empty_tensor_value_info("y")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


@pytest.mark.parametrize(("options", "n"), [(["--bind", "n=3"], 3), (["--dim", "n=1..5"], 5), (["--dim", "n=5"], 5)])
@pytest.mark.parametrize("planner", ["best", "best_fit", "greedy_by_size", "greedy_by_breadth"])
def test_a_plan_is_written_and_verified(model, tmp_path, options, n, planner):
    done = run(model, *options, "--planner", planner, "-o", tmp_path / "p.csv")
    assert done.exit_code == 0, done.output
    with (tmp_path / "p.csv").open(newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert {name: int(row["size"]) for name, row in rows.items()} == {"a": 16 * n, "b": 32 * n, "y": 32 * n}
    assert {name: (int(row["lower"]), int(row["upper"])) for name, row in rows.items()} == {
        "a": (0, 2),
        "b": (1, 3),
        "y": (2, 3),
    }
    assert all(int(row["offset"]) % 64 == 0 for row in rows.values())
    checked = run("verify", tmp_path / "p.csv", "--model", model, *options, "--alignment", 64)
    assert checked.exit_code == 0 and checked.output.startswith("valid: 3 slots")


def test_the_largest_slots_are_listed(model):
    lines = run(model, "--bind", "n=4", "--top", "1").output.splitlines()
    assert [line.split()[-1] for line in lines if line.startswith((" ", "offset"))] in (
        ["tensor", "b", "(--top)"],
        ["tensor", "y", "(--top)"],
    )
    assert lines[-1] == "  2 smaller slots (--top)"
    assert run(model, "--top", "1").output.splitlines()[-2] == "unplaced 2 more tensors (--top)"


def test_json_out_and_in(model, tmp_path):
    printed = json.loads(run(model, "--bind", "n=4", "--json", "--alignment", "256").output)
    run(model, "--bind", "n=4", "-o", tmp_path / "p.json", "--alignment", "256")
    assert json.loads((tmp_path / "p.json").read_text()) == printed
    assert (printed["schema"], printed["alignment"]) == ("shapeinf.plan/1", 256)
    # b and y live at once: 128 bytes, and 128 from 256 on
    assert printed["arena"] == 384
    checked = run("verify", tmp_path / "p.json", "--model", model, "--bind", "n=4", "--json")
    assert json.loads(checked.output)["diagnostics"] == []


def test_a_plan_that_is_too_small_for_the_range(model, tmp_path):
    run(model, "--bind", "n=4", "-o", tmp_path / "p.csv")
    done = run("verify", tmp_path / "p.csv", "-m", model, "--dim", "n=1..5")
    assert done.exit_code == 1
    assert "error[P102]: its slot has 64 bytes, it needs 80\n  --> a\n" in done.output
    data = json.loads(run("verify", tmp_path / "p.csv", "-m", model, "--dim", "n=1..5", "--json").output)
    assert data["schema"] == "shapeinf.plan.verify/1"
    assert {(item["code"], item["tensor"]) for item in data["diagnostics"]} >= {("P102", "a"), ("P102", "b")}


def test_a_tensor_without_a_bound_is_not_placed(model, tmp_path):
    done = run(model)
    assert done.exit_code == 1
    assert "unplaced a: its size 16*n has no upper bound\n" in done.output
    assert done.output.endswith("--bind sets sizes and --dim upper bounds for n\n")
    assert run(model, "-o", tmp_path / "p.json").exit_code == 1
    checked = run("verify", tmp_path / "p.json", "-m", model)
    assert (
        checked.exit_code == 1
        and "error[P109]: no slot is large enough for all sizes: its size 16*n has no upper bound\n  --> a\n"
        in checked.output
    )


def test_problems_of_one_code_are_limited_and_have_a_help(model, tmp_path, monkeypatch):
    monkeypatch.setattr("shapeinf.report.plan_report.MAX_PROBLEMS", 1)
    run(model, "-o", tmp_path / "p.json")
    lines = run("verify", tmp_path / "p.json", "-m", model).output.splitlines()
    assert [line for line in lines if line.startswith("error[P109]")] == lines[:1]
    assert lines[2].startswith("and ") and lines[2].endswith(" more of P109 (--json has all)")
    assert lines[-1] == "--bind sets sizes and --dim upper bounds for n"


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["MODEL", "--dim", "m=1..4"], 2, "no dim is named 'm'"),
        (["MODEL", "--planner", "worst"], 2, "worst"),
        (["MODEL", "--alignment", "0"], 2, "alignment"),
        (["absent.onnx"], 3, "absent.onnx"),
        (["verify", "PLAN"], 2, "--model"),
        (["verify", "absent.csv", "-m", "MODEL"], 3, "absent.csv"),
        (["verify", "PLAN", "-m", "MODEL", "--bind", "n=1"], 3, "line 2: size must be an int"),
        (["verify", "MODEL", "-m", "MODEL"], 3, "m.onnx"),
        ([], 2, "MODEL"),
    ],
)
def test_exit_code_3(model, tmp_path, arguments, code, text):
    (tmp_path / "bad.csv").write_text("id,lower,upper,size,offset\na,0,2,many,0\n")
    names = {"MODEL": model, "PLAN": tmp_path / "bad.csv"}
    done = run(*(names.get(item, item) for item in arguments))
    assert done.exit_code == code
    assert text in done.output


def test_the_same_from_python(model):
    memory = infer_shapes(model, bind={"n": 4}).memory()
    plan_data = memory.plan(alignment=1)
    assert plan_data.arena == 256 and memory.verify_plan(plan_data) == []
    ranged = infer_shapes(model).memory()
    assert ranged.plan({"n": 4}, alignment=1).arena == 256
    assert [item.code for item in ranged.verify_plan(plan_data, {"n": 5})].count("P102") == 3
