"""Caches of keys and values in the views: bytes by arithmetic on models made here, and silence for others."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner

from shapeinf import infer_shapes
from shapeinf.cli import main
from shapeinf.expr.exact_runs import run_exactly
from shapeinf.report import summarize
from shapeinf.report.kv_cache_report import report_kv_caches
from shapeinf.report.live.data import LiveData, LiveSource
from shapeinf.report.memory_summary import summarize_memory
from tests.memory.test_kv_cache import DEPTH, HEADS, NAMED, NAMELESS, decoder, model

PER_TOKEN = 2 * HEADS * DEPTH * 4
"""Bytes of one token of two float tensors at batch 1."""
DECODER = model(decoder(NAMED))
PLAIN = "g (float[batch, 4] x) => (float[batch, 4] y) { y = Relu(x) }"


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 18]> {text}')


@pytest.fixture
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    file = tmp_path / "model.onnx"
    file.write_bytes(parsed(getattr(request, "param", DECODER)).SerializeToString())
    return file


def run(command: str, *args: object) -> str:
    result = CliRunner().invoke(main, [command, *map(str, args)])
    assert result.exit_code in (0, 1), result.output
    return result.output


PAIRS = f"2 pairs ({NAMED[0][0]} -> {NAMED[0][1]}, ...): past -> seq + past tokens, {PER_TOKEN}*batch bytes a token"


@pytest.mark.parametrize(
    ("sizes", "numbers"),
    [
        ([], "batch=1: 192 bytes a token; 4,096 tokens: 768 KiB (786,432 bytes)"),
        (["batch=8"], "batch=8: 1.5 KiB (1,536 bytes) a token; 4,096 tokens: 6 MiB (6,291,456 bytes)"),
        (["past=9,seq=1"], "batch=1: 192 bytes a token; 10 tokens: 1.88 KiB (1,920 bytes)"),
        (["batch=8,past=99,seq=1"], "batch=8: 1.5 KiB (1,536 bytes) a token; 100 tokens: 150 KiB (153,600 bytes)"),
    ],
)
@pytest.mark.parametrize(("command", "heading"), [("memory", "kv cache     "), ("summary", "kv cache    ")])
def test_lines(path: Path, sizes: list[str], numbers: str, command: str, heading: str) -> None:
    lines = run(command, path, *(["--bind", *sizes] if sizes else [])).splitlines()
    at = lines.index(heading + PAIRS)
    assert lines[at + 1].strip() == numbers


def test_a_limit_holds_tokens(path: Path) -> None:
    limit = 10**6
    lines = run("memory", path, "--bind", "batch=8", "--memory-limit", limit).splitlines()
    assert f"  the limit holds {limit // (8 * PER_TOKEN):,} tokens, with nothing else in memory" in lines
    data = json.loads(run("memory", path, "--bind", "batch=8", "--memory-limit", limit, "--json"))
    assert data["kv_caches"][0]["largest"] == limit // (8 * PER_TOKEN)


@pytest.mark.parametrize("command", ["memory", "summary"])
def test_json(path: Path, command: str) -> None:
    data = json.loads(run(command, path, "--bind", "batch=8,past=99,seq=1", "--json"))
    (cache,) = (data if command == "memory" else data["models"][0])["kv_caches"]
    assert cache == {
        "pairs": [{"past": past, "present": present, "axis": 2} for past, present in NAMED],
        "past_tokens": "past",
        "tokens": "seq + past",
        "bytes_per_token": f"{PER_TOKEN}*batch",
        "sizes": {"batch": 8},
        "token_bytes": 8 * PER_TOKEN,
        "run_tokens": 100,
        "run_bytes": 100 * 8 * PER_TOKEN,
        "largest": None,
    }


@pytest.mark.parametrize("command", ["memory", "summary"])
def test_each_cache_has_its_lines(tmp_path: Path, command: str) -> None:
    file = tmp_path / "two.onnx"
    text = model(decoder(NAMED), decoder(NAMELESS, past="window", new="t", suffix="w"))
    file.write_bytes(parsed(text).SerializeToString())
    lines = [line for line in run(command, file).splitlines() if line.startswith("kv cache")]
    assert [line.split()[2:4] for line in lines] == [["2", "pairs"], ["3", "pairs"]]


@pytest.mark.parametrize("path", [model(decoder(NAMED, past="127", new="1")).replace("batch", "2")], indirect=True)
def test_a_static_cache(path: Path) -> None:
    output = run("memory", path)
    assert "always: 384 bytes a token; 128 tokens: 48 KiB (49,152 bytes)" in output


def test_a_size_of_1_that_is_not_legal_has_no_example() -> None:
    result = infer_shapes(parsed(DECODER), dims={"batch": (2, 8)})
    (cache,) = report_kv_caches(result.memory(), {}, 10**6)
    assert (cache.token_bytes, cache.run_bytes, cache.largest) == (None, None, None)
    (cache,) = report_kv_caches(result.memory(), {"batch": 2})
    assert cache.token_bytes == 2 * PER_TOKEN


def test_the_report_has_a_row(path: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    run("report", path, "--bind", "batch=8", "-o", page)
    text = page.read_text(encoding="utf-8")
    assert text.count("Caches of keys and values") == 1
    assert "past -&gt; seq + past" in text and text.count('class="number now" data-amount=') == 3


def test_the_row_has_amounts_that_follow_the_sizes(path: Path) -> None:
    """The program of the page, evaluated here: bytes of a token, tokens, and all bytes."""
    result = infer_shapes(path)
    data = LiveData(LiveSource(result, result.memory(), {}))
    (row,) = data.tables()[0]["caches"]
    program = data.amounts.program()
    outputs = [data.amounts.entries[number][0] for number in row]
    for batch, seq, past in ((1, 1, 1), (8, 3, 100)):
        sizes = {"batch": batch, "seq": seq, "past": past}
        values = run_exactly(program, [sizes[str(symbol)] for symbol in program.symbols])
        token, tokens, total = (values[number] for number in outputs)
        assert (token, tokens, total) == (PER_TOKEN * batch, seq + past, PER_TOKEN * batch * (seq + past))


@pytest.mark.parametrize("path", [PLAIN], indirect=True)
def test_models_without_a_cache_print_nothing(path: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    run("report", path, "-o", page)
    assert "Caches of keys" not in page.read_text(encoding="utf-8")
    for command in ("memory", "summary"):
        assert "kv cache" not in run(command, path)
    assert json.loads(run("memory", path, "--json"))["kv_caches"] == []


def test_pickles_of_summaries_keep_the_records() -> None:
    result = infer_shapes(parsed(DECODER))
    summary = summarize(result, {"batch": 8})
    assert pickle.loads(pickle.dumps(summary)).kv_caches == summary.kv_caches != ()
    memory = result.memory()
    of_memory = summarize_memory(memory, {}, None, lambda: memory)
    assert pickle.loads(pickle.dumps(of_memory)).kv_caches == of_memory.kv_caches != ()
