"""The session of the page on the files of this machine: models, reports, explanations, copies, archives."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from shapeinf import infer_shapes
from shapeinf.page import uploads
from shapeinf.page.session import PageSession, answer
from shapeinf.report.live import render_report

EXAMPLES = Path(__file__).parents[2] / "examples"
FORMATS = {
    "convnet.onnx": "convnet-shapes.onnx",
    "detector.tflite": "detector-shapes.tflite",
    "enhancer.pnnx.param": "enhancer.pnnx-shapes.param",
    "patches.pt2": None,
    "recurrent.pbtxt": "recurrent-shapes.pbtxt",
    "squeezenet.nnef": "squeezenet-shapes.nnef",
}
"""An example of each format, and the name of its annotated copy."""


def session_of(folder: Path) -> PageSession:
    return PageSession(str(folder), str(folder.parent / "unpacked"), lambda phase, done, total: None)


def ask(session: PageSession, request: str, *values: object) -> dict[str, object]:
    return json.loads(answer(session, request, json.dumps(values)))


@pytest.fixture
def dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what was dropped. A session changes the working directory."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "dropped"
    folder.mkdir()
    return folder


def test_there_is_an_example_of_every_format() -> None:
    from shapeinf.formats import FORMATS as REGISTRY

    read = {infer_shapes(EXAMPLES / name).graph.format for name in FORMATS}
    assert read == {format_.name for format_ in REGISTRY.formats}


@pytest.mark.parametrize("name", FORMATS)
def test_an_example_of_each_format(dropped: Path, name: str) -> None:
    source = EXAMPLES / name
    shutil.copytree(source, dropped / name) if source.is_dir() else shutil.copy(source, dropped / name)
    session = session_of(dropped)
    assert session.models() == [name]
    session.open(name)
    result = infer_shapes(name)
    assert re.findall(r'"dims":.*?"timeline"', session.report()) == re.findall(
        r'"dims":.*?"timeline"', render_report(result)
    )
    assert session.explain(0, 0) == result.explain(next(iter(result.tensors)), 0)
    summary = session.summary()
    assert (summary["title"], summary["copy"]) == (name, FORMATS[name])
    if FORMATS[name] is not None:
        copy = session.save(str(dropped.parent / FORMATS[name]))
        assert str(infer_shapes(copy).outputs) == str(result.outputs)


def test_progress_ends_with_all_nodes(dropped: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    session = PageSession(str(dropped), "unpacked", lambda *step: steps.append(step))
    session.open(str(EXAMPLES / "decoder.onnx"))
    session.report()
    assert list(dict.fromkeys(phase for phase, _, _ in steps)) == ["read", "infer", "check", "memory", "report"]
    assert ("infer", 78, 78) in steps


def test_the_models_of_a_folder_are_listed(dropped: Path) -> None:
    folder = dropped / "models"
    (folder / "deep").mkdir(parents=True)
    shutil.copy(EXAMPLES / "convnet.onnx", folder / "deep" / "a.onnx")
    shutil.copy(EXAMPLES / "detector.tflite", folder / "b.tflite")
    (folder / "notes.txt").write_text("no model")
    assert session_of(dropped).models() == ["models/b.tflite", "models/deep/a.onnx"]


def test_what_is_no_model_has_a_reason(dropped: Path) -> None:
    (dropped / "notes.txt").write_text("no model\n")
    session = session_of(dropped)
    assert session.models() == ["notes.txt"]
    failure = ask(session, "open", "notes.txt")["failure"]
    assert failure["title"] == "This file cannot be read"
    assert failure["text"].startswith("notes.txt: ") and str(dropped) not in failure["text"]


def test_a_folder_without_models(dropped: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (dropped / name).write_text("no model")
    assert "has no models" in ask(session_of(dropped), "models")["failure"]["text"]


def test_only_listed_requests() -> None:
    with pytest.raises(Exception, match="__init__"):
        answer(session_of(EXAMPLES), "__init__", "[]")


def test_a_bug_is_called_one(dropped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PageSession, "report", lambda self: 1 // 0)
    title = ask(session_of(dropped), "report")["failure"]["title"]
    assert title == "This is a bug of shapeinf, not of the model"


# -- archives ----------------------------------------------------------------------------------------------------------


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in members.items():
            target.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return path


def test_an_archive_of_models(dropped: Path) -> None:
    model = (EXAMPLES / "convnet.onnx").read_bytes()
    archive(dropped / "models.zip", {"a/x.onnx": model, "b.onnx": model, "__MACOSX/._b.onnx": b"\0"})
    session = session_of(dropped)
    assert session.models() == ["a/x.onnx", "b.onnx"]
    session.open("a/x.onnx")
    assert session.summary()["title"] == "a/x.onnx"


def test_an_archive_that_is_a_model_itself(dropped: Path) -> None:
    shutil.copy(EXAMPLES / "patches.pt2", dropped / "patches.zip")
    session = session_of(dropped)
    assert session.models() == ["patches.zip"]
    session.open("patches.zip")


@pytest.mark.parametrize(
    "name", ["../x.onnx", "/x.onnx", "a/../../x.onnx", "a//x.onnx", "./x.onnx", "..\\x.onnx", "C:\\x.onnx"]
)
def test_names_that_lead_out_of_an_archive(dropped: Path, name: str) -> None:
    archive(dropped / "m.zip", {name: b"x"})
    failure = ask(session_of(dropped), "models")["failure"]
    assert "is not a path below its own folder" in failure["text"]
    assert [path.name for path in dropped.parent.rglob("*") if path.is_file()] == ["m.zip"]


def test_a_name_twice_and_a_file_that_is_a_folder(dropped: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(dropped / "m.zip", "w") as target:
        target.writestr("a", b"1")
        target.writestr("a", b"2")
    assert "cannot be unpacked" in ask(session_of(dropped), "models")["failure"]["text"]
    archive(dropped / "m.zip", {"b": b"1", "b/c": b"2"})
    assert "cannot be unpacked" in ask(session_of(dropped), "models")["failure"]["text"]


def test_a_zip_bomb_ends_before_it_is_unpacked(dropped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_UNPACKED", 4 << 20)
    archive(dropped / "bomb.zip", dict.fromkeys(map(str, range(9)), bytes(1 << 20)))
    assert (dropped / "bomb.zip").stat().st_size < 20_000
    assert "more than 4 MiB" in ask(session_of(dropped), "models")["failure"]["text"]
    unpacked = sum(path.stat().st_size for path in (dropped.parent / "unpacked").iterdir())
    assert unpacked == 4 << 20


def test_a_damaged_archive(dropped: Path) -> None:
    path = archive(dropped / "m.zip", {"a.onnx": bytes(5000)})
    path.write_bytes(path.read_bytes()[:-30])
    assert "damaged" in ask(session_of(dropped), "models")["failure"]["text"]


def test_an_empty_archive(dropped: Path) -> None:
    archive(dropped / "m.zip", {})
    session = session_of(dropped)
    assert session.models() == ["m.zip"]
    assert ask(session, "open", "m.zip")["failure"]["text"].startswith("m.zip: ")


def test_a_folder_that_is_a_model(dropped: Path) -> None:
    shutil.copy(EXAMPLES / "squeezenet.nnef", dropped / "graph.nnef")
    (dropped / "notes.txt").write_text("no model")
    session = session_of(dropped)
    assert session.models() == ["dropped"]
    session.open("dropped")
    assert session.summary()["title"] == "dropped" and session.copy_folder == ""
