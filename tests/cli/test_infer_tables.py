"""`shapeinf infer`: which tensors are listed, how the table is streamed and cut, and the tree of modules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from shapeinf import infer_shapes
from shapeinf.cli import main
from shapeinf.report import tensor_cells
from shapeinf.report.module_tree import module_rows
from shapeinf.report.table import MEASURED, Column, table_lines
from shapeinf.report.tensor_rows import TensorQuery, TensorRecord, TensorRows
from shapeinf.report.text import tensor_columns
from shapeinf.texts import break_text, display_width

TEXT = """<ir_version: 10, opset_import: ["" : 19]>
g (float[batch, 3, height, width] x, float[batch] other, bool flag)
  => (float[] y, float[] rows, float[] chosen) <float[8, 3, 3, 3] w> {
    conv_out = Conv <pads = [1, 1, 1, 1]> (x, w)
    act = Relu (conv_out)
    y = Conv (act, v)
    places = NonZero (other)
    rows = Cast <to = 1> (places)
    chosen = If (flag) <
        then_branch = t () => (float[] p) { p = Neg (other) },
        else_branch = e () => (float[] q) { q = Abs (other) }>
}"""
RECURRENT = Path(__file__).resolve().parents[2] / "examples" / "recurrent.pbtxt"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    parsed = onnx.parser.parse_model(TEXT.replace("<float[8, 3, 3, 3] w>", ""))
    for name, dims in {"w": [8, 3, 3, 3], "v": [8, 8, 1, 1]}.items():
        size = dims[0] * dims[1] * dims[2] * dims[3]
        parsed.graph.initializer.append(onnx.helper.make_tensor(name, 1, dims, [0.0] * size))
    names = {"conv_out": "/net/stem/Conv", "act": "/net/stem/act/Relu", "y": "/net/head/Conv"}
    for node in parsed.graph.node:
        node.name = names.get(node.output[0], node.output[0])
    onnx.save(parsed, tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def run(model: Path, *options: object, env: dict[str, str | None] | None = None) -> Result:
    return CliRunner().invoke(main, ["infer", str(model), *map(str, options)], env={"COLUMNS": None, **(env or {})})


def names(result: Result) -> list[str]:
    """The first cells of the table."""
    table, _, _ = result.stdout.partition("\n\n")
    return [line.split()[0] for line in table.splitlines()[2:] if not line.startswith(" and ")]


ALL = ["x", "other", "flag", "conv_out", "act", "y", "places", "rows", "chosen"]
QUERIES: list[tuple[list[object], list[str]]] = [
    ([], ALL),
    (["--inputs"], ["x", "other", "flag"]),
    (["--outputs"], ["y", "rows", "chosen"]),
    (["--inputs", "--outputs"], ["x", "other", "flag", "y", "rows", "chosen"]),
    (["--constants"], [*ALL, "w", "v"]),
    (["--bodies"], [*ALL, "chosen/then_branch/p", "chosen/else_branch/q"]),
    (["--op", "CONV"], ["conv_out", "y"]),
    (["--op", "conv,relu", "--op", "NonZero"], ["conv_out", "act", "y", "places"]),
    (["--op", "c*"], ["conv_out", "y", "rows"]),
    (["--op", "neg", "--bodies"], ["chosen/then_branch/p"]),
    (["--op", "input"], ["x", "other", "flag"]),
    (["--filter", "*o*"], ["other", "conv_out", "rows", "chosen"]),
    (["--filter", "act", "--filter", "[xy]"], ["x", "act", "y"]),
    (["--filter", "w"], ["w"]),
    (["--filter", "chosen/then_branch/p"], ["chosen/then_branch/p"]),
    (["--unknown"], ["places", "rows"]),
    (["--unknown", "--outputs"], ["rows"]),
    (["--limit", 2], ["x", "other"]),
    (["--op", "conv", "--limit", 1], ["conv_out"]),
]


@pytest.mark.parametrize(("options", "expected"), QUERIES, ids=lambda value: " ".join(map(str, value)))
def test_the_tensors_of_a_query(model: Path, options: list[object], expected: list[str]) -> None:
    result = run(model, *options)
    assert (result.exit_code, names(result), result.stderr) == (0, expected, "")
    record = json.loads(run(model, *options, "--json").stdout)
    listed = [*record["tensors"], *record.get("bodies", ())]
    if {"--filter", "--limit"} & set(options) or not options:  # constants are always in the JSON
        listed = [name for name in listed if name in expected or name not in "wv"]
    assert sorted(set(listed) - {"w", "v"}) == sorted(set(expected) - {"w", "v"})


def test_what_a_limit_leaves_out_is_counted(model: Path) -> None:
    assert " and 7 more: --limit is 2\n" in run(model, "--limit", 2).stdout
    assert json.loads(run(model, "--limit", 2, "--json").stdout)["omitted"] == len(ALL) + 2 - 2  # constants too
    assert json.loads(run(model, "--json").stdout)["omitted"] == 0


def test_roles_of_tensors(model: Path) -> None:
    lines = run(model, "--constants").stdout.splitlines()
    ends = {line.split()[0]: re.split(r" {2,}", line)[-1] for line in lines if line.startswith(" ")}
    assert (ends["x"], ends["y"], ends["act"], ends["w"]) == ("input", "Conv, output", "Relu", "constant")
    record = json.loads(run(model, "--json").stdout)
    assert (record["inputs"], record["outputs"]) == (["x", "other", "flag"], ["y", "rows", "chosen"])
    assert record["tensors"]["act"]["node"] == "/net/stem/act/Relu"
    assert (record["tensors"]["x"]["producer"], record["tensors"]["w"]["producer"]) == ("input", "")


MISSES = [
    (["--filter", "actt"], 2, "no tensor is named 'actt'; did you mean 'act'?"),
    (["--op", "cov"], 2, "no operator of the model is named 'cov'; did you mean 'Conv'?"),
    (["--filter", "conv*z"], 0, "note: no tensor matches; the nearest of its names: 'conv_out'"),
    (["--op", "lstm*"], 0, "note: no tensor matches"),
    (["--filter", "act", "--unknown"], 0, "note: no tensor matches"),
    (["--tree", "--json"], 2, "--tree and --json cannot be combined"),
    (["--limit", "-1"], 2, "-1"),
]


@pytest.mark.parametrize(("options", "code", "message"), MISSES)
def test_queries_that_match_nothing(model: Path, options: list[str], code: int, message: str) -> None:
    result = run(model, *options)
    assert (result.exit_code, message in result.stderr) == (code, True), result.output
    if code == 0:
        as_json = run(model, *options, "--json")
        assert (as_json.exit_code, json.loads(as_json.stdout)["tensors"]) == (0, {})
        assert as_json.stderr.startswith("note: no tensor matches")


def test_nothing_unknown_is_good_news() -> None:
    result = run(RECURRENT.with_name("decoder.onnx"), "--unknown")
    assert result.stderr == "note: no tensor has an unknown dim or rank\n"
    assert result.stdout.startswith("dims ")


def test_names_of_signatures_are_names() -> None:
    expected = names(run(RECURRENT, "--filter", "logits:0"))
    graph = infer_shapes(RECURRENT).graph
    for alias, name in graph.aliases.items():
        assert names(run(RECURRENT, "--filter", alias)) == [name]
    assert expected == ["logits:0"]


def test_rows_are_consumed_as_lines_are_read() -> None:
    """An endless table has a first line; reading a line consumes no more rows than are measured at a time."""
    consumed = 0

    def endless() -> Iterator[tuple[str, str]]:
        nonlocal consumed
        for number in count():
            consumed += 1
            yield f"t{number}", "float32"

    lines = table_lines([Column("tensor"), Column("type")], endless())
    assert [line.split() for line in islice(lines, 4)][2:] == [["t0", "float32"], ["t1", "float32"]]
    assert consumed == MEASURED
    list(islice(lines, MEASURED))
    assert consumed == 2 * MEASURED


def test_a_record_is_made_when_it_is_consumed(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def record(name: str, *rest: object) -> TensorRecord:
        built.append(name)
        return TensorRecord(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("shapeinf.report.tensor_rows.TensorRecord", record)
    rows = TensorRows(infer_shapes(model), TensorQuery(limit=2))
    assert [row.name for row in islice(rows, 1)] == built == ["x"]
    list(rows)
    assert len(built) == 2 and rows.omitted > 0


def test_a_wider_row_widens_its_column_from_there_on() -> None:
    rows = [("a", "b")] * MEASURED + [("a" * 9, "b"), ("c", "b")]
    lines = list(table_lines([Column("x"), Column("y")], rows))
    assert (lines[2], lines[-2], lines[-1]) == (" a   b", f" {'a' * 9}   b", f" c{' ' * 11}b")


CUTS = [
    ("encoder/layer/0/attention/output", 24, "encoder/la...tion/output"),
    ("\u7e70" * 20, 20, None),
    ("e\u0301" * 30, 20, None),
    ("\x1b[31m" * 10, 20, None),
]


@pytest.mark.parametrize(("name", "width", "expected"), CUTS)
def test_long_names_lose_their_middle_on_a_terminal(name: str, width: int, expected: str | None) -> None:
    _, _, row = table_lines([Column("tensor", 12), Column("type")], [(name, "float32")], width=width + 11)
    assert display_width(row) <= width + 11 and row.endswith("   float32") and "..." in row and row.isprintable()
    assert expected is None or row.split()[0] == expected


@given(st.text(st.sampled_from("ab, [\u7e70e\u0301"), max_size=60), st.integers(4, 20))
def test_a_shape_continues_on_further_lines(cell: str, width: int) -> None:
    lines = break_text(cell, width)
    assert max(map(display_width, lines)) <= width
    assert "".join(lines).replace(" ", "") == cell.replace(" ", "")


def test_what_does_not_fit() -> None:
    """Ranges are omitted, names cut; dims are not."""
    columns = tensor_columns()
    long = ("a" * 30, "float32", "[batch, 3, height, width]", "[1.., 3, 1.., 1..]", "LayerNormalization, output")
    rows = [long, ("b", "int64", "[]", "", "Shape")]
    natural = max(map(len, table_lines(columns, rows)))
    for width in range(60, natural + 5):
        heading, _, *lines = table_lines(columns, rows, width=width)
        assert max(map(len, lines)) <= width
        assert ("range" in heading) == (width >= natural)
        assert all(dim in "".join(lines) for dim in ("[batch,", " 3,", "height,", "width]"))
    rows = [(*row[:3], "", row[4]) for row in rows]
    assert "range" not in next(table_lines(columns, rows, width=200))
    assert "range" in next(table_lines(columns, rows)), "a file has the same columns for all models"


def test_columns_are_honored_in_a_pipe(model: Path) -> None:
    plain = run(model).stdout
    wide = run(model, env={"COLUMNS": "200"}).stdout
    words = [word for word in plain.split() if word != "range" and "\u2500" not in word]
    assert [word for word in wide.split() if "\u2500" not in word] == words
    cut = run(model, env={"COLUMNS": "60"}).stdout
    assert max(map(len, cut.splitlines())) <= 60
    for nonsense in ("", "0", "-5", "wide"):
        assert run(model, env={"COLUMNS": nonsense}).stdout == plain


@pytest.mark.parametrize(
    ("env", "colored"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colors(model: Path, env: dict[str, str | None], colored: bool) -> None:
    result = run(model, env={"NO_COLOR": None, "FORCE_COLOR": None, **env})
    assert ("\x1b[" in result.stdout) is colored


def test_a_tree_of_modules(model: Path) -> None:
    def lines(*options: object) -> list[str]:
        table = run(model, "--tree", *options).stdout.partition("\n\n")[0]
        return [re.sub(r"(?<=\S) +", " ", line) for line in table.splitlines()[2:]]

    flat = " chosen float32 [batch] If, output"
    assert " net/ 3 tensors float32 [batch, 8, height, width] Conv x2, Relu" in lines("--depth", 1)
    deep = lines("--depth", 9)
    assert [line.split()[0] for line in deep] == [
        *("x", "other", "flag", "net/", "stem/", "conv_out", "act", "y", "places", "rows", "chosen")
    ]
    assert "   stem/ 2 tensors float32 [batch, 8, height, width] Conv, Relu" in deep
    assert "     act float32 [batch, 8, height, width] Relu" in deep, "a module of one tensor is that tensor"
    assert flat in deep and flat in lines()


def test_a_tree_of_hostile_names() -> None:
    deep = TensorRecord("t", "tensor", None, None, "?", "", "Op", node="a/" * 5000 + "b")
    other = TensorRecord("u", "tensor", None, None, "?", "", "Op", node="a/" * 4000 + "b")
    rows = list(module_rows([deep, other], 10_000))
    assert [row[0].strip() for row in rows][1:] == ["t", "u"]
    assert len(list(tensor_cells([deep]))) == 1


CONSTANTS = """<ir_version: 10, opset_import: ["" : 19]>
g (float[n, 4] x) => (float[] y, int64[] answer) {
    s = Constant <value = int64[2] {-1, 2}> ()
    answer = Constant <value = int64 {42}> ()
    r = RandomNormal <shape = [4]> ()
    y = Reshape (x, s)
    z = Add (x, r)
    last = Neg (z)
}"""
HIDDEN: list[tuple[list[object], list[str]]] = [
    ([], ["x", "answer", "r", "y", "z", "last"]),
    (["--constants"], ["x", "s", "answer", "r", "y", "z", "last"]),
    (["--op", "constant"], ["s", "answer"]),
    (["--filter", "s"], ["s"]),
    (["--filter", "?"], ["x", "r", "y", "z"]),
]


@pytest.mark.parametrize(("options", "expected"), HIDDEN)
def test_constants_of_nodes_are_hidden_but_outputs_are_not(
    options: list[object], expected: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "constants.onnx"
    onnx.save(onnx.parser.parse_model(CONSTANTS), path)
    assert names(run(path, *options)) == expected
    for limit in range(len(expected)):
        assert (
            f" and {len(expected) - limit} more: --limit is {limit}\n" in run(path, *options, "--limit", limit).stdout
        )
    assert json.loads(run(path, "--json").stdout)["tensors"].keys() == {*HIDDEN[1][1]}
