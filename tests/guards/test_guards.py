"""Verdicts on guards: small programs by hand, and the experiments of torch of a corpus.

The contract of a hand-made program follows from the definitions of its operators; the verdicts of the corpus from runs
of torch.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from shapeinf import infer_shapes
from shapeinf.checks import check
from shapeinf.cli.main import main
from shapeinf.errors import ShapeInferenceError
from shapeinf.report.guards import guard_lines, guards_as_markdown
from tests.formats.torch_export.programs import graph, node, program, symbol, tensor
from tests.vectors import ROOT as CONFORMANCE


def table_lookup(*guards: str, sizes: tuple[Any, ...] = ("s0", "s1", 8), limit: int | None = None) -> bytes:
    """`x + table[:24]` of a table of 24 rows, flattened in pairs: [b, 24, 8], [24, 8] -> [b, 12, 16]."""
    dims = [symbol(s) if isinstance(s, str) else s for s in sizes]
    top = graph(
        ["x", "table"],
        [
            node("torch.ops.aten.add.Tensor", {"self": "x", "other": "table"}, "y", line=4),
            node("torch.ops.aten.view.default", {"self": "y", "size": [-1, 12, 16]}, "z", line=5),
        ],
        ["z"],
        tensors={"x": tensor(*dims), "table": tensor(24, 8), "y": tensor(*dims), "z": tensor("s0", 12, 16)},
    )
    values = top["tensor_values"]
    for written, example in zip(values["x"]["sizes"], (2, 24, 8), strict=True):
        if "as_expr" in written:
            written["as_expr"]["hint"] = {"as_int": example}
    stored = {"table": ("parameter", "table")}
    ranges = {"s0": {"min_val": 2, "max_val": limit}, "s1": {"min_val": 2, "max_val": None}}
    return json.dumps(program(top, stored, guards_code=list(guards), range_constraints=ranges)).encode()


def verdicts(model: Any) -> dict[str, str]:
    """The verdict of each guard by its text."""
    return {guard.text: guard.verdict for guard in infer_shapes(model).guards}


@pytest.mark.parametrize(
    ("guard", "verdict"),
    [
        ("L['x'].size()[0] != 1", "artifact"),
        ("L['x'].size()[0] <= 7", "artifact"),
        ("L['x'].size()[1] == 24", "too strong"),  # an axis of size 1 is repeated
        ("L['x'].size()[1] <= 24", "needed"),
        ("L['x'].size()[1] != 23", "needed"),
        ("L['x'].size()[1] < 25 and L['x'].size()[2] < 9", "needed"),
        ("L['x'].size()[0] >= 1", "implied"),
        ("L['x'].size()[0]*L['x'].size()[1] != 0", "implied"),
        ("not L['x'].size()[1] > 24", "needed"),
        ("L['x'].size()[1] == 24 or L['x'].size()[1] == 1", "needed"),
        ("L['x'].stride()[0] == 1", "unknown"),
    ],
)
def test_a_guard_is_compared_with_the_contract(guard: str, verdict: str) -> None:
    assert verdicts(table_lookup(guard))[guard] == verdict


def test_evidence_names_the_line_and_sizes_that_show_it() -> None:
    report = infer_shapes(table_lookup("L['x'].size()[1] <= 24", "L['x'].size()[0] != 1")).guards
    needed, artifact = report.guards[:2]
    (reason,) = needed.reasons
    assert "x_1" in reason and "required by aten.add.Tensor 'y' at models.py:4" in reason
    assert artifact.accepted == {"x_0": 1, "x_1": 24, "x_2": 8} and artifact.refused is None
    lines = "\n".join(guard_lines(report))
    assert "the operators accept x_0 = 1" in lines
    assert "| `x_0 != 1` | artifact | `the operators accept x_0 = 1` |" in guards_as_markdown(report)


def test_declarations_are_guards() -> None:
    found = verdicts(table_lookup(sizes=("s0", 24, 8), limit=4096))
    assert found == {
        "x_1 == 24": "too strong",
        "x_2 == 8": "too strong",
        "x_0 >= 2": "artifact",
        "x_0 <= 4096": "artifact",
    }
    unchecked = [guard.text for guard in infer_shapes(table_lookup(sizes=("s0", 24, 8))).guards if not guard.checked]
    assert unchecked == ["x_0 >= 2"]


def test_equal_guards_are_listed_once() -> None:
    report = infer_shapes(table_lookup("8*L['x'].size()[1] == 192", sizes=("s0", 24, 8))).guards
    assert [guard.text for guard in report].count("x_1 == 24") == 0 and len(report.guards) == 3


def test_a_requirement_that_no_guard_implies_is_missing() -> None:
    (missing,) = [
        m for m in infer_shapes(table_lookup()).guards.missing if "x_1 <= 24" in m.requirement or "24" in str(m)
    ]
    assert missing.sizes["x_0"] == 2 and missing.sizes["x_1"] > 2 and missing.sizes["x_2"] == 8


def test_the_suggestion_leaves_free_what_operators_leave_free() -> None:
    top = graph(
        ["x", "y"],
        [
            node("torch.ops.aten.view.default", {"self": "x", "size": [-1, 4]}, "p"),
            node("torch.ops.aten.mm.default", {"self": "p", "mat2": "y"}, "q"),
        ],
        ["q"],
        tensors={"x": tensor(symbol("s0")), "y": tensor(4, symbol("s1"))},
    )
    report = infer_shapes(json.dumps(program(top)).encode()).guards
    assert report.dynamic_shapes == '{"x": {0: 4*Dim("x_0_4")}, "y": {1: Dim("y_1")}}'


def test_models_without_guards_are_refused(tmp_path: Path) -> None:
    path = Path(__file__).parents[2] / "examples" / "decoder.onnx"
    with pytest.raises(ShapeInferenceError, match="a model of ONNX states none"):
        _ = infer_shapes(path).guards
    result = CliRunner().invoke(main, ["guards", str(path)])
    assert result.exit_code == 2 and "a model of ONNX states none" in result.output


@pytest.mark.parametrize(("options", "start"), [([], "needed"), (["--markdown"], "| guard"), (["--json"], "{")])
def test_the_command(tmp_path: Path, options: list[str], start: str) -> None:
    path = tmp_path / "model.pt2"
    path.write_bytes(table_lookup("L['x'].size()[1] <= 24", "L['x'].size()[1] >= 24"))
    result = CliRunner().invoke(main, ["guards", str(path), *options])
    assert result.exit_code == 0 and result.output.startswith(start)
    assert CliRunner().invoke(main, ["guards", str(path), "--json", "--markdown"]).exit_code == 2


def test_check_reports_missing_guards_and_counts_those_that_nothing_needs() -> None:
    found = [d for d in check(infer_shapes(table_lookup(), declared="check")) if d.code == "C107"]
    assert found[0].severity == "warning" and "required by aten.add.Tensor" in found[0].because
    bound = table_lookup("L['x'].size()[0] != 1", "L['x'].size()[0] != 3", sizes=("s0", 24, 8))
    (note,) = [d for d in check(infer_shapes(bound, declared="check")) if d.code == "C108"]
    assert note.severity == "note" and note.message.startswith("2 guards refuse sizes that the operators accept")


def test_a_small_budget_leaves_guards_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    from shapeinf.guards import examine_guards

    report = examine_guards(infer_shapes(table_lookup("L['x'].size()[0] != 1")).engine.session, work=1)
    assert report.cut and report.guards[0].verdict == "unknown"


CORPUS = CONFORMANCE / "torch_export"
NEVER = {("artefact", "needed"), ("path", "needed"), ("partly", "needed"), ("necessary", "artifact")}
"""A verdict of the experiments, and one of ours that contradicts it."""
OTHERWISE = {
    "whisper_pos__auto": "a view has sizes that Python computed: the program fails at others, and eager torch runs",
    "det_topk__auto": "the positions of the largest items of one input are indices of another: contents are no sizes",
    "det_nonzero__named": "the positions of a mask are indices of another input: contents are no sizes",
    "quant_pt2e_cnn__auto": "what runs eagerly in the experiment is an exported program with the same guards",
}
"""Programs whose experiments are about something else than the operators of the file, with the reason."""


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.exists(), reason=f"no programs in {CORPUS}: set SHAPEINF_CONFORMANCE")
def test_no_verdict_contradicts_the_experiments_of_torch() -> None:
    contradictions: list[tuple[str, ...]] = []
    counts: Counter[tuple[str, str]] = Counter()
    for name, record in json.loads((CORPUS / "guards.json").read_text())["programs"].items():
        path = CORPUS / "dev" / f"{name}.pt2"
        if not path.exists() or name in OTHERWISE:
            continue
        found = verdicts(path)
        for guard in record["guards"]:
            pair = (guard["verdict"], found.get(guard["text"], ""))
            counts[pair] += 1
            if pair in NEVER:
                contradictions.append((name, guard["text"], *pair))
    assert not contradictions
    artifacts = sum(count for (truth, ours), count in counts.items() if truth == "artefact" and ours)
    assert counts["artefact", "artifact"] >= 0.9 * artifacts
