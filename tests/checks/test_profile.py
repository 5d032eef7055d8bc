"""Profiles: their corners, and everything between them."""

from __future__ import annotations

import json

import pytest

from shapeinf import infer_shapes
from shapeinf.checks import CheckedModel, Profile, check_profile, parse_shapes, read_profiles
from shapeinf.errors import ModelError, SpecError, UnknownNameError
from tests.checks.models import join_model, model, node, reshape_model, skip_model


def profile(least, largest, usual=""):
    return Profile.complete(parse_shapes(least), parse_shapes(usual) if usual else {}, parse_shapes(largest))


def run_check(proto, profile):
    return check_profile(CheckedModel(infer_shapes(proto, declared="check")), profile)


SUM = join_model("Add", "batch", "batch")


@pytest.mark.parametrize(
    ("corners", "code", "text"),
    [
        (profile("x:1x6,z:1x6", "x:8x6,z:8x6"), "", ""),
        (profile("x:1x6", "x:8x6"), "C150", "no shape for z"),
        (profile("x:1x6x1,z:1x6", "x:8x6,z:8x6"), "C150", "is [1, 6, 1], but the model declares 2 axes"),
        (profile("x:1x5,z:1x6", "x:8x6,z:8x6"), "C150", "axis 1 is declared as 6"),
        (profile("x:0x6,z:0x6", "x:8x6,z:8x6"), "C150", "axis 0 must be in"),
        (profile("x:8x6,z:8x6", "x:1x6,z:1x6"), "C151", "x.shape[0] is 8, 1, 1"),
        (profile("x:1x6,z:2x6", "x:8x6,z:8x6"), "C151", "batch is 1 in x.shape[0] but 2 in z.shape[0]"),
    ],
)
def test_the_corners_fit_the_inputs_and_each_other(corners, code, text) -> None:
    diagnostics = run_check(SUM, corners)
    assert {f.code for f in diagnostics} == ({code} if code else set())
    assert text in "".join(f.message for f in diagnostics)
    assert all(f.severity == "error" for f in diagnostics)


def test_a_corner_that_the_graph_cannot_run() -> None:
    """The constant of the Reshape has 24 elements: only 4 x 6 has as many."""
    diagnostics = run_check(reshape_model(4, 2, 3), profile("x:4x6,b:4x2x3", "x:8x6,b:8x2x3"))
    assert {(f.code, f.node) for f in diagnostics} == {("C152", "make_h")}
    assert [f.message.partition(":")[0] for f in diagnostics] == ["at the opt shapes", "at the max shapes"]
    assert run_check(reshape_model(4, 2, 3), profile("x:4x6,b:4x2x3", "x:4x6,b:4x2x3")) == []


def test_an_equation_between_the_corners() -> None:
    """Heights 4, 8 and 16 run; an odd height changes when it is halved and doubled."""
    (diagnostic,) = run_check(skip_model(), profile("x:1x3x4x8", "x:1x3x16x8", "x:1x3x8x8"))
    assert (diagnostic.code, diagnostic.node, diagnostic.severity) == ("C154", "make_y", "warning")
    height = int(diagnostic.message.partition("H = ")[2].partition(":")[0])
    assert height % 2 == 1
    assert 4 < height < 16
    assert run_check(skip_model(), profile("x:1x3x4x8", "x:1x3x4x8")) == []


def test_unnamed_axes_have_profiles_too() -> None:
    proto = join_model("Add", None, None)
    assert run_check(proto, profile("x:1x6,z:1x6", "x:8x6,z:1x6")) == []
    assert [f.code for f in run_check(proto, profile("x:2x6,z:2x6", "x:8x6,z:8x6"))] == ["C154"]


def test_volumes_within_a_profile() -> None:
    """4 * 32768 * 32768 are 2^32 elements."""
    proto = model([node("Concat", "x x", "y", axis=0)], {"x": ["n", "m", "m"]}, {"y": None})
    (diagnostic,) = run_check(proto, profile("x:1x1x1", "x:2x32768x32768"))
    assert (diagnostic.severity, diagnostic.code, diagnostic.node) == ("warning", "C130", "make_y")
    assert "4294967296 elements" in diagnostic.message


def test_an_unknown_input_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean"):
        run_check(join_model("Add", "n", "n"), Profile.complete({}, {"xx": (1, 6)}, {}))


@pytest.mark.parametrize("text", ["x", "1x3", "x:1x?", "x:1xn", "x:1..8", "x:1x3,x:2x3"])
def test_shapes_of_a_profile_are_numbers(text) -> None:
    with pytest.raises(SpecError):
        parse_shapes(text)


def test_files_of_profiles(tmp_path) -> None:
    path = tmp_path / "profiles.json"
    path.write_text(json.dumps([{"x": {"min": [1, 6], "max": [8, 6]}}, {"x": {"opt": [2, 6]}}]), encoding="utf-8")
    first, second = read_profiles(str(path))
    path.write_text(json.dumps({"x": {"min": [1, 6], "opt": [2, 6], "max": [8, 6]}}), encoding="utf-8")
    (content,) = read_profiles(str(path))
    assert [content.corners[c]["x"] for c in ("min", "opt", "max")] == [(1, 6), (2, 6), (8, 6)]
    assert [first.corners[c]["x"] for c in ("min", "opt", "max")] == [(1, 6), (8, 6), (8, 6)]
    assert {shape for corner in second.corners.values() for shape in corner.values()} == {(2, 6)}


@pytest.mark.parametrize(
    "text", ["", "3", "{", '{"x": 3}', '{"x": {"least": [1]}}', '{"x": {"min": [-1]}}', '{"x": {}}']
)
def test_invalid_profiles(tmp_path, text) -> None:
    path = tmp_path / "profile.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError):
        read_profiles(str(path))
