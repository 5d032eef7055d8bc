"""All commands on networks of PNNX: both names of an input, axes without names, tuples, annotations, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shapeinf import infer_shapes
from shapeinf.cli import main

COMMON = "bias=False dilation=(1,1) groups=1 kernel_size=(3,3) padding=(1,1) padding_mode=zeros stride=(1,1)"


def conv(name: str, before: str, after: str, channels: tuple[int, int], declared: str = "") -> str:
    """A convolution of 3x3 that preserves the sizes of images."""
    inputs, filters = channels
    return (
        f"nn.Conv2d {name} 1 1 {before} {after} {COMMON} in_channels={inputs} out_channels={filters} "
        f"@weight=({filters},{inputs},3,3)f32 {declared}"
    )


def network(*operators: str) -> str:
    """The text of a network, with its counts."""
    blobs = {blob for line in operators for blob in outputs(line)}
    return "\n".join(["7767517", f"{len(operators)} {len(blobs)}", *operators, ""])


def outputs(line: str) -> list[str]:
    fields = line.split()
    return fields[4 + int(fields[2]) : 4 + int(fields[2]) + int(fields[3])]


TUPLES = network(
    "pnnx.Input pnnx_input_0 0 1 0 #0=(1,3,?,?)f32",
    conv("c1", "0", "1", (3, 8), "#1=(1,8,?,?)f32"),
    conv("c2", "0", "2", (3, 4), "#2=(1,4,?,?)f32"),
    "prim::TupleConstruct pack 2 1 1 2 3",
    "prim::TupleUnpack unpack 1 2 3 4 5",
    conv("c3", "4", "6", (8, 8)),
    conv("c4", "5", "7", (4, 8)),
    "torch.cat joined 2 1 6 7 8 dim=1 #8=(1,16,?,?)f32",
    "prim::TupleConstruct results 2 1 8 0 9",
    "pnnx.Output pnnx_output_0 1 0 9",
)
STATIC = TUPLES.replace("?,?", "8,8")
CUSTOM = network(
    "pnnx.Input pnnx_input_0 0 1 0 #0=(1,3,8,8)f32",
    "my.Detect detect 1 1 0 1 #1=(1,10,4)f32",
    "my.Detect again 1 1 1 2 #2=(1,10,4)f32",
    "pnnx.Output pnnx_output_0 1 0 2",
)
JOINED = network(
    "pnnx.Input left 0 1 0 #0=(?,4)f32",
    "pnnx.Input right 0 1 1 #1=(?,6)f32",
    "torch.cat joined 2 1 0 1 2 dim=1 #2=(?,10)f32",
    "pnnx.Output pnnx_output_0 1 0 2",
)
"""Both inputs have one batch size, which the annotations do not say."""


def write(folder: Path, text: str, name: str = "net") -> Path:
    path = folder / f"{name}.pnnx.param"
    path.write_text(text, encoding="utf-8")
    return path


def run(command: str, *args: object, code: int = 0) -> Result:
    result = CliRunner().invoke(main, [command, *map(str, args)])
    assert result.exit_code == code, result.output
    return result


def words(result: Result) -> str:
    """The output with single blanks."""
    return " ".join(result.output.split())


# -- names


@pytest.mark.parametrize("name", ["0", "pnnx_input_0"])
@pytest.mark.parametrize(
    ("command", "options", "expected"),
    [
        ("infer", ["-d", "{}:[2,3,h,w]"], "8 float32 [2, 16, h, w]"),
        ("infer", ["-d", "{}:2x3x5x7"], "8 float32 [2, 16, 5, 7]"),
        ("infer", ["--dim", "{}.shape[2]=4..8"], "[1, 16, 4..8, 1..]"),
        ("infer", ["--bind", "{}.shape[2]=6"], "8 float32 [1, 16, 6, pnnx_input_0.shape[3]]"),
        ("infer", ["--assume", "`{}.shape[2]` <= 6"], "[1, 16, 1..6, 1..]"),
        ("explain", ["-t", "8", "-k", "2", "-d", "{}:[1,3,h,w]"], "8.shape[2] = h by torch.cat joined"),
        ("explain", ["-t", "{}", "-k", "1"], "0.shape[1] = 3, declared by an input"),
        ("memory", ["-d", "{}:[1,3,8,8]"], "8 KiB (8,192 bytes)"),
        ("memory", ["--bind", "{}.shape[2]=8,{}.shape[3]=8"], "8 KiB (8,192 bytes)"),
        ("plan", ["-d", "{}:[1,3,8,8]"], "arena 8 KiB (8,192 bytes) for 5 tensors"),
    ],
)
def test_both_names_of_an_input(tmp_path: Path, name: str, command: str, options: list[str], expected: str) -> None:
    model = write(tmp_path, TUPLES)
    assert expected in words(run(command, model, *[option.replace("{}", name) for option in options]))


@pytest.mark.parametrize("name", ["0", "pnnx_input_0"])
def test_a_profile_has_either_name(tmp_path: Path, name: str) -> None:
    corners = [f"--{corner}Shapes={name}:1x3x{size}x{size}" for corner, size in (("min", 1), ("opt", 4), ("max", 8))]
    assert "no diagnostics" in run("check", write(tmp_path, TUPLES), *corners).output


def test_an_unknown_input_lists_both_names(tmp_path: Path) -> None:
    text = words(run("infer", write(tmp_path, TUPLES), "-d", "pnnx_input_1:[1,3,8,8]", code=2))
    assert "'pnnx_input_1'" in text
    assert "pnnx_input_0" in text


def test_shapes_in_order_and_by_both_names_at_once() -> None:
    for inputs in ([["b", 4], ["b", 6]], {"left": ["b", 4], "1": ["b", 6]}, "0:[b,4] right:[b,6]"):
        result = infer_shapes(JOINED, inputs=inputs)
        assert str(result.tensors["2"]) == "float32[b, 10]"


def test_a_config_names_inputs_and_axes(tmp_path: Path) -> None:
    config = tmp_path / "shapes.toml"
    config.write_text('[inputs]\npnnx_input_0 = "[1, 3, h, w]"\n[bind]\nh = 8\n', encoding="utf-8")
    assert "8 float32 [1, 16, 8, w]" in words(run("infer", write(tmp_path, TUPLES), "--config", config))


# -- symbols and relations


def test_relations_of_axes_that_annotations_do_not_state(tmp_path: Path) -> None:
    result = infer_shapes(JOINED)
    assert str(result.tensors["2"]) == "float32[left.shape[0], 10]"
    (precondition,) = result.contract.preconditions
    assert precondition.node == "joined"
    assert {"left.shape[0]", "right.shape[0]"} == set(precondition.text.split(" == "))
    text = words(run("infer", write(tmp_path, JOINED), "--bind", "left.shape[0]=2,right.shape[0]=3", code=1))
    assert "joined" in text


def test_unknown_operators_have_one_warning_a_type(tmp_path: Path) -> None:
    result = run("infer", write(tmp_path, CUSTOM))
    assert words(result).count("operator is not known") == 1
    assert "operators without a rule: my.Detect x2" in words(result)
    assert "float32 [1, 10, 4]" not in words(result)
    trusted = words(run("infer", write(tmp_path, CUSTOM), "--declared", "trust"))
    assert "2 float32 [1, 10, 4] my.Detect" in trusted
    elsewhere = words(run("infer", write(tmp_path, CUSTOM), "--declared", "trust", "-d", "0:[2,3,8,8]"))
    assert "float32 [1, 10, 4]" not in elsewhere
    assert "note[S121]" in elsewhere


# -- check


def test_check_finds_a_damaged_annotation(tmp_path: Path) -> None:
    assert "no diagnostics" in run("check", write(tmp_path, TUPLES)).output
    damaged = write(tmp_path, STATIC.replace("#2=(1,4,8,8)f32", "#2=(1,4,8,9)f32"))
    text = words(run("check", damaged, code=1))
    assert "warning[C110]: 2 is declared as 9 on axis 3 but the graph computes 8" in text
    assert "--> c2 nn.Conv2d" in text
    other = run("check", damaged, "-d", "0:[1,3,16,16]")
    assert "S121" in other.output


def test_check_as_json_has_the_line(tmp_path: Path) -> None:
    damaged = write(tmp_path, STATIC.replace("#2=(1,4,8,8)f32", "#2=(1,4,8,8)i64"))
    report = json.loads(run("check", damaged, "--json", code=1).output)
    text = json.dumps(report)
    assert f"{damaged.name}:5" in text
    assert "C110" in text


# -- memory


@pytest.mark.parametrize("options", [[], ["--aliases"], ["--in-place"], ["--aliases", "--in-place"]])
def test_tuples_take_no_memory(tmp_path: Path, options: list[str]) -> None:
    """Of h*w pixels: at the concatenation two images of 8 channels and their 16 are alive."""
    result = infer_shapes(TUPLES)
    memory = result.memory(aliases="--aliases" in options, in_place="--in-place" in options)
    h, w = (f"pnnx_input_0.shape[{axis}]" for axis in (2, 3))
    assert str(memory.peak) == f"128*{h}*{w}"
    assert not {"3", "9"} & {buffer.name for buffer in memory.timeline.buffers}
    lives = {buffer.name: (buffer.birth, buffer.death) for buffer in memory.timeline.buffers}
    assert lives["1"] == (0, 5), "until c3 reads it as the first item"
    assert lives["2"] == (1, 6), "until c4 reads it as the second item"
    assert lives["8"] == (6, 8), "an output"
    text = words(run("memory", write(tmp_path, STATIC), *options))
    assert "weights 4.64 KiB (4,752 bytes)" in text
    assert "(8,192 bytes)" in text


def test_the_peak_of_a_known_network_as_json(tmp_path: Path) -> None:
    report = json.loads(run("memory", write(tmp_path, STATIC), "--json").output)
    assert report["peak"]["bytes"] == 2 * 8 * 64 * 4 + 16 * 64 * 4
    assert report["peak"]["node"] == "joined"


# -- other commands


def test_explain_names_the_line(tmp_path: Path) -> None:
    path = write(tmp_path, CUSTOM)
    text = words(run("explain", path))
    assert "because of my.Detect detect" in text
    assert f"{path.name}:4" in text
    groups = infer_shapes(str(path)).unknowns()
    assert [str(group.unknowns[0]) for group in groups] == ["the rank of 1", "the rank of 2"][: len(groups)]


def test_infer_as_json(tmp_path: Path) -> None:
    report = json.loads(run("infer", write(tmp_path, STATIC), "--json").output)
    assert report["tensors"]["8"]["shape"] == [1, 16, 8, 8]


def test_the_program_of_all_shapes() -> None:
    shapes = infer_shapes(TUPLES).program()({"pnnx_input_0.shape[2]": [8, 5], "0.shape[3]": [8, 7]})
    assert shapes["8"].tolist() == [[1, 16, 8, 8], [1, 16, 5, 7]]


def test_contract_at_sizes() -> None:
    contract = infer_shapes(JOINED).contract
    assert contract.check({"left.shape[0]": 2, "right.shape[0]": 2}).verdict is True
    assert contract.check({"0.shape[0]": 2, "1.shape[0]": 3}).verdict is False


def test_bind_and_rebatch(tmp_path: Path) -> None:
    model, target = write(tmp_path, TUPLES), tmp_path / "bound.pnnx.param"
    run("bind", model, "-d", "pnnx_input_0:[1,3,h,w]", "-o", target)
    assert str(infer_shapes(str(target)).tensors["8"]) == "float32[1, 16, h, w]"
    run("rebatch", write(tmp_path, STATIC), "--input", "pnnx_input_0", "-o", target)
    assert str(infer_shapes(str(target)).tensors["8"]) == "float32[batch, 16, 8, 8]"


def test_diff_of_two_traces(tmp_path: Path) -> None:
    before, after = write(tmp_path, STATIC, "before"), write(tmp_path, TUPLES, "after")
    text = run("diff", before, after, code=1).output.splitlines()
    assert text == [
        "changed input 0: float32[1, 3, 8, 8] -> float32[1, 3, pnnx_input_0.shape[2], pnnx_input_0.shape[3]]"
    ]
    assert "no difference" in run("diff", before, after, "-d", "0:[1,3,h,w]").output
    report = json.loads(run("diff", before, after, "--json", code=1).output)
    assert [d["part"] for d in report["differences"]] == ["input"]


def test_an_input_that_is_an_output_twice(tmp_path: Path) -> None:
    text = network(
        "pnnx.Input pnnx_input_0 0 1 0 #0=(?,4)f32",
        "prim::TupleConstruct twice 2 1 0 0 1",
        "my.Log log 1 0 0",
        "pnnx.Output pnnx_output_0 1 0 1",
    )
    result = infer_shapes(text)
    assert set(result.graph.outputs) == {"0"}
    assert str(result.memory().peak) == "0"
    run("infer", write(tmp_path, text))
    run("plan", write(tmp_path, text), "-d", "0:[2,4]")
