"""`shapeinf memory`: output, pictures and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shapeinf.cli import main
from tests.engine.runtime import parsed
from tests.vectors import ROOT

CHAIN = "g (float[n, 4] x) => (float[n, 4] y) { a = Neg(x)  b = Abs(a)  y = Add(a, b) }"
CHOICE = "g (float[n] x) => (float[1, ?] y) { c = NonZero(x)  y = Cast<to = 1>(c) }"
UNKNOWN = "g (float[n] x) => (float[n] y) { a = my.Own(x)  b = Neg(a)  y = Neg(x) }"


def run(*args: object, command: str = "memory") -> Result:
    return CliRunner().invoke(main, [command, *map(str, args)])


@pytest.fixture
def model(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(parsed(getattr(request, "param", CHAIN)).SerializeToString())
    return path


def test_the_peak_as_a_formula_and_at_sizes(model: Path) -> None:
    result = run(model, "--bind", "n=100")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert lines[0] == ["peak", "48*n", "bytes"], "at the last node three of 4 floats a row are alive"
    assert result.output.splitlines()[1] == "  n=100: 4.69 KiB (4,800 bytes) at Add 'y' (#2)"
    assert sorted(line[2] for line in lines[2:5]) == ["a:", "b:", "y:"]
    assert ["inputs", "1.56", "KiB", "(1,600", "bytes)", "of", "16*n"] in lines


@pytest.mark.parametrize("model", ["g (string[n] x, float[n] z) => (float[n] y) { y = Neg(z) }"], indirect=True)
def test_inputs_of_unknown_size_are_no_0_bytes(model: Path) -> None:
    lines = run(model, "--bind", "n=5").output.splitlines()
    assert "inputs       at least 20 bytes of 4*n" in lines and "outputs      20 bytes of 4*n" in lines
    data = json.loads(run(model, "--json").output)
    assert data["unsized"] == [{"name": "x", "role": "input", "cause": "strings have no fixed size"}]
    assert not data["peak"]["at_least"], "the peak counts what nodes make"


@pytest.mark.parametrize(
    ("options", "exit_code", "words"),
    [
        (["--bind", "n=100", "--memory-limit", "4800"], 0, "the peak fits"),
        (["--bind", "n=100", "--memory-limit", "4799"], 1, "the peak does not fit"),
        (["--dim", "n=1..100", "--memory-limit", "4800 B"], 0, "4.69 KiB (4,800 bytes), reached at n=100"),
        (["--dim", "n=1..101", "--memory-limit", "4.7kB"], 1, "the peak does not fit"),
        (["--memory-limit", "1GiB"], 1, "no bound: specify upper bounds of n with --dim"),
    ],
)
def test_memory_limits(model: Path, options: list[str], exit_code: int, words: str) -> None:
    result = run(model, *options)
    assert result.exit_code == exit_code and words in result.output, result.output


@pytest.mark.parametrize("model", [UNKNOWN], indirect=True)
def test_an_unknown_size_is_never_0(model: Path) -> None:
    result = run(model, "--bind", "n=10", "--memory-limit", "1GiB")
    assert result.exit_code == 1
    assert "n=10: at least 40 bytes" in result.output
    assert "not counted  a" in result.output and "is not known to fit" in result.output


@pytest.mark.parametrize("model", [CHOICE.replace("?", "m")], indirect=True)
def test_a_name_that_only_an_output_has_is_bounded(model: Path) -> None:
    result = run(model, "--bind", "n=10", "--memory-limit", "120")
    assert result.exit_code == 0 and "n=10: at most 120 bytes" in result.output


@pytest.mark.parametrize("model", [CHOICE], indirect=True)
def test_sizes_that_depend_on_data_have_their_bounds(model: Path) -> None:
    data = json.loads(run(model, "--bind", "n=10", "--json").output)
    assert data["schema"] == "shapeinf.memory.summary/1"
    peak = data["peak"]
    assert (peak["bytes"], peak["at_most"], peak["at_least"]) == (10 * 8 + 10 * 4, True, False)
    assert [item["name"] for item in peak["alive"]] == ["c", "y"]


def test_pictures_show_the_same_peak(model: Path, tmp_path: Path) -> None:
    plan, page = tmp_path / "plan.json", tmp_path / "memory.html"
    assert run(model, "--bind", "n=100", "-o", plan, command="plan").exit_code == 0
    result = run(model, "--bind", "n=100", "--html", page, "--plan", plan)
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert "(4,800 bytes)</b> at #2 Add" in text and "at n=100" in text and "The plan:" in text


def test_sizes_of_0_are_legal_queries(model: Path) -> None:
    result = run(model, "--bind", "n=0", "--memory-limit", "0")
    assert result.exit_code == 0 and "n=0: 0 bytes" in result.output, result.output


def test_buffers_are_exported(model: Path, tmp_path: Path) -> None:
    table = tmp_path / "memory.csv"
    assert run(model, "--bind", "n=100", "--export", table).exit_code == 0
    assert "1600" in table.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--bind", "m=4"], "no dim is named 'm'"),
        (["--html", "never.html"], "add --bind n=N"),
        (["--export", "never.csv"], "add --bind n=N"),
        (["--bind", "n=4", "--plan", "never.json"], "add --html or --png"),
        (["--memory-limit", "3 parsecs"], "is not an amount of memory"),
        (["--export", "never.doc"], "never.doc"),
    ],
)
def test_usage(model: Path, options: list[str], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(model.parent)
    result = run(model, *options)
    assert result.exit_code == 2 and words in result.output, result.output
    assert not list(model.parent.glob("never.*"))


def test_a_missing_file_could_not_run(tmp_path: Path) -> None:
    assert run(tmp_path / "none.onnx").exit_code == 3


def test_a_cache_with_and_without_the_relation_of_its_dims() -> None:
    path = ROOT / "memory" / "kv.onnx"
    if not path.exists():
        pytest.skip("memory/kv.onnx is not there: set SHAPEINF_CONFORMANCE to the folder that holds it")
    ranges = ["--bind", "b=1", "--min-dim", "0", "--dim", "past_sequence_length=0..4095"]
    ranges += ["--dim", "sequence_length=1..4096"]
    assert "(270,499,584 bytes)" in run(path, *ranges).output
    relation = ["--assume", "past_sequence_length + sequence_length <= 4096"]
    assert "(135,266,304 bytes)" in run(path, *ranges, *relation).output


MANY = """g (float[n] x, float[4] v) => (float[] out) {
    a = my.Odd (x)
    b, c, d, e, f = my.Many (x)
    out = Mul (x, x)
}"""


@pytest.mark.parametrize("model", [MANY], indirect=True)
def test_what_is_not_counted_is_grouped_by_cause(model: Path) -> None:
    lines = [line for line in run(model, "--bind", "n=10").stdout.splitlines() if line.startswith("not counted")]
    assert [line.split(": ")[0] for line in lines] == ["not counted  a", "not counted  b, c, d, e and 1 more"]
    assert len(json.loads(run(model, "--bind", "n=10", "--json").stdout)["uncounted"]) == 6


TOTALS = [
    ((), None),
    (("--bind", "n=10"), "total        at least 96 bytes: peak 40 B, weights 0 B (0.0%), inputs 56 B"),
    (
        ("--dim", "n=1..10"),
        "total        without some parts at most 96 bytes: peak 40 B, weights 0 B (0.0%), inputs 56 B",
    ),
]


@pytest.mark.parametrize("model", [MANY], indirect=True)
@pytest.mark.parametrize(("options", "expected"), TOTALS)
def test_the_total_has_weights_and_inputs(model: Path, options: tuple[str, ...], expected: str | None) -> None:
    lines = [line for line in run(model, *options).stdout.splitlines() if line.startswith("total")]
    assert lines == ([] if expected is None else [expected])
    total = json.loads(run(model, *options, "--json").stdout)["total"]
    assert (total and total["bytes"]) == (None if expected is None else 96)
