"""Profiles that are written: only legal sizes, the nearest legal ranges for others, and our own checks find nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from shapeinf import BindError, UnknownNameError, infer_shapes
from shapeinf.checks import CheckedModel, check_profile, read_profiles
from shapeinf.cli import main
from shapeinf.deployment import make_profile
from shapeinf.errors import ExportError, MissingSizeError
from tests.checks.models import join_model, model, node, reshape_model, skip_model

DECODER = "examples/decoder.onnx"


def findings(proto: Any, made: Any) -> list[str]:
    diagnostics = check_profile(CheckedModel(infer_shapes(proto, declared="check")), made.profile)
    return [d.code for d in diagnostics if d.code in ("C150", "C151", "C152", "C153")]


def test_the_corners_of_a_profile() -> None:
    made = make_profile(DECODER, {"batch": "1..8"}, {"batch": 4})
    assert made.profile.corners == {"min": {"tokens": (1, 1)}, "opt": {"tokens": (4, 256)}, "max": {"tokens": (8, 512)}}
    assert [str(dim) for dim in made.dims] == ["batch = 1..8, opt 4", "seq = 1..512, opt 256 (the middle)"]
    assert made.proved and findings(DECODER, made) == []


@pytest.mark.parametrize(
    ("proto", "dims", "illegal", "nearest"),
    [
        (DECODER, {"batch": "1..8", "seq": "1..1024"}, "at seq = 513: seq <= 512", "batch=1..8, seq=1..512"),
        (skip_model(), {"H": "4..5"}, "at H = 5: H <= 4", "H=4"),
        (reshape_model(4, 2, 3), {"batch": "1..8"}, "at batch = 1: batch == 4", "batch=4"),
        (join_model("Add", "n", "m"), {"n": "2..3", "m": "3..4"}, "at m = 4: m == 3", "n=3, m=3"),
    ],
)
def test_illegal_sizes_and_the_nearest_ranges(proto: Any, dims: dict[str, Any], illegal: str, nearest: str) -> None:
    """What the help names is written, and nothing is found in it."""
    with pytest.raises(BindError) as caught:
        make_profile(proto, dims)
    assert illegal in str(caught.value) and f"all sizes of {nearest}" in str(caught.value), str(caught.value)
    ranges = dict(part.split("=") for part in nearest.split(", ") if part)
    made = make_profile(proto, {**dims, **ranges})
    assert findings(proto, made) == []


@pytest.mark.parametrize(
    ("proto", "dims", "opt", "sizes", "equation"),
    [
        (skip_model(), {"H": "3..9"}, {}, ["H = 4..8, opt 6 (the middle)"], "H % 2 == 0"),
        (skip_model(), {"H": "3..12"}, {"H": 4}, ["H = 4..12, opt 4"], "H % 2 == 0"),
        (skip_model(), {"H": "3..11"}, {}, ["H = 4..10, opt 8 (near the middle)"], "H % 2 == 0"),
        (
            *(join_model("Add", "n", "m"), {"n": "3..6", "m": "3..6"}, {"m": 5}),
            *(["n = 3..6, opt 5 (near the middle)", "m = 3..6, opt 5"], "m == n"),
        ),
    ],
)
def test_corners_are_solutions_of_equations(
    proto: Any, dims: dict[str, Any], opt: dict[str, int], sizes: list[str], equation: str
) -> None:
    """The checks find no error at the sizes that the profile states, and none at a solution between them."""
    made = make_profile(proto, dims, opt)
    assert [str(dim) for dim in made.dims] == sizes and findings(proto, made) == []
    (note,) = made.notes
    assert (note.code, note.severity) == ("C154", "warning") and equation in note.message


def test_the_ranges_of_a_possible_profile_are_named() -> None:
    with pytest.raises(BindError, match=r"a profile of n=3\.\.6, m=3\.\.6 is possible"):
        make_profile(join_model("Add", "n", "m"), {"n": "2..6", "m": "3..9"})


def test_a_size_to_optimize_for_that_an_equation_excludes() -> None:
    with pytest.raises(BindError, match="opt H=5") as caught:
        make_profile(skip_model(), {"H": "3..9"}, {"H": 5})
    assert "H % 2 == 0" in str(caught.value) and "opt H=6 is legal" in str(caught.value)


def test_sizes_without_a_legal_range() -> None:
    with pytest.raises(BindError) as caught:
        make_profile(reshape_model(4, 2, 3), {"batch": "5..8"})
    assert "are legal" not in str(caught.value)


@pytest.mark.parametrize(
    ("dims", "opt", "error", "text"),
    [
        ({}, {}, MissingSizeError, "batch"),
        ({"batch": "1.."}, {}, MissingSizeError, "batch"),
        ({"bach": "1..8"}, {}, UnknownNameError, "batch"),
        ({"batch": "1..8"}, {"batch": 9}, ExportError, "outside of its range 1..8"),
        ({"batch": "1..8"}, {"b": 9}, UnknownNameError, "batch"),
    ],
)
def test_wrong_requests(dims: dict[str, Any], opt: dict[str, int], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make_profile(DECODER, dims, opt)


def test_an_input_of_unknown_rank() -> None:
    proto = model([node("Relu", "x", "y")], {"x": None}, {"y": None})
    with pytest.raises(ExportError, match="x, which has an unknown rank"):
        make_profile(proto, {})


def test_a_model_without_dynamic_inputs() -> None:
    made = make_profile(join_model("Add", 2, 2))
    assert made.profile.corners == {"min": {}, "opt": {}, "max": {}} and made.dims == ()


def run(*arguments: object) -> Any:
    return CliRunner().invoke(main, ["profile", *map(str, arguments)])


def test_several_profiles_on_the_command_line(tmp_path: Path) -> None:
    target = tmp_path / "profiles.json"
    dims = ["--dim", "batch=1", "--dim", "batch=2..8", "--opt", "batch=1", "--opt", "batch=8", "--dim", "seq=1..64"]
    done = run(DECODER, *dims, "--format", "ort-trt", "-o", target)
    assert done.exit_code == 0, done.output
    assert json.loads(target.read_text())["trt_profile_opt_shapes"] == "tokens:1x32,tokens:8x32"
    first, second = read_profiles(str(target))
    assert (first.corners["max"], second.corners["max"]) == ({"tokens": (1, 64)}, {"tokens": (8, 64)})
    checked = CliRunner().invoke(main, ["check", DECODER, "--profile", str(target)])
    assert (checked.exit_code, checked.output) == (0, "no diagnostics\n")


def test_options_for_trtexec() -> None:
    done = run(DECODER, "--dim", "batch=1..8", "--format", "trtexec")
    assert done.stdout == "--minShapes=tokens:1x1\n--optShapes=tokens:4x256\n--maxShapes=tokens:8x512\n"
    assert done.stderr == "profile: batch = 1..8, opt 4 (the middle); seq = 1..512, opt 256 (the middle)\n"


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--dim", "seq=1..1024", "--dim", "batch=1"], 1, "all sizes of batch=1, seq=1..512 are legal"),
        ([], 2, "add --dim batch=1..N"),
        (["--dim", "batch=1", "--dim", "batch=2", "--opt", "batch=1"] + ["--opt", "batch=2"] * 2, 2, "3 values"),
        (["--dim", "batch=x"], 2, "batch"),
        (["--dim", "bach=1"], 2, "batch"),
    ],
)
def test_nothing_is_written_for_a_wrong_request(tmp_path: Path, arguments: list[str], code: int, text: str) -> None:
    done = run(DECODER, *arguments, "-o", tmp_path / "out.json")
    assert (done.exit_code, list(tmp_path.iterdir())) == (code, []), done.output
    assert text in done.output
