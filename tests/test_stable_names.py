"""`docs/api/stable.md` and the package have the same names, in both directions."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import shapeinf
import shapeinf.ops
import shapeinf.testing
from shapeinf.lattice import ShapeStore
from shapeinf.ops import Dialect, InferenceContext, OpDef, default_registry

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "api" / "stable.md").read_text(encoding="utf-8")
SECTIONS = {title: text for title, _, text in (part.partition("\n") for part in re.split(r"^## ", PAGE, flags=re.M))}
NAME = re.compile(r"`([\w./]+)`")


def rows(title: str) -> dict[str, list[list[str]]]:
    """The names in each row of the table of a section: by its first cell, those of each other cell."""
    cells = [line.split("|")[1:-1] for line in SECTIONS[title].splitlines() if line.startswith("|")]
    return {first.strip(" `"): [NAME.findall(cell) for cell in others] for first, *others in cells[2:]}


@cache
def objects() -> dict[str, object]:
    """An object of each class whose members the page lists."""
    result = shapeinf.infer_shapes(ROOT / "examples" / "convnet.onnx", bind={"batch": 1, "height": 8, "width": 8})
    memory = result.memory()
    return {
        "Result": result,
        "Contract": result.contract,
        "Memory": memory,
        "Memory.peak": memory.peak,
        "Cost": result.cost(),
        "Plan": memory.plan(),
        "Result.program": result.program(),
        "TensorInfo": result.outputs["mask"],
        "Shape": result.outputs["mask"].shape,
        "Dim": shapeinf.Dim("n"),
        "Dialect": Dialect("toy"),
        "OpRegistry": default_registry(),
        "InferenceContext": InferenceContext(OpDef("Same"), [], {}, ShapeStore()),
    }


MEMBERS = {**rows("Members"), **rows("Operators of your own package")}


def repeated(names: list[str]) -> Iterator[str]:
    return (name for name in set(names) if names.count(name) > 1)


def test_the_names_of_the_package() -> None:
    listed = [name for (names,) in rows("Names of `shapeinf`").values() for name in names]
    assert not list(repeated(listed))
    assert set(listed) == set(shapeinf.__all__)


def test_few_errors_are_exported() -> None:
    errors = {name for name in shapeinf.__all__ if name.endswith("Error")}
    assert errors == set(rows("Names of `shapeinf`")["errors"][0]) and len(errors) < 10


@pytest.mark.parametrize("name", MEMBERS)
def test_the_members_of_an_object(name: str) -> None:
    stable, unstable = MEMBERS[name]
    assert not list(repeated([*stable, *unstable]))
    assert {*stable, *unstable} == {member for member in dir(objects()[name]) if not member.startswith("_")}


def test_every_listed_object_is_compared() -> None:
    assert set(MEMBERS) == set(objects())


def test_a_result_shows_no_internals() -> None:
    assert MEMBERS["Result"][1] == ["engine"]
    result = objects()["Result"]
    assert isinstance(result, shapeinf.Result)
    assert not [
        name for name in ("inference", "store", "scope", "visited", "find_dim", "lock") if hasattr(result, name)
    ]
    assert result.engine.store is result.engine.inference.store and result.engine.scope is result.engine.store.scope


@pytest.mark.parametrize("name", rows("Modules in place of other tools"))
def test_the_names_of_drop_in_modules(name: str) -> None:
    if name == "shapeinf.compat.onnx_ir":
        pytest.importorskip("onnx_ir")
    (names,) = rows("Modules in place of other tools")[name]
    assert not list(repeated(names))
    assert set(names) == set(importlib.import_module(name).__all__)


def test_the_names_for_operators() -> None:
    names = NAME.findall(
        SECTIONS["Operators of your own package"].partition("Stable in `shapeinf.ops` are")[2].partition("|")[0]
    )
    assert len(names) > 5 and set(names) <= set(shapeinf.ops.__all__)


def test_the_names_for_tests() -> None:
    package, *names = NAME.findall(SECTIONS["Tests"])
    assert package == "shapeinf.testing" and set(names) == set(shapeinf.testing.__all__)
