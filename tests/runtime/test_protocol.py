"""The protocol of runtimes: one module is a runtime, and no other code knows which runtimes there are."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from shapeinf import ModelError, UnknownNameError
from shapeinf.runtime import RUNTIMES, verify
from shapeinf.runtime.protocol import FORMATS, runtime_by_name
from tests.engine.runtime import parsed
from tests.runtime.cases import CHOICE, MATMUL, VERIFIED

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [path for path in (ROOT / "shapeinf").rglob("*.py") if "formats" not in path.parts]
"""Formats compare names of packages too: those of the objects that they read."""


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more runtime, with the two lines that the guide asks for."""
    monkeypatch.setitem(RUNTIMES, "reference", "tests.runtime.reference_runtime")
    monkeypatch.setitem(FORMATS, "reference", ("onnx",))


@pytest.mark.parametrize(("text", "expected"), VERIFIED)
def test_a_runtime_in_one_module_verifies_models(text: str, expected: tuple[int, int, int, int]) -> None:
    verification = verify(parsed(text), runtime="reference")
    assert verification.ok, str(verification)
    run = verification.runs[0]
    assert (run.tensors, run.exact, run.bounded, run.bound) == (*expected[:3], 0), str(verification)
    assert {item.reason for item in run.unbound} == {"the evaluator writes no outputs into buffers"}


def test_it_reports_mismatches_and_refusals() -> None:
    text = CHOICE.replace("float[1, m] y", "float[1, 9] y")
    assert {mismatch.tensor for mismatch in verify(parsed(text), runtime="reference").mismatches} >= {"y"}
    refused = verify(parsed("g (float[2] x, float[3] z) => (float[2] y) { y = Add(x, z) }"), runtime="reference")
    assert refused.refused and "operator 'Add'" in refused.runs[0].refused


def test_every_runtime_has_a_dialect_and_a_row_in_the_docs() -> None:
    page = (ROOT / "docs" / "verify.md").read_text(encoding="utf-8")
    assert FORMATS.keys() == RUNTIMES.keys()
    assert not [name for name in RUNTIMES if name != "reference" and f"| `{name}` |" not in page]


def test_an_unknown_runtime_is_an_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'openvino'"):
        verify(parsed(MATMUL), runtime="openvin")
    with pytest.raises(UnknownNameError, match="did you mean 'reference'"):
        runtime_by_name("referense")


def test_a_runtime_of_another_format_is_refused() -> None:
    names = " or ".join(name for name, formats in FORMATS.items() if "onnx" in formats)
    with pytest.raises(ModelError, match=f"choose {names}"):
        verify(parsed(MATMUL), runtime="ncnn")


def test_no_module_compares_the_name_of_a_runtime() -> None:
    """What differs between runtimes is in their modules, behind the methods of the protocol."""
    compared = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare)
        for operand in (node.left, *node.comparators)
        if isinstance(operand, ast.Constant) and operand.value in RUNTIMES
    ]
    assert not compared
