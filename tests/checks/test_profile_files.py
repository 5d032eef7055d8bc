"""Files of profiles: each form is read back, and read as its own tool reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.checks import PROFILE_FORMS, Profile, ProfileForm, profile_text, read_profiles
from shapeinf.errors import ExportError, ModelError

SHAPES = st.lists(st.integers(0, 2**31), min_size=1, max_size=4).map(tuple)
NAMES = st.text(min_size=1, max_size=8) | st.sampled_from(["x", "x:0", "a b", "a'b", "a,b", "a=b", "--x", "é", "x\n"])


def read_text(text: str, folder: Path) -> list[Profile]:
    path = folder / "profile"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return read_profiles(str(path))


def corners(*shapes: dict[str, tuple[int, ...]]) -> Profile:
    return Profile(dict(zip(("min", "opt", "max"), shapes, strict=True)))


@pytest.mark.parametrize("form", PROFILE_FORMS)
@given(profiles=st.lists(st.dictionaries(NAMES, st.tuples(SHAPES, SHAPES, SHAPES), min_size=1), min_size=1, max_size=3))
def test_every_form_is_read_back(
    form: ProfileForm, profiles: list[dict[str, tuple[tuple[int, ...], ...]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    names = set(profiles[0])
    written = [
        corners(*({name: shapes[k] for name, shapes in profile.items()} for k in range(3)))
        for profile in profiles
        if set(profile) == names
    ]
    try:
        text = profile_text(written, form)
    except ExportError:
        assert form != "json" and any(
            not name.isprintable() or set(name) & set(",':" if form == "trtexec" else ",:") for name in names
        )
        return
    assert read_text(text, tmp_path_factory.getbasetemp()) == written


def test_two_profiles_of_the_provider(tmp_path: Path) -> None:
    """The example in the comment of `ParseProfileShapes` in ONNX Runtime's TensorRT provider."""
    text = "input_id:32x1,attention_mask:32x1,input_id:32x41,attention_mask:32x41"
    options = {f"trt_profile_{corner}_shapes": text for corner in ("min", "opt", "max")}
    first = {"input_id": (32, 1), "attention_mask": (32, 1)}
    second = {"input_id": (32, 41), "attention_mask": (32, 41)}
    profiles = [corners(first, first, first), corners(second, second, second)]
    assert read_text(json.dumps(options), tmp_path) == profiles
    assert json.loads(profile_text(profiles, "ort-trt")) == options


def test_options_of_trtexec(tmp_path: Path) -> None:
    """Of several profiles each has its number; a name may have a colon, as the last one ends it."""
    profile = corners({"x:0": (1, 3)}, {"x:0": (4, 3)}, {"x:0": (8, 3)})
    assert profile_text([profile], "trtexec").split("\n") == [
        "--minShapes=x:0:1x3",
        "--optShapes=x:0:4x3",
        "--maxShapes=x:0:8x3",
    ]
    lines = profile_text([profile, profile], "trtexec").split("\n")
    assert [line for line in lines if line.startswith("--profile")] == ["--profile=0", "--profile=1"]
    with pytest.raises(ExportError, match="ONNX Runtime cannot read the name of the input 'x:0'"):
        profile_text([profile], "ort-trt")


@pytest.mark.parametrize(
    "text",
    [
        "--minShapes",
        "--minShapes=x:1 --minShapes=x:2",
        "--minShapes=x:one",
        "--minShapes=x",
        "--minShapes='x:1",
        "--profile=1 --minShapes=x:1",
        "--shapes=x:1",
        "--minShapes=x:\u0661",
        '{"trt_profile_min_shapes": "x:1", "trt_profile_opt_shapes": "x:1,x:2", "trt_profile_max_shapes": "x:1"}',
        '{"trt_profile_min_shapes": 3, "trt_profile_opt_shapes": "x:1", "trt_profile_max_shapes": "x:1"}',
        "[" * 100_000,
    ],
)
def test_malformed_files(text: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        read_text(text, tmp_path)
