"""`shapeinf memory --runtime`: the lines on a run, its JSON, and what the options change."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import get_args

import onnx
import pytest
from click.testing import CliRunner, Result

from shapeinf.cli import main
from shapeinf.cli.runtime_options import LEVELS, RUNTIMES
from shapeinf.memory.runtimes import protocol
from shapeinf.memory.runtimes.onnxruntime.options import Level
from tests.memory.litert.models import dense
from tests.memory.runtimes.session_cases import CASES, HEAD

KEPT = next(case for case in CASES if case.label == "a free buffer is kept")
UNKNOWN = (
    HEAD.replace('"" : 17', '"" : 17, "com.example" : 1')
    + "g (float[n, 16] x) => (float[n, 16] y) { [own] y = com.example.Own(x) }"
)


def run(model: str, folder: Path, *options: str, command: str = "memory") -> Result:
    path = folder / "model.onnx"
    onnx.save(onnx.parser.parse_model(model), path)
    return CliRunner().invoke(main, [command, str(path), *options])


def test_the_options_are_those_of_the_runtimes() -> None:
    assert list(protocol.RUNTIMES) == RUNTIMES and list(get_args(Level)) == LEVELS


def test_the_lines_of_a_run(tmp_path: Path) -> None:
    result = run(KEPT.model, tmp_path, "--runtime", "onnxruntime", "--bind", "n=64")
    assert result.exit_code == 0, result.output
    assert "n=64: 24.3 KiB (24,896 bytes)" in result.output
    for line in ("later runs   ", "arena        1 MiB", "held         128 bytes after the session is created"):
        assert line in result.output
    assert "excluded" not in result.output


def test_the_peak_of_tensors_names_what_it_leaves_out(tmp_path: Path) -> None:
    result = run(KEPT.model, tmp_path, "--bind", "n=64")
    assert "excluded     alignment, temporaries of kernels" in result.output


def test_the_json_of_a_run(tmp_path: Path) -> None:
    plain = ("--no-arena", "--no-pattern", "--json")
    runtime = json.loads(run(KEPT.model, tmp_path, "--runtime", "onnxruntime", "--bind", "n=64", *plain).output)[
        "runtime"
    ]
    assert runtime["block"] is None and runtime["first_regions"] is None and runtime["later"] == 24_896
    assert json.loads(run(KEPT.model, tmp_path, "--bind", "n=64", "--json").output)["runtime"] is None


def test_unknown_temporaries_are_listed_by_kernel(tmp_path: Path) -> None:
    result = run(UNKNOWN, tmp_path, "--runtime", "onnxruntime", "--bind", "n=64", "--memory-limit", "1GiB")
    assert "not known    the temporaries of 1 kernel (own): the operator is not known" in result.output
    assert result.exit_code == 1 and "is not known to fit" in result.output


@pytest.mark.parametrize(
    "options",
    [
        ["--threads", "2"],
        ["--no-arena"],
        ["--runtime", "onnxruntime", "--in-place"],
        ["--runtime", "onnxruntime", "--optimize", "all", "--optimized", "other.onnx"],
    ],
)
def test_options_that_do_not_go_together(options: list[str], tmp_path: Path) -> None:
    assert run(KEPT.model, tmp_path, *options).exit_code == 2


@pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is None, reason="onnxruntime is not installed")
def test_the_file_that_a_session_writes(tmp_path: Path) -> None:
    """Two nodes that change nothing are removed."""
    text = f"{HEAD} g (float[n, 16] x) => (float[n, 16] y) {{ a = Abs(x) b = Identity(a) c = Identity(b) y = Neg(c) }}"
    options = ("--runtime", "onnxruntime", "--bind", "n=64", "--json")
    points = [
        json.loads(run(text, tmp_path, *options, *more).output)["peak"]["bytes"]
        for more in ([], ["--optimize", "extended"])
    ]
    assert points == [8192, 8192]
    result = run(text, tmp_path, "--runtime", "onnxruntime", "--optimize", "extended", command="plan")
    assert "2 tensors" in run(text, tmp_path, *options[:4], "--optimize", "extended", command="plan").output, (
        result.output
    )


def test_a_missing_file_of_a_session(tmp_path: Path) -> None:
    result = run(KEPT.model, tmp_path, "--runtime", "onnxruntime", "--optimized", str(tmp_path / "none.onnx"))
    assert result.exit_code == 3


BRANCHES = (
    HEAD
    + """g (bool flag, float[n, 16] x) => (float[n, 16] y)
    { [choice] y = If(flag) <then_branch = one () => (float[n, 16] a) { a = Relu(x) },
                             else_branch = two () => (float[n, 16] b) { c = Exp(x)  b = Neg(c) }> }"""
)


def test_a_branch_that_data_choose_has_a_note(tmp_path: Path) -> None:
    result = run(BRANCHES, tmp_path, "--runtime", "onnxruntime", "--bind", "n=64")
    note = "note         data choose the branch, and the branch that needs the most is counted: choice"
    assert note in result.output
    assert note not in run(KEPT.model, tmp_path, "--runtime", "onnxruntime", "--bind", "n=64").output


BOUNDED = (
    HEAD.replace('"" : 17', '"" : 17, "com.microsoft" : 1')
    + """g (float[b, s, 16] q, float[b, s, 8] k, float[b, s, 8] v, float[b, 1, p, 8] pk, float[b, 1, p, 8] pv,
       int32[b] lengths, int32 total) => (float[b, s, 16] y, float[b, 1, t, 8] nk, float[b, 1, t, 8] nv)
    { [attend] y, nk, nv = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>
          (q, k, v, pk, pv, lengths, total) }"""
)


def test_temporaries_that_are_bounds_have_a_note(tmp_path: Path) -> None:
    sizes = "b=1,s=4,p=8"
    result = run(BOUNDED, tmp_path, "--runtime", "onnxruntime", "--bind", sizes)
    assert "note         the temporaries are upper bounds: attend" in result.output, result.output


@pytest.mark.parametrize("option", [("--optimize", "all"), ()])
def test_a_model_of_another_dialect(option: tuple[str, ...]) -> None:
    example = Path(__file__).parents[2] / "examples" / "recurrent.pbtxt"
    result = CliRunner().invoke(main, ["memory", str(example), "--runtime", "onnxruntime", *option])
    assert result.exit_code == 2
    assert "onnxruntime runs no models of the dialect 'tf'" in result.output


def test_the_lines_of_an_arena(tmp_path: Path) -> None:
    free = '<ir_version: 8, opset_import: ["" : 17]> g (float[n, 16] x) => (float[n, 16] y) { y = Relu(x) }'
    result = run(free, tmp_path, "--runtime", "executorch", "--dim", "n=1..8")
    assert result.exit_code == 0, result.output
    assert "arena        1 KiB (1,024 bytes) by executorch greedy at upper bounds, at multiples of 16" in result.output
    assert "total        1 KiB (1,024 bytes): arena 1 KiB, weights 0 B (0.0%), inputs 0 B" in result.output
    assert "the temporaries of kernels and the memory of delegates are not in the arena" in result.output
    lean = run(free, tmp_path, "--runtime", "executorch", "--dim", "n=1..8", "--caller-inputs", "--no-reuse")
    assert "arena        512 bytes by executorch naive" in lean.output


def test_an_arena_without_bounds_names_the_dims_and_the_options(tmp_path: Path) -> None:
    free = '<ir_version: 8, opset_import: ["" : 17]> g (float[n, 16] x) => (float[n, 16] y) { y = Relu(x) }'
    result = run(free, tmp_path, "--runtime", "executorch", "--memory-limit", "1GiB")
    assert result.exit_code == 1
    assert "arena        no bound: specify upper bounds of n with --dim, or sizes with --bind" in result.output
    plan = run(free, tmp_path, "--runtime", "executorch", command="plan")
    assert plan.exit_code == 2 and "add --dim n=1..N, or --bind n=N" in plan.output
    record = json.loads(run(free, tmp_path, "--runtime", "executorch", "--json").output)["arena"]
    assert record["bytes"] is None and record["unbounded"] == ["n"]


def test_plan_has_the_offsets_of_the_runtime(tmp_path: Path) -> None:
    chain = KEPT.model
    placed = json.loads(
        run(chain, tmp_path, "--runtime", "executorch", "--bind", "n=64", "--json", command="plan").output
    )
    assert placed["planner"] == "executorch greedy" and placed["alignment"] == 16
    ours = json.loads(
        run(
            chain, tmp_path, "--runtime", "executorch", "--bind", "n=64", "--json", "--planner", "best", command="plan"
        ).output
    )
    assert ours["planner"] == "best" and ours["alignment"] == 16 and ours["arena"] <= placed["arena"]


def test_options_of_another_runtime_are_refused(tmp_path: Path) -> None:
    result = run(KEPT.model, tmp_path, "--runtime", "executorch", "--threads", "2")
    assert (
        result.exit_code == 2 and "--threads needs --runtime litert or litert-xnnpack or onnxruntime" in result.output
    )
    result = run(KEPT.model, tmp_path, "--no-reuse")
    assert result.exit_code == 2 and "--no-reuse needs --runtime executorch or litert or onnxruntime" in result.output


@pytest.mark.parametrize(
    ("runtime", "present", "absent"),
    [
        ((), ("<dt>Peak memory</dt>", "Weights and inputs are not counted"), ("total-tensors", "<dt>Arena")),
        (("--runtime", "onnxruntime"), ("<dt>Peak in onnxruntime</dt>", "<dt>Peak of tensors</dt>"), ("<dt>Arena",)),
        (
            ("--runtime", "executorch", "--dim", "n=1..64"),
            (
                "<dt>Peak in executorch</dt>",
                "<dt>Peak of tensors</dt>",
                "<dt>Arena in executorch</dt>",
                "at upper bounds",
            ),
            ("Weights and inputs",),
        ),
        (("--runtime", "executorch"), ("<dd>no bound</dd>", "specify upper bounds of n"), ()),
    ],
)
def test_the_report_has_the_plain_peak_too(
    tmp_path: Path, runtime: tuple[str, ...], present: tuple[str, ...], absent: tuple[str, ...]
) -> None:
    page = tmp_path / "report.html"
    result = run(KEPT.model, tmp_path, *runtime, "-o", str(page), command="report")
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8").partition("<script")[0]
    assert all(part in text for part in present) and not any(part in text for part in absent)


def test_arenas_of_tensorflow_lite(tmp_path: Path) -> None:
    path = str(dense(tmp_path))
    unbound = CliRunner().invoke(main, ["memory", path, "--runtime", "litert"])
    assert "arena        depends on sizes: specify x.shape[0] with --bind" in unbound.output
    bound = ["--bind", "x.shape[0]=3"]
    lines = CliRunner().invoke(main, ["memory", path, "--runtime", "litert", *bound]).output
    assert "arena        704 bytes by litert, at multiples of 64" in lines and "704 bytes after allocation" in lines
    micro = CliRunner().invoke(main, ["memory", path, "--runtime", "tflite-micro", *bound]).output
    assert "576 bytes head" in micro and "1.3 KiB (1,328 bytes) tail" in micro


def test_a_file_with_offsets(tmp_path: Path) -> None:
    target = str(tmp_path / "planned.tflite")
    command = ["plan", str(dense(tmp_path)), "--format", "offline", "-o", target]
    refused = CliRunner().invoke(main, command)
    assert refused.exit_code == 2 and "--format offline needs --runtime tflite-micro and --output" in refused.output
    written = CliRunner().invoke(main, [*command, "--runtime", "tflite-micro", "--bind", "x.shape[0]=3"])
    assert written.exit_code == 0, written.output
    assert (
        "head 576 bytes with the planner " in written.output
        and "576 bytes with that of the interpreter" in written.output
    )
