"""The notebook of the docs runs, and displays each object as a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "notebooks" / "first-look.ipynb"
SHOWN = ["Result", "Contract", "Memory", "Plan", "Cost", "ShapeProgram", "Diagnostics", "Unknown axes and ranks"]


def test_the_notebook_is_stored_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]


@pytest.fixture(scope="module")
def executed() -> Any:
    nbformat = pytest.importorskip("nbformat", reason="the notebook is executed with nbclient")
    nbclient = pytest.importorskip("nbclient", reason="the notebook is executed with nbclient")
    pytest.importorskip("ipykernel", reason="the notebook needs a kernel")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        nbclient.NotebookClient(
            notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}
        ).execute()
    return notebook


def html_of(notebook: Any) -> list[str]:
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]


@pytest.mark.parametrize("title", SHOWN)
def test_every_object_is_shown_as_a_table(executed: Any, title: str) -> None:
    (html,) = [html for html in html_of(executed) if f"<p><strong>{title}" in html]
    assert "<table>" in html


def test_nothing_else_is_shown_as_html(executed: Any) -> None:
    assert len(html_of(executed)) == len(SHOWN)


def test_no_cell_warns(executed: Any) -> None:
    outputs = [output for cell in executed.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output.text for output in outputs if output.get("name") == "stderr"]
