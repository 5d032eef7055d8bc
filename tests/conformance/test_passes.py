"""The corpus of clean-up passes: form, interface, numbers, and a second run, of every model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest

from shapeinf.errors import UnknownFormatError
from shapeinf.passes import clean
from tests.passes.judge import (
    attributes,
    check_same,
    differ,
    initializers,
    most_readers,
    operators,
    opset,
    run,
    signature,
)
from tests.vectors import ROOT, need, vectors

pytest.importorskip("onnxruntime")

RELATIVE = "passes/manifest.json"
MANIFEST = vectors(RELATIVE)
FOLDER = ROOT / "passes"
RTOL, ATOL = 1e-4, 1e-3
"""Tolerances: of this runtime against recorded outputs, and of the default passes, which may fuse more."""
MARKER = "ppq_native_was_executed"
"""The file that code in pickles of the corpus writes to the current folder if it runs."""


def entries(key: str) -> list[Any]:
    items = [] if MANIFEST is None else MANIFEST[key]
    return [pytest.param(item, id=item["id"]) for item in items]


def read_feeds(entry: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Inputs and recorded outputs."""
    pairs: dict[int, tuple[dict[str, Any], dict[str, Any]]] = defaultdict(lambda: ({}, {}))
    with np.load(FOLDER / "io" / f"{entry['id']}.npz", allow_pickle=False) as stored:
        for key in stored.files:
            index, kind, name = key.split(".", 2)
            array = stored[key]
            pairs[int(index)][kind == "out"][name] = array.astype(object) if array.dtype.kind == "U" else array
    return [pairs[index] for index in sorted(pairs)]


def pass_names(entry: dict[str, Any]) -> list[str] | None:
    """The passes of an entry; the corpus spells one of them differently."""
    names = entry["passes"]
    return names and ["normalize_forms" if name == "normalise_forms" else name for name in names]


def clean_file(entry: dict[str, Any], passes: list[str] | None, path: Any) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """The original and the cleaned model, both read from files."""
    source = FOLDER / "models" / f"{entry['id']}.onnx"
    clean(source, passes).save(path)
    return onnx.load(source), onnx.load(path)


def test_the_corpus_is_there():
    need(MANIFEST, RELATIVE)
    assert MANIFEST["models"] and MANIFEST["native"]


@pytest.mark.parametrize("entry", entries("models"))
def test_passes(entry, tmp_path):
    """The passes of an entry change the model as the entry states, and a second run changes nothing."""
    before, after = clean_file(entry, pass_names(entry), tmp_path / "first.onnx")
    pairs = read_feeds(entry)
    check_recorded(entry, before, pairs)
    check_same(before, after, [feed for feed, _ in pairs], entry["rtol"], entry["atol"])
    assert list(form_problems(entry, after)) == []
    assert signature(clean(after, pass_names(entry)).to_proto()) == signature(after)
    if entry["untouched"]:
        assert signature(after) == signature(before)


@pytest.mark.parametrize("entry", entries("models"))
def test_default_passes(entry, tmp_path):
    """All passes keep the interface and the numbers of a model, and a second run changes nothing."""
    before, after = clean_file(entry, None, tmp_path / "first.onnx")
    feeds = [feed for feed, _ in read_feeds(entry)]
    check_same(before, after, feeds, max(entry["rtol"], RTOL), max(entry["atol"], ATOL))
    assert signature(clean(after).to_proto()) == signature(after)


def check_recorded(entry: dict[str, Any], before: onnx.ModelProto, pairs: list[Any]) -> None:
    """Fail if this runtime does not compute the recorded outputs from the original."""
    rtol, atol = max(entry["rtol"], RTOL), max(entry["atol"], ATOL)
    for (_, recorded), fresh in zip(pairs, run(before, [feed for feed, _ in pairs]), strict=True):
        assert {name: differ(value, fresh[name], rtol, atol) for name, value in recorded.items()} == dict.fromkeys(
            recorded, ""
        )


def form_problems(entry: dict[str, Any], after: onnx.ModelProto) -> Iterator[str]:
    """Texts of all requirements of an entry on the form of the result that are violated."""
    counts, version, require = operators(after), opset(after), entry["require"]
    if entry["ops_after"] and counts not in [dict(item) for item in entry["ops_after"]]:
        yield f"operators {dict(counts)}"
    limits = entry["opset_after"]
    if version != limits.get("exactly", version) or version < limits.get("min", version):
        yield f"opset {version}"
    for operator, least in require.get("min_opset_if", {}).items():
        if operator in counts and version < least:
            yield f"{operator} in opset {version}"
    for operator, count in require.get("present", {}).items():
        if counts[operator] != count:
            yield f"{counts[operator]} {operator}"
    for operator, names in require.get("gone_attrs", {}).items():
        yield from (f"{operator} has {name}" for name in names if (operator, name) in attributes(after))
    allowed = require.get("initializers", len(initializers(after)))
    if len(initializers(after)) not in (allowed if isinstance(allowed, list) else [allowed]):
        yield f"{len(initializers(after))} initializers"
    if most_readers(after) > require.get("max_readers", most_readers(after)):
        yield f"{most_readers(after)} readers of an initializer"


@pytest.mark.parametrize("entry", entries("native"))
@pytest.mark.parametrize("name", ["model.native", "model.onnx", None], ids=["native", "onnx", "bytes"])
def test_pickles_are_refused_and_not_run(entry, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = (FOLDER / "native" / f"{entry['id']}.native").read_bytes()
    model = content
    if name is not None:
        model = tmp_path / name
        model.write_bytes(content)
    with pytest.raises(UnknownFormatError, match="pickle"):
        clean(model)
    assert MARKER not in {path.name for path in tmp_path.rglob("*")}
    assert not (FOLDER / "native" / MARKER).exists()
